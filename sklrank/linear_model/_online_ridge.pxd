"""The recursive least squares behind OnlineRidgeClassifier."""

from sklrank._online_learner cimport Lesson
from sklrank.linear_model._feature_map cimport FeatureMap
from sklrank.linear_model._linear_learner cimport LinearLearner


cdef class RidgeLearner(LinearLearner):
    cdef readonly double alpha, drift, sharpness
    # P, what is not known of the weights, is covariance - gain spread spread'.
    cdef double[:, ::1] covariance      # (n_outputs, n_outputs) valid on and below the diagonal
    cdef double[::1] spread             # (n_outputs,) P f for the row that was learnt last
    cdef double gain
    cdef double[::1] spread_before      # scratch

    cdef void spread_row(self) noexcept nogil

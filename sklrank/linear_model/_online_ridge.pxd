"""The recursive least squares behind OnlineRidgeClassifier."""

from sklrank._online_learner cimport Lesson, OnlineLearner
from sklrank.linear_model._feature_map cimport FeatureMap


cdef class RidgeLearner(OnlineLearner):
    cdef readonly FeatureMap features
    cdef readonly double alpha, drift, sharpness
    cdef double[:, ::1] covariance      # (n_outputs, n_outputs) P, what is not known of a weight
    cdef double[:, ::1] weights         # (n_outputs, n_classes)
    cdef double[::1] row                # scratch: features of a row
    cdef double[::1] columns            # scratch of the map
    cdef double[::1] spread             # scratch: P f
    cdef double[::1] errors             # scratch: (n_classes,)

    cdef void estimate(self, const double* row, double* values) noexcept nogil

"""The recursive least squares behind OnlineRidgeClassifier."""

from sklrank._online_learner cimport Lesson
from sklrank.linear_model._feature_map cimport FeatureMap
from sklrank.linear_model._linear_learner cimport LinearLearner


cdef class RidgeLearner(LinearLearner):
    cdef readonly double alpha, drift, sharpness
    cdef double[:, ::1] covariance      # (n_outputs, n_outputs) P, what is not known of a weight
    cdef double[::1] spread             # scratch: P f

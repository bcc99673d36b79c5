"""The gradient steps behind OnlineLogisticRegression."""

from sklrank._online_learner cimport Lesson, OnlineLearner
from sklrank.linear_model._feature_map cimport FeatureMap


cdef class LogisticLearner(OnlineLearner):
    cdef readonly FeatureMap features
    cdef readonly bint multinomial
    cdef readonly double learning_rate, alpha
    cdef double[:, ::1] weights         # (n_outputs, n_classes)
    cdef double[:, ::1] squares         # (n_outputs, n_classes) 1 + sums of squared gradients
    cdef double[::1] row                # scratch: features of a row
    cdef double[::1] columns            # scratch of the map
    cdef double[::1] slopes             # scratch: (n_classes,)

    cdef void margins(self, const double* row, double* values) noexcept nogil
    cdef double ask(self, const Lesson* lesson) noexcept nogil

"""The gradient steps behind OnlineLogisticRegression."""

from sklrank._online_learner cimport LabelFeedback
from sklrank.linear_model._online._feature_map cimport FeatureMap
from sklrank.linear_model._online._learner cimport LinearLearner


cdef class LogisticLearner(LinearLearner):
    cdef readonly bint multinomial
    cdef readonly double learning_rate, alpha
    cdef double[:, ::1] squares         # (n_outputs, n_classes) 1 + sums of squared gradients

    cdef void learn_label(self, Py_ssize_t label, double relevance, double weight) noexcept nogil

    cdef double ask(self, const LabelFeedback* feedback) noexcept nogil

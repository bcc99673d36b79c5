"""The learner of OnlineLogisticRegression: adaptive gradient steps."""

from sklrank._online_learner cimport LabelFeedback
from sklrank.linear_model._online._feature_map cimport FeatureMap
from sklrank.linear_model._online._learner cimport LinearLearner


cdef class LogisticLearner(LinearLearner):
    cdef readonly bint multinomial
    cdef readonly double learning_rate, alpha
    cdef double[:, ::1] sum_squares     # (n_outputs, n_classes) 1 + sums of squared gradients

    # Take a gradient step for one label of relevance 0 or 1, given W'f in `predictions`.
    cdef void update_label(self, Py_ssize_t label, double relevance, double weight) noexcept nogil

    # Replace W'f in `predictions` by the derivatives s_l of the loss, and return the weight of the
    # feedback.
    cdef double loss_gradient(self, const LabelFeedback* feedback) noexcept nogil

"""The learner of OnlineLogisticRegression: adaptive gradient steps."""

from sklrank._online_learner cimport LabelFeedback
from sklrank.linear_model._online._feature_map cimport FeatureMap
from sklrank.linear_model._online._learner cimport LinearLearner


cdef class LogisticLearner(LinearLearner):
    cdef readonly bint multinomial
    cdef const double[::1] learning_rates   # (n_models,)
    cdef double[:, :, ::1] sum_squares      # 1 + sums of squared gradients; the shape of `weights`

    # Take a gradient step of model k for one label of relevance 0 or 1, given W_k'f in
    # `model_predictions`.
    cdef void update_label(
        self, Py_ssize_t k, Py_ssize_t label, double relevance, double weight
    ) noexcept nogil

    # Take a gradient step of model k for all labels. `model_predictions` must contain the
    # derivatives s_l.
    cdef void update_all_labels(self, Py_ssize_t k, double weight) noexcept nogil

    # Return the weight of the feedback.
    cdef double feedback_weight(self, const LabelFeedback* feedback) noexcept nogil

    # Replace the margins (n_classes,) of a model by the derivatives s_l of the loss. Return the
    # loss, or 0 if there is only one model.
    cdef double loss_gradient(
        self, const LabelFeedback* feedback, double weight, double* margins
    ) noexcept nogil

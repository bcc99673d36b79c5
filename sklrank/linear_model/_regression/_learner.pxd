"""Base class of the online linear learners."""

from sklrank._compiled.rows cimport Row
from sklrank._online.learner cimport LabelFeedback, OnlineLearner
from sklrank.linear_model._regression._feature_map cimport FeatureMap


cdef class LinearLearner(OnlineLearner):
    cdef readonly FeatureMap feature_map
    cdef readonly Py_ssize_t n_models
    cdef double[::1] log_shares         # (n_models,) logarithms of the shares, up to a constant;
    #                                     -inf for models that were dropped
    cdef double[::1] shares             # (n_models,) p_k, which sum to one
    cdef Py_ssize_t n_compared          # number of samples from which the models were compared
    cdef Row features                   # (n_outputs,) features f of the sample to learn
    cdef double[:, ::1] model_predictions   # (n_models, n_classes) W_k'f
    cdef double[::1] memory             # of the feature map
    cdef int[::1] indices               # of the feature map

    # Set the initial state of a new learner.
    cdef void create(self, FeatureMap feature_map, Py_ssize_t n_models, Py_ssize_t n_classes)

    # Write the features of a sample into `features` and the products W_k'f into
    # `model_predictions`.
    cdef void predict_models(self, const Row* x) noexcept nogil

    # Write the mean predictions for a sample (n_classes,). The learner does not change.
    cdef int predict_mean(self, const Row* x, double* predictions) except -1 nogil

    # Add the predictions W_k'f of the models that are not dropped, given the features f.
    cdef void add_predictions(
        self, const Row* features, double* model_predictions
    ) noexcept nogil

    # Return the weights W_1, W_2, ... `(n_models, n_outputs, n_classes)`.
    cdef object weights_of_models(self)

    # Write the mean of the predictions (n_models, n_classes) of the models, weighted by the shares,
    # into `predictions` (n_classes,).
    cdef void average(self, const double* model_predictions, double* predictions) noexcept nogil

    # Compute the shares from their logarithms after a sample was learned, and drop models whose
    # shares are negligible.
    cdef void update_shares(self) noexcept nogil

    # Replace the mean predictions by votes.
    cdef void vote(self, double* predictions) noexcept nogil


# Scale nonnegative votes (n,) to the sum one. If all of them are 0, make them equal.
cdef void normalize(double* votes, Py_ssize_t n) noexcept nogil

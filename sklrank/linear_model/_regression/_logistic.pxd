"""The learner of OnlineLogisticRegression: adaptive gradient steps."""

from sklrank._compiled.rows cimport Row
from sklrank._online.learner cimport LabelFeedback
from sklrank.linear_model._regression._feature_map cimport FeatureMap
from sklrank.linear_model._regression._learner cimport LinearLearner


cdef class LogisticLearner(LinearLearner):
    cdef readonly bint multinomial
    cdef const double[::1] learning_rates   # (n_models,)
    # The weights of a feature, and 1 + sums of its squared gradients: (2, n_models, n_classes)
    # numbers, of single precision if `is_single`. A feature gets a row when it is first learned.
    cdef readonly bint is_single
    cdef void* table
    cdef Py_ssize_t n_rows, capacity        # number of rows in use, and of those in memory
    cdef int[::1] row_of                    # (n_outputs,) row of a feature; -1 if it has none

    # Return a copy of the rows in use.
    cdef object table_of_rows(self)

    # Give rows to the features of the sample to learn that are not 0.
    cdef int add_feature_rows(self) except -1 nogil

    # Make room for this number of rows.
    cdef int reserve(self, Py_ssize_t capacity) except -1 nogil

    # Take a gradient step of model k for the labels, whose derivatives s_l are in
    # `model_predictions`: for `n_labels` of them, or for all if `labels` is NULL.
    cdef void take_step(
        self, Py_ssize_t k, const Py_ssize_t* labels, Py_ssize_t n_labels
    ) noexcept nogil

    # Replace margins of model k, as above, by the derivatives of their losses for one relevance, or
    # for `relevances` (n_labels,) unless they are NULL.
    cdef void label_gradients(
        self, Py_ssize_t k, const Py_ssize_t* labels, Py_ssize_t n_labels, double relevance,
        const double* relevances, double weight,
    ) noexcept nogil

    # Return the weight of the feedback.
    cdef double feedback_weight(self, const LabelFeedback* feedback) noexcept nogil

    # Replace the margins (n_classes,) of a model by the derivatives s_l of the loss. Return the
    # loss, or 0 if there is only one model.
    cdef double loss_gradient(
        self, const LabelFeedback* feedback, double weight, double* margins
    ) noexcept nogil

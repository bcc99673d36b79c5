"""The learner of OnlineRidgeClassifier: recursive least squares."""

from sklrank._compiled.rows cimport Row
from sklrank._online.drift cimport DriftTest
from sklrank._online.learner cimport LabelFeedback
from sklrank.linear_model._regression._feature_map cimport FeatureMap
from sklrank.linear_model._regression._learner cimport LinearLearner


cdef class RidgeLearner(LinearLearner):
    cdef const double[::1] alphas           # (n_models,)
    cdef readonly double vote_scale, vote_smoothing
    cdef readonly bint learns_relevance     # True: from relevance; False: from costs
    # The matrix P of model k is covariance[k] - gain[k] d d' - sum u u', where d is the vector
    # gain_direction[k], and the sum runs over the first n_pending[k] rows u of pending[k]. The
    # weights W_k are weights[k] + sum u e', where e is the row of pending_steps[k] of the same
    # index.
    cdef double[:, :, ::1] weights          # (n_models, n_outputs, n_classes)
    cdef double[:, :, ::1] covariance       # (n_models, n_outputs, n_outputs) lower triangles
    cdef double[:, ::1] gain_direction      # (n_models, n_outputs) P f of the last sample learned
    cdef double[::1] gain                   # (n_models,) 1 / (1 / w + f . P f) of this sample
    cdef double[:, :, ::1] pending          # (n_models, n_rows, n_outputs) rows u
    cdef double[:, :, ::1] pending_steps    # (n_models, n_rows, n_classes) rows e
    cdef int[::1] n_pending                 # (n_models,) number of rows in use
    cdef char[::1] is_mirrored              # (n_models,) whether the upper triangles are valid, too
    cdef double[::1] last_direction         # (n_outputs,) scratch memory
    cdef double[::1] known_weight           # (n_classes,) n_l in the docstring of `_ridge.pyx`
    cdef double mean_known_weight           # mean of n in the docstring of `_ridge.pyx`
    cdef double[::1] squared_errors         # (n_models,) E_k in the docstring of `_ridge.pyx`
    cdef double total_weight                # N in the docstring of `_ridge.pyx`
    cdef readonly DriftTest drift_test
    cdef double[::1] mean_predictions       # (n_classes,) scratch memory

    # Return the value that is subtracted from the relevance of a label, or from the vote for it, to
    # obtain the target of the regression.
    cdef double target_center(self) noexcept nogil

    # Write P f of the sample to learn into the `gain_direction` of model i, and return f . P f. The
    # other two methods are for sparse and for dense features.
    cdef double compute_gain_direction(self, Py_ssize_t i) noexcept nogil
    cdef double compute_sparse_direction(self, Py_ssize_t i) noexcept nogil
    cdef double compute_dense_direction(self, Py_ssize_t i) noexcept nogil

    # Postpone the step of model i on P. Return the row of `pending_steps`, which is 0.
    cdef double* postpone(self, Py_ssize_t i) noexcept nogil

    # Apply the pending steps of model i.
    cdef void apply_pending(self, Py_ssize_t i) noexcept nogil

    # Replace the predictions of model i in `model_predictions` by the errors of all labels, given
    # the sum of the importance weights of the relevant labels.
    cdef void compute_errors(
        self, Py_ssize_t i, const LabelFeedback* feedback, double importance
    ) noexcept nogil

    # Update the weights of model i for all labels. `model_predictions` must contain their errors.
    cdef void update_all_labels(self, Py_ssize_t i, double weight) noexcept nogil

    # Update the weights of the known labels. `model_predictions` must contain W_k'f.
    cdef void update_known_labels(self, const LabelFeedback* feedback) noexcept nogil

    # Update the weights of model i for one known label, whose relevance is 0 or 1. `variance` is
    # f . P f, `root` is the root of the gain, and `steps` are pending, or NULL.
    cdef void update_label(
        self, Py_ssize_t i, Py_ssize_t label, double relevance, double weight, double variance,
        double root, double* steps,
    ) noexcept nogil

    # Record the loss of the predictions of the sample in the drift test, and forget the previous
    # samples if a drift is detected. `model_predictions` must contain W_k'f.
    cdef void test_drift(self, const LabelFeedback* feedback) noexcept nogil

    # Forget all samples: set P to I / alpha, and restart the comparison of the models.
    cdef void forget(self) noexcept nogil

    # Give all models the same share. Models that were dropped resume with the weights of the best.
    cdef void restart_comparison(self) noexcept nogil

    # Compute the shares of the models from their squared errors.
    cdef void compare_models(self, double weight) noexcept nogil

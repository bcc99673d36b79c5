"""The learner of OnlineRidgeClassifier: recursive least squares."""

from sklrank._online_learner cimport LabelFeedback
from sklrank.linear_model._online._feature_map cimport FeatureMap
from sklrank.linear_model._online._learner cimport LinearLearner


cdef class RidgeLearner(LinearLearner):
    cdef readonly double alpha, process_noise, vote_scale
    cdef readonly bint learns_relevance     # True: from relevance; False: from costs
    # The matrix P is covariance - gain gain_direction gain_direction'.
    cdef double[:, ::1] covariance          # (n_outputs, n_outputs) lower triangle in use
    cdef double[::1] gain_direction         # (n_outputs,) P f of the last sample learned
    cdef double gain                        # 1 / (1 / w + f . P f) of this sample
    cdef double[::1] last_direction         # (n_outputs,) scratch memory
    cdef double[::1] known_weight           # (n_classes,) n_l in the docstring of `_ridge.pyx`
    cdef double mean_known_weight           # mean of n in the docstring of `_ridge.pyx`

    # Apply the pending step to the covariance and add the process noise. Then write P f of the
    # sample to learn into `gain_direction`, and return f . P f.
    cdef double compute_gain_direction(self, double process_noise) noexcept nogil

    # Update the weights of all labels. `predictions` must contain the errors of the labels.
    cdef void update_all_labels(self, double weight) noexcept nogil

    # Update the weights of the known labels. `predictions` must contain W'f.
    cdef void update_known_labels(self, const LabelFeedback* feedback) noexcept nogil

    # Update the weights of one known label, whose relevance is 0 or 1. `variance` is f . P f.
    cdef void update_label(
        self, Py_ssize_t label, double relevance, double weight, double variance
    ) noexcept nogil

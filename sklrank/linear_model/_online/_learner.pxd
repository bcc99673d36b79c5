"""Base class of the online linear learners."""

from sklrank._online_learner cimport LabelFeedback, OnlineLearner
from sklrank.linear_model._online._feature_map cimport FeatureMap


cdef class LinearLearner(OnlineLearner):
    cdef readonly FeatureMap feature_map
    cdef double[:, ::1] weights         # (n_outputs, n_classes) W
    cdef double[::1] features           # (n_outputs,) features f of the sample to learn
    cdef double[::1] predictions        # (n_classes,) W'f
    cdef double[::1] scratch            # (n_columns + 1,) scratch memory of the feature map

    # Write the features of a sample into `features` and the products W'f into `predictions`.
    cdef void predict_linear(self, const double* x) noexcept nogil

    # Update the weights and the feature map by the sample of the last call of `predict_linear`.
    # This method may overwrite `predictions`.
    cdef void update(self, const double* x, const LabelFeedback* feedback) noexcept nogil

    # Replace the products W'f in `predictions` by votes.
    cdef void vote(self, double* predictions) noexcept nogil


# Scale nonnegative votes (n,) to the sum one. If all of them are 0, make them equal.
cdef void normalize(double* votes, Py_ssize_t n) noexcept nogil

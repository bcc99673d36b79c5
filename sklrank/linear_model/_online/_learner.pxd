"""What the online linear learners share."""

from sklrank._online_learner cimport LabelFeedback, OnlineLearner
from sklrank.linear_model._online._feature_map cimport FeatureMap


cdef class LinearLearner(OnlineLearner):
    cdef readonly FeatureMap features
    cdef double[:, ::1] weights         # (n_outputs, n_classes)
    cdef double[::1] row                # features of the row that is about to be learnt
    cdef double[::1] values             # (n_classes,) and what the weights make of them
    cdef double[::1] columns            # scratch of the map

    # Write the features of a row into `row` and what the weights make of them into `values`.
    cdef void evaluate(self, const double* x) noexcept nogil

    # Change the weights by the feedback of the row that was evaluated last; may write into `values`.
    cdef void correct(self, const double* x, const LabelFeedback* feedback) noexcept nogil

    # Turn what the weights make of a row into votes, in place.
    cdef void vote(self, double* values) noexcept nogil


cdef void products(
    const double* row, const double[:, ::1] weights, double* values
) noexcept nogil

cdef void normalise(double* votes, Py_ssize_t n) noexcept nogil

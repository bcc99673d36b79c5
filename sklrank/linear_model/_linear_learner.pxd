"""What the online linear learners share."""

from sklrank._online_learner cimport Lesson, OnlineLearner
from sklrank.linear_model._feature_map cimport FeatureMap


cdef class LinearLearner(OnlineLearner):
    cdef readonly FeatureMap features
    cdef double[:, ::1] weights         # (n_outputs, n_classes)
    cdef double[::1] row                # scratch: features of the row that is learnt
    cdef double[::1] columns            # scratch of the map
    cdef double[::1] values             # scratch: (n_classes,)

    # Write the features of a row into `row` and what the weights make of them into `values`.
    cdef void evaluate(self, const double* x) noexcept nogil

    # Turn what the weights make of a row into votes, in place.
    cdef void vote(self, double* values) noexcept nogil


cdef void products(
    const double* row, const double[:, ::1] weights, double* values
) noexcept nogil

cdef void normalise(double* votes, Py_ssize_t n) noexcept nogil

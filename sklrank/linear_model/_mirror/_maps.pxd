"""Dual weights, and the mirror maps that turn them into weights."""

from sklrank._compiled.rows cimport Row
from sklrank._compiled.state cimport Persistent


cdef inline bint is_inaccurate(double total, double max_total) noexcept nogil:
    # Return whether a sum of positive numbers that is updated in place must be recomputed. This is
    # the case if the sum is close to overflow, or if it is so far below its maximum that the
    # rounding errors made at the maximum are no longer small relative to the sum.
    return not total < 1e100 or total < 1e-3 * max_total


cdef class MirrorMap(Persistent):
    cdef readonly Py_ssize_t n_classes
    cdef readonly Py_ssize_t width          # number of features, including the constant if any
    cdef readonly object error              # error that `raise_error` will raise, or None
    cdef double[:, ::1] duals               # (n_classes, width)

    # Compute what `score` and `add_weights` would compute at their first call after a step.
    # Afterwards, several threads may call them at the same time, until the next step. Call it with
    # the GIL.
    cdef int prepare(self) except -1

    # Write the linear scores of the classes into `scores`. The dual weights do not change.
    cdef void score(self, const Row* row, double* scores) noexcept nogil

    # Add `size` times the row to the dual weights of class `k`.
    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil

    # Add `size * direction[k]` times the row to the dual weights of every class k. Classes with
    # `direction[k] == 0` are skipped.
    cdef void step_all(self, const double* direction, double size, const Row* row) noexcept nogil

    # Compute sums += factor * weights, both of shape (n_classes, width). The dual weights do not
    # change.
    cdef void add_weights(self, double factor, double* sums) noexcept nogil


# Compute sums += factor * values, both of shape (n,).
cdef void add_scaled(
    double factor, const double* values, Py_ssize_t n, double* sums
) noexcept nogil


cdef class EuclideanMap(MirrorMap):
    pass

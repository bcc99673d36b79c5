"""Rounds of Predtron, and the mean of the weights over these rounds."""

from sklrank._compiled.rows cimport Row, Rows, RowSum
from sklrank._compiled.state cimport Persistent
from sklrank.linear_model._mirror._maps cimport MirrorMap
from sklrank.linear_model._predtron._tasks cimport Task


cdef class WeightSums(Persistent):
    cdef double[:, ::1] sums                # (n_classes, width)
    cdef Py_ssize_t last                    # round of the last change, or 0 if it is not used

    # Return the factor of `sums` in the sum of the weights, see `_rounds.pyx`.
    cdef double sign(self) noexcept nogil

    # Set the sums of new labels (a mask), whose weights were these in all rounds.
    cdef int start_labels(self, new, weights) except -1

    # This method is called in round `t`, counted from 1, before the dual weights change by
    # `size * direction row'`.
    cdef void before_step(
        self, MirrorMap mirror_map, Py_ssize_t t, const double* direction, double size,
        const Row* row,
    ) noexcept nogil


cdef class EuclideanSums(WeightSums):
    pass


cdef class PredtronRounds(Persistent):
    cdef readonly MirrorMap mirror_map
    cdef readonly WeightSums sums           # None if the weights are not averaged
    cdef readonly double learning_rate
    cdef readonly Py_ssize_t n_rounds, n_mistakes
    cdef readonly double total_loss
    cdef double[::1] unit                   # (1,) one

    # Count a round, and return the size of its step.
    cdef double count_round(self, double loss, bint loss_driven) noexcept nogil
    cdef void step(self, const double* direction, double size, const Row* row) noexcept nogil


cdef class KernelRows(Rows):
    cdef const Py_ssize_t[::1] own_point    # (n_rows,) the point that is the row itself
    cdef readonly Py_ssize_t n_supports
    cdef Py_ssize_t[::1] support_points     # (n_points,) of which the first `n_supports` are used
    cdef int[::1] positions                 # (n_points,) among the support vectors, or -1
    cdef double[::1] values_of_supports     # scratch: (n_points,)
    cdef double unit

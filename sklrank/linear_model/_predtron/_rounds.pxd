"""Rounds of Predtron, and the mean of the weights over them."""

from sklrank.linear_model._mirror._maps cimport MirrorMap
from sklrank.linear_model._predtron._task cimport Task
from sklrank.linear_model._rows cimport Row, Rows, RowSum


cdef class WeightSums:
    cdef double[:, ::1] sums                # (n_classes, width)
    cdef double sign
    cdef Py_ssize_t last                    # round of the last change; 0 where it does not matter

    # Write the scores of a row by the mean weights after `n_rounds` rounds, one or more; `scores`
    # are those by the last weights.
    cdef void score(
        self, Py_ssize_t n_rounds, const Row* row, const double* scores, double* means
    ) noexcept nogil

    # In round `t`, from 1, the dual weights are about to change by `size * direction row'`.
    cdef void record(
        self, MirrorMap mirror_map, Py_ssize_t t, const double* direction, double size,
        const Row* row,
    ) noexcept nogil


cdef class EuclideanSums(WeightSums):
    pass


cdef class PredtronRounds:
    cdef public MirrorMap mirror_map
    cdef public WeightSums sums             # None: no mean is kept
    cdef readonly double learning_rate      # NaN: the theorems'
    cdef readonly double convexity
    cdef readonly Py_ssize_t n_rounds, n_mistakes
    cdef readonly double total_loss
    cdef double radius, least_loss, most_loss       # of the rounds so far
    cdef double[::1] unit                   # (1,) one

    # Write the scores that would predict a row; `scores` are those by the weights that learn.
    cdef void forecast(
        self, const Row* row, const double* scores, double* forecasts
    ) noexcept nogil
    cdef double record_round(
        self, double loss, bint loss_driven, const double[:, ::1] bounds, Py_ssize_t i
    ) noexcept nogil
    cdef double theory_rate(self, bint loss_driven) noexcept nogil
    cdef void change(self, const double* direction, double size, const Row* row) noexcept nogil

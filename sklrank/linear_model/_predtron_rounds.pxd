"""Rounds of Predtron, and the mean of the weights over them."""

from sklrank.linear_model._mirror_maps cimport MirrorMap
from sklrank.linear_model._predtron_task cimport Task
from sklrank.linear_model._rows cimport Row, Rows, RowSum


cdef class WeightSums:
    cdef double[:, ::1] sums                # (n_classes, width)
    cdef Py_ssize_t last                    # round of the last change

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

    cdef double record_round(
        self, double loss, bint driven, const double[:, ::1] bounds, Py_ssize_t i
    ) noexcept nogil
    cdef double theory_rate(self, bint driven) noexcept nogil
    cdef void change(self, const double* direction, double size, const Row* row) noexcept nogil

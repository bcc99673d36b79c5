"""Predtron's task of a ranking a round."""

from sklrank.linear_model._predtron._assignment cimport Assigner
from sklrank.linear_model._predtron._task cimport Task
from sklrank.linear_model._predtron._sorting cimport Item


cdef class RankingTask(Task):
    cdef const double[::1] gains            # of the items of all lists
    cdef const Py_ssize_t[::1] starts       # (n_lists + 1,) where those of a list start
    cdef const Py_ssize_t[::1] lists        # (n_rounds,) the list of each round
    cdef const double[::1] discounts        # (n_positions,)
    cdef const double[::1] position_values          # (n_positions,) the representation's f
    cdef double[::1] lengths                # (n_positions + 1,) Z, by the number of items
    cdef Py_ssize_t n_counted               # positions of a discount above zero
    cdef double[::1] ideal                  # gains, those of each list sorted
    cdef Py_ssize_t[::1] firsts             # where among those the gain of each item first comes
    cdef double[::1] best                   # (n_lists,) sum of discounted ideal gains
    cdef Assigner assigner
    cdef Item[::1] predicted                # scratch: items by score, adversely
    cdef Item[::1] sorted                   # scratch: items by gain, then score
    cdef Item[::1] blocks                   # scratch: items sorted in blocks of equal discounts
    cdef Item[::1] room                     # scratch: of the sort
    cdef Py_ssize_t[::1] order              # scratch

    cdef void find_ideal(self, Py_ssize_t i) noexcept nogil
    cdef double loss(self, Py_ssize_t i) noexcept nogil
    cdef void sort_right(self, Py_ssize_t i, const double* scores) noexcept nogil
    cdef void sort_blocks(self, Py_ssize_t n) noexcept nogil

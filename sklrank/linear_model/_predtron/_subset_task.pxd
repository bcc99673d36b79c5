"""Predtron's task of a set of labels a row."""

from sklrank.linear_model._predtron._task cimport Task
from sklrank.linear_model._predtron._sorting cimport Item


# A prediction takes the relevant labels and the irrelevant ones of the greatest scores: so many.
cdef struct Cell:
    Py_ssize_t n_relevant
    Py_ssize_t n_irrelevant
    double value
    double loss


# The labels of one kind, relevant or irrelevant.
cdef struct Side:
    Item* items                 # first: the score; index: the label
    double* similarities        # of the first 0, 1, ... labels chosen and the others not
    Py_ssize_t n
    Py_ssize_t n_positive       # of scores above zero
    Py_ssize_t n_zero


cdef class SubsetTask(Task):
    cdef const Py_ssize_t[::1] indptr       # relevant labels of each row, as in a CSR matrix
    cdef const Py_ssize_t[::1] labels
    cdef Py_ssize_t n_labels
    cdef const Py_ssize_t[::1] offsets      # (n_labels + 1,) where the table of |Y| starts
    cdef const double[::1] losses           # tables one after the other
    cdef double unit                        # 1 / sqrt(n_labels)
    cdef Item[::1] items                    # scratch: relevant labels, then the others
    cdef Item[::1] room                     # scratch: of the sort
    cdef double[::1] similarities           # scratch

    cdef void split(
        self, Py_ssize_t i, const double* scores, Side* relevant, Side* irrelevant
    ) noexcept nogil
    cdef void sort(self, Side* side) noexcept nogil
    cdef void write_step(
        self, const Side* side, Py_ssize_t n_wrong, Py_ssize_t n_right, double* direction
    ) noexcept nogil

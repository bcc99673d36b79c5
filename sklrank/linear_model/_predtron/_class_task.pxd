"""Predtron's task of one class a row."""

from sklrank.linear_model._predtron._task cimport Task


cdef class ClassTask(Task):
    cdef const double[:, ::1] costs         # (n_classes, n_predictions)
    cdef const Py_ssize_t[::1] labels       # (n_rounds,)
    cdef Py_ssize_t width                   # scores of a round
    cdef double[::1] similarities           # (n_predictions,) scratch

    cdef void write_similarities(self, const double* scores) noexcept nogil
    cdef void add(self, Py_ssize_t prediction, double sign, double* direction) noexcept nogil

"""Rows of a kernel matrix, and which of their points are support vectors."""

from sklrank.linear_model._rows cimport Rows


cdef class KernelRows(Rows):
    cdef const int[::1] own                 # (n_rows,) column of the row's own point
    cdef readonly Py_ssize_t n_supports
    cdef readonly Py_ssize_t n_born         # points that ever became support vectors
    cdef Py_ssize_t budget                  # of support vectors; 0: no limit
    cdef Py_ssize_t[::1] born               # (n_features,) which one it was, from 1; 0: it is none
    cdef double unit

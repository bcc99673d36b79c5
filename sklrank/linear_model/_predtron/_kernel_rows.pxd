"""Rows of a kernel matrix, and the points among its columns that are support vectors."""

from sklrank.linear_model._rows cimport Rows


cdef class KernelRows(Rows):
    cdef const int[::1] own_column          # (n_rows,) column of the row's own point
    cdef readonly Py_ssize_t n_supports
    cdef readonly Py_ssize_t n_inserted     # support vectors so far, including removed ones
    cdef Py_ssize_t budget                  # maximum number of support vectors, or 0 for no limit
    cdef Py_ssize_t[::1] insertion_order    # (n_features,) from 1 for support vectors, otherwise 0
    cdef double unit

"""Rows of a kernel matrix, and the points among its columns that are support vectors."""

from sklrank.linear_model._rows cimport Rows


cdef class KernelRows(Rows):
    cdef const int[::1] own_column          # (n_rows,) column of the row's own point
    cdef readonly Py_ssize_t n_supports
    cdef readonly Py_ssize_t n_inserted     # support vectors so far, with those removed
    cdef Py_ssize_t budget                  # greatest number of support vectors; 0: no limit
    cdef Py_ssize_t[::1] insertion_order    # (n_features,) of support vectors, from 1; 0: others
    cdef double unit

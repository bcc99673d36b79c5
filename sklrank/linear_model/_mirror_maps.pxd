"""Dual weights, and the mirror maps that turn them into weights."""

from sklrank.linear_model._rows cimport Row


cdef class MirrorMap:
    cdef readonly Py_ssize_t n_classes
    cdef readonly Py_ssize_t width          # features, and the constant where there is one
    cdef double[:, ::1] duals               # (n_classes, width)

    # Write the linear scores of the classes, by the weights, into `scores`. Reads only.
    cdef void score(self, const Row* row, double* scores) noexcept nogil

    # Add `size` times the row to the dual weights of class `k`.
    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil


cdef class EuclideanMap(MirrorMap):
    pass


cdef class PositiveMap(MirrorMap):
    pass


cdef class EntropicMap(MirrorMap):
    cdef double[:, ::1] masses              # (n_classes, width) exp(dual - shift of the class)
    cdef double[::1] shifts                 # (n_classes,)
    cdef double[::1] totals                 # (n_classes,) sums of masses
    cdef Py_ssize_t[::1] n_changed          # (n_classes,) masses changed since the last refresh

    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef double change(self, Py_ssize_t k, Py_ssize_t j, double addition) noexcept nogil

"""Dual weights, and the mirror maps that turn them into weights."""

from sklrank.linear_model._rows cimport Row


cdef inline bint is_worn(double total, double peak) noexcept nogil:
    # Whether a sum of numbers above zero that is kept up to date, and that was `peak` at most, must
    # be computed anew: it nears overflow, or what rounding took from it at the peak is no longer
    # small beside what is left.
    return not total < 1e100 or total < 1e-3 * peak


cdef class MirrorMap:
    cdef readonly Py_ssize_t n_classes
    cdef readonly Py_ssize_t width          # features, and the constant where there is one
    cdef readonly object error              # kept for `raise_error`, or None
    cdef double[:, ::1] duals               # (n_classes, width)

    # Write the linear scores of the classes, by the weights, into `scores`. Nothing is learnt.
    cdef void score(self, const Row* row, double* scores) noexcept nogil

    # Add `size` times the row to the dual weights of class `k`.
    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil

    # Add `size * direction[k]` times the row to the dual weights of every class k; zeros of
    # `direction` cost nothing.
    cdef void step_all(self, const double* direction, double size, const Row* row) noexcept nogil

    # sums += factor * weights, both (n_classes, width). Nothing is learnt.
    cdef void add_weights(self, double factor, double* sums) noexcept nogil


# sums += factor * values, both (n,)
cdef void add_scaled(
    double factor, const double* values, Py_ssize_t n, double* sums
) noexcept nogil


cdef class EuclideanMap(MirrorMap):
    pass


cdef class PositiveMap(MirrorMap):
    pass


cdef class EntropicMap(MirrorMap):
    cdef double[:, ::1] masses              # (n_classes, width) exp(dual - shift of the class)
    cdef double[::1] shifts                 # (n_classes,)
    cdef double[::1] totals                 # (n_classes,) sums of masses
    cdef double[::1] peaks                  # (n_classes,) the largest totals since the last refresh
    cdef Py_ssize_t[::1] n_changed          # (n_classes,) masses changed since the last refresh

    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void change(self, Py_ssize_t k, Py_ssize_t j, double addition) noexcept nogil

"""The mirror map of the Schatten norm."""

from sklrank.linear_model._mirror._maps cimport MirrorMap


cdef class SchattenMap(MirrorMap):
    cdef readonly double exponent           # q
    cdef double[:, ::1] gram                # (n_classes, n_classes) Theta Theta' / unit^2
    cdef double unit                        # largest dual weight at the last refresh
    cdef double peak                        # the largest trace of `gram` since the last refresh
    cdef Py_ssize_t n_changed               # entries of rows added since the last refresh
    cdef double[:, ::1] mixer               # (n_classes, n_classes) M, where it is not stale
    cdef bint is_stale
    cdef double[::1] direction              # scratch: (n_classes,)
    cdef double[::1] products               # scratch: (n_classes,)

    cdef void refresh(self) noexcept nogil
    cdef void mix(self) noexcept nogil
    cdef void decompose(self) noexcept with gil

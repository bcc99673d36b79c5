"""Mirror maps of the p-norm and the group norm."""

from sklrank.linear_model._mirror._maps cimport MirrorMap
from sklrank.linear_model._rows cimport Row


# q for the l_q norm of p numbers.
cdef double dual_exponent(Py_ssize_t p) noexcept nogil


cdef class GroupedMap(MirrorMap):
    cdef readonly double exponent           # q
    cdef readonly Py_ssize_t n_groups
    cdef double[:, ::1] shares              # (n_classes, width) weights / factor
    cdef double[::1] masses                 # (n_groups,) (norm of the group / unit)^q
    cdef double unit                        # largest dual weight at the last refresh
    cdef double total                       # sum of masses
    cdef double peak                        # the largest total since the last refresh
    cdef double factor
    cdef Py_ssize_t n_changed               # masses changed since the last refresh

    cdef void follow(self, Py_ssize_t first, const Row* row) noexcept nogil
    cdef void renew(self, Py_ssize_t group) noexcept nogil
    cdef void refresh(self) noexcept nogil


cdef class PNormMap(GroupedMap):
    pass


cdef class GroupNormMap(GroupedMap):
    pass

"""Mirror maps of the p-norm, the group norm and the Schatten norm."""

from sklrank._compiled.rows cimport Row
from sklrank._compiled.state cimport Archive
from sklrank.linear_model._mirror._maps cimport MirrorMap


# Return the exponent q of the l_q norm of p numbers.
cdef double dual_exponent(Py_ssize_t p) noexcept nogil


cdef class NormMap(MirrorMap):
    # Compute all other attributes from the dual weights.
    cdef void recompute(self) noexcept nogil

    # If the labels change, replace the entries by those of the map of the entry `duals`.
    cdef int relabel(self, Archive archive) except -1


cdef class GroupedMap(NormMap):
    cdef readonly double exponent           # q
    cdef readonly Py_ssize_t n_groups
    cdef double[:, ::1] unnormalized        # (n_classes, width) weights / factor
    cdef double factor
    cdef double[::1] powers                 # (n_groups,) (norm of the group / unit)^q
    cdef double unit                        # largest dual weight at the last `recompute`
    cdef double total                       # sum of `powers`
    cdef double max_total                   # largest total since the last `recompute`
    cdef Py_ssize_t n_changed               # number of changed powers since the last `recompute`

    # Return the number of groups.
    cdef Py_ssize_t count_groups(self, Py_ssize_t n_classes, Py_ssize_t width) noexcept

    cdef void update_columns(self, Py_ssize_t first, const Row* row) noexcept nogil
    cdef void update_group(self, Py_ssize_t group) noexcept nogil


cdef class PNormMap(GroupedMap):
    pass


cdef class GroupNormMap(GroupedMap):
    pass


cdef class SchattenMap(NormMap):
    cdef readonly double exponent           # q
    cdef double[:, ::1] gram                # (n_classes, n_classes) Theta Theta' / unit^2
    cdef double unit                        # largest dual weight at the last `recompute`
    cdef double max_trace                   # largest trace of `gram` since the last `recompute`
    cdef Py_ssize_t n_changed               # entries of rows added since the last `recompute`
    cdef double[:, ::1] left_factor         # (n_classes, n_classes) M, unless `is_stale`
    cdef bint is_stale                      # whether `gram` has changed since M was computed
    cdef double[::1] direction              # scratch: (n_classes,)
    cdef double[::1] products               # scratch: (n_classes,)

    cdef void ensure_left_factor(self) noexcept nogil
    cdef void update_left_factor(self) noexcept with gil

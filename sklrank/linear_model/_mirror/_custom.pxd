"""A user's mirror map."""

from sklrank.linear_model._mirror._maps cimport MirrorMap


cdef class CustomMap(MirrorMap):
    cdef readonly object mirror_map
    cdef double[:, ::1] primals             # (n_classes, width) weights

    cdef void renew(self) noexcept with gil

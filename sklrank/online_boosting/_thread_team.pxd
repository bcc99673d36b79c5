"""Threads that go through the phases of a loop together, without the GIL."""

from cpython.pythread cimport PyThread_type_lock


cdef class ThreadTeam:
    cdef readonly Py_ssize_t n_members
    cdef list threads
    cdef list errors
    cdef bint failed
    cdef int phase
    cdef PyThread_type_lock* may_start      # a lock for each member but the first, the caller
    cdef PyThread_type_lock* has_ended

    # What one member does in a phase; a subclass says it.
    cdef int run_share(self, int phase, Py_ssize_t member) except -1 nogil

    # Let all members do their shares, and wait for them.
    cdef int together(self, int phase) except -1 nogil

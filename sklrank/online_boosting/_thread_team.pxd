"""A team of threads that share the phases of a loop, without the GIL."""

from cpython.pythread cimport PyThread_type_lock


cdef class ThreadTeam:
    cdef readonly Py_ssize_t n_members
    cdef list threads
    cdef list errors
    cdef bint failed
    cdef int phase
    # Locks of each member; the first member, the calling thread, needs none.
    cdef PyThread_type_lock* may_start
    cdef PyThread_type_lock* has_ended

    # Run the share of one member in a phase. To be overridden.
    cdef int run_share(self, int phase, Py_ssize_t member) except -1 nogil

    # Run the shares of all members, and wait for them.
    cdef int run_phase(self, int phase) except -1 nogil

"""A team of threads that divide the work of each phase of a loop, without the GIL."""

from cpython.pythread cimport PyThread_type_lock


cdef class ThreadTeam:
    cdef readonly Py_ssize_t n_members
    cdef list threads, errors
    cdef bint failed
    cdef int phase
    # One lock of each kind per member. The first member is the calling thread and uses no lock.
    cdef PyThread_type_lock* may_start
    cdef PyThread_type_lock* has_ended

    # Set the number of members, 1 or more. This is called once, before the first loop.
    cdef int allocate(self, Py_ssize_t n_members) except -1

    # Run the part of one member in a phase. Subclasses override this method.
    cdef int run_share(self, int phase, Py_ssize_t member) except -1 nogil

    # Run the parts of all members in a phase, and wait until all of them have ended.
    cdef int run_phase(self, int phase) except -1 nogil

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Threads that go through the phases of a loop together, without the GIL.

A round of boosting is too short for a thread pool: some hundred microseconds. A `ThreadTeam` keeps its
threads for the time of a call and hands them phase after phase through plain locks, which needs
neither the GIL nor OpenMP. The calling thread is its first member.
"""

from cpython.pythread cimport (
    PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock,
    PyThread_type_lock, WAIT_LOCK,
)
from libc.stdlib cimport calloc, free

from threading import Thread

cdef enum:
    THE_END = -1        # the phase that lets the threads end


cdef class ThreadTeam:
    """Use as a context manager around the loop that calls `together`."""

    def __cinit__(self):
        self.n_members = 1
        self.threads = []
        self.errors = []

    def __dealloc__(self):
        cdef Py_ssize_t k
        for k in range(self.n_members if self.may_start != NULL else 0):
            if self.may_start[k] != NULL:
                PyThread_free_lock(self.may_start[k])
            if self.has_ended != NULL and self.has_ended[k] != NULL:
                PyThread_free_lock(self.has_ended[k])
        free(self.may_start)
        free(self.has_ended)

    cdef int run_share(self, int phase, Py_ssize_t member) except -1 nogil:
        return 0

    cdef int together(self, int phase) except -1 nogil:
        cdef Py_ssize_t k
        if self.n_members == 1:
            return self.run_share(phase, 0)
        self.phase = phase
        for k in range(1, self.n_members):
            PyThread_release_lock(self.may_start[k])
        try:
            self.run_share(phase, 0)
        finally:
            for k in range(1, self.n_members):
                PyThread_acquire_lock(self.has_ended[k], WAIT_LOCK)
        if self.failed:
            with gil:
                self.failed = False
                raise self.errors.pop()
        return 0

    def allocate(self, Py_ssize_t n_members):
        """Set the number of members, before the first loop."""
        cdef Py_ssize_t k
        if self.may_start != NULL:
            raise RuntimeError("a team is hired once")
        self.n_members = n_members
        self.may_start = <PyThread_type_lock*>calloc(n_members, sizeof(PyThread_type_lock))
        self.has_ended = <PyThread_type_lock*>calloc(n_members, sizeof(PyThread_type_lock))
        if self.may_start == NULL or self.has_ended == NULL:
            raise MemoryError
        for k in range(n_members):
            self.may_start[k] = PyThread_allocate_lock()
            self.has_ended[k] = PyThread_allocate_lock()
            if self.may_start[k] == NULL or self.has_ended[k] == NULL:
                raise MemoryError
            PyThread_acquire_lock(self.may_start[k], WAIT_LOCK)
            PyThread_acquire_lock(self.has_ended[k], WAIT_LOCK)

    def __enter__(self):
        self.threads = []
        self.phase = THE_END    # which lets threads end that start before one that cannot
        try:
            for k in range(1, self.n_members):
                thread = Thread(target=self.serve, args=(k,), daemon=True)
                self.threads.append(thread)
                thread.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *exception):
        self.stop()

    def stop(self):
        """Let all threads end, those too whose start was interrupted."""
        cdef Py_ssize_t k
        self.phase = THE_END
        for k in range(1, len(self.threads) + 1):
            PyThread_release_lock(self.may_start[k])
        for thread in self.threads:
            if thread.ident is not None:
                thread.join()

    def serve(self, Py_ssize_t member):
        """The life of a thread: wait for a phase, do the share, say so."""
        while True:
            with nogil:
                PyThread_acquire_lock(self.may_start[member], WAIT_LOCK)
            if self.phase == THE_END:
                return
            try:
                with nogil:
                    while True:
                        self.run_share(self.phase, member)
                        PyThread_release_lock(self.has_ended[member])
                        PyThread_acquire_lock(self.may_start[member], WAIT_LOCK)
                        if self.phase == THE_END:
                            break
                return
            except BaseException as error:
                self.errors.append(error)
                self.failed = True
                PyThread_release_lock(self.has_ended[member])

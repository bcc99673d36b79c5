# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A team of threads that divide the work of each phase of a loop, without the GIL.

A round of online boosting, or a split of a tree, takes some hundred microseconds, which is too
short for a thread pool. A `ThreadTeam` keeps its threads during one call and starts each phase by
releasing plain locks. This requires neither the GIL nor OpenMP. The calling thread is the first
member of the team.
"""

from cpython.pythread cimport (
    PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock,
    PyThread_type_lock, NOWAIT_LOCK, WAIT_LOCK,
)
from libc.stdlib cimport calloc, free

from threading import Thread

from sklrank._compiled.model_lock import part_of_call

cdef enum:
    STOP = -1           # a thread ends if it is started in this phase
    # Attempts to take a lock before the thread sleeps: 0.1 ms, about what waking it up takes.
    ATTEMPTS = 10000


cdef void wait_for(PyThread_type_lock lock) noexcept nogil:
    """Take a lock that another thread is likely to release soon."""
    cdef int left = ATTEMPTS
    while left > 0:
        if PyThread_acquire_lock(lock, NOWAIT_LOCK):
            return
        left -= 1
    PyThread_acquire_lock(lock, WAIT_LOCK)


cdef class ThreadTeam:
    """A team of threads; a context manager whose body is the loop that calls `run_phase`."""

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

    cdef int run_phase(self, int phase) except -1 nogil:
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
                wait_for(self.has_ended[k])
        if self.failed:
            with gil:
                self.failed = False
                raise self.errors.pop()
        return 0

    cdef int allocate(self, Py_ssize_t n_members) except -1:
        cdef Py_ssize_t k
        if self.may_start != NULL:
            raise RuntimeError("the members of a team are already allocated")
        self.may_start = <PyThread_type_lock*>calloc(n_members, sizeof(PyThread_type_lock))
        self.has_ended = <PyThread_type_lock*>calloc(n_members, sizeof(PyThread_type_lock))
        if self.may_start == NULL or self.has_ended == NULL:
            raise MemoryError
        self.n_members = n_members
        for k in range(n_members):
            self.may_start[k] = PyThread_allocate_lock()
            self.has_ended[k] = PyThread_allocate_lock()
            if self.may_start[k] == NULL or self.has_ended[k] == NULL:
                raise MemoryError
            PyThread_acquire_lock(self.may_start[k], WAIT_LOCK)
            PyThread_acquire_lock(self.has_ended[k], WAIT_LOCK)
        return 0

    def __enter__(self):
        self.threads = []
        self.phase = STOP       # if a thread cannot start, the threads started before must end
        try:
            for k in range(1, self.n_members):
                target = part_of_call(self.worker_loop)
                thread = Thread(target=target, args=(k,), daemon=True)
                self.threads.append(thread)
                thread.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *exception):
        self.stop()

    def stop(self):
        """End all threads, including a thread whose start was interrupted."""
        cdef Py_ssize_t k
        self.phase = STOP
        for k in range(1, len(self.threads) + 1):
            PyThread_release_lock(self.may_start[k])
        threads, self.threads = self.threads, []
        for thread in threads:
            if thread.ident is not None:
                thread.join()

    def worker_loop(self, Py_ssize_t member):
        """Run the part of `member` in each phase until the phase is STOP, as target of a thread."""
        if not 1 <= member < self.n_members:
            raise ValueError(f"there is no thread of member {member}")
        while True:
            with nogil:
                PyThread_acquire_lock(self.may_start[member], WAIT_LOCK)
            if self.phase == STOP:
                return
            try:
                with nogil:
                    while True:
                        self.run_share(self.phase, member)
                        PyThread_release_lock(self.has_ended[member])
                        wait_for(self.may_start[member])
                        if self.phase == STOP:
                            break
                return
            except BaseException as error:
                self.errors.append(error)
                self.failed = True
                PyThread_release_lock(self.has_ended[member])

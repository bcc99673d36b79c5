"""Readers-writer lock of a model that several threads use."""

cimport cython


@cython.auto_pickle(False)
cdef class LockedModel:
    cdef dict readers               # number of running shared calls of each thread
    cdef list waiting               # locks on which other threads wait
    cdef Py_ssize_t n_learners      # number of threads that wait to begin an exclusive call
    cdef Py_ssize_t n_waiting       # number of threads that wait to begin a shared call
    cdef Py_ssize_t n_turns         # number of these that begin before the next exclusive call
    cdef Py_ssize_t n_exclusive     # number of nested calls of the thread that learns
    cdef unsigned long owner        # identifier of this thread, if there are such calls
    cdef Py_ssize_t n_forks         # value of `N_FORKS` in the process to which all this belongs
    cdef bint is_torn               # whether a thread that no longer exists was changing the model

    # Begin a call, after a wait for calls of other threads if necessary. After a success, call the
    # corresponding method `end_...` in the same thread. Ctrl-C ends the wait. A call that would
    # wait for itself raises RuntimeError.
    cdef int begin_shared(self) except -1
    cdef int begin_exclusive(self) except -1
    cdef void end_shared(self) noexcept
    cdef void end_exclusive(self) noexcept

    # Begin a call and return None, or return a lock to wait on before the next attempt. `waited`
    # is True from the second attempt on.
    cdef object try_shared(self, unsigned long thread, bint waited)
    cdef object try_exclusive(self, unsigned long thread)
    cdef int enter(self) except -1
    cdef bint runs_in_callers(self, unsigned long thread) except -1
    cdef int raise_blocked(self) except -1
    cdef object new_wait(self)
    cdef void leave_queue(self) noexcept
    cdef void wake(self) noexcept

"""Guard of an object that one thread at a time may change."""

cimport cython


@cython.auto_pickle(False)
cdef class CallGuard:
    cdef Py_ssize_t n_shared        # number of running shared calls
    cdef Py_ssize_t n_exclusive     # number of running exclusive calls, of one thread
    cdef unsigned long owner        # identifier of this thread, if there are such calls

    # Start a call. Raise RuntimeError if it would run at the same time as a call of another thread
    # and one of the two is exclusive. After a success, call the corresponding method `end_...`.
    cdef int begin_shared(self) except -1
    cdef int begin_exclusive(self) except -1
    cdef void end_shared(self) noexcept
    cdef void end_exclusive(self) noexcept

    cdef refuse(self)

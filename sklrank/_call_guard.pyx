# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Guard against calls of one model by several threads while one of the calls changes the model.

Compiled loops release the GIL. If one thread could learn while another uses the same model, the
second thread would read memory that the first one frees. So a call is shared, such as `predict`, or
exclusive, such as `partial_fit`. A call raises RuntimeError if it would run at the same time as a
call of another thread, unless both are shared. A thread may nest calls in its own exclusive call.

An estimator or a compiled learner inherits from `CallGuard`. While an estimator learns, its
compiled learners are guarded, too: they may be pickled, or be learners of another estimator. The
numbers of running calls are not attributes in the sense of Python: copies and pickles of an object
do not contain them. They are protected by the GIL or, in a free-threaded build, by the lock of the
object (a critical section).
"""

cimport cython
from cpython.pythread cimport PyThread_get_thread_ident

from functools import wraps
from inspect import Parameter, signature


@cython.auto_pickle(False)
cdef class CallGuard:
    """Base class of objects with shared and exclusive calls."""

    cdef int begin_shared(self) except -1:
        cdef bint refused
        with cython.critical_section(self):
            refused = self.n_exclusive > 0 and self.owner != PyThread_get_thread_ident()
            if not refused:
                self.n_shared += 1
        if refused:
            self.refuse()
        return 0

    cdef int begin_exclusive(self) except -1:
        cdef unsigned long thread = PyThread_get_thread_ident()
        cdef bint refused
        with cython.critical_section(self):
            refused = self.owner != thread if self.n_exclusive > 0 else self.n_shared > 0
            if not refused:
                self.owner = thread
                self.n_exclusive += 1
        if refused:
            self.refuse()
        return 0

    cdef void end_shared(self) noexcept:
        with cython.critical_section(self):
            self.n_shared -= 1

    cdef void end_exclusive(self) noexcept:
        with cython.critical_section(self):
            self.n_exclusive -= 1

    cdef refuse(self):
        raise RuntimeError(
            f"another thread uses this {type(self).__name__}, and one of the two calls changes it: "
            "use a lock (threading.Lock) around all calls of a model that learns, or give each "
            "thread its own copy (copy.deepcopy)"
        )

    def __reduce_ex__(self, protocol):
        # The protocols 0 and 1 cannot pickle a Python class derived from a compiled class.
        return super().__reduce_ex__(max(protocol, 2))


@cython.final
@cython.freelist(8)
cdef class ExclusiveCalls:
    """Context manager: an exclusive call of each object of a list, such as weak learners."""

    cdef list guards
    cdef Py_ssize_t n_begun

    def __init__(self, list guards not None):
        self.guards = guards

    def __enter__(self):
        try:
            for guard in self.guards:
                (<CallGuard?>guard).begin_exclusive()
                self.n_begun += 1
        except BaseException:
            self.end()
            raise

    def __exit__(self, kind, error, traceback):
        self.end()

    cdef void end(self) noexcept:
        cdef Py_ssize_t i
        for i in range(self.n_begun):
            (<CallGuard>self.guards[i]).end_exclusive()
        self.n_begun = 0


def shared_call(method):
    """Decorate a method that may run in several threads at the same time.

    In a class that is not derived from `CallGuard`, the decorated method works as before.
    """
    parameters = signature(method).parameters
    if list(parameters) == ["self", "X"] and parameters["X"].default is Parameter.empty:
        # Without `*args`, the guard takes a fraction of the time.
        @wraps(method)
        def call(self, X):
            if not isinstance(self, CallGuard):
                return method(self, X)
            (<CallGuard>self).begin_shared()
            try:
                return method(self, X)
            finally:
                (<CallGuard>self).end_shared()
    else:
        @wraps(method)
        def call(self, *args, **kwargs):
            if not isinstance(self, CallGuard):
                return method(self, *args, **kwargs)
            (<CallGuard>self).begin_shared()
            try:
                return method(self, *args, **kwargs)
            finally:
                (<CallGuard>self).end_shared()
    return call


def exclusive_call(method):
    """Decorate a method that changes a model, of a class derived from `CallGuard`."""
    @wraps(method)
    def call(CallGuard self, *args, **kwargs):
        self.begin_exclusive()
        try:
            return method(self, *args, **kwargs)
        finally:
            self.end_exclusive()
    return call

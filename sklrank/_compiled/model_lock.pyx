# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Readers-writer lock of each model: predictions run together, learning excludes other calls.

Compiled loops release the GIL. If one thread could learn while another uses the same model, the
second thread would read memory that the first one frees. So a call is shared, such as `predict`, or
exclusive, such as `partial_fit`. A call waits for the calls of other threads, unless both are
shared. A waiting learner blocks new readers; when a learner ends, waiting readers go first. So
nobody waits for ever.

A thread may nest calls of any kind in its own exclusive call, and shared calls in its own shared
call. An exclusive call in a shared one would wait for itself, so it raises RuntimeError. So does a
call in a worker thread that would wait for the call of which it is a part (see `part_of_call`),
such as that of a weak learner which uses its own booster.

An estimator or a compiled learner inherits from `LockedModel`. While an estimator learns, its
compiled learners are locked, too: they may be pickled, or be learners of another estimator. The
lock is no attribute in the sense of Python: copies and pickles of an object do not contain it. Its
state is protected by the GIL or, in a free-threaded build, by a critical section.

In a process that was forked, calls of the other threads of its parent will never end, so they are
forgotten. A model that one of them was changing is half changed: its calls raise RuntimeError.
"""

cimport cython
from cpython.pythread cimport PyThread_get_thread_ident

import os
from _thread import allocate_lock
from functools import wraps

# The thread that waits for each worker thread which runs part of its call.
cdef dict CALLERS = {}

# Number of forks between the first process and this one.
cdef Py_ssize_t N_FORKS = 0
# The thread that forked, which alone lives on.
cdef unsigned long FORKING_THREAD = 0


def count_fork():
    global N_FORKS, FORKING_THREAD
    N_FORKS += 1
    FORKING_THREAD = PyThread_get_thread_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=count_fork)


@cython.auto_pickle(False)
cdef class LockedModel:
    """Base class of objects with shared and exclusive calls."""

    cdef int begin_shared(self) except -1:
        cdef unsigned long thread = PyThread_get_thread_ident()
        wait = self.try_shared(thread, False)
        try:
            while wait is not None:
                wait.acquire()
                wait = self.try_shared(thread, True)
        except BaseException:
            with cython.critical_section(self):
                self.leave_queue()
                self.wake()
            raise
        return 0

    cdef int enter(self) except -1:
        if self.readers is None:
            self.readers = {}
        if self.n_forks != N_FORKS:
            self.n_forks, self.waiting = N_FORKS, None
            self.n_learners = self.n_waiting = self.n_turns = 0
            self.readers = {key: n for key, n in self.readers.items() if key == FORKING_THREAD}
            self.is_torn = self.is_torn or (
                self.n_exclusive > 0 and self.owner != FORKING_THREAD
            )
        if self.is_torn:
            raise RuntimeError(
                f"another thread was changing this {type(self).__name__} when the process was "
                "forked: load the model anew, or start processes by spawn or forkserver"
            )
        return 0

    cdef void leave_queue(self) noexcept:
        self.n_waiting -= 1
        self.n_turns = max(self.n_turns - 1, 0)

    cdef object try_shared(self, unsigned long thread, bint waited):
        wait = None
        with cython.critical_section(self):
            self.enter()
            if self.n_exclusive > 0 and self.owner == thread:
                # Nothing else runs, so a single count is enough. See `end_shared`.
                self.n_exclusive += 1
            elif self.n_exclusive > 0 and self.runs_in_callers(thread):
                self.raise_blocked()
            elif self.n_exclusive > 0 or (
                self.n_learners > 0
                and self.n_turns == 0
                and thread not in self.readers
                and not self.runs_in_callers(thread)
            ):
                wait = self.new_wait()
                self.n_waiting += not waited
            else:
                self.readers[thread] = self.readers.get(thread, 0) + 1
                if waited:
                    self.leave_queue()
        return wait

    cdef bint runs_in_callers(self, unsigned long thread) except -1:
        """Return whether a call runs in a thread that waits for this worker thread."""
        caller = CALLERS.get(thread)
        while caller is not None:
            if caller in self.readers or (self.n_exclusive > 0 and self.owner == caller):
                return True
            caller = CALLERS.get(caller)
        return False

    cdef int raise_blocked(self) except -1:
        raise RuntimeError(
            f"a call of this {type(self).__name__} was made in a worker thread of its own call, "
            "for which it would wait for ever: call it after the running call has ended"
        )

    cdef int begin_exclusive(self) except -1:
        cdef unsigned long thread = PyThread_get_thread_ident()
        wait = self.try_exclusive(thread)
        if wait is None:
            return 0
        with cython.critical_section(self):
            self.n_learners += 1
        try:
            while wait is not None:
                wait.acquire()
                wait = self.try_exclusive(thread)
        finally:
            with cython.critical_section(self):
                self.n_learners -= 1
                self.wake()
        return 0

    cdef object try_exclusive(self, unsigned long thread):
        wait = None
        with cython.critical_section(self):
            self.enter()
            if self.n_exclusive > 0 and self.owner == thread:
                self.n_exclusive += 1
            elif self.n_exclusive == 0 and not self.readers and self.n_turns == 0:
                self.owner = thread
                self.n_exclusive = 1
            elif self.n_exclusive == 0 and thread in self.readers:
                raise RuntimeError(
                    f"this {type(self).__name__} cannot learn inside of its own call that predicts "
                    "or is pickled, which runs in the same thread: let it learn after this call"
                )
            elif self.runs_in_callers(thread):
                self.raise_blocked()
            else:
                wait = self.new_wait()
        return wait

    cdef object new_wait(self):
        wait = allocate_lock()
        wait.acquire()
        if self.waiting is None:
            self.waiting = []
        self.waiting.append(wait)
        return wait

    cdef void wake(self) noexcept:
        if self.waiting:
            for wait in self.waiting:
                wait.release()
            self.waiting = None

    cdef void end_shared(self) noexcept:
        cdef unsigned long thread
        with cython.critical_section(self):
            if self.n_exclusive > 0:
                self.n_exclusive -= 1
            else:
                thread = PyThread_get_thread_ident()
                self.readers[thread] -= 1
                if not self.readers[thread]:
                    del self.readers[thread]
                if not self.readers:
                    self.wake()

    cdef void end_exclusive(self) noexcept:
        with cython.critical_section(self):
            self.n_exclusive -= 1
            if self.n_exclusive == 0:
                self.n_turns = self.n_waiting
                self.wake()

    def __reduce_ex__(self, protocol):
        # The protocols 0 and 1 cannot pickle a Python class derived from a compiled class.
        return super().__reduce_ex__(max(protocol, 2))


@cython.final
@cython.freelist(8)
cdef class ExclusiveCalls:
    """Context manager: an exclusive call of each of several objects, such as weak learners."""

    cdef list models
    cdef Py_ssize_t n_begun

    def __init__(self, models):
        # A copy, since the calls may change the given list. All threads begin the calls in the same
        # order, so that no two of them wait for each other.
        self.models = list(models)
        if len(self.models) > 1:
            self.models.sort(key=id)

    def __enter__(self):
        try:
            for model in self.models:
                (<LockedModel?>model).begin_exclusive()
                self.n_begun += 1
        except BaseException:
            self.end()
            raise

    def __exit__(self, kind, error, traceback):
        self.end()

    cdef void end(self) noexcept:
        cdef Py_ssize_t i
        for i in range(self.n_begun):
            (<LockedModel>self.models[i]).end_exclusive()
        self.n_begun = 0


def part_of_call(function):
    """Return the function for a worker thread whose end the thread that calls this waits for."""
    caller = PyThread_get_thread_ident()

    def run(*args, **kwargs):
        thread = PyThread_get_thread_ident()
        if thread == caller:  # without a worker thread, as joblib runs a single job
            return function(*args, **kwargs)
        CALLERS[thread] = caller
        try:
            return function(*args, **kwargs)
        finally:
            del CALLERS[thread]
    return run


def shared_call(method):
    """Decorate a method that may run in several threads at the same time.

    In a class that is not derived from `LockedModel`, the decorated method works as before.
    """
    @wraps(method)
    def call(self, *args, **kwargs):
        if not isinstance(self, LockedModel):
            return method(self, *args, **kwargs)
        (<LockedModel>self).begin_shared()
        try:
            return method(self, *args, **kwargs)
        finally:
            (<LockedModel>self).end_shared()
    return call


def exclusive_call(method):
    """Decorate a method that changes a model; see `shared_call` for models without a lock."""
    @wraps(method)
    def call(self, *args, **kwargs):
        if not isinstance(self, LockedModel):
            return method(self, *args, **kwargs)
        (<LockedModel>self).begin_exclusive()
        try:
            return method(self, *args, **kwargs)
        finally:
            (<LockedModel>self).end_exclusive()
    return call

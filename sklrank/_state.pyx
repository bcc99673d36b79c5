# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""State of compiled objects: how it is saved, and how it is checked before it is restored.

Loops without bounds checks read and write the arrays of a compiled object. A state from a file may
be damaged, so it is checked completely before the object uses any part of it. Loaders such as skops
create an object by `__new__`, without its constructor, and pass the state to `__setstate__`.

A class whose objects are saved derives from `Persistent` and defines two methods:

- `get_state` returns a dictionary of arrays, numbers, strings, and other persistent objects. It
  contains all that predictions and learning depend on, but no working memory.
- `set_state` reads these entries by the methods of `State`, which check them, and allocates working
  memory. Only then does it assign attributes. If it raises, the object remains as it was. A
  subclass reads its own entries first, then calls `set_state` of its base class, and assigns its
  attributes last.

The constructor passes the initial entries to `start`, which also calls `set_state`. Thus there is
no other way to initialize an object, and the arrays of an object always fit each other. The sizes
of an object never change, since other objects may depend on them: `set_state` refuses a state of
other sizes if `is_ready` is True.

An object that was created by `__new__` alone has `is_ready` False. Methods that Python can call
must not use the arrays of such an object; they call `require_ready` first. `State.part` refuses it.
"""

from copyreg import __newobj__
from numbers import Integral, Real

import numpy as np

from sklrank import __version__

# Number of the format in which states are saved. Increase it whenever a state changes such that
# files of previous versions cannot be loaded.
STATE_FORMAT = 1

_FORMAT, _VERSION = "_sklrank_state_format", "_sklrank_version"

FLOAT = np.dtype(np.float64)
INTP = np.dtype(np.intp)

# Counters must not overflow.
cdef Py_ssize_t MAX_COUNT = <Py_ssize_t>1 << (8 * sizeof(Py_ssize_t) - 2)


def with_format(dict state):
    """Return a copy of the state with the state format and the version of sklrank."""
    return {**state, _FORMAT: STATE_FORMAT, _VERSION: __version__}


def without_format(state, owner):
    """Return a copy of a state from `with_format` without the format. Raise if it is another one.

    `owner` is the name of the class, for error messages.
    """
    if not isinstance(state, dict):
        raise ValueError(f"the state of {owner} must be a dict, got {type(state).__name__}")
    state = dict(state)
    state_format, version = state.pop(_FORMAT, None), state.pop(_VERSION, None)
    if type(state_format) is not int or state_format != STATE_FORMAT:
        known = isinstance(version, str)
        writer = f"sklrank {version}" if known else "an unknown version of sklrank"
        raise ValueError(
            f"this {owner} was saved by {writer} in state format {state_format!r}, but sklrank "
            f"{__version__} can only load state format {STATE_FORMAT}: load it with the version "
            "that saved it, or fit the model again"
        )
    return state


cdef class State:
    """A state to restore. Its methods return entries and raise ValueError if they are invalid."""

    def __init__(self, str owner, dict entries, bint copies):
        self.owner = owner
        self.entries = entries
        self.copies = copies

    cdef int require(self, bint holds, str message) except -1:
        if not holds:
            raise ValueError(f"the state of {self.owner} is inconsistent: {message}")
        return 0

    cdef object get(self, str name):
        if self.entries is None or name not in self.entries:
            self.require(False, f"{name} is missing")
        return self.entries[name]

    cdef object array(self, str name, tuple shape, object dtype, bint copies):
        value = self.get(name)
        if not isinstance(value, np.ndarray):
            self.require(False, f"{name} is not an array, but {type(value).__name__}")
        cdef tuple given = value.shape
        cdef bint fits = len(given) == len(shape)
        for i in range(len(shape) if fits else 0):
            fits = fits and (shape[i] == -1 or shape[i] == given[i])
        if not fits:
            expected = str(shape).replace("-1", "any")
            self.require(False, f"{name} has the shape {given}, expected {expected}")
        if value.dtype == dtype:
            return value.copy() if copies else np.ascontiguousarray(value)
        if value.dtype.kind != dtype.kind or dtype.kind not in "fi":
            self.require(False, f"{name} has the dtype {value.dtype}, expected {dtype}")
        return np.ascontiguousarray(value, dtype=dtype)

    cdef object floats(self, str name, tuple shape):
        return self.array(name, shape, FLOAT, self.copies)

    cdef object constants(self, str name, tuple shape):
        return self.array(name, shape, FLOAT, False)

    cdef object integers(self, str name, tuple shape, Py_ssize_t low, Py_ssize_t high, dtype=INTP):
        # Check the values before a conversion, which might cut off bits.
        value = self.get(name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.size:
            if not low <= value.min() <= value.max() <= high:
                self.require(False, f"{name} has entries that are not from {low} to {high}")
        return self.array(name, shape, dtype, self.copies)

    cdef double any_number(self, str name) except? -1.0:
        value = self.get(name)
        # The first condition saves time.
        if type(value) is not float and (not isinstance(value, Real) or isinstance(value, bool)):
            self.require(False, f"{name} is not a number, but {type(value).__name__}")
        try:
            return value
        except OverflowError:
            self.require(False, f"{name} is too large")

    cdef double number(self, str name, double low=-np.inf, double high=np.inf) except? -1.0:
        cdef double value = self.any_number(name)
        if not low <= value <= high:
            self.require(False, f"{name} is {value}, expected a number from {low} to {high}")
        return value

    cdef Py_ssize_t count(
        self, str name, Py_ssize_t low=0, Py_ssize_t high=MAX_COUNT
    ) except? -1:
        value = self.get(name)
        if not isinstance(value, Integral) or isinstance(value, bool) or not low <= value <= high:
            self.require(False, f"{name} is {value!r}, expected an integer from {low} to {high}")
        return value

    cdef bint flag(self, str name) except? -1:
        value = self.get(name)
        if type(value) is not bool:
            self.require(False, f"{name} is {value!r}, expected True or False")
        return value

    cdef object choice(self, str name, options):
        value = self.get(name)
        if type(value) is not str or value not in options:
            self.require(False, f"{name} is {value!r}, expected one of {sorted(options)}")
        return value

    cdef object part(self, str name, type kind):
        value = self.get(name)
        if not isinstance(value, kind) or not (<Persistent>value).is_ready:
            self.require(False, f"{name} is not a {kind.__name__} with a state")
        return value

    cdef list parts(self, str name, type kind):
        value = self.get(name)
        if not isinstance(value, list) or not all(
            isinstance(part, kind) and (<Persistent>part).is_ready for part in value
        ):
            self.require(False, f"{name} is not a list of {kind.__name__} objects with a state")
        return list(value)


cdef class Persistent(CallGuard):
    """Base class of the compiled classes whose objects are saved."""

    cdef dict get_state(self):
        raise TypeError(f"{type(self).__name__} does not define get_state")

    cdef int set_state(self, State state) except -1:
        raise TypeError(f"{type(self).__name__} does not define set_state")

    cdef int start(self, dict entries) except -1:
        self.set_state(State(type(self).__name__, entries, False))
        self.is_ready = True
        return 0

    cdef int require_ready(self) except -1:
        if not self.is_ready:
            raise ValueError(
                f"this {type(self).__name__} has no state: create it by its constructor"
            )
        return 0

    def __reduce__(self):
        return __newobj__, (type(self),), self.__getstate__()

    def __getstate__(self):
        self.require_ready()
        self.begin_shared()
        try:
            return with_format(self.get_state())
        finally:
            self.end_shared()

    def __setstate__(self, state):
        name = type(self).__name__
        self.set_state(State(name, without_format(state, name), True))
        self.is_ready = True

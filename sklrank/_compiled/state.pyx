# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""State of compiled objects: one declaration that saves it, checks it and restores it.

A class whose objects are saved derives from `Persistent` and declares its state in one method:

    cdef int exchange(self, Archive archive) except -1:
        cdef MyLearner saved = archive.source
        Learner.exchange(self, archive)                                 # the base class, if any
        self.n_features = archive.count("n_features", saved.n_features, 1)
        self.rate = archive.number("rate", saved.rate, 0.0, 1.0)
        self.weights = archive.floats("weights", saved.weights, (-1, self.n_features))
        archive.require(self.weights.shape[0] > 0, "there are no classes")
        if archive.loads:
            self.scratch = np.empty(self.n_features)
        return 0

An `Archive` is used in two ways. One that saves records each value of `archive.source` and returns
it for a new object, which is thrown away: threads that predict read the attributes of the source
meanwhile, so it is not written. One that loads ignores the value, checks the entry (its type, shape
and range) and returns it. Arrays are attributes of a declared type, `double[:, ::1]` for example,
from which their dtype and number of dimensions follow. So

- list everything that predictions and learning depend on, but no working memory, which is allocated
  if `archive.loads`, like all that follows from the entries;
- list entries after those that their shapes and ranges depend on;
- `archive.require` conditions between entries: loops without bounds checks rely on them, and a
  state from a file may be damaged.

Labels come and go by the same declaration. `label_count` declares their number, and `LABELS` as a
size in a shape declares an axis of them. The last argument, 0 by default, is the value of a label
from which nothing was learned, and is broadcast along the axis:

    self.n_classes = archive.label_count("n_classes", saved.n_classes)
    self.squares = archive.floats("squares", saved.squares, (-1, LABELS), 1.0)

A deep copy whose memo is a `Relabeling` then has other labels: the axes are permuted, and labels
are added or dropped, in the object and in all of its parts. What else depends on the labels, such
as an entry that is their mean, is computed if `archive.labels` is not None.

The constructor sets the attributes and calls `start`, which passes them through the same checks:

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_classes, double rate):
        self.n_features, self.rate = n_features, rate                   # other numbers are zero
        self.weights = np.zeros((n_classes, n_features))                # all declared arrays
        self.start()

An object gets its state once, since others depend on its sizes: by the constructor, or by
`__setstate__`, which refuses an object with a state. Loaders such as skops create an object by
`__new__`, without its constructor, and pass the state to `__setstate__`. Without it, an object has
`is_ready` False, and its arrays do not exist. Methods that Python can call do not use them; they
call `require_ready` first. `Archive.part` refuses such objects.
"""

cimport cython

from copy import deepcopy
from copyreg import __newobj__
from numbers import Integral, Real

import numpy as np

from sklrank import __version__
from sklrank._compiled.label_axes import LabelAxis
from sklrank._compiled.model_lock import shared_call

# Number of the format in which states are saved. Increase it whenever a state changes such that
# files of previous versions cannot be loaded.
STATE_FORMAT = 2

_FORMAT, _VERSION = "_sklrank_state_format", "_sklrank_version"

FLOAT = np.dtype(np.float64)
INTP = np.dtype(np.intp)
INTC = np.dtype(np.intc)

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


cdef class Archive:
    """Entries of a state that is saved, or checked and loaded."""

    def __init__(self, Persistent source, dict entries, bint loads, bint copies, memo=None):
        self.source = source
        self.entries = entries
        self.loads = loads
        self.copies = copies
        self.memo, self.labels = memo, getattr(memo, "labels", None)
        self.n_labels = -1

    cdef int require(self, bint holds, str message) except -1:
        if not holds:
            owner = type(self.source).__name__
            raise ValueError(f"the state of {owner} is inconsistent: {message}")
        return 0

    cdef object get(self, str name):
        if self.entries is None or name not in self.entries:
            self.require(False, f"{name} is missing")
        return self.entries[name]

    cdef object anything(self, str name, object value):
        if self.loads:
            return self.get(name)
        self.entries[name] = value if self.memo is None else deepcopy(value, self.memo)
        return value

    cdef double any_number(self, str name, double value) except? -1.0:
        entry = self.anything(name, value)
        # The first condition saves time.
        if type(entry) is not float and (not isinstance(entry, Real) or isinstance(entry, bool)):
            self.require(False, f"{name} is not a number, but {type(entry).__name__}")
        try:
            return entry
        except OverflowError:
            self.require(False, f"{name} is too large")

    cdef double number(
        self, str name, double value, double low=-np.inf, double high=np.inf
    ) except? -1.0:
        cdef double entry = self.any_number(name, value)
        if not low <= entry <= high:
            self.require(False, f"{name} is {entry}, expected a number from {low} to {high}")
        return entry

    cdef Py_ssize_t count(
        self, str name, Py_ssize_t value, Py_ssize_t low=0, Py_ssize_t high=MAX_COUNT
    ) except? -1:
        entry = self.anything(name, value)
        if not isinstance(entry, Integral) or isinstance(entry, bool) or not low <= entry <= high:
            self.require(False, f"{name} is {entry!r}, expected an integer from {low} to {high}")
        return entry

    cdef Py_ssize_t label_count(
        self, str name, Py_ssize_t value, Py_ssize_t low=1, Py_ssize_t high=MAX_COUNT
    ) except? -1:
        self.n_labels = self.count(name, value, low, high)
        if self.labels is not None:
            self.entries[name] = len(self.labels)
        return self.n_labels

    cdef bint flag(self, str name, bint value) except? -1:
        entry = self.anything(name, value)
        if type(entry) is not bool:
            self.require(False, f"{name} is {entry!r}, expected True or False")
        return entry

    cdef object choice(self, str name, object value, options):
        entry = self.anything(name, value)
        if type(entry) is not str or entry not in options:
            self.require(False, f"{name} is {entry!r}, expected one of {sorted(options)}")
        return entry

    cdef object part(self, str name, object value, type kind, bint or_none=False):
        entry = self.anything(name, value)
        if entry is None and or_none:
            return None
        if not isinstance(entry, kind) or not (<Persistent>entry).is_ready:
            self.require(False, f"{name} is not a {kind.__name__} with a state")
        return entry

    cdef list parts(self, str name, list value, type kind):
        entry = self.anything(name, value)
        if not isinstance(entry, list) or not all(
            isinstance(part, kind) and (<Persistent>part).is_ready for part in entry
        ):
            self.require(False, f"{name} is not a list of {kind.__name__} objects with a state")
        return list(entry) if self.loads else value

    cdef floats_view floats(self, str name, floats_view value, tuple shape, new=0.0):
        if self.loads:
            return self.checked_array(name, shape, FLOAT, self.copies)
        self.record(name, value, shape, new)
        return value

    cdef constants_view constants(self, str name, constants_view value, tuple shape):
        # Nothing writes these arrays, so they are not copied.
        if self.loads:
            return self.checked_array(name, shape, FLOAT, False)
        # A view of a view would gain a layer in each copy of a copy: the base is the loaded array.
        self.entries[name] = value.base if self.source.is_ready else np.asarray(value)
        return value

    @cython.boundscheck(False)  # `sizeof` reads no entry, so that the array may be empty.
    cdef integers_view integers(
        self, str name, integers_view value, tuple shape, Py_ssize_t low, Py_ssize_t high, new=0
    ):
        dtype = INTP if sizeof(value[0]) == sizeof(Py_ssize_t) else INTC
        if self.loads:
            return self.checked_array(name, shape, dtype, self.copies, low, high)
        self.record(name, value, shape, new)
        return value

    cdef object array(
        self, str name, object value, tuple shape, dtype, low=None, high=None, new=0
    ):
        if not self.loads:
            return self.record(name, value, shape, new)
        return self.checked_array(name, shape, dtype, self.copies, low, high)

    cdef object record(self, str name, object value, tuple shape, new):
        array = copied = np.asarray(value)
        for axis, size in enumerate(shape if self.labels is not None else ()):
            if isinstance(size, LabelAxis):
                copied = size.relabeled(copied, axis, self.labels, new)
        self.entries[name] = copied.copy() if self.copies and copied is array else copied
        return value

    cdef bint fits(self, size, Py_ssize_t given):
        # Return whether an axis may have the size that is given.
        if not isinstance(size, LabelAxis):
            return size == -1 or size == given
        given -= size.before + size.after
        if self.n_labels < 0:
            self.n_labels = given
        return 0 <= given == self.n_labels

    cdef object checked_array(
        self, str name, tuple shape, dtype, bint copies, low=None, high=None
    ):
        value = self.get(name)
        if not isinstance(value, np.ndarray):
            self.require(False, f"{name} is not an array, but {type(value).__name__}")
        cdef tuple given = value.shape
        cdef bint fits = len(given) == len(shape)
        for i in range(len(shape) if fits else 0):
            fits = fits and self.fits(shape[i], given[i])
        if not fits:
            expected = str(shape).replace("-1", "any")
            self.require(False, f"{name} has the shape {given}, expected {expected}")
        if value.dtype != dtype and (value.dtype.kind != dtype.kind or dtype.kind not in "fi"):
            self.require(False, f"{name} has the dtype {value.dtype}, expected {dtype}")
        # Check the values before a conversion, which might cut off bits.
        if low is not None and value.size and not low <= value.min() <= value.max() <= high:
            self.require(False, f"{name} has entries that are not from {low} to {high}")
        if copies and value.dtype == dtype:
            return value.copy()
        return np.ascontiguousarray(value, dtype=dtype)


cdef class Persistent(LockedModel):
    """Base class of the compiled classes whose objects are saved."""

    cdef int exchange(self, Archive archive) except -1:
        raise TypeError(f"{type(self).__name__} does not define exchange")

    cdef int start(self, dict entries=None) except -1:
        entries = self.save(False) if entries is None else entries
        self.exchange(Archive(self, entries, True, False))
        self.is_ready = True
        return 0

    cdef int require_ready(self) except -1:
        if not self.is_ready:
            raise ValueError(
                f"this {type(self).__name__} has no state: create it by its constructor"
            )
        return 0

    cdef dict save(self, bint copies, memo=None):
        cdef dict entries = {}
        cdef Persistent receiver = type(self).__new__(type(self))
        receiver.exchange(Archive(self, entries, False, copies, memo))
        return entries

    @shared_call
    def __deepcopy__(self, memo):
        cdef Persistent other = type(self).__new__(type(self))
        self.require_ready()
        other.start(self.save(True, memo))
        return other

    def __reduce__(self):
        return __newobj__, (type(self),), self.__getstate__()

    @shared_call
    def __getstate__(self):
        self.require_ready()
        return with_format(self.save(True))

    def __setstate__(self, state):
        entries = without_format(state, type(self).__name__)
        if self.is_ready:
            raise ValueError(f"this {type(self).__name__} has a state: load into a new object")
        LockedModel.begin_exclusive(self)
        try:
            self.exchange(Archive(self, entries, True, True))
            self.is_ready = True
        except ValueError as error:
            if str(error).startswith("the state of"):
                raise
            # Of NumPy, for sizes that no array can have.
            name = type(self).__name__
            raise ValueError(f"the state of {name} is inconsistent: {error}") from error
        finally:
            LockedModel.end_exclusive(self)

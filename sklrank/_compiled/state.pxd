"""State of compiled objects: one declaration that saves it, checks it and restores it."""

from sklrank._compiled.model_lock cimport LockedModel

# Declared types of the arrays that are attributes. An array of another type is an `array`.
ctypedef fused floats_view:
    double[::1]
    double[:, ::1]
    double[:, :, ::1]

ctypedef fused constants_view:
    const double[::1]
    const double[:, ::1]

ctypedef fused integers_view:
    int[::1]
    Py_ssize_t[::1]


cdef class Persistent


cdef class Archive:
    cdef readonly Persistent source     # the object that is saved, or into which entries are loaded
    cdef dict entries
    cdef readonly bint loads            # whether entries are returned (True) or recorded (False)
    cdef bint copies                    # whether `floats`, `integers` and `array` copy the arrays
    cdef object memo                    # of a deep copy, or None
    cdef object labels                  # `labels` of a `Relabeling`, or None
    cdef Py_ssize_t n_labels            # number of labels, or -1 before it is known

    # Record the value as the entry `name`; or check the entry and return it. Raise ValueError if
    # the entry is missing or damaged. Size -1 of a `shape` stands for any size, and `LABELS` for
    # the number of labels, each of which starts with the value `new`.
    cdef double number(self, str name, double value, double low=*, double high=*) except? -1.0
    cdef double any_number(self, str name, double value) except? -1.0       # may be NaN
    cdef Py_ssize_t count(
        self, str name, Py_ssize_t value, Py_ssize_t low=*, Py_ssize_t high=*
    ) except? -1
    cdef Py_ssize_t label_count(
        self, str name, Py_ssize_t value, Py_ssize_t low=*, Py_ssize_t high=*
    ) except? -1
    cdef bint flag(self, str name, bint value) except? -1
    cdef object choice(self, str name, object value, options)       # one of several strings
    cdef object anything(self, str name, object value)              # without a check
    cdef object part(self, str name, object value, type kind, bint or_none=*)
    cdef list parts(self, str name, list value, type kind)          # a list of compiled objects
    cdef floats_view floats(self, str name, floats_view value, tuple shape, new=*)
    cdef constants_view constants(self, str name, constants_view value, tuple shape)
    cdef integers_view integers(
        self, str name, integers_view value, tuple shape, Py_ssize_t low, Py_ssize_t high, new=*
    )
    cdef object array(self, str name, object value, tuple shape, dtype, low=*, high=*, new=*)

    # Raise ValueError with this message unless the condition holds.
    cdef int require(self, bint holds, str message) except -1

    cdef object get(self, str name)
    cdef object record(self, str name, object value, tuple shape, new)
    cdef bint fits(self, size, Py_ssize_t given)
    cdef object checked_array(self, str name, tuple shape, dtype, bint copies, low=*, high=*)


cdef class Persistent(LockedModel):
    cdef bint is_ready          # whether the object has a state

    # Declare all attributes that predictions and learning depend on, see `state.pyx`.
    cdef int exchange(self, Archive archive) except -1

    # Complete a constructor, which has set the attributes that `exchange` declares.
    cdef int start(self, dict entries=*) except -1

    # Raise ValueError if the object has no state.
    cdef int require_ready(self) except -1

    # Return the entries of the state, whose arrays are copies if `copies` is True.
    cdef dict save(self, bint copies, memo=*)

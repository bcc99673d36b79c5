"""State of compiled objects, which is checked before it is restored."""

from sklrank._call_guard cimport CallGuard


cdef class State:
    cdef str owner              # name of the class, for error messages
    cdef dict entries
    cdef bint copies            # whether `floats` and `integers` copy the arrays

    # Return an entry of the state, or raise ValueError if it is missing or inconsistent. Entry -1
    # of a `shape` stands for any size.
    cdef object get(self, str name)
    cdef object array(self, str name, tuple shape, object dtype, bint copies)
    cdef object floats(self, str name, tuple shape)
    cdef object constants(self, str name, tuple shape)      # floats that are never copied
    cdef object integers(self, str name, tuple shape, Py_ssize_t low, Py_ssize_t high, dtype=*)
    cdef double number(self, str name, double low=*, double high=*) except? -1.0
    cdef double any_number(self, str name) except? -1.0     # a number that may be NaN
    cdef Py_ssize_t count(self, str name, Py_ssize_t low=*, Py_ssize_t high=*) except? -1
    cdef bint flag(self, str name) except? -1
    cdef object choice(self, str name, options)
    cdef object part(self, str name, type kind)
    cdef list parts(self, str name, type kind)              # a list of compiled objects

    # Raise ValueError with this message unless the condition holds.
    cdef int require(self, bint holds, str message) except -1


cdef class Persistent(CallGuard):
    cdef bint is_ready          # whether the object has a state

    # Return the state as a dictionary of arrays, numbers, strings, and compiled objects.
    cdef dict get_state(self)

    # Check the whole state, and then replace the state of the object by it.
    cdef int set_state(self, State state) except -1

    # Set the initial state. Constructors call this method.
    cdef int start(self, dict entries) except -1

    # Raise ValueError if the object has no state.
    cdef int require_ready(self) except -1

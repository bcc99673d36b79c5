"""Items assigned to positions."""

cimport cython

from sklrank.linear_model._predtron._sorting cimport Item


# What an item adds where it stands at a position, from 0: the sum over all is to be greatest.
cdef struct AssignmentValue:
    const double* discounts         # (n_items,) by position
    const double* position_values           # (n_items,) by position
    double gain_unit
    double score_unit


@cython.final
cdef class Assigner:
    cdef double most_states
    cdef double[::1] values                 # scratch, by state
    cdef Py_ssize_t[::1] starts             # scratch, by group: where its items start,
    cdef Py_ssize_t[::1] sizes              # how many there are,
    cdef Py_ssize_t[::1] taken              # how many of them stand already,
    cdef Py_ssize_t[::1] strides            # and how far apart states are that differ by one

    # Write which of the items stands at each position. Their `first` is the gain, their `second`
    # the score, and they are sorted.
    cdef int assign(
        self, const Item* items, Py_ssize_t n_items, const AssignmentValue* worth, Py_ssize_t* order
    ) except -1 nogil

    cdef Py_ssize_t group(self, const Item* items, Py_ssize_t n_items) noexcept nogil
    cdef double count_states(self, Py_ssize_t n_groups) noexcept nogil
    cdef void merge(
        self, const Item* items, Py_ssize_t n_items, Py_ssize_t n_groups, const AssignmentValue* worth,
        Py_ssize_t* order,
    ) noexcept nogil
    cdef inline Py_ssize_t last_group(
        self, Py_ssize_t state, const Item* items, Py_ssize_t n_groups, Py_ssize_t position,
        const AssignmentValue* worth, double* value,
    ) noexcept nogil

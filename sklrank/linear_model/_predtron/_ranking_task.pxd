"""The ranking task of Predtron, and the assignment problem of its loss-augmented inference."""

cimport cython

from sklrank._compiled.sorting cimport Item
from sklrank.linear_model._predtron._tasks cimport Task


# An item with the score t and the gain g has at position j, counted from 0, the value
# score_unit t position_values[j] - gain_unit g discounts[j]. The sum over all items is maximized.
cdef struct AssignmentValue:
    const double* discounts                 # (n_items,)
    const double* position_values           # (n_items,)
    double gain_unit
    double score_unit


@cython.final
cdef class Assigner:
    cdef double max_states
    cdef double[::1] values                 # scratch: best value of each state
    cdef Py_ssize_t[::1] starts             # scratch: index of the first item of each group
    cdef Py_ssize_t[::1] sizes              # scratch: number of items of each group
    cdef Py_ssize_t[::1] taken              # scratch: number of placed items of each group
    cdef Py_ssize_t[::1] strides            # scratch: change of the state per item of each group

    # Write the index of the item at each position into `order`. The items must be sorted, with the
    # gain in `first` and the score in `second`.
    cdef int assign(
        self, const Item* items, Py_ssize_t n_items, const AssignmentValue* value, Py_ssize_t* order
    ) except -1 nogil

    cdef Py_ssize_t group(self, const Item* items, Py_ssize_t n_items) noexcept nogil
    cdef double count_states(self, Py_ssize_t n_groups) noexcept nogil
    cdef void merge(
        self, const Item* items, Py_ssize_t n_items, Py_ssize_t n_groups,
        const AssignmentValue* value, Py_ssize_t* order,
    ) noexcept nogil
    cdef inline Py_ssize_t last_group(
        self, Py_ssize_t state, const Item* items, Py_ssize_t n_groups, Py_ssize_t position,
        const AssignmentValue* value, double* best_value,
    ) noexcept nogil


cdef class RankingTask(Task):
    cdef const double[::1] gains            # of the items of all lists
    cdef const Py_ssize_t[::1] starts       # (n_all + 1,) index of the first item of each list
    cdef const double[::1] discounts        # (n_positions,)
    cdef const double[::1] position_values  # (n_positions,) f of the representation
    cdef double[::1] lengths                # (n_positions + 1,) Z for each number of items
    cdef Py_ssize_t n_discounted            # number of positions with a discount above zero
    cdef double[::1] ideal                  # gains of each list in decreasing order
    cdef Py_ssize_t[::1] first_positions    # for each item, the first position of its gain in ideal
    cdef double[::1] best                   # (n_all,) sum of discounted ideal gains
    cdef Assigner assigner
    cdef Item[::1] predicted                # scratch: items by score, ties by increasing gain
    cdef Item[::1] sorted                   # scratch: items by gain, then score
    cdef Item[::1] blocks                   # scratch: items sorted in blocks of equal discounts
    cdef Item[::1] buffer                   # scratch of the sort
    cdef Py_ssize_t[::1] order              # scratch

    cdef void find_ideal(self, Py_ssize_t i) noexcept nogil
    # The module docstring of the `.pyx` file states what the next three methods compute.
    cdef double predicted_loss(self, Py_ssize_t i) noexcept nogil
    cdef void sort_correct(self, Py_ssize_t i, const double* scores) noexcept nogil
    cdef int sort_augmented(self, Py_ssize_t i, const double* scores) except -1 nogil
    cdef void sort_blocks(self, Py_ssize_t n) noexcept nogil

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The worst ranking that the scores like: items assigned to positions (Jain et al. 2015, Lemma 3).

An item of the gain g and the score t is worth

    f_j t / Z - D_j g / best

at position j; the ranking sought is worth most in all. That is a linear assignment problem, solved
in the third power of the number of items. But items of equal gain stand in the order of their
scores: to swap two of them changes the first term only, and that is greatest in order. So the
ranking merges as many sorted lists as there are distinct gains. With n_g items of the gain g, a
table over how many of each list stand already, prod(n_g + 1) states, has the best value of each:
few where grades are few. The solver takes over where the table would be more work, or too large.
"""

cimport cython

import numpy as np
from scipy.optimize import linear_sum_assignment

# The solver takes n^3 units of time for n items. In these units STEP is what a step of the table
# takes and CALL what a call of the solver takes besides. Both were measured for 5 to 800 items; a
# unit is 0.3 ns.
cdef double STEP = 6.0
cdef double CALL = 6000.0

MAX_STATES = 2.0**22


@cython.final
cdef class Assigner:
    """Finds the best assignment, by table or solver.

    Parameters
    ----------
    most_items : int
        The greatest number of items.
    most_states : float
        The greatest size of the table.
    """

    def __init__(self, Py_ssize_t most_items, double most_states=MAX_STATES):
        self.most_states = most_states
        self.values = np.empty(1)
        self.starts, self.sizes, self.taken, self.strides = np.empty(
            (4, most_items + 1), dtype=np.intp
        )

    cdef int assign(
        self, const Item* items, Py_ssize_t n_items, const AssignmentValue* worth, Py_ssize_t* order
    ) except -1 nogil:
        cdef Py_ssize_t n_groups = self.group(items, n_items)
        cdef double n_states = self.count_states(n_groups), cube = <double>n_items ** 3
        if n_states > self.most_states or STEP * n_states * n_groups > cube + CALL:
            with gil:
                solve(items, n_items, worth, order)
            return 0
        if n_states > self.values.shape[0]:
            with gil:
                self.values = np.empty(<Py_ssize_t>n_states)
        self.merge(items, n_items, n_groups, worth, order)
        return 0

    cdef Py_ssize_t group(self, const Item* items, Py_ssize_t n_items) noexcept nogil:
        # Write where the groups of equal gain start and their sizes; returns their number.
        cdef Py_ssize_t k, n_groups = 0
        for k in range(n_items):
            if k == 0 or items[k].first != items[k - 1].first:
                self.starts[n_groups], self.sizes[n_groups] = k, 0
                n_groups += 1
            self.sizes[n_groups - 1] += 1
        return n_groups

    cdef double count_states(self, Py_ssize_t n_groups) noexcept nogil:
        cdef double n_states = 1.0
        cdef Py_ssize_t g
        for g in range(n_groups):
            n_states *= self.sizes[g] + 1
        return n_states

    cdef void merge(
        self, const Item* items, Py_ssize_t n_items, Py_ssize_t n_groups, const AssignmentValue* worth,
        Py_ssize_t* order,
    ) noexcept nogil:
        # A state is a number of mixed radix, whose digits are `taken`.
        cdef Py_ssize_t g, state, n_states = 1, n_taken = 0
        cdef double value
        for g in range(n_groups):
            self.taken[g] = 0
            self.strides[g] = n_states
            n_states *= self.sizes[g] + 1
        self.values[0] = 0.0
        for state in range(1, n_states):
            g = 0
            while self.taken[g] == self.sizes[g]:
                n_taken -= self.taken[g]
                self.taken[g] = 0
                g += 1
            self.taken[g] += 1
            n_taken += 1
            self.last_group(state, items, n_groups, n_taken - 1, worth, &self.values[state])
        state = n_states - 1
        while n_taken > 0:
            n_taken -= 1
            g = self.last_group(state, items, n_groups, n_taken, worth, &value)
            self.taken[g] -= 1
            state -= self.strides[g]
            order[n_taken] = self.starts[g] + self.taken[g]

    cdef inline Py_ssize_t last_group(
        self, Py_ssize_t state, const Item* items, Py_ssize_t n_groups, Py_ssize_t position,
        const AssignmentValue* worth, double* value,
    ) noexcept nogil:
        # Write the value of the state; returns the group of the item at its last position.
        cdef double discount = worth.gain_unit * worth.discounts[position]
        cdef double height = worth.score_unit * worth.position_values[position], candidate
        cdef const Item* item
        cdef Py_ssize_t g, best = -1
        for g in range(n_groups):
            if self.taken[g] == 0:
                continue
            item = items + self.starts[g] + self.taken[g] - 1
            candidate = (
                self.values[state - self.strides[g]] + height * item.second - discount * item.first
            )
            if best < 0 or candidate > value[0]:
                best, value[0] = g, candidate
        return best


cdef int solve(
    const Item* items, Py_ssize_t n_items, const AssignmentValue* worth, Py_ssize_t* order
) except -1:
    cdef double[:, ::1] costs = np.empty((n_items, n_items))
    cdef double loss, like
    cdef const Py_ssize_t[:] columns
    cdef Py_ssize_t k, j
    for k in range(n_items):
        loss, like = worth.gain_unit * items[k].first, worth.score_unit * items[k].second
        for j in range(n_items):
            costs[k, j] = loss * worth.discounts[j] - like * worth.position_values[j]
    columns = linear_sum_assignment(costs)[1]
    for k in range(n_items):
        order[columns[k]] = k
    return 0

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rankings of labels or documents (Jain et al. 2015, Sections 4 and 5).

A round has items with gains g_i >= 0. A ranking sigma puts item i at position sigma(i). It is
represented by the vector of the entries f(sigma(i)) / Z, where f is strictly decreasing and Z makes
the length of the vector 1. Let D_j >= 0 be discounts that do not increase with j. The loss is

    L(sigma) = 1 - sum_i g_i D(sigma(i)) / best = sum_j (ideal_j - g at position j) D_j / best

where `ideal` are the gains in decreasing order and best = sum_j ideal_j D_j. The losses of NDCG and
of precision at k have this form. Positions with equal D form a *block*. The loss depends on which
gains are in each block, but not on their order in the block. If the gains are sorted in each block,
the second sum of a ranking without loss is exactly 0, without rounding errors.

The prediction and the correct ranking are found by sorting. The gains are sorted once, when the
task is made. So a round only sorts its items by score, and then appends them in this order to the
items of the same gain.

Loss-augmented inference is an assignment problem (Lemma 3). The value of an item with gain g and
score t at position j is

    f_j t / Z - D_j g / best

and the solution is the ranking with the greatest sum of values. The time of a general solver is
cubic in the number of items. But in the solution, items of equal gain are in the order of their
scores, since swapping two of them changes only the first term. So the solution merges sorted groups
of items, one group for each distinct gain. It is found by dynamic programming, where a state is the
number of placed items of each group. If group g has n_g items, the table has prod(n_g + 1) states,
which are few if there are few grades. The general solver is called if the table would be too large
or would take more time.

Another loss of gains and discounts, such as that of the first item of gain 1, is a class derived
from `RankingTask` in this file, which the loss in `_ranking_losses.py` names as its `task`. It
overrides three methods, in which `i` is the index of a list among all rounds, whose n items have
the gains `gains[starts[i]:starts[i + 1]]`, and `predicted` are the items in the order of the
prediction: by score, the largest first, and those of equal score by gain, the smallest first, which
is the worst ranking. An item has its index in the list in `index`, and minus its gain in `second`.

- `predicted_loss(i)` returns the loss of the prediction; there is no step if it is 0.
- `sort_correct(i, scores)` writes sigma_y into `blocks`, of which only `index` is read.
- `sort_augmented(i, scores)`, which is called next, writes the indices of the items of the
  loss-augmented ranking into `order`. It maximizes the loss plus the sum of f_j t / Z, where f_j is
  `position_values[j]`, t is the score of the item at position j, from 0, and Z is `lengths[n]`.

The base class does all else: it ignores lists whose sum `best[i]` is 0, computes the directions,
and takes the steps of Predtron.LD. (The steps of Predtron.LD are multiplied by the loss elsewhere.)
`discounts` are divided by the first one.
"""

cimport cython

import numpy as np
from scipy.optimize import linear_sum_assignment

from sklrank._compiled import make_items

from sklrank._compiled.sorting cimport Item, sort_items
from sklrank.linear_model._predtron._tasks cimport Task

# The general solver needs n^3 units of time for n items. In these units, STEP is the cost per state
# of the table and group, and CALL is the overhead of calling the solver. Both were measured for 5
# to 800 items. A unit is 0.3 ns.
cdef double STEP = 6.0
cdef double CALL = 6000.0

MAX_STATES = 2.0**22    # a table of 32 MB


# An item with the score t and the gain g has at position j, counted from 0, the value
# score_unit t position_values[j] - gain_unit g discounts[j]. The sum over all items is maximized.
cdef struct AssignmentValue:
    const double* discounts                 # (n_items,)
    const double* position_values           # (n_items,)
    double gain_unit
    double score_unit


cdef class Assigner


cdef class RankingTask(Task):
    """Task whose rounds have one list of items each.

    Round i has the items `starts[i]:starts[i + 1]`. Gains and discounts are not negative, discounts
    do not increase, and the values f of the `representation` decrease strictly. There are at least
    as many positions as items in the longest list.
    """

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

    def __init__(
        self, const double[::1] gains not None, const Py_ssize_t[::1] starts not None,
        const double[::1] discounts not None, const double[::1] representation not None,
        bint loss_driven=False, double max_states=MAX_STATES,
    ):
        cdef Py_ssize_t i, longest
        if starts.shape[0] < 1 or starts[0] != 0 or starts[starts.shape[0] - 1] != gains.shape[0]:
            raise ValueError("starts do not describe one list of items for each round")
        sizes = np.diff(starts)
        if len(sizes) and np.min(sizes) < 0:
            raise ValueError("starts decrease")
        longest = np.max(sizes, initial=0)
        if discounts.shape[0] < longest or representation.shape[0] != discounts.shape[0]:
            raise ValueError(
                f"discounts and representation must both have {longest} entries or more"
            )
        self.loss_driven, self.gains, self.starts = loss_driven, gains, starts
        self.set_size(len(sizes))
        self.discounts, self.position_values = discounts, representation
        # The lengths are computed by `hypot`, since squares may underflow.
        self.lengths = np.hypot.accumulate(np.append(0.0, representation))
        self.n_discounted = np.count_nonzero(discounts)
        self.assigner = Assigner(longest, max_states)
        self.predicted, self.sorted, self.blocks, self.buffer = [
            make_items(longest) for _ in range(4)
        ]
        self.order = np.empty(max(longest, 1), dtype=np.intp)
        self.ideal = np.empty(gains.shape[0])
        self.first_positions = np.empty(gains.shape[0], dtype=np.intp)
        self.best = np.zeros(len(sizes))
        with nogil:
            for i in range(self.n_all):
                self.find_ideal(i)

    cdef void find_ideal(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t j, first = 0, start = self.starts[i], n = self.starts[i + 1] - start
        for j in range(n):
            self.sorted[j] = Item(self.gains[start + j], 0.0, j)
        sort_items(&self.sorted[0], n, &self.buffer[0])
        for j in range(n):
            if self.sorted[j].first != self.sorted[first].first:
                first = j
            self.first_positions[start + self.sorted[j].index] = first
            self.ideal[start + j] = self.sorted[j].first
            self.best[i] += self.sorted[j].first * self.discounts[j]

    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil:
        return self.starts[self.chosen[i] + 1] - self.starts[self.chosen[i]]

    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil:
        cdef const double* gains
        cdef Py_ssize_t j, k, which = self.chosen[i], n = self.n_scores(i)
        cdef double loss, length
        if self.best[which] == 0.0:
            return 0.0
        gains = &self.gains[self.starts[which]]
        for k in range(n):
            self.predicted[k] = Item(scores[k], -gains[k], k)
        sort_items(&self.predicted[0], n, &self.buffer[0])
        loss = self.predicted_loss(which)
        if loss == 0.0:
            return 0.0
        length = self.lengths[n]
        self.sort_correct(which, scores)
        for j in range(n):
            direction[self.blocks[j].index] = -self.position_values[j] / length
        if self.loss_driven:
            for j in range(n):
                direction[self.predicted[j].index] += self.position_values[j] / length
            return loss
        self.sort_augmented(which, scores)
        for j in range(n):
            direction[self.order[j]] += self.position_values[j] / length
        return loss

    cdef double predicted_loss(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t j, start = self.starts[i]
        cdef Py_ssize_t n = min(self.starts[i + 1] - start, self.n_discounted)
        cdef double lost = 0.0
        for j in range(n):
            self.blocks[j] = Item(-self.predicted[j].second, 0.0, j)
        self.sort_blocks(n)
        for j in range(n):
            lost += (self.ideal[start + j] - self.blocks[j].first) * self.discounts[j]
        return max(lost, 0.0) / self.best[i]

    cdef void sort_correct(self, Py_ssize_t i, const double* scores) noexcept nogil:
        # The gains are decreasing, and the scores are decreasing in each block. In `predicted`, the
        # items are already sorted by score.
        cdef Py_ssize_t j, k, first, start = self.starts[i], n = self.starts[i + 1] - start
        for j in range(n):
            self.order[j] = j
        for j in range(n):
            k = self.predicted[j].index
            first = self.first_positions[start + k]
            self.sorted[self.order[first]] = Item(self.gains[start + k], scores[k], k)
            self.order[first] += 1
        for j in range(n):
            k = self.sorted[j].index
            self.blocks[j] = Item(scores[k], 0.0, k)
        self.sort_blocks(n)

    cdef int sort_augmented(self, Py_ssize_t i, const double* scores) except -1 nogil:
        cdef Py_ssize_t j, n = self.starts[i + 1] - self.starts[i]
        cdef AssignmentValue value = AssignmentValue(
            &self.discounts[0], &self.position_values[0],
            1.0 / self.best[i], 1.0 / self.lengths[n],
        )
        self.assigner.assign(&self.sorted[0], n, &value, &self.order[0])
        for j in range(n):
            self.order[j] = self.sorted[self.order[j]].index
        return 0

    cdef void sort_blocks(self, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t j, start = 0
        for j in range(1, n + 1):
            if j == n or self.discounts[j] != self.discounts[start]:
                if j - start > 1:
                    sort_items(&self.blocks[start], j - start, &self.buffer[0])
                start = j


@cython.final
cdef class Assigner:
    """Solver of the assignment problem, which uses dynamic programming or SciPy's solver."""

    cdef double max_states                  # greatest size of the table of dynamic programming
    cdef double[::1] values                 # scratch: best value of each state
    cdef Py_ssize_t[::1] starts             # scratch: index of the first item of each group
    cdef Py_ssize_t[::1] sizes              # scratch: number of items of each group
    cdef Py_ssize_t[::1] taken              # scratch: number of placed items of each group
    cdef Py_ssize_t[::1] strides            # scratch: change of the state per item of each group

    def __init__(self, Py_ssize_t max_items, double max_states=MAX_STATES):
        self.max_states = max_states
        self.values = np.empty(1)
        self.starts, self.sizes, self.taken, self.strides = np.empty(
            (4, max_items + 1), dtype=np.intp
        )

    cdef int assign(
        self, const Item* items, Py_ssize_t n_items, const AssignmentValue* value, Py_ssize_t* order
    ) except -1 nogil:
        # Write the index of the item at each position into `order`. The items must be sorted, with
        # the gain in `first` and the score in `second`.
        cdef Py_ssize_t n_groups = self.group(items, n_items)
        cdef double n_states = self.count_states(n_groups), cube = <double>n_items ** 3
        if n_states > self.max_states or STEP * n_states * n_groups > cube + CALL:
            with gil:
                solve(items, n_items, value, order)
            return 0
        if n_states > self.values.shape[0]:
            with gil:
                self.values = np.empty(<Py_ssize_t>n_states)
        self.merge(items, n_items, n_groups, value, order)
        return 0

    cdef Py_ssize_t group(self, const Item* items, Py_ssize_t n_items) noexcept nogil:
        # Write the starts and sizes of the groups of items with equal gain. Return the number of
        # groups.
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
        self, const Item* items, Py_ssize_t n_items, Py_ssize_t n_groups,
        const AssignmentValue* value, Py_ssize_t* order,
    ) noexcept nogil:
        # A state is a mixed-radix number with the digits `taken`.
        cdef Py_ssize_t g, state, n_states = 1, n_taken = 0
        cdef double best_value
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
            self.last_group(state, items, n_groups, n_taken - 1, value, &self.values[state])
        state = n_states - 1
        while n_taken > 0:
            n_taken -= 1
            g = self.last_group(state, items, n_groups, n_taken, value, &best_value)
            self.taken[g] -= 1
            state -= self.strides[g]
            order[n_taken] = self.starts[g] + self.taken[g]

    cdef inline Py_ssize_t last_group(
        self, Py_ssize_t state, const Item* items, Py_ssize_t n_groups, Py_ssize_t position,
        const AssignmentValue* value, double* best_value,
    ) noexcept nogil:
        # Write the best value of the state. Return the group of the item at the last position.
        cdef double discount = value.gain_unit * value.discounts[position]
        cdef double position_value = value.score_unit * value.position_values[position], candidate
        cdef const Item* item
        cdef Py_ssize_t g, best = -1
        for g in range(n_groups):
            if self.taken[g] == 0:
                continue
            item = items + self.starts[g] + self.taken[g] - 1
            candidate = (
                self.values[state - self.strides[g]]
                + position_value * item.second
                - discount * item.first
            )
            if best < 0 or candidate > best_value[0]:
                best, best_value[0] = g, candidate
        return best


cdef int solve(
    const Item* items, Py_ssize_t n_items, const AssignmentValue* value, Py_ssize_t* order
) except -1:
    cdef double[:, ::1] costs = np.empty((n_items, n_items))
    cdef double gain, score
    cdef const Py_ssize_t[:] columns
    cdef Py_ssize_t k, j
    for k in range(n_items):
        gain, score = value.gain_unit * items[k].first, value.score_unit * items[k].second
        for j in range(n_items):
            costs[k, j] = gain * value.discounts[j] - score * value.position_values[j]
    columns = linear_sum_assignment(costs)[1]
    for k in range(n_items):
        order[columns[k]] = k
    return 0

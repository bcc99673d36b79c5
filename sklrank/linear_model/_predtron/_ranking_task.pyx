# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rankings of labels or documents (Jain et al. 2015, Sections 4 and 5).

A round has items with gains g_i >= 0. A ranking sigma puts item i at position sigma(i), and is
represented by f(sigma(i)) / Z, with a strictly decreasing f and Z such that the length is 1. Its
loss, with discounts D_j >= 0 that do not rise, is

    L(sigma) = 1 - sum_i g_i D(sigma(i)) / best = sum_j (ideal_j - g at position j) D_j / best

where `ideal` are the gains in decreasing order and best = sum_j ideal_j D_j: NDCG, precision among
the first K, and the like. Positions of equal D are a *block*; what counts is which gains a block
has, not their order. The second sum, with the gains sorted in each block, is 0 to the bit for a
ranking that is right.

All rankings that it needs come of sorting, but for the worst one that the scores like, which
`_assignment` finds. Gains are sorted when the task is made: so a round sorts its scores only, and
deals the items out by gain in their order.
"""

import numpy as np

from sklrank.linear_model._predtron._assignment import MAX_STATES
from sklrank.linear_model._predtron._sorting import make_items

from sklrank.linear_model._predtron._assignment cimport AssignmentValue
from sklrank.linear_model._predtron._sorting cimport sort_items


cdef class RankingTask(Task):
    """Rounds of items each.

    Parameters
    ----------
    gains : ndarray of shape (n_items,)
        What the items of all rounds are worth, not negative.
    starts : ndarray of shape (n_rounds + 1,)
        Round i has the items `starts[i]:starts[i + 1]`.
    discounts : ndarray of shape (n_positions,)
        D at the positions 1, 2, ...: not negative, not rising; one for each item at least.
    representation : ndarray of shape (n_positions,)
        f at the positions 1, 2, ...: strictly decreasing.
    loss_driven : bool
        Whether to be loss-driven.
    most_states : float
        The greatest size of the table of `Assigner`.
    """

    def __init__(
        self, const double[::1] gains, const Py_ssize_t[::1] starts, const double[::1] discounts,
        const double[::1] representation, bint loss_driven=False, double most_states=MAX_STATES,
    ):
        cdef Py_ssize_t i, most
        if starts.shape[0] < 1 or starts[0] != 0 or starts[starts.shape[0] - 1] != gains.shape[0]:
            raise ValueError("starts do not describe one list of items for each round")
        sizes = np.diff(starts)
        if len(sizes) and np.min(sizes) < 0:
            raise ValueError("starts fall")
        most = np.max(sizes, initial=0)
        if discounts.shape[0] < most or representation.shape[0] != discounts.shape[0]:
            raise ValueError(f"discounts and representation must both have {most} entries or more")
        self.loss_driven, self.gains, self.starts = loss_driven, gains, starts
        self.choose(np.arange(len(sizes)))
        self.discounts, self.position_values = discounts, representation
        # Lengths come by hypot, since squares may vanish.
        self.lengths = np.hypot.accumulate(np.append(0.0, representation))
        self.n_counted = np.count_nonzero(discounts)
        self.assigner = Assigner(most, most_states)
        self.predicted, self.sorted, self.blocks, self.room = [make_items(most) for _ in range(4)]
        self.order = np.empty(max(most, 1), dtype=np.intp)
        self.ideal = np.empty(gains.shape[0])
        self.firsts = np.empty(gains.shape[0], dtype=np.intp)
        self.best = np.zeros(len(sizes))
        with nogil:
            for i in range(self.n_rounds):
                self.find_ideal(i)

    def choose(self, lists):
        """From now on round i is that of the list `lists[i]`: so no list is sorted twice."""
        lists = np.ascontiguousarray(lists, dtype=np.intp)
        n_lists = self.starts.shape[0] - 1
        if lists.ndim != 1 or len(lists) and not 0 <= lists.min() <= lists.max() < n_lists:
            raise ValueError(f"lists must be numbers from 0 to {n_lists - 1}")
        self.lists, self.n_rounds = lists, len(lists)

    cdef void find_ideal(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t j, first = 0, start = self.starts[i], n = self.starts[i + 1] - start
        for j in range(n):
            self.sorted[j] = Item(self.gains[start + j], 0.0, j)
        sort_items(&self.sorted[0], n, &self.room[0])
        for j in range(n):
            if self.sorted[j].first != self.sorted[first].first:
                first = j
            self.firsts[start + self.sorted[j].index] = first
            self.ideal[start + j] = self.sorted[j].first
            self.best[i] += self.sorted[j].first * self.discounts[j]

    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil:
        return self.starts[self.lists[i] + 1] - self.starts[self.lists[i]]

    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil:
        cdef const double* gains
        cdef Py_ssize_t j, k, which = self.lists[i], n = self.n_scores(i)
        cdef double loss, length
        cdef AssignmentValue worth
        if self.best[which] == 0.0:
            return 0.0
        gains = &self.gains[self.starts[which]]
        for k in range(n):
            self.predicted[k] = Item(scores[k], -gains[k], k)
        sort_items(&self.predicted[0], n, &self.room[0])
        loss = self.loss(which)
        if loss == 0.0:
            return 0.0
        length = self.lengths[n]
        self.sort_right(which, scores)
        for j in range(n):
            direction[self.blocks[j].index] = -self.position_values[j] / length
        if self.loss_driven:
            for j in range(n):
                direction[self.predicted[j].index] += self.position_values[j] / length
            return loss
        worth = AssignmentValue(&self.discounts[0], &self.position_values[0], 1.0 / self.best[which], 1.0 / length)
        self.assigner.assign(&self.sorted[0], n, &worth, &self.order[0])
        for j in range(n):
            direction[self.sorted[self.order[j]].index] += self.position_values[j] / length
        return loss

    cdef double loss(self, Py_ssize_t i) noexcept nogil:
        # The loss of the predicted ranking.
        cdef Py_ssize_t j, start = self.starts[i]
        cdef Py_ssize_t n = min(self.starts[i + 1] - start, self.n_counted)
        cdef double lost = 0.0
        for j in range(n):
            self.blocks[j] = Item(-self.predicted[j].second, 0.0, j)
        self.sort_blocks(n)
        for j in range(n):
            lost += (self.ideal[start + j] - self.blocks[j].first) * self.discounts[j]
        return max(lost, 0.0) / self.best[i]

    cdef void sort_right(self, Py_ssize_t i, const double* scores) noexcept nogil:
        # The gains are in order, and within a block the scores. The predicted ranking has the items
        # of each gain in order already.
        cdef Py_ssize_t j, k, first, start = self.starts[i], n = self.starts[i + 1] - start
        for j in range(n):
            self.order[j] = j
        for j in range(n):
            k = self.predicted[j].index
            first = self.firsts[start + k]
            self.sorted[self.order[first]] = Item(self.gains[start + k], scores[k], k)
            self.order[first] += 1
        for j in range(n):
            k = self.sorted[j].index
            self.blocks[j] = Item(scores[k], 0.0, k)
        self.sort_blocks(n)

    cdef void sort_blocks(self, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t j, start = 0
        for j in range(1, n + 1):
            if j == n or self.discounts[j] != self.discounts[start]:
                if j - start > 1:
                    sort_items(&self.blocks[start], j - start, &self.room[0])
                start = j

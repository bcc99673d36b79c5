# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Compiled draws of the labels that are shown: the greedy top k, randomised now and then.

Random numbers come as arrays, a line for each row. So a row's draw does not depend on how rows are
cut into calls. The probabilities come from `_randomization`, which documents the schemes.
"""

import numpy as np


cdef class TopKSampler:
    """A subclass says how a row that explores changes the greedy top k.

    Parameters
    ----------
    n_labels, k : int
        How many labels there are, and how many are shown.
    exploration : float
        The share of rows that explore.
    alone, together : array-like of shape (2,) and (3,)
        Probabilities that one label, or two labels, are shown, by how many of them are outside of
        the greedy top k.
    """

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t k, double exploration, alone, together
    ):
        if not 1 <= k <= n_labels or len(alone) != 2 or len(together) != 3:
            raise ValueError(f"{k} of {n_labels} labels cannot be drawn so")
        self.n_labels, self.k = n_labels, k
        self.exploration = exploration
        self.alone = np.array(alone, dtype=np.float64)
        self.together = np.array(together, dtype=np.float64)
        self.is_greedy = np.zeros(n_labels, dtype=np.int8)
        self.greedy = np.empty(k, dtype=np.intp)
        self.n_draws = 1 + self.n_draws_to_explore()

    def n_draws_to_explore(self):
        """How many random numbers `randomise` takes."""
        return 0

    cdef void randomise(self, const double* draws, Py_ssize_t* actions) noexcept nogil:
        pass

    cdef void show(
        self, const double* scores, const double* draws, Py_ssize_t* actions, double* propensities
    ) noexcept nogil:
        cdef Py_ssize_t i, j, outside
        best_labels(scores, self.n_labels, self.k, actions)
        for i in range(self.k):
            self.greedy[i] = actions[i]
            self.is_greedy[actions[i]] = True
        if draws[0] < self.exploration:
            self.randomise(draws + 1, actions)
        for i in range(self.k):
            for j in range(self.k):
                outside = not self.is_greedy[actions[i]]
                if i == j:
                    propensities[i * self.k + j] = self.alone[outside]
                else:
                    outside += not self.is_greedy[actions[j]]
                    propensities[i * self.k + j] = self.together[outside]
        for i in range(self.k):
            self.is_greedy[self.greedy[i]] = False

    def show_rows(self, const double[:, ::1] scores, const double[:, ::1] draws):
        """Actions `(n_samples, k)` and propensities `(n_samples, k, k)` for rows of scores."""
        cdef Py_ssize_t[:, ::1] actions = np.empty((scores.shape[0], self.k), dtype=np.intp)
        cdef double[:, :, ::1] propensities = np.empty((scores.shape[0], self.k, self.k))
        cdef Py_ssize_t i
        if scores.shape[1] != self.n_labels:
            raise ValueError(f"{scores.shape[1]} scores a row for {self.n_labels} labels")
        if (draws.shape[0], draws.shape[1]) != (scores.shape[0], self.n_draws):
            raise ValueError("draws do not fit the rows")
        with nogil:
            for i in range(scores.shape[0]):
                self.show(&scores[i, 0], &draws[i, 0], &actions[i, 0], &propensities[i, 0, 0])
        return np.asarray(actions), np.asarray(propensities)


cdef class UniformSampler(TopKSampler):
    """A row that explores shows the top k of a random order of all labels."""

    cdef Py_ssize_t[::1] labels             # 0, 1, ..., n_labels - 1 between two draws
    cdef Py_ssize_t[::1] drawn              # scratch: (k,)

    def __init__(self, Py_ssize_t n_labels, *args):
        super().__init__(n_labels, *args)
        self.labels = np.arange(n_labels, dtype=np.intp)
        self.drawn = np.empty(self.k, dtype=np.intp)

    def n_draws_to_explore(self):
        """One for each place."""
        return self.k

    cdef void randomise(self, const double* draws, Py_ssize_t* actions) noexcept nogil:
        # The first k steps of Fisher and Yates' shuffle, undone afterwards.
        cdef Py_ssize_t i, n = self.n_labels
        for i in range(self.k):
            self.drawn[i] = i + below(n - i, draws[i])
            swap(&self.labels[i], &self.labels[self.drawn[i]])
            actions[i] = self.labels[i]
        for i in range(self.k - 1, -1, -1):
            swap(&self.labels[i], &self.labels[self.drawn[i]])


cdef class SingleSwapSampler(TopKSampler):
    """A row that explores swaps a random shown label with a random other one, twice."""

    cdef char[::1] is_shown                 # scratch: (n_labels,)

    def __init__(self, Py_ssize_t n_labels, *args):
        super().__init__(n_labels, *args)
        self.is_shown = np.zeros(n_labels, dtype=np.int8)

    def n_draws_to_explore(self):
        """Who goes and who comes, twice."""
        return 4

    cdef void randomise(self, const double* draws, Py_ssize_t* actions) noexcept nogil:
        cdef Py_ssize_t i, place, incoming, to_pass, n_outside = self.n_labels - self.k
        if n_outside == 0:
            return
        for i in range(self.k):
            self.is_shown[actions[i]] = True
        for i in range(2):
            place = below(self.k, draws[2 * i])
            to_pass = below(n_outside, draws[2 * i + 1])
            incoming = 0
            while self.is_shown[incoming] or to_pass > 0:
                to_pass -= not self.is_shown[incoming]
                incoming += 1
            self.is_shown[actions[place]] = False
            self.is_shown[incoming] = True
            actions[place] = incoming
        for i in range(self.k):
            self.is_shown[actions[i]] = False


cdef void best_labels(
    const double* scores, Py_ssize_t n_labels, Py_ssize_t k, Py_ssize_t* best
) noexcept nogil:
    # The k labels of highest score, best first; among equals the smaller label comes first.
    cdef Py_ssize_t label, place, n = 0
    for label in range(n_labels):
        if n == k and not scores[label] > scores[best[k - 1]]:
            continue
        place = n if n < k else k - 1
        while place > 0 and scores[label] > scores[best[place - 1]]:
            best[place] = best[place - 1]
            place -= 1
        best[place] = label
        n = min(n + 1, k)


cdef inline Py_ssize_t below(Py_ssize_t n, double draw) noexcept nogil:
    # The one of 0, 1, ..., n - 1 that a draw from [0, 1) chooses.
    return min(<Py_ssize_t>(draw * n), n - 1)


cdef inline void swap(Py_ssize_t* a, Py_ssize_t* b) noexcept nogil:
    cdef Py_ssize_t kept = a[0]
    a[0] = b[0]
    b[0] = kept

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Samplers, which draw the labels to show.

The random numbers are passed as an array with one row per sample, so the draw for a sample does not
depend on how the samples are divided among calls. `_randomization` documents the exploration
schemes and explains how to add a scheme.
"""

import numpy as np


cdef class TopKSampler:
    """Base class of the samplers. A subclass overrides `draw_labels`.

    `draw_labels` draws the labels for a sample with the given `scores` (n_labels,). It writes the
    labels to `actions` (k,), in the order in which they are shown, and to `propensities` (k, k) the
    probability that each of these labels is shown (diagonal) and that each two of them are both
    shown.

    Parameters
    ----------
    n_labels, k : int
        Number of labels, and number of labels to show.
    n_uniforms : int
        Number of random numbers in [0, 1) that the draw for a sample uses: the length of `uniforms`
        in `draw_labels`.
    """

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t k, Py_ssize_t n_uniforms):
        if not 1 <= k <= n_labels:
            raise ValueError(f"cannot show k={k} of {n_labels} labels")
        self.n_labels, self.k, self.n_uniforms = n_labels, k, n_uniforms

    cdef void draw_labels(
        self, const double* scores, const double* uniforms, Py_ssize_t* actions,
        double* propensities,
    ) noexcept nogil:
        pass

    cdef int require_ready(self) except -1:
        if not self.k:
            raise ValueError(f"this {type(self).__name__} was not created by its constructor")
        return 0

    def draw_rows(
        self, const double[:, ::1] scores not None, const double[:, ::1] uniforms not None
    ):
        """Return the actions `(n_samples, k)` and propensities `(n_samples, k, k)` of samples."""
        self.require_ready()
        cdef Py_ssize_t[:, ::1] actions = np.empty((scores.shape[0], self.k), dtype=np.intp)
        cdef double[:, :, ::1] propensities = np.empty((scores.shape[0], self.k, self.k))
        cdef Py_ssize_t i
        if scores.shape[1] != self.n_labels:
            raise ValueError(f"scores has {scores.shape[1]} columns for {self.n_labels} labels")
        if (uniforms.shape[0], uniforms.shape[1]) != (scores.shape[0], self.n_uniforms):
            raise ValueError("uniforms does not match scores")
        with nogil:
            for i in range(scores.shape[0]):
                self.draw_labels(
                    &scores[i, 0], &uniforms[i, 0], &actions[i, 0], &propensities[i, 0, 0]
                )
        return np.asarray(actions), np.asarray(propensities)


cdef class GreedyMixtureSampler(TopKSampler):
    """Sampler that shows the greedy top k, or explores with probability `exploration`.

    If a sample does not explore, the labels are sorted by score, best first. A subclass overrides
    `explore`, which replaces the labels of a sample that explores. It may use the set of the greedy
    top k, but not the scores. Propensities must depend only on the number of labels outside of this
    set.

    Parameters
    ----------
    n_labels, k : int
        Number of labels, and number of labels to show.
    n_uniforms : int
        Number of random numbers in [0, 1) that `explore` uses.
    exploration : float
        Probability that a sample explores.
    single, pair : array-like of shape (2,) and (3,)
        Probability that a label is shown, and that two labels are both shown, if 0, 1 or 2 of them
        are outside of the greedy top k.
    """

    cdef readonly double exploration
    cdef double[::1] single
    cdef double[::1] pair
    cdef char[::1] is_greedy                # working memory: (n_labels,)
    cdef Py_ssize_t[::1] greedy             # working memory: (k,)

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t k, Py_ssize_t n_uniforms, double exploration, single,
        pair,
    ):
        single, pair = np.array(single, dtype=np.float64), np.array(pair, dtype=np.float64)
        if single.shape != (2,) or pair.shape != (3,):
            raise ValueError("single and pair must have 2 and 3 probabilities")
        self.exploration, self.single, self.pair = exploration, single, pair
        self.is_greedy = np.zeros(n_labels, dtype=np.int8)
        self.greedy = np.empty(k, dtype=np.intp)
        super().__init__(n_labels, k, 1 + n_uniforms)

    cdef void explore(self, const double* uniforms, Py_ssize_t* actions) noexcept nogil:
        # Replace the greedy top k in `actions` by the labels that are shown if a sample explores.
        pass

    cdef void draw_labels(
        self, const double* scores, const double* uniforms, Py_ssize_t* actions,
        double* propensities,
    ) noexcept nogil:
        cdef Py_ssize_t i, j, n_outside
        best_labels(scores, self.n_labels, self.k, actions)
        for i in range(self.k):
            self.greedy[i] = actions[i]
            self.is_greedy[actions[i]] = True
        if uniforms[0] < self.exploration:
            self.explore(uniforms + 1, actions)
        for i in range(self.k):
            for j in range(self.k):
                n_outside = not self.is_greedy[actions[i]]
                if i == j:
                    propensities[i * self.k + j] = self.single[n_outside]
                else:
                    n_outside += not self.is_greedy[actions[j]]
                    propensities[i * self.k + j] = self.pair[n_outside]
        for i in range(self.k):
            self.is_greedy[self.greedy[i]] = False


cdef class UniformSampler(GreedyMixtureSampler):
    """Sampler whose exploration shows the first k labels of a random order of all labels."""

    cdef Py_ssize_t[::1] labels             # 0, 1, ..., n_labels - 1 between two draws
    cdef Py_ssize_t[::1] drawn              # working memory: (k,)

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t k, *args):
        self.labels = np.arange(n_labels, dtype=np.intp)
        self.drawn = np.empty(k, dtype=np.intp)
        super().__init__(n_labels, k, k, *args)

    cdef void explore(self, const double* uniforms, Py_ssize_t* actions) noexcept nogil:
        # Make the first k steps of a Fisher-Yates shuffle, and undo them afterwards.
        cdef Py_ssize_t i, n = self.n_labels
        for i in range(self.k):
            self.drawn[i] = i + below(n - i, uniforms[i])
            swap(&self.labels[i], &self.labels[self.drawn[i]])
            actions[i] = self.labels[i]
        for i in range(self.k - 1, -1, -1):
            swap(&self.labels[i], &self.labels[self.drawn[i]])


cdef class SingleSwapSampler(GreedyMixtureSampler):
    """Sampler whose exploration swaps a random label shown with a random other label, twice."""

    cdef char[::1] is_shown                 # working memory: (n_labels,)

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t k, *args):
        self.is_shown = np.zeros(n_labels, dtype=np.int8)
        super().__init__(n_labels, k, 4, *args)

    cdef void explore(self, const double* uniforms, Py_ssize_t* actions) noexcept nogil:
        cdef Py_ssize_t i, position, incoming, to_skip, n_outside = self.n_labels - self.k
        if n_outside == 0:
            return
        for i in range(self.k):
            self.is_shown[actions[i]] = True
        for i in range(2):
            position = below(self.k, uniforms[2 * i])
            to_skip = below(n_outside, uniforms[2 * i + 1])
            incoming = 0
            while self.is_shown[incoming] or to_skip > 0:
                to_skip -= not self.is_shown[incoming]
                incoming += 1
            self.is_shown[actions[position]] = False
            self.is_shown[incoming] = True
            actions[position] = incoming
        for i in range(self.k):
            self.is_shown[actions[i]] = False


cdef void best_labels(
    const double* scores, Py_ssize_t n_labels, Py_ssize_t k, Py_ssize_t* best
) noexcept nogil:
    # Write the k labels of largest score, best first. Labels of equal score are sorted by index.
    cdef Py_ssize_t label, position, n = 0
    for label in range(n_labels):
        if n == k and not scores[label] > scores[best[k - 1]]:
            continue
        position = n if n < k else k - 1
        while position > 0 and scores[label] > scores[best[position - 1]]:
            best[position] = best[position - 1]
            position -= 1
        best[position] = label
        n = min(n + 1, k)


cdef inline Py_ssize_t below(Py_ssize_t n, double uniform) noexcept nogil:
    # Convert a random number in [0, 1) to a uniformly distributed integer among 0, ..., n - 1.
    return min(<Py_ssize_t>(uniform * n), n - 1)


cdef inline void swap(Py_ssize_t* a, Py_ssize_t* b) noexcept nogil:
    cdef Py_ssize_t first = a[0]
    a[0] = b[0]
    b[0] = first

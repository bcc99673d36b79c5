# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Samplers, which draw the labels to show.

The random numbers are passed as an array with one row per sample, so the draw for a sample does not
depend on how the samples are divided among calls. `_randomization` documents the exploration
schemes, explains how to add a scheme, and checks the arguments: the number of labels to show, the
shape of the scores, and random numbers for each sample.
"""

from libc.math cimport exp

import numpy as np

# Smallest share of the uniform distribution in the strengths of `SoftmaxSampler`. With smaller
# ones, the last labels arrive so late that more nodes would be needed.
cdef double SMALLEST_SHARE = 1e-4


cdef class TopKSampler:
    """Base class of the samplers, which show the greedy top k or explore.

    Parameters
    ----------
    n_labels, k : int
        Number of labels, and number of labels to show.
    n_uniforms : int
        Number of random numbers in [0, 1) that `explore` uses, beside the first one.
    exploration : float
        Amount of exploration.
    """

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t k, Py_ssize_t n_uniforms, double exploration
    ):
        self.n_labels, self.k, self.n_uniforms = n_labels, k, 1 + n_uniforms
        self.is_greedy = np.zeros(n_labels, dtype=np.int8)
        self.greedy = np.zeros(k, dtype=np.intp)
        self.set_exploration(exploration)

    cdef int require_ready(self) except -1:
        if not self.k:
            raise ValueError(f"this {type(self).__name__} was not created by its constructor")
        return 0

    cdef void set_exploration(self, double exploration) noexcept nogil:
        self.drawn = exploration

    cdef void read_scores(self, const double* scores) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.k):
            self.is_greedy[self.greedy[i]] = False
        best_labels(scores, self.n_labels, self.k, &self.greedy[0])
        for i in range(self.k):
            self.is_greedy[self.greedy[i]] = True

    cdef void explore(
        self, double first, const double* uniforms, Py_ssize_t* actions
    ) noexcept nogil:
        pass

    cdef double propensity(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return 0.0

    cdef void draw_labels(
        self, const double* scores, const double* uniforms, Py_ssize_t* actions,
        double* propensities,
    ) noexcept nogil:
        cdef Py_ssize_t i, j, k = self.k
        self.read_scores(scores)
        for i in range(k):
            actions[i] = self.greedy[i]
        if uniforms[0] < self.drawn:
            self.explore(uniforms[0] / self.drawn, uniforms + 1, actions)
        for i in range(k):
            for j in range(i + 1):
                propensities[i * k + j] = self.propensity(actions[i], actions[j])
                propensities[j * k + i] = propensities[i * k + j]

    def draw_rows(
        self, const double[:, ::1] scores not None, const double[:, ::1] uniforms not None
    ):
        """Return the actions `(n_samples, k)` and propensities `(n_samples, k, k)` of samples."""
        self.require_ready()
        cdef Py_ssize_t[:, ::1] actions = np.empty((scores.shape[0], self.k), dtype=np.intp)
        cdef double[:, :, ::1] propensities = np.empty((scores.shape[0], self.k, self.k))
        cdef Py_ssize_t i
        with nogil:
            for i in range(scores.shape[0]):
                self.draw_labels(
                    &scores[i, 0], &uniforms[i, 0], &actions[i, 0], &propensities[i, 0, 0]
                )
        return np.asarray(actions), np.asarray(propensities)

    def propensities(self, const double[:, ::1] scores not None):
        """Return the propensities `(n_samples, n_labels, n_labels)` of all pairs of labels."""
        self.require_ready()
        cdef Py_ssize_t t, a, b, m = self.n_labels
        cdef double[:, :, ::1] out = np.zeros((scores.shape[0], m, m))
        with nogil:
            for t in range(scores.shape[0]):
                self.read_scores(&scores[t, 0])
                for a in range(m):
                    for b in range(a + 1):
                        if self.k > 1 or a == b:
                            out[t, a, b] = out[t, b, a] = self.propensity(a, b)
        return np.asarray(out)


cdef class GreedyMixtureSampler(TopKSampler):
    """Sampler whose propensities depend only on the numbers of labels outside of the greedy top k.

    The parameters `single` (2,) and `pair` (3,) are the probabilities that a label is shown, and
    that two labels are both shown, if 0, 1 or 2 of them are outside of the greedy top k, given that
    a sample explores. `explore` may use the set of the greedy top k, but not the scores.
    """

    cdef double[::1] single, pair           # multiples of `divisor`
    cdef double divisor, factor             # factor = exploration / divisor

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t k, Py_ssize_t n_uniforms, double exploration, single,
        pair, double divisor=1.0,
    ):
        self.single, self.pair = np.array(single, float), np.array(pair, float)
        self.divisor = divisor
        super().__init__(n_labels, k, n_uniforms, exploration)

    cdef void set_exploration(self, double exploration) noexcept nogil:
        self.drawn, self.factor = exploration, exploration / self.divisor

    cdef double propensity(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef Py_ssize_t n_outside = 2 - self.is_greedy[a] - self.is_greedy[b]
        cdef double explored
        if self.k == self.n_labels:
            return 1.0
        explored = self.single[n_outside // 2] if a == b else self.pair[n_outside]
        explored *= self.factor
        return 1.0 - self.drawn + explored if n_outside == 0 else explored


cdef class UniformSampler(GreedyMixtureSampler):
    """Sampler whose exploration shows the first k labels of a random order of all labels.

    For a single label, one random number determines whether a sample explores, and the label.
    """

    cdef Py_ssize_t[::1] labels             # 0, 1, ..., n_labels - 1 between two draws
    cdef Py_ssize_t[::1] drawn_labels       # working memory: (k,)

    def __init__(self, n_labels, k, double exploration):
        self.labels = np.arange(n_labels, dtype=np.intp)
        self.drawn_labels = np.empty(k, dtype=np.intp)
        if k == 1:
            # The usual formula, exploration / n_labels, which differs from that of more labels in
            # the last bit.
            super().__init__(n_labels, k, 0, exploration, [1.0] * 2, [0.0] * 3, n_labels)
            return
        single, pair = [k / n_labels] * 2, [k * (k - 1) / (n_labels * (n_labels - 1))] * 3
        super().__init__(n_labels, k, k, exploration, single, pair)

    cdef void explore(
        self, double first, const double* uniforms, Py_ssize_t* actions
    ) noexcept nogil:
        # Make the first k steps of a Fisher-Yates shuffle, and undo them afterwards.
        cdef Py_ssize_t i, n = self.n_labels
        if self.k == 1:
            actions[0] = below(n, first)
            return
        for i in range(self.k):
            self.drawn_labels[i] = i + below(n - i, uniforms[i])
            swap(&self.labels[i], &self.labels[self.drawn_labels[i]])
            actions[i] = self.labels[i]
        for i in range(self.k - 1, -1, -1):
            swap(&self.labels[i], &self.labels[self.drawn_labels[i]])


cdef class SingleSwapSampler(GreedyMixtureSampler):
    """Sampler whose exploration swaps a random label shown with a random other label, twice."""

    cdef char[::1] is_shown                 # working memory: (n_labels,)

    def __init__(self, n_labels, k, double exploration):
        self.is_shown = np.zeros(n_labels, dtype=np.int8)
        u, stays = n_labels - k, (k - 1) / k
        single, pair = [1.0] * 2, [1.0] * 3
        if u > 0:
            single = stays**2 + 1 / (k * u), stays / u + (u - 1) / u**2
            mixed = stays / u * ((k - 2) / k + 1 / (k * u) + (u - 1) / u * stays)
            pair = ((k - 2) / k) ** 2 + 2 * stays / (k * u), mixed, 2 * stays / u**2
        super().__init__(n_labels, k, 4, exploration, single, pair)

    cdef void explore(
        self, double first, const double* uniforms, Py_ssize_t* actions
    ) noexcept nogil:
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


cdef class PlackettLuceSampler(TopKSampler):
    """Sampler that draws labels one after the other, by their strengths.

    The strength of a label is a mixture of its softmax probability and of ``1 / n_labels``. The
    next label is drawn from the remaining labels in proportion to their strengths.

    The order has the same distribution as the order of independent arrival times T_l, where T_l has
    the exponential distribution of the rate p_l, the strength of label l. Therefore

        Pr[a shown]       = int  p_a e^(-p_a t)  Q_{k-1}(t)  dt,
        Pr[a and b shown] = int  d/dt [(1 - e^(-p_a t)) (1 - e^(-p_b t))]  Q_{k-2}(t)  dt,

    where Q_j(t) is the probability that at most j of the other labels arrive before t, which is a
    recursion over these labels. The integrals over t > 0 are sums over t = exp(x - exp(-x)), x at
    equal distances of 1/4 (double exponential quadrature), with errors of about 1e-14. The
    propensities of a sample take O(n_labels k^3) operations at each of about 50 nodes.

    The share of the uniform distribution in the strengths is `smallest_share`.
    """

    cdef double share                       # share of the uniform distribution in the strengths
    cdef Py_ssize_t n_nodes
    cdef double[::1] times                  # (n_nodes,)
    cdef double[::1] node_weights           # (n_nodes,)
    # Working memory.
    cdef double[::1] strengths              # (n_labels,)
    cdef double[:, ::1] survival            # (n_labels, n_nodes) e^(-p_l t)
    cdef double[:, ::1] counts              # (k, n_nodes) probabilities that j other labels arrived
    cdef char[::1] is_drawn                 # (n_labels,)

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t k, double exploration, double smallest_share=0.5
    ):
        self.share = smallest_share
        # The strengths are at least smallest_share / n_labels: later, all labels have arrived.
        x = np.arange(-3.75, max(9.0, np.log(40.0 * n_labels / smallest_share)), 0.25)
        self.n_nodes = len(x)
        self.times = np.exp(x - np.exp(-x))
        self.node_weights = 0.25 * np.asarray(self.times) * (1.0 + np.exp(-x))
        self.strengths = np.empty(n_labels)
        self.survival = np.empty((n_labels, len(x)))
        self.counts = np.empty((k, len(x)))
        self.is_drawn = np.zeros(n_labels, dtype=np.int8)
        super().__init__(n_labels, k, k, exploration)

    cdef void read_scores(self, const double* scores) noexcept nogil:
        # Compute the strengths and the probabilities of arrival, too.
        cdef Py_ssize_t l, i
        cdef double largest, total = 0.0
        TopKSampler.read_scores(self, scores)
        largest = scores[self.greedy[0]]
        for l in range(self.n_labels):
            self.is_drawn[l] = False
            self.strengths[l] = exp(scores[l] - largest)
            total += self.strengths[l]
        for l in range(self.n_labels):
            self.strengths[l] = (
                (1.0 - self.share) * self.strengths[l] / total + self.share / self.n_labels
            )
            for i in range(self.n_nodes):
                self.survival[l, i] = exp(-self.strengths[l] * self.times[i])

    cdef void explore(
        self, double first, const double* uniforms, Py_ssize_t* actions
    ) noexcept nogil:
        cdef Py_ssize_t i, l
        cdef double rest
        for i in range(self.k):
            rest = 0.0
            for l in range(self.n_labels):
                if not self.is_drawn[l]:
                    rest += self.strengths[l]
            rest *= uniforms[i]
            for l in range(self.n_labels):
                if not self.is_drawn[l]:
                    # If rounding errors leave a rest, the last label is drawn.
                    actions[i] = l
                    rest -= self.strengths[l]
                    if rest < 0.0:
                        break
            self.is_drawn[actions[i]] = True

    cdef void count_arrivals(self, Py_ssize_t a, Py_ssize_t b, Py_ssize_t n) noexcept nogil:
        # Write to `counts` the probabilities that 0, ..., n - 1 labels other than a and b have
        # arrived before each node.
        cdef Py_ssize_t l, i, j
        cdef const double* late
        cdef double* of
        cdef const double* before
        for j in range(n):
            for i in range(self.n_nodes):
                self.counts[j, i] = 1.0 if j == 0 else 0.0
        for l in range(self.n_labels):
            if l == a or l == b:
                continue
            late = &self.survival[l, 0]
            for j in range(n - 1, 0, -1):
                of, before = &self.counts[j, 0], &self.counts[j - 1, 0]
                for i in range(self.n_nodes):
                    of[i] = of[i] * late[i] + before[i] * (1.0 - late[i])
            of = &self.counts[0, 0]
            for i in range(self.n_nodes):
                of[i] *= late[i]

    cdef double propensity(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        cdef Py_ssize_t i, j, n = self.k if a == b else self.k - 1
        cdef double p = self.strengths[a], q = self.strengths[b], early, late, at_most, total = 0.0
        if self.k == self.n_labels:
            return 1.0
        if a > b:
            return self.propensity(b, a)
        self.count_arrivals(a, b, n)
        for i in range(self.n_nodes):
            at_most = 0.0
            for j in range(n):
                at_most += self.counts[j, i]
            early, late = self.survival[a, i], self.survival[b, i]
            total += self.node_weights[i] * at_most * (
                p * early if a == b else p * early * (1.0 - late) + q * late * (1.0 - early)
            )
        total *= self.drawn
        if self.is_greedy[a] and self.is_greedy[b]:
            total += 1.0 - self.drawn
        return total


cdef class SoftmaxSampler(PlackettLuceSampler):
    """Sampler that always draws labels, and whose exploration is the share of the uniform one."""

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t k, double exploration):
        super().__init__(n_labels, k, exploration, SMALLEST_SHARE)

    cdef void set_exploration(self, double exploration) noexcept nogil:
        self.drawn, self.share = 1.0, max(exploration, SMALLEST_SHARE)


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

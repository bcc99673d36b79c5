# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Samplers that draw labels by their strengths, one after the other (see `sampler.pyx`)."""

from libc.math cimport erfc, exp

import numpy as np

from sklrank.feedback._protocol.sampler cimport TopKSampler

# Smallest share of the uniform distribution in the strengths. With smaller ones, the last labels
# arrive so late that more nodes would be needed.
cdef double SMALLEST_SHARE = 1e-4

cdef double ROOT_HALF = 0.7071067811865476

cdef enum:
    # Twice as many cells have a quarter of the error, and take twice as long.
    N_CELLS = 64
    N_REFINEMENTS = 2


cdef class PlackettLuceSampler(TopKSampler):
    """Sampler that draws labels one after the other, in proportion to their strengths.

    The order has the same distribution as the order of independent arrival times T_l, where T_l has
    the exponential distribution of the rate p_l, the strength of label l. Therefore

        Pr[a shown]       = int  p_a e^(-p_a t)  Q_{k-1}(t)  dt,
        Pr[a and b shown] = int  d/dt [(1 - e^(-p_a t)) (1 - e^(-p_b t))]  Q_{k-2}(t)  dt,

    where Q_j(t) is the probability that at most j of the other labels arrive before t, which is a
    recursion over these labels. The integrals over t > 0 are sums over t = exp(x - exp(-x)), x at
    equal distances of 1/4 (double exponential quadrature), with errors of about 1e-14. The
    propensities of a sample take O(n_labels k^3) operations at each of about 50 nodes.

    For k = 1, the propensities are the strengths. They are a mixture of the softmax of the scores
    and, with the share `smallest_share`, the uniform distribution. A subclass may override `weigh`,
    which computes them: they sum to one, and if k > 1, each is at least `smallest_share / n`.
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
        self.survival = np.empty((n_labels if k > 1 else 0, len(x)))
        self.counts = np.empty((k, len(x)))
        self.is_drawn = np.zeros(n_labels, dtype=np.int8)
        super().__init__(n_labels, k, k, exploration)

    cdef void read_scores(self, const double* scores) noexcept nogil:
        # Compute the strengths and the probabilities of arrival, too.
        cdef Py_ssize_t l, i
        TopKSampler.read_scores(self, scores)
        self.weigh(scores)
        for l in range(self.n):
            self.is_drawn[l] = False
            if self.k > 1:
                for i in range(self.n_nodes):
                    self.survival[l, i] = exp(-self.strengths[l] * self.times[i])

    cdef void weigh(self, const double* scores) noexcept nogil:
        cdef Py_ssize_t l
        cdef double largest = scores[self.greedy[0]], total = 0.0
        for l in range(self.n):
            self.strengths[l] = exp(scores[l] - largest)
            total += self.strengths[l]
        self.mix(total)

    cdef void mix(self, double total) noexcept nogil:
        # Divide the strengths by their total, and mix them with the uniform distribution.
        cdef Py_ssize_t l
        for l in range(self.n):
            self.strengths[l] = (
                (1.0 - self.share) * self.strengths[l] / total + self.share / self.n
            )

    cdef void explore(
        self, double first, const double* uniforms, Py_ssize_t* actions
    ) noexcept nogil:
        cdef Py_ssize_t i, l
        cdef double rest
        for i in range(self.k):
            rest = 0.0
            for l in range(self.n):
                if not self.is_drawn[l]:
                    rest += self.strengths[l]
            rest *= uniforms[i]
            for l in range(self.n):
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
        for l in range(self.n):
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
        if self.k == self.n:
            return 1.0
        if a > b:
            return self.propensity(b, a)
        if self.k == 1:
            total = p
        else:
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


cdef class InverseGapSampler(PlackettLuceSampler):
    """Sampler whose strengths outside of the greedy top k are inverses of gaps between scores."""

    cdef double scale                       # the exploration rho

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t k, double exploration):
        super().__init__(n_labels, k, exploration, SMALLEST_SHARE)

    cdef void set_exploration(self, double exploration) noexcept nogil:
        self.drawn, self.scale = 1.0, max(exploration, SMALLEST_SHARE)

    cdef void weigh(self, const double* scores) noexcept nogil:
        cdef Py_ssize_t l
        cdef double least = scores[self.greedy[self.k - 1]], rest = 1.0
        for l in range(self.n):
            if not self.is_greedy[l]:
                self.strengths[l] = self.scale / (self.scale + least - scores[l])
                self.strengths[l] = max(self.strengths[l], SMALLEST_SHARE) / self.n
                rest -= self.strengths[l]
        for l in range(self.k):
            self.strengths[self.greedy[l]] = rest / self.k


cdef class FunctionSampler(PlackettLuceSampler):
    """Sampler whose strengths a function of the user computes of the scores and the exploration."""

    cdef object function
    cdef double scale                       # the exploration rho

    def __init__(self, function, Py_ssize_t n_labels, Py_ssize_t k, double exploration):
        self.function = function
        super().__init__(n_labels, k, exploration, SMALLEST_SHARE)

    cdef void set_exploration(self, double exploration) noexcept nogil:
        self.drawn, self.scale = 1.0, exploration

    cdef call_function(self, const double* scores):
        try:
            found = np.asarray(
                self.function(np.array(<const double[:self.n]> scores), self.scale), dtype=float
            )
            if (
                found.shape != (self.n,)
                or not (found >= 0.0).all()
                or not 0.0 < found.sum() < np.inf
            ):
                raise ValueError(
                    f"a scheme must return strengths of the {self.n} labels, numbers from 0 that "
                    f"are not all 0; {self.function!r} returned {found}"
                )
            return found
        except BaseException as error:
            self.error = error
            return np.ones(self.n)

    cdef void weigh(self, const double* scores) noexcept with gil:
        # After an error, the rest of the samples is shown at random, and nobody sees it.
        found = np.ones(self.n) if self.error is not None else self.call_function(scores)
        np.copyto(np.asarray(self.strengths)[: self.n], found)
        self.mix(found.sum())


cdef class ThompsonSampler(PlackettLuceSampler):
    """Sampler of a single label: the largest score after Gaussian noise is added to the scores.

    Let F_l be the distribution function of score l with noise. The strength of label l is the
    probability int (product of F_j over j != l) dF_l that it is the largest one. It is computed as
    a sum over N_CELLS cells of t, in which the product is the mean of its values at both ends of
    the cell; the cells are narrow where the largest score probably is. The error was at most 0.005
    if the logarithms of the standard errors had a deviation of 1/2, and 0.04 if it was 1.
    """

    shows_lists = False

    cdef double noise                       # the exploration
    # Working memory.
    cdef double[::1] ends                   # (N_CELLS + 1,) ends of the cells
    cdef double[:, ::1] cdf                 # (n_labels, N_CELLS + 1) F_l at the ends
    cdef double[::1] products               # (N_CELLS + 1,) product of all F_l

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t k, double exploration):
        self.cdf, self.ends = np.empty((n_labels, N_CELLS + 1)), np.empty(N_CELLS + 1)
        self.products = np.empty(N_CELLS + 1)
        self.needs_means = True
        super().__init__(n_labels, k, exploration, SMALLEST_SHARE)

    cdef void set_exploration(self, double exploration) noexcept nogil:
        self.drawn, self.noise = 1.0, max(exploration, SMALLEST_SHARE)

    cdef double deviation(self, Py_ssize_t l) noexcept nogil:
        return self.noise * (1.0 if self.errors == NULL else max(self.errors[l], 1e-9))

    cdef void weigh(self, const double* scores) noexcept nogil:
        # Below `low`, the largest score is with a probability below 1e-9, and so it is above `high`
        # for each label.
        cdef double low = scores[0] - 6.0 * self.deviation(0), high = low, total = 0.0
        cdef double* f
        cdef Py_ssize_t l, i
        for l in range(self.n):
            low = max(low, scores[l] - 6.0 * self.deviation(l))
            high = max(high, scores[l] + 6.0 * self.deviation(l))
        for i in range(N_CELLS + 1):
            self.ends[i] = low + i * (high - low) / N_CELLS
        for _ in range(N_REFINEMENTS):
            self.compute_cdf(scores)
            self.refine()
        self.compute_cdf(scores)
        for l in range(self.n):
            f = &self.cdf[l, 0]
            self.strengths[l] = 0.0
            for i in range(N_CELLS):
                self.strengths[l] += (f[i + 1] - f[i]) * (
                    self.products[i + 1] / f[i + 1] + self.products[i] / f[i]
                )
            total += self.strengths[l]
        self.mix(total)

    cdef void compute_cdf(self, const double* scores) noexcept nogil:
        cdef double t, rate
        cdef Py_ssize_t l, i
        for i in range(N_CELLS + 1):
            self.products[i] = 1.0
        for l in range(self.n):
            rate = ROOT_HALF / self.deviation(l)
            for i in range(N_CELLS + 1):
                t = (self.ends[i] - scores[l]) * rate
                # At most 1 - 1e-16.
                self.cdf[l, i] = 1.0 if t > 5.9 else 0.5 * erfc(-t)
                self.products[i] *= self.cdf[l, i]

    cdef void refine(self) noexcept nogil:
        # Move the ends of the cells: half of the weight is that of the distribution of the largest
        # score, and half that of the previous cells, in which all have the same. By one pass, the
        # cells of a label with a small error become as narrow as it is, or about N_CELLS times as
        # narrow as before.
        cdef double[N_CELLS + 1] old
        cdef double size = self.products[N_CELLS] - self.products[0], above, below = 0.0
        cdef Py_ssize_t i, cell = 0
        for i in range(N_CELLS + 1):
            old[i] = self.ends[i]
        above = self.weight_of(0, size)
        for i in range(1, N_CELLS):
            while above * N_CELLS < i and cell < N_CELLS - 1:
                cell += 1
                below, above = above, above + self.weight_of(cell, size)
            self.ends[i] = old[cell] + (old[cell + 1] - old[cell]) * min(
                1.0, (<double>i / N_CELLS - below) / (above - below)
            )

    cdef double weight_of(self, Py_ssize_t cell, double size) noexcept nogil:
        return 0.5 / N_CELLS + 0.5 * (self.products[cell + 1] - self.products[cell]) / size

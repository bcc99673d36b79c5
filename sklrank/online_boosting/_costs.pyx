# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Cost rules: what a weak learner should pay for a vote, given the votes before it.

Both rules sum over the known pairs of a relevant label a and an irrelevant label b, each with its
weight w_ab: 1 / (|Y| |Y^c|) with full information. In Jung & Tewari's (2018) words:

`PotentialCosts`, Eqs. 1 and 2 (OnlineBMR). The cost of a vote for l is the loss that is to be
expected after it when the n learners still to come vote at random, with an edge gamma towards the
relevant labels:

    c[l] = phi_n(s + e_l),      phi_n(s) = sum_ab w_ab E loss(s[b] - s[a] + D_n).

D_n, what n random votes add to the difference, is a walk of steps +1 (probability q), -1
(q + gamma) or 0, with q = (1 - |Y| gamma) / m. Its tail sums T0[d] = P(D >= d) and
T1[d] = E[D; D >= d] depend on |Y|, gamma and n only. So with z = s[b] - s[a] and d the smallest
integer above -1 - z

    hinge loss      E (1 + z + D)_+                     = (1 + z) T0[d] + T1[d]
    rank loss       P(z + D > 0) + P(z + D = 0) / 2     = (T0[floor(-z) + 1] + T0[ceil(-z)]) / 2

are exact, for real scores as well, in a constant number of operations.

`LogisticCosts`, Eq. 8 (Ada.OLMR). The gradient of sum_ab w_ab log(1 + exp(s[b] - s[a])).
"""

from libc.math cimport INFINITY, ceil, exp, floor
from libc.float cimport DBL_MIN

import numpy as np

from sklrank.online_boosting._random_walk import walk_tails

cdef enum:
    HINGE = 0
    RANK = 1

LOSSES = {"hinge": HINGE, "rank": RANK}


cdef class CostRule:
    """What the rounds ask of a rule: see `_costs.pxd`."""

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t n_learners):
        self.n_labels = n_labels
        self.n_learners = n_learners

    cdef int start_round(self, const Pairs* pairs) except -1 nogil:
        return 0

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const Pairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        pass

    def cost_vector(self, Py_ssize_t i, scores, relevant, irrelevant, weights, n_favoured=None):
        """Costs `(n_labels,)` of the votes of learner `i`, counted from 0; for tests and study.

        `weights` has the shape `(len(relevant), len(irrelevant))`.
        """
        cdef const double[::1] s = np.ascontiguousarray(scores, dtype=np.float64)
        cdef const Py_ssize_t[::1] a = np.ascontiguousarray(relevant, dtype=np.intp)
        cdef const Py_ssize_t[::1] b = np.ascontiguousarray(irrelevant, dtype=np.intp)
        cdef const double[:, ::1] w = np.ascontiguousarray(weights, dtype=np.float64)
        cdef double[::1] out = np.zeros(self.n_labels)
        cdef double[::1] scratch = np.empty(COST_SCRATCH * self.n_labels)
        cdef Pairs pairs
        labels = np.concatenate((relevant, irrelevant))
        if not 0 <= i < self.n_learners:
            raise IndexError(f"learner {i} of {self.n_learners}")
        if len(s) != self.n_labels or (w.shape[0], w.shape[1]) != (len(a), len(b)):
            raise ValueError("scores or weights do not fit the labels")
        if w.size == 0 or labels.min() < 0 or labels.max() >= self.n_labels:
            raise ValueError("a relevant and an irrelevant label within n_labels are needed")
        if len(np.unique(labels)) < len(labels):
            raise ValueError("a label is relevant or irrelevant, and named once")
        if n_favoured is not None and n_favoured < 1:
            raise ValueError("a baseline favours one label at least")
        pairs.n_relevant, pairs.n_irrelevant = len(a), len(b)
        pairs.relevant, pairs.irrelevant, pairs.weights = &a[0], &b[0], &w[0, 0]
        pairs.weight = 0.0
        pairs.n_favoured = len(a) if n_favoured is None else n_favoured
        self.start_round(&pairs)
        self.costs(i, &s[0], &pairs, &out[0], &scratch[0])
        return np.asarray(out)


cdef class PotentialCosts(CostRule):
    """Boost-by-majority potentials of the hinge or the rank loss."""

    cdef readonly double edge
    cdef readonly str loss
    cdef int kind
    cdef dict walks                         # by |Y|
    # The walk in force. Row n: tail sums at d = low[n] - 2, ..., high[n] + 3, from start[n] on.
    cdef const double[:, ::1] tails         # (T0, T1) side by side
    cdef const Py_ssize_t[::1] starts
    cdef const Py_ssize_t[::1] lows
    cdef const Py_ssize_t[::1] highs
    cdef Py_ssize_t n_favoured

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t n_learners, double edge, loss):
        super().__init__(n_labels, n_learners)
        self.edge = edge
        self.loss = str(loss)
        self.kind = LOSSES[loss]
        # Theorem 2 asks for single-label votes where the loss is not convex.
        self.single_label = self.kind == RANK
        self.walks = {}
        self.n_favoured = 0

    def __reduce__(self):
        return PotentialCosts, (self.n_labels, self.n_learners, self.edge, self.loss)

    cdef int start_round(self, const Pairs* pairs) except -1 nogil:
        if pairs.n_favoured != self.n_favoured:
            with gil:
                self.load_walk(pairs.n_favoured)
        return 0

    cdef load_walk(self, Py_ssize_t n_favoured):
        if n_favoured not in self.walks:
            # The baseline is a distribution only while gamma <= 1 / |Y|.
            edge = min(self.edge, 1.0 / n_favoured)
            stay = (1.0 - n_favoured * edge) / self.n_labels
            self.walks[n_favoured] = walk_tails(stay, stay + edge, self.n_learners)
        self.tails, self.starts, self.lows, self.highs = self.walks[n_favoured]
        self.n_favoured = n_favoured

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const Pairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        cdef Py_ssize_t n = self.n_learners - 1 - i         # learners still to come
        cdef Py_ssize_t low = self.lows[n] - 1, high = self.highs[n] + 2
        cdef const double* tails = &self.tails[self.starts[n], 0] - 2 * (low - 1)
        cdef const double* t
        cdef double* irrelevant_scores = scratch
        cdef double* irrelevant_costs = scratch + self.n_labels
        cdef double weight = pairs.weight, expected = 0.0, score, gained, z, now, up, down
        cdef Py_ssize_t j, k, d, e
        for k in range(pairs.n_irrelevant):
            irrelevant_scores[k] = scores[pairs.irrelevant[k]]
            irrelevant_costs[k] = 0.0
        for j in range(self.n_labels):
            costs[j] = 0.0
        for j in range(pairs.n_relevant):
            score = scores[pairs.relevant[j]]
            gained = 0.0
            for k in range(pairs.n_irrelevant):
                z = irrelevant_scores[k] - score
                if self.kind == HINGE:
                    d = min(max(<Py_ssize_t>floor(-z), low), high)
                    t = tails + 2 * (d - 1)
                    up = (2.0 + z) * t[0] + t[1]
                    now = (1.0 + z) * t[2] + t[3]
                    down = z * t[4] + t[5]
                else:
                    d = min(max(<Py_ssize_t>floor(-z) + 1, low), high)
                    e = min(max(<Py_ssize_t>ceil(-z), low), high)
                    now = 0.5 * (tails[2 * d] + tails[2 * e])
                    up = 0.5 * (tails[2 * d - 2] + tails[2 * e - 2])
                    down = 0.5 * (tails[2 * d + 2] + tails[2 * e + 2])
                if pairs.weights != NULL:
                    weight = pairs.weights[j * pairs.n_irrelevant + k]
                expected += weight * now
                gained += weight * (down - now)
                irrelevant_costs[k] += weight * (up - now)
            costs[pairs.relevant[j]] = gained
        for k in range(pairs.n_irrelevant):
            costs[pairs.irrelevant[k]] = irrelevant_costs[k]
        for j in range(self.n_labels):
            costs[j] += expected


cdef class LogisticCosts(CostRule):
    """Gradient of the logistic rank loss; the weights of the learners follow it too."""

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t n_learners, double learning_rate=1.0,
        double gradient_clip=INFINITY,
    ):
        super().__init__(n_labels, n_learners)
        self.learns_weights = True
        self.learning_rate = learning_rate
        self.gradient_clip = gradient_clip

    def __reduce__(self):
        arguments = self.n_labels, self.n_learners, self.learning_rate, self.gradient_clip
        return LogisticCosts, arguments

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const Pairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        # sigma(s[b] - s[a]) = e_b / (e_a + e_b): one exponential a label, not one a pair.
        cdef double* exponentials = scratch
        cdef double* irrelevant = scratch + self.n_labels
        cdef double* irrelevant_costs = scratch + 2 * self.n_labels
        cdef double* slopes = scratch + 3 * self.n_labels
        cdef double greatest = scores[0], e, gained
        cdef Py_ssize_t j, k
        cdef bint underflow = False
        for j in range(self.n_labels):
            greatest = max(greatest, scores[j])
            costs[j] = 0.0
        for j in range(self.n_labels):
            exponentials[j] = exp(scores[j] - greatest)
            underflow = underflow or exponentials[j] < DBL_MIN
        for k in range(pairs.n_irrelevant):
            irrelevant[k] = exponentials[pairs.irrelevant[k]]
            irrelevant_costs[k] = 0.0
        for j in range(pairs.n_relevant):
            e = exponentials[pairs.relevant[j]]
            for k in range(pairs.n_irrelevant):
                slopes[k] = irrelevant[k] / (e + irrelevant[k])
            if underflow:
                for k in range(pairs.n_irrelevant):
                    slopes[k] = 1.0 / (
                        1.0 + exp(scores[pairs.relevant[j]] - scores[pairs.irrelevant[k]])
                    )
            if pairs.weights == NULL:
                for k in range(pairs.n_irrelevant):
                    irrelevant_costs[k] += slopes[k]
                gained = pairs.weight * total(slopes, pairs.n_irrelevant)
            else:
                for k in range(pairs.n_irrelevant):
                    slopes[k] *= pairs.weights[j * pairs.n_irrelevant + k]
                    irrelevant_costs[k] += slopes[k]
                gained = total(slopes, pairs.n_irrelevant)
            costs[pairs.relevant[j]] = -gained
        for k in range(pairs.n_irrelevant):
            costs[pairs.irrelevant[k]] = (
                irrelevant_costs[k] if pairs.weights != NULL else pairs.weight * irrelevant_costs[k]
            )


cdef inline double total(const double* values, Py_ssize_t n) noexcept nogil:
    # Four sums at once: an addition need not wait for the one before it.
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        i += 4
    while i < n:
        a += values[i]
        i += 1
    return (a + b) + (c + d)


cdef double rank_loss(
    const double* scores, const Pairs* pairs, double tie_loss, double* scratch
) noexcept nogil:
    # Weight of the pairs in the wrong order; ties cost `tie_loss` of theirs. `scratch`: room for
    # n_labels numbers.
    cdef double score, loss = 0.0
    cdef Py_ssize_t j, k, n_wrong, n_not_right
    cdef const double* weights
    for k in range(pairs.n_irrelevant):
        scratch[k] = scores[pairs.irrelevant[k]]
    for j in range(pairs.n_relevant):
        score = scores[pairs.relevant[j]]
        if pairs.weights == NULL:
            n_wrong = n_not_right = 0
            for k in range(pairs.n_irrelevant):
                n_wrong += scratch[k] > score
                n_not_right += scratch[k] >= score
            loss += pairs.weight * (n_wrong + tie_loss * (n_not_right - n_wrong))
        else:
            weights = pairs.weights + j * pairs.n_irrelevant
            for k in range(pairs.n_irrelevant):
                if scratch[k] >= score:
                    loss += weights[k] * (1.0 if scratch[k] > score else tie_loss)
    return loss

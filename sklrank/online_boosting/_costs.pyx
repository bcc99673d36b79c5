# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Cost rules: the costs of votes, the weights of learners and the losses of experts.

A rule sums over the known pairs of a relevant label a and an irrelevant label b. Each pair has a
weight w_ab, which is 1 / (|Y| |Y^c|) with full information. The rules are, in the notation of
Jung & Tewari (2018):

`PotentialCosts` implements Eqs. 1 and 2 (OnlineBMR). The cost of a vote for label l is the expected
loss after this vote if the n remaining learners vote at random, with an edge gamma towards the
relevant labels:

    c[l] = phi_n(s + e_l),      phi_n(s) = sum_ab w_ab E loss(s[b] - s[a] + D_n).

Here D_n is the change of the difference s[b] - s[a] by the n random votes. It is a random walk with
the steps +1 (probability q), -1 (probability q + gamma) and 0, where q = (1 - |Y| gamma) / m and m
is the number of labels. Its tail sums T0[d] = P(D >= d) and T1[d] = E[D; D >= d] depend only on
|Y|, gamma and n. Let z = s[b] - s[a], and let d be the smallest integer above -1 - z. The expected
losses

    hinge loss      E (1 + z + D)_+                     = (1 + z) T0[d] + T1[d]
    rank loss       P(z + D > 0) + P(z + D = 0) / 2     = (T0[floor(-z) + 1] + T0[ceil(-z)]) / 2

are exact, also if the scores are not integers, and need a constant number of operations.

`TabulatedCosts` implements the same equations for any loss of pairs that does not decrease in z.
The loss is approximated by polynomials on small intervals, to a relative error of 1e-10. The
expected loss has the same intervals, so that its polynomials are tabulated (`_random_walk.py`).

`LogisticCosts` implements Eq. 8 (Ada.OLMR). The costs are the gradient of the logistic rank loss,
sum_ab w_ab log(1 + exp(s[b] - s[a])). The weights of the learners are updated by gradient steps on
the same loss (Algorithm 3, line 9). With another step size and clipped gradients, this is line 13
of Algorithm 3 of Raman et al. (2020). `ExponentialCosts` are the gradient of the exponential rank
loss, sum_ab w_ab exp(s[b] - s[a]).

To add a rule, derive a class from `CostRule` that defines `costs`, extends `get_state` and
`set_state` by its parameters and, if needed, overrides the other methods that `_costs.pxd`
declares. `_costs.pxd` states the contract of a rule:

- `costs` must write a number for every label; the buffer is not zeroed.
- If `learns_weights` is True, the costs must be the gradient of the loss and must not depend on the
  index of the learner.
- Several threads call `costs` and `expert_loss` at the same time. These methods may write only to
  their output and to `scratch`; only `prepare` and `start_round` may change the rule.
- `next_weight` is called only if `set_state` sets `learns_weights` (then it also sets
  `initial_weight`), and `expert_loss` only if the estimator sets `_hedge = True`.
- The default `expert_loss` uses `tie_loss`. Hedge adds up the losses with the learning rate 1 and
  expects losses in [0, 1].

An estimator returns the rule from `_make_cost_rule`, see `_ada_olmr.py`.
"""

from libc.math cimport INFINITY, ceil, exp, floor, sqrt
from libc.float cimport DBL_MIN

import numpy as np

from sklrank._state cimport State

from sklrank.online_boosting._random_walk import (
    N_COEFFICIENTS,
    expected_pieces,
    loss_pieces,
    walk_tails,
)

cdef enum:
    HINGE = 0
    RANK = 1

LOSSES = {"hinge": HINGE, "rank": RANK}

cdef double MAX_LEARNER_WEIGHT = 2.0
# The exponential loss counts larger differences of scores as this one, so that costs are finite.
cdef double MAX_EXPONENT = 30.0

cdef enum:
    DEGREE = 5          # of the polynomials of `TabulatedCosts`
    N_POWERS = DEGREE + 1

assert N_POWERS == N_COEFFICIENTS


cdef class CostRule:
    """Base class of the cost rules. `_costs.pxd` states what each method must do.

    By default, all learners have the weight 1, and the loss of an expert is the rank loss.

    Parameters
    ----------
    n_labels, n_learners : int
        Number of labels and of weak learners.
    tie_loss : float, default=0.5
        Loss of a pair of labels with equal scores in the rank loss of an expert.
    """

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t n_learners, double tie_loss=0.5):
        self.start({"n_labels": n_labels, "n_learners": n_learners, "tie_loss": tie_loss})

    cdef dict get_state(self):
        return {
            "n_labels": self.n_labels, "n_learners": self.n_learners, "tie_loss": self.tie_loss
        }

    cdef int set_state(self, State state) except -1:
        cdef Py_ssize_t n_labels = state.count("n_labels", 1)
        cdef Py_ssize_t n_learners = state.count("n_learners", 1)
        cdef double tie_loss = state.number("tie_loss")
        state.require(
            not self.is_ready or (n_labels, n_learners) == (self.n_labels, self.n_learners),
            "its sizes are not those of the object",
        )
        self.n_labels, self.n_learners, self.tie_loss = n_labels, n_learners, tie_loss
        self.initial_weight = 1.0
        return 0

    cdef int prepare(self, Py_ssize_t baseline_size) except -1:
        return 0

    cdef int start_round(self, const LabelPairs* pairs) except -1 nogil:
        return 0

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        pass

    cdef double next_weight(
        self, double weight, double gradient, Py_ssize_t n_rounds
    ) noexcept nogil:
        return weight

    cdef double expert_loss(
        self, const double* scores, const LabelPairs* pairs, double* scratch
    ) noexcept nogil:
        # The rank loss is the sum of the weights of the pairs in the wrong order, plus `tie_loss`
        # times the sum of the weights of the pairs with equal scores.
        cdef double score, loss = 0.0
        cdef Py_ssize_t j, k, n_above, n_not_below
        cdef const double* weights
        cdef double* irrelevant_scores = scratch
        for k in range(pairs.n_irrelevant):
            irrelevant_scores[k] = scores[pairs.irrelevant[k]]
        for j in range(pairs.n_relevant):
            score = scores[pairs.relevant[j]]
            if pairs.weights == NULL:
                n_above = n_not_below = 0
                for k in range(pairs.n_irrelevant):
                    n_above += irrelevant_scores[k] > score
                    n_not_below += irrelevant_scores[k] >= score
                loss += pairs.weight * (n_above + self.tie_loss * (n_not_below - n_above))
            else:
                weights = pairs.weights + j * pairs.n_irrelevant
                for k in range(pairs.n_irrelevant):
                    if irrelevant_scores[k] >= score:
                        loss += weights[k] * (
                            1.0 if irrelevant_scores[k] > score else self.tie_loss
                        )
        return loss

    def cost_vector(self, Py_ssize_t i, scores, relevant, irrelevant, weights, baseline_size=None):
        """Return the costs `(n_labels,)` of the votes of learner `i` = 0, 1, ...; used by tests.

        `weights` has the shape `(len(relevant), len(irrelevant))`. If `baseline_size` is None, it
        is the number of relevant labels.
        """
        self.require_ready()
        if not 0 <= i < self.n_learners:
            raise IndexError(f"learner {i} of {self.n_learners}")
        return self._of_pairs(i, scores, relevant, irrelevant, weights, baseline_size)

    def loss_of_expert(self, scores, relevant, irrelevant, weights):
        """Return the loss of an expert that gives these scores; used by tests."""
        self.require_ready()
        return self._of_pairs(None, scores, relevant, irrelevant, weights, None)

    def _of_pairs(self, i, scores, relevant, irrelevant, weights, baseline_size):
        # Return the costs of learner `i`, or the loss of an expert if `i` is None.
        cdef const double[::1] s = np.ascontiguousarray(scores, dtype=np.float64)
        cdef const Py_ssize_t[::1] a = np.ascontiguousarray(relevant, dtype=np.intp)
        cdef const Py_ssize_t[::1] b = np.ascontiguousarray(irrelevant, dtype=np.intp)
        cdef const double[:, ::1] w = np.ascontiguousarray(weights, dtype=np.float64)
        cdef double[::1] costs = np.zeros(self.n_labels)
        cdef double[::1] scratch = np.empty(COST_SCRATCH * self.n_labels)
        cdef LabelPairs pairs
        labels = np.concatenate((relevant, irrelevant))
        if len(s) != self.n_labels or (w.shape[0], w.shape[1]) != (len(a), len(b)):
            raise ValueError("scores or weights do not match the labels")
        if w.size == 0 or labels.min() < 0 or labels.max() >= self.n_labels:
            raise ValueError("a relevant and an irrelevant label within n_labels are needed")
        if len(np.unique(labels)) < len(labels):
            raise ValueError("each label must be given once, as relevant or as irrelevant")
        if baseline_size is not None and baseline_size < 1:
            raise ValueError("baseline_size must be at least 1")
        pairs.n_relevant, pairs.n_irrelevant = len(a), len(b)
        pairs.relevant, pairs.irrelevant, pairs.weights = &a[0], &b[0], &w[0, 0]
        pairs.weight = 0.0
        know_labels_of_pairs(&pairs)
        pairs.baseline_size = len(a) if baseline_size is None else baseline_size
        self.prepare(pairs.baseline_size)
        self.start_round(&pairs)
        if i is None:
            return self.expert_loss(&s[0], &pairs, &scratch[0])
        self.costs(i, &s[0], &pairs, &costs[0], &scratch[0])
        return np.asarray(costs)


cdef void know_labels_of_pairs(LabelPairs* pairs) noexcept nogil:
    # The known labels are those of the pairs.
    pairs.n_known_relevant, pairs.known_relevant = pairs.n_relevant, pairs.relevant
    pairs.n_known_irrelevant, pairs.known_irrelevant = pairs.n_irrelevant, pairs.irrelevant


cdef class PotentialCosts(CostRule):
    """Boost-by-majority potentials of the hinge or the rank loss (Eqs. 1 and 2)."""

    cdef readonly double edge
    cdef readonly str loss
    cdef int kind
    cdef dict walks                         # maps |Y| to the tables of the walk
    # The current tables, see `walk_tails`. The tail sums for n steps start at row starts[n] of
    # `tails` and cover d = lows[n] - 2, ..., highs[n] + 3.
    cdef const double[:, ::1] tails         # (T0, T1) side by side
    cdef const Py_ssize_t[::1] starts
    cdef const Py_ssize_t[::1] lows
    cdef const Py_ssize_t[::1] highs
    cdef Py_ssize_t baseline_size

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t n_learners, double edge, loss):
        self.start(
            {
                "n_labels": n_labels,
                "n_learners": n_learners,
                "tie_loss": 0.5,
                "edge": edge,
                "loss": str(loss),
            }
        )

    cdef dict get_state(self):
        return CostRule.get_state(self) | {"edge": self.edge, "loss": self.loss}

    cdef int set_state(self, State state) except -1:
        cdef double edge = state.number("edge", 0.0, 1.0)
        cdef str loss = state.choice("loss", LOSSES)
        CostRule.set_state(self, state)
        self.edge, self.loss, self.kind = edge, loss, LOSSES[loss]
        # If the loss is not convex, Theorem 2 requires that each learner votes for a single label.
        self.single_label = self.kind == RANK
        self.walks = {}
        self.baseline_size = 0
        return 0

    cdef int prepare(self, Py_ssize_t baseline_size) except -1:
        if baseline_size != self.baseline_size and baseline_size not in self.walks:
            # The random votes have a distribution only if gamma <= 1 / |Y|.
            edge = min(self.edge, 1.0 / baseline_size)
            stay = (1.0 - baseline_size * edge) / self.n_labels
            self.walks[baseline_size] = walk_tails(stay, stay + edge, self.n_learners)
        return 0

    cdef int start_round(self, const LabelPairs* pairs) except -1 nogil:
        if pairs.baseline_size != self.baseline_size:
            with gil:
                self.load_walk(pairs.baseline_size)
        return 0

    cdef load_walk(self, Py_ssize_t baseline_size):
        self.tails, self.starts, self.lows, self.highs = self.walks[baseline_size]
        self.baseline_size = baseline_size

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        cdef Py_ssize_t n = self.n_learners - 1 - i         # number of remaining learners
        cdef Py_ssize_t low = self.lows[n] - 1, high = self.highs[n] + 2
        cdef const double* tails = &self.tails[self.starts[n], 0] - 2 * (low - 1)
        cdef const double* t
        cdef double* irrelevant_scores = scratch
        cdef double* irrelevant_costs = scratch + self.n_labels
        cdef double weight = pairs.weight, score, z
        # `now`, `up` and `down` are the expected losses of a pair if its difference of scores is z,
        # z + 1 and z - 1. `potential` is the weighted sum of `now` over all pairs, and
        # `relevant_cost` the change of the potential by a vote for the relevant label.
        cdef double now, up, down, potential = 0.0, relevant_cost
        cdef Py_ssize_t j, k, d, e
        for k in range(pairs.n_irrelevant):
            irrelevant_scores[k] = scores[pairs.irrelevant[k]]
            irrelevant_costs[k] = 0.0
        for j in range(self.n_labels):
            costs[j] = 0.0
        for j in range(pairs.n_relevant):
            score = scores[pairs.relevant[j]]
            relevant_cost = 0.0
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
                potential += weight * now
                relevant_cost += weight * (down - now)
                irrelevant_costs[k] += weight * (up - now)
            costs[pairs.relevant[j]] += relevant_cost
        for k in range(pairs.n_irrelevant):
            costs[pairs.irrelevant[k]] += irrelevant_costs[k]
        for j in range(self.n_labels):
            costs[j] += potential


cdef class TabulatedCosts(CostRule):
    """Boost-by-majority potentials of any loss of pairs (Eqs. 1 and 2).

    Parameters
    ----------
    n_labels, n_learners : int
        Number of labels and of weak learners.
    edge : float
        Edge gamma of the random votes.
    loss : callable
        Maps an array of differences s[b] - s[a] to losses, see `loss_pieces`. If it is not convex,
        each learner votes for a single label, as Theorem 2 requires.
    """

    cdef readonly double edge
    cdef double[:, ::1] pieces              # the loss, see `loss_pieces`
    cdef Py_ssize_t per_unit
    cdef dict walks                         # maps |Y| to the tables of `expected_pieces`
    cdef const double[:, ::1] tables        # those of the current |Y|
    cdef const Py_ssize_t[::1] centers
    cdef Py_ssize_t baseline_size

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t n_learners, double edge, loss):
        pieces, per_unit, convex = loss_pieces(loss, n_learners)
        self.start(
            {
                "n_labels": n_labels,
                "n_learners": n_learners,
                "tie_loss": 0.5,
                "edge": edge,
                "pieces": pieces,
                "per_unit": per_unit,
                "single_label": not convex,
            }
        )

    cdef dict get_state(self):
        return CostRule.get_state(self) | {
            "edge": self.edge,
            "pieces": np.array(self.pieces),
            "per_unit": self.per_unit,
            "single_label": self.single_label,
        }

    cdef int set_state(self, State state) except -1:
        cdef double edge = state.number("edge", 0.0, 1.0)
        cdef Py_ssize_t per_unit = state.count("per_unit", 1)
        cdef Py_ssize_t n_learners = state.count("n_learners", 1)
        cdef bint single_label = state.flag("single_label")
        pieces = state.floats("pieces", (-1, N_POWERS))
        # The first condition prevents an overflow in the second one.
        state.require(
            n_learners <= len(pieces) // per_unit
            and len(pieces) - 1 == 2 * n_learners * per_unit,
            "pieces do not match the learners",
        )
        CostRule.set_state(self, state)
        self.edge, self.pieces, self.per_unit = edge, pieces, per_unit
        self.single_label = single_label
        self.walks = {}
        self.baseline_size = 0
        return 0

    cdef int prepare(self, Py_ssize_t baseline_size) except -1:
        if baseline_size != self.baseline_size and baseline_size not in self.walks:
            edge = min(self.edge, 1.0 / baseline_size)
            stay = (1.0 - baseline_size * edge) / self.n_labels
            self.walks[baseline_size] = expected_pieces(
                np.asarray(self.pieces), self.per_unit, stay, stay + edge, self.n_learners
            )
        return 0

    cdef int start_round(self, const LabelPairs* pairs) except -1 nogil:
        if pairs.baseline_size != self.baseline_size:
            with gil:
                self.load_walk(pairs.baseline_size)
        return 0

    cdef load_walk(self, Py_ssize_t baseline_size):
        self.tables, self.centers = self.walks[baseline_size]
        self.baseline_size = baseline_size

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        # The names are those of `PotentialCosts.costs`. The differences z, z + 1 and z - 1 have the
        # same position t in their intervals.
        cdef const double* center = &self.tables[self.centers[self.n_learners - 1 - i], 0]
        cdef const double* t
        cdef double* irrelevant_scores = scratch
        cdef double* irrelevant_costs = scratch + self.n_labels
        cdef double weight = pairs.weight, score, z, now, up, down, potential = 0.0, relevant_cost
        cdef double scale = self.per_unit
        cdef Py_ssize_t j, k, p, cell, shift = N_POWERS * self.per_unit, limit = i * self.per_unit
        for k in range(pairs.n_irrelevant):
            irrelevant_scores[k] = scale * scores[pairs.irrelevant[k]]
            irrelevant_costs[k] = 0.0
        for j in range(self.n_labels):
            costs[j] = 0.0
        for j in range(pairs.n_relevant):
            score = scale * scores[pairs.relevant[j]]
            relevant_cost = 0.0
            for k in range(pairs.n_irrelevant):
                z = irrelevant_scores[k] - score
                # Rounding errors of scores may exceed the limit.
                cell = min(max(<Py_ssize_t>floor(z), -limit), limit)
                z -= cell
                t = center + N_POWERS * cell
                now, up, down = t[DEGREE], t[DEGREE + shift], t[DEGREE - shift]
                for p in range(DEGREE - 1, -1, -1):
                    now = now * z + t[p]
                    up = up * z + t[p + shift]
                    down = down * z + t[p - shift]
                if pairs.weights != NULL:
                    weight = pairs.weights[j * pairs.n_irrelevant + k]
                potential += weight * now
                relevant_cost += weight * (down - now)
                irrelevant_costs[k] += weight * (up - now)
            costs[pairs.relevant[j]] += relevant_cost
        for k in range(pairs.n_irrelevant):
            costs[pairs.irrelevant[k]] += irrelevant_costs[k]
        for j in range(self.n_labels):
            costs[j] += potential


cdef class LogisticCosts(CostRule):
    """Gradient of the logistic rank loss (Eq. 8), which also updates the weights of the learners.

    Parameters
    ----------
    n_labels, n_learners : int
        Number of labels and of weak learners.
    learning_rate : float, default=1.0
        Learning rate of the weights. The step size is this value divided by the square root of the
        number of the round.
    gradient_clip : float, default=inf
        Bound to which the absolute values of the gradients of these steps are clipped.
    tie_loss : float, default=0.5
        Loss of a pair of labels with equal scores in the rank loss of an expert.
    initial_weight : float, default=0.0
        Weight of an untrained learner.
    """

    cdef readonly double learning_rate
    cdef readonly double gradient_clip

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t n_learners, double learning_rate=1.0,
        double gradient_clip=INFINITY, double tie_loss=0.5, double initial_weight=0.0,
    ):
        self.start(
            {
                "n_labels": n_labels,
                "n_learners": n_learners,
                "tie_loss": tie_loss,
                "learning_rate": learning_rate,
                "gradient_clip": gradient_clip,
                "initial_weight": initial_weight,
            }
        )

    cdef dict get_state(self):
        return CostRule.get_state(self) | {
            "learning_rate": self.learning_rate,
            "gradient_clip": self.gradient_clip,
            "initial_weight": self.initial_weight,
        }

    cdef int set_state(self, State state) except -1:
        cdef double learning_rate = state.number("learning_rate", 0.0)
        cdef double gradient_clip = state.number("gradient_clip", 0.0)
        cdef double initial_weight = state.number(
            "initial_weight", -MAX_LEARNER_WEIGHT, MAX_LEARNER_WEIGHT
        )
        CostRule.set_state(self, state)
        self.learns_weights = True
        self.initial_weight = initial_weight
        self.learning_rate, self.gradient_clip = learning_rate, gradient_clip
        return 0

    cdef double next_weight(
        self, double weight, double gradient, Py_ssize_t n_rounds
    ) noexcept nogil:
        cdef double step = self.learning_rate / sqrt(<double>n_rounds)
        weight -= step * min(max(gradient, -self.gradient_clip), self.gradient_clip)
        return min(max(weight, -MAX_LEARNER_WEIGHT), MAX_LEARNER_WEIGHT)

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        # Since sigma(s[b] - s[a]) = e_b / (e_a + e_b), one exponential per label suffices, instead
        # of one per pair. If an exponential underflows, the exponentials of the pairs are computed.
        cdef double* exponentials = scratch
        cdef double* irrelevant = scratch + self.n_labels
        cdef double* irrelevant_costs = scratch + 2 * self.n_labels
        cdef double* slopes = scratch + 3 * self.n_labels
        cdef double max_score = scores[0], e, slope_sum
        cdef Py_ssize_t j, k
        cdef bint underflow = False
        for j in range(self.n_labels):
            max_score = max(max_score, scores[j])
            costs[j] = 0.0
        for j in range(self.n_labels):
            exponentials[j] = exp(scores[j] - max_score)
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
                slope_sum = pairs.weight * total(slopes, pairs.n_irrelevant)
            else:
                for k in range(pairs.n_irrelevant):
                    slopes[k] *= pairs.weights[j * pairs.n_irrelevant + k]
                    irrelevant_costs[k] += slopes[k]
                slope_sum = total(slopes, pairs.n_irrelevant)
            costs[pairs.relevant[j]] -= slope_sum
        for k in range(pairs.n_irrelevant):
            costs[pairs.irrelevant[k]] += (
                irrelevant_costs[k] if pairs.weights != NULL else pairs.weight * irrelevant_costs[k]
            )


cdef class ExponentialCosts(LogisticCosts):
    """Gradient of the exponential rank loss, which also updates the weights of the learners.

    The parameters are those of `LogisticCosts`. A difference s[b] - s[a] above 30 counts as 30.
    """

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        cdef double* irrelevant_scores = scratch
        cdef double* irrelevant_costs = scratch + self.n_labels
        cdef double weight = pairs.weight, score, slope, slope_sum
        cdef Py_ssize_t j, k
        for j in range(self.n_labels):
            costs[j] = 0.0
        for k in range(pairs.n_irrelevant):
            irrelevant_scores[k] = scores[pairs.irrelevant[k]]
            irrelevant_costs[k] = 0.0
        for j in range(pairs.n_relevant):
            score = scores[pairs.relevant[j]]
            slope_sum = 0.0
            for k in range(pairs.n_irrelevant):
                if pairs.weights != NULL:
                    weight = pairs.weights[j * pairs.n_irrelevant + k]
                slope = weight * exp(min(irrelevant_scores[k] - score, MAX_EXPONENT))
                irrelevant_costs[k] += slope
                slope_sum += slope
            costs[pairs.relevant[j]] -= slope_sum
        for k in range(pairs.n_irrelevant):
            costs[pairs.irrelevant[k]] += irrelevant_costs[k]


cdef inline double total(const double* values, Py_ssize_t n) noexcept nogil:
    # Return the sum of the values. With four partial sums, an addition does not wait for the
    # result of the previous one.
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


def logistic_loss(differences):
    """Return log(1 + exp(z)) for each difference of scores."""
    return np.logaddexp(0.0, differences)


# The losses that have a gradient rule, and the losses whose potentials are tabulated.
GRADIENTS = {"logistic": LogisticCosts, "exponential": ExponentialCosts}
TABULATED = {"logistic": logistic_loss}


def potential_costs(n_labels, n_learners, edge, loss):
    """Return the rule of the potentials of a loss, which is a name or a callable."""
    if isinstance(loss, str) and loss in LOSSES:
        return PotentialCosts(n_labels, n_learners, edge, loss)
    return TabulatedCosts(n_labels, n_learners, edge, TABULATED.get(loss, loss))

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Potentials: the expected loss if the remaining learners vote at random (Eqs. 1 and 2).

In the notation of Jung & Tewari (2018), the cost of a vote for label l is the expected loss after
this vote if the n remaining learners vote at random, with an edge gamma towards the relevant
labels. With the weight w_ab of each pair of a relevant label a and an irrelevant label b,

    c[l] = phi_n(s + e_l),      phi_n(s) = sum_ab w_ab E loss(s[b] - s[a] + D_n).

Here D_n is the change of the difference s[b] - s[a] by the n random votes. It is a random walk with
the steps +1 (probability q), -1 (probability q + gamma) and 0, where q = (1 - |Y| gamma) / m and m
is the number of labels. Its tail sums T0[d] = P(D >= d) and T1[d] = E[D; D >= d] depend only on
|Y|, gamma and n.

`PotentialCosts`: let z = s[b] - s[a], and let d be the smallest integer above -1 - z. The expected
losses

    hinge loss      E (1 + z + D)_+                     = (1 + z) T0[d] + T1[d]
    rank loss       P(z + D > 0) + P(z + D = 0) / 2     = (T0[floor(-z) + 1] + T0[ceil(-z)]) / 2

are exact, also if the scores are not integers, and need a constant number of operations.

`TabulatedCosts` are for any loss of pairs that does not decrease in z. The loss is approximated by
polynomials on small intervals, to a relative error of 1e-10. The expected loss has the same
intervals, so that its polynomials are tabulated (`_random_walk.py`).
"""

from libc.math cimport ceil, floor

import numpy as np

from sklrank._state cimport State
from sklrank.online_boosting._costs cimport CostRule, LabelPairs
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

cdef enum:
    DEGREE = 5          # of the polynomials of `TabulatedCosts`
    N_POWERS = DEGREE + 1

assert N_POWERS == N_COEFFICIENTS


cdef class WalkCosts(CostRule):
    """Base class of the potentials (Eqs. 1 and 2), with the random walk of the remaining learners.

    A subclass defines `compute_tables` and `load_tables`. Its `set_state` must call the method of
    this class, which discards tables that were computed for another state.
    """

    cdef readonly double edge
    cdef dict walks                         # maps |Y| to the tables of the walk
    cdef Py_ssize_t baseline_size           # |Y| of the current tables, or 0 if there are none

    cdef dict get_state(self):
        return CostRule.get_state(self) | {"edge": self.edge}

    cdef int set_state(self, State state) except -1:
        cdef double edge = state.number("edge", 0.0, 1.0)
        CostRule.set_state(self, state)
        self.edge = edge
        self.walks = {}
        self.baseline_size = 0
        return 0

    cdef tuple compute_tables(self, double up, double down):
        # Return the tables for a walk with the probabilities `up` and `down` of its steps.
        raise TypeError(f"{type(self).__name__} does not define compute_tables")

    cdef load_tables(self, tuple tables):
        # Make these tables the current ones.
        raise TypeError(f"{type(self).__name__} does not define load_tables")

    cdef int prepare(self, Py_ssize_t baseline_size) except -1:
        if baseline_size != self.baseline_size and baseline_size not in self.walks:
            # The random votes have a distribution only if gamma <= 1 / |Y|.
            edge = min(self.edge, 1.0 / baseline_size)
            stay = (1.0 - baseline_size * edge) / self.n_labels
            self.walks[baseline_size] = self.compute_tables(stay, stay + edge)
        return 0

    cdef int start_round(self, const LabelPairs* pairs) except -1 nogil:
        if pairs.baseline_size != self.baseline_size:
            with gil:
                self.load_tables(self.walks[pairs.baseline_size])
                self.baseline_size = pairs.baseline_size
        return 0


cdef class PotentialCosts(WalkCosts):
    """Boost-by-majority potentials of the hinge or the rank loss (Eqs. 1 and 2)."""

    cdef readonly str loss
    cdef int kind
    # The current tables, see `walk_tails`. The tail sums for n steps start at row starts[n] of
    # `tails` and cover d = lows[n] - 2, ..., highs[n] + 3.
    cdef const double[:, ::1] tails         # (T0, T1) side by side
    cdef const Py_ssize_t[::1] starts
    cdef const Py_ssize_t[::1] lows
    cdef const Py_ssize_t[::1] highs

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
        return WalkCosts.get_state(self) | {"loss": self.loss}

    cdef int set_state(self, State state) except -1:
        cdef str loss = state.choice("loss", LOSSES)
        WalkCosts.set_state(self, state)
        self.loss, self.kind = loss, LOSSES[loss]
        # If the loss is not convex, Theorem 2 requires that each learner votes for a single label.
        self.single_label = self.kind == RANK
        return 0

    cdef tuple compute_tables(self, double up, double down):
        return walk_tails(up, down, self.n_learners)

    cdef load_tables(self, tuple tables):
        self.tails, self.starts, self.lows, self.highs = tables

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


cdef class TabulatedCosts(WalkCosts):
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

    cdef double[:, ::1] pieces              # the loss, see `loss_pieces`
    cdef Py_ssize_t per_unit
    # The current tables, see `expected_pieces`.
    cdef const double[:, ::1] tables
    cdef const Py_ssize_t[::1] centers

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
        return WalkCosts.get_state(self) | {
            "pieces": np.array(self.pieces),
            "per_unit": self.per_unit,
            "single_label": self.single_label,
        }

    cdef int set_state(self, State state) except -1:
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
        WalkCosts.set_state(self, state)
        self.pieces, self.per_unit = pieces, per_unit
        self.single_label = single_label
        return 0

    cdef tuple compute_tables(self, double up, double down):
        return expected_pieces(np.asarray(self.pieces), self.per_unit, up, down, self.n_learners)

    cdef load_tables(self, tuple tables):
        self.tables, self.centers = tables

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


def logistic_loss(differences):
    """Return log(1 + exp(z)) for each difference of scores."""
    return np.logaddexp(0.0, differences)


# The losses by name whose potentials are tabulated.
TABULATED = {"logistic": logistic_loss}


def potential_costs(n_labels, n_learners, edge, loss):
    """Return the rule of the potentials of a loss, which is a name or a callable."""
    if isinstance(loss, str) and loss in LOSSES:
        return PotentialCosts(n_labels, n_learners, edge, loss)
    return TabulatedCosts(n_labels, n_learners, edge, TABULATED.get(loss, loss))

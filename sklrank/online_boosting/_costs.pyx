# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Cost rules: the costs of votes, the weights of learners and the losses of experts.

A rule sums over the known pairs of a relevant label a and an irrelevant label b. Each pair has a
weight w_ab, which is 1 / (|Y| |Y^c|) with full information. A pair with the difference of scores
z = s[b] - s[a] has the loss f(z), see `_losses.py`. There are two kinds of rules.

*Gradients* (Ada.OLMR, Top-k Adaptive; Jung & Tewari 2018, Eq. 8). The costs are the gradient of the
loss sum_ab w_ab f(s[b] - s[a]), and gradient steps on the same loss update the weights of the
learners (Algorithm 3, line 9). With another step size and clipped gradients, this is line 13 of
Algorithm 3 of Raman et al. (2020). `LogisticCosts` compute the gradient of the logistic loss.
`TabulatedGradients` compute that of any smooth loss from polynomials on small intervals.

*Potentials* (OnlineBMR, Top-k BBM; Jung & Tewari, Eqs. 1 and 2). The cost of a vote for label l is
the expected loss after this vote if the n remaining learners vote at random, with an edge gamma
towards the relevant labels,

    c[l] = phi_n(s + e_l),      phi_n(s) = sum_ab w_ab E f(s[b] - s[a] + D_n).

Here D_n is the change of the difference s[b] - s[a] by the n random votes. It is a random walk with
the steps +1 (probability q), -1 (probability q + gamma) and 0, where q = (1 - |Y| gamma) / m and m
is the number of labels. A loss that does not decrease in z is approximated by polynomials on small
intervals: the hinge loss exactly by linear functions on unit intervals, and a loss that is not
convex by its values at integers, since each learner then votes for a single label. The expected
loss has the same intervals, and its polynomials depend only on |Y|, gamma and n, so that they are
tabulated (`PotentialCosts`).

To add a rule, derive a class from `CostRule` that defines `costs`, extends `exchange` by its
parameters as `GradientCosts` does and, if needed, overrides other methods. Return it from
`gradient_costs` or `potential_costs`, at the end of this file, by the name of its loss, an entry of
`LOSSES` in `_losses.py`. (With `hedges_loss`, `gradient_costs` may return only a rule that
overrides `expert_loss`: the tabulated one does.) Its test is in
`tests/online_boosting/test_costs.py`. The `.pxd` file and the boosters need no change. The loop
over the rounds (`_rounds.pyx`) calls a rule so:

- Before the first round of a batch, one thread calls `prepare` for each size that may occur in it.
- In each round, one thread calls `start_round`. Then several threads call `costs` and `expert_loss`
  at the same time. At the end, one thread calls `next_weight` for each learner. Only `prepare` and
  `start_round` may change the rule; `costs` and `expert_loss` may write only to their output and to
  `scratch`, which has room for COST_SCRATCH vectors (n_labels,).

The pairs of a sample, a `LabelPairs`, have the fields

    n_relevant, relevant, n_irrelevant, irrelevant      labels, as pointers to their indices,
    weights         (n_relevant, n_irrelevant) weights of the pairs, or NULL if all have `weight`,
    baseline_size   |Y| of the random learner u_gamma^Y that potentials assume,
    n_known_relevant, known_relevant, ...               labels whose relevance is known.

With top-k feedback there may be no pair: `n_relevant` or `n_irrelevant` may be 0. If the pairs are
estimated, a label may be in both lists, and weights may be negative; the pairs of a label with
itself have the weight 0. Otherwise the known labels are those of the pairs.
"""

from libc.float cimport DBL_MIN
from libc.math cimport INFINITY, exp, floor, sqrt

import numpy as np

from sklrank._compiled.state cimport Archive

from sklrank.online_boosting._losses import expected_pieces, loss_function, loss_pieces

# Bound of the weights of the learners (Algorithm 3 of both papers).
cdef double MAX_LEARNER_WEIGHT = 2.0


cdef class CostRule:
    """Base class of the cost rules: equal weights of learners, and the rank loss of experts.

    `exchange` of a subclass may set `learns_weights`: then `next_weight` updates the weight of each
    learner, which starts at `initial_weight`. It may set `single_label`: then a learner's whole
    vote is given to one label. `tie_loss` is the loss of a pair of equal scores in the rank loss.
    """

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t n_learners, double tie_loss=0.5):
        self.n_labels, self.n_learners, self.tie_loss = n_labels, n_learners, tie_loss
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef CostRule saved = archive.source
        self.n_labels = archive.label_count("n_labels", saved.n_labels)
        self.n_learners = archive.count("n_learners", saved.n_learners, 1)
        self.tie_loss = archive.number("tie_loss", saved.tie_loss)
        self.initial_weight = 1.0
        return 0

    cdef int prepare(self, Py_ssize_t baseline_size) except -1:
        # Compute what rounds with this `baseline_size` need. Then Ctrl-C or a lack of memory in it
        # does not interrupt a round.
        return 0

    cdef int start_round(self, const LabelPairs* pairs) except -1 nogil:
        return 0

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        # Write to `costs` (n_labels,), which is not zeroed, the cost of a vote of learner `i` = 0,
        # 1, ... for each label, given the `scores` (n_labels,) by the learners before it. For a
        # label in no pair this is 0 if the costs are a gradient, and the potential without a vote
        # if they are potentials. If `learns_weights` is True, the costs must be the gradient of the
        # loss at the scores and must not depend on `i`: the costs at the scores after learner i are
        # both the gradient for its weight and the costs of learner i + 1.
        pass

    cdef double next_weight(
        self, double weight, double gradient, Py_ssize_t n_rounds
    ) noexcept nogil:
        # Return the weight of a learner after round number `n_rounds` = 1, 2, ..., as a function of
        # these arguments only. `gradient` is c(s_i) . h_i, the derivative of the loss at s_i along
        # the vote h_i, where s_i are the scores by the learners up to this one.
        return weight

    cdef double expert_loss(
        self, const double* scores, const LabelPairs* pairs, double* scratch
    ) noexcept nogil:
        # Return the loss of an expert that gives these scores, if Hedge chooses the expert. Hedge
        # adds up the losses with the learning rate 1. It expects losses in [0, 1] for a sample of
        # weight 1; estimates from top-k feedback may be larger. The rank loss is the sum of the
        # weights of the pairs in the wrong order, plus `tie_loss` times that of equal scores.
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

    def evaluate(self, Py_ssize_t i, scores, relevant, irrelevant, weights, baseline_size=None):
        """Return the costs of learner `i` and the loss of an expert at some scores. For tests.

        The weights of the pairs have the shape `(len(relevant), len(irrelevant))`.
        """
        cdef const double[::1] s = np.ascontiguousarray(scores, dtype=np.float64)
        cdef const Py_ssize_t[::1] a = np.ascontiguousarray(relevant, dtype=np.intp)
        cdef const Py_ssize_t[::1] b = np.ascontiguousarray(irrelevant, dtype=np.intp)
        cdef const double[:, ::1] w = np.ascontiguousarray(weights, dtype=np.float64)
        cdef double[::1] costs = np.zeros(self.n_labels)
        cdef double[::1] scratch = np.empty(COST_SCRATCH * self.n_labels)
        cdef LabelPairs pairs
        labels = np.concatenate((relevant, irrelevant))
        self.require_ready()
        if not 0 <= i < self.n_learners:
            raise IndexError(f"learner {i} of {self.n_learners}")
        if len(s) != self.n_labels or (w.shape[0], w.shape[1]) != (len(a), len(b)) or not w.size:
            raise ValueError("scores or weights do not match the labels, or there is no pair")
        if labels.min() < 0 or labels.max() >= self.n_labels or len({*labels}) < len(labels):
            raise ValueError("labels must be within n_labels, each relevant or irrelevant")
        if baseline_size is not None and baseline_size < 1:
            raise ValueError("baseline_size must be at least 1")
        pairs.n_relevant, pairs.n_irrelevant = len(a), len(b)
        pairs.relevant, pairs.irrelevant, pairs.weights = &a[0], &b[0], &w[0, 0]
        pairs.weight = 0.0
        know_labels_of_pairs(&pairs)
        pairs.baseline_size = len(a) if baseline_size is None else baseline_size
        self.prepare(pairs.baseline_size)
        self.start_round(&pairs)
        self.costs(i, &s[0], &pairs, &costs[0], &scratch[0])
        return np.asarray(costs), self.expert_loss(&s[0], &pairs, &scratch[0])


cdef void know_labels_of_pairs(LabelPairs* pairs) noexcept nogil:
    pairs.n_known_relevant, pairs.known_relevant = pairs.n_relevant, pairs.relevant
    pairs.n_known_irrelevant, pairs.known_irrelevant = pairs.n_irrelevant, pairs.irrelevant


cdef class GradientCosts(CostRule):
    """Base class of the gradients of a loss, which also update the weights of the learners.

    In round t, the step size is ``learning_rate / sqrt(t)``, and the absolute values of the slopes
    are clipped to `gradient_clip`.
    """

    cdef readonly double learning_rate, gradient_clip

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t n_learners, double learning_rate=1.0,
        double gradient_clip=INFINITY, double tie_loss=0.5,
    ):
        self.learning_rate, self.gradient_clip = learning_rate, gradient_clip
        CostRule.__init__(self, n_labels, n_learners, tie_loss)

    cdef int exchange(self, Archive archive) except -1:
        cdef GradientCosts saved = archive.source
        CostRule.exchange(self, archive)
        self.learning_rate = archive.number("learning_rate", saved.learning_rate, 0.0)
        self.gradient_clip = archive.number("gradient_clip", saved.gradient_clip, 0.0)
        self.learns_weights = True
        self.initial_weight = 0.0
        return 0

    cdef double next_weight(
        self, double weight, double gradient, Py_ssize_t n_rounds
    ) noexcept nogil:
        cdef double step = self.learning_rate / sqrt(<double>n_rounds)
        weight -= step * min(max(gradient, -self.gradient_clip), self.gradient_clip)
        return min(max(weight, -MAX_LEARNER_WEIGHT), MAX_LEARNER_WEIGHT)


cdef class LogisticCosts(GradientCosts):
    """Gradient of the logistic rank loss (Eq. 8)."""

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


cdef int check_pieces(
    Archive archive, const double[:, ::1] pieces, Py_ssize_t per_unit, Py_ssize_t limit
) except -1:
    # Raise unless there are polynomials for all differences from -limit to limit.
    archive.require(
        limit <= pieces.shape[0] // per_unit  # Then the next product does not overflow.
        and pieces.shape[0] - 1 == 2 * limit * per_unit and pieces.shape[1] > 0,
        "pieces do not match the learners",
    )
    return 0


cdef class TabulatedGradients(GradientCosts):
    """Gradient of any smooth loss of pairs, by the derivatives of its polynomials.

    With `hedges_loss`, the loss of an expert is this loss, divided by ``2 loss(0)`` so that a pair
    of equal scores has the loss 1/2, instead of the rank loss.
    """

    cdef const double[:, ::1] pieces        # the loss, see `loss_pieces`
    cdef Py_ssize_t per_unit
    cdef bint hedges_loss

    def __init__(
        self, Py_ssize_t n_labels, Py_ssize_t n_learners, double learning_rate,
        double gradient_clip, double tie_loss, loss, bint hedges_loss=False,
    ):
        # The weights of the learners are bounded, and so are the differences of scores.
        self.pieces, self.per_unit = loss_pieces(loss, int(MAX_LEARNER_WEIGHT) * n_learners)
        if np.abs(np.asarray(self.pieces)[:, 1:]).max() < 1e-12:  # rounding errors
            raise ValueError(f"loss must have a slope, but the derivative of {loss!r} is 0")
        self.hedges_loss = hedges_loss
        GradientCosts.__init__(
            self, n_labels, n_learners, learning_rate, gradient_clip, tie_loss
        )

    cdef int exchange(self, Archive archive) except -1:
        cdef TabulatedGradients saved = archive.source
        GradientCosts.exchange(self, archive)
        self.pieces = archive.constants("pieces", saved.pieces, (-1, -1))
        self.per_unit = archive.count("per_unit", saved.per_unit, 1)
        self.hedges_loss = archive.flag("hedges_loss", saved.hedges_loss)
        check_pieces(
            archive, self.pieces, self.per_unit, <Py_ssize_t>MAX_LEARNER_WEIGHT * self.n_learners
        )
        return 0

    cdef const double* piece(self, double difference, double* position) noexcept nogil:
        # Return the polynomial for a difference of scores, and the position in its interval.
        # Rounding errors of scores may exceed the limit.
        cdef Py_ssize_t last = self.pieces.shape[0] - 1
        cdef double place = difference * self.per_unit + last // 2
        cdef Py_ssize_t cell = min(max(<Py_ssize_t>floor(place), 0), last)
        position[0] = place - cell
        return &self.pieces[cell, 0]

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        cdef double weight = pairs.weight, slope, t
        cdef const double* p
        cdef Py_ssize_t degree = self.pieces.shape[1] - 1, j, k, e, a, b
        for j in range(self.n_labels):
            costs[j] = 0.0
        for j in range(pairs.n_relevant):
            a = pairs.relevant[j]
            for k in range(pairs.n_irrelevant):
                b = pairs.irrelevant[k]
                p = self.piece(scores[b] - scores[a], &t)
                slope = degree * p[degree]
                for e in range(degree - 1, 0, -1):
                    slope = slope * t + e * p[e]
                if pairs.weights != NULL:
                    weight = pairs.weights[j * pairs.n_irrelevant + k]
                slope *= weight * self.per_unit
                costs[a] -= slope
                costs[b] += slope

    cdef double value(self, double difference) noexcept nogil:
        cdef double t
        cdef const double* p = self.piece(difference, &t)
        cdef Py_ssize_t degree = self.pieces.shape[1] - 1, e
        cdef double value = p[degree]
        for e in range(degree - 1, -1, -1):
            value = value * t + p[e]
        return value

    cdef double expert_loss(
        self, const double* scores, const LabelPairs* pairs, double* scratch
    ) noexcept nogil:
        cdef double weight = pairs.weight, loss = 0.0, tie = self.value(0.0)
        cdef Py_ssize_t j, k
        if not self.hedges_loss:
            return GradientCosts.expert_loss(self, scores, pairs, scratch)
        for j in range(pairs.n_relevant):
            for k in range(pairs.n_irrelevant):
                if pairs.weights != NULL:
                    weight = pairs.weights[j * pairs.n_irrelevant + k]
                loss += weight * self.value(
                    scores[pairs.irrelevant[k]] - scores[pairs.relevant[j]]
                )
        return loss / (2.0 * tie) if tie > 0.0 else loss


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


cdef class PotentialCosts(CostRule):
    """Boost-by-majority potentials of a loss of pairs (Eqs. 1 and 2).

    If the loss is not convex, each learner votes for a single label, as Theorem 2 requires.
    """

    cdef readonly double edge               # gamma of the random votes
    cdef const double[:, ::1] pieces        # the loss, see `loss_pieces`
    cdef Py_ssize_t per_unit
    cdef dict walks                         # maps |Y| to the tables, see `expected_pieces`
    cdef Py_ssize_t baseline_size           # |Y| of the current tables, or 0 if there are none
    cdef const double[:, ::1] tables
    cdef const Py_ssize_t[::1] centers

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t n_learners, double edge, loss):
        self.pieces, self.per_unit = loss_pieces(
            loss_function(loss), n_learners, or_integers=True
        )
        self.edge = edge
        CostRule.__init__(self, n_labels, n_learners)

    cdef int exchange(self, Archive archive) except -1:
        cdef PotentialCosts saved = archive.source
        CostRule.exchange(self, archive)
        self.edge = archive.number("edge", saved.edge, 0.0, 1.0)
        self.pieces = archive.constants("pieces", saved.pieces, (-1, -1))
        self.per_unit = archive.count("per_unit", saved.per_unit, 1)
        check_pieces(archive, self.pieces, self.per_unit, self.n_learners)
        if archive.loads:
            self.walks, self.baseline_size = {}, 0
        self.single_label = self.pieces.shape[1] == 1
        return 0

    cdef int prepare(self, Py_ssize_t baseline_size) except -1:
        if baseline_size != self.baseline_size and baseline_size not in self.walks:
            # The random votes have a distribution only if gamma <= 1 / |Y|.
            edge = min(self.edge, 1.0 / baseline_size)
            up = (1.0 - baseline_size * edge) / self.n_labels
            self.walks[baseline_size] = expected_pieces(
                np.asarray(self.pieces), self.per_unit, up, up + edge, self.n_learners
            )
        return 0

    cdef int start_round(self, const LabelPairs* pairs) except -1 nogil:
        if pairs.baseline_size != self.baseline_size:
            with gil:
                self.tables, self.centers = self.walks[pairs.baseline_size]
                self.baseline_size = pairs.baseline_size
        return 0

    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil:
        # `now`, `up` and `down` are the expected losses of a pair if its difference of scores is z,
        # z + 1 and z - 1, which have the same position in their intervals. `potential` is the
        # weighted sum of `now` over all pairs, and `relevant_cost` the change of the potential by a
        # vote for the relevant label.
        cdef Py_ssize_t degree = self.tables.shape[1] - 1, limit = i * self.per_unit
        cdef Py_ssize_t shift = (degree + 1) * self.per_unit, j, k, p, cell
        cdef const double* center = &self.tables[self.centers[self.n_learners - 1 - i], 0]
        cdef const double* t
        cdef double* irrelevant_scores = scratch
        cdef double* irrelevant_costs = scratch + self.n_labels
        cdef double weight = pairs.weight, score, z, now, up, down, potential = 0.0, relevant_cost
        for k in range(pairs.n_irrelevant):
            irrelevant_scores[k] = self.per_unit * scores[pairs.irrelevant[k]]
            irrelevant_costs[k] = 0.0
        for j in range(self.n_labels):
            costs[j] = 0.0
        for j in range(pairs.n_relevant):
            score = self.per_unit * scores[pairs.relevant[j]]
            relevant_cost = 0.0
            for k in range(pairs.n_irrelevant):
                z = irrelevant_scores[k] - score
                # Rounding errors of scores may exceed the limit.
                cell = min(max(<Py_ssize_t>floor(z), -limit), limit)
                z -= cell
                t = center + (degree + 1) * cell
                now, up, down = t[degree], t[degree + shift], t[degree - shift]
                if degree == 1:  # faster than a loop of one step
                    now, up, down = now * z + t[0], up * z + t[shift], down * z + t[-shift]
                else:
                    for p in range(degree - 1, -1, -1):
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


def gradient_costs(n_labels, n_learners, loss, *parameters, hedges_loss=False):
    """Return the rule of the gradients of a loss, which is a name or a callable.

    `parameters` are the learning rate, the bound of the gradients and the loss of a tie.
    """
    if isinstance(loss, str) and loss == "logistic" and not hedges_loss:
        return LogisticCosts(n_labels, n_learners, *parameters)
    function = loss_function(loss)
    return TabulatedGradients(n_labels, n_learners, *parameters, function, hedges_loss)


def potential_costs(n_labels, n_learners, loss, edge):
    """Return the rule of the potentials of a loss, which is a name or a callable."""
    return PotentialCosts(n_labels, n_learners, edge, loss)

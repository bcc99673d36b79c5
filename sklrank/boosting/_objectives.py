r"""Objectives of boosting: functions of the scores of the training samples.

Objectives do not depend on the estimator. At the current scores :math:`F`, an objective computes a
*label* and a *weight* for each sample. A weak learner that fits these labels under these weights
decreases a bound on the objective. The predictions :math:`f` of a weak learner on the training
samples are called its *hypothesis*. For a hypothesis, the objective computes two *step weights*:
:math:`c` is the weight of the correct predictions, and :math:`w` the weight of the incorrect ones.
For any step size :math:`\alpha \geq 0` they satisfy

.. math:: L(F + \alpha f) \leq L(F) - (1 - e^{-s \alpha}) c + (e^{s \alpha} - 1) w,

where :math:`L` is the objective and :math:`s` its `scale`. The right side is minimized by
:math:`\alpha^* = \frac{1}{2 s} \log(c / w)`, which decreases the objective by at least
:math:`(\sqrt c - \sqrt w)^2`. At :math:`2 \alpha^*`, the bound equals :math:`L(F)`. Hence no step
size between 0 and :math:`2 \alpha^*` increases the objective. For a product of losses, all of these
statements hold for its logarithm.

The objectives of pairs of documents satisfy a bound for each document, too, in which a hypothesis
may be any number, as the votes of confidence-rated classifiers (Schapire & Singer, 1999). A pair
(i, j) of weight :math:`\gamma_{ij}`, in which i should be ranked first, adds at most

.. math:: \gamma_{ij} (e^{f_j - f_i} - 1)
          \leq \frac{\gamma_{ij}}{2} (e^{2 f_j} - 1) + \frac{\gamma_{ij}}{2} (e^{-2 f_i} - 1)

to the objective at the scores :math:`F + f`. Let :math:`A_i` be the total weight of the pairs in
which document i should be the first one, and :math:`B_i` that of the pairs in which it should be
the second one. The negative gradient is :math:`g_i = A_i - B_i`, and the *mass* is :math:`m_i = A_i
+ B_i`. If f has the same value for a set S of documents (a leaf of a tree), the bound of this set
is minimized by

.. math:: \frac{1}{4} \log \frac{\sum_S A_i}{\sum_S B_i} = \frac{1}{2} \tanh^{-1}(x), \quad
          x = \frac{\sum_S g_i}{\sum_S m_i}.

The value x / 2 has the same sign and is nearer to 0, so that the bound, which is convex, decreases
too. It is the value of a leaf of the regression trees, with :math:`m_i` as their hessians. The
factor 1/2 is their step, and no learning rate from 0 to 2 increases the objective.
"""

from abc import ABC, abstractmethod
from math import log

import numpy as np

from sklrank.boosting import _ndcg_pairs
from sklrank.boosting._pair_losses import GradedPairLoss
from sklrank.metrics._conventions import choose
from sklrank.metrics._document_ranking import (
    average_precision_of_queries,
    ideal_dcg,
    ndcg_of_queries,
    rank_factors,
)

__all__ = [
    "MAX_PAIR_SCORE_GAP",
    "MAX_SCORE_GAP",
    "METRICS",
    "STEP_RULES",
    "LogisticObjective",
    "NDCGObjective",
    "Objective",
    "PairObjective",
    "QueryObjective",
    "exp_scores",
]

# The ratio of the step weights is limited to this value, since a hypothesis that is never wrong has
# an infinite step. A larger step would hardly decrease the loss further, and scores could overflow.
MAX_RATIO = 1e6
# Step weights whose relative difference is smaller than this are equal up to rounding.
ROUNDING = 1e-12

# Limit of the distance of a score from the middle of its query, or from the largest score of its
# sample. Scores are clipped to this distance, so that their exponentials, the reciprocals of these
# and the squares of both are finite. At this distance, the loss can hardly be decreased further.
MAX_SCORE_GAP = 300.0
# Losses of pairs are sums of products of two exponentials. These sums are squared or multiplied.
MAX_PAIR_SCORE_GAP = MAX_SCORE_GAP / 2
# RankBoost stops when its loss, which starts at 1, is below this value. If scores grew further,
# they would be clipped to the distance above, and documents would be tied.
MIN_PAIR_LOSS = 1e-12


class Objective(ABC):
    """Base class of objectives.

    Attributes
    ----------
    value : float
        The objective at the scores of the last `set_scores`.
    labels : ndarray of int of shape (n_samples,)
        The class that the weak learner should predict for each sample.
    weights : ndarray of shape (n_samples,)
        Weight of each sample, 0 or more.
    negative_gradient : ndarray of shape (n_samples,)
        Negative gradient, for objectives of pairs of documents.
    masses : ndarray of shape (n_samples,)
        Sum of the weights of the pairs of each document; see above. Some objectives have none.
    scale : float
        The factor `s` in the exponents of the bound.
    """

    scale = 1.0

    @abstractmethod
    def set_scores(self, scores):
        """Set the scores, and compute `value`, `labels` and `weights` there."""

    @abstractmethod
    def step_weights(self, hypothesis):
        """Return the weights of the correct and of the incorrect predictions, two numbers >= 0."""

    def step(self, hypothesis):
        """Return the step size for a hypothesis; 0 if it is no better than chance."""
        return self.step_size(*self.step_weights(hypothesis))

    def step_size(self, correct, incorrect):
        """Return the step size that minimizes the bound, log(correct / incorrect) / (2 * scale).

        The ratio is limited by `MAX_RATIO`. Return 0 if `correct` is not above `incorrect`.
        """
        if not correct > incorrect * (1 + ROUNDING):
            return 0.0
        ratio = min(correct / incorrect, MAX_RATIO) if incorrect > 0 else MAX_RATIO
        return log(ratio) / (2 * self.scale)

    def _set_gradient(self, negative_gradient):
        """Label a sample 1 if its negative gradient is positive, else 0; set the weights."""
        self.negative_gradient = negative_gradient
        self.labels = (negative_gradient > 0).astype(np.intp)
        self.weights = np.abs(negative_gradient)


def exp_scores(scores, queries, max_gap):
    """Return e^F and e^-F, where the scores F of each query are shifted by a constant.

    The shift moves the middle of the range of the scores of a query to 0. Shifted scores are
    clipped to [-max_gap, max_gap], so that products of a few exponentials are finite.
    """
    first = queries.starts[:-1]
    grouped = scores[queries.order]
    middle = (np.maximum.reduceat(grouped, first) + np.minimum.reduceat(grouped, first)) / 2
    exp_pos = np.exp(np.clip(scores - middle[queries.codes], -max_gap, max_gap))
    return exp_pos, 1 / exp_pos


# -- Rankings of documents.


class GainObjective(Objective):
    """Base class of objectives of pairs of documents that are weighted by their gains.

    A query with an ideal DCG of 0, for which NDCG is not defined, is ignored. The gains of the
    other queries are divided by their ideal DCG and by the number of these queries.

    Parameters
    ----------
    gains : ndarray of shape (n_samples,)
        Gain of each document.
    queries : Queries
        Query of each document.
    k : int, default=None
        Number of top-ranked documents to include in the ideal DCG. If None, all are included.

    Attributes
    ----------
    n_counted : int
        Number of queries that are not ignored.
    """

    def __init__(self, gains, queries, k=None):
        # The loops expect the documents with a gain to come first in each query.
        self._order = np.lexsort((*self._sort_keys(gains), queries.codes))
        self._queries = queries
        self._starts = queries.starts
        ideal = ideal_dcg(queries, gains, rank_factors(queries, "log2", k))
        gains = gains[self._order]
        self._n_relevant = np.add.reduceat(gains > 0, queries.starts[:-1], dtype=np.intp)
        self.n_counted = np.count_nonzero(ideal)
        normalizer = ideal * max(1, self.n_counted)
        normalizer = np.where(normalizer == 0, 1.0, normalizer)
        self._gains = gains / np.repeat(normalizer, queries.sizes)

    @abstractmethod
    def _sort_keys(self, gains):
        """Return the keys by which the documents of a query are sorted, as in `np.lexsort`."""

    def set_scores(self, scores):
        self._set_exp_scores(scores)
        gradient, masses, self._losses = self._evaluate()
        negative_gradient, self.masses = np.empty((2, len(scores)))
        negative_gradient[self._order], self.masses[self._order] = gradient, masses
        self._set_gradient(negative_gradient)

    def _set_exp_scores(self, scores):
        exp_pos, _ = exp_scores(scores, self._queries, MAX_SCORE_GAP)
        self._exp_scores = exp_pos[self._order]

    @abstractmethod
    def _evaluate(self):
        """Return the negative gradient, the masses and the losses at the current scores.

        The first two are in the order `_order`. The losses are None if they are computed on demand.
        """

    @property
    def losses(self):
        """Part of the objective that is due to each query, of shape (n_queries,)."""
        return self._losses

    @property
    def value(self):
        """The objective at the current scores."""
        return self.losses.sum()

    def losses_at(self, scores):
        """Return the losses at other scores. The gradient at the current scores is lost."""
        self.set_scores(scores)
        return self.losses


class NDCGObjective(GainObjective):
    r"""Bound on the expected loss of NDCG, Equation 3.11 of Valizadegan (2010).

    .. math:: \frac{1}{n} \sum_q \frac{1}{Z_q} \sum_i (2^{r_i} - 1) A_i, \quad
              A_i = \sum_{j \ne i} \frac{1}{1 + \exp(F_i - F_j)}

    Here n is the number of queries, q a query, and :math:`Z_q` its ideal DCG. The indices i and j
    are documents of this query, :math:`r_i` is the relevance of document i, and :math:`F_i` its
    score. Document i has the gain :math:`2^{r_i} - 1` and the expected rank :math:`1 + A_i`. The
    NDCG that it loses is at most a multiple of :math:`A_i` (Proposition 1). In the dissertation F
    is twice the score; here it is the score.

    Parameters
    ----------
    gains, queries, k : object
        As in :class:`GainObjective`.
    """

    def __init__(self, gains, queries, k=None):
        super().__init__(gains, queries, k)
        self._buffers = np.empty((2, 2, queries.sizes.max()))

    def _sort_keys(self, gains):
        return (gains == 0,)

    def _evaluate(self):
        negative_gradient, masses = np.empty((2, len(self._gains)))
        losses = np.empty(self._queries.n_queries)
        _ndcg_pairs.loss_and_negative_gradient(
            self._exp_scores,
            self._gains,
            self._starts,
            self._n_relevant,
            negative_gradient,
            masses,
            losses,
        )
        return negative_gradient, masses, losses

    def step_weights(self, hypothesis):
        return _ndcg_pairs.step_weights(
            self._exp_scores,
            self._gains,
            self._starts,
            self._n_relevant,
            hypothesis[self._order],
            *self._buffers,
        )


class LogisticObjective(GainObjective):
    r"""Logistic loss of pairs of documents, weighted by the differences of their gains.

    .. math:: \frac{1}{n} \sum_q \frac{1}{Z_q} \sum_{G_i > G_j} (G_i - G_j)
              \log(1 + \exp(F_j - F_i))

    The sum is over the pairs of documents of query q in which i has the larger gain, and
    :math:`Z_q` is the ideal DCG of the query. This is the loss of RankNet (Burges et al. 2005),
    weighted as ARP-Loss2 of the LambdaLoss framework (Wang et al. 2018).

    Parameters
    ----------
    gains, queries, k : object
        As in :class:`GainObjective`.
    """

    def __init__(self, gains, queries, k=None):
        super().__init__(gains, queries, k)
        codes, gains = queries.codes[self._order], self._gains
        starts = 1 + np.flatnonzero((gains[1:] != gains[:-1]) | (codes[1:] != codes[:-1]))
        bounds = np.concatenate([[0], starts, [len(gains)]]).astype(np.intp)
        # For each document, the index of the first one with a smaller gain.
        self._ends = np.repeat(bounds[1:], np.diff(bounds))

    def _sort_keys(self, gains):
        return (-gains,)

    def _evaluate(self):
        first, second = np.empty((2, len(self._gains)))
        _ndcg_pairs.logistic_pair_weights(
            self._exp_scores,
            self._gains,
            self._ends,
            self._starts,
            self._n_relevant,
            first,
            second,
        )
        return first - second, first + second, None

    @property
    def losses(self):
        if self._losses is None:
            self._losses = np.empty(self._queries.n_queries)
            _ndcg_pairs.logistic_losses(
                self._exp_scores,
                self._gains,
                self._ends,
                self._starts,
                self._n_relevant,
                self._losses,
            )
        return self._losses

    def losses_at(self, scores):
        # Without the gradient.
        self._set_exp_scores(scores)
        self._losses = None
        return self.losses

    def step_weights(self, hypothesis):
        return _ndcg_pairs.logistic_step_weights(
            self._exp_scores,
            self._gains,
            self._starts,
            self._n_relevant,
            hypothesis[self._order],
        )


class PairObjective(Objective):
    r"""The loss of RankBoost.

    The mean of :math:`\exp(F_j - F_i)` over all pairs (i, j) of documents of the same query in
    which i is more relevant than j.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Relevance.
    queries : Queries
        Query of each document.
    """

    def __init__(self, y, queries):
        self._queries = queries
        self._pairs = GradedPairLoss(y, queries)
        ones = np.ones(len(y))
        self._n_pairs, _ = self._pairs.loss_and_negative_gradient(ones, ones)

    def set_scores(self, scores):
        self._exp_scores = exp_scores(scores, self._queries, MAX_PAIR_SCORE_GAP)
        loss, negative_gradient = self._pairs.loss_and_negative_gradient(*self._exp_scores)
        self.value = loss / self._n_pairs
        self._set_gradient(negative_gradient)
        self.weights /= self._n_pairs
        if self.value < MIN_PAIR_LOSS:
            self.weights[:] = 0.0

    def step_weights(self, hypothesis):
        correct, incorrect = self._pairs.step_weights(*self._exp_scores, hypothesis)
        return correct / self._n_pairs, incorrect / self._n_pairs


METRICS = {"ndcg": ndcg_of_queries, "map": average_precision_of_queries}


def _xu_li_step_weights(query_weights, performance):
    return query_weights @ (1 + performance), query_weights @ (1 - performance)


def _printed_step_weights(query_weights, performance):
    return query_weights @ performance, query_weights @ (1 - performance)


# Step weights from the weight and the performance of each query.
STEP_RULES = {"xu-li": _xu_li_step_weights, "printed": _printed_step_weights}


class QueryObjective(Objective):
    r"""The loss of AdaRank.

    The mean of :math:`\exp(-E(q, F))` over queries q, where E, the *performance*, is a metric of
    the ranking of a query. The weight of a query is the proportion of the loss that is due to it
    (Algorithm 4 of Valizadegan 2010, line 7). It is divided equally among its documents, whose
    labels are their relevance. The steps are those of Xu & Li (SIGIR 2007) or of Valizadegan, as
    `step_rule` determines. No bound guarantees that they decrease the objective.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Relevance.
    queries : Queries
        Query of each document. Queries without a relevant document are ignored.
    metric : {"ndcg", "map"}
        The metric E.
    k : int or None
        Number of top-ranked documents to include in the metric. If None, all are included.
    step_rule : {"xu-li", "printed"}
        See `STEP_RULES`.
    must_beat_chance : bool, default=False
        Whether the step of a hypothesis is 0 if its weighted mean performance is not above that of
        constant scores. Otherwise, even a constant hypothesis usually has a positive step. (This is
        not used for single features: a feature that ranks worse than constant scores by itself may
        still decrease the objective together with other features.)
    """

    def __init__(self, y, queries, metric, k, step_rule, *, must_beat_chance=False):
        self._queries = queries
        self._metric = METRICS[metric](queries, y, choose("standard", gain="exponential"), k)
        self._step_weights = STEP_RULES[step_rule]
        self._must_beat_chance = must_beat_chance
        chance = self._metric(np.zeros(len(y)))
        self._is_counted = ~np.isnan(chance)
        if not self._is_counted.any():
            raise ValueError(
                f"y has no document whose gain differs from 0 under metric={metric!r}, its largest "
                f"grade is {y.max():g}: let the grades be 1 or more where relevant"
            )
        self._chance = chance[self._is_counted]
        self.labels = np.unique(y, return_inverse=True)[1]

    def performance(self, scores):
        """Return the metric, from 0 to 1, of each query that has a relevant document."""
        return self._metric(scores)[self._is_counted]

    def set_scores(self, scores):
        self.scores = scores
        losses = np.exp(-self.performance(scores))
        self.value = losses.mean()
        self.query_weights = losses / losses.sum()
        weights = np.zeros(self._queries.n_queries)
        weights[self._is_counted] = self.query_weights / self._queries.sizes[self._is_counted]
        self.weights = weights[self._queries.codes]

    def step(self, hypothesis):
        performance = self.performance(hypothesis)
        if self._must_beat_chance and not self.query_weights @ (performance - self._chance) > 0:
            return 0.0
        return self.step_by_performance(performance)

    def step_by_performance(self, performance):
        """Return the step of a hypothesis whose performance is known."""
        return self.step_size(*self._step_weights(self.query_weights, performance))

    def step_weights(self, hypothesis):
        return self._step_weights(self.query_weights, self.performance(hypothesis))

    def value_at(self, scores):
        """Return the objective at other scores."""
        return np.exp(-self.performance(scores)).mean()

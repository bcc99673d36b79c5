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
from scipy.special import softmax

from sklrank.boosting import _ndcg_pairs
from sklrank.boosting._pair_losses import GradedPairLoss
from sklrank.metrics._conventions import choose
from sklrank.metrics._document_ranking import average_precision_of_queries, ndcg_of_queries

__all__ = [
    "METRICS",
    "STEP_RULES",
    "AssembleObjective",
    "LogisticObjective",
    "MCSSBObjective",
    "NDCGObjective",
    "Objective",
    "PairObjective",
    "ProductObjective",
    "QueryObjective",
    "SumObjective",
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
        ideal = ideal_dcg(gains, queries, k)
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


def ideal_dcg(gains, queries, k=None):
    """Return the largest DCG of the `k` top-ranked documents of each query."""
    best_first = np.lexsort((-gains, queries.codes))
    ranks = 1.0 + np.arange(len(gains)) - np.repeat(queries.starts[:-1], queries.sizes)
    discounts = 1 / np.log2(ranks + 1)
    if k is not None:
        discounts[ranks > min(k, len(gains))] = 0.0
    return np.add.reduceat(gains[best_first] * discounts, queries.starts[:-1])


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


class RefinementObjective(Objective):
    """Base class of combinations of two losses, for ranking refinement.

    Equations refer to Valizadegan (2010), chapter 4.

    Parameters
    ----------
    base_loss : BaseRankerLoss
        The loss err_w of the base ranker.
    judgement_loss : JudgementLoss
        The loss err_t of the judgements.
    queries : Queries
        Query of each document. The losses are sums over all queries.
    """

    def __init__(self, base_loss, judgement_loss, queries):
        self._base_loss = base_loss
        self._judgement_loss = judgement_loss
        self._queries = queries

    @abstractmethod
    def _combine(self, base, judged):
        """Return the objective, and the factors of the two losses in the weights of pairs."""

    def set_scores(self, scores):
        self._exp_scores = exp_scores(scores, self._queries, MAX_PAIR_SCORE_GAP)
        base, base_gradient = self._base_loss.loss_and_negative_gradient(*self._exp_scores)
        judged, judged_gradient = self._judgement_loss.loss_and_negative_gradient(*self._exp_scores)
        self.value, self._factors = self._combine(base, judged)
        a, b = self._factors
        self._set_gradient(a * base_gradient + b * judged_gradient)

    def step_weights(self, hypothesis):
        a, b = self._factors
        base = self._base_loss.step_weights(*self._exp_scores, hypothesis)
        judged = self._judgement_loss.step_weights(*self._exp_scores, hypothesis)
        return a * base[0] + b * judged[0], a * base[1] + b * judged[1]


class ProductObjective(RefinementObjective):
    r"""L_p of Equation 4.10, multiplicative ranking refinement: the product of the two losses.

    The weight of a pair is :math:`\gamma_{ij} = a_{ij} + b_{ij}`, its terms in the two losses,
    divided by the losses (4.11, 4.12). The :math:`a_{ij}` sum to 1, and so do the :math:`b_{ij}`,
    so that no weight between the losses is needed. The bound of `_objectives.py` holds for the
    logarithm. With the step weights :math:`\mu = c` and :math:`\nu = w`, it decreases by at least
    :math:`(\sqrt\mu - \sqrt\nu)^2` in a round (Theorem 9). Theorem 10 states a larger decrease,
    :math:`\eta = \mu - \nu`, which does not always hold. A decrease of :math:`\eta^2 / 4` always
    holds, since :math:`\mu + \nu \leq 2`.
    """

    def _combine(self, base, judged):
        return base * judged, (1 / base, 1 / judged)


class SumObjective(RefinementObjective):
    """L_a of Equation 4.9, linear ranking refinement: the weighted sum of the two losses.

    Parameters
    ----------
    base_loss, judgement_loss, queries : object
        As in :class:`RefinementObjective`.
    balance : float
        Weight of the loss of the base ranker, which is called gamma in Equation 4.9.
    """

    def __init__(self, base_loss, judgement_loss, queries, balance):
        super().__init__(base_loss, judgement_loss, queries)
        self._balance = balance

    def _combine(self, base, judged):
        # Only the ratio of the factors matters. They are scaled to at most 1, since weak learners
        # sum squares of the weights, which could overflow.
        largest = max(self._balance, 1.0)
        return self._balance * base + judged, (self._balance / largest, 1 / largest)


# -- Classification of labeled and unlabeled samples.


class AssembleObjective(Objective):
    r"""Loss of ASSEMBLE (Bennett et al. 2002), for several classes as in SAMME.

    .. math:: \sum_i d_i \exp\Bigl(\frac{1}{K} \sum_k F_i^k - F_i^{y_i}\Bigr)

    Here :math:`F_i^k` is the score of sample i for class k of K, :math:`y_i` is its label, and
    :math:`d_i` its initial weight. The label of an unlabeled sample is its pseudo-label, the class
    with the largest score. Since no other label has a smaller loss, a new pseudo-label never
    increases the loss. The weight of a sample is its loss.

    The step of :meth:`Objective.step` is
    :math:`\alpha^* = \log \frac{1 - \epsilon}{\epsilon} + \log(K - 1)` for the weighted error
    :math:`\epsilon`. It minimizes the loss for fixed labels along the hypothesis, and no step
    between 0 and :math:`2 \alpha^*` increases the loss. With two classes, the bound of
    `_objectives.py` is equal to this loss. With more classes, the bound does not hold in general,
    and is not needed.

    Parameters
    ----------
    labels : ndarray of int of shape (n_samples,)
        Classes; -1 for unlabeled samples.
    pseudo_labels : ndarray of int of shape (n_samples,)
        Classes of the unlabeled samples as long as all scores are 0.
    n_classes : int
        K.
    labeled_share : float
        Fraction of the sum of all initial weights that is given to the labeled samples. All labeled
        samples have the same initial weight, and so do all unlabeled samples.
    """

    scale = 0.5

    def __init__(self, labels, pseudo_labels, n_classes, labeled_share):
        self._is_labeled = labels >= 0
        self._true_labels = labels
        self._initial_pseudo_labels = pseudo_labels
        self._n_classes = n_classes
        n_labeled = np.count_nonzero(self._is_labeled)
        n_unlabeled = max(1, len(labels) - n_labeled)
        self._initial_weights = np.where(
            self._is_labeled, labeled_share / n_labeled, (1 - labeled_share) / n_unlabeled
        )

    def set_scores(self, scores):
        pseudo_labels = scores.argmax(axis=1) if scores.any() else self._initial_pseudo_labels
        self.labels = np.where(self._is_labeled, self._true_labels, pseudo_labels)
        margins = scores[np.arange(len(scores)), self.labels] - scores.mean(axis=1)
        self.weights = self._initial_weights * np.exp(np.minimum(-margins, MAX_SCORE_GAP))
        self.value = self.weights.sum()

    def step_weights(self, hypothesis):
        is_correct = hypothesis[np.arange(len(hypothesis)), self.labels]
        correct = (self._n_classes - 1) * (self.weights @ is_correct)
        return correct, self.weights @ (1 - is_correct)


class MCSSBObjective(Objective):
    r"""Equation 2.7 of Valizadegan (2010), for class probabilities b, the softmax of the scores.

    .. math:: \sum_{ij} \frac{S_{ij}}{b_i^\top b_j} + C \sum_{jk} \frac{q_j^k}{b_j^k}

    The second sum is that of Eq. 2.6 with the class affinities :math:`q_j^k`, the similarity of
    sample j to the labeled samples of class k; see `_similarity.py` for other affinities.

    For a hypothesis that assigns sample i to class k, the sample adds

    .. math:: B_i^k = b_i^k \sum_j \frac{S_{ij} b_j^k}{(b_i^\top b_j)^2}
              + \frac{C}{2} \frac{q_i^k}{b_i^k}

    to the correct step weight (Eqs. 2.17 and 2.18) and :math:`A_i^k = b_i^k \sum_l B_i^l` to the
    incorrect one (Eqs. 2.15 and 2.16, with their sums over j taken together). The difference
    :math:`A_i^k - B_i^k` is :math:`\alpha_i^k + C \beta_i^k` of Eq. 2.12, the cost of assigning
    sample i to class k.

    Parameters
    ----------
    similarity : DenseSimilarity or SparseSimilarity
        S, with a row for each training sample.
    class_affinities : ndarray of shape (n_samples, n_classes)
        q.
    labels : ndarray of int of shape (n_samples,)
        Classes, or -1 for unlabeled samples. Labeled samples keep their classes as labels.
    labeled_weight : float
        C.
    trains_labeled : bool, default=True
        Whether weak learners are fitted to labeled samples, too. If False, the weights of labeled
        samples are 0, unless all samples are labeled.

    Attributes
    ----------
    costs : ndarray of shape (n_samples, n_classes)
        Cost of assigning each sample to each class; the sum over the classes is 0.
    trained : ndarray of bool of shape (n_samples,)
        Samples to which weak learners are fitted.
    """

    # The bound of Lemma 2 contains e^(2 alpha).
    scale = 2.0

    def __init__(
        self, similarity, class_affinities, labels, labeled_weight, *, trains_labeled=True
    ):
        self._similarity = similarity
        self._half_affinities = labeled_weight / 2 * class_affinities
        self._true_labels = labels
        self.trained = np.ones(len(labels), dtype=bool)
        if not trains_labeled and (labels < 0).any():
            self.trained = labels < 0

    def set_scores(self, scores):
        scores = scores - scores.max(axis=1, keepdims=True)
        # The reciprocals of probabilities and their squares must be finite.
        probabilities = softmax(np.maximum(scores, -MAX_SCORE_GAP), axis=1)
        by_similarity = probabilities * self._similarity.negative_gradient(probabilities)
        by_labels = self._half_affinities / probabilities
        self.value = by_similarity.sum() + 2 * by_labels.sum()
        self._correct = by_similarity + by_labels
        self._incorrect = probabilities * self._correct.sum(axis=1, keepdims=True)
        self.costs = self._incorrect - self._correct
        self.labels = np.where(self._true_labels < 0, self.costs.argmin(axis=1), self._true_labels)
        # The decrease of the bound if the sample is assigned to its label.
        decreases = -np.take_along_axis(self.costs, self.labels[:, np.newaxis], axis=1)[:, 0]
        self.weights = np.where(self.trained, np.maximum(decreases, 0.0), 0.0)

    def step_weights(self, hypothesis):
        return np.vdot(hypothesis, self._correct), np.vdot(hypothesis, self._incorrect)

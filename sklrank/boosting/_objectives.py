r"""Objectives of pairs of documents that are weighted by their gains.

`_boosting_rounds.py` defines labels, weights, steps and the bound that they satisfy. The objectives
of pairs of documents satisfy a bound for each document, too, in which a hypothesis may be any
number, as the votes of confidence-rated classifiers (Schapire & Singer, 1999). A pair (i, j) of
weight :math:`\gamma_{ij}`, in which i should be ranked first, adds at most

.. math:: \gamma_{ij} (e^{f_j - f_i} - 1)
          \leq \frac{\gamma_{ij}}{2} (e^{2 f_j} - 1) + \frac{\gamma_{ij}}{2} (e^{-2 f_i} - 1)

to the objective at the scores :math:`F + f`. Let :math:`A_i` be the total weight of the pairs in
which document i should be the first one, and :math:`B_i` that of the pairs in which it should be
the second one. The negative gradient is :math:`g_i = A_i - B_i`, and the *hessian*, the second
derivative of the exponential loss, is :math:`m_i = A_i + B_i`. If f has the same value for a set S
of documents (a leaf of a tree), the bound of this set is minimized by

.. math:: \frac{1}{4} \log \frac{\sum_S A_i}{\sum_S B_i} = \frac{1}{2} \tanh^{-1}(x), \quad
          x = \frac{\sum_S g_i}{\sum_S m_i}.

The value x / 2 has the same sign and is nearer to 0, so that the bound, which is convex, decreases
too. Regression trees whose hessians are :math:`m_i` predict x in a leaf. The factor 1/2 is their
`leaf_step`, and no learning rate from 0 to 2 increases the objective.

A loss of :class:`HistGradientBoostingRanker` is a class with an entry in `LOSSES`: it is made from
the gains and the queries, and `set_scores` sets `value`, `negative_gradient` and `hessians`.
"""

from abc import abstractmethod

import numpy as np
from scipy.special import expi

from sklrank._boosting_rounds import MAX_SCORE_GAP, Objective
from sklrank.boosting import _ndcg_pairs
from sklrank.boosting._pair_losses import exp_scores

# Discounts of higher ranks are integrated; there, this changes their sum by less than 1e-12 of it.
N_SUMMED = 2**16


class GainObjective(Objective):
    """Base class of objectives of pairs of documents that are weighted by their gains.

    A query with an ideal DCG of 0, for which NDCG is not defined, is ignored. The gains of the
    other queries are divided by their ideal DCG and by the number of these queries.

    The ideal DCG includes the gains of the `k` best documents, or of all if `k` is None. Weights of
    documents and of queries stand for repetitions: the weight of a pair is the product of those of
    its documents, and the documents of the ideal DCG, the queries and the sums over the documents
    are repeated. (Pairs of copies of a document, whose scores are equal, are left out.)

    Attributes
    ----------
    hessians : ndarray of shape (n_samples,)
        Sum of the weights of the pairs of each document; see above.
    leaf_step : float
        Number by which the values of the leaves of trees are multiplied.
    """

    leaf_step = 0.5

    def __init__(self, gains, target, k=None):
        self._queries = queries = target.queries
        # The loops expect the documents of each query by gain, the largest first.
        self._order = np.lexsort((-gains, queries.codes))
        self._weights = target.weights[self._order]
        ideal = ideal_dcg_of_copies(gains[self._order], self._weights, queries, k)
        total = target.query_weights @ (ideal > 0)
        factors = target.query_weights / (np.where(ideal > 0, ideal, 1.0) * (total or 1.0))
        self._gains = gains[self._order] * np.repeat(factors, queries.sizes)
        self._n_relevant = np.add.reduceat(self._gains > 0, queries.starts[:-1], dtype=np.intp)

    def set_scores(self, scores):
        self._set_exp_scores(scores)
        gradient, hessians = self._evaluate()
        negative_gradient, self.hessians = np.empty((2, len(scores)))
        negative_gradient[self._order], self.hessians[self._order] = gradient, hessians
        self._set_gradient(negative_gradient)

    def _set_exp_scores(self, scores):
        exp_pos, _ = exp_scores(scores, self._queries, MAX_SCORE_GAP)
        self._exp_scores = exp_pos[self._order]

    @abstractmethod
    def _evaluate(self):
        """Return the negative gradient and the hessians at the current scores, in `_order`."""


class NDCGObjective(GainObjective):
    r"""Bound on the expected loss of NDCG, Equation 3.11 of Valizadegan (2010).

    .. math:: \frac{1}{n} \sum_q \frac{1}{Z_q} \sum_i (2^{r_i} - 1) A_i, \quad
              A_i = \sum_{j \ne i} \frac{1}{1 + \exp(F_i - F_j)}

    Here n is the number of queries, q a query, and :math:`Z_q` its ideal DCG. The indices i and j
    are documents of this query, :math:`r_i` is the relevance of document i, and :math:`F_i` its
    score. Document i has the gain :math:`2^{r_i} - 1` and the expected rank :math:`1 + A_i`. The
    NDCG that it loses is at most a multiple of :math:`A_i` (Proposition 1). In the dissertation F
    is twice the score; here it is the score.
    """

    def _evaluate(self):
        negative_gradient, hessians = np.empty((2, len(self._gains)))
        self.value = _ndcg_pairs.loss_and_negative_gradient(
            *self._layout(), negative_gradient, hessians
        )
        return negative_gradient, hessians

    def _layout(self):
        return (
            self._exp_scores,
            self._gains * self._weights,
            self._weights,
            self._queries.starts,
            self._n_relevant,
        )

    def step_weights(self, hypothesis):
        return _ndcg_pairs.step_weights(
            *self._layout(), hypothesis[self._order], *np.empty((2, 3, self._queries.sizes.max()))
        )


class LogisticObjective(GainObjective):
    r"""Logistic loss of pairs of documents, weighted by the differences of their gains.

    .. math:: \frac{1}{n} \sum_q \frac{1}{Z_q} \sum_{G_i > G_j} (G_i - G_j)
              \log(1 + \exp(F_j - F_i))

    The sum is over the pairs of documents of query q in which i has the larger gain, and
    :math:`Z_q` is the ideal DCG of the query. This is the loss of RankNet (Burges et al. 2005),
    weighted as ARP-Loss2 of the LambdaLoss framework (Wang et al. 2018).
    """

    def __init__(self, gains, target, k=None):
        super().__init__(gains, target, k)
        codes, gains = target.queries.codes[self._order], self._gains
        starts = 1 + np.flatnonzero((gains[1:] != gains[:-1]) | (codes[1:] != codes[:-1]))
        bounds = np.concatenate([[0], starts, [len(gains)]]).astype(np.intp)
        # For each document, the index of the first one with a smaller gain.
        self._ends = np.repeat(bounds[1:], np.diff(bounds))

    def _layout(self):
        return (
            self._exp_scores,
            self._gains,
            self._weights,
            self._ends,
            self._queries.starts,
            self._n_relevant,
        )

    def _evaluate(self):
        first, second = np.empty((2, len(self._gains)))
        _ndcg_pairs.logistic_pair_weights(*self._layout(), first, second)
        return first - second, first + second

    @property
    def value(self):
        """The objective at the current scores."""
        return _ndcg_pairs.logistic_loss(*self._layout())

    def value_at(self, scores):
        # Without the gradient.
        self._set_exp_scores(scores)
        return self.value


def ideal_dcg_of_copies(gains, weights, queries, k=None):
    """Return the ideal DCG of each query, in which each document is repeated by its weight.

    The gains are in descending order in each query. A part of a document takes a part of the
    discount of its rank.
    """
    last = np.cumsum(weights)
    first = last - weights
    start = np.repeat(first[queries.starts[:-1]], queries.sizes)
    discounts = sum_of_discounts(last - start, k) - sum_of_discounts(first - start, k)
    return np.add.reduceat(gains * discounts, queries.starts[:-1])


def sum_of_discounts(n_ranks, k=None):
    """Return the sum of 1 / log2(1 + rank) over the first ranks, up to `k`.

    The numbers of ranks `(n,)` need not be integers.
    """
    n_ranks = np.minimum(n_ranks, np.inf if k is None else k)
    size = 1 + int(min(np.ceil(n_ranks.max()), N_SUMMED))
    sums = np.concatenate([[0.0], np.cumsum(1 / np.log2(1 + np.arange(1.0, size)))])
    total = np.interp(n_ranks, np.arange(size), sums)
    far = n_ranks > N_SUMMED
    if far.any():
        # The midpoint rule: the integral is a logarithmic integral.
        bounds = expi(np.log(np.array([N_SUMMED + 1.5, *(n_ranks[far] + 1.5)])))
        total[far] += np.log(2) * (bounds[1:] - bounds[0])
    return total


LOSSES = {"logistic": LogisticObjective, "expected-ndcg": NDCGObjective}

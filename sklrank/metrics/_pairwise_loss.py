"""Losses that are sums over pairs of a relevant and an irrelevant label.

Let `Y` be the set of the relevant labels of a sample, let `s` be its scores, and let `c` be the
cost of a pair. Each loss has the form ::

    L(Y, s) = w_Y * sum over l in Y and r not in Y of c(s[l], s[r])

The docstring of each public function states `c`. A private function, such as `_rank_sums`, computes
the sum over pairs. The function :func:`_evaluate` multiplies it by `w_Y` and averages over samples.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import ArrayLike

from sklrank._checks import check_relevance_and_scores, check_row_labels, look_up
from sklrank._estimators import shares_text
from sklrank.metrics._averaging import evaluate_samples, samples_per_block
from sklrank.metrics._scorers import LabelScorer

__all__ = [
    "hinge_rank_loss",
    "hinge_rank_loss_scorer",
    "logistic_rank_loss",
    "logistic_rank_loss_scorer",
    "rank_loss",
    "rank_loss_scorer",
]

# Differences of finite scores, and their sums over pairs, may exceed the largest float even if the
# loss does not. They are therefore computed in this unit; division by a power of two is exact.
_UNIT = 2.0**64
# Cost of a pair of equal scores.
_TIES = {"half": 0.5, "full": 1.0}


of_pairs = shares_text(
    labels_and_scores="""
Parameters
----------
y_true : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
    Relevant labels as a 0/1 indicator matrix, or one class label for each sample, which is its
    only relevant label.
y_score : array-like of float, shape (n_samples, n_labels) or (n_samples,)
    Scores. Labels with higher scores are ranked first. For two classes, a 1-d array contains
    the scores of the second class; the first class has score 0.
""",
    with_normalize="""
{labels_and_scores}
normalize : bool, default=True
    Whether to divide the loss of a sample by its number of pairs. If False, :math:`w_Y = 1`.
{ending}
""",
    ending="""
average : bool, default=True
    If True, return the mean over samples; otherwise return the loss of each sample.
labels : array-like of shape (n_labels,), default=None
    Class of each column of `y_score`, such as `classes_` of an estimator. It is only used for
    1-d `y_true`. If None, the sorted distinct classes of `y_true` are used.
sample_weight : array-like of float, shape (n_samples,), default=None
    Weights of the samples in the mean.

Returns
-------
loss : float or ndarray of float64, shape (n_samples,)
    Mean loss, or the loss of each sample if `average` is False.
""",
    paper="""
References
----------
.. [1] Y. H. Jung and A. Tewari. "Online Boosting Algorithms for Multi-label Ranking."
   AISTATS 2018.
""",
)


@of_pairs
def rank_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    normalize: bool = True,
    ties: str = "half",
    average: bool = True,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute the rank loss: the fraction of pairs of labels in the wrong order.

    Let :math:`Y` be the set of relevant labels and :math:`s` the scores of a sample. The loss of
    the sample is ([1]_, section 3.1)

    .. math::

        L(Y, s) = w_Y \sum_{l \in Y} \sum_{r \notin Y}
            1[s_l < s_r] + \tfrac{1}{2} 1[s_l = s_r],
        \qquad w_Y = \frac{1}{|Y| |Y^c|}.

    The loss is 0 if all relevant labels have higher scores than the others, 1 in the opposite case,
    and 1/2 on average for random scores. If there are no pairs, it is 0.

    {labels_and_scores}
    normalize : bool, default=True
        Whether to divide the loss of a sample by its number of pairs. If False, :math:`w_Y = 1`, as
        in the unweighted loss of [2]_.
    ties : {"half", "full"}, default="half"
        Cost of a pair with equal scores: 1/2 ("half", as in [1]_) or 1 ("full", as in [2]_).
    {ending}

    See Also
    --------
    hinge_rank_loss : Convex surrogate loss with a margin.
    logistic_rank_loss : Smooth convex surrogate loss.
    sklearn.metrics.label_ranking_loss : Rank loss for indicator matrices, in which ties cost 1.

    {paper}
    .. [2] V. Raman, D. Zhang, Y. H. Jung and A. Tewari. "Online Boosting for Multilabel Ranking
       with Top-k Feedback." arXiv:1910.10937, 2020.

    Examples
    --------
    >>> from sklrank.metrics import rank_loss
    >>> y_true = [[1, 0, 0], [1, 1, 0]]
    >>> y_score = [[0.2, 0.9, 0.1], [0.5, 0.3, 0.3]]
    >>> rank_loss(y_true, y_score)
    0.375
    >>> rank_loss(y_true, y_score, ties="full", average=False)
    array([0.5, 0.5])
    >>> rank_loss(["b", "a"], [[0.1, 0.7], [0.4, 0.6]])
    0.5
    """
    pair_sums = partial(_rank_sums, tie=look_up("ties", _TIES, ties))
    # Only the order of the scores matters, which tiny scores would lose in another unit.
    return _evaluate(
        pair_sums, y_true, y_score, normalize, average, labels, sample_weight, unit=1.0
    )


@of_pairs
def hinge_rank_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    normalize: bool = True,
    average: bool = True,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute the hinge rank loss: the mean hinge loss of the pairs of labels.

    Let :math:`Y` be the set of relevant labels and :math:`s` the scores of a sample. The loss of
    the sample is ([1]_)

    .. math:: L(Y, s) = w_Y \sum_{l \in Y} \sum_{r \notin Y} (1 + s_r - s_l)_+,
              \qquad w_Y = \frac{1}{|Y| |Y^c|}.

    It is an upper bound of the rank loss. If there are no pairs, the loss is 0.

    {with_normalize}

    See Also
    --------
    rank_loss : Fraction of pairs in the wrong order, of which this loss is an upper bound.
    logistic_rank_loss : Smooth convex surrogate loss.

    {paper}

    Examples
    --------
    >>> from sklrank.metrics import hinge_rank_loss
    >>> hinge_rank_loss([[1, 0, 0]], [[2.0, 1.5, 0.0]])
    0.25
    >>> hinge_rank_loss([[1, 0, 0]], [[2.0, 1.5, 0.0]], normalize=False)
    0.5
    """
    return _evaluate(_hinge_sums, y_true, y_score, normalize, average, labels, sample_weight)


@of_pairs
def logistic_rank_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    normalize: bool = True,
    average: bool = True,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute the logistic rank loss: the mean logistic loss of the pairs of labels.

    Let :math:`Y` be the set of relevant labels and :math:`s` the scores of a sample. The loss of
    the sample is ([1]_)

    .. math:: L(Y, s) = w_Y \sum_{l \in Y} \sum_{r \notin Y} \log(1 + \exp(s_r - s_l)),
              \qquad w_Y = \frac{1}{|Y| |Y^c|}.

    If there are no pairs, the loss is 0.

    {with_normalize}

    See Also
    --------
    rank_loss : Fraction of pairs in the wrong order.
    hinge_rank_loss : Convex surrogate loss with a margin.

    {paper}

    Examples
    --------
    >>> from sklrank.metrics import logistic_rank_loss
    >>> round(logistic_rank_loss([[1, 0, 0]], [[2.0, 1.5, 0.0]]), 4)
    0.3005
    >>> logistic_rank_loss([[1, 0]], [[0.0, 1000.0]])
    1000.0
    """
    return _evaluate(_logistic_sums, y_true, y_score, normalize, average, labels, sample_weight)


rank_loss_scorer = LabelScorer(rank_loss)
hinge_rank_loss_scorer = LabelScorer(hinge_rank_loss)
logistic_rank_loss_scorer = LabelScorer(logistic_rank_loss)


def _evaluate(pair_sums, y_true, y_score, normalize, average, labels, sample_weight, unit=_UNIT):
    """Check the arguments, and return the loss of each sample or the mean loss.

    The function `pair_sums(relevant, scores)` computes the sum over pairs of each sample. Scores
    and sums are in the given unit.
    """
    check_row_labels({"y_true": y_true, "sample_weight": sample_weight})
    relevant, scores = check_relevance_and_scores(y_true, y_score, labels)

    def losses_of(block):
        losses = pair_sums(relevant[block], np.divide(scores[block], unit, dtype=np.float64))
        if normalize:
            n_relevant = relevant[block].sum(axis=1)
            # The sum of a sample without pairs is 0.
            losses = losses / np.maximum(n_relevant * (relevant.shape[1] - n_relevant), 1)
        with np.errstate(over="ignore"):
            return losses * unit

    return evaluate_samples(losses_of, relevant.shape, average=average, sample_weight=sample_weight)


# The sums over pairs. Each function takes `relevant` (bool) and `scores` (float64), both of shape
# (n_samples, n_labels), and returns the sums, of shape (n_samples,). It may overwrite `scores`.
# The samples are passed in blocks, because temporary arrays are as large as the arguments.


def _rank_sums(relevant, scores, tie):
    """Return the number of pairs in the wrong order, plus `tie` times the number of tied pairs."""
    order = np.argsort(scores, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    relevant = np.take_along_axis(relevant, order, axis=1)
    # The running maximum copies a count from the first label of a group of equal scores to all
    # labels of the group.
    first = np.ones_like(relevant)
    first[:, 1:] = scores[:, 1:] != scores[:, :-1]
    position = np.arange(scores.shape[1])
    lower = np.maximum.accumulate(np.where(first, position, 0), axis=1)
    n_relevant_before = np.cumsum(relevant, axis=1) - relevant
    lower_relevant = np.maximum.accumulate(np.where(first, n_relevant_before, 0), axis=1)
    wrong = np.sum(lower_relevant * ~relevant, axis=1)
    right = np.sum((lower - lower_relevant) * relevant, axis=1)
    n_relevant = relevant.sum(axis=1)
    tied = n_relevant * (relevant.shape[1] - n_relevant) - wrong - right
    return wrong + tie * tied


def _hinge_sums(relevant, scores):
    """Return the sum of ``(1 + s[r] - s[l])_+`` over pairs, for scores in units of `_UNIT`.

    If 1 is subtracted from the scores of the relevant labels, the cost of a pair is ``s[r] - s[l]``
    if it is positive, the sum of the gaps between neighboring sorted scores in between. So each gap
    is multiplied by the numbers of relevant labels below it and of irrelevant labels above it: no
    term is negative, and there is no cancellation.
    """
    scores -= relevant / _UNIT
    order = np.argsort(scores, axis=1)
    gaps = np.diff(np.take_along_axis(scores, order, axis=1), axis=1)
    relevant = np.take_along_axis(relevant, order, axis=1)
    relevant_below = np.cumsum(relevant, axis=1)[:, :-1]
    irrelevant_above = np.cumsum(~relevant[:, ::-1], axis=1)[:, -2::-1]
    return np.sum(gaps * relevant_below * irrelevant_above, axis=1)


def _logistic_sums(relevant, scores):
    """Return the sum of ``log(1 + exp(s[r] - s[l]))`` over pairs, for scores in units of `_UNIT`.

    The sums are computed one relevant label at a time, and for many pairs by `_logistic_sum`.
    """
    n_samples, n_labels = relevant.shape
    n_relevant = relevant.sum(axis=1)
    few = n_relevant * n_labels <= _MANY_COSTS
    sums = np.zeros(n_samples)
    for i in np.flatnonzero(~few & (n_relevant < n_labels)):
        sums[i] = _logistic_sum(np.sort(scores[i, ~relevant[i]]), np.sort(scores[i, relevant[i]]))
    sample, label = np.nonzero(relevant & few[:, None])
    step = samples_per_block(n_labels)
    for start in range(0, len(sample), step):
        i, j = sample[start : start + step], label[start : start + step]
        differences = scores[i] - scores[i, j, None]
        with np.errstate(over="ignore"):
            costs = np.logaddexp(0, differences * _UNIT) / _UNIT
        # The cost of a large difference is the difference itself.
        np.copyto(costs, differences, where=np.isposinf(costs))
        costs[relevant[i]] = 0
        sums += np.bincount(i, weights=costs.sum(axis=1), minlength=n_samples)
    return sums


# Number of relevant labels times that of labels above which `_logistic_sum` takes less time.
_MANY_COSTS = 50_000
# The cost of a pair is an analytic function of each score up to a distance of pi from the real
# axis. So the error of interpolation at n Chebyshev nodes of an interval of length 1 is about
# 12.6^-n, where 12.6 is 2 pi + sqrt(4 pi^2 + 1), relative to the cost.
_N_NODES = 15
_NODES = np.cos(np.pi * (np.arange(_N_NODES) + 0.5) / _N_NODES)
# Weights of the nodes for the sums of Chebyshev polynomials over scores.
_NODE_WEIGHTS = chebvander(_NODES, _N_NODES - 1).T * np.append(1, [2] * (_N_NODES - 1))[:, None]
_NODE_WEIGHTS /= _N_NODES
# From this difference of scores on, the cost is the difference, since exp(-38) is 3e-17.
_LINEAR = 38
# A cost is negligible if its difference is by 80 smaller than that of another one and below -80,
# since exp(-80) is 2e-35, or if it underflows.
_NEGLIGIBLE, _ZERO = 80, -746


def _logistic_sum(irrelevant, relevant):
    """Return the sum of `_logistic_sums` for the sorted scores of one sample.

    The time is that of sorting, since at most 15 nodes represent the scores of an interval.
    """
    n_linear = np.searchsorted(np.floor(relevant * _UNIT), np.floor(irrelevant * _UNIT) - _LINEAR)
    # The sum of the differences between a score and all lower ones, which has no cancellation.
    sums = np.cumsum(np.arange(len(relevant)) * np.diff(relevant, prepend=relevant[0]))
    linear = sums[n_linear - 1] + n_linear * (irrelevant - relevant[n_linear - 1])
    total = np.sum(linear, where=n_linear > 0)
    nodes, others = _nodes_of(irrelevant * _UNIT), _nodes_of(relevant * _UNIT)
    intervals, starts = np.unique(nodes[0], return_index=True)
    largest = min(0.0, float(irrelevant[-1] - relevant[0]) * _UNIT)
    bounds = _LINEAR, max(_ZERO, largest - _NEGLIGIBLE)
    first, last = (np.searchsorted(others[0], intervals - bound) for bound in bounds)
    for interval, i, j, (_, places, weights) in zip(
        intervals, first, last, zip(*(np.split(each, starts[1:]) for each in nodes))
    ):
        of_others, other_places, other_weights = (each[i:j] for each in others)
        differences = (interval - of_others) + (places[:, None] - other_places)
        total += weights @ np.logaddexp(0, differences) @ other_weights / _UNIT
    return total


def _nodes_of(scores):
    """Return intervals of length 1, places in them and weights of nodes, for sorted scores.

    Sums over the nodes are those over the scores. In an interval with few scores, they are nodes.
    """
    intervals = np.floor(scores)
    places = scores - intervals
    starts = np.flatnonzero(np.append(True, intervals[1:] != intervals[:-1]))
    counts = np.diff(starts, append=len(scores))
    dense = counts > _N_NODES
    sums = np.add.reduceat(chebvander(2 * places - 1, _N_NODES - 1), starts)[dense]
    few = np.repeat(~dense, counts)
    nodes = (
        np.append(intervals[few], np.repeat(intervals[starts][dense], _N_NODES)),
        np.append(places[few], np.tile((_NODES + 1) / 2, len(sums))),
        np.append(np.ones(few.sum()), sums @ _NODE_WEIGHTS),
    )
    order = np.argsort(nodes[0], kind="stable")
    return [each[order] for each in nodes]

"""Precision of ranked labels that accounts for labels missing from the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklrank._checks import (
    as_relevant,
    check_finite,
    check_k,
    check_relevance_and_scores,
    is_number,
)
from sklrank.metrics._averaging import check_weight, weighted_mean
from sklrank.metrics._pairwise_loss import of_pairs
from sklrank.metrics._scorers import LabelScorer

__all__ = [
    "label_propensities",
    "propensity_scored_precision_at_k_score",
    "propensity_scored_precision_at_k_scorer",
]


def label_propensities(y: ArrayLike, *, a: float = 0.55, b: float = 1.5) -> np.ndarray:
    r"""Estimate the probability that a relevant label is recorded, from its frequency.

    If label :math:`l` occurs in :math:`N_l` of :math:`N` samples, the propensity is ([1]_)

    .. math::

        p_l = \frac{1}{1 + C (N_l + b)^{-a}}, \qquad C = (\log N - 1) (b + 1)^a.

    For fewer than three samples, where :math:`C` would be negative, it is 0.

    Parameters
    ----------
    y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        0/1 indicator matrix of the relevant labels.
    a, b : float, default=0.55 and 1.5
        Parameters of the model. [1]_ uses 0.5 and 0.4 for Wikipedia, and 0.6 and 2.6 for Amazon.

    Returns
    -------
    ndarray of float64, shape (n_labels,)
        Propensities, in (0, 1].

    References
    ----------
    .. [1] H. Jain, Y. Prabhu and M. Varma. "Extreme Multi-label Loss Functions for Recommendation,
       Tagging, Ranking & Other Missing Label Applications." KDD 2016.

    Examples
    --------
    >>> from sklrank.metrics import label_propensities
    >>> label_propensities([[1, 0], [1, 0], [1, 1], [1, 0]]).round(2)
    array([0.8 , 0.72])
    """
    y = y if hasattr(y, "tocsr") else np.asarray(y)
    if y.ndim != 2 or not y.shape[0]:
        raise ValueError(
            f"y must be a 0/1 indicator matrix with at least one sample, got shape {y.shape}."
        )
    for name, value in (("a", a), ("b", b)):
        if not (is_number(value) and 0 < value < np.inf):
            raise ValueError(f"{name} must be a positive number, got {value!r}")
    scale = max(np.log(y.shape[0]) - 1.0, 0.0) * (b + 1.0) ** a
    return 1.0 / (1.0 + scale * (as_relevant(y).sum(axis=0) + b) ** -a)


@of_pairs
def propensity_scored_precision_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int = 5,
    propensities: ArrayLike | None = None,
    average: bool = True,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute PSP@k: the precision at k, where rare relevant labels have larger weights.

    Let :math:`l_1, \dots, l_k` be the labels of the largest scores (the first columns among equal
    ones), :math:`y_l` the relevance and :math:`p_l` the propensities. Then ([1]_)

    .. math:: \mathrm{PSP@}k = \frac{1}{k} \sum_{i=1}^k \frac{y_{l_i}}{p_{l_i}}.

    The sum over samples is divided by that of the best ranking, as in the tables of [1]_.

    {labels_and_scores}
    k : int, default=5
        Number of labels.
    propensities : array-like of shape (n_labels,), default=None
        Propensities, such as those by :func:`label_propensities` of the training data. If None,
        those of `y_true`.
    average : bool, default=True
        If True, return the value of all samples; otherwise the values of the samples, which are not
        divided by those of the best ranking.
    labels : array-like of shape (n_labels,), default=None
        Class of each column of `y_score`, only for 1-d `y_true`.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples in the sums.

    Returns
    -------
    float or ndarray of float64, shape (n_samples,)
        PSP@k, or the value of each sample if `average` is False.

    See Also
    --------
    precision_at_k_score : The same with equal weights.

    References
    ----------
    .. [1] H. Jain, Y. Prabhu and M. Varma. "Extreme Multi-label Loss Functions for Recommendation,
       Tagging, Ranking & Other Missing Label Applications." KDD 2016.

    Examples
    --------
    >>> from sklrank.metrics import propensity_scored_precision_at_k_score
    >>> y_true, y_score = [[1, 0, 0], [0, 1, 1]], [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]]
    >>> propensity_scored_precision_at_k_score(
    ...     y_true, y_score, k=2, propensities=[1.0, 0.5, 0.5], average=False
    ... )
    array([0.5, 2. ])
    """
    relevant, scores = check_relevance_and_scores(y_true, y_score, labels)
    k = check_k(k, relevant.shape[1])
    if propensities is None:
        propensities = label_propensities(relevant)
    remedy = "estimate them by label_propensities"
    propensities = check_finite(propensities, "propensities", "numbers", remedy)
    if propensities.shape != relevant.shape[1:] or not np.all(
        (propensities > 0.0) & (propensities <= 1.0)
    ):
        raise ValueError(
            f"propensities must be {relevant.shape[1]} numbers in (0, 1], one for each label: "
            f"{remedy}."
        )
    weight = check_weight(sample_weight, len(relevant), average)
    gains = relevant / propensities
    first = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    values = np.take_along_axis(gains, first, axis=1).sum(axis=1) / k
    if not average:
        return values
    best = weighted_mean(-np.sort(-gains, axis=1)[:, :k].sum(axis=1) / k, weight)
    return weighted_mean(values, weight) / best if best > 0.0 else 0.0


propensity_scored_precision_at_k_scorer = LabelScorer(propensity_scored_precision_at_k_score)

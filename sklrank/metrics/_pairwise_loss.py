"""Losses that compare each relevant label with each irrelevant one.

With `Y` the relevant labels of a row, `s` its scores and `c` what a pair costs, all of them are ::

    L(Y, s) = w_Y * sum over l in Y and r not in Y of c(s[l], s[r])

A public function here states `c` and the choices around it, :func:`_evaluate` weighs and averages
the rows, and ``_pair_sums.py`` sums over pairs.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from sklrank.metrics._conventions import look_up
from sklrank.metrics._labels_and_scores import check_relevance_and_scores
from sklrank.metrics._pair_sums import hinge_sums, logistic_sums, rank_sums
from sklrank.metrics._rows import evaluate_rows

# What a pair of equal scores counts.
_TIES = {"half": 0.5, "full": 1.0}


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
    r"""Rank loss: the pairs of a relevant and an irrelevant label that are in the wrong order.

    For the relevant labels :math:`Y` of a row and its scores :math:`s` ([1]_, section 3.1):

    .. math::

        L(Y, s) = w_Y \sum_{l \in Y} \sum_{r \notin Y}
            1[s_l < s_r] + \tfrac{1}{2} 1[s_l = s_r],
        \qquad w_Y = \frac{1}{|Y| |Y^c|}

    It is 0 when all relevant labels stand above the others, 1 in the opposite case and 1/2 on
    average for random scores. A row without pairs (no label relevant, or all of them) has loss 0.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
        The relevant labels as a 0/1 indicator; or one class label per row, which then is the one
        relevant label.
    y_score : array-like of float, shape (n_samples, n_labels) or (n_samples,)
        Scores, higher = ranked earlier. For two classes, a 1-d array is the score of the second
        one, against 0 for the first.
    normalize : bool, default=True
        Whether a row's loss is divided by its number of pairs. False takes :math:`w_Y = 1`,
        the unweighted loss of [2]_.
    ties : {"half", "full"}, default="half"
        Whether a pair of equal scores counts for half a pair ([1]_) or in full ([2]_).
    average : bool, default=True
        Whether to return the mean over rows, or each row's loss.
    labels : array-like of shape (n_labels,), default=None
        The class of each column of `y_score`, for 1-d `y_true` only (`classes_` of an estimator).
        None takes the sorted distinct classes of `y_true`.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows in the mean.

    Returns
    -------
    loss : float or ndarray of float64, shape (n_samples,)
        The mean loss, or the loss of each row if `average` is False.

    Raises
    ------
    ValueError
        If `y_score` is not finite, if shapes differ, if `labels` does not fit the columns of
        `y_score` or the classes of `y_true`, if a 2-d `y_true` is not 0/1, or if `ties` is unknown.

    See Also
    --------
    hinge_rank_loss : Convex surrogate, with a margin.
    logistic_rank_loss : Smooth surrogate.
    sklearn.metrics.label_ranking_loss : Counts ties in full, for indicators only.

    References
    ----------
    .. [1] Y. H. Jung and A. Tewari. "Online Boosting Algorithms for Multi-label Ranking."
       AISTATS 2018.
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
    return _evaluate(
        partial(rank_sums, tie=look_up("ties", _TIES, ties)),
        y_true,
        y_score,
        normalize=normalize,
        average=average,
        labels=labels,
        sample_weight=sample_weight,
    )


def hinge_rank_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    normalize: bool = True,
    average: bool = True,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Hinge rank loss: by how much pairs of labels miss a margin of 1.

    For the relevant labels :math:`Y` of a row and its scores :math:`s` ([1]_):

    .. math::

        L(Y, s) = w_Y \sum_{l \in Y} \sum_{r \notin Y} (1 + s_r - s_l)_+,
        \qquad w_Y = \frac{1}{|Y| |Y^c|}

    It bounds the rank loss from above. A row without pairs has loss 0.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
        The relevant labels as a 0/1 indicator; or one class label per row, which then is the one
        relevant label.
    y_score : array-like of float, shape (n_samples, n_labels) or (n_samples,)
        Scores, higher = ranked earlier. For two classes, a 1-d array is the score of the second
        one, against 0 for the first.
    normalize : bool, default=True
        Whether a row's loss is divided by its number of pairs. False takes :math:`w_Y = 1`.
    average : bool, default=True
        Whether to return the mean over rows, or each row's loss.
    labels : array-like of shape (n_labels,), default=None
        The class of each column of `y_score`, for 1-d `y_true` only (`classes_` of an estimator).
        None takes the sorted distinct classes of `y_true`.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows in the mean.

    Returns
    -------
    loss : float or ndarray of float64, shape (n_samples,)
        The mean loss, or the loss of each row if `average` is False.

    Raises
    ------
    ValueError
        If `y_score` is not finite, if shapes differ, if `labels` does not fit the columns of
        `y_score` or the classes of `y_true`, or if a 2-d `y_true` is not 0/1.

    See Also
    --------
    rank_loss : What this loss bounds.
    logistic_rank_loss : Smooth surrogate.

    References
    ----------
    .. [1] Y. H. Jung and A. Tewari. "Online Boosting Algorithms for Multi-label Ranking."
       AISTATS 2018.

    Examples
    --------
    >>> from sklrank.metrics import hinge_rank_loss
    >>> hinge_rank_loss([[1, 0, 0]], [[2.0, 1.5, 0.0]])
    0.25
    >>> hinge_rank_loss([[1, 0, 0]], [[2.0, 1.5, 0.0]], normalize=False)
    0.5
    """
    return _evaluate(
        hinge_sums,
        y_true,
        y_score,
        normalize=normalize,
        average=average,
        labels=labels,
        sample_weight=sample_weight,
    )


def logistic_rank_loss(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    normalize: bool = True,
    average: bool = True,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Logistic rank loss: the smooth cost of pairs of labels.

    For the relevant labels :math:`Y` of a row and its scores :math:`s` ([1]_):

    .. math::

        L(Y, s) = w_Y \sum_{l \in Y} \sum_{r \notin Y} \log(1 + \exp(s_r - s_l)),
        \qquad w_Y = \frac{1}{|Y| |Y^c|}

    A row without pairs has loss 0. Unlike the other losses, the cost of a row grows with its
    number of pairs: `n_labels` times the smaller of :math:`|Y|` and :math:`|Y^c|`.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
        The relevant labels as a 0/1 indicator; or one class label per row, which then is the one
        relevant label.
    y_score : array-like of float, shape (n_samples, n_labels) or (n_samples,)
        Scores, higher = ranked earlier. For two classes, a 1-d array is the score of the second
        one, against 0 for the first.
    normalize : bool, default=True
        Whether a row's loss is divided by its number of pairs. False takes :math:`w_Y = 1`.
    average : bool, default=True
        Whether to return the mean over rows, or each row's loss.
    labels : array-like of shape (n_labels,), default=None
        The class of each column of `y_score`, for 1-d `y_true` only (`classes_` of an estimator).
        None takes the sorted distinct classes of `y_true`.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the rows in the mean.

    Returns
    -------
    loss : float or ndarray of float64, shape (n_samples,)
        The mean loss, or the loss of each row if `average` is False.

    Raises
    ------
    ValueError
        If `y_score` is not finite, if shapes differ, if `labels` does not fit the columns of
        `y_score` or the classes of `y_true`, or if a 2-d `y_true` is not 0/1.

    See Also
    --------
    rank_loss : The count of pairs in the wrong order.
    hinge_rank_loss : Surrogate with a margin.

    References
    ----------
    .. [1] Y. H. Jung and A. Tewari. "Online Boosting Algorithms for Multi-label Ranking."
       AISTATS 2018.

    Examples
    --------
    >>> from sklrank.metrics import logistic_rank_loss
    >>> round(logistic_rank_loss([[1, 0, 0]], [[2.0, 1.5, 0.0]]), 4)
    0.3005
    >>> logistic_rank_loss([[1, 0]], [[0.0, 1000.0]])
    1000.0
    """
    return _evaluate(
        logistic_sums,
        y_true,
        y_score,
        normalize=normalize,
        average=average,
        labels=labels,
        sample_weight=sample_weight,
    )


PAIRWISE_LOSSES = {
    "rank_loss": rank_loss,
    "hinge_rank_loss": hinge_rank_loss,
    "logistic_rank_loss": logistic_rank_loss,
}


def _evaluate(pair_sums, y_true, y_score, *, normalize, average, labels, sample_weight):
    """Take `pair_sums(relevant, scores)` of the rows, weigh them and average."""
    relevant, scores = check_relevance_and_scores(y_true, y_score, labels)

    def losses_of(rows):
        # A copy of the scores, for the sums to work in.
        losses = pair_sums(relevant[rows], scores[rows].astype(np.float64))
        if not normalize:
            return losses
        n_relevant = relevant[rows].sum(axis=1)
        # A row without pairs sums to 0 and stays so.
        return losses / np.maximum(n_relevant * (relevant.shape[1] - n_relevant), 1)

    return evaluate_rows(losses_of, relevant.shape, average=average, sample_weight=sample_weight)

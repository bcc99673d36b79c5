"""Brier score of the probabilities that one label is ranked before another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklrank._rankings import check_positions
from sklrank.metrics._averaging import evaluate_samples

# Tolerance for the sum of two probabilities, which may have been rounded to half precision.
MAX_ERROR_OF_SUM = 1e-3


def pair_brier_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    r"""Compute the Brier score of probabilities that one label is ranked before another.

    Let :math:`p_{ab}` be the predicted probability that label a is ranked before label b. The score
    of a sample is the mean of :math:`(p_{ab} - 1[\sigma_a < \sigma_b])^2` over the pairs of labels
    that its ranking orders. It is from 0 to 1, smaller is better, and 1/4 for probabilities of 1/2.
    Pairs that are tied, or whose labels are not both ranked, are ignored; the score of a sample
    without other pairs is 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        True positions of the labels. NaN marks a label that is not ranked.
    y_proba : array-like of shape (n_samples, n_labels, n_labels)
        Entry ``[i, a, b]`` is the probability that label a is ranked before label b, such as the
        result of `predict_pair_proba`. Only the entries of ordered pairs are used, and
        ``[i, b, a]`` must be one minus ``[i, a, b]``.
    average : bool, default=True
        If True, return the mean over samples; otherwise return the score of each sample.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples in the mean.

    Returns
    -------
    score : float or ndarray of float64, shape (n_samples,)
        Mean score, or the score of each sample if `average` is False.

    Raises
    ------
    ValueError
        If the shapes do not match, if an entry of `y_proba` is not from 0 to 1, or if the two
        probabilities of an ordered pair do not add up to 1.

    See Also
    --------
    kendall_tau_score : Agreement of two rankings.

    References
    ----------
    .. [1] G. W. Brier. "Verification of Forecasts Expressed in Terms of Probability."
       Monthly Weather Review, 1950.

    Examples
    --------
    >>> from sklrank.metrics import pair_brier_score
    >>> print(f"{pair_brier_score([[1, 2]], [[[0.5, 0.8], [0.2, 0.5]]]):.3f}")
    0.040
    """
    y_true, y_proba = check_pair_proba(y_true, y_proba)

    def scores(block):
        positions = y_true[block]
        before = positions[:, :, np.newaxis] < positions[:, np.newaxis, :]
        squares = np.where(before, (1.0 - y_proba[block]) ** 2, 0.0)
        return squares.sum(axis=(1, 2)) / np.maximum(before.sum(axis=(1, 2)), 1)

    return evaluate_samples(scores, y_true.shape, average=average, sample_weight=sample_weight)


def check_pair_proba(y_true, y_proba):
    """Check positions and probabilities of pairs of labels, and return them as float64 arrays."""
    y_true = check_positions(y_true, "y_true")
    y_proba = np.asarray(y_proba, dtype=np.float64)
    expected = (*y_true.shape, y_true.shape[1])
    if y_proba.shape != expected:
        raise ValueError(
            "y_proba must have the shape (n_samples, n_labels, n_labels), here "
            f"{expected}; got {y_proba.shape}"
        )
    if not ((y_proba >= 0.0) & (y_proba <= 1.0)).all():
        raise ValueError("y_proba must hold probabilities from 0 to 1")
    ordered = y_true[:, :, np.newaxis] < y_true[:, np.newaxis, :]
    sums = y_proba + y_proba.transpose(0, 2, 1)
    bad = np.argwhere(ordered & (np.abs(sums - 1.0) > MAX_ERROR_OF_SUM))
    if len(bad):
        i, a, b = bad[0].tolist()
        raise ValueError(
            f"y_proba[i, b, a] must be one minus y_proba[i, a, b], but the sum is "
            f"{sums[i, a, b]:g} for the sample {i} and the labels {a} and {b}"
        )
    return y_true, y_proba

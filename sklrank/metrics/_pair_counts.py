"""Counts of the pairs of labels on which two rankings agree or disagree."""

from typing import NamedTuple

import numpy as np


class PairCounts(NamedTuple):
    """Numbers of the pairs of labels that are ranked in both rankings, by kind.

    Each field is an array of shape `(n_samples,)`. The sum of the fields is the number of pairs.
    """

    concordant: np.ndarray
    discordant: np.ndarray
    tied_true: np.ndarray
    """Number of pairs that are tied only in the true ranking."""
    tied_pred: np.ndarray
    """Number of pairs that are tied only in the predicted ranking."""
    tied_both: np.ndarray


def ranked_in_both(true, pred):
    """Set the positions of labels that are missing in one of two rankings to infinity in both.

    Parameters
    ----------
    true, pred : ndarray of float64, shape (n_samples, n_labels)
        Checked positions.

    Returns
    -------
    true, pred : ndarray of float64, shape (n_samples, n_labels)
        Positions of the labels that are ranked in both rankings, and infinity for other labels.
    n_ranked : ndarray of int, shape (n_samples,)
        Number of labels that are ranked in both rankings.
    """
    ranked = ~(np.isnan(true) | np.isnan(pred))
    return np.where(ranked, true, np.inf), np.where(ranked, pred, np.inf), ranked.sum(axis=1)


def count_pairs(true, pred):
    """Count the concordant, discordant and tied pairs of labels of each sample.

    Let the labels be sorted by true position, and labels with equal true positions by predicted
    position. Then a pair is discordant if and only if the predicted position of its first label is
    larger than the predicted position of its second label.

    Parameters
    ----------
    true, pred : ndarray of float64, shape (n_samples, n_labels)
        Positions of the labels. Labels with smaller positions are better, and NaN marks a label
        that is not ranked.

    Returns
    -------
    PairCounts
        Numbers of pairs of each kind, arrays of shape (n_samples,).
    """
    true, pred, n_ranked = ranked_in_both(true, pred)
    order = np.lexsort((pred, true), axis=1)
    true = np.take_along_axis(true, order, axis=1)
    pred = np.take_along_axis(pred, order, axis=1)
    tied_both = _tied_pairs(n_ranked, true, pred)
    tied_true = _tied_pairs(n_ranked, true) - tied_both
    discordant = _decreasing_pairs(pred)
    pred.sort(axis=1)
    tied_pred = _tied_pairs(n_ranked, pred) - tied_both
    n_pairs = n_ranked * (n_ranked - 1) // 2
    concordant = n_pairs - discordant - tied_true - tied_pred - tied_both
    return PairCounts(concordant, discordant, tied_true, tied_pred, tied_both)


def _tied_pairs(n_ranked, *arrays):
    """Count the pairs of entries of each row that are equal in all arrays.

    Only the first `n_ranked` entries of each row are considered. Equal entries must be adjacent.
    """
    index = np.arange(arrays[0].shape[1])
    new = np.zeros(arrays[0].shape, dtype=bool)
    for values in arrays:
        new[:, 1:] |= values[:, 1:] != values[:, :-1]
    first = np.maximum.accumulate(np.where(new, index, 0), axis=1)
    return np.sum((index - first) * (index < n_ranked[:, None]), axis=1)


def _decreasing_pairs(values):
    """Count the pairs of entries of each row whose first entry is larger than the second one."""
    # The loop compares and adds whole rows of the transpose, which is faster than merge sort for up
    # to a thousand labels.
    values = np.ascontiguousarray(values.T)
    larger_before = np.zeros(values.shape, dtype=np.int32)
    for lag in range(1, len(values)):
        larger_before[lag:] += values[:-lag] > values[lag:]
    return larger_before.sum(axis=0, dtype=np.int64)

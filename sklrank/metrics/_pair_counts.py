"""Counts of the pairs of labels on which two rankings agree or disagree."""

from typing import NamedTuple

import numpy as np


class PairCounts(NamedTuple):
    """Numbers of pairs of labels ranked in both rankings; the fields sum to all such pairs."""

    concordant: np.ndarray
    discordant: np.ndarray
    tied_true: np.ndarray
    """Tied only in the true ranking."""
    tied_pred: np.ndarray
    """Tied only in the predicted ranking."""
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
        Positions of the labels ranked in both, infinity for the others.
    n_ranked : ndarray of int, shape (n_samples,)
        Number of labels ranked in both.
    """
    ranked = ~(np.isnan(true) | np.isnan(pred))
    return np.where(ranked, true, np.inf), np.where(ranked, pred, np.inf), ranked.sum(axis=1)


def count_pairs(true, pred):
    """Count the concordant, discordant and tied pairs of labels of each sample.

    If the labels are sorted by true position, with ties sorted by predicted position, a pair is
    discordant if and only if the predicted position decreases from its first to its second label.

    Parameters
    ----------
    true, pred : ndarray of float64, shape (n_samples, n_labels)
        Positions, smaller = better; NaN = not ranked.

    Returns
    -------
    PairCounts
        Arrays of shape (n_samples,).
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
    """Count the pairs equal in all arrays, sorted alike, in the first `n_ranked` of each row."""
    index = np.arange(arrays[0].shape[1])
    new = np.zeros(arrays[0].shape, dtype=bool)
    for values in arrays:
        new[:, 1:] |= values[:, 1:] != values[:, :-1]
    first = np.maximum.accumulate(np.where(new, index, 0), axis=1)
    return np.sum((index - first) * (index < n_ranked[:, None]), axis=1)


def _decreasing_pairs(values):
    """Count the pairs of each row whose earlier entry is larger than the later one."""
    # Whole rows of the transpose are compared and added at a time, which is faster than merge sort
    # for up to a thousand labels.
    values = np.ascontiguousarray(values.T)
    larger_before = np.zeros(values.shape, dtype=np.int32)
    for lag in range(1, len(values)):
        larger_before[lag:] += values[:-lag] > values[lag:]
    return larger_before.sum(axis=0, dtype=np.int64)

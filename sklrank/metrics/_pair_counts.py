"""How two rankings order the pairs of labels: arrays in, arrays out."""

from typing import NamedTuple

import numpy as np

from sklrank.metrics._positions import ranked_in_both


class PairCounts(NamedTuple):
    """Numbers of pairs of labels ranked in both rankings; the fields add up to all such pairs."""

    concordant: np.ndarray
    discordant: np.ndarray
    tied_true: np.ndarray
    """Tied in the true ranking alone."""
    tied_pred: np.ndarray
    """Tied in the predicted ranking alone."""
    tied_both: np.ndarray


def count_pairs(true, pred):
    """Compare two rankings pair by pair.

    With the labels sorted by their true position, and by the predicted one where that is tied, a
    pair is discordant if and only if the predicted positions of its labels fall.

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
    discordant = _falling_pairs(pred)
    pred.sort(axis=1)
    tied_pred = _tied_pairs(n_ranked, pred) - tied_both
    n_pairs = n_ranked * (n_ranked - 1) // 2
    concordant = n_pairs - discordant - tied_true - tied_pred - tied_both
    return PairCounts(concordant, discordant, tied_true, tied_pred, tied_both)


def _tied_pairs(n_ranked, *columns):
    """Pairs equal in all of `columns`, sorted arrays, among the first `n_ranked` of each row."""
    index = np.arange(columns[0].shape[1])
    new = np.zeros(columns[0].shape, dtype=bool)
    for values in columns:
        new[:, 1:] |= values[:, 1:] != values[:, :-1]
    first = np.maximum.accumulate(np.where(new, index, 0), axis=1)
    return np.sum((index - first) * (index < n_ranked[:, None]), axis=1)


def _falling_pairs(values):
    """Pairs of which the earlier entry of the row is the larger one."""
    # Whole rows of the transpose are compared and added at a time: quicker than merge sort up to
    # a thousand labels.
    values = np.ascontiguousarray(values.T)
    larger_before = np.zeros(values.shape, dtype=np.int32)
    for lag in range(1, len(values)):
        larger_before[lag:] += values[:-lag] > values[lag:]
    return larger_before.sum(axis=0, dtype=np.int64)

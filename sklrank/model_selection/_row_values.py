"""From scores to one value per row: the `scoring` of progressive validation."""

import numpy as np

from sklrank.metrics._labels_and_scores import as_relevant, check_relevance_and_scores
from sklrank.metrics._pairwise_loss import PAIRWISE_LOSSES


def row_values(scoring, y):
    """Find the function that turns scores into one value per row.

    Parameters
    ----------
    scoring : str or callable
        As in :func:`progressive_val_score`.
    y : {ndarray, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        The target it is meant for.

    Returns
    -------
    evaluate : callable
        ``evaluate(y_true, y_score, labels=None)`` -> ndarray of shape (n_samples,).

    Raises
    ------
    ValueError
        If `scoring` is unknown, or is a loss and `y` is 2-d with other entries than 0 and 1, or is
        "accuracy" and `y` is 2-d.
    """
    if callable(scoring):
        return lambda y_true, y_score, labels=None: _check_values(scoring(y_true, y_score), y_true)
    names = sorted(_ROW_VALUES)
    if scoring not in names:
        raise ValueError(f"scoring must be callable or one of {names}, got {scoring!r}.")
    if scoring == "accuracy" and y.ndim != 1:
        raise ValueError(
            f"scoring='accuracy' needs class labels as a 1-d y, got y of shape {y.shape}: scores "
            "alone do not say which labels are predicted; use a rank loss or a callable."
        )
    if y.ndim == 2:
        as_relevant(y)
    return _ROW_VALUES[scoring]


def _pairwise(loss):
    return lambda y_true, y_score, labels=None: loss(y_true, y_score, labels=labels, average=False)


def _accuracy(y_true, y_score, labels=None):
    relevant, scores = check_relevance_and_scores(y_true, y_score, labels)
    best = np.argmax(scores, axis=1)[:, None]
    return np.take_along_axis(relevant, best, axis=1)[:, 0].astype(np.float64)


_ROW_VALUES = {name: _pairwise(loss) for name, loss in PAIRWISE_LOSSES.items()} | {
    "accuracy": _accuracy
}


def _check_values(values, y_true):
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (y_true.shape[0],):
        raise ValueError(
            f"scoring must return one value per row, shape ({y_true.shape[0]},), got shape "
            f"{values.shape}: do not average over rows."
        )
    return values

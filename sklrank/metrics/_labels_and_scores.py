"""The two arrays every ranking loss starts from: which labels are relevant, and their scores."""

from reprlib import repr as shortened

import numpy as np
from scipy import sparse
from sklearn.utils import check_array


def check_relevance_and_scores(y_true, y_score, labels=None):
    """Check the target and the scores of a ranking loss.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
        0/1 indicator, or one class label per row.
    y_score : array-like of shape (n_samples, n_labels) or (n_samples,)
        Scores; one column stands for the second of two classes.
    labels : array-like of shape (n_labels,), default=None
        The class of each column of `y_score` when `y_true` is 1-d.

    Returns
    -------
    relevant : ndarray of bool, shape (n_samples, n_labels)
        Whether the label is relevant.
    scores : ndarray of float32 or float64, shape (n_samples, n_labels)
        The scores.

    Raises
    ------
    ValueError
        If the two do not fit together or hold values that mean nothing.
    """
    scores = check_scores(y_score)
    if not sparse.issparse(y_true):
        y_true = np.asarray(y_true)
    if y_true.ndim not in (1, 2):
        raise ValueError(
            "y_true must be a 0/1 indicator of shape (n_samples, n_labels) or class labels of "
            f"shape (n_samples,), got shape {y_true.shape}."
        )
    if y_true.shape[0] != scores.shape[0]:
        raise ValueError(
            f"y_true has {y_true.shape[0]} rows and y_score has {scores.shape[0]}: both need one "
            "row per sample."
        )
    if y_true.ndim == 1:
        scores = as_label_columns(scores)
        return _one_hot(y_true, labels, n_labels=scores.shape[1]), scores
    if scores.shape != y_true.shape:
        raise ValueError(
            f"y_score must have the shape of the indicator y_true, {y_true.shape}, got "
            f"{scores.shape}: pass one column of scores per label."
        )
    return as_relevant(y_true), scores


def as_label_columns(scores):
    """Turn the score of the second of two classes into a column for each class.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_labels)
        As `decision_function` returns them.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_labels)
        A 2-d `scores` as it came; else zeros and `scores`, side by side.
    """
    if scores.ndim == 2:
        return scores
    return np.column_stack((np.zeros_like(scores), scores))


def check_scores(y_score):
    """Check scores `(n_samples, n_labels)` or `(n_samples,)`: finite, float32 or float64."""
    scores = check_array(
        y_score,
        dtype=[np.float64, np.float32],
        ensure_2d=False,
        allow_nd=True,
        ensure_all_finite=False,
        input_name="y_score",
    )
    if scores.ndim > 2:
        raise ValueError(
            f"y_score must be of shape (n_samples, n_labels), got {scores.shape}: evaluate one "
            "array of scores at a time."
        )
    bad = np.argwhere(~np.isfinite(scores))
    if len(bad):
        where = tuple(bad[0].tolist())
        raise ValueError(
            f"y_score must be finite, got {scores[where]} at {where}: such scores have no place "
            "in a ranking; replace them, or look for the model that diverged."
        )
    return scores


def as_relevant(y_true):
    """The indicator as an array of bool; other entries than 0 and 1 are refused."""
    if sparse.issparse(y_true):
        y_true = y_true.tocsr(copy=True)
        y_true.sum_duplicates()
    values = y_true.data if sparse.issparse(y_true) else y_true
    bad = values[~((values == 0) | (values == 1))]
    if bad.size:
        raise ValueError(
            f"y_true must hold 0 or 1 when it is 2-d, got {bad[0]}: binarize it, or pass class "
            "labels as a 1-d array."
        )
    dense = y_true.toarray() if sparse.issparse(y_true) else y_true
    return dense.astype(bool)


def _one_hot(y_true, labels, n_labels):
    given = labels is not None
    labels = np.asarray(labels) if given else np.unique(y_true)
    if labels.shape != (n_labels,):
        origin = "got" if given else "got those of y_true,"
        raise ValueError(
            f"labels must name the class of each of the {n_labels} columns of y_score, {origin} "
            f"{shortened(labels.tolist())}: pass the classes in the order of the columns, for "
            "example labels=estimator.classes_."
        )
    # Python objects as keys: 1, 1.0 and True agree, and "a" may be looked up among numbers.
    column = {label: j for j, label in enumerate(labels.tolist())}
    if len(column) < n_labels:
        raise ValueError(
            f"labels must be distinct, got {shortened(labels.tolist())}: name each class once."
        )
    unknown = set(y_true.tolist()) - column.keys()
    if unknown:
        raise ValueError(
            f"labels must hold every class of y_true, got {shortened(labels.tolist())} without "
            f"{next(iter(unknown))!r}: leave such rows out, or add a column of scores for it."
        )
    relevant = np.zeros((len(y_true), n_labels), dtype=bool)
    relevant[np.arange(len(y_true)), [column[label] for label in y_true.tolist()]] = True
    return relevant

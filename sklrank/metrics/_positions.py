"""The two arrays that metrics of label rankings start from: true and predicted positions."""

import numpy as np
from sklearn.utils import check_array


def check_positions(y_true, y_pred):
    """Check two rankings of the same labels in every row.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples, n_labels)
        Positions, smaller = better; NaN = not ranked.

    Returns
    -------
    true, pred : ndarray of float64, shape (n_samples, n_labels)
        The positions.

    Raises
    ------
    ValueError
        If the two differ in shape or hold values that are no positions.
    """
    true, pred = _check_one(y_true, "y_true"), _check_one(y_pred, "y_pred")
    if len(true) != len(pred):
        raise ValueError(
            f"y_true has {len(true)} rows and y_pred has {len(pred)}: both need one row per sample."
        )
    if true.shape != pred.shape:
        raise ValueError(
            f"y_pred must have the shape of y_true, {true.shape}, got {pred.shape}: give each "
            "label a position, NaN where it is not ranked."
        )
    return true, pred


def ranked_in_both(true, pred):
    """Put the labels that one of two rankings lacks behind all others, in both.

    Parameters
    ----------
    true, pred : ndarray of float64, shape (n_samples, n_labels)
        Checked positions.

    Returns
    -------
    true, pred : ndarray of float64, shape (n_samples, n_labels)
        The positions of the labels ranked in both, infinity for the others.
    n_ranked : ndarray of int, shape (n_samples,)
        How many labels are ranked in both.
    """
    ranked = ~(np.isnan(true) | np.isnan(pred))
    return np.where(ranked, true, np.inf), np.where(ranked, pred, np.inf), ranked.sum(axis=1)


def _check_one(y, name):
    try:
        y = check_array(
            y,
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite=False,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of positions, one per label: {error}") from error
    if y.ndim != 2:
        raise ValueError(
            f"{name} must be of shape (n_samples, n_labels), got {y.shape}: one row of positions "
            "per sample; put brackets around a single ranking."
        )
    bad = np.argwhere(np.isinf(y))
    if len(bad):
        where = tuple(bad[0].tolist())
        raise ValueError(
            f"{name} must hold positions, got {y[where]} at {where}: NaN marks a label that is "
            "not ranked."
        )
    return y

"""The two arrays that metrics of label rankings start from: true and predicted positions."""

import numpy as np

from sklrank._rankings import check_positions


def check_two_rankings(y_true, y_pred, names=("y_true", "y_pred")):
    """Check two rankings of the same labels in every row.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples, n_labels)
        Positions, smaller = better; NaN = not ranked.
    names : (str, str)
        How errors name them.

    Returns
    -------
    true, pred : ndarray of float64, shape (n_samples, n_labels)
        The positions.

    Raises
    ------
    ValueError
        If the two differ in shape or hold values that are no positions.
    """
    of_true, of_pred = names
    true, pred = check_positions(y_true, of_true), check_positions(y_pred, of_pred)
    if len(true) != len(pred):
        raise ValueError(
            f"{of_true} has {len(true)} rows and {of_pred} has {len(pred)}: both need one row per "
            "sample."
        )
    if true.shape != pred.shape:
        raise ValueError(
            f"{of_pred} must have the shape of {of_true}, {true.shape}, got {pred.shape}: give "
            "each label a position, NaN where it is not ranked."
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

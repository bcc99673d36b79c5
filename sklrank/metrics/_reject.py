"""Metric for classifiers with a reject option."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d

from sklrank._checks import check_row_labels, check_weights
from sklrank.metrics._averaging import weighted_mean

__all__ = ["reject_loss"]


def reject_loss(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    reject_cost: float | ArrayLike,
    reject_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean cost, which is 1 for a wrong class and `reject_cost` for a rejected sample.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels.
    y_pred : array-like of shape (n_samples,)
        Predicted class labels, which are `reject_label` for rejected samples.
    reject_cost : float or array-like of shape (n_samples,)
        Non-negative cost of a rejection: a number, or an array with one number for each sample.
    reject_label : str or number, default=None
        Label of rejected samples, such as the attribute `reject_label_` of the model. If None, it
        is "reject" if the predictions are strings, and -1 otherwise.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples. If None, all samples have weight 1.

    Returns
    -------
    float
        Mean cost. The best value is 0.

    See Also
    --------
    sklrank.linear_model.PredtronClassifier : Rejects samples at a given cost.

    References
    ----------
    .. [1] P. Jain, N. Natarajan and A. Tewari, "Predtron: A family of online algorithms for general
       prediction problems", NIPS 2015, Section 3.

    Examples
    --------
    >>> from sklrank.metrics import reject_loss
    >>> reject_loss([0, 1, 1, 0], [0, 0, -1, 0], reject_cost=0.2)
    0.3
    """
    check_row_labels({"y_true": y_true, "y_pred": y_pred, "sample_weight": sample_weight})
    # NumPy converts all entries of a list to strings if one of them is a string.
    y_true, y_pred = (column_or_1d(np.asarray(y, dtype=object)) for y in (y_true, y_pred))
    check_consistent_length(y_true, y_pred)
    if not len(y_pred):
        raise ValueError("y_pred has no samples to average: pass at least one")
    are_strings = {isinstance(label, str) for label in y_pred}
    if reject_label is None:
        if len(are_strings) == 2:
            raise ValueError("y_pred holds strings and numbers: pass reject_label")
        reject_label = "reject" if True in are_strings else -1
    elif isinstance(reject_label, str) not in are_strings:
        kind = "a string" if True in are_strings else "a number"
        raise ValueError(
            f"reject_label={reject_label!r} must be {kind}, as y_pred holds {y_pred[0]!r}"
        )
    if (y_true == reject_label).any():
        raise ValueError(
            f"y_true holds reject_label={reject_label!r}, which marks rejections: choose a label "
            "that is not a class"
        )
    try:
        costs = np.asarray(reject_cost, dtype=np.float64)
    except (TypeError, ValueError):
        costs = np.array(np.nan)
    valid = (costs >= 0) & (costs < np.inf)
    if costs.shape not in ((), (len(y_true),)) or not valid.all():
        raise ValueError(
            f"reject_cost must be a number of 0 or more, or {len(y_true)} of them, one for each "
            f"sample; got {reject_cost!r}"
        )
    losses = np.where(y_pred == reject_label, costs, y_true != y_pred)
    return weighted_mean(losses, check_weights(sample_weight, len(y_true), positive=True))

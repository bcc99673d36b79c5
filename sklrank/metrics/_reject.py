"""Metrics for classifiers with a reject option: mean cost, coverage and selective accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from sklrank._docstrings import shares_text
from sklrank._rankings import is_missing
from sklrank._validation import check_weights
from sklrank.metrics._averaging import weighted_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["coverage_score", "reject_loss", "selective_accuracy_score"]


with_rejections = shares_text(
    y_pred="""
y_pred : array-like of shape (n_samples,)
    Predicted class labels, which are `reject_label` for rejected samples.
""",
    label_and_weight="""
reject_label : object, default=None
    Label of rejected samples, which must be a string if the predictions are strings, and a
    number otherwise; NaN is always allowed. If None, the label is "reject" if the predictions
    are strings, and -1 otherwise. If -1 is a class, pass the attribute `reject_label_` of the
    model.
sample_weight : array-like of shape (n_samples,), default=None
    Weights of the samples. If None, all samples have weight 1.
""",
)


@with_rejections
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
    {y_pred}
    reject_cost : float or array-like of shape (n_samples,)
        Non-negative cost of a rejection: a number, or an array with one number for each sample.
    {label_and_weight}

    Returns
    -------
    float
        Mean cost. The best value is 0.

    Raises
    ------
    ValueError
        If the shapes differ, if a cost is negative or not finite, if `y_true` contains
        `reject_label`, or if only one of `reject_label` and the predictions is a string.

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
    y_true, y_pred, rejected = _check(y_true, y_pred, reject_label)
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
    losses = np.where(rejected, costs, y_true != y_pred)
    weights = check_weights(sample_weight, len(y_true), positive=True)
    return weighted_mean(losses, weights)


@with_rejections
def coverage_score(
    y_pred: ArrayLike, *, reject_label: object = None, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the coverage: the fraction of samples that are not rejected.

    Parameters
    ----------
    {y_pred}
    {label_and_weight}

    Returns
    -------
    float
        Fraction of the samples (of their total weight if `sample_weight` is given) that are not
        rejected, from 0 to 1.

    Raises
    ------
    ValueError
        If there are no samples, or if only one of `reject_label` and the predictions is a string.

    Examples
    --------
    >>> from sklrank.metrics import coverage_score
    >>> coverage_score([0, 0, -1, 0])
    0.75
    """
    y_pred = _column("y_pred", y_pred)
    rejected = _is_rejected(y_pred, _choose_label(y_pred, reject_label))
    weights = check_weights(sample_weight, len(y_pred), positive=True)
    return weighted_mean(~rejected, weights)


@with_rejections
def selective_accuracy_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    reject_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the accuracy on the samples that are not rejected.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels.
    {y_pred}
    {label_and_weight}

    Returns
    -------
    float
        Accuracy from 0 to 1, or NaN if all samples are rejected.

    Raises
    ------
    ValueError
        If the shapes differ, if `y_true` contains `reject_label`, or if only one of `reject_label`
        and the predictions is a string.

    Examples
    --------
    >>> from sklrank.metrics import selective_accuracy_score
    >>> selective_accuracy_score([0, 1, 1, 0], [0, 0, -1, 0])  # two of three
    0.66...
    """
    y_true, y_pred, rejected = _check(y_true, y_pred, reject_label)
    weights = check_weights(sample_weight, len(y_true), positive=True) * ~rejected
    if not weights.any():
        return np.nan
    return weighted_mean(y_true == y_pred, weights)


def _column(name, labels):
    # NumPy converts all entries of a list to strings if one of them is a string.
    labels = column_or_1d(labels if hasattr(labels, "dtype") else np.asarray(labels, dtype=object))
    if not len(labels):
        raise ValueError(f"{name} has no samples to average: pass at least one")
    # Unlike NaN, pandas' NA cannot be compared with labels.
    return np.where(is_missing(labels), np.nan, labels) if labels.dtype.kind == "O" else labels


def _check(y_true, y_pred, reject_label):
    y_true, y_pred = _column("y_true", y_true), _column("y_pred", y_pred)
    check_consistent_length(y_true, y_pred)
    reject_label = _choose_label(y_pred, reject_label)
    if _is_rejected(y_true, reject_label).any():
        raise ValueError(
            f"y_true holds reject_label={reject_label!r}, which marks rejections: choose a label "
            "that is not a class"
        )
    return y_true, y_pred, _is_rejected(y_pred, reject_label)


def _choose_label(y_pred, label):
    """Return the label of rejected samples, which is NaN or has the type of the predictions."""
    known = (y_pred[~is_missing(y_pred)] if y_pred.dtype.kind == "O" else y_pred[:1]).tolist()
    are_strings = {isinstance(prediction, str) for prediction in known}
    if label is None:
        if len(are_strings) == 2:
            raise ValueError("y_pred holds strings and numbers: pass reject_label")
        return "reject" if True in are_strings else -1
    if are_strings and label == label and isinstance(label, str) not in are_strings:
        kind = "a string" if True in are_strings else "a number"
        raise ValueError(f"reject_label={label!r} must be {kind}, as y_pred holds {known[0]!r}")
    return label


def _is_rejected(labels, label):
    return labels == label if label == label else is_missing(labels)

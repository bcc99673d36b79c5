"""Values of samples in progressive validation, computed from scores or from predicted sets."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.metrics import f1_score, jaccard_score

from sklrank._label_scores import as_relevant, check_relevance_and_scores
from sklrank._validation import check_k
from sklrank.metrics import (
    hinge_rank_loss,
    label_propensities,
    logistic_rank_loss,
    ndcg_score,
    precision_at_k_score,
    propensity_scored_precision_at_k_score,
    rank_loss,
)


class Evaluator(NamedTuple):
    """Computation of one value for each sample.

    Parameters
    ----------
    method : {"scores", "sets"}
        Predictions that the values are computed from.
    values : callable
        Function, called as ``values(y_true, predictions, labels=None)``, that returns an ndarray of
        shape (n_samples,).
    """

    method: str
    values: Callable


def make_evaluators(scoring, y):
    """Return the evaluators of the parameter `scoring` of :func:`progressive_val_score`.

    Parameters
    ----------
    scoring : str, callable or list of these
        Parameter `scoring`.
    y : {ndarray, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Target values. They are used only to validate `scoring`.

    Returns
    -------
    dict of str to Evaluator
        Evaluators, by their names.

    Raises
    ------
    ValueError
        If `scoring` is unknown or empty, if it does not fit `y`, or if two entries have one name.
    """
    entries = scoring if isinstance(scoring, list | tuple) else [scoring]
    evaluators = {scoring_name(each): _make_evaluator(each, y) for each in entries}
    if not evaluators or len(evaluators) < len(entries):
        raise ValueError(f"scoring must name each value once, and at least one, got {scoring!r}.")
    return evaluators


def scoring_name(scoring):
    """Return the name of a string or callable."""
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "value")


def _make_evaluator(scoring, y):
    if callable(scoring):
        return Evaluator("scores", partial(_call, scoring))
    at_k = re.fullmatch(r"(\w+)@([1-9][0-9]*)", scoring) if isinstance(scoring, str) else None
    if at_k is not None and at_k[1] in _AT_K:
        k = int(at_k[2])
        return Evaluator(
            "scores", partial(_AT_K[at_k[1]], k=check_k(k, y.shape[1]) if y.ndim == 2 else k)
        )
    names = [*sorted(_OF_SCORES), *sorted(_OF_SETS)]
    if scoring not in names:
        raise ValueError(
            f"scoring must be callable or one of {[*names, *(f'{name}@k' for name in _AT_K)]}, "
            f"or a list of these, got {scoring!r}."
        )
    if scoring == "accuracy" and y.ndim != 1:
        raise ValueError(
            f"scoring='accuracy' needs class labels as a 1-d y, got y of shape {y.shape}: use "
            "'subset_accuracy', a rank loss or a callable."
        )
    if scoring in _OF_SETS and y.ndim == 1:
        raise ValueError(
            f"scoring={scoring!r} is a measure of label sets and needs an indicator matrix as y, "
            "got class labels: use 'accuracy'."
        )
    if y.ndim == 2:
        as_relevant(y)
    if scoring in _OF_SETS:
        return Evaluator("sets", partial(_evaluate_sets, _OF_SETS[scoring]))
    return Evaluator("scores", _OF_SCORES[scoring])


# -- Values of scores.


def _pairwise(loss):
    return lambda y_true, y_score, labels=None: loss(y_true, y_score, labels=labels, average=False)


def _accuracy(y_true, y_score, labels=None):
    relevant, scores = check_relevance_and_scores(y_true, y_score, labels)
    best = np.argmax(scores, axis=1)[:, None]
    return np.take_along_axis(relevant, best, axis=1)[:, 0].astype(np.float64)


def _of_queries(metric):
    def values(y_true, y_score, labels=None, *, k):
        relevant, scores = check_relevance_and_scores(y_true, y_score, labels)
        return metric(relevant, scores, k=k, empty="zero", average=False)

    return values


def _psp(y_true, y_score, labels=None, *, k):
    relevant, scores = check_relevance_and_scores(y_true, y_score, labels)
    propensities = label_propensities(relevant)
    precision = partial(
        propensity_scored_precision_at_k_score, k=k, propensities=propensities, average=False
    )
    best = precision(relevant, relevant / propensities)
    return _increments(_ratio(np.cumsum(precision(relevant, scores)), np.cumsum(best)))


def _call(scoring, y_true, y_score, labels=None):
    values = np.asarray(scoring(y_true, y_score), dtype=np.float64)
    if values.shape != (y_true.shape[0],):
        raise ValueError(
            f"scoring must return one value per sample, shape ({y_true.shape[0]},), got shape "
            f"{values.shape}: do not average over samples."
        )
    return values


# -- Values of sets, given as arrays of bool.


def _evaluate_sets(values_of, y_true, y_pred, labels=None):
    return values_of(as_relevant(y_true), as_relevant(y_pred))


def _of_samples(metric):
    # The samples are the labels of the transposed matrices.
    return lambda y_true, y_pred: metric(y_true.T, y_pred.T, average=None, zero_division=0.0)


def _hamming(y_true, y_pred):
    return np.mean(y_true != y_pred, axis=1)


def _subset_accuracy(y_true, y_pred):
    return np.all(y_true == y_pred, axis=1).astype(np.float64)


def _f1_micro(y_true, y_pred):
    hits = np.sum(y_true & y_pred, axis=1)
    return _increments(_ratio(2 * np.cumsum(hits), np.cumsum(_sizes(y_true, y_pred).sum(axis=1))))


def _f1_macro(y_true, y_pred):
    total = np.zeros(len(y_true))
    for label in range(y_true.shape[1]):
        of_label, predicted = y_true[:, label], y_pred[:, label]
        hits, sizes = np.cumsum(of_label & predicted), np.cumsum(_sizes(of_label, predicted))
        total += _ratio(2 * hits, sizes)
    return _increments(total / y_true.shape[1])


def _sizes(y_true, y_pred):
    return y_true.astype(np.intp) + y_pred


def _ratio(numerators, denominators):
    return np.divide(
        numerators, denominators, out=np.zeros(len(numerators)), where=denominators > 0
    )


def _increments(means):
    """Return numbers of which the mean of the first t is ``means[t - 1]``."""
    return np.diff(means * np.arange(1, len(means) + 1), prepend=0.0)


_LOSSES = (rank_loss, hinge_rank_loss, logistic_rank_loss)
_OF_SCORES = {loss.__name__: _pairwise(loss) for loss in _LOSSES} | {"accuracy": _accuracy}
_AT_K = {
    "precision": _of_queries(precision_at_k_score),
    "ndcg": _of_queries(ndcg_score),
    "psp": _psp,
}
_OF_SETS = {
    "f1_macro": _f1_macro,
    "f1_micro": _f1_micro,
    "f1_samples": _of_samples(f1_score),
    "hamming_loss": _hamming,
    "jaccard_samples": _of_samples(jaccard_score),
    "subset_accuracy": _subset_accuracy,
}

"""Values of samples in progressive validation, computed from scores or from predicted sets."""

import re
from functools import partial

import numpy as np
from sklearn.metrics import f1_score, jaccard_score

from sklrank._checks import as_relevant, check_k, check_relevance_and_scores
from sklrank.metrics import (
    hinge_rank_loss,
    label_propensities,
    logistic_rank_loss,
    ndcg_score,
    precision_at_k_score,
    propensity_scored_precision_at_k_score,
    rank_loss,
)


def make_evaluators(scoring, y):
    """Return the evaluators of the parameter `scoring` of :func:`progressive_val_score`, by name.

    Each is the kind of predictions that are needed, "scores" or "sets", and a function, called as
    ``values(y_true, predictions, labels)``, that returns an ndarray of shape (n_samples,).
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
        return "scores", partial(_call, scoring)
    at_k = re.fullmatch(r"(\w+)@([1-9][0-9]*)", scoring) if isinstance(scoring, str) else None
    if at_k is not None and at_k[1] in _AT_K:
        k = int(at_k[2])
        return "scores", partial(_AT_K[at_k[1]], check_k(k, y.shape[1]) if y.ndim == 2 else k)
    names = [*sorted(_OF_SCORES), *sorted(_OF_SETS)]
    if scoring not in names:
        raise ValueError(
            f"scoring must be callable or one of {[*names, *(f'{name}@k' for name in _AT_K)]}, "
            f"or a list of these, got {scoring!r}; k is a number, as in 'ndcg@10'."
        )
    if (scoring == "accuracy" and y.ndim != 1) or (scoring in _OF_SETS and y.ndim != 2):
        what = "class labels as a 1-d y" if scoring == "accuracy" else "an indicator matrix as y"
        raise ValueError(
            f"scoring={scoring!r} needs {what}, got y of shape {y.shape}: use 'accuracy' for class "
            "labels, and 'subset_accuracy' for label sets."
        )
    if y.ndim == 2:
        as_relevant(y)
    if scoring in _OF_SETS:
        return "sets", partial(_evaluate_sets, _OF_SETS[scoring])
    return "scores", _OF_SCORES[scoring]


# -- Values of scores.


def _call(scoring, y_true, y_score, labels):
    values = np.asarray(scoring(y_true, y_score), dtype=np.float64)
    if values.shape != (y_true.shape[0],):
        raise ValueError(
            f"scoring must return one value per sample, shape ({y_true.shape[0]},), got shape "
            f"{values.shape}: do not average over samples."
        )
    return values


def _pairwise(loss):
    return lambda y_true, y_score, labels: loss(y_true, y_score, labels=labels, average=False)


def _accuracy(y_true, y_score, labels):
    relevant, scores = check_relevance_and_scores(y_true, y_score, labels)
    best = np.argmax(scores, axis=1)[:, None]
    return np.take_along_axis(relevant, best, axis=1)[:, 0].astype(np.float64)


def _of_queries(metric, k, y_true, y_score, labels):
    relevant, scores = check_relevance_and_scores(y_true, y_score, labels)
    return metric(relevant, scores, k=k, empty="zero", average=False)


def _psp(k, y_true, y_score, labels):
    relevant, scores = check_relevance_and_scores(y_true, y_score, labels)
    options = {"k": k, "propensities": label_propensities(relevant), "average": False}
    values, best = (
        propensity_scored_precision_at_k_score(relevant, each, **options)
        for each in (scores, relevant / options["propensities"])
    )
    return _increments(_ratio(np.cumsum(values), np.cumsum(best)))


# -- Values of sets, given as arrays of bool.


def _evaluate_sets(values_of, y_true, y_pred, labels):
    return values_of(as_relevant(y_true), as_relevant(y_pred))


def _of_samples(metric):
    # The samples are the labels of the transposed matrices.
    return lambda y_true, y_pred: metric(y_true.T, y_pred.T, average=None, zero_division=0.0)


def _f1_micro(y_true, y_pred):
    hits, sizes = np.sum(y_true & y_pred, axis=1), np.sum(y_true, axis=1) + np.sum(y_pred, axis=1)
    return _increments(_ratio(2 * np.cumsum(hits), np.cumsum(sizes)))


def _f1_macro(y_true, y_pred):
    total = np.zeros(len(y_true))
    for y, predicted in zip(y_true.T, y_pred.T, strict=True):
        total += _ratio(2 * np.cumsum(y & predicted), np.cumsum(y) + np.cumsum(predicted))
    return _increments(total / y_true.shape[1])


def _ratio(above, below):
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)


def _increments(means):
    """Return numbers of which the mean of the first t is ``means[t - 1]``."""
    return np.diff(means * np.arange(1, len(means) + 1), prepend=0.0)


_LOSSES = (rank_loss, hinge_rank_loss, logistic_rank_loss)
_OF_SCORES = {loss.__name__: _pairwise(loss) for loss in _LOSSES} | {"accuracy": _accuracy}
_AT_K = {
    "precision": partial(_of_queries, precision_at_k_score),
    "ndcg": partial(_of_queries, ndcg_score),
    "psp": _psp,
}
_OF_SETS = {
    "f1_macro": _f1_macro,
    "f1_micro": _f1_micro,
    "f1_samples": _of_samples(f1_score),
    "hamming_loss": lambda y_true, y_pred: np.mean(y_true != y_pred, axis=1),
    "jaccard_samples": _of_samples(jaccard_score),
    "subset_accuracy": lambda y_true, y_pred: np.all(y_true == y_pred, axis=1).astype(np.float64),
}

"""Progressive validation: the loss of each sample before the model learns from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Integral
from reprlib import repr as shortened
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, column_or_1d, gen_batches, indexable

from sklrank._base_online import BaseOnline
from sklrank._validation import check_weights, column_names, names_of
from sklrank.metrics._checks import as_label_columns, as_relevant, check_relevance_and_scores
from sklrank.metrics._pairwise_loss import PAIRWISE_LOSSES
from sklrank.metrics._scorers import label_scores


def progressive_val_score(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    scoring: str | Callable = "rank_loss",
    classes: ArrayLike | None = None,
    chunk_size: int = 1,
    sample_weight: ArrayLike | None = None,
    verbose: int = 0,
) -> np.ndarray:
    """Return the loss of each sample under the model that has learned the samples before it.

    The estimator is updated in place, not cloned. A fitted estimator continues to learn: in the
    protocol of [1]_ it is fitted to the training part and then validated on the test part. In the
    end it has learned all samples. The mean of the result is the figure that [1]_ reports.

    Parameters
    ----------
    estimator : object
        A model with `partial_fit`, and with `decision_function`, `predict_proba` or `predict`, of
        which the first available one is used (`predict` gives the predicted class a score of 1). If
        it has ``progressive_fit(X, y)``, as the models of this package, a single call of that
        replaces the loop, provided that `chunk_size` is 1 and the model does not have both
        `decision_function` and `predict_proba`, since the scores of `progressive_fit` could then be
        those of either.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, in the order in which they are learned.
    y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Class labels, or a 0/1 indicator matrix of the relevant labels.
    scoring : str or callable, default="rank_loss"
        Value to compute from the scores of a sample:

        - "rank_loss", "hinge_rank_loss", "logistic_rank_loss": the losses of
          :mod:`sklrank.metrics`;
        - "accuracy": 1 if the class of `y` has the highest score (the first of equal ones), else 0;
          for 1-d `y` only;
        - a callable ``scoring(y_true, y_score)`` that takes all samples and returns a value for
          each; `y_score` has a column for each label, also for two classes.
    classes : array-like of shape (n_classes,), default=None
        All classes that may occur, passed to the estimator. None: the distinct values of a 1-d `y`
        if the estimator is not fitted yet; otherwise nothing is passed.
    chunk_size : int, default=1
        Number of samples that are scored, and then learned, at a time.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights for learning, passed to the estimator if given. They do not affect the losses.
    verbose : int, default=0
        If positive, print the progress about ten times, and the mean at the end.

    Returns
    -------
    values : ndarray of float64, shape (n_samples,)
        The loss (or accuracy) of each sample.

    Raises
    ------
    ValueError
        If `scoring` is unknown or does not fit `y`, if `chunk_size` is not a positive integer, if
        lengths differ or there are no samples, or if `y` has a class that is neither in `classes`
        nor known to a fitted estimator. The estimator is unchanged then.
    TypeError
        If the estimator cannot learn incrementally, or `sample_weight` is given and the estimator
        does not accept it.

    See Also
    --------
    ProgressiveValidationDisplay : Plots the running mean loss against the number of samples.

    Notes
    -----
    If the estimator is not fitted, all labels of the first chunk have score 0. Such ties give a
    rank loss of 1/2, and an accuracy of 1 for the first class. (`progressive_fit` returns first
    scores of its own.)

    Multilabel estimators of scikit-learn may need a special form of `classes` in the first call of
    `partial_fit`: for `MultiOutputClassifier`, a list of ``[0, 1]`` for each label.

    References
    ----------
    .. [1] Y. H. Jung and A. Tewari. "Online Boosting Algorithms for Multi-label Ranking."
       AISTATS 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.utils import shuffle
    >>> from sklrank.model_selection import progressive_val_score
    >>> X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    >>> losses = progressive_val_score(MultinomialNB(), X, y)
    >>> losses.shape
    (150,)
    >>> print(f"first 50: {losses[:50].mean():.2f}, last 50: {losses[-50:].mean():.2f}")
    first 50: 0.20, last 50: 0.06
    """
    X, y = indexable(X, y)
    given, y = y, _as_target(y)
    # The models of this package learn the names of labels from a dataframe.
    learns_names = isinstance(estimator, BaseOnline) and y.ndim == 2
    target = given if learns_names and column_names(given) is not None else y
    if y.ndim not in (1, 2):
        raise ValueError(
            f"y must be class labels (1-d) or a 0/1 indicator matrix (2-d), got shape {y.shape}."
        )
    if not y.shape[0]:
        raise ValueError("X has no samples to score: pass at least one.")
    evaluate = make_evaluator(scoring, y)
    if not isinstance(chunk_size, Integral) or chunk_size < 1:
        raise ValueError(f"chunk_size must be a positive number of samples, got {chunk_size!r}.")
    learn = _learning_method(estimator, chunk_size)
    params = {}
    if classes is not None:
        params["classes"] = classes
    if sample_weight is not None:
        params["sample_weight"] = check_weights(sample_weight, y.shape[0], positive=False)
    for name in params:
        if not _accepts(learn, name):
            raise TypeError(f"{name} is not a parameter of {learn!r}: leave {name} out.")
    _check_labels(y, _column_classes(estimator, y, classes))

    if learn.__name__ == "progressive_fit":
        scores = as_label_columns(np.asarray(learn(X, target, **params)))
    else:
        scores = _score_then_learn(estimator, X, y, target, chunk_size, params, verbose)
    values = evaluate(y, scores, labels=_column_classes(estimator, y, classes))
    if verbose > 0:
        print(f"[progressive_val_score] {len(values)} samples, mean {values.mean():.6g}")
    return values


def _as_target(y):
    """Return the target as an array or a sparse matrix; a column of class labels becomes 1-d."""
    if sparse.issparse(y):
        return y
    given, y = y, np.asarray(y)
    if y.ndim == 2 and y.dtype.kind == "O":
        # Dataframes of mixed types or of pandas' extension types.
        y = check_array(given, dtype=None, ensure_min_samples=0, ensure_all_finite=False)
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


def _learning_method(estimator, chunk_size):
    two_scores = hasattr(estimator, "decision_function") and hasattr(estimator, "predict_proba")
    if chunk_size == 1 and hasattr(estimator, "progressive_fit") and not two_scores:
        return estimator.progressive_fit
    if hasattr(estimator, "partial_fit"):
        return estimator.partial_fit
    raise TypeError(
        "estimator must have partial_fit (or progressive_fit, with chunk_size=1) to learn "
        f"incrementally, got {estimator!r}. A Pipeline has neither: transform X beforehand, and "
        "pass the final estimator."
    )


def _accepts(method, name):
    parameters = inspect.signature(method).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _check_labels(y, classes):
    if classes is None:
        return
    names = names_of(classes).tolist()
    if len(set(names)) < len(names):
        raise ValueError(f"classes must name each class once, got {shortened(names)}")
    unknown = set(y.tolist()) - set(names)
    if unknown:
        raise ValueError(
            f"y has the class {next(iter(unknown))!r}, which has no column among the scores of "
            f"{shortened(names)}: leave such samples out, or pass all classes that may occur as "
            "`classes` when the estimator first learns."
        )


def _column_classes(estimator, y, classes):
    """Return the class of each column of scores; None for an indicator matrix."""
    if y.ndim == 2:
        return None
    if hasattr(estimator, "classes_"):
        return estimator.classes_
    return np.unique(y) if classes is None else names_of(classes)


def _score_then_learn(estimator, X, y, target, chunk_size, params, verbose):
    """Return the scores of all samples, where each chunk is scored before it is learned."""
    samples, targets = getattr(X, "iloc", X), getattr(target, "iloc", target)
    n_samples = y.shape[0]
    params = dict(params)
    weight = params.pop("sample_weight", None)
    scores = []
    start_time = perf_counter()
    for chunk in gen_batches(n_samples, chunk_size):
        try:
            scores.append(_scores(estimator, samples[chunk], y, params.get("classes")))
        except NotFittedError:
            if chunk.start > 0:
                raise
            if y.ndim == 1 and _accepts(estimator.partial_fit, "classes"):
                params.setdefault("classes", np.unique(y))
            columns = _column_classes(estimator, y, params.get("classes"))
            n_labels = y.shape[1] if columns is None else len(columns)
            scores.append(np.zeros((chunk.stop, n_labels)))
        if not np.isfinite(scores[-1]).all():
            raise ValueError(
                f"{type(estimator).__name__} gave scores that are not finite to the samples "
                f"{chunk.start} to {chunk.stop - 1}. Some classifiers do so before they have "
                "learned all classes: fit some samples of each class first, or use a larger "
                "chunk_size."
            )
        if weight is not None:
            params["sample_weight"] = weight[chunk]
        estimator.partial_fit(samples[chunk], targets[chunk], **params)
        if verbose > 0 and chunk.stop * 10 // n_samples > chunk.start * 10 // n_samples:
            seconds = perf_counter() - start_time
            print(f"[progressive_val_score] {chunk.stop} of {n_samples} samples, {seconds:.1f} s")
    return np.concatenate(scores)


def _scores(estimator, X, y, classes):
    if hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba"):
        return label_scores(estimator, X)
    predicted = np.asarray(estimator.predict(X))
    if y.ndim == 1:
        predicted = predicted[:, None] == _column_classes(estimator, y, classes)
    return predicted.astype(np.float64)


def make_evaluator(scoring, y):
    """Return the function that computes the value of each sample from the scores.

    Parameters
    ----------
    scoring : str or callable
        As in :func:`progressive_val_score`.
    y : {ndarray, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Target that the function will be used for.

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
    names = sorted(_EVALUATORS)
    if scoring not in names:
        raise ValueError(f"scoring must be callable or one of {names}, got {scoring!r}.")
    if scoring == "accuracy" and y.ndim != 1:
        raise ValueError(
            f"scoring='accuracy' needs class labels as a 1-d y, got y of shape {y.shape}: scores "
            "alone do not determine which labels are predicted; use a rank loss or a callable."
        )
    if y.ndim == 2:
        as_relevant(y)
    return _EVALUATORS[scoring]


def _pairwise(loss):
    return lambda y_true, y_score, labels=None: loss(y_true, y_score, labels=labels, average=False)


def _accuracy(y_true, y_score, labels=None):
    relevant, scores = check_relevance_and_scores(y_true, y_score, labels)
    best = np.argmax(scores, axis=1)[:, None]
    return np.take_along_axis(relevant, best, axis=1)[:, 0].astype(np.float64)


_EVALUATORS = {name: _pairwise(loss) for name, loss in PAIRWISE_LOSSES.items()} | {
    "accuracy": _accuracy
}


def _check_values(values, y_true):
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (y_true.shape[0],):
        raise ValueError(
            f"scoring must return one value per sample, shape ({y_true.shape[0]},), got shape "
            f"{values.shape}: do not average over samples."
        )
    return values

"""Progressive validation: each sample is predicted before the model learns it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from reprlib import repr as shortened
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, column_or_1d, gen_batches, indexable

from sklrank._label_scores import (
    as_label_columns,
    as_relevant,
    check_relevance_and_scores,
    label_scores,
)
from sklrank._validation import check_sparse, check_weights, column_names, is_integer, names_of
from sklrank.metrics import hinge_rank_loss, logistic_rank_loss, rank_loss


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

    The estimator is updated in place, not cloned. If it is fitted already, it continues to learn.
    For example, in the protocol of [1]_ a model is fitted to the training part and then validated
    on the test part. Afterwards the estimator has learned all samples. The mean of the result is
    the loss that [1]_ reports.

    Parameters
    ----------
    estimator : object
        A model with `partial_fit` and with `decision_function`, `predict_proba` or `predict`. The
        first of these three methods that is available computes the scores; with `predict`, the
        predicted class has score 1 and the other classes have score 0. If the model has
        ``progressive_fit(X, y)``, as the online models of this package have, this method is called
        once instead of `partial_fit` for each sample. This is done only if `chunk_size` is 1 and
        the model does not have both `decision_function` and `predict_proba`, since otherwise it is
        not clear which of the two `progressive_fit` returns.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, in the order in which they are learned.
    y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Class labels, or a 0/1 indicator matrix of the relevant labels.
    scoring : str or callable, default="rank_loss"
        Value to compute from the scores of each sample:

        - "rank_loss", "hinge_rank_loss", "logistic_rank_loss": the loss of this name in
          :mod:`sklrank.metrics`;
        - "accuracy": 1 if the true class has the highest score, and 0 otherwise; if several classes
          have the highest score, the first of them is the predicted class. This value requires a
          1-d `y`;
        - a callable ``scoring(y_true, y_score)``, which is called once with all samples and returns
          one value for each sample; `y_score` has a column for each label, also for two classes.
    classes : array-like of shape (n_classes,), default=None
        All classes that may occur, passed to the estimator. If None, the distinct values of a 1-d
        `y` are passed if the estimator is not fitted yet and `partial_fit` accepts `classes`;
        otherwise nothing is passed.
    chunk_size : int, default=1
        Number of samples in a chunk. All samples of a chunk are scored before they are learned.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples. If not None, they are passed to the estimator in training. They do
        not affect the losses.
    verbose : int, default=0
        If positive, the mean is printed at the end; and the progress about ten times, unless
        `progressive_fit` is used.

    Returns
    -------
    values : ndarray of float64, shape (n_samples,)
        Loss (or accuracy) of each sample.

    Raises
    ------
    ValueError
        If `scoring` is unknown or does not fit `y`, if `chunk_size` is not a positive integer, if
        lengths differ or there are no samples, or if `y` has a class that is neither in `classes`
        nor known to a fitted estimator. In these cases, the estimator does not change.
    TypeError
        If the estimator cannot learn incrementally, or if `classes` or `sample_weight` is passed
        and the estimator does not accept it.

    See Also
    --------
    ProgressiveValidationDisplay : Plot of the running mean loss against the number of samples.

    Notes
    -----
    If the estimator is not fitted, all labels have score 0 for the samples of the first chunk.
    With these ties the rank loss is 1/2, and the accuracy is 1 for samples of the first class and 0
    for other samples. If `progressive_fit` is used, its own first scores are used instead.

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
    check_sparse(X)
    check_sparse(y, "y")
    X, y = indexable(X, y)
    given, y = y, _as_target(y)
    # The models of this package learn the names of labels from a dataframe.
    learns_names = getattr(estimator, "_learns_label_names", False) and y.ndim == 2
    target = given if learns_names and column_names(given) is not None else y
    if y.ndim not in (1, 2):
        raise ValueError(
            f"y must be class labels (1-d) or a 0/1 indicator matrix (2-d), got shape {y.shape}."
        )
    if not y.shape[0]:
        raise ValueError("X has no samples to score: pass at least one.")
    evaluate = make_evaluator(scoring, y)
    if not is_integer(chunk_size) or chunk_size < 1:
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
    """Return the target as an array or a sparse matrix, and a single column as a 1-d array."""
    if sparse.issparse(y):
        return y
    given, y = y, np.asarray(y)
    if y.ndim == 2 and y.dtype.kind == "O":
        # The target is a dataframe with columns of mixed types or of pandas' extension types.
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
    """Return the class of each column of the scores, or None if `y` is an indicator matrix."""
    if y.ndim == 2:
        return None
    if hasattr(estimator, "classes_"):
        return estimator.classes_
    return np.unique(y) if classes is None else names_of(classes)


def _score_then_learn(estimator, X, y, target, chunk_size, params, verbose):
    """Return the scores of all samples. Each chunk is scored before it is learned."""
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
    """Return the function that computes one value for each sample from its scores.

    Parameters
    ----------
    scoring : str or callable
        Parameter `scoring` of :func:`progressive_val_score`.
    y : {ndarray, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Target values. They are used only to validate `scoring`.

    Returns
    -------
    evaluate : callable
        Function, called as ``evaluate(y_true, y_score, labels=None)``, that returns an ndarray of
        shape (n_samples,).

    Raises
    ------
    ValueError
        If `scoring` is unknown, if `scoring` is "accuracy" and `y` is 2-d, or if `scoring` is the
        name of a loss and `y` is 2-d with entries other than 0 and 1.
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


_LOSSES = (rank_loss, hinge_rank_loss, logistic_rank_loss)
_EVALUATORS = {loss.__name__: _pairwise(loss) for loss in _LOSSES} | {"accuracy": _accuracy}


def _check_values(values, y_true):
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (y_true.shape[0],):
        raise ValueError(
            f"scoring must return one value per sample, shape ({y_true.shape[0]},), got shape "
            f"{values.shape}: do not average over samples."
        )
    return values

"""Progressive validation: each sample is predicted before the model learns it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from copy import deepcopy
from reprlib import repr as shortened
from time import perf_counter
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, column_or_1d, gen_batches, indexable

from sklrank._checks import (
    as_label_columns,
    check_columns,
    check_container,
    check_no_collections,
    check_row_labels,
    check_weights,
    column_names,
    indices_of,
    is_integer,
    label_scores,
    labels_of_columns,
    names_of,
)
from sklrank._estimators import _num_samples, _safe_indexing
from sklrank.model_selection._evaluators import make_evaluators, scoring_name


@overload
def progressive_val_score(
    estimator: Any,
    X: Any,
    y: ArrayLike | None = ...,
    *,
    scoring: str | Callable = ...,
    **options: Any,
) -> np.ndarray: ...
@overload
def progressive_val_score(
    estimator: Any, X: Any, y: ArrayLike | None = ..., *, scoring: list[Any], **options: Any
) -> dict[str, np.ndarray]: ...
def progressive_val_score(
    estimator: Any,
    X: ArrayLike | Iterator[tuple[Any, Any]],
    y: ArrayLike | None = None,
    *,
    scoring: str | Callable | list[Any] = "rank_loss",
    classes: ArrayLike | None = None,
    chunk_size: int = 1,
    sample_weight: ArrayLike | None = None,
    verbose: int = 0,
) -> np.ndarray | dict[str, np.ndarray]:
    """Return the loss of each sample under the model that has learned the samples before it.

    The estimator is updated in place, and has learned all samples afterwards. If it is fitted
    already, it continues to learn: in the protocol of [1]_ a model is fitted to the training part,
    then validated on the test part. The mean of the result is the loss that [1]_ reports.

    Parameters
    ----------
    estimator : object
        A model with `partial_fit` and with `decision_function`, `predict_proba` or `predict`, of
        which the first one computes the scores; with `predict`, they are 1 for the predicted class
        and 0 for others. The method ``progressive_fit(X, y)`` of the online models of this package
        is called once instead, if `chunk_size` is 1 and it is clear what it returns: it has a
        parameter `method`, or the model has not both `decision_function` and `predict_proba`.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, in the order in which they are learned; or an iterator of batches (X, y), such as
        :func:`~sklrank.streaming.iter_batches` returns, of which one is in memory at a time.
    y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels), or None
        Class labels, or a 0/1 indicator matrix of the relevant labels; None with an iterator.
    scoring : str, callable, or list of these, default="rank_loss"
        Value to compute from the scores or from the predicted label set of each sample. With a
        list, all values are computed in one pass.

        - "rank_loss", "hinge_rank_loss", "logistic_rank_loss": the loss of this name in
          :mod:`sklrank.metrics`;
        - "accuracy", for a 1-d `y`: 1 if the true class is the first one with the highest score,
          else 0;
        - "precision@k", "ndcg@k", "psp@k" with a number k, such as "precision@3": the metrics of
          ranked labels of :mod:`sklrank.metrics`. They are 0 for a sample without relevant labels.
          The propensities of "psp@k" are those of `y`;
        - "hamming_loss", "f1_samples", "jaccard_samples" and "subset_accuracy", for an indicator
          matrix `y`: measures of the sets that `predict` returns. F1 and the Jaccard index of two
          empty sets are 0, as in scikit-learn;
        - "f1_micro", "f1_macro", for an indicator matrix `y`: the value of sample t is
          ``t * F(t) - (t - 1) * F(t - 1)``, where F(t) is the F1 of the first t sets, and so the
          mean of the first t values. "psp@k", a ratio of sums too, is computed in the same way;
        - a callable ``scoring(y_true, y_score)``, which is called once with all samples, or with
          those of each batch of an iterator, and returns one value for each sample; `y_score` has a
          column for each label, also for two classes.
    classes : array-like of shape (n_classes,), default=None
        All classes that may occur, passed to the estimator. If None, the distinct values of a 1-d
        `y` are, if it is not fitted yet and `partial_fit` accepts `classes`.
    chunk_size : int, default=1
        Number of samples in a chunk. All samples of a chunk are scored before they are learned.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Weights of the samples in training. They do not affect the losses.
    verbose : int, default=0
        If positive, print the mean and, unless `progressive_fit` is used, the progress ten times.

    Returns
    -------
    values : ndarray of float64, shape (n_samples,), or dict of str to ndarray
        Loss (or score) of each sample. If `scoring` is a list, a dict from the names of its entries
        to these.

    Raises
    ------
    ValueError
        If an argument is malformed, or `X` is an iterator and `scoring` needs all samples, as the
        F1 measures do. The estimator does not change; with an iterator, it keeps earlier batches.
    TypeError
        If the estimator cannot learn incrementally, or does not accept an argument.

    See Also
    --------
    ProgressiveValidationDisplay : Plot of the running mean loss against the number of samples.

    Notes
    -----
    If the estimator is not fitted, all labels have score 0 in the first chunk: with these ties the
    rank loss is 1/2, and the first class is right. With `progressive_fit`, its scores are used.

    Multilabel estimators of scikit-learn may need a special form of `classes`: for
    `MultiOutputClassifier`, a list of ``[0, 1]`` for each label.

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
    if isinstance(X, Iterator):
        if y is not None or sample_weight is not None:
            raise ValueError("y and sample_weight must be None if X is an iterator of (X, y)")
        return _score_batches(estimator, X, scoring, classes, chunk_size, verbose)
    check_container(X)
    check_container(y, "y")
    check_row_labels({"X": X, "y": y, "sample_weight": sample_weight})
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
    if learns_names and classes is not None and hasattr(estimator, "classes_"):
        y, classes = _in_model_order(y, classes, estimator.classes_, chunk_size)
        target = y
    evaluators = make_evaluators(scoring, y)
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

    methods = sorted({method for method, _ in evaluators.values()})
    if learn.__name__ == "progressive_fit":
        predictions = _progressive_predictions(learn, X, target, methods, params)
    else:
        predictions = _predict_then_learn(
            estimator, X, y, target, chunk_size, params, methods, verbose
        )
    columns = _column_classes(estimator, y, classes)
    values = {
        name: values_of(y, predictions[method], columns)
        for name, (method, values_of) in evaluators.items()
    }
    return _result(values, scoring, verbose)


def progressive_reward_score(
    estimator: Any, X: ArrayLike, y: ArrayLike, *, chunk_size: int = 1
) -> float:
    """Return the mean reward a round of what an online model shows while it learns.

    A copy of the estimator plays the samples in their order: it shows labels by `explore`, and
    learns their relevance by `partial_fit_feedback`. So the score counts what exploring costs as
    well as what it teaches. The function is a value of the parameter `scoring` of scikit-learn's
    tools: in a search over the exploration rate, `score` would evaluate the ranking without
    exploration, and prefer rates that users do not like.

    Parameters
    ----------
    estimator : object
        Model with `explore` and `partial_fit_feedback`, such as
        :class:`~sklrank.online_boosting.TopKBBM`, which does not change. If it is fitted, its copy
        continues to learn.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples in the order of the rounds.
    y : array-like of shape (n_samples,) or (n_samples, n_labels)
        Class labels, or the relevance of the labels, from 0 to 1.
    chunk_size : int, default=1
        Number of samples for which labels are shown before their rewards arrive.

    Returns
    -------
    float
        Sum of the rewards of the labels shown for a sample, averaged over the samples. For models
        that show a single class, the share of rounds in which the class shown was correct.

    Raises
    ------
    TypeError
        If the estimator cannot explore.
    ValueError
        If `chunk_size` is not a positive integer, or `y` does not fit the labels of the model.

    See Also
    --------
    progressive_val_score : Losses of the scores before each sample is learned.
    sklrank.off_policy.policy_value : Rewards of a policy, from the log of another policy.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklrank.datasets import make_multilabel_ranking_stream
    >>> from sklrank.linear_model import SemiBanditRanker
    >>> from sklrank.model_selection import progressive_reward_score
    >>> X, Y = make_multilabel_ranking_stream(600, n_labels=10, random_state=0)
    >>> options = {"scoring": progressive_reward_score, "cv": [(range(100), range(100, 600))]}
    >>> ranker, values = SemiBanditRanker(random_state=0), {"exploration": [0.05, 1.0]}
    >>> GridSearchCV(ranker, values, **options).fit(X, Y).best_params_
    {'exploration': 0.05}
    """
    for method in ("explore", "partial_fit_feedback"):
        if not hasattr(estimator, method):
            raise TypeError(f"estimator must have {method}, which {estimator!r} lacks")
    if not is_integer(chunk_size) or chunk_size < 1:
        raise ValueError(f"chunk_size must be a positive number of samples, got {chunk_size!r}.")
    check_row_labels({"X": X, "y": y})
    X, target = indexable(X, _as_target(y))
    known = _labels_to_explore(estimator, column_names(y), target)
    model, total = deepcopy(estimator), 0.0
    for rows in gen_batches(target.shape[0], chunk_size):
        samples = _safe_indexing(X, rows)
        shown = model.explore(samples, **known)
        rewards = _rewards_of(target[rows], shown.actions, model.classes_)
        model.partial_fit_feedback(samples, shown, rewards)
        total, known = total + rewards.sum(), {}
    return float(total / target.shape[0])


def _labels_to_explore(estimator, names, target):
    """Return the argument that names the labels of a model without any; check the others."""
    n_labels = None if target.ndim == 1 else target.shape[1]
    if not hasattr(estimator, "classes_"):
        return {"classes": labels_of_columns(names, n_labels) if n_labels else np.unique(target)}
    if n_labels:
        check_columns(names, estimator.classes_)
        if n_labels != len(estimator.classes_):
            raise ValueError(
                f"y must have a column for each of the {len(estimator.classes_)} labels of the "
                f"model, got {n_labels}"
            )
    return {}


def _rewards_of(target, actions, classes):
    """Return the relevance of the labels shown, in the shape of the actions."""
    if target.ndim == 1:
        return (classes[actions].T == target).T.astype(np.float64)
    target = target.toarray() if sparse.issparse(target) else target
    columns = actions if actions.ndim == 2 else actions[:, np.newaxis]
    return np.take_along_axis(target, columns, axis=1).reshape(actions.shape).astype(np.float64)


def _score_batches(estimator, batches, scoring, classes, chunk_size, verbose):
    """Return the values of all batches, which are those of all samples in one call."""
    entries = list(scoring) if isinstance(scoring, list | tuple) else [scoring]
    names = [scoring_name(each) for each in entries]
    whole = [name for name in names if name.startswith(("f1_micro", "f1_macro", "psp@"))]
    if whole:
        raise ValueError(f"scoring={whole[0]!r} needs all samples: pass arrays, not an iterator")
    options = {"scoring": entries, "classes": classes, "chunk_size": chunk_size}
    found = [
        progressive_val_score(estimator, X, y, **options) for X, y in batches if _num_samples(X)
    ]
    if not found:
        raise ValueError("X has no samples to score: pass at least one.")
    values = {name: np.concatenate([each[name] for each in found]) for name in names}
    return _result(values, scoring, verbose)


def _result(values, scoring, verbose):
    """Return the values by their names, or those of the only name; print their means."""
    if verbose > 0:
        for name, of_samples in values.items():
            text = f"{len(of_samples)} samples, mean {name} {of_samples.mean():.6g}"
            print(f"[progressive_val_score] {text}")
    return values if isinstance(scoring, list | tuple) else next(iter(values.values()))


def _as_target(y):
    """Return the target as an array or a sparse matrix, and a single column as a 1-d array."""
    if sparse.issparse(y):
        return y
    if isinstance(y, list | tuple) or getattr(y, "dtype", None) == np.dtype(object):
        check_no_collections(y)
    given, y = y, np.asarray(y)
    if y.ndim == 2 and y.dtype.kind == "O":
        # The target is a dataframe with columns of mixed types or of pandas' extension types.
        y = check_array(given, dtype=None, ensure_min_samples=0, ensure_all_finite=False)
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


def _in_model_order(y, classes, known, chunk_size):
    """Return an indicator matrix and its names in the order of a fitted model, new ones last.

    Names that the model does not accept are not changed.
    """
    names = names_of(classes)
    is_new = ~np.isin(names, known)
    if len(names) != y.shape[1] or not np.isin(known, names).all():
        return y, classes
    if chunk_size > 1 and is_new.any():
        raise ValueError(
            "classes has labels that the fitted model lacks, so that it has no scores of them in "
            "the first chunk: use chunk_size=1"
        )
    order = indices_of(np.concatenate([known, names[is_new]]), names, "")
    return (y.tocsr() if sparse.issparse(y) else y)[:, order], names[order]


def _learning_method(estimator, chunk_size):
    if chunk_size == 1 and hasattr(estimator, "progressive_fit"):
        two_scores = hasattr(estimator, "decision_function") and hasattr(estimator, "predict_proba")
        if not two_scores or _accepts(estimator.progressive_fit, "method"):
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


def _progressive_predictions(learn, X, target, methods, params):
    """Return the scores and the label sets of all samples, those of them that are needed."""
    if _accepts(learn, "method"):
        names = {"scores": "decision_function", "sets": "predict"}
        found = learn(X, target, **params, method=[names[each] for each in methods])
        return dict(zip(methods, found, strict=True))
    if "sets" in methods:
        raise TypeError(f"{learn!r} returns no label sets: use a larger chunk_size.")
    return {"scores": as_label_columns(np.asarray(learn(X, target, **params)))}


def _predict_then_learn(estimator, X, y, target, chunk_size, params, methods, verbose):
    """Return the scores and the sets of all samples. Each chunk is predicted before learned."""
    samples, targets = getattr(X, "iloc", X), getattr(target, "iloc", target)
    n_samples = y.shape[0]
    params = dict(params)
    weight = params.pop("sample_weight", None)
    found = {method: [] for method in methods}
    start_time = perf_counter()
    for chunk in gen_batches(n_samples, chunk_size):
        try:
            predicted = {
                method: _predictions(method, estimator, samples[chunk], y, params.get("classes"))
                for method in methods
            }
        except NotFittedError:
            if chunk.start > 0:
                raise
            if y.ndim == 1 and _accepts(estimator.partial_fit, "classes"):
                params.setdefault("classes", np.unique(y))
            columns = _column_classes(estimator, y, params.get("classes"))
            n_labels = y.shape[1] if columns is None else len(columns)
            predicted = dict.fromkeys(methods, np.zeros((chunk.stop, n_labels)))
        for method in methods:
            found[method].append(predicted[method])
        if "scores" in methods and not np.isfinite(predicted["scores"]).all():
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
    return {method: np.concatenate(parts) for method, parts in found.items()}


def _predictions(method, estimator, X, y, classes):
    if method == "scores" and (
        hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")
    ):
        return label_scores(estimator, X)
    predicted = estimator.predict(X)
    predicted = predicted.toarray() if sparse.issparse(predicted) else np.asarray(predicted)
    if y.ndim == 1:
        predicted = predicted[:, None] == _column_classes(estimator, y, classes)
    return predicted.astype(np.float64)

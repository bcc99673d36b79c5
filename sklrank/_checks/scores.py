"""Scores of labels, and the relevant labels with which they are compared."""

from reprlib import repr as shortened

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from sklrank._checks.numbers import check_finite
from sklrank._checks.samples import check_container, plain
from sklrank._checks.targets import check_same_order, sorted_labels


def check_relevance_and_scores(y_true, y_score, labels=None):
    """Check the target and the scores of a ranking loss; return masks and scores of the labels.

    Both have the shape `(n_samples, n_labels)`. The target is an indicator matrix of 0 and 1, or
    class labels `(n_samples,)`, of which `labels` are the columns of the scores. A 1-d array of
    scores has those of the second of two classes.
    """
    check_same_order(y_true, y_score)
    scores = check_scores(y_score)
    check_container(y_true, "y_true")
    if not sparse.issparse(y_true):
        y_true = np.asarray(plain(y_true))
    if y_true.ndim not in (1, 2):
        raise ValueError(
            "y_true must be a 0/1 indicator matrix of shape (n_samples, n_labels) or class labels "
            f"of shape (n_samples,), got shape {y_true.shape}."
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
            f"y_score must have the shape of the indicator matrix y_true, {y_true.shape}, got "
            f"{scores.shape}: pass one column of scores per label."
        )
    return as_relevant(y_true), scores


def as_label_columns(scores):
    """Return scores with a column for each class: zeros and the scores if they are 1-d."""
    if scores.ndim == 2:
        return scores
    return np.column_stack((np.zeros_like(scores), scores))


def check_scores(y_score):
    """Return scores of shape `(n_samples, n_labels)` or `(n_samples,)` as finite floats."""
    remedy = "such scores cannot be ranked; replace them, or check whether the model diverged"
    return check_finite(y_score, "y_score", "scores", remedy, [np.float64, np.float32])


def as_relevant(y_true):
    """Convert a 0/1 indicator matrix to a dense array of bool."""
    values = y_true
    if sparse.issparse(y_true):
        y_true = y_true.tocsr(copy=True)
        y_true.sum_duplicates()
        values = y_true.data
    bad = values[~((values == 0) | (values == 1))]
    if bad.size:
        raise ValueError(
            f"y_true must hold 0 or 1 if it is 2-d, got {bad[0]}: binarize it (lists of labels by "
            "sklearn.preprocessing.MultiLabelBinarizer), or pass class labels as a 1-d array."
        )
    return (y_true.toarray() if sparse.issparse(y_true) else y_true).astype(bool)


def _one_hot(y_true, labels, n_labels):
    given = labels is not None
    labels = np.asarray(labels) if given else sorted_labels(y_true, "y_true")
    if labels.shape != (n_labels,):
        origin = "got" if given else "got the classes of y_true,"
        raise ValueError(
            f"labels must name the class of each of the {n_labels} columns of y_score, {origin} "
            f"{shortened(labels.tolist())}: pass the classes in the order of the columns, for "
            "example labels=estimator.classes_."
        )
    # The keys are Python objects, so that 1, 1.0 and True are the same key, and a string can be
    # looked up among numbers.
    column = {label: j for j, label in enumerate(labels.tolist())}
    if len(column) < n_labels:
        raise ValueError(
            f"labels must be distinct, got {shortened(labels.tolist())}: name each class once."
        )
    unknown = set(y_true.tolist()) - column.keys()
    if unknown:
        raise ValueError(
            f"labels must hold every class of y_true, got {shortened(labels.tolist())} without "
            f"{next(iter(unknown))!r}: drop such samples, or add a column of scores for it."
        )
    relevant = np.zeros((len(y_true), n_labels), dtype=bool)
    relevant[np.arange(len(y_true)), [column[label] for label in y_true.tolist()]] = True
    return relevant


def label_scores(estimator, X):
    """Return the scores of the labels, `(n_samples, n_labels)`, for samples `X`.

    They are those of `decision_function` or, if missing, `predict_proba`.
    """
    for method in ("decision_function", "predict_proba"):
        if hasattr(estimator, method):
            scores = getattr(estimator, method)(X)
            break
    else:
        raise TypeError(
            f"estimator must have decision_function or predict_proba to rank labels, got "
            f"{estimator!r}, which does not score them."
        )
    if isinstance(scores, list):
        return _second_classes(estimator, scores)
    return as_label_columns(np.asarray(scores))


def document_scores(estimator, X):
    """Return the scores of documents: of a classifier, expected grades or its decisions."""
    if hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator):
        classes = np.asarray(estimator.classes_)
        if hasattr(estimator, "predict_proba") and classes.dtype.kind in "biuf":
            return (estimator.predict_proba(X) * classes).sum(axis=1)
        if hasattr(estimator, "decision_function") and len(classes) == 2:
            return estimator.decision_function(X)
    return estimator.predict(X)


def _second_classes(estimator, probas):
    """Return the probability that each label is relevant, from a list of class probabilities."""
    if hasattr(estimator, "classes_"):
        classes = estimator.classes_
    else:  # MultiOutputClassifier after partial_fit
        classes = [each.classes_ for each in estimator.estimators_]
    # If a label was never relevant in training, it has no column for class 1, and the sum is 0.
    return np.column_stack(
        [
            proba[:, np.asarray(each) == 1].sum(axis=1)
            for proba, each in zip(probas, classes, strict=True)
        ]
    )

"""What the semi-supervised boosters share: targets with gaps, and a classifier's predictions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklrank._rankings import is_missing
from sklrank._sklearn import _safe_indexing
from sklrank._validation import check_rows
from sklrank.base import ClassScoresMixin
from sklrank.boosting._booster import Booster

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SemiSupervisedBooster"]


class SemiSupervisedBooster(ClassScoresMixin, ClassifierMixin, Booster):
    """A booster of classifiers that learns from rows with a label and rows without."""

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """The class of each row, by the first round alone, the first two, and so on.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        iterator of ndarray of shape (n_samples,)
            Of `classes_`.
        """
        stages = self._staged_sums(self._checked_rows(X), len(self.classes_))
        return (self.classes_[scores.argmax(axis=1)] for scores in stages)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Class shares: the softmax of the scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The sum of each row is 1. They are not calibrated.
        """
        return softmax(self._class_scores(X), axis=1)

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """The logarithm of each class share, which is finite where the share is rounded to 0.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Numbers of 0 or less; of the largest in each row `predict` takes the class.
        """
        return log_softmax(self._class_scores(X), axis=1)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy on the rows that have a label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Classes; rows with -1 are left out.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        ValueError
            If no row has a label, or lengths differ.
        """
        y = column_or_1d(y)
        check_consistent_length(X, y, sample_weight)
        rows = np.flatnonzero(has_label(y))
        if not len(rows):
            raise ValueError("y labels no row: all entries are -1; give rows with labels to score")
        weights = None if sample_weight is None else _safe_indexing(sample_weight, rows)
        return accuracy_score(y[rows], self.predict(X)[rows], sample_weight=weights)

    def _template(self):
        """The weak learner, before it is cloned."""
        return DecisionTreeClassifier(max_depth=2) if self.estimator is None else self.estimator

    def _class_scores(self, X):
        X = self._checked_rows(X)
        return self._sum(X, len(self.classes_))

    def _checked_rows(self, X):
        check_is_fitted(self)
        return check_rows(self, X, reset=False)

    def _check_training(self, X, y):
        """Checked rows, and their labels: indices into `classes_`, -1 for rows without."""
        X, y = check_rows(self, X, reset=not self._is_warm_start, y=y)
        classes, labels = partial_labels(y)
        if self._is_warm_start and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y has the classes {classes.tolist()}, the rounds fitted so far have "
                f"{self.classes_.tolist()}; with warm_start=True they cannot change"
            )
        self.classes_ = classes
        return X, labels

    def _boost_from(self, X, labels, objective, learner):
        """Play rounds from the scores of the rounds so far, and label the training rows."""
        scores = self._sum(X, len(self.classes_))
        self._boost(objective, learner, scores)
        self.transduction_ = self.classes_[np.where(labels < 0, scores.argmax(axis=1), labels)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._template()).input_tags.sparse
        return tags


def partial_labels(y):
    """Classes of a target in which -1 marks rows without one, and the index of each row's class."""
    labeled = has_label(y)
    if not labeled.any():
        raise ValueError(
            "y labels no row: all entries are -1; a classifier needs rows of two classes at least"
        )
    try:
        classes, codes = np.unique(y[labeled], return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"y must hold classes of one kind, numbers or strings, beside -1: {error}"
        ) from error
    # Twice: a class for each of the labels is no sign of a regression here.
    check_classification_targets(np.tile(y[labeled], 2))
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()}; a classifier needs rows of two classes at "
            "least (-1 is no class: it marks rows without a label)"
        )
    labels = np.full(len(y), -1, dtype=np.intp)
    labels[labeled] = codes
    return classes, labels


def has_label(y):
    """Where `y` is not -1; refused are other marks that rows without a label may have."""
    if y.dtype.kind in "SU":
        # NumPy makes strings of all entries of a list that has one.
        if (y == np.array("-1", dtype=y.dtype.kind)).any():
            raise ValueError(
                "y is an array of strings and has '-1' among them, which would be a class: let it "
                "be an array of objects, np.array(y, dtype=object), with the number -1 for rows "
                "without a label"
            )
        return np.ones(len(y), dtype=bool)
    if is_missing(y).any():
        raise ValueError("y has None or NaN: mark rows without a label by -1")
    return (y != -1).astype(bool)

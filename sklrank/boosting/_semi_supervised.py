"""What the semi-supervised boosters share: targets with gaps, and a classifier's predictions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sklrank.boosting._booster import Booster

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SemiSupervisedBooster"]


class SemiSupervisedBooster(ClassifierMixin, Booster):
    """A booster of classifiers that learns from rows with a label and rows without."""

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of `classes_`, those of the largest scores.
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """The class of each row, by the first round alone, the first two, and so on.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            Of `classes_`.
        """
        X = self._check_rows(X)
        for scores in self._staged_sums(X, len(self.classes_)):
            yield self.classes_[scores.argmax(axis=1)]

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Sums of the weights of the weak learners that say so. With two classes the score of the
            second one, less that of the first.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Class shares: the softmax of the scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The sum of each row is 1. They are not calibrated.
        """
        return softmax(self._scores(X), axis=1)

    def _template(self):
        """The weak learner, before it is cloned."""
        return DecisionTreeClassifier(max_depth=2) if self.estimator is None else self.estimator

    def _scores(self, X):
        X = self._check_rows(X)
        return self._sum(X, len(self.classes_))

    def _check_rows(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False, accept_sparse="csr")

    def _check_training(self, X, y):
        """Checked rows, and their labels: indices into `classes_`, -1 for rows without."""
        X, y = validate_data(self, X, y, accept_sparse="csr")
        classes, labels = partial_labels(y)
        if self.warm_start and hasattr(self, "classes_"):
            if not np.array_equal(classes, self.classes_):
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
    # Arrays of strings have no -1; comparing them with a number warns.
    labeled = np.ones(len(y), dtype=bool) if y.dtype.kind in "SU" else (y != -1).astype(bool)
    if not labeled.any():
        raise ValueError(
            "y labels no row: all entries are -1; a classifier needs rows of two classes at least"
        )
    check_classification_targets(y[labeled])
    classes, codes = np.unique(y[labeled], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()}; a classifier needs rows of two classes at "
            "least (-1 is no class: it marks rows without a label)"
        )
    labels = np.full(len(y), -1, dtype=np.intp)
    labels[labeled] = codes
    return classes, labels

"""Base class of the semi-supervised boosters, and validation of their target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklrank._rankings import is_missing
from sklrank._sklearn import _safe_indexing
from sklrank._validation import check_rows, input_tags_of
from sklrank.base import ClassScoresMixin
from sklrank.boosting._base import Booster
from sklrank.boosting._weak_learners import make_classifier_learner

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SemiSupervisedBooster"]


class SemiSupervisedBooster(ClassScoresMixin, ClassifierMixin, Booster):
    """Base class of boosted classifiers that are fitted to labeled and unlabeled samples."""

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Predict the class of each sample after each round of boosting.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        iterator of ndarray of shape (n_samples,)
            Predicted classes after each round.
        """
        rounds = self._scores_of_rounds(self._check_X(X))
        return (self.classes_[scores.argmax(axis=1)] for scores in rounds)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict class probabilities, the softmax of the scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Class probabilities, which are not calibrated. The sum of each row is 1.
        """
        return softmax(self._class_scores(X), axis=1)

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the logarithms of class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms of the class probabilities. They are finite even if a probability is rounded
            to 0.
        """
        return log_softmax(self._class_scores(X), axis=1)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on the labeled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Classes. Samples with label -1 are ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        float
            Accuracy, from 0 to 1.

        Raises
        ------
        ValueError
            If no sample is labeled, or lengths differ.
        """
        y = column_or_1d(y)
        check_consistent_length(X, y, sample_weight)
        labeled = np.flatnonzero(is_labeled(y))
        if not len(labeled):
            raise ValueError(
                "y labels no sample: all entries are -1; give labeled samples to score"
            )
        weights = None if sample_weight is None else _safe_indexing(sample_weight, labeled)
        return accuracy_score(y[labeled], self.predict(X)[labeled], sample_weight=weights)

    @property
    def _n_classes(self):
        return len(self.classes_)

    def _get_estimator(self):
        """Return the weak learner, which is cloned for each round."""
        return DecisionTreeClassifier(max_depth=2) if self.estimator is None else self.estimator

    def _make_learner(self, X, objective):
        return make_classifier_learner(
            self._get_estimator(),
            X,
            weighting=self.weighting,
            max_samples=self.max_samples,
            random_state=self._random_state,
            n_labels=self._n_classes,
            n_classes=self._n_classes,
        )

    def _class_scores(self, X):
        return self._scores(self._check_X(X))

    def _check_X(self, X):
        check_is_fitted(self)
        return check_rows(self, X, reset=False)

    def _check_X_y(self, X, y):
        """Check the training samples, and return their labels as indices into `classes_` or -1."""
        warm_start = self._is_warm_start()
        X, y = check_rows(self, X, reset=not warm_start, warm_start=warm_start, y=y)
        classes, labels = encode_labels(y)
        if warm_start and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y has the classes {classes.tolist()}, the rounds fitted so far have "
                f"{self.classes_.tolist()}; with warm_start=True they cannot change"
            )
        self.classes_ = classes
        return X, labels

    def _boost_and_label(self, objective, learner, labels):
        """Add rounds, and label the training samples."""
        scores = self._boost(objective, learner)
        self.transduction_ = self.classes_[np.where(labels < 0, scores.argmax(axis=1), labels)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = input_tags_of(self._get_estimator()).sparse
        return tags


def encode_labels(y):
    """Return the sorted classes without -1, and the index of the class of each sample.

    The index is -1 for unlabeled samples.
    """
    labeled = is_labeled(y)
    if not labeled.any():
        raise ValueError(
            "y labels no sample: all entries are -1; a classifier needs samples of two classes at "
            "least"
        )
    try:
        classes, codes = np.unique(y[labeled], return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"y must hold classes of one kind, numbers or strings, apart from -1: {error}"
        ) from error
    # The labels are repeated, since scikit-learn warns of a possible regression target if most
    # labels are distinct.
    check_classification_targets(np.tile(y[labeled], 2))
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()}; a classifier needs samples of two classes "
            "at least (-1 is no class: it marks unlabeled samples)"
        )
    labels = np.full(len(y), -1, dtype=np.intp)
    labels[labeled] = codes
    return classes, labels


def is_labeled(y):
    """Return a mask of the entries of `y` that are not -1.

    Other markers of unlabeled samples (None, NaN and the string "-1") raise an error.
    """
    if y.dtype.kind in "SU":
        # NumPy converts all entries of a list that contains a string to strings.
        if (y == np.array("-1", dtype=y.dtype.kind)).any():
            raise ValueError(
                "y is an array of strings and has '-1' among them, which would be a class: pass "
                "an array of objects, np.array(y, dtype=object), with the number -1 for unlabeled "
                "samples"
            )
        return np.ones(len(y), dtype=bool)
    # Integers and booleans are never missing.
    if y.dtype.kind not in "biu" and is_missing(y).any():
        raise ValueError("y has None or NaN: mark unlabeled samples by -1")
    return (y != -1).astype(bool)

"""Base class of the semi-supervised boosters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from sklrank._boosting_rounds import Booster
from sklrank._validation import check_rows, input_tags_of
from sklrank._weak_learners import make_classifier_learner
from sklrank.base import ClassScoresMixin
from sklrank.semi_supervised._labels import PartlyLabeledMixin

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SemiSupervisedBooster"]


class SemiSupervisedBooster(ClassScoresMixin, PartlyLabeledMixin, Booster):
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
            max_draws=self.max_draws,
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

    def _boost_and_label(self, objective, learner, labels):
        """Add rounds, and label the training samples."""
        scores = self._boost(objective, learner)
        if not self.estimators_:
            warnings.warn(
                f"{type(self).__name__} fitted no round, and predicts the same class for all "
                f"samples: {self.stop_reason_}. Choose another estimator, similarity, weighting or "
                "train_on",
                stacklevel=4,
            )
        self.transduction_ = self.classes_[np.where(labels < 0, scores.argmax(axis=1), labels)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = input_tags_of(self._get_estimator()).sparse
        return tags

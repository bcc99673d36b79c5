"""Base class of the semi-supervised boosters."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from sklrank._boosters import Booster, make_classifier_learner
from sklrank._checks import check_rows, input_tags_of
from sklrank._estimators import _fit_context, failed_weight_checks
from sklrank._rankers import ClassScoresMixin
from sklrank._typing import Self
from sklrank.semi_supervised._labels import PartlyLabeledMixin, of_partly_labeled


@of_partly_labeled
class SemiSupervisedBooster(ClassScoresMixin, PartlyLabeledMixin, Booster):
    """Base class of boosted classifiers that are fitted to labeled and unlabeled samples.

    A subclass defines `_make_objective`.
    """

    _failed_checks = PartlyLabeledMixin._failed_checks | failed_weight_checks(
        "neighbors, and samples that are drawn, are counted"
    )

    @abstractmethod
    def _make_objective(self, X, labels, weights):
        """Return the objective; `labels` are indices into `classes_`, or -1."""

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the ensemble to labeled and unlabeled samples.

        {partly_labeled}
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples in the objective, in proportion to each other. Samples of weight
            0 are left out. If None, all samples have the same weight.

        {returns_self}

        Warns
        -----
        UserWarning
            If no round could be fitted.
        """
        return self._fit(X, y, sample_weight)

    def _fit_labels(self, X, labels, weights):
        self._start_rounds()
        objective = self._make_objective(X, labels, weights)
        scores = self._initial_scores(X)
        self._boost(objective, self._make_learner(X, objective), scores)
        if not self.estimators_:
            warnings.warn(
                f"{type(self).__name__} fitted no round, and predicts the same class for all "
                f"samples: {self.stop_reason_}. Choose another estimator, similarity, "
                "weighting or train_on",
                stacklevel=5,
            )
        self.transduction_ = self.classes_[np.where(labels < 0, scores.argmax(axis=1), labels)]

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Predict the class of each sample after each round of boosting.

        {samples}

        Returns
        -------
        iterator of ndarray of shape (n_samples,)
            Predicted classes after each round.
        """
        rounds = self._scores_of_rounds(self._check_X(X))
        return (self.classes_[scores.argmax(axis=1)] for scores in rounds)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict class probabilities, the softmax of the scores.

        {samples}

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Class probabilities, which are not calibrated. The sum of each row is 1.
        """
        return softmax(self._class_scores(X), axis=1)

    @property
    def _n_classes(self):
        return len(self.classes_)

    def _get_estimator(self):
        """Return the weak learner, which is cloned for each round."""
        # Of depths from 2 to 12, and without a limit, the best in the mean over satimage, vowel,
        # mice_protein, pendigits, car, iris, wine and breast_cancer, for ASSEMBLE.
        return DecisionTreeClassifier(max_depth=8) if self.estimator is None else self.estimator

    def _make_learner(self, X, objective):
        return make_classifier_learner(
            self._get_estimator(),
            X,
            weighting=self.weighting,
            random_state=self._random_state,
            n_labels=self._n_classes,
            n_classes=self._n_classes,
        )

    def _class_scores(self, X):
        return self._scores(self._check_X(X))

    def _check_X(self, X):
        check_is_fitted(self)
        return check_rows(self, X, reset=False)

    @property
    def _accepts_sparse(self):
        return input_tags_of(self._get_estimator()).sparse

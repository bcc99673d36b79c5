"""What the boosters of document rankings share: weak learners, predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklrank._validation import check_rows
from sklrank.base import DocumentRankerMixin
from sklrank.boosting._booster import Booster
from sklrank.boosting._weak_learners import ClassifierLearner, StumpLearner
from sklrank.tree import StumpClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

__all__ = ["DocumentRanker"]


class DocumentRanker(DocumentRankerMixin, Booster):
    """A booster whose scores rank the documents of queries."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = (
            self.estimator is not None and get_tags(self.estimator).input_tags.sparse
        )
        return tags

    def _learner(self, X, objective):
        """What learns the labels and weights of the objective on these rows."""
        estimator = StumpClassifier() if self.estimator is None else self.estimator
        by_class = self._response == "predict"
        if type(estimator) is StumpClassifier and self.weighting != "resampling" and by_class:
            estimator._validate_params()
            return StumpLearner(estimator, X)
        return ClassifierLearner(
            estimator,
            X,
            weighting=self.weighting,
            max_samples=self.max_samples,
            response=self._response,
        )

    def _boost_rows(self, X, objective, enough=None):
        """Play rounds from the scores of the rounds so far."""
        self._boost(objective, self._learner(X, objective), self._sum(X), enough)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Score documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
            Scores, higher = ranked earlier. A document's score does not depend on the others.
        """
        return self._sum(self._checked(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Score documents by the ensemble of each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.

        Returns
        -------
        iterator of ndarray of float64 of shape (n_samples,)
            Scores after one round, after two, and so on.
        """
        return self._staged_sums(self._checked(X))

    def _checked(self, X, *, reset=False):
        if not reset:
            check_is_fitted(self)
        return check_rows(self, X, reset=reset, dtype=[np.float64, np.float32])

"""What a ranker of labels is."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import accuracy_score

from sklrank._rankings import positions_from_scores
from sklrank.metrics import rank_loss

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["LabelRankerMixin"]


class LabelRankerMixin:
    """Rankings of the labels, for an estimator that scores them.

    The estimator defines `_label_scores(X)`, the scores `(n_samples, n_labels)`, `classes_`, and
    whether it learns indicators of labels or class labels, `_learns_indicators`.
    A higher score ranks a label earlier; among equal scores the smaller label comes first.
    """

    def predict_ranks(self, X: ArrayLike) -> np.ndarray:
        """The position of each label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of int of shape (n_samples, n_labels)
            1 is best; columns as in `classes_`.
        """
        return positions_from_scores(self._label_scores(X)).astype(np.intp)

    def predict_topk(self, X: ArrayLike, k: int) -> np.ndarray:
        """The `k` best labels, best first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        k : int
            How many labels, from 1 to their number.

        Returns
        -------
        ndarray of shape (n_samples, k)
            Entries of `classes_`.

        Raises
        ------
        ValueError
            If `k` is out of range.
        """
        scores = self._label_scores(X)
        if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= scores.shape[1]:
            raise ValueError(
                f"k must be an integer from 1 to the number of labels, {scores.shape[1]}; got {k!r}"
            )
        return self.classes_[np.argsort(-scores, axis=1, kind="stable")[:, :k]]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """How well the labels of `X` are ranked, or predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels), or (n_samples,)
            Relevance of the labels, or class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            For an indicator `y` the mean share of label pairs in the right order, 1 less the rank
            loss; for class labels the accuracy.
        """
        if self._learns_indicators:
            return 1.0 - rank_loss(y, self._label_scores(X), sample_weight=sample_weight)
        return accuracy_score(np.ravel(y), self.predict(X), sample_weight=sample_weight)

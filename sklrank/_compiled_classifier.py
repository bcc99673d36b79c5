"""The Python face that the compiled online classifiers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklrank._base_online import BaseOnlineClassifier, row_blocks, to_dense
from sklrank._relevance_lists import lists_of_rows
from sklrank._sklearn import _fit_context

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["CompiledClassifier"]

# Rows per compiled call; Ctrl-C is noticed only between calls.
BATCH = 10_000


class CompiledClassifier(BaseOnlineClassifier):
    """A classifier around one compiled :class:`~sklrank._online_learner.OnlineLearner`.

    A subclass makes the learner from its parameters (`_make_learner`). Boosters use `_begin` and
    drive the learner themselves.
    """

    _accepts_sparse = True

    def _make_learner(self, n_features, n_classes, random_state):
        raise NotImplementedError(f"{type(self).__name__} must define _make_learner")

    def _begin(self, n_features, classes, random_state=None):
        """Set up an untrained model for `n_features` columns and these classes.

        Parameters
        ----------
        n_features : int
            Number of columns of the rows to come.
        classes : ndarray of shape (n_classes,)
            Every class that may come.
        random_state : int, RandomState instance or None, default=None
            Overrides the parameter of that name where given.

        Returns
        -------
        self : object
            The estimator, ready to predict and learn.
        """
        if random_state is None:
            random_state = getattr(self, "random_state", None)
        learner = self._make_learner(n_features, len(classes), check_random_state(random_state))
        self.n_features_in_ = n_features
        self.classes_ = classes
        self._learner = learner
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget what was learnt, then learn from each row in order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Importance weights; a row of weight zero is passed over. One by default.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold one class only; a fitted model stays as it was.
        """
        return self._learn(*self._prepare(X, y, None, sample_weight, restart=True))

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from each row in order, going on from what was learnt before.

        Rows given in chunks, in one call or across a pickle make the same model, to the bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            Every class that may come, at the first call; those of `y` by default.
        sample_weight : array-like of shape (n_samples,), default=None
            Importance weights; a row of weight zero is passed over. One by default.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold labels that are not in `classes`; the model stays as
            it was.
        """
        return self._learn(*self._prepare(X, y, classes, sample_weight))

    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict each row, then learn from it (progressive, or prequential, validation).

        The model afterwards is the one that `partial_fit` makes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            As in `partial_fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Importance weights; a row of weight zero is predicted, but not learnt. One by default.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities that each row got before its label was shown, each row as
            `predict_proba` would have given it; columns as in `classes_`.

        Raises
        ------
        ValueError
            As `partial_fit`.
        """
        prepared = self._prepare(X, y, classes, sample_weight)
        probabilities = np.empty((prepared[0].shape[0], len(self.classes_)))
        self._learn(*prepared, probabilities)
        return probabilities

    def _learn(self, X, indptr, labels, weights, votes=None):
        for batch in row_blocks(X, BATCH):
            lists = lists_of_rows(indptr, labels, batch)
            of_batch = None if votes is None else votes[batch]
            self._learner.play_rows(to_dense(X[batch]), *lists, weights[batch], of_batch)
        return self

    def _start(self, classes):
        self._begin(self.n_features_in_, classes)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Each row sums to one; columns as in `classes_`.
        """
        check_is_fitted(self, "classes_")
        return self._by_blocks(self._learner.predict_rows, self._check_rows(X, reset=False))

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Natural logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Minus infinity where the probability is 0; columns as in `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The likeliest class of each row; the first one of `classes_` among equals.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Entries of `classes_`.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    @staticmethod
    def _by_blocks(answer, X):
        if not sparse.issparse(X):
            return answer(X)
        return np.concatenate([answer(to_dense(X[rows])) for rows in row_blocks(X, BATCH)])

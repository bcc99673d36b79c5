"""Base class of the classifiers whose model is a compiled online learner."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from sklrank._base_online import BATCH, BaseOnlineClassifier, row_blocks, to_dense
from sklrank._call_guard import ExclusiveCalls, exclusive_call, shared_call
from sklrank._relevance_lists import lists_of_rows
from sklrank._sklearn import _fit_context
from sklrank._validation import unchanged_on_error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["CompiledClassifier"]


class CompiledClassifier(BaseOnlineClassifier):
    """Base class of classifiers that consist of one compiled learner.

    A subclass defines `_make_learner`, which creates the
    :class:`~sklrank._online_learner.OnlineLearner` from the parameters. Boosters create an
    untrained model with `_init_model` and then call the compiled learner directly.
    """

    _accepts_sparse = True

    @abstractmethod
    def _make_learner(self, n_features, n_classes, random_state):
        """Return an untrained :class:`~sklrank._online_learner.OnlineLearner`."""

    def _init_model(self, n_features, classes, generator=None):
        """Create an untrained model.

        Parameters
        ----------
        n_features : int
            Number of features.
        classes : ndarray of shape (n_classes,)
            All class labels.
        generator : RandomState instance or None, default=None
            Random number generator, which is first seeded with the parameter `random_state` if that
            is an int. This takes a tenth of the time of creating a generator. If None, a generator
            is created from `random_state`.

        Returns
        -------
        self : object
            The estimator, ready to predict and learn.
        """
        random_state = getattr(self, "random_state", None)
        if generator is None:
            generator = check_random_state(random_state)
        elif random_state is not None:
            generator.seed(random_state)
        learner = self._make_learner(n_features, len(classes), generator)
        self.n_features_in_ = n_features
        self.classes_ = classes
        self._learner = learner
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch, learning one sample after the other.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Importance weights. A sample of weight zero is skipped. If None, all weights are one.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are invalid or have a single class. In this case, a fitted model does
            not change.
        """
        with unchanged_on_error(self):
            self._learn(*self._check_and_start(X, y, None, sample_weight, restart=True))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the model, learning one sample after the other.

        Passing the samples in one call or in several calls gives bit-identical models. Pickling
        the model between calls does not change the result.

        If Ctrl-C interrupts the call (KeyboardInterrupt), the model keeps the samples of whole
        batches (of up to 10,000 samples). If memory runs out (MemoryError), the model keeps
        what it has learned before, which may include a part of a sample. In both cases, there is no
        model after a first call.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            All class labels, which are fixed in the first call. If None in the first call, they are
            the labels in `y`.
        sample_weight : array-like of shape (n_samples,), default=None
            Importance weights. A sample of weight zero is skipped. If None, all weights are one.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are invalid or have labels that are not in `classes`. In this case, the
            model does not change.
        """
        with self._discard_failed_start():
            self._learn(*self._check_and_start(X, y, classes, sample_weight))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def progressive_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict each sample, then learn from it (progressive, or prequential, validation).

        The resulting model is the same as that of `partial_fit`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            As in `partial_fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Importance weights. A sample of weight zero is predicted, but not learned. If None, all
            weights are one.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Class probabilities of each sample, predicted before the sample is learned. The columns
            are in the order of `classes_`.

        Raises
        ------
        ValueError
            If the data are invalid, as in `partial_fit`.
        """
        with self._discard_failed_start():
            prepared = self._check_and_start(X, y, classes, sample_weight)
            probabilities = np.empty((prepared[0].shape[0], len(self.classes_)))
            self._learn(*prepared, probabilities)
        return probabilities

    def _learn(self, X, indptr, labels, weights, votes=None):
        with ExclusiveCalls([self._learner]):
            for batch in self._track(row_blocks(X, BATCH), "batch", may_stop=votes is None):
                lists = lists_of_rows(indptr, labels, batch)
                of_batch = None if votes is None else votes[batch]
                self._learner.play_rows(to_dense(X[batch]), *lists, weights[batch], of_batch)

    def _start_model(self, classes):
        self._init_model(self.n_features_in_, classes)

    @shared_call
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Class probabilities. Each row sums to one. The columns are in the order of `classes_`.
        """
        return self._predict_proba(X)

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the natural logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms of the class probabilities, which are minus infinity if the probability is 0.
            The columns are in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @shared_call
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the most probable class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes. If classes are equally probable, the first of them is predicted.
        """
        best = self._predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _predict_proba(self, X):
        self._check_fitted()
        return self._by_blocks(self._learner.predict_rows, self._check_rows(X, reset=False))

    @staticmethod
    def _by_blocks(predict, X):
        if not sparse.issparse(X):
            return predict(X)
        return np.concatenate([predict(to_dense(X[block])) for block in row_blocks(X, BATCH)])

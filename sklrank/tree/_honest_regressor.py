"""Base class of the honest regressors, and the division of samples into two halves."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklrank._randomness import MAX_FEATURES
from sklrank._sklearn import Interval, _fit_context
from sklrank._validation import as_numbers, check_rows, unchanged_on_error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = [
    "MAX_SEED",
    "Halves",
    "HonestRegressor",
    "draw_halves",
    "group_means",
    "standardize",
]

MAX_SEED = np.iinfo(np.int32).max
MAX_TARGET = 1e150


class Halves(NamedTuple):
    """Indices of the samples that choose the splits, and of those that give the leaf values."""

    structure: np.ndarray
    estimation: np.ndarray


def draw_halves(n_samples: int, honest: bool, random_state) -> Halves:
    """Divide the samples at random into halves; if not `honest`, return all samples twice.

    An odd sample goes to the half for the leaf values.
    """
    if not honest:
        everything = np.arange(n_samples)
        return Halves(everything, everything)
    order = random_state.permutation(n_samples)
    return Halves(np.sort(order[: n_samples // 2]), np.sort(order[n_samples // 2 :]))


def standardize(y):
    """Return targets of mean 0 and absolute values up to 1; constant targets become 0.

    Squares of the result do not overflow.
    """
    if len(y) == 0:
        return y
    low, high = y.min(axis=0), y.max(axis=0)
    y = np.where(low == high, 0.0, y - y.mean(axis=0))
    return y / (np.abs(y).max() or 1.0)


def group_means(y, groups, n_groups: int):
    """Return the mean targets `(n_groups, n_outputs)` of groups of at least one sample each."""
    sums = [np.bincount(groups, weights=output, minlength=n_groups) for output in y.T]
    return np.column_stack(sums) / np.bincount(groups, minlength=n_groups)[:, np.newaxis]


class HonestRegressor(RegressorMixin, MultiOutputMixin, BaseEstimator, metaclass=ABCMeta):
    """Base class of the honest regressors.

    A subclass defines `_fit(X, y, random_state)` and `_predict(X)` for checked data, where targets
    and predictions have the shape `(n_samples, n_outputs)`.
    """

    _parameter_constraints: dict = {
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "honest": ["boolean"],
        "max_features": MAX_FEATURES,
        "random_state": ["random_state"],
    }

    @property
    @abstractmethod
    def _dtype(self):
        """Type of X, in which thresholds are compared."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model from scratch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        self : object
            Fitted estimator.

        Raises
        ------
        ValueError
            If the data are invalid; a fitted model stays unchanged.
        """
        with unchanged_on_error(self):
            X, y = check_rows(
                self, X, y=y, reset=True, dtype=self._dtype, multi_output=True, y_numeric=True
            )
            if issparse(y):
                raise ValueError("y must be dense, got a sparse matrix: pass y.toarray()")
            if y.dtype.kind in "mM":
                raise ValueError(f"y must be numbers, got {y.dtype}: pass times in a unit")
            y = as_numbers(y, "y").reshape(len(X), -1)
            if np.abs(y).max() > MAX_TARGET:
                raise ValueError(
                    f"y must be within {MAX_TARGET:g} of 0, got {np.abs(y).max():g}: sums of "
                    "squares would overflow; scale it"
                )
            self._fitted_dtype = X.dtype
            self.n_outputs_ = y.shape[1]
            self._fit(X, y, check_random_state(self.random_state))
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predicted targets; for a single output the array is 1-d.
        """
        predicted = self._predict(self._check_X(X))
        return predicted[:, 0] if self.n_outputs_ == 1 else predicted

    def _check_X(self, X):
        check_is_fitted(self)
        return check_rows(self, X, reset=False, dtype=self._fitted_dtype)

    @abstractmethod
    def _fit(self, X, y, random_state):
        """Fit to checked data."""

    @abstractmethod
    def _predict(self, X):
        """Predict the targets `(n_samples, n_outputs)` of checked samples."""

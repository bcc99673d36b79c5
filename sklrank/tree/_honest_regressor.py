"""What the honest regressors share: checks of the data, and rows in two halves."""

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
    "LARGEST_SEED",
    "Halves",
    "HonestRegressor",
    "centred",
    "draw_halves",
    "means_of_groups",
]

LARGEST_SEED = np.iinfo(np.int32).max
LARGEST_TARGET = 1e150


class Halves(NamedTuple):
    """Row numbers: of those that choose the splits, and of those that fill the leaves."""

    structure: np.ndarray
    estimation: np.ndarray


def draw_halves(n_samples: int, honest: bool, random_state) -> Halves:
    """Halves of the rows, drawn at random, or all rows twice; an odd row fills leaves."""
    if not honest:
        every = np.arange(n_samples)
        return Halves(every, every)
    order = random_state.permutation(n_samples)
    return Halves(np.sort(order[: n_samples // 2]), np.sort(order[n_samples // 2 :]))


def centred(y):
    """Targets of mean 0 and absolute values up to 1, whose squares are safe; constants become 0."""
    if len(y) == 0:
        return y
    low, high = y.min(axis=0), y.max(axis=0)
    y = np.where(low == high, 0.0, y - y.mean(axis=0))
    return y / (np.abs(y).max() or 1.0)


def means_of_groups(y, groups, n_groups: int):
    """Mean targets `(n_groups, n_outputs)` of the groups of rows; each has a row at least."""
    sums = [np.bincount(groups, weights=column, minlength=n_groups) for column in y.T]
    return np.column_stack(sums) / np.bincount(groups, minlength=n_groups)[:, np.newaxis]


class HonestRegressor(RegressorMixin, MultiOutputMixin, BaseEstimator, metaclass=ABCMeta):
    """Base: a subclass defines `_fit(X, y, random_state)` and `_predict(X)` for checked data.

    There targets and predictions have the shape `(n_samples, n_outputs)`.
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
        """In what type thresholds are compared."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed; a fitted model stays as it was.
        """
        with unchanged_on_error(self):
            X, y = check_rows(
                self, X, y=y, reset=True, dtype=self._dtype, multi_output=True, y_numeric=True
            )
            if issparse(y):
                raise ValueError("y must be dense, got a sparse matrix: pass y.toarray()")
            if y.dtype.kind in "mM":
                raise ValueError(f"y must be numbers, got {y.dtype}: say from when, in which unit")
            y = as_numbers(y, "y").reshape(len(X), -1)
            if np.abs(y).max() > LARGEST_TARGET:
                raise ValueError(
                    f"y must be within {LARGEST_TARGET:g} of 0, got {np.abs(y).max():g}: sums of "
                    "squares would overflow; scale it"
                )
            self._dtype_of_rows = X.dtype
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
            Predicted targets; one column is returned as a vector.
        """
        predicted = self._predict(self._fitted_rows(X))
        return predicted[:, 0] if self.n_outputs_ == 1 else predicted

    def _fitted_rows(self, X):
        check_is_fitted(self)
        return check_rows(self, X, reset=False, dtype=self._dtype_of_rows)

    @abstractmethod
    def _fit(self, X, y, random_state):
        """Learn from checked data."""

    @abstractmethod
    def _predict(self, X):
        """Predicted targets `(n_samples, n_outputs)` of checked rows."""

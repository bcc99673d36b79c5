"""What the label rankers share: targets that are rankings, and models fitted in parallel."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel
from sklearn.utils.validation import check_is_fitted

from sklrank._rankings import check_positions
from sklrank._sklearn import N_JOBS, _fit_context, _num_samples
from sklrank._validation import (
    check_columns,
    check_rows,
    column_names,
    labels_of_columns,
    unchanged_on_error,
)
from sklrank.base import LabelRankerMixin
from sklrank.metrics import kendall_tau_score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["LabelRanker"]


class LabelRanker(LabelRankerMixin, MetaEstimatorMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the rankers that learn rankings through other estimators.

    A data frame reaches these as it is, all other rows as an array or as a sparse matrix: rows are
    chosen by `_safe_indexing`, and counted by `_num_samples`. A subclass names the estimators,
    `_templates()`, learns rankings by them, `_fit_rankings(X, positions)`, and defines
    `_label_scores(X)`.
    """

    _parameter_constraints: dict = {
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    @abstractmethod
    def _templates(self):
        """All estimators that the rows go to, before they are cloned."""

    @abstractmethod
    def _fit_rankings(self, X, positions):
        """Learn positions `(n_samples, n_labels)` of checked rows; refuse what does not suit."""

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn to rank the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows; sparse where all estimators inside take such. A data frame reaches these as it is,
            so that they may name columns.
        y : array-like of shape (n_samples, n_labels)
            Positions of the labels: smaller is better, only the order counts; equal: tied, NaN:
            not ranked.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed, or they or the estimators inside do not suit the parameters;
            a fitted model stays as it was.
        """
        with unchanged_on_error(self):
            X = self._check_rows(X, reset=True)
            positions = self._check_rankings(y, _num_samples(X))
            self._fit_rankings(X, positions)
            self.classes_ = labels_of_columns(column_names(y), positions.shape[1])
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The position of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of int of shape (n_samples, n_labels)
            1 is best; every row is a permutation.
        """
        return self.predict_ranks(X)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Higher ranks earlier.

        Notes
        -----
        For scores of rows that were held out do not use scikit-learn's `cross_val_predict` with
        ``method="decision_function"``: it takes the columns of `y` for classes and numbers the
        values of each column anew, so that labels which never stand at some place move up, and
        other rankings are learnt. A ranker cannot notice, as only the order of positions counts
        and they may be tied. The loop below is safe, and so are `cross_val_predict` with
        ``method="predict"``, `cross_val_score` and searches, which leave `y` as it is.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.base import clone
        >>> from sklearn.linear_model import Ridge
        >>> from sklearn.model_selection import KFold
        >>> from sklrank.label_ranking import LabelwiseRanker
        >>> X = np.random.RandomState(0).normal(size=(60, 3))
        >>> Y = np.argsort(np.argsort(X + [0, 2, 4], axis=1), axis=1) + 1
        >>> ranker, scores = LabelwiseRanker(Ridge()), np.empty(Y.shape)
        >>> for train, test in KFold(5).split(X):
        ...     scores[test] = clone(ranker).fit(X[train], Y[train]).decision_function(X[test])

        The rankings of higher scores first agree with those held out:

        >>> from sklrank.metrics import kendall_tau_score
        >>> print(f"{kendall_tau_score(Y, -scores):.2f}")
        0.89
        """
        return self._label_scores(X)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Mean Kendall tau between the rankings of the rows and those predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples, n_labels)
            Positions of the labels; NaN: not ranked.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            From -1 to 1, see :func:`~sklrank.metrics.kendall_tau_score`.
        """
        ranks = self.predict(X)
        check_columns(column_names(y), self.classes_)
        y = self._check_rankings(y, len(ranks))
        if y.shape != ranks.shape:
            raise ValueError(
                f"y must hold a position for each label that was fitted, in the shape {ranks.shape}"
                f"; got {y.shape}: NaN where a label is not ranked"
            )
        return kendall_tau_score(y, ranks, sample_weight=sample_weight)

    def _check_rows(self, X, *, reset):
        if hasattr(X, "__dataframe__"):
            # Estimators choose columns by name, or accept strings; they refuse the rest.
            return check_rows(self, X, reset=reset, skip_check_array=True)
        return check_rows(self, X, reset=reset, dtype=None if sparse.issparse(X) else "numeric")

    def _check_rankings(self, y, n_samples):
        """Positions `(n_samples, n_labels)`, float64, NaN where a label is not ranked."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        y = check_positions(y, "y")
        if len(y) != n_samples:
            raise ValueError(
                f"y has {len(y)} rows and X has {n_samples}: give each row of X one ranking"
            )
        if np.isnan(y).all():
            raise ValueError("y ranks no label in any row: all entries are NaN")
        return y

    def _in_parallel(self, calls):
        return Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(calls)

    def _fitted_rows(self, X):
        check_is_fitted(self)
        return self._check_rows(X, reset=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_templates = [get_tags(template).input_tags for template in self._templates()]
        tags.input_tags.sparse = all(of_one.sparse for of_one in of_templates)
        tags.input_tags.allow_nan = all(of_one.allow_nan for of_one in of_templates)
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags

"""StumpClassifier: one feature and one threshold; the weak learner of the document rankers."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from sklrank._sklearn import Interval, StrOptions, _fit_context
from sklrank._validation import check_rows, check_weights, unchanged_on_error
from sklrank.tree._stump_search import best_threshold
from sklrank.tree._thresholds import midpoints, rises

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["BinnedRows", "StumpClassifier"]


class StumpClassifier(ClassifierMixin, BaseEstimator):
    r"""A classifier into two classes by one threshold of one feature, found in one compiled pass.

    Let :math:`b` be the weight of the one class less that of the other among the rows on a side of
    the threshold, and :math:`w` the weight of both. The "gini" criterion is that of scikit-learn's
    trees, the threshold with the greatest :math:`b_l^2 / w_l + b_r^2 / w_r`; "gain" the one
    with the greatest :math:`|b_l - b_r|`, which is the best accuracy of a rule that says one class
    below the threshold and the other above it. In a booster "gain" is what Equations 3.18 and 4.13
    of [1]_ ask for. What lowers the booster's objective is the gain in relation to the weight
    that it is gained from, which "gini" comes nearer to.

    Parameters
    ----------
    criterion : {"gini", "gain"}, default="gini"
        What the threshold is chosen for. Among equals the smaller feature comes first, then the
        smaller threshold.
    max_bins : int, default=255
        A feature with more values than this has thresholds between so many quantiles of them only;
        from 2 to 256.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, sorted.
    feature_ : int
        The feature.
    threshold_ : float
        The threshold; values above it are on the right. Infinite where no threshold gains anything,
        so that all rows are on the left.
    sides_ : ndarray of int of shape (2,)
        What is said on the left and on the right, indices into `classes_`.
    shares_ : ndarray of shape (2,)
        Share of the second class in the weight on the left and on the right.
    feature_importances_ : ndarray of shape (n_features,)
        1 for the feature, 0 for the others; all 0 where no threshold gains anything.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had names.

    See Also
    --------
    sklearn.tree.DecisionTreeClassifier : Trees of any depth; with `max_depth=1` a stump.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklrank.tree import StumpClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> stump = StumpClassifier().fit(X, y)
    >>> stump.feature_, round(stump.threshold_, 1)
    (23, 874.9)
    >>> round(stump.score(X, y), 3)
    0.921
    """

    _parameter_constraints = {
        "criterion": [StrOptions({"gini", "gain"})],
        "max_bins": [Interval(Integral, 2, 256, closed="both")],
    }

    def __init__(self, *, criterion: Literal["gini", "gain"] = "gini", max_bins: int = 255) -> None:
        self.criterion = criterion
        self.max_bins = max_bins

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> StumpClassifier:
        """Find the feature and the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels, of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None: 1 each.

        Returns
        -------
        StumpClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            If `y` has not two classes, or the input holds NaN or infinities; a fitted stump stays
            as it was.
        """
        with unchanged_on_error(self):
            X, y = check_rows(self, X, y=y, reset=True, dtype=np.float64)
            check_classification_targets(y)
            classes, labels = np.unique(y, return_inverse=True)
            if len(classes) != 2:
                raise ValueError(
                    "Only binary classification is supported: y must have two classes, got "
                    f"{len(classes)} class(es); for more take sklearn.tree.DecisionTreeClassifier"
                )
            weights = check_weights(sample_weight, len(X), positive=True)
        self.classes_ = classes
        seen = weights > 0
        return self._fit_binned(BinnedRows(X[seen], self.max_bins), labels[seen], weights[seen])

    def _fit_binned(self, rows, labels, weights):
        """Fit labels 0 and 1 on binned rows."""
        balances = np.where(labels == 1, weights, -weights)
        feature, bin_ = best_threshold(
            rows.codes, rows.first_bin, balances, rows.sums, self.criterion == "gini"
        )
        self.n_features_in_ = rows.codes.shape[1]
        self.feature_importances_ = np.zeros(self.n_features_in_)
        if feature < 0:
            self.feature_, self.threshold_ = 0, np.inf
            self.sides_ = np.full(2, int(balances.sum() > 0))
            self._leads, self._side_weights = [balances.sum()] * 2, [weights.sum()] * 2
            return self
        self.feature_ = feature
        self.threshold_ = float(rows.thresholds[feature][bin_])
        self.feature_importances_[feature] = 1.0
        left = rows.codes[:, feature] <= bin_
        # Numbers of rows are taken faster than a mask.
        parts = [balances.take(side.nonzero()[0]) for side in (left, ~left)]
        self._leads = below, above = [np.add.reduce(part) for part in parts]
        self._side_weights = [np.add.reduce(np.abs(part)) for part in parts]
        # Each side says its heavier class. By "gain" these differ, or one side would do as well.
        self.sides_ = np.array([below > 0, above > 0], dtype=np.intp)
        return self

    @property
    def shares_(self) -> np.ndarray:
        """Share of the second class in the weight on the left and on the right."""
        check_is_fitted(self)
        leads, weights = np.array(self._leads), np.array(self._side_weights)
        # What no row has come to says as much for one class as for the other.
        return np.divide(leads + weights, 2 * weights, out=np.full(2, 0.5), where=weights > 0)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Entries of `classes_`.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, dtype=np.float64)
        return self.classes_[self._predict_checked(X)]

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probability of either class: its share in the weight on the row's side.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Each row sums to one; columns as in `classes_`. The likelier class is that of `predict`,
            the first one among equals.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, dtype=np.float64)
        second = self.shares_[self._side(X)]
        return np.column_stack([1.0 - second, second])

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Natural logarithm of the probability of either class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Minus infinity where the probability is 0; columns as in `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _predict_checked(self, X):
        """What is said of rows that need no check, 0 or 1."""
        return self.sides_[self._side(X)]

    def _side(self, X):
        """0 for rows on the left, 1 for rows on the right."""
        # A Python float would be rounded to the single precision of such rows.
        threshold = np.float64(self.threshold_)
        return (X[:, self.feature_] > threshold).astype(np.intp)


class BinnedRows:
    """Rows with each value replaced by the number of thresholds below it.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    max_bins : int
        Most bins of a feature, up to 256.
    """

    def __init__(self, X, max_bins):
        self.thresholds = [thresholds_of(column, max_bins) for column in X.T]
        n_bins = [1 + len(thresholds) for thresholds in self.thresholds]
        self.first_bin = np.concatenate([[0], np.cumsum(n_bins)]).astype(np.intp)
        self.codes = np.empty(X.shape, dtype=np.uint8)
        for feature, thresholds in enumerate(self.thresholds):
            self.codes[:, feature] = np.searchsorted(thresholds, X[:, feature])
        # The search writes its histograms here; they are allocated once for all rounds.
        self.sums = np.empty((self.first_bin[-1], 2))


def thresholds_of(values, max_bins):
    """Thresholds between the values of a feature, one less than bins at most."""
    ordered = np.sort(values)
    bounds = rises(ordered, max_bins)
    return midpoints(ordered[bounds - 1], ordered[bounds])

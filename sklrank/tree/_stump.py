"""StumpClassifier: one threshold of one feature; the weak learner of the document rankers."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from sklrank._sklearn import Interval, StrOptions, _fit_context
from sklrank._validation import check_rows, check_weights, unchanged_on_error
from sklrank.tree._binning import BinnedFeatures
from sklrank.tree._threshold_gains import best_threshold

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["StumpClassifier"]


class StumpClassifier(ClassifierMixin, BaseEstimator):
    r"""A binary classifier with one threshold of one feature, found in one compiled pass.

    Let :math:`b_l` be the weight of the second class minus that of the first class in the left
    leaf, :math:`w_l` the weight of both, and :math:`b_r, w_r` the same of the right leaf. The
    criterion "gini", that of scikit-learn's trees, chooses the threshold with the largest
    :math:`b_l^2 / w_l + b_r^2 / w_r`; "gain" the one with the largest :math:`|b_l - b_r|`, which
    is the most accurate rule that predicts one class below the threshold and the other above it.
    For boosting, Equations 3.18 and 4.13 of [1]_ use "gain". The default is "gini" because a
    booster's objective decreases with the gain relative to the weight that it is gained from, which
    "gini" approximates better.

    Parameters
    ----------
    criterion : {"gini", "gain"}, default="gini"
        Measure of a threshold. Ties go to the smaller feature, then to the smaller threshold.
    max_bins : int, default=255
        Maximum number of bins of a feature, from 2 to 256. A feature with more distinct values has
        thresholds only between this number of quantiles.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels, sorted.
    feature_ : int
        Index of the feature.
    threshold_ : float
        The threshold; samples with larger values go to the right leaf. Infinite if no threshold has
        a gain, so that all samples go to the left leaf.
    leaf_classes_ : ndarray of int of shape (2,)
        Predicted class of the left and of the right leaf, as indices into `classes_`.
    leaf_proba_ : ndarray of shape (2,)
        Probability of the second class in the left and in the right leaf: its share of the weight.
    feature_importances_ : ndarray of shape (n_features,)
        1 for the feature, 0 for the others; all 0 if no threshold has a gain.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` has feature names that are strings.

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
            Class labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; None: 1 each.

        Returns
        -------
        StumpClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            If `y` does not have two classes, or the input holds NaN or infinities; a fitted stump
            stays unchanged.
        """
        with unchanged_on_error(self):
            X, y = check_rows(self, X, y=y, reset=True, dtype=np.float64)
            check_classification_targets(y)
            classes, labels = np.unique(y, return_inverse=True)
            if len(classes) != 2:
                raise ValueError(
                    "Only binary classification is supported: y must have two classes, got "
                    f"{len(classes)} class(es); for more use sklearn.tree.DecisionTreeClassifier"
                )
            weights = check_weights(sample_weight, len(X), positive=True)
        self.classes_ = classes
        seen = weights > 0
        binned = BinnedFeatures(X[seen], self.max_bins)
        return self._fit_binned(binned, labels[seen], weights[seen])

    def _fit_binned(self, binned, labels, weights):
        """Fit the labels 0 and 1 of samples whose features are binned."""
        balances = np.where(labels == 1, weights, -weights)
        feature, bin_ = best_threshold(
            binned.codes, binned.first_bin, balances, binned.histograms, self.criterion == "gini"
        )
        self.n_features_in_ = binned.codes.shape[1]
        self.feature_importances_ = np.zeros(self.n_features_in_)
        if feature < 0:
            self.feature_, self.threshold_ = 0, np.inf
            self.leaf_classes_ = np.full(2, int(balances.sum() > 0))
            self._leaf_balances, self._leaf_weights = [balances.sum()] * 2, [weights.sum()] * 2
            return self
        self.feature_ = feature
        self.threshold_ = float(binned.thresholds[feature][bin_])
        self.feature_importances_[feature] = 1.0
        is_left = binned.codes[:, feature] <= bin_
        # `take` of indices is faster than a mask.
        leaves = [balances.take(mask.nonzero()[0]) for mask in (is_left, ~is_left)]
        self._leaf_balances = left, right = [np.add.reduce(leaf) for leaf in leaves]
        self._leaf_weights = [np.add.reduce(np.abs(leaf)) for leaf in leaves]
        # Each leaf predicts its heavier class. With "gain" the two classes differ: a split into
        # leaves of the same class gains nothing.
        self.leaf_classes_ = np.array([left > 0, right > 0], dtype=np.intp)
        return self

    @property
    def leaf_proba_(self) -> np.ndarray:
        """Probability of the second class in the left and in the right leaf."""
        check_is_fitted(self)
        balances, weights = np.array(self._leaf_balances), np.array(self._leaf_weights)
        # A leaf without samples gives both classes the same probability.
        return np.divide(balances + weights, 2 * weights, out=np.full(2, 0.5), where=weights > 0)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict class labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted class labels.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, dtype=np.float64)
        return self.classes_[self._predict_checked(X)]

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the probability of each class: its share of the weight in the leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Rows sum to one; columns as in `classes_`. `predict` returns the more probable class,
            the first one if both are equally probable.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, dtype=np.float64)
        second = self.leaf_proba_[self._find_leaves(X)]
        return np.column_stack([1.0 - second, second])

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the natural logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Minus infinity if the probability is 0; columns as in `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _predict_checked(self, X):
        """Return the predicted classes, 0 or 1, of checked samples."""
        return self.leaf_classes_[self._find_leaves(X)]

    def _find_leaves(self, X):
        """Return 0 for samples in the left leaf, 1 for samples in the right leaf."""
        # If X has single precision, a Python float would be rounded to it.
        threshold = np.float64(self.threshold_)
        return (X[:, self.feature_] > threshold).astype(np.intp)

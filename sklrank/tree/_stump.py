"""StumpClassifier: a tree with a single split, the weak learner of the document rankers."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from sklrank._estimator import BaseEstimator
from sklrank._sklearn import Interval, StrOptions, _fit_context
from sklrank._validation import check_rows, check_weights, unchanged_on_error
from sklrank.tree._binning import BinnedFeatures
from sklrank.tree._threshold_gains import best_threshold

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["StumpClassifier"]


class StumpClassifier(ClassifierMixin, BaseEstimator):
    r"""A decision stump: a binary classifier that splits on one feature at one threshold.

    Samples with values up to the threshold are in the left leaf, the others in the right leaf. Each
    leaf predicts the class that has the larger weight in it. The split maximizes a criterion over
    all features and thresholds. Let :math:`w_l` be the total weight of the samples in the left
    leaf, and let :math:`b_l` be the weight of its samples of the second class minus the weight of
    its samples of the first class. Let :math:`w_r` and :math:`b_r` be the corresponding quantities
    of the right leaf. The criterion is one of the following:

    - "gini": :math:`b_l^2 / w_l + b_r^2 / w_r`. Its maximum is the split with the smallest Gini
      impurity, which scikit-learn's trees choose, too.
    - "gain": :math:`|b_l - b_r|`. Its maximum is the most accurate classifier among those that
      predict one class below the threshold and the other class above it. Equations 3.18 and 4.13
      of [1]_ use this criterion for boosting.

    The default is "gini" because it usually decreases the objective of a booster more: the
    decrease depends on :math:`b_l` and :math:`b_r` relative to the weights :math:`w_l` and
    :math:`w_r`.

    Parameters
    ----------
    criterion : {"gini", "gain"}, default="gini"
        Criterion that the split maximizes. Ties are broken by the smaller feature index, then by
        the smaller threshold.
    max_bins : int, default=255
        Maximum number of bins of each feature, from 2 to 256. For a feature with more distinct
        values, the candidate thresholds are quantiles of its values.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels, sorted.
    feature_ : int
        Index of the feature that the stump splits on.
    threshold_ : float
        Threshold of the split. Samples with larger values are in the right leaf. If no split
        improves the criterion, the threshold is infinite, and all samples are in the left leaf.
    leaf_classes_ : ndarray of int of shape (2,)
        Predicted classes of the left and the right leaf, as indices into `classes_`.
    leaf_proba_ : ndarray of shape (2,)
        Probability of the second class in the left and in the right leaf: the proportion of the
        second class in the weight of the leaf.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the features: 1 for the feature of the split and 0 for the others, or 0 for
        all features if no split improves the criterion.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    sklearn.tree.DecisionTreeClassifier : A tree of any depth; with `max_depth=1` it is a stump.

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
        """Find the feature and the threshold of the split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels, which must be of exactly two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. If None, all samples have weight 1.

        Returns
        -------
        StumpClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            If `y` does not have two classes, or if the input contains NaN or infinite values. In
            these cases, a fitted model does not change.
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
        """Fit the stump to a `BinnedFeatures` and the class index, 0 or 1, of each sample."""
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
        # Indexing by `take` is faster than indexing by a mask.
        leaves = [balances.take(mask.nonzero()[0]) for mask in (is_left, ~is_left)]
        self._leaf_balances = left, right = [np.add.reduce(leaf) for leaf in leaves]
        self._leaf_weights = [np.add.reduce(np.abs(leaf)) for leaf in leaves]
        # Each leaf predicts the class of larger weight. With "gain" the leaves predict different
        # classes, since a split into leaves of the same class does not improve this criterion.
        self.leaf_classes_ = np.array([left > 0, right > 0], dtype=np.intp)
        return self

    @property
    def leaf_proba_(self) -> np.ndarray:
        """Probability of the second class in the left and in the right leaf."""
        check_is_fitted(self)
        balances, weights = np.array(self._leaf_balances), np.array(self._leaf_weights)
        # In a leaf without samples, both classes have probability 1/2.
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
        """Predict the probability of each class: its proportion of the weight of the leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities of the classes, in the order of `classes_`. Each row sums to 1. `predict`
            returns the more probable class, or the first class if both are equally probable.
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
            Logarithms of the probabilities, in the order of `classes_`. The logarithm of a
            probability of 0 is minus infinity.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _predict_checked(self, X):
        """Return the predicted class index, 0 or 1, of each sample of a validated array `X`."""
        return self.leaf_classes_[self._find_leaves(X)]

    def _find_leaves(self, X):
        """Return 0 for each sample in the left leaf and 1 for each sample in the right leaf."""
        # If X has single precision, NumPy would round a Python float to single precision.
        threshold = np.float64(self.threshold_)
        return (X[:, self.feature_] > threshold).astype(np.intp)

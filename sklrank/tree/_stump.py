"""StumpClassifier: a tree with a single split, the weak learner of the document rankers."""

from __future__ import annotations

from numbers import Integral
from typing import Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklrank._binning import FeatureBlocks
from sklrank._sklearn import Interval, StrOptions
from sklrank.tree._histogram_classifier import BinnedClassifier
from sklrank.tree._histogram_tree import HistogramGrower


class StumpClassifier(BinnedClassifier):
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

    The default is "gini" because it usually decreases the objective of a booster more: the decrease
    depends on :math:`b_l` and :math:`b_r` relative to the weights :math:`w_l` and :math:`w_r`.

    This is the tree of :class:`HistogramTreeClassifier` with two leaves. The weights are rounded to
    multiples of a billionth of their sum.

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
    tree_ : Tree
        The tree. Its method `nodes()` returns the arrays that describe the nodes.
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
    HistogramTreeClassifier : A tree with any number of leaves, for any number of classes.

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
        tags.input_tags.allow_nan = False
        return tags

    def _check_classes(self, classes):
        if len(classes) != 2:
            raise ValueError(
                "Only binary classification is supported: y must have two classes, got "
                f"{len(classes)} class(es); for more use HistogramTreeClassifier"
            )

    def _get_random_state(self):
        return None

    def _bin(self, X, random_state):
        # All samples are used for the quantiles: a stump needs no random numbers.
        return FeatureBlocks(X, self.max_bins, np.zeros(X.shape[1], dtype=bool), None)

    def _make_grower(self, bins, n_outputs=1):
        is_linear = self.criterion == "gain"
        return HistogramGrower(bins, max_leaf_nodes=2, is_linear=is_linear, min_hessian=0.0)

    def _root(self):
        """Return the entries of the root of the tree."""
        check_is_fitted(self)
        return {name: values[0] for name, values in self.tree_.nodes().items()}

    @property
    def feature_(self) -> int:
        """Index of the feature that the stump splits on."""
        return int(self._root()["feature"])

    @property
    def threshold_(self) -> float:
        """Threshold of the split, or infinity if there is none."""
        root = self._root()
        return float(root["threshold"]) if root["left"] else np.inf

    @property
    def leaf_classes_(self) -> np.ndarray:
        """Indices of the predicted classes of the left and the right leaf."""
        return self._sides().argmax(axis=1)

    @property
    def leaf_proba_(self) -> np.ndarray:
        """Probability of the second class in the left and in the right leaf."""
        return self._sides()[:, 1].copy()

    def _sides(self):
        """Return the proportions of the classes in the left and in the right leaf."""
        check_is_fitted(self)
        # Without a split, the root is the only leaf.
        return np.broadcast_to(self._proportions[-2:], (2, 2))

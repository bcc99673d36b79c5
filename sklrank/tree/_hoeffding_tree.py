"""HoeffdingTreeClassifier: an incremental decision tree for scikit-learn."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

import numpy as np

from sklrank._base_online import CompiledClassifier
from sklrank._randomness import MAX_FEATURES, draw_features
from sklrank._sklearn import Interval, StrOptions, _check_feature_names_in
from sklrank._validation import MAX_FACTOR, MAX_WEIGHT, check_scalar
from sklrank.tree._hoeffding import (
    LEAF_PREDICTIONS,
    HoeffdingTree,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sklrank._typing import MaxFeatures

LEAF = -1
# The compiled tree numbers its nodes by 32-bit integers.
MAX_SIZE = np.iinfo(np.int32).max


class HoeffdingTreeClassifier(CompiledClassifier):
    """A Hoeffding tree (VFDT): an incremental decision tree for data streams.

    This class implements the algorithm of [1]_ with Gaussian observers: each leaf models the values
    of each feature by one Gaussian distribution for each class. Whenever the weight of the samples
    of a leaf has increased by `grace_period`, ten thresholds of each feature are tried, equally
    spaced between its minimum and its maximum in the leaf; each side must have more than a
    hundredth of the weight. The information gain, in bits, of the best split is compared with the
    gain of the best split on another feature, and with a gain of 0 for not splitting. The leaf is
    split if the difference exceeds the Hoeffding bound ``sqrt(R**2 * log(1 / delta) / (2 * n))``,
    or if the bound is below `tau`. Here `n` is the weight of the leaf, and `R` is the base-2
    logarithm of the number of classes that have occurred in the leaf. Memory is proportional to the
    number of leaves, not to the number of samples. The tree typically learns about a million
    samples per second.

    Missing values (NaN) are ignored in the statistics of their feature. At a split, the class
    weights of samples with a missing value are added to the heavier child. Later samples with a
    missing value also go to the heavier child.

    Parameters
    ----------
    grace_period : float, default=200
        Increase in the weight of a leaf between two attempts to split it.
    delta : float, default=1e-7
        Probability with which the chosen split may differ from the split that would be chosen with
        infinitely many samples.
    tau : float, default=0.05
        Threshold for breaking ties: if the Hoeffding bound is below `tau`, the best split is made
        even if another split is almost as good.
    leaf_prediction : {"nba", "nb", "mc"}, default="nba"
        Prediction of a leaf. "mc" (majority class) predicts by the class weights of the leaf; "nb"
        predicts by naive Bayes with the Gaussian distributions of the leaf; "nba" (adaptive) uses
        the one of the two that has predicted the larger weight of samples in this leaf correctly,
        and naive Bayes in case of a tie.
    max_depth : int, default=None
        Maximum depth of the tree. If None, the depth is not limited.
    max_leaves : int, default=None
        Maximum number of leaves, which limits the memory. If None, the number of leaves is not
        limited.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of features that the tree uses: an int, a fraction of the features, "sqrt", "log2",
        or None for all features. The features are drawn at random once.
    weight_scale : float, default=1.0
        Factor by which all sample weights are multiplied. A sample of weight 10 has the same effect
        as 10 samples of weight 1; with a factor of 10, leaves are therefore split after a tenth of
        the samples. The products must not exceed 1e150, and the factor 1e60.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of features if `max_features` is smaller than their number.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the features: the sum of the gains of the splits on a feature, each weighted
        by the weight of the samples in its node, and normalized to sum to 1.

    See Also
    --------
    sklearn.tree.DecisionTreeClassifier : A tree for data that fit into memory.

    References
    ----------
    .. [1] P. Domingos and G. Hulten, "Mining high-speed data streams",
       KDD 2000.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklrank.tree import HoeffdingTreeClassifier
    >>> X, y = make_classification(5000, random_state=0)
    >>> tree = HoeffdingTreeClassifier(grace_period=100, tau=0.2).partial_fit(
    ...     X[:4000], y[:4000], classes=[0, 1]
    ... )
    >>> bool(tree.score(X[4000:], y[4000:]) > 0.85)
    True

    Predict each sample before it is learned:

    >>> tree = HoeffdingTreeClassifier()
    >>> probabilities = tree.progressive_fit(X, y)
    >>> correct = tree.classes_[probabilities.argmax(axis=1)] == y
    >>> bool(correct.mean() > 0.85)
    True
    """

    _accepts_nan = True
    _parameter_constraints: dict = {
        "grace_period": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "tau": [Interval(Real, 0, None, closed="left")],
        "leaf_prediction": [StrOptions(set(LEAF_PREDICTIONS))],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_leaves": [Interval(Integral, 2, None, closed="left"), None],
        "max_features": MAX_FEATURES,
        "weight_scale": [Interval(Real, 0, MAX_FACTOR, closed="right")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        grace_period: float = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        leaf_prediction: Literal["nba", "nb", "mc"] = "nba",
        max_depth: int | None = None,
        max_leaves: int | None = None,
        max_features: MaxFeatures = None,
        weight_scale: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.leaf_prediction = leaf_prediction
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.max_features = max_features
        self.weight_scale = weight_scale
        self.random_state = random_state

    def _make_learner(self, n_features, n_classes, random_state):
        used = draw_features(self.max_features, n_features, random_state)
        params = self.get_params()
        del params["max_features"], params["random_state"]
        for name in ("max_depth", "max_leaves"):
            params[name] = -1 if params[name] is None else min(params[name], MAX_SIZE)
        return HoeffdingTree(n_features, n_classes, used, **params)

    def _check_weights(self, weights):
        largest, scale = weights.max(initial=0.0), self._learner.weight_scale
        if largest * scale > MAX_WEIGHT:
            raise ValueError(
                f"sample_weight times weight_scale={scale:g} must be {MAX_WEIGHT:g} or less, got "
                f"{largest:g} * {scale:g}: larger ones would overflow"
            )

    def get_depth(self) -> int:
        """Return the depth of the tree: the maximum number of splits from the root to a leaf.

        Returns
        -------
        int
            Depth of the tree. The depth of a tree with a single leaf is 0.
        """
        self._check_fitted()
        return int(self._learner.node_table["depth"].max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        int
            Number of leaves, at least 1.
        """
        self._check_fitted()
        return self._learner.n_leaves

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importances of the features, normalized to sum to 1; all are 0 if there are no splits."""
        self._check_fitted()
        nodes = self._learner.node_table
        inner = nodes[nodes["feature"] != LEAF]
        gains = np.bincount(
            inner["feature"], inner["gain"] * inner["weight"], minlength=self.n_features_in_
        )
        return gains / gains.sum() if gains.sum() > 0 else gains

    def export_text(
        self,
        *,
        feature_names: ArrayLike | None = None,
        max_depth: int | None = None,
        decimals: int = 2,
    ) -> str:
        """Return the rules of the tree as a string with one line for each node.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), default=None
            Feature names to print. If None, `feature_names_in_` is used if it is defined, otherwise
            x0, x1, ...
        max_depth : int, default=None
            Depth below which branches are truncated. If None, branches are not truncated.
        decimals : int, default=2
            Number of decimals of thresholds and weights.

        Returns
        -------
        str
            Rules of the tree. For each leaf its majority class and its weight are printed.

        Raises
        ------
        TypeError, ValueError
            If `max_depth` or `decimals` is not an integer of 0 or more, or `feature_names` has the
            wrong length.

        Examples
        --------
        >>> import numpy as np
        >>> from sklrank.tree import HoeffdingTreeClassifier
        >>> X = np.repeat([[0.0], [1.0]], 500, axis=0)[np.arange(1000) * 7 % 1000]
        >>> tree = HoeffdingTreeClassifier(leaf_prediction="mc").fit(X, X[:, 0] > 0.5)
        >>> print(tree.export_text(feature_names=["size"]))
        |--- size <= 0.09
        |   |--- class: False (weight 500.00)
        |--- size >  0.09
        |   |--- class: True (weight 500.00)
        """
        self._check_fitted()
        if max_depth is not None:
            check_scalar(max_depth, "max_depth", Integral, min_val=0)
        check_scalar(decimals, "decimals", Integral, min_val=0)
        if feature_names is None:
            feature_names = _check_feature_names_in(self)
        elif len(feature_names) != self.n_features_in_:
            raise ValueError(
                f"feature_names has {len(feature_names)} entries; the tree has "
                f"{self.n_features_in_} features"
            )
        nodes = self._learner.node_table
        # A stack is used instead of recursion, since a tree may have thousands of levels.
        lines, stack = [], [("", 0, 0)]
        while stack:
            rule, index, depth = stack.pop()
            if rule:
                lines.append(rule)
            node, indent = nodes[index], "|   " * depth + "|--- "
            if node["feature"] == LEAF:
                label = self.classes_[np.argmax(self._learner.leaf_counts(node["child"]))]
                lines.append(f"{indent}class: {label} (weight {node['weight']:.{decimals}f})")
            elif max_depth is not None and depth >= max_depth:
                lines.append(f"{indent}... (weight {node['weight']:.{decimals}f})")
            else:
                name, threshold = feature_names[node["feature"]], node["threshold"]
                for sign, child in (("> ", node["child"] + 1), ("<=", node["child"])):
                    rule = f"{indent}{name} {sign} {threshold:.{decimals}f}"
                    stack.append((rule, child, depth + 1))
        return "\n".join(lines)

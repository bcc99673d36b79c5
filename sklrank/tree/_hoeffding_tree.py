"""HoeffdingTreeClassifier: an incremental decision tree for scikit-learn."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklrank._compiled_classifier import CompiledClassifier
from sklrank._randomness import MAX_FEATURES, draw_features
from sklrank._sklearn import Interval, StrOptions, _check_feature_names_in
from sklrank.tree._hoeffding import (
    CRITERIA,
    LEAF_PREDICTIONS,
    MAX_SPLIT_POINTS,
    PARAMETERS,
    WEIGHT_COUNTS,
    HoeffdingTree,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sklrank._typing import MaxFeatures

__all__ = ["HoeffdingTreeClassifier"]

LEAF = -1


class HoeffdingTreeClassifier(CompiledClassifier):
    """A decision tree that grows with a stream (VFDT, Hoeffding tree).

    Each leaf describes the values of each feature by one Gaussian a class. Every `grace_period` a
    leaf compares its best split with the best one on another feature, and with none at all; it
    splits when the lead in information gain exceeds the Hoeffding bound
    ``sqrt(R**2 * log(1 / delta) / (2 * n))``, `R` being the base-2 logarithm of the number of
    classes seen in the leaf and `n` its weight, or when that bound is below `tau`. Memory follows
    the number of leaves, not of rows. A million rows a second is a usual speed.

    Missing values (NaN) are left out of a leaf's statistics of the feature. At a split the class
    weights of their rows go to the heavier child, as the rows with missing values that follow do.

    Parameters
    ----------
    grace_period : float, default=200
        Weight that a leaf must see between two attempts to split.
    delta : float, default=1e-7
        Probability allowed for choosing another split than a sample without end would.
    tau : float, default=0.05
        Bound below which a tie is broken in favour of the best split.
    leaf_prediction : {"nba", "nb", "mc"}, default="nba"
        How a leaf votes: by its class weights ("mc"), by naive Bayes on its Gaussians ("nb"), or by
        whichever of them was right more often in this leaf so far ("nba").
    max_depth : int, default=None
        Greatest depth; None: no limit.
    max_leaves : int, default=None
        Greatest number of leaves, which bounds the memory; None: no limit.
    criterion : {"entropy", "gini"}, default="entropy"
        What a split should gain: information in bits, or Gini impurity.
    n_split_points : int, default=10
        Thresholds tried on a feature, equally spaced between its extremes in the leaf.
    min_branch_fraction : float, default=0.01
        Share of a leaf's weight that either side of a split must exceed.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features that the tree looks at, drawn once: a number, a share of them, or all.
    weight_scale : float, default=1.0
        Factor on every weight. Weights count as rows do: a scale of ten makes the tree split after
        a tenth of the weight.
    weight_count : {"sum", "effective"}, default="sum"
        What `n` and `grace_period` count: the sum of the weights, or the effective sample size
        ``sum(w)**2 / sum(w**2)``, which does not depend on the scale of the weights.
    random_state : int, RandomState instance or None, default=None
        Draws the features when `max_features` leaves some out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the gains of the splits, weighted by the rows that pass them.

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

    Each row predicted before it is learnt:

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
        "criterion": [StrOptions(set(CRITERIA))],
        "n_split_points": [Interval(Integral, 1, MAX_SPLIT_POINTS, closed="both")],
        "min_branch_fraction": [Interval(Real, 0, 0.5, closed="left")],
        "max_features": MAX_FEATURES,
        "weight_scale": [Interval(Real, 0, None, closed="neither")],
        "weight_count": [StrOptions(set(WEIGHT_COUNTS))],
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
        criterion: Literal["entropy", "gini"] = "entropy",
        n_split_points: int = 10,
        min_branch_fraction: float = 0.01,
        max_features: MaxFeatures = None,
        weight_scale: float = 1.0,
        weight_count: Literal["sum", "effective"] = "sum",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.leaf_prediction = leaf_prediction
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.criterion = criterion
        self.n_split_points = n_split_points
        self.min_branch_fraction = min_branch_fraction
        self.max_features = max_features
        self.weight_scale = weight_scale
        self.weight_count = weight_count
        self.random_state = random_state

    def _make_learner(self, n_features, n_classes, random_state):
        columns = draw_features(self.max_features, n_features, random_state)
        params = {name: getattr(self, name) for name in PARAMETERS}
        return HoeffdingTree(n_features, n_classes, columns, params)

    def get_depth(self) -> int:
        """Depth of the tree: the greatest number of splits from the root to a leaf.

        Returns
        -------
        int
            0 for a single leaf.
        """
        check_is_fitted(self, "classes_")
        return int(self._learner.node_table["depth"].max())

    def get_n_leaves(self) -> int:
        """Number of leaves.

        Returns
        -------
        int
            1 at least.
        """
        check_is_fitted(self, "classes_")
        return self._learner.n_leaves

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gains of the splits; zeros while there is none."""
        check_is_fitted(self, "classes_")
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
        """The tree's rules as text, one line a node.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), default=None
            Names to print; `feature_names_in_` or x0, x1, ... by default.
        max_depth : int, default=None
            Depth at which branches are cut short; None: nowhere.
        decimals : int, default=2
            Digits of thresholds and weights.

        Returns
        -------
        str
            The rules; a leaf shows its majority class and its weight.

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
        check_is_fitted(self, "classes_")
        if feature_names is None:
            feature_names = _check_feature_names_in(self)
        elif len(feature_names) != self.n_features_in_:
            raise ValueError(
                f"feature_names has {len(feature_names)} entries; the tree has "
                f"{self.n_features_in_} features"
            )
        nodes = self._learner.node_table
        # What stands above each node to come, the next one last: a tree may be thousands deep.
        lines, to_come = [], [("", 0, 0)]
        while to_come:
            above, index, depth = to_come.pop()
            if above:
                lines.append(above)
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
                    to_come.append((rule, child, depth + 1))
        return "\n".join(lines)

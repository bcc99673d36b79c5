"""HonestTreeRegressor: scikit-learn's regression tree with honest leaf values."""

from __future__ import annotations

from collections import deque
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from sklrank._randomness import draw_seed
from sklrank._sklearn import Interval
from sklrank.tree._honest_regressor import HonestRegressor, draw_halves, standardize

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sklrank._typing import MaxFeatures

__all__ = ["HonestTreeRegressor"]


class HonestTreeRegressor(HonestRegressor):
    r"""A regression tree whose leaf values come from samples that did not choose the splits.

    This class implements Algorithm 10 of [1]_. As in CART, each cell is split by the feature and
    threshold that reduce its mean squared error (Equation 10) most. The tree is grown by
    scikit-learn's `DecisionTreeRegressor`. In an honest tree [2]_, the samples are divided at
    random into two halves. The splits are chosen with the first half, and each leaf predicts the
    mean target of the samples of the second half that fall into it. This mean is an unbiased
    estimate of the expected target in the leaf, because the leaf does not depend on the noise of
    these samples.

    A leaf with fewer than `min_samples_leaf` samples of the second half predicts the mean target in
    its nearest ancestor that has at least `min_samples_leaf` of them, or in the root if no ancestor
    has that many.

    Parameters
    ----------
    max_depth : int or None, default=None
        Maximum depth of the tree. If None, the tree is grown until the cells are pure or too small
        to be split.
    min_samples_leaf : int, default=1
        Minimum number of samples in each leaf, among the samples that choose the splits. In an
        honest tree, it is also the number of samples of the other half that a leaf needs in order
        to predict their mean.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves, the budget of Algorithm 10. Cells are split in the order in which
        they were created, level by level and from left to right, until there are this many leaves.
        This differs from `DecisionTreeRegressor`, which splits the best cells first. If None, the
        number of leaves is not limited.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of features tried at each split: an int, a fraction of the features, "sqrt", "log2",
        or None for all features. The features are drawn at random for each split.
    honest : bool, default=True
        Whether to choose the splits with one half of the samples and to compute the leaf values
        with the other half. If False, all samples are used for both, and the predictions are those
        of a `DecisionTreeRegressor` if `max_leaf_nodes` is None.
    random_state : int, RandomState instance or None, default=None
        Controls the random division of the samples into halves, and the order in which features are
        tried at each split: it determines the features that are tried if `max_features` is smaller
        than their number, and the choice among equally good splits.

    Attributes
    ----------
    estimator_ : DecisionTreeRegressor
        The tree fitted to the samples that choose the splits, with centered and scaled targets.
        Its own predictions are neither honest nor in the units of the targets, and its number of
        leaves is not limited.
    values_ : ndarray of shape (n_nodes, n_outputs)
        Prediction of each node of `estimator_`. Nodes below a leaf of the limited tree have the
        prediction of this leaf.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the total reduction of the squared error that is due to each feature, computed
        on the samples that choose the splits. All importances are 0 if there are no splits.
    n_outputs_ : int
        Number of targets.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    LevelSplitsRegressor : A tree in which all cells of a level have the same split.
    HonestForestRegressor : An average of honest trees.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis and E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022, appendix D.
    .. [2] S. Wager and S. Athey, "Estimation and inference of heterogeneous treatment effects using
       random forests", JASA 113, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.tree import HonestTreeRegressor
    >>> X = np.random.RandomState(0).randint(2, size=(500, 3))
    >>> y = np.where(X[:, 0] == 1, X[:, 1], 2)
    >>> tree = HonestTreeRegressor(random_state=0).fit(X, y)
    >>> tree.predict([[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    array([2., 0., 1.])
    """

    _parameter_constraints: dict = {
        **HonestRegressor._parameter_constraints,
        "max_leaf_nodes": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_leaf_nodes: int | None = None,
        max_features: MaxFeatures = None,
        honest: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.honest = honest
        self.random_state = random_state

    def apply(self, X: ArrayLike) -> np.ndarray:
        """Return the index of the leaf of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Index of the leaf of each sample, which is a row index of `values_`.
        """
        X = self._check_X(X)
        return self._leaves[self.estimator_.apply(X)]

    @staticmethod
    def _input_dtype():
        return np.float32

    def _fit(self, X, y, random_state):
        halves = draw_halves(len(X), self.honest, random_state)
        # With a single sample, the half that chooses the splits is empty, but
        # `DecisionTreeRegressor` cannot be fitted without samples.
        chosen = halves.structure if len(halves.structure) else halves.estimation
        # Larger integers have the same effect as the number of samples, but `DecisionTreeRegressor`
        # raises an OverflowError for some of them.
        max_depth = None if self.max_depth is None else min(self.max_depth, len(X))
        if self.max_leaf_nodes is not None:
            # A tree of L leaves has at most the depth L - 1; scikit-learn requires at least 1.
            max_depth = min(max_depth or len(X), max(self.max_leaf_nodes - 1, 1))
        self.estimator_ = DecisionTreeRegressor(
            max_depth=max_depth,
            min_samples_leaf=min(self.min_samples_leaf, len(X)),
            max_features=self._n_features_tried(X.shape[1]),
            random_state=draw_seed(random_state),
        ).fit(X[chosen], standardize(y[chosen]))
        self.values_ = honest_values(
            self.estimator_, X[halves.estimation], y[halves.estimation], self.min_samples_leaf
        )
        self._leaves = limited_leaves(self.estimator_.tree_, self.max_leaf_nodes)
        self.values_ = self.values_[self._leaves]
        self.feature_importances_ = importances(self.estimator_.tree_, self._leaves)

    def _n_features_tried(self, n_features):
        # As in the other trees of this package, a number that exceeds the number of features means
        # all features. scikit-learn's tree would raise an error.
        if isinstance(self.max_features, Integral):
            return min(self.max_features, n_features)
        return self.max_features

    def _predict(self, X):
        return self.values_[self.estimator_.apply(X)]


def limited_leaves(tree, max_leaf_nodes):
    """Return the leaf that contains each node if only the first splits are made.

    The splits are made level by level and from left to right, until there are `max_leaf_nodes`
    leaves. Nodes above the leaves, and all nodes if `max_leaf_nodes` is None, are their own leaves.
    """
    leaves = np.arange(tree.node_count)
    if max_leaf_nodes is None:
        return leaves
    queue, n_leaves = deque([0]), 1
    while queue:
        node = queue.popleft()
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            continue
        queue.extend((left, right))
        if leaves[node] == node and n_leaves < max_leaf_nodes:
            n_leaves += 1
        else:
            leaves[[left, right]] = leaves[node]
    return leaves


def importances(tree, leaves):
    """Return the importances of the features in the splits that are made, as scikit-learn's."""
    gains = np.zeros(tree.n_features)
    errors = tree.weighted_n_node_samples * tree.impurity
    left, right = tree.children_left, tree.children_right
    # A split is made if its children are not in the leaf of the node.
    made = np.flatnonzero((left >= 0) & (leaves[left] == left))
    np.add.at(gains, tree.feature[made], errors[made] - errors[left[made]] - errors[right[made]])
    return gains / (gains.sum() or 1.0)


def honest_values(tree, X, y, min_samples: int):
    """Return the mean target of the samples `X` in each node of a fitted scikit-learn tree.

    The result has shape `(n_nodes, n_outputs)`. A node with fewer than `min_samples` of the samples
    has the value of its parent.
    """
    cells = tree.decision_path(X).T
    counts = np.asarray(cells.sum(axis=1)).reshape(-1, 1)
    values = (cells @ y) / np.maximum(counts, 1)
    parents = np.zeros(len(values), dtype=np.intp)
    for children in tree.tree_.children_left, tree.tree_.children_right:
        inner = np.flatnonzero(children >= 0)
        parents[children[inner]] = inner
    # A parent has a smaller index than its children. The root has no parent and keeps its mean.
    for node in np.flatnonzero(counts[1:] < min_samples) + 1:
        values[node] = values[parents[node]]
    return values

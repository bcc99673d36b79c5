"""Honest trees: scikit-learn's tree with leaf values of samples that did not choose the splits."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from sklrank._estimators import Interval, draw_seed, shares_text
from sklrank._typing import MaxFeatures
from sklrank.tree._honest.base import (
    TEXTS,
    HonestClassifier,
    HonestRegressor,
    HonestSingleTree,
    draw_halves,
    standardize,
    weights_of,
)

SHARED = shares_text(
    **TEXTS,
    parameters="""
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
""",
)


class HonestTree(HonestSingleTree):
    """Base class of the trees of Algorithm 10, for regression and classification."""

    _parameter_constraints: dict = {
        **HonestSingleTree._parameter_constraints,
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

    @staticmethod
    def _input_dtype():
        return np.float32

    def _fit(self, X, y, weights, random_state):
        structure, estimation = draw_halves(len(X), self.honest, random_state)
        # With a single sample, the half that chooses the splits is empty, but
        # `DecisionTreeRegressor` cannot be fitted without samples.
        chosen = structure if len(structure) else estimation
        # Larger integers have the same effect as the number of samples, but `DecisionTreeRegressor`
        # raises an OverflowError for some of them.
        max_depth = None if self.max_depth is None else min(self.max_depth, len(X))
        if self.max_leaf_nodes is not None:
            # A tree of L leaves has at most the depth L - 1; scikit-learn requires at least 1.
            max_depth = min(max_depth or len(X), max(self.max_leaf_nodes - 1, 1))
        max_features = self.max_features
        if isinstance(max_features, Integral):
            # scikit-learn's tree refuses larger numbers, which mean all features in this package.
            max_features = min(max_features, X.shape[1])
        self.estimator_ = DecisionTreeRegressor(
            max_depth=max_depth,
            min_samples_leaf=min(self.min_samples_leaf, len(X)),
            max_features=max_features,
            random_state=draw_seed(random_state),
        )
        of_chosen, of_estimation = (weights_of(weights, half) for half in (chosen, estimation))
        self.estimator_.fit(X[chosen], standardize(y[chosen], of_chosen), of_chosen)
        tree = self.estimator_.tree_
        counts, means = node_means(self.estimator_, X[estimation], y[estimation], of_estimation)
        parents = node_parents(tree)
        # A cell of fewer samples keeps the mean of its parent, and the parts of this cell as well.
        inherits = counts < self.min_samples_leaf
        inherits[0] = False
        self.values_ = means[nearest(np.where(inherits, parents, np.arange(len(parents))))]
        # Line 14 of Algorithm 10: a cell is not split if at most one of these samples is in it.
        splits = first_splits(tree, counts > 1, self.max_leaf_nodes)
        self._leaves = nearest(np.where(splits[parents], np.arange(len(parents)), parents))
        self.values_ = self.values_[self._leaves]
        self.feature_importances_ = importances(tree, splits)

    def _nodes(self):
        tree = self.estimator_.tree_
        exists = self._leaves == np.arange(tree.node_count)
        # Other nodes are below a leaf of the honest tree.
        is_inner = (tree.children_left >= 0) & exists[tree.children_left]
        left, right, feature = (
            np.where(is_inner, each, -1).astype(np.int32)
            for each in (tree.children_left, tree.children_right, tree.feature)
        )
        return {
            "children_left": left,
            "children_right": right,
            "children_default": left,
            "features": feature,
            "thresholds": tree.threshold,
            "values": self.values_,
            "node_sample_weight": tree.weighted_n_node_samples,
        }


@SHARED
class HonestTreeRegressor(HonestRegressor, HonestTree):
    r"""A regression tree whose leaf values come from samples that did not choose the splits.

    This class implements Algorithm 10 of [1]_. As in CART, each cell is split by the feature and
    threshold that reduce its mean squared error (Equation 10) most; ties are broken at random. The
    tree is grown by scikit-learn's `DecisionTreeRegressor`. In an honest tree [2]_, the samples are
    divided at random into two halves. The splits are chosen with the first half, and each leaf
    predicts the mean target of the samples of the second half that fall into it. This mean is an
    unbiased estimate of the expected target in the leaf, because the leaf does not depend on the
    noise of these samples.

    A cell is not split if at most one sample of the second half is in it (line 14), or if no split
    reduces its error. A side of a split with fewer than `min_samples_leaf` samples of the second
    half predicts the mean of the cell that was split.

    {parameters}

    Attributes
    ----------
    estimator_ : DecisionTreeRegressor
        The tree fitted to the samples that choose the splits, with centered and scaled targets.
        Its own predictions are neither honest nor in the units of the targets, and it also has the
        splits of cells that the honest tree does not split.
    values_ : ndarray of shape (n_nodes, n_outputs)
        Prediction of each node of `estimator_`. Nodes below a leaf of the honest tree have the
        prediction of this leaf.
    {importances_and_outputs}

    See Also
    --------
    HonestTreeClassifier : The same tree for classes.
    LevelSplitsRegressor : A tree in which all cells of a level have the same split.
    HonestForestRegressor : An average of honest trees.

    {paper}
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


@SHARED
class HonestTreeClassifier(HonestClassifier, HonestTree):
    r"""A classification tree whose class probabilities come from samples that chose no splits.

    This is :class:`HonestTreeRegressor`, Algorithm 10 of [1]_, for classes: each cell is split by
    the feature and threshold that reduce its Gini impurity most, and a leaf predicts the
    proportions of the classes among the samples of the second half that fall into it.

    {parameters_and_classes}
    estimator_ : DecisionTreeRegressor
        The tree fitted to the samples that choose the splits, whose targets are the centered and
        scaled columns of the indicator matrix of the classes.
    values_ : ndarray of shape (n_nodes, n_classes)
        Probabilities of the classes in each node of `estimator_`.
    {importances}
    {n_features_in}

    See Also
    --------
    LevelSplitsClassifier : A tree in which all cells of a level have the same split.
    HonestForestClassifier : An average of honest trees.

    {paper}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklrank.tree import HonestTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = HonestTreeClassifier(random_state=0).fit(X[::2], y[::2])
    >>> bool(tree.score(X[1::2], y[1::2]) > 0.85)
    True
    """


def node_parents(tree):
    """Return the parent of each node of a scikit-learn tree; the root is its own parent."""
    parents = np.zeros(tree.node_count, dtype=np.intp)
    for children in tree.children_left, tree.children_right:
        inner = np.flatnonzero(children >= 0)
        parents[children[inner]] = inner
    return parents


def nearest(links):
    """Follow the links from each node, to the node itself or to its parent, until they end."""
    while not np.array_equal(further := links[links], links):
        links = further
    return links


def first_splits(tree, allowed, max_leaf_nodes):
    """Return a mask of the cells that are split.

    Cells are split level by level and from left to right, where `allowed`, until there are
    `max_leaf_nodes` leaves.
    """
    cells, order = np.zeros(1, dtype=np.intp), []
    while len(cells):
        cells = cells[(tree.children_left[cells] >= 0) & allowed[cells]]
        order.append(cells)
        cells = np.stack([tree.children_left[cells], tree.children_right[cells]], axis=1).ravel()
    splits = np.zeros(tree.node_count, dtype=bool)
    splits[np.concatenate(order)[: None if max_leaf_nodes is None else max_leaf_nodes - 1]] = True
    return splits


def importances(tree, splits):
    """Return the importances of the features in the splits that are made, as scikit-learn's."""
    gains = np.zeros(tree.n_features)
    errors = tree.weighted_n_node_samples * tree.impurity
    # scikit-learn computes the impurity of a cell of weight 0 by rounding as 0 / 0.
    errors[~np.isfinite(errors)] = 0.0
    made = np.flatnonzero(splits)
    left, right = tree.children_left[made], tree.children_right[made]
    np.add.at(gains, tree.feature[made], errors[made] - errors[left] - errors[right])
    return gains / (gains.sum() or 1.0)


def node_means(estimator, X, y, weights):
    """Return how many of the samples `X` are in each node of a fitted tree, and their mean target.

    The means have the shape `(n_nodes, n_outputs)`. The weights may be None.
    """
    cells = estimator.decision_path(X).T
    counts = np.asarray(cells.sum(axis=1)).ravel()
    totals = counts
    if weights is not None:
        totals, y = cells @ weights, y * weights[:, np.newaxis]
    return counts, (cells @ y) / np.where(counts > 0, totals, 1)[:, np.newaxis]

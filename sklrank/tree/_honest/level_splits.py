"""Level splits: trees with one split for all cells of a level."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sklrank._estimators import StrOptions, draw_features, shares_text
from sklrank._typing import MaxFeatures
from sklrank.tree._histogram.binning import Candidates, find_candidates
from sklrank.tree._honest.base import (
    TEXTS,
    HonestClassifier,
    HonestRegressor,
    HonestSingleTree,
    draw_halves,
    group_means,
    standardize,
    weights_of,
)
from sklrank.tree._honest.level_gains import split_gains

SPLIT_DTYPE = np.dtype([("feature", np.intp), ("threshold", np.float64)])

# Gains are treated as equal if they differ by less than this fraction of the remaining error; the
# first of them is chosen. A gain below this fraction of the remaining error is treated as 0.
ROUNDING = 1e-10
# Upper bound of the rounding error in a cell of equal targets, as a fraction of its sum of squares.
NO_ERROR = 1e-28


SHARED = shares_text(
    **TEXTS,
    parameters="""
Parameters
----------
max_depth : int or None, default=None
    Maximum number of levels. If None, the tree is grown until no split reduces the error. If
    features have many distinct values, there can be many levels that split only few cells each.
min_samples_leaf : int, default=1
    Minimum number of samples on each side of a split. In an honest tree, this number is
    required of each half of the samples.
max_features : int, float, {"sqrt", "log2"} or None, default=None
    Number of features tried at each level: an int, a fraction of the features, "sqrt", "log2",
    or None for all features. The features are drawn at random for each level. If none of them
    reduces the error, the other features are tried.
honest : bool or {"estimation"}, default=False
    Whether to choose the splits with one half of the samples and to compute the leaf values
    with the other half; :class:`LevelSplitsRegressor` describes "estimation". If False, all
    samples are used for both.
random_state : int, RandomState instance or None, default=None
    Controls the random division of the samples into halves, and the random choice of features.
""",
)


class LevelSplits(HonestSingleTree):
    """Base class of the trees of Algorithm 9, for regression and classification."""

    _parameter_constraints: dict = {
        **HonestSingleTree._parameter_constraints,
        "honest": ["boolean", StrOptions({"estimation"})],
    }

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures = None,
        honest: bool | Literal["estimation"] = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.honest = honest
        self.random_state = random_state

    @staticmethod
    def _input_dtype():
        return np.float64

    def _fit(self, X, y, weights, random_state):
        structure, estimation = draw_halves(len(X), self.honest, random_state)
        X = np.asfortranarray(X)
        counted = [structure, estimation] if self.honest is True else [structure]
        growth = partition = Growth(y, weights, counted, self.min_samples_leaf)
        if self.honest == "estimation":
            partition = Partition(len(y), [estimation], self.min_samples_leaf)
        candidates = find_candidates(X)
        splits, gains = [], []
        while self.max_depth is None or len(splits) < self.max_depth:
            best, gain = self._find_best(candidates, growth, random_state)
            if best is None:
                break
            split = candidates.features[best], candidates.thresholds[best]
            for each in {growth, partition}:  # one or two
                each.split(X[:, split[0]] > split[1])
            splits.append(split)
            gains.append(gain)
        self.splits_ = np.array(splits, dtype=SPLIT_DTYPE)
        self._levels, self._children = partition.node_table()
        of_estimation = weights_of(weights, estimation)
        leaves = partition.cells[estimation]
        self.values_ = group_means(y[estimation], of_estimation, leaves, partition.n_cells)
        self._leaf_weights = np.bincount(leaves, of_estimation, partition.n_cells).astype(float)
        self.feature_importances_ = np.bincount(
            self.splits_["feature"], weights=gains, minlength=X.shape[1]
        ) / (sum(gains) or 1.0)

    def _find_best(self, candidates, growth, random_state):
        """Return the index and the gain of the best candidate, the first one in case of ties.

        If no candidate reduces the error, return None and 0.
        """
        n_features = len(candidates.first) - 1
        tried = draw_features(self.max_features, n_features, random_state)
        rounding = ROUNDING * growth.error_left
        for features in tried, np.setdiff1d(np.arange(n_features, dtype=np.intp), tried):
            gains = growth.gains(candidates, features)
            best = gains.max(initial=0.0)
            if best > rounding:
                return int(np.flatnonzero(gains >= best - rounding)[0]), best
        return None, 0.0

    def _nodes(self):
        # The inner nodes, level by level, then the leaves.
        n_inner, n_leaves = len(self._children), len(self.values_)
        children = np.where(self._children < 0, n_inner - 1 - self._children, self._children)
        children = np.concatenate([children, np.full((n_leaves, 2), -1)]).astype(np.int32)
        of_leaves = np.full(n_leaves, -1)
        weights = np.concatenate([np.zeros(n_inner), self._leaf_weights])
        for node in reversed(range(n_inner)):
            weights[node] = weights[children[node]].sum()
        splits, no_thresholds = self.splits_[self._levels], np.zeros(n_leaves)
        return {
            "children_left": children[:, 0],
            "children_right": children[:, 1],
            "children_default": children[:, 0],
            "features": np.concatenate([splits["feature"], of_leaves]).astype(np.int32),
            "thresholds": np.concatenate([splits["threshold"], no_thresholds]),
            "values": np.concatenate([np.zeros((n_inner, self.values_.shape[1])), self.values_]),
            "node_sample_weight": weights,
        }


@SHARED
class LevelSplitsRegressor(HonestRegressor, LevelSplits):
    r"""A regression tree that splits all cells of a level by the same feature and threshold.

    This class implements Algorithm 9 of [1]_. Let :math:`S` be the set of the splits of the
    previous levels, and let :math:`f(x; S)` be the mean target of the cell that contains x. The
    next level is split by the feature and threshold that reduce the empirical mean squared error
    (Equation 8) most, which is

    .. math:: L_n(S) = \frac{1}{n} \sum_j \left(y_j - f(x_j; S)\right)^2,

    summed over the outputs. Ties are broken by the smaller feature index, then by the smaller
    threshold. A cell is split only if there are at least `min_samples_leaf` samples on both sides;
    otherwise the cell is kept, and a later level may split it. The tree is grown until no split
    reduces the error. All samples together determine the split of a level, which helps to find the
    relevant features if they are few. A level takes time proportional to the number of samples
    times the number of features; the time does not depend on the number of cells.

    A 0/1 feature has one candidate threshold. The candidate thresholds of other features lie
    between all neighboring values or, if there are more than 255 of them, between quantiles.

    In an honest tree [1]_ the samples are divided at random into two halves. The splits are chosen
    with one half, and each leaf predicts the mean target of its samples of the other half. There
    are two rules for the cells:

    - ``honest=True``: a cell is split only if both sides have `min_samples_leaf` samples of each
      half. The cells in which the error is reduced are the cells of the tree.
    - ``honest="estimation"``, as printed in Algorithm 9: a cell is split only if both sides have
      `min_samples_leaf` samples of the half for the leaf values. The other half chooses the same
      splits as a tree of its own that is not honest. Leaves may have no sample of the half that
      chose the splits.

    {parameters}

    Attributes
    ----------
    {splits}
    values_ : ndarray of shape (n_leaves, n_outputs)
        Prediction of each leaf.
    {importances_and_outputs}

    See Also
    --------
    LevelSplitsClassifier : The same tree for classes.
    HonestTreeRegressor : A tree in which each cell has its own split.
    HonestForestRegressor : An average of honest trees.

    {papers}

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.tree import LevelSplitsRegressor
    >>> X = np.random.RandomState(0).randint(2, size=(500, 100))
    >>> y = X[:, 7] + 2 * X[:, 7] * X[:, 42]
    >>> tree = LevelSplitsRegressor().fit(X, y)
    >>> tree.splits_["feature"].tolist()
    [7, 42]
    >>> tree.values_.ravel().tolist()
    [0.0, 0.0, 1.0, 3.0]
    """


@SHARED
class LevelSplitsClassifier(HonestClassifier, LevelSplits):
    r"""A classification tree that splits all cells of a level by the same feature and threshold.

    This is :class:`LevelSplitsRegressor`, Algorithm 9 of [1]_, for classes: the next level is split
    by the feature and threshold that reduce the Gini impurity, summed over all samples, most. A
    leaf predicts the proportions of the classes among its samples.

    {parameters_and_classes}
    {splits}
    values_ : ndarray of shape (n_leaves, n_classes)
        Probabilities of the classes in each leaf.
    {importances}
    {n_features_in}

    See Also
    --------
    HonestTreeClassifier : A tree in which each cell has its own split.
    HonestForestClassifier : An average of honest trees.

    {paper}

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.tree import LevelSplitsClassifier
    >>> X = np.random.RandomState(0).randint(2, size=(500, 100))
    >>> y = np.where(X[:, 7] * X[:, 42], "both", "not both")
    >>> tree = LevelSplitsClassifier().fit(X, y)
    >>> tree.splits_["feature"].tolist()
    [7, 42]
    >>> tree.predict_proba(X[:1])
    array([[0., 1.]])
    """


class Partition:
    """The cells of a growing tree, and the cell of each sample.

    A cell is split if both of its sides have `min_samples_leaf` samples of each array in `counted`,
    which has indices of samples.
    """

    def __init__(self, n_samples: int, counted, min_samples_leaf: int):
        self.counted = counted
        self.min_count = min_samples_leaf
        self.cells = np.zeros(n_samples, dtype=np.intp)
        self.n_cells = 1
        # For each cell, the index of its parent node and the side of the parent's split on which
        # the cell lies, 0 or 1; both are -1 for the root.
        self.parents = np.full((1, 2), -1)
        self.nodes = []

    def split(self, right):
        """Split all cells that have enough samples on both sides of the split.

        The entries of the mask `right` are True for the samples on the right side.
        """
        sides = 2 * self.cells + right
        splits = np.ones(self.n_cells, dtype=bool)
        for samples in self.counted:
            counts = np.bincount(sides[samples], minlength=2 * self.n_cells).reshape(-1, 2)
            splits &= (counts >= self.min_count).all(axis=1)
        # The order of the cells is kept. The two parts of a cell that is split have consecutive
        # indices.
        first = np.arange(self.n_cells) + np.cumsum(splits) - splits
        n_nodes = sum(map(len, self.nodes))
        self.nodes.append(self.parents[splits])
        self.parents = np.repeat(self.parents, 1 + splits, axis=0)
        for side in 0, 1:
            self.parents[first[splits] + side, 0] = np.arange(n_nodes, n_nodes + splits.sum())
            self.parents[first[splits] + side, 1] = side
        self.cells = first[self.cells] + (right & splits[self.cells])
        self.n_cells = len(self.parents)

    def node_table(self):
        """Return the level and the two children of each inner node; leaf l is the child -1 - l."""
        parents = np.concatenate([*self.nodes, self.parents])
        n_nodes = len(parents) - self.n_cells
        numbers = np.concatenate([np.arange(n_nodes), -1 - np.arange(self.n_cells)])
        children = np.empty((n_nodes, 2), dtype=np.intc)
        children[parents[1:, 0], parents[1:, 1]] = numbers[1:]
        levels = np.repeat(np.arange(len(self.nodes)), [len(level) for level in self.nodes])
        return levels.astype(np.intc), children


class Growth(Partition):
    """The cells of the tree whose error the splits reduce, with the sums of the targets.

    The first array of `counted` has the samples that choose the splits. The weights may be None.
    Targets that indicate classes have a sum for each nonempty pair of a cell and a class, so that
    the number of sums does not depend on the number of classes.
    """

    def __init__(self, y, weights, counted, min_samples_leaf: int):
        super().__init__(len(y), counted, min_samples_leaf)
        # If there are no weights, the first count is the weight.
        self.first_count = int(weights is not None)
        self.n_header = self.first_count + len(counted)
        chosen, of_chosen = counted[0], weights_of(weights, counted[0])
        y, self.n_classes, self.labels = y[chosen], y.shape[1], None
        # Each target is a 1 and zeros, which indicate the class of the sample.
        if (y.max(axis=1) == 1.0).all() and (np.count_nonzero(y, axis=1) == 1).all():
            self.labels = np.zeros(len(self.cells), dtype=np.intp)
            self.labels[chosen] = y.argmax(axis=1)
            y = y[:, :0]
        # The weight of each sample that chooses splits; the counts; its targets times its weight.
        self.payload = np.zeros((len(self.cells), self.n_header + y.shape[1]))
        self.targets = self.payload[:, self.n_header :]
        self.targets[chosen] = standardize(y, of_chosen)
        if weights is not None:
            self.targets = self.targets.copy()
            self.payload[chosen, 0] = of_chosen
            self.payload[:, self.n_header :] *= weights[:, np.newaxis]
        for column, samples in enumerate(counted, start=self.first_count):
            self.payload[samples, column] = 1.0
        self._measure()

    def split(self, right):
        super().split(right)
        self._measure()

    def _sums(self, columns):
        """Return the sums `(n_cells, n_columns)` over the samples of each cell."""
        sums = [np.bincount(self.cells, column, minlength=self.n_cells) for column in columns.T]
        return np.column_stack(sums)

    def _measure(self):
        """Compute the error and the target sums of the open cells: those that may be split."""
        totals = self._sums(self.payload)
        of_cells = np.where(totals[:, 0] > 0, totals[:, 0], 1.0)
        if self.labels is None:
            weights = self.payload[:, :1]
            means = totals[:, self.n_header :] / of_cells[:, np.newaxis]
            errors = self._sums(weights * (self.targets - means[self.cells]) ** 2).sum(axis=1)
            squares = self._sums(weights * self.targets**2).sum(axis=1)
        else:
            pairs = self.cells * self.n_classes + self.labels
            pairs, of_samples = np.unique(pairs, return_inverse=True)
            owners, sums = pairs // self.n_classes, np.bincount(of_samples, self.payload[:, 0])
            errors = np.bincount(owners, sums * (1.0 - sums / of_cells[owners]))
            squares = of_cells
        enough = (totals[:, self.first_count : self.n_header] >= 2 * self.min_count).all(axis=1)
        open_ = enough & (errors > NO_ERROR * squares)
        self.error_left = errors[open_].sum()
        numbers = np.where(open_, np.cumsum(open_) - 1, -1)
        self.open_cells = numbers[self.cells].astype(np.intc)
        self.n_open, self.totals = np.count_nonzero(open_), totals[open_].ravel()
        self.begins = self.slots = None
        if self.labels is not None:
            kept, counts = open_[owners], np.bincount(owners)[open_]
            self.begins = self.totals.size + np.concatenate([[0], np.cumsum(counts, dtype=np.intp)])
            self.slots = (self.totals.size + np.cumsum(kept, dtype=np.intp) - 1)[of_samples]
            self.totals = np.concatenate([self.totals, sums[kept]])

    def gains(self, candidates: Candidates, features):
        """Return the reduction of the squared error by each candidate split.

        The reduction is computed for candidates of the given features, and 0 for the others.
        """
        gains = np.zeros(len(candidates.features))
        _, _, *passing = candidates
        cells = self.open_cells, self.payload, self.n_open, self.totals, self.begins, self.slots
        counts = self.n_header, self.first_count, float(self.min_count)
        split_gains(features, *passing, *cells, *counts, gains)
        return gains

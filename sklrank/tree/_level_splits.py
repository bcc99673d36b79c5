"""LevelSplitsRegressor: a regression tree that splits all cells of a level alike."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sklrank._randomness import draw_features
from sklrank._sklearn import Interval
from sklrank.tree._honest_regressor import HonestRegressor, centred, draw_halves, means_of_groups
from sklrank.tree._level_sweep import find_leaves, sweep_steps
from sklrank.tree._thresholds import midpoints, rises

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sklrank._typing import MaxFeatures

__all__ = ["LevelSplitsRegressor"]

SPLIT_DTYPE = np.dtype([("feature", np.intp), ("threshold", np.float64)])

# Gains that differ by less than this share of the error left are equal, and the first of them is
# taken; none of them is worth a level if it is below that share itself.
ROUNDING = 1e-10
# Share of a cell's squares that may be left of targets that are equal.
NO_ERROR = 1e-28


class LevelSplitsRegressor(HonestRegressor):
    r"""A regression tree whose cells are all split by the same feature at each level.

    Algorithm 9 of [1]_. With the splits :math:`S` of the levels so far, and the mean target
    :math:`f(x; S)` of the cell that holds x, the next level is split by the feature and threshold
    that lower the empirical mean squared error (equation 8) most,

    .. math:: L_n(S) = \frac{1}{n} \sum_j \left(y_j - f(x_j; S)\right)^2,

    summed over outputs, if there are several. Among equals the smaller feature comes first, then
    the smaller threshold. A cell is split if that leaves rows on both sides (`min_samples_leaf`);
    otherwise it stays whole, and the next levels may split it. The tree is grown until no split
    lowers the error. Where a few features matter, a level finds one of them by the evidence of
    all rows together. A level costs one visit to each row and feature, however many its cells.

    A 0/1 feature has one threshold; other features have one between any two neighbouring values,
    or between quantiles of them (`max_bins`).

    An honest tree [1]_ chooses its splits by one half of the rows, drawn at random, and fills the
    leaves with the means of the other half; a split leaves rows of each half on both sides.

    Parameters
    ----------
    max_depth : int or None, default=None
        Greatest number of levels. None: until no split lowers the error. Features of many values
        can make many levels, each of which splits few cells.
    min_samples_leaf : int, default=1
        Rows that either side of a split must have; of each half, where the tree is honest.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features tried at a level, drawn anew for each: a number, a share of them, or all. Where
        none of them lowers the error, the others are tried.
    max_bins : int or None, default=255
        A feature with more values than this has thresholds between so many quantiles of them
        only. None: between any two values.
    honest : bool, default=False
        Whether one half of the rows chooses the splits and the other half fills the leaves.
    random_state : int, RandomState instance or None, default=None
        Draws the halves, and the features.

    Attributes
    ----------
    splits_ : structured ndarray of shape (n_levels,)
        The `feature` and `threshold` of each level; values above the threshold go right.
    values_ : ndarray of shape (n_leaves, n_outputs)
        The prediction of each leaf.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the squared error that the splits take away from the rows that
        choose them; zeros where there are no splits.
    n_outputs_ : int
        Number of targets.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.

    See Also
    --------
    HonestTreeRegressor : Each cell has its own split.
    HonestForestRegressor : The mean of many such trees.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis and E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022, appendix D.
    .. [2] V. Syrgkanis and M. Zampetakis, "Estimation and inference with trees and forests in high
       dimensions", COLT 2020.

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

    _parameter_constraints: dict = {
        **HonestRegressor._parameter_constraints,
        "max_bins": [Interval(Integral, 2, None, closed="left"), None],
    }

    _dtype = np.float64

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures = None,
        max_bins: int | None = 255,
        honest: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_bins = max_bins
        self.honest = honest
        self.random_state = random_state

    def apply(self, X: ArrayLike) -> np.ndarray:
        """The leaf that each row falls into.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Rows of `values_`.
        """
        return self._leaves(self._fitted_rows(X))

    def _fit(self, X, y, random_state):
        halves = draw_halves(len(X), self.honest, random_state)
        X = np.asfortranarray(X)
        partition = Partition(y, halves, self.min_samples_leaf)
        steps = candidate_steps(X, self.max_bins)
        splits, gains = [], []
        while self.max_depth is None or len(splits) < self.max_depth:
            step, gain = self._best_step(steps, partition, random_state)
            if step is None:
                break
            split = steps.features[step], steps.thresholds[step]
            partition.split(X[:, split[0]] > split[1])
            splits.append(split)
            gains.append(gain)
        self.splits_ = np.array(splits, dtype=SPLIT_DTYPE)
        self._levels, self._children, self._root = partition.node_table()
        self.values_ = means_of_groups(
            y[halves.estimation], partition.cells[halves.estimation], partition.n_cells
        )
        self.feature_importances_ = np.bincount(
            self.splits_["feature"], weights=gains, minlength=X.shape[1]
        ) / (sum(gains) or 1.0)

    def _best_step(self, steps, partition, random_state):
        """The first of the best steps and what it gains; None where none lowers the error."""
        n_features = len(steps.first) - 1
        tried = draw_features(self.max_features, n_features, random_state)
        rounding = ROUNDING * partition.error_left
        for features in tried, np.setdiff1d(np.arange(n_features, dtype=np.intp), tried):
            gains = partition.gains(steps, features)
            best = gains.max(initial=0.0)
            if best > rounding:
                return int(np.flatnonzero(gains >= best - rounding)[0]), best
        return None, 0.0

    def _leaves(self, X):
        leaves = np.empty(len(X), dtype=np.intp)
        find_leaves(
            X,
            np.ascontiguousarray(self.splits_["feature"]),
            np.ascontiguousarray(self.splits_["threshold"]),
            self._levels,
            self._children,
            self._root,
            leaves,
        )
        return leaves

    def _predict(self, X):
        return self.values_[self._leaves(X)]


class Steps(NamedTuple):
    """The candidate splits, ordered by feature and threshold, as `sweep_steps` reads them."""

    features: np.ndarray
    thresholds: np.ndarray
    first: np.ndarray
    """The steps of feature j are `first[j]` to `first[j + 1]`."""
    starts: np.ndarray
    stops: np.ndarray
    rows: np.ndarray
    """The rows that pass the threshold with step s are `rows[starts[s]:stops[s]]`."""


def candidate_steps(X, max_bins: int | None) -> Steps:
    """The thresholds of all features, and the rows that pass them one after the other."""
    thresholds, sizes, rows = zip(*(steps_of_feature(column, max_bins) for column in X.T))
    counts = [len(size) for size in sizes]
    stops = np.cumsum(np.concatenate(sizes), dtype=np.intp)
    return Steps(
        features=np.repeat(np.arange(len(counts)), counts),
        thresholds=np.concatenate(thresholds),
        first=np.cumsum([0, *counts], dtype=np.intp),
        starts=np.concatenate([[0], stops])[: len(stops)].astype(np.intp),
        stops=stops,
        rows=np.concatenate(rows).astype(np.intc),
    )


def steps_of_feature(values, max_bins: int | None):
    """Thresholds, how many rows pass with each of them, and the rows in this order."""
    low, high = values.min(), values.max()
    if low == high:
        return np.empty(0), np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    is_high = values == high
    if np.count_nonzero(is_high) + np.count_nonzero(values == low) == len(values):
        # Which side passes does not matter: the smaller one is less to do.
        passing = np.flatnonzero(is_high if 2 * is_high.sum() <= len(values) else ~is_high)
        return midpoints([low], [high]), np.array([len(passing)]), passing
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    bounds = rises(ordered, max_bins)
    thresholds = midpoints(ordered[bounds - 1], ordered[bounds])
    return thresholds, np.diff(bounds, prepend=0), order[: bounds[-1]]


class Partition:
    """The cells of a tree that grows: where the rows are, and what they hold."""

    def __init__(self, y, halves, min_samples_leaf: int):
        self.least = float(min_samples_leaf)
        self.n_outputs = y.shape[1]
        counted = [halves.structure]
        if halves.structure is not halves.estimation:
            counted.append(halves.estimation)
        self.payload = np.zeros((len(y), self.n_outputs + len(counted)))
        self.payload[halves.structure, : self.n_outputs] = centred(y[halves.structure])
        for column, rows in enumerate(counted, start=self.n_outputs):
            self.payload[rows, column] = 1.0
        self.squares = (self.payload[:, : self.n_outputs] ** 2).sum(axis=1)
        self.cells = np.zeros(len(y), dtype=np.intp)
        self.n_cells = 1
        # Above each cell: its parent, and the side of it, 0 or 1. The root has none.
        self.parents = np.full((1, 2), -1)
        self.nodes = []
        self._measure()

    def _sums(self, groups, n_groups):
        return np.column_stack(
            [np.bincount(groups, weights=column, minlength=n_groups) for column in self.payload.T]
        )

    def _measure(self):
        """Sum up the cells; those that no split could change for the better are left alone."""
        totals = self._sums(self.cells, self.n_cells)
        counts = totals[:, self.n_outputs :]
        means = totals[:, : self.n_outputs] / np.maximum(counts[:, :1], 1.0)
        deviations = self.payload[:, : self.n_outputs] - means[self.cells]
        deviations *= self.payload[:, self.n_outputs, np.newaxis]
        errors = np.bincount(
            self.cells, weights=(deviations**2).sum(axis=1), minlength=self.n_cells
        )
        squares = np.bincount(self.cells, weights=self.squares, minlength=self.n_cells)
        open_ = (counts >= 2 * self.least).all(axis=1) & (errors > NO_ERROR * squares)
        self.error_left = errors[open_].sum()
        self.open_totals = totals[open_]
        numbers = np.where(open_, np.cumsum(open_) - 1, -1)
        self.open_cells = numbers[self.cells].astype(np.intc)

    def gains(self, steps: Steps, features):
        """What each step would take off the squared error; 0 for those of other features."""
        gains = np.zeros(len(steps.features))
        sweep_steps(
            features,
            steps.first,
            steps.starts,
            steps.stops,
            steps.rows,
            self.open_cells,
            self.payload,
            self.open_totals,
            self.n_outputs,
            self.least,
            gains,
        )
        return gains

    def split(self, right):
        """Split all cells that have rows enough on either side."""
        counts = self._sums(2 * self.cells + right, 2 * self.n_cells)[:, self.n_outputs :]
        may = (counts.reshape(self.n_cells, -1) >= self.least).all(axis=1)
        # Cells keep their order; a divided one takes two numbers.
        first = np.arange(self.n_cells) + np.cumsum(may) - may
        n_nodes = sum(map(len, self.nodes))
        self.nodes.append(self.parents[may])
        self.parents = np.repeat(self.parents, 1 + may, axis=0)
        for side in 0, 1:
            self.parents[first[may] + side, 0] = np.arange(n_nodes, n_nodes + may.sum())
            self.parents[first[may] + side, 1] = side
        self.cells = first[self.cells] + (right & may[self.cells])
        self.n_cells = len(self.parents)
        self._measure()

    def node_table(self):
        """Level and children of each node, and the root, as `find_leaves` reads them."""
        above = np.concatenate([*self.nodes, self.parents])
        n_nodes = len(above) - self.n_cells
        numbers = np.concatenate([np.arange(n_nodes), -1 - np.arange(self.n_cells)])
        children = np.empty((n_nodes, 2), dtype=np.intc)
        children[above[1:, 0], above[1:, 1]] = numbers[1:]
        levels = np.repeat(np.arange(len(self.nodes)), [len(level) for level in self.nodes])
        return levels.astype(np.intc), children, int(numbers[0])

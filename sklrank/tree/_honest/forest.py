"""Honest forests: averages of honest trees on subsamples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Literal

import numpy as np
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from sklrank._estimators import N_JOBS, Interval, StrOptions, draw_seed, shares_text
from sklrank._typing import MaxFeatures
from sklrank.tree._honest.base import (
    TEXTS,
    HonestClassifier,
    HonestEstimator,
    HonestRegressor,
    weights_of,
)
from sklrank.tree._honest.level_splits import LevelSplitsRegressor
from sklrank.tree._honest.tree import HonestTreeRegressor
from sklrank.tree._sums import SumOfTrees, kept_sum

TREES = {"breiman": HonestTreeRegressor, "level": LevelSplitsRegressor}


SHARED = shares_text(
    **TEXTS
    | {
        "importances": """
feature_importances_ : ndarray of shape (n_features,)
    Mean of the importances of the features in the trees, normalized to sum to 1. All importances
    are 0 if no tree has a split.
"""
    },
    parameters="""
Parameters
----------
n_estimators : int, default=100
    Number of trees.
splits : {"breiman", "level"}, default="breiman"
    Kind of the trees. With "breiman", each cell has its own split (Algorithm 10,
    :class:`HonestTreeRegressor`). With "level", all cells of a level have the same split
    (Algorithm 9, :class:`LevelSplitsRegressor`); such trees can find a few relevant features
    among a large number of features.
max_samples : int, float or None, default=0.8
    Number of samples drawn for each tree: an int, a fraction of all samples, or None for all
    samples. With smaller values the trees are more diverse, and training is faster. If all
    samples are drawn, trees that are not honest and try all features are identical.
max_depth : int or None, default=None
    Maximum depth of the trees. If None, the depth is not limited.
min_samples_leaf : int, default=1
    Minimum number of samples in a leaf. For honest trees it applies to both halves of the
    subsample; see :class:`HonestTreeRegressor` and :class:`LevelSplitsRegressor`.
max_features : int, float, {"sqrt", "log2"} or None, default=None
    Number of features tried at each split ("breiman") or level ("level"): an int, a fraction of
    the features, "sqrt", "log2", or None for all features. The features are drawn at random for
    each split or level.
honest : bool or {"estimation"}, default=True
    Whether the trees are honest; "estimation", for level splits, is described in
    :class:`LevelSplitsRegressor`. If False, all samples of a subsample are used both to choose
    the splits and to compute the leaf values.
random_state : int, RandomState instance or None, default=None
    Controls the random choice of the subsamples, of their halves, and of the features tried.
n_jobs : int or None, default=None
    Number of threads, which fit the trees in parallel, and predict for many samples in
    parallel. The results do not depend on `n_jobs`.
""",
)


class HonestForest(HonestEstimator):
    """Base class of the honest forests, for regression and classification.

    The trees are regression trees, of the indicator matrix of the classes in a classifier.
    """

    _parameter_constraints: dict = {
        **HonestEstimator._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "splits": [StrOptions(set(TREES))],
        "honest": ["boolean", StrOptions({"estimation"})],
        "max_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        splits: Literal["breiman", "level"] = "breiman",
        max_samples: int | float | None = 0.8,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures = None,
        honest: bool | Literal["estimation"] = True,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.splits = splits
        self.max_samples = max_samples
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.honest = honest
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _input_dtype(self):
        return TREES[self.splits]._input_dtype()

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the importances of the features in the trees, normalized to sum to 1."""
        check_is_fitted(self)
        total = np.sum([tree.feature_importances_ for tree in self.estimators_], axis=0)
        return total / (total.sum() or 1.0)

    def _fit(self, X, y, weights, random_state):
        seeds = draw_seed(random_state, (self.n_estimators, 2))
        n_drawn = self._n_drawn(len(X))
        fits = [
            delayed(fit_tree)(self._make_tree(int(seed)), X, y, weights, n_drawn, int(of_sample))
            for seed, of_sample in seeds
        ]
        # Trees release the GIL in training, so threads can be used, which share the memory of X.
        self.estimators_ = self._track_parallel(
            fits,
            "tree",
            state=lambda trees: {"estimators_": trees},
            n_jobs=self.n_jobs,
            prefer="threads",
        )

    def _make_tree(self, seed):
        return TREES[self.splits](
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            honest=self.honest,
            random_state=seed,
        )

    def _n_drawn(self, n_samples):
        if self.max_samples is None:
            return n_samples
        if isinstance(self.max_samples, Integral):
            if self.max_samples > n_samples:
                raise ValueError(
                    f"max_samples={self.max_samples} samples cannot be drawn without replacement "
                    f"from {n_samples}: pass a fraction such as 0.5, or None for all"
                )
            return self.max_samples
        return max(1, round(self.max_samples * n_samples))

    def _trees(self):
        trees = [tree._nodes() for tree in self.estimators_]
        return [tree | {"values": tree["values"] / len(trees)} for tree in trees]

    def _predict(self, X):
        def make():
            return SumOfTrees([tree._nodes() for tree in self.estimators_], self.n_features_in_)

        trees = kept_sum(self, [tree.values_ for tree in self.estimators_], None, make)
        return trees.predict(X, self.n_jobs) / len(self.estimators_)


@SHARED
class HonestForestRegressor(HonestRegressor, HonestForest):
    r"""An average of honest regression trees, each fitted to a subsample.

    This class implements the forests of appendix D of [1]_, which follow [2]_. For each tree, a
    subsample is drawn *without* replacement and divided into two halves at random. The splits are
    chosen with one half, and the leaf values are computed with the other half. By default, the
    trees are grown until their cells are pure or cannot be split. The forest predicts the mean of
    the predictions of the trees.

    {parameters}

    Attributes
    ----------
    estimators_ : list of regressors
        Fitted trees.
    {importances_and_outputs}

    See Also
    --------
    HonestForestClassifier : The same forest for classes.
    sklearn.ensemble.RandomForestRegressor : A forest of trees that are fitted to bootstrap samples
        and are not honest.

    {papers}

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklrank.tree import HonestForestRegressor
    >>> X, y = make_friedman1(1000, random_state=0)
    >>> forest = HonestForestRegressor(random_state=0).fit(X[:800], y[:800])
    >>> bool(forest.score(X[800:], y[800:]) > 0.75)
    True
    """


@SHARED
class HonestForestClassifier(HonestClassifier, HonestForest):
    r"""An average of honest classification trees, each fitted to a subsample.

    This is :class:`HonestForestRegressor`, a forest of appendix D of [1]_, for classes: the splits
    reduce the Gini impurity, and the forest predicts the mean of the class probabilities of the
    trees. As `estimator` of :class:`~sklrank.label_ranking.PairwiseRanker`, it learns incomplete
    rankings by honest trees.

    {parameters_and_classes}
    estimators_ : list of regressors
        Trees fitted to the indicator matrix of the classes.
    {importances}
    {n_features_in}

    See Also
    --------
    HonestForestRegressor : The same forest for regression.

    {paper}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklrank.tree import HonestForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = HonestForestClassifier(random_state=0).fit(X[::2], y[::2])
    >>> bool(forest.score(X[1::2], y[1::2]) > 0.9)
    True
    """


def fit_tree(tree, X, y, weights, n_drawn: int, seed: int):
    """Fit the tree to `n_drawn` samples, drawn without replacement, and return it."""
    drawn = np.random.RandomState(seed).permutation(len(X))[:n_drawn]
    return tree.fit(X[drawn], y[drawn], weights_of(weights, drawn))

"""HonestForestRegressor: the mean of honest trees on subsamples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from sklrank._sklearn import N_JOBS, Interval, StrOptions
from sklrank.tree._honest_regressor import LARGEST_SEED, HonestRegressor
from sklrank.tree._honest_tree import HonestTreeRegressor
from sklrank.tree._level_splits import LevelSplitsRegressor

if TYPE_CHECKING:
    from sklrank._typing import MaxFeatures

__all__ = ["HonestForestRegressor"]

TREES = {"breiman": HonestTreeRegressor, "level": LevelSplitsRegressor}


class HonestForestRegressor(HonestRegressor):
    r"""The mean of honest, fully grown trees, each of a subsample of the rows.

    As in appendix D of [1]_, after [2]_: each of the trees draws s of the n rows *without*
    replacement, splits them into halves, lets one half choose its splits until the cells are pure
    or cannot be split, and fills its leaves with the other half. The forest predicts
    :math:`f^{(n,s)}`, the mean of the trees.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    splits : {"breiman", "level"}, default="breiman"
        Whether each cell has a split of its own (algorithm 10, :class:`HonestTreeRegressor`), or
        the cells of a level share one (algorithm 9, :class:`LevelSplitsRegressor`). The latter find
        few features that matter among very many.
    max_samples : int, float or None, default=0.8
        Rows s that a tree draws: a number, a share of them, or None for all. Less makes the trees
        differ more and costs less. Trees that are not honest, and try all features, are all the
        same without subsampling.
    max_depth : int or None, default=None
        Greatest depth of the trees. None: no limit.
    min_samples_leaf : int, default=1
        Least rows of each half on either side of a split, or of a leaf; see the trees.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features tried at a split, or at a level: a number, a share of them, or all.
    honest : bool, default=True
        Whether the trees are honest. False: all rows of a subsample choose the splits and fill the
        leaves.
    random_state : int, RandomState instance or None, default=None
        Draws the subsamples, the halves and the features.
    verbose : int, default=0
        Passed to joblib.
    n_jobs : int or None, default=None
        Trees that are grown at a time. It changes no result.

    Attributes
    ----------
    estimators_ : list of regressors
        The trees.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the trees' importances, summing to 1; zeros where no tree has a split.
    n_outputs_ : int
        Number of targets.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.

    See Also
    --------
    sklearn.ensemble.RandomForestRegressor : Trees of bootstrap samples, not honest.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis and E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022, appendix D.
    .. [2] V. Syrgkanis and M. Zampetakis, "Estimation and inference with trees and forests in high
       dimensions", COLT 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklrank.tree import HonestForestRegressor
    >>> X, y = make_friedman1(1000, random_state=0)
    >>> forest = HonestForestRegressor(random_state=0).fit(X[:800], y[:800])
    >>> bool(forest.score(X[800:], y[800:]) > 0.75)
    True
    """

    _parameter_constraints: dict = {
        **HonestRegressor._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "splits": [StrOptions(set(TREES))],
        "max_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
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
        honest: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
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
        self.verbose = verbose
        self.n_jobs = n_jobs

    @property
    def _dtype(self):
        return TREES[self.splits]._dtype

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the trees' importances, summing to 1; zeros where no tree has a split.

        Returns
        -------
        ndarray of shape (n_features,)
            Share of each feature.
        """
        check_is_fitted(self)
        total = np.sum([tree.feature_importances_ for tree in self.estimators_], axis=0)
        return total / (total.sum() or 1.0)

    def _fit(self, X, y, random_state):
        n_drawn = self._n_drawn(len(X))
        seeds = random_state.randint(LARGEST_SEED, size=(self.n_estimators, 2))
        self.estimators_ = self._in_parallel(
            delayed(grow_tree)(self._tree(int(seed)), X, y, n_drawn, int(seed_of_rows))
            for seed, seed_of_rows in seeds
        )

    def _tree(self, seed):
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
                    f"max_samples={self.max_samples} rows cannot be drawn without replacement from "
                    f"{n_samples}: give a share of them, such as 0.5, or None for all"
                )
            return self.max_samples
        return max(1, round(self.max_samples * n_samples))

    def _in_parallel(self, tasks):
        # Growing and predicting release the GIL: threads share the rows.
        return Parallel(n_jobs=self.n_jobs, verbose=self.verbose, prefer="threads")(tasks)

    def _predict(self, X):
        # Predictions are summed in the order of the trees, so that threads do not change the sum.
        predictions = self._in_parallel(delayed(predict)(tree, X) for tree in self.estimators_)
        return sum(predictions) / len(predictions)


def grow_tree(tree, X, y, n_drawn: int, seed: int):
    """Fit to rows drawn without replacement."""
    rows = np.random.RandomState(seed).permutation(len(X))[:n_drawn]
    return tree.fit(X[rows], y[rows])


def predict(tree, X):
    return tree._predict(X)

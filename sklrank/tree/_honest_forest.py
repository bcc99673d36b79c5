"""HonestForestRegressor: an average of honest trees on subsamples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from sklrank._progress import IterativeMixin
from sklrank._sklearn import N_JOBS, Interval, StrOptions
from sklrank.tree._honest_regressor import MAX_SEED, HonestRegressor
from sklrank.tree._honest_tree import HonestTreeRegressor
from sklrank.tree._level_splits import LevelSplitsRegressor

if TYPE_CHECKING:
    from sklrank._typing import MaxFeatures

__all__ = ["HonestForestRegressor"]

TREES = {"breiman": HonestTreeRegressor, "level": LevelSplitsRegressor}


class HonestForestRegressor(IterativeMixin, HonestRegressor):
    r"""An average of honest regression trees, each fitted to a subsample.

    This class implements the forests of appendix D of [1]_, which follow [2]_. For each tree, a
    subsample is drawn *without* replacement and divided into two halves at random. The splits are
    chosen with one half, and the leaf values are computed with the other half. By default, the
    trees are grown until their cells are pure or cannot be split. The forest predicts the mean of
    the predictions of the trees.

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
    honest : bool, default=True
        Whether the trees are honest. If False, all samples of a subsample are used both to choose
        the splits and to compute the leaf values.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of the subsamples, of their halves, and of the features tried.
    verbose : int, default=0
        Verbosity level, passed to joblib.
    n_jobs : int or None, default=None
        Number of threads. They fit the trees in parallel, and compute the predictions of the trees
        in parallel. The results do not depend on `n_jobs`.

    Attributes
    ----------
    estimators_ : list of regressors
        Fitted trees.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the importances of the features in the trees, normalized to sum to 1. All
        importances are 0 if no tree has a split.
    n_outputs_ : int
        Number of targets.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    sklearn.ensemble.RandomForestRegressor : A forest of trees that are fitted to bootstrap samples
        and are not honest.

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

    def _input_dtype(self):
        return TREES[self.splits]._input_dtype()

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the importances of the features in the trees, normalized to sum to 1.

        Returns
        -------
        ndarray of shape (n_features,)
            Importance of each feature. All importances are 0 if no tree has a split.
        """
        check_is_fitted(self)
        total = np.sum([tree.feature_importances_ for tree in self.estimators_], axis=0)
        return total / (total.sum() or 1.0)

    def _fit(self, X, y, random_state):
        n_drawn = self._n_drawn(len(X))
        seeds = random_state.randint(MAX_SEED, size=(self.n_estimators, 2))
        fits = [
            delayed(fit_tree)(self._make_tree(int(seed)), X, y, n_drawn, int(subsample_seed))
            for seed, subsample_seed in seeds
        ]
        self.estimators_ = self._track_parallel(
            fits, "tree", state=lambda trees: {"estimators_": trees}, **self._parallel_options()
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

    def _parallel_options(self):
        # `n_jobs` and `verbose` may have changed since `fit` checked them.
        self._validate_params()
        # Trees release the GIL in training and in prediction, so threads can be used, which share
        # the memory of X.
        return {"n_jobs": self.n_jobs, "verbose": self.verbose, "prefer": "threads"}

    def _predict(self, X):
        # The predictions are added as they arrive, in the order of the trees, so that few of them
        # are in memory and the result does not depend on n_jobs.
        run = Parallel(**self._parallel_options(), return_as="generator")
        predictions = run(delayed(predict)(tree, X) for tree in self.estimators_)
        total = next(predictions)
        for prediction in predictions:
            total += prediction
        return total / len(self.estimators_)


def fit_tree(tree, X, y, n_drawn: int, seed: int):
    """Fit the tree to `n_drawn` samples, drawn without replacement, and return it."""
    drawn = np.random.RandomState(seed).permutation(len(X))[:n_drawn]
    return tree.fit(X[drawn], y[drawn])


def predict(tree, X):
    """Return the predictions `(n_samples, n_outputs)` of a tree for validated samples."""
    return tree._predict(X)

"""HonestForestRegressor: an average of honest trees on subsamples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from sklrank._sklearn import N_JOBS, Interval, StrOptions
from sklrank.tree._honest_regressor import MAX_SEED, HonestRegressor
from sklrank.tree._honest_tree import HonestTreeRegressor
from sklrank.tree._level_splits import LevelSplitsRegressor

if TYPE_CHECKING:
    from sklrank._typing import MaxFeatures

__all__ = ["HonestForestRegressor"]

TREES = {"breiman": HonestTreeRegressor, "level": LevelSplitsRegressor}


class HonestForestRegressor(HonestRegressor):
    r"""An average of honest, fully grown trees, each fitted to a subsample.

    As in appendix D of [1]_, after [2]_: each tree draws s of the n samples *without* replacement
    and divides them into two halves. One half chooses the splits, until the cells are pure or
    cannot be split; the other half determines the leaf values. The forest predicts
    :math:`f^{(n,s)}`, the mean of the trees.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    splits : {"breiman", "level"}, default="breiman"
        "breiman": each cell has its own split (Algorithm 10, :class:`HonestTreeRegressor`).
        "level": all cells of a level share one split (Algorithm 9, :class:`LevelSplitsRegressor`),
        which finds a few relevant features among very many.
    max_samples : int, float or None, default=0.8
        Number s of samples that each tree draws: a number, a fraction, or None for all. Smaller
        values give more diverse trees and are faster. Without subsampling, trees that are not
        honest and try all features are identical.
    max_depth : int or None, default=None
        Maximum depth of the trees. None: no limit.
    min_samples_leaf : int, default=1
        Minimum number of samples of each half in a leaf; see the classes of the trees.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features tried at a split, or at a level: a number, a fraction, or all (None).
    honest : bool, default=True
        Whether the trees are honest. False: all samples of a subsample choose the splits and
        determine the leaf values.
    random_state : int, RandomState instance or None, default=None
        Controls the draw of the subsamples, the halves and the features.
    verbose : int, default=0
        Verbosity of joblib.
    n_jobs : int or None, default=None
        Number of trees to fit in parallel. It does not change the results.

    Attributes
    ----------
    estimators_ : list of regressors
        The trees.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the trees' importances, normalized to sum to 1; zeros if no tree has a split.
    n_outputs_ : int
        Number of targets.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` has feature names that are strings.

    See Also
    --------
    sklearn.ensemble.RandomForestRegressor : Trees on bootstrap samples, not honest.

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
        """Mean of the trees' importances, normalized to sum to 1.

        Returns
        -------
        ndarray of shape (n_features,)
            Share of each feature; zeros if no tree has a split.
        """
        check_is_fitted(self)
        total = np.sum([tree.feature_importances_ for tree in self.estimators_], axis=0)
        return total / (total.sum() or 1.0)

    def _fit(self, X, y, random_state):
        n_drawn = self._n_drawn(len(X))
        seeds = random_state.randint(MAX_SEED, size=(self.n_estimators, 2))
        self.estimators_ = self._in_parallel(
            delayed(fit_tree)(self._make_tree(int(seed)), X, y, n_drawn, int(subsample_seed))
            for seed, subsample_seed in seeds
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

    def _in_parallel(self, tasks):
        # Fitting and predicting release the GIL: threads share X.
        return Parallel(n_jobs=self.n_jobs, verbose=self.verbose, prefer="threads")(tasks)

    def _predict(self, X):
        # The sum is over the trees in order, so that n_jobs does not change the result.
        predictions = self._in_parallel(delayed(predict)(tree, X) for tree in self.estimators_)
        return sum(predictions) / len(predictions)


def fit_tree(tree, X, y, n_drawn: int, seed: int):
    """Fit the tree to a subsample drawn without replacement."""
    drawn = np.random.RandomState(seed).permutation(len(X))[:n_drawn]
    return tree.fit(X[drawn], y[drawn])


def predict(tree, X):
    """Predict the targets of checked samples."""
    return tree._predict(X)

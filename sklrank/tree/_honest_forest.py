"""Honest forests: averages of honest trees on subsamples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from scipy.special import log_ndtr
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from sklrank._docstrings import shares_text
from sklrank._randomness import draw_seed
from sklrank._sklearn import N_JOBS, Interval, IterativeMixin, StrOptions, check_parameters
from sklrank.tree._honest import (
    ATTRIBUTES_OF_INPUT,
    PAPER,
    HonestClassifier,
    HonestEstimator,
    HonestRegressor,
)
from sklrank.tree._honest_tree import HonestTreeRegressor
from sklrank.tree._level_splits import LevelSplitsRegressor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sklrank._typing import MaxFeatures

TREES = {"breiman": HonestTreeRegressor, "level": LevelSplitsRegressor}


SHARED = shares_text(
    input=ATTRIBUTES_OF_INPUT,
    paper=PAPER,
    parameters="""
n_estimators : int, default=100
    Number of trees.
splits : {"breiman", "level"}, default="breiman"
    Kind of the trees. With "breiman", each cell has its own split (Algorithm 10,
    :class:`HonestTreeRegressor`). With "level", all cells of a level have the same split
    (Algorithm 9, :class:`LevelSplitsRegressor`); such trees can find a few relevant features
    among a large number of features.
trees_per_bag : int or None, default=None
    Number of trees of each bag, at least 2; `n_estimators` must be a multiple of it, with at
    least two bags. Standard errors are precise with 100 bags or more, for example 400 trees in
    bags of 4. The subsamples of a bag are drawn from half of the samples, to which
    `max_samples` refers. If None, there are no bags, and there are no standard
    errors.
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
verbose : int, default=0
    Verbosity level, passed to joblib.
n_jobs : int or None, default=None
    Number of threads. They fit the trees in parallel, and compute the predictions of the trees
    in parallel. The results do not depend on `n_jobs`.
""",
)


class HonestForest(IterativeMixin, HonestEstimator):
    """Base class of the honest forests, for regression and classification.

    The trees are regression trees, of the indicator matrix of the classes in a classifier.
    """

    _parameter_constraints: dict = {
        **HonestEstimator._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "splits": [StrOptions(set(TREES))],
        "honest": ["boolean", StrOptions({"estimation"})],
        "trees_per_bag": [Interval(Integral, 2, None, closed="left"), None],
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
        trees_per_bag: int | None = None,
        max_samples: int | float | None = 0.8,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures = None,
        honest: bool | Literal["estimation"] = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.splits = splits
        self.trees_per_bag = trees_per_bag
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
        bags = self._draw_bags(len(X), random_state)
        seeds = draw_seed(random_state, (self.n_estimators, 2))
        n_drawn = self._n_drawn(len(bags[0]))
        fits = [
            delayed(fit_tree)(self._make_tree(int(seed)), X, y, bag, n_drawn, int(subsample_seed))
            for bag, (seed, subsample_seed) in zip(bags, seeds)
        ]
        self._bag_size = self.trees_per_bag
        self.estimators_ = self._track_parallel(
            fits, "tree", state=lambda trees: {"estimators_": trees}, **self._parallel_options()
        )

    def _draw_bags(self, n_samples, random_state):
        """Return, for each tree, the indices of the samples of its bag, or of all samples."""
        if self.trees_per_bag is None:
            return [np.arange(n_samples)] * self.n_estimators
        n_bags, n_left = divmod(self.n_estimators, self.trees_per_bag)
        if n_left or n_bags < 2:
            raise ValueError(
                f"n_estimators={self.n_estimators} trees cannot be divided into at least two bags "
                f"of trees_per_bag={self.trees_per_bag}: pass a multiple of it"
            )
        half = max(1, n_samples // 2)
        # With a generator of its own, the first trees do not depend on the number of trees.
        generator = np.random.RandomState(draw_seed(random_state))
        bags = [generator.permutation(n_samples)[:half] for _ in range(n_bags)]
        return [bag for bag in bags for _ in range(self.trees_per_bag)]

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
        # They may have changed since `fit` checked them.
        check_parameters(self, "n_jobs", "verbose")
        # Trees release the GIL in training and in prediction, so threads can be used, which share
        # the memory of X.
        return {"n_jobs": self.n_jobs, "verbose": self.verbose, "prefer": "threads"}

    def _predict(self, X):
        # The predictions are added as they arrive, in the order of the trees, so that few of them
        # are in memory and the result does not depend on n_jobs.
        return sum(self._predictions(X)) / len(self.estimators_)

    def _predictions(self, X):
        """Return the predictions `(n_samples, n_outputs)` of all trees, as a generator."""
        run = Parallel(**self._parallel_options(), return_as="generator")
        return run(delayed(predict)(tree, X) for tree in self.estimators_)

    def _predict_with_std(self, X):
        """Return the predictions and their standard errors, each `(n_samples, n_outputs)`."""
        X = self._check_X(X)
        if self._bag_size is None:
            raise ValueError(
                "return_std=True needs trees in bags: set trees_per_bag, for example to 2, and fit "
                "again"
            )
        predictions = np.array(list(self._predictions(X)))
        std = standard_errors(predictions.reshape(-1, self._bag_size, *predictions.shape[1:]))
        return predictions.mean(axis=0), std


@SHARED
class HonestForestRegressor(HonestRegressor, HonestForest):
    r"""An average of honest regression trees, each fitted to a subsample.

    This class implements the forests of appendix D of [1]_, which follow [2]_. For each tree, a
    subsample is drawn *without* replacement and divided into two halves at random. The splits are
    chosen with one half, and the leaf values are computed with the other half. By default, the
    trees are grown until their cells are pure or cannot be split. The forest predicts the mean of
    the predictions of the trees.

    With `trees_per_bag`, `predict` also returns standard errors, by the bootstrap of little bags
    [3]_: all trees of a bag are fitted to subsamples of the same random half of the samples. The
    predictions of honest forests are asymptotically normal [2]_, so that a prediction plus and
    minus 1.96 standard errors is an approximate 95 % confidence interval of the expected target.
    The interval is too narrow where the expected target varies within the leaves, since standard
    errors do not include bias. It is not an interval of the targets, which also have noise.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    estimators_ : list of regressors
        Fitted trees.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the importances of the features in the trees, normalized to sum to 1. All
        importances are 0 if no tree has a split.
    n_outputs_ : int
        Number of targets.
    {input}

    See Also
    --------
    HonestForestClassifier : The same forest for classes.
    sklearn.ensemble.RandomForestRegressor : A forest of trees that are fitted to bootstrap samples
        and are not honest.

    References
    ----------
    {paper}
    .. [2] V. Syrgkanis and M. Zampetakis, "Estimation and inference with trees and forests in high
       dimensions", COLT 2020.
    .. [3] S. Athey, J. Tibshirani and S. Wager, "Generalized random forests", Annals of Statistics
       47, 2019, Section 4.1.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklrank.tree import HonestForestRegressor
    >>> X, y = make_friedman1(1000, random_state=0)
    >>> forest = HonestForestRegressor(random_state=0).fit(X[:800], y[:800])
    >>> bool(forest.score(X[800:], y[800:]) > 0.75)
    True
    >>> forest.set_params(n_estimators=200, trees_per_bag=2).fit(X[:800], y[:800])
    HonestForestRegressor(n_estimators=200, random_state=0, trees_per_bag=2)
    >>> predicted, std = forest.predict(X[800:], return_std=True)
    >>> low, high = predicted - 1.96 * std, predicted + 1.96 * std
    """

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False) -> np.ndarray: ...

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[np.ndarray, np.ndarray]: ...

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Predict the targets, and optionally the standard errors of the predictions.

        The standard error measures how a prediction varies over random samples and over the random
        trees of the forest (Athey et al., 2019). The variance over samples is estimated by the
        variance of the means of the bags, minus the part that is due to the few trees of a bag. The
        difference may be negative by chance; it is replaced by the mean of a normal distribution
        around it that is truncated to positive numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        return_std : bool, default=False
            Whether to return the standard errors.

        Returns
        -------
        predicted : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predicted targets. The array is 1-d if there is a single target.
        std : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Standard errors of the predictions, as estimates of the expected targets. Only returned
            if `return_std` is True.

        Raises
        ------
        ValueError
            If `return_std` is True and the forest was fitted with ``trees_per_bag=None``.
        """
        if not return_std:
            return super().predict(X)
        predicted, std = self._predict_with_std(X)
        return (predicted[:, 0], std[:, 0]) if self.n_outputs_ == 1 else (predicted, std)


@SHARED
class HonestForestClassifier(HonestClassifier, HonestForest):
    r"""An average of honest classification trees, each fitted to a subsample.

    This is :class:`HonestForestRegressor`, a forest of appendix D of [1]_, for classes: the splits
    reduce the Gini impurity, and the forest predicts the mean of the class probabilities of the
    trees. As `estimator` of :class:`~sklrank.label_ranking.PairwiseRanker`, it learns incomplete
    rankings by honest trees.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    estimators_ : list of regressors
        Trees fitted to the indicator matrix of the classes.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the importances of the features in the trees, normalized to sum to 1. All
        importances are 0 if no tree has a split.
    {input}

    See Also
    --------
    HonestForestRegressor : The same forest for regression.

    References
    ----------
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

    @overload
    def predict_proba(self, X: ArrayLike, return_std: Literal[False] = False) -> np.ndarray: ...

    @overload
    def predict_proba(
        self, X: ArrayLike, return_std: Literal[True]
    ) -> tuple[np.ndarray, np.ndarray]: ...

    def predict_proba(
        self, X: ArrayLike, return_std: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Predict the probability of each class, and optionally the standard errors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        return_std : bool, default=False
            Whether to return the standard errors.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Mean probabilities of the classes in the trees, in the order of `classes_`.
        std : ndarray of shape (n_samples, n_classes)
            Standard errors of the probabilities. Only returned if `return_std` is True.

        Raises
        ------
        ValueError
            If `return_std` is True and the forest was fitted with ``trees_per_bag=None``.
        """
        return self._predict_with_std(X) if return_std else super().predict_proba(X)


def standard_errors(predictions):
    """Return the standard errors of a forest of little bags.

    Parameters
    ----------
    predictions : ndarray of shape (n_bags, trees_per_bag, n_samples, n_outputs)
        Predictions of the trees.

    Returns
    -------
    ndarray of shape (n_samples, n_outputs)
        Standard errors.
    """
    n_bags, bag_size = predictions.shape[:2]
    between = predictions.mean(axis=1).var(axis=0, ddof=1)
    within = predictions.var(axis=1, ddof=1).mean(axis=0) / bag_size
    variance = positive_mean(
        between - within, np.maximum(between, within) * np.sqrt(2.0 / (n_bags - 1))
    )
    return np.sqrt(variance + between / n_bags)


def positive_mean(mean, deviation):
    """Return the mean of a normal distribution that is truncated to positive numbers."""
    ratio = np.divide(mean, deviation, out=np.zeros_like(mean), where=deviation > 0)
    excess = np.exp(-0.5 * ratio**2 - log_ndtr(ratio)) / np.sqrt(2.0 * np.pi)
    return deviation * (ratio + excess)


def fit_tree(tree, X, y, bag, n_drawn: int, seed: int):
    """Fit the tree to `n_drawn` samples of the bag, drawn without replacement, and return it."""
    drawn = np.random.RandomState(seed).permutation(bag)[:n_drawn]
    return tree.fit(X[drawn], y[drawn])


def predict(tree, X):
    """Return the predictions `(n_samples, n_outputs)` of a tree for validated samples."""
    return tree._predict(X)

"""HonestTreeRegressor: scikit-learn's regression tree with honest leaf values."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from sklrank.tree._honest_regressor import MAX_SEED, HonestRegressor, draw_halves, standardize

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sklrank._typing import MaxFeatures

__all__ = ["HonestTreeRegressor"]


class HonestTreeRegressor(HonestRegressor):
    r"""A regression tree whose leaf values come from samples that did not choose the splits.

    Algorithm 10 of [1]_: each cell A is split by the feature and threshold that reduce its mean
    squared error (Equation 10) most, as in CART; `DecisionTreeRegressor` grows the tree. In an
    honest tree [2]_ one half of the samples, drawn at random, chooses the splits, and a leaf
    predicts the mean of the samples of the other half in it. This is an unbiased estimate of the
    mean target in the cell: the noise of the samples that determined the cell does not enter.

    A leaf with fewer than `min_samples_leaf` samples of that half predicts the value of its nearest
    ancestor that has enough of them.

    Parameters
    ----------
    max_depth : int or None, default=None
        Maximum depth. None: the tree grows until the cells are pure or too small to be split.
    min_samples_leaf : int, default=1
        Minimum number of samples of each half that a leaf needs to predict their mean.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features tried at a split: a number, a fraction, or all (None).
    honest : bool, default=True
        Whether one half of the samples chooses the splits and the other half determines the leaf
        values. False: all samples do both, and the tree is a `DecisionTreeRegressor`.
    random_state : int, RandomState instance or None, default=None
        Controls the draw of the halves and the features, and the permutation of the features at
        each split.

    Attributes
    ----------
    estimator_ : DecisionTreeRegressor
        The tree fitted to the samples that choose the splits, with centered and scaled targets.
        Its own predictions are neither honest nor in the units of the targets.
    values_ : ndarray of shape (n_nodes, n_outputs)
        The prediction of each node of `estimator_`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the reduction of the squared error, on the samples that choose the
        splits; zeros if there are no splits.
    n_outputs_ : int
        Number of targets.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` has feature names that are strings.

    See Also
    --------
    LevelSplitsRegressor : All cells of a level share a split.
    HonestForestRegressor : The average of many such trees.

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

    _dtype = np.float32

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures = None,
        honest: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.honest = honest
        self.random_state = random_state

    def apply(self, X: ArrayLike) -> np.ndarray:
        """Return the leaf of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            Indices of rows of `values_`.
        """
        return self.estimator_.apply(self._check_X(X))

    def _fit(self, X, y, random_state):
        halves = draw_halves(len(X), self.honest, random_state)
        # A single sample leaves the other half empty, but the tree needs a sample to be fitted to.
        chosen = halves.structure if len(halves.structure) else halves.estimation
        self.estimator_ = DecisionTreeRegressor(
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self._n_features_tried(X.shape[1]),
            random_state=random_state.randint(MAX_SEED),
        ).fit(X[chosen], standardize(y[chosen]))
        self.values_ = honest_values(
            self.estimator_, X[halves.estimation], y[halves.estimation], self.min_samples_leaf
        )
        self.feature_importances_ = self.estimator_.feature_importances_

    def _n_features_tried(self, n_features):
        # As in the other trees, a number above that of the features means all of them, so that one
        # setting fits all data sets; scikit-learn's tree would raise an error.
        if isinstance(self.max_features, Integral):
            return min(self.max_features, n_features)
        return self.max_features

    def _predict(self, X):
        return self.values_[self.estimator_.apply(X)]


def honest_values(tree, X, y, min_samples: int):
    """Return the mean targets `(n_nodes, n_outputs)` of samples that were not used to fit a tree.

    A node with fewer than `min_samples` of them gets the value of its parent.
    """
    cells = tree.decision_path(X).T
    counts = np.asarray(cells.sum(axis=1)).reshape(-1, 1)
    values = (cells @ y) / np.maximum(counts, 1)
    parents = np.zeros(len(values), dtype=np.intp)
    for children in tree.tree_.children_left, tree.tree_.children_right:
        inner = np.flatnonzero(children >= 0)
        parents[children[inner]] = inner
    # Parents come before their children. The root has no parent and keeps its mean.
    for node in np.flatnonzero(counts[1:] < min_samples) + 1:
        values[node] = values[parents[node]]
    return values

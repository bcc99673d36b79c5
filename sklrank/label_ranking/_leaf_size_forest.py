"""Random forest that chooses the size of its leaves by out-of-bag error."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.utils.validation import check_is_fitted

from sklrank._estimator import BaseEstimator
from sklrank._randomness import draw_seed
from sklrank._sklearn import N_JOBS, Interval, _fit_context
from sklrank._validation import check_rows, unchanged_on_error

# Minimum numbers of samples in a leaf that are compared, and the number of trees for each of them.
_LEAF_SIZES = (1, 5, 20)
_N_FIRST_TREES = 15
# Minimum number of features that each split considers. With one of few features, trees are random.
_MIN_FEATURES = 3


class LeafSizeForest(RegressorMixin, BaseEstimator):
    """Random forest regressor that chooses the minimum number of samples in a leaf.

    Small leaves are best for precise targets, large ones for noisy targets. A forest of 15 trees is
    grown with each of the leaf sizes 1, 5 and 20. The forest with the least mean squared error of
    out-of-bag predictions is then grown to all trees.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : float, default=1/3
        Share of the features that each split considers, at least three of them.
    oob_score : bool, default=False
        Whether to compute `oob_prediction_`.
    random_state : int, RandomState instance or None, default=None
        Controls the bootstrap samples and the choice of features.
    n_jobs : int or None, default=None
        Number of trees that are grown in parallel.

    Attributes
    ----------
    forest_ : RandomForestRegressor
        The forest.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean predictions of the trees that were fitted without the sample. Defined only if
        `oob_score` is True.
    n_features_in_ : int
        Number of features.
    """

    _doc_link_module = ""  # private, without a page in the documentation
    _parameter_constraints: dict = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_features": [Interval(Real, 0, 1, closed="right")],
        "oob_score": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_estimators=100,
        *,
        max_features=1 / 3,
        oob_score=False,
        random_state=None,
        n_jobs=None,
    ):
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.oob_score = oob_score
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Grow the forests and keep the best one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        self : object
            The fitted forest.
        """
        with unchanged_on_error(self):
            return self._fit(X, y)

    def _fit(self, X, y):
        X, y = check_rows(
            self, X, reset=True, y=y, dtype=np.float32, multi_output=True, y_numeric=True
        )
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        n_features = X.shape[1]
        n_considered = max(int(self.max_features * n_features), min(_MIN_FEATURES, n_features))
        seed = draw_seed(self.random_state)
        candidates = [
            RandomForestRegressor(
                min(_N_FIRST_TREES, self.n_estimators),
                max_features=n_considered,
                min_samples_leaf=size,
                random_state=seed,
                n_jobs=self.n_jobs,
                warm_start=True,
            ).fit(X, y)
            for size in _LEAF_SIZES
        ]
        # All candidates have the same seed, and thereby the same bootstrap samples.
        bootstrap = candidates[0].estimators_samples_
        held_out = [OutOfBag(forest.estimators_, bootstrap, X, y) for forest in candidates]
        best = int(np.argmin([predictions.error(y) for predictions in held_out]))
        self.forest_ = candidates[best].set_params(n_estimators=self.n_estimators)
        if self.n_estimators > _N_FIRST_TREES:
            self.forest_.fit(X, y)
        vars(self).pop("oob_prediction_", None)
        if self.oob_score:
            new = slice(_N_FIRST_TREES, None)
            trees, bootstrap = self.forest_.estimators_[new], self.forest_.estimators_samples_[new]
            held_out[best].add_trees(trees, bootstrap, X)
            self.oob_prediction_ = held_out[best].predictions(self.forest_, X)
        return self

    def predict(self, X):
        """Predict the targets of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predicted targets.
        """
        check_is_fitted(self)
        return self.forest_.predict(check_rows(self, X, reset=False, dtype=np.float32))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags


class OutOfBag:
    """Sums of the out-of-bag predictions of a growing forest, and of their squares.

    Parameters
    ----------
    trees : list of DecisionTreeRegressor
        First trees of the forest.
    bootstrap : list of ndarray of int
        Indices of the samples that each tree was fitted to.
    X : {ndarray, csr_array} of shape (n_samples, n_features), float32
        The training samples.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    """

    def __init__(self, trees, bootstrap, X, y):
        self.sums, self.squares = np.zeros(y.shape), np.zeros(y.shape)
        self.counts = np.zeros((len(y), *[1] * (y.ndim - 1)))
        self.add_trees(trees, bootstrap, X)

    def add_trees(self, trees, bootstrap, X):
        """Add the predictions of more trees."""
        for tree, samples in zip(trees, bootstrap):
            left_out = np.ones(len(self.sums), dtype=bool)
            left_out[samples] = False
            if left_out.any():
                predicted = tree.predict(X[left_out], check_input=False)
                self.sums[left_out] += predicted
                self.squares[left_out] += predicted**2
                self.counts[left_out] += 1.0

    def error(self, y):
        """Estimate the mean squared error of a forest of infinitely many trees.

        The mean prediction of n trees has the variance v / n around that of infinitely many trees.
        The variance v of the trees is estimated and v / n is subtracted, since it is larger for
        small leaves, and a forest of all trees has little of it. Samples that fewer than two trees
        were fitted without are ignored.
        """
        known = np.ravel(self.counts) > 1
        if not known.any():
            return 0.0
        counts = self.counts[known]
        means = self.sums[known] / counts
        variances = (self.squares[known] / counts - means**2) / (counts - 1.0)
        return np.mean((means - y[known]) ** 2 - variances)

    def predictions(self, forest, X):
        """Return the mean predictions; samples in all bootstrap samples have that of all trees."""
        known = np.ravel(self.counts) > 0
        result = self.sums / np.maximum(self.counts, 1.0)
        if not known.all():
            result[~known] = forest.predict(X[~known])
        return result

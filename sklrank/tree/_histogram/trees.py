"""Histogram trees: a classifier, and the regression tree of HistGradientBoostingRanker."""

from __future__ import annotations

from copy import copy
from functools import partial
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    as_numbers,
    check_class_labels,
    check_known,
    check_rows,
    check_weights,
    sorted_labels,
)
from sklrank._estimators import (
    MAX_FEATURES,
    N_JOBS,
    BaseEstimator,
    Interval,
    _fit_context,
    draw_features,
    failed_weight_checks,
    shares_text,
    unchanged_on_error,
)
from sklrank._typing import MaxFeatures, Self
from sklrank.tree._histogram.binning import FeatureBlocks, codes_of_categories
from sklrank.tree._histogram.grower import Grower
from sklrank.tree._proportions import ProportionsMixin
from sklrank.tree._sums import SumOfTrees, kept_sum

# Number of mean hessians that is added to that of a category when categories are sorted: the
# default of LightGBM's `cat_smooth`.
CATEGORY_SMOOTHING = 10.0
# With fewer values of features, threads take longer to start than they save.
LEAST_VALUES_FOR_THREADS = 500_000


class HistogramTree(BaseEstimator):
    """Base class of trees that are grown leaf by leaf on binned features."""

    # Least sum of the hessians of a leaf, as a multiple of their mean.
    _min_hessian = 0.0

    _parameter_constraints = {
        "max_leaf_nodes": [Interval(Integral, 2, 65536, closed="both")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "max_features": MAX_FEATURES,
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "categorical_features": ["array-like", None],
        "monotonic_cst": ["array-like", None],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
    }

    _accepts_nan = True
    _failed_checks = failed_weight_checks("min_samples_leaf counts samples")

    @property
    def feature_importances_(self) -> np.ndarray:
        """Fraction of the total gain that is due to each feature."""
        check_is_fitted(self)
        nodes = self.tree_.nodes()
        gains = np.bincount(nodes["feature"], nodes["gain"], self.n_features_in_)
        return gains / (gains.sum() or 1.0)

    def _check_X(self, X):
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        self._check_categories(X)
        return X

    def _check_categories(self, X):
        """Warn about features of `X` of which most categories are unknown."""
        for feature, categories in enumerate(self.categories_):
            if categories is not None:
                values = as_floats(X[:, feature])
                unknown = np.isnan(codes_of_categories(values, categories)) & ~np.isnan(values)
                check_known(values, unknown, categories, feature)

    def _predict(self, X):
        """Return the values of the leaves of a validated array `X`, of shape `(n, n_outputs)`."""
        return self._sum_of(self, [self], [1.0]).predict(X)

    def _sum_of(self, owner, models, steps, *of_hypothesis):
        """Return the sum of `_node_values(*of_hypothesis)` of trees times steps, kept for `owner`.

        Return None if trees have other categories than this one, after a warm start.
        """

        def make():
            known = [each for model in models for each in model.categories_ if each is not None]
            if len(set(map(id, known))) > sum(each is not None for each in self.categories_):
                return None
            trees = [
                nodes_of(model.tree_, step * model._node_values(*of_hypothesis))
                for model, step in zip(models, steps)
            ]
            encode = partial(encode_categories, categories=self.categories_)
            return SumOfTrees(trees, self.n_features_in_, encode)

        parts = [model.tree_ for model in models]
        return kept_sum(owner, parts, (list(steps), of_hypothesis), make)

    def _bin(self, X, random_state):
        """Return the bins of the features of a validated array `X`."""
        is_categorical = self._categorical_mask(X.shape[1])
        return FeatureBlocks(X, getattr(self, "max_bins", 255), is_categorical, random_state)

    def _make_grower(self, bins, n_outputs=1, **of_parts):
        """Return the grower of trees with the parameters of this one."""
        return HistogramGrower(self, bins, n_outputs, **of_parts)

    def _categorical_mask(self, n_features):
        """Return whether each feature is categorical."""
        given = getattr(self, "categorical_features", None)
        if given is None:
            return np.zeros(n_features, dtype=bool)
        given = np.asarray(given)
        if given.dtype == bool and given.shape == (n_features,):
            return given
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise ValueError(
                f"categorical_features must be a list of the indices of features, or a boolean "
                f"array of shape ({n_features},); got {self.categorical_features!r}"
            )
        given = given.astype(np.intp)
        if given.size and not (0 <= given.min() and given.max() < n_features):
            raise ValueError(
                f"categorical_features must be indices from 0 to {n_features - 1}, got {given}"
            )
        return np.isin(np.arange(n_features), given)

    def _constraints(self, is_categorical):
        """Return the monotonic constraint of each feature: 1, -1 or 0."""
        n_features = len(is_categorical)
        if getattr(self, "monotonic_cst", None) is None:
            return np.zeros(n_features, dtype=np.int8)
        given = np.asarray(self.monotonic_cst)
        if given.shape != (n_features,) or not np.isin(given, (-1, 0, 1)).all():
            raise ValueError(
                f"monotonic_cst must be a list of {n_features} numbers, one for each feature, "
                f"which are 1, -1 or 0; got {self.monotonic_cst!r}"
            )
        if given[is_categorical].any():
            raise ValueError(
                "monotonic_cst must be 0 for categorical features, whose values have no order"
            )
        return given.astype(np.int8)


class HistogramTreeRegressor(RegressorMixin, HistogramTree):
    r"""A regression tree that is grown leaf by leaf on features that were binned once.

    The tree is grown as those of LightGBM (Ke et al. 2017) and of scikit-learn's
    `HistGradientBoostingRegressor`. The leaf whose split reduces the squared error most is split
    first, until the tree has `max_leaf_nodes` leaves. A leaf predicts :math:`\sum w_i y_i / (\sum
    w_i + \lambda)` for the targets :math:`y` and weights :math:`w` of its samples, where
    :math:`\lambda` is `l2_regularization`, and the weights have mean one. The gain of a split is
    the sum of :math:`(\sum w_i y_i)^2 / (\sum w_i + \lambda)` over both children minus that of the
    node. If there are several targets, their gains are added; then there are no categorical
    features, which are sorted by their mean target (Fisher 1958), and no monotonic constraints. The
    time is linear in the number of samples and features.

    If it is `symmetric`, all leaves of a level have the same split, that with the largest sum of
    gains; a leaf in which it is not allowed, or gains nothing, waits for the next level
    (Prokhorenkova et al. 2018). The number of levels is the binary logarithm of `max_leaf_nodes`,
    or `max_depth` if this is smaller. Then there must be one target, too.

    The parameters are those of the ranker of the same names.
    """

    _doc_link_module = ""  # private, without a page in the documentation
    _parameter_constraints = {
        **HistogramTree._parameter_constraints,
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "symmetric": ["boolean"],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
    }
    # A leaf of less curvature than a thousandth of a sample would predict a huge value.
    _min_hessian = 1e-3

    def __init__(
        self,
        *,
        max_leaf_nodes: int = 31,
        min_samples_leaf: int = 20,
        max_depth: int | None = None,
        symmetric: bool = False,
        l2_regularization: float = 0.0,
        max_features: MaxFeatures = None,
        max_bins: int = 255,
        categorical_features: ArrayLike | None = None,
        monotonic_cst: ArrayLike | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.symmetric = symmetric
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> HistogramTreeRegressor:
        """Grow the tree from samples and one or several targets; return it."""
        with unchanged_on_error(self):
            options = {"dtype": [np.float64, np.float32], "y_numeric": True, "multi_output": True}
            X, y = check_rows(self, X, y=y, reset=True, **options)
            y = as_numbers(y, "y").astype(np.float64).reshape(len(y), -1)
            weights = check_weights(sample_weight, len(X), positive=True)
            random_state = check_random_state(self.random_state)
            seen = weights > 0
            X, y, weights = X[seen], y[seen], weights[seen]
            grower = self._make_grower(self._bin(X, random_state), y.shape[1])
            # The largest target is 1, so that sums of squares are finite.
            largest = np.abs(y).max() or 1.0
            gradients = -(y / largest) * weights[:, np.newaxis]
            tree, values, _ = grower.grow(gradients, weights, random_state, unit=largest)
            grower.set_fitted(self, tree, values)
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the targets."""
        predicted = self._predict(self._check_X(X))
        return predicted[:, 0] if self._leaf_values is None else predicted

    def _node_values(self, *of_hypothesis):
        return self.tree_.nodes()["value"] if self._leaf_values is None else self._leaf_values

    # Values of the leaves for each target; None if there is one target.
    _leaf_values = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@shares_text()
class HistogramTreeClassifier(ProportionsMixin, HistogramTree):
    r"""A classification tree that is grown leaf by leaf on features that were binned once.

    The leaf whose split reduces the Gini impurity, multiplied by the weight of the leaf, most is
    split first, until the tree has `max_leaf_nodes` leaves. A leaf predicts the class that has the
    largest weight among its samples. With ``max_leaf_nodes=2`` and ``min_samples_leaf=1``, the tree
    is a decision stump.

    The time is linear in the number of samples and features. As `estimator` of the boosters in
    :mod:`sklrank.boosting`, this tree is much faster than scikit-learn's `DecisionTreeClassifier`,
    as the features are binned once for all rounds; not with ``weighting="resampling"``, where a
    tree is fitted to few samples.

    Parameters
    ----------
    max_leaf_nodes : int, default=31
        Maximum number of leaves, at least 2.
    min_samples_leaf : int, default=20
        Minimum number of samples in each leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of features, drawn at random, on which the tree may split: an int, a fraction,
        "sqrt", "log2", or None for all features.
    n_jobs : int or None, default=None
        Number of threads that grow a large tree, which does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Controls the choice of features, and of the samples whose quantiles bound the bins.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    tree_ : Tree
        The tree. Its method `nodes()` returns the arrays that describe the nodes.
    categories_ : list of None
        None for each feature, as none is categorical.
    feature_importances_ : ndarray of shape (n_features,)
        Fraction of the total gain that is due to each feature; 0 if there are no splits.
    {n_features_in}

    See Also
    --------
    HonestTreeClassifier : A tree whose probabilities come from samples that chose no splits.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklrank.tree import HistogramTreeClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = HistogramTreeClassifier(min_samples_leaf=5).fit(X[::2], y[::2])
    >>> tree.score(X[1::2], y[1::2]) > 0.75
    True
    """

    def __init__(
        self,
        *,
        max_leaf_nodes: int = 31,
        min_samples_leaf: int = 20,
        max_features: MaxFeatures = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        {dense_samples}
        y : array-like of shape (n_samples,)
            Class labels, of two classes or more.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. If None, all are 1. Samples of weight 0 are ignored.

        {returns_self}
        """
        with unchanged_on_error(self):
            X, y = check_rows(self, X, y=y, reset=True, dtype=[np.float64, np.float32])
            classes, labels = sorted_labels(y, "y", return_inverse=True)
            check_class_labels(y)
            if len(classes) < 2:
                raise ValueError(
                    f"y has one class only, {classes.tolist()}; a classification tree needs two or "
                    "more"
                )
            weights = check_weights(sample_weight, len(X), positive=True)
            random_state = check_random_state(self.random_state)
            seen = weights > 0
            grower = self._make_grower(self._bin(X[seen], random_state), n_targets(len(classes)))
            self._fit_binned(grower, labels[seen], weights[seen], len(classes), random_state)
            self.classes_ = classes
        return self

    def _round_fitter(self, X, n_classes, random_state):
        """Bin the samples `X` once, and return a function that fits copies of this tree to them.

        It returns the copy, whose classes are the numbers below `n_classes`, and the leaves.
        """
        self._validate_params()
        tree = clone(self)
        grower = tree._make_grower(tree._bin(as_floats(X), random_state), n_targets(n_classes))

        def fit(labels, weights, random_state):
            # Copied, since cloning takes as long as fitting a small tree to a small query.
            model = copy(tree)
            model.classes_ = np.arange(n_classes)
            return model, model._fit_binned(grower, labels, weights, n_classes, random_state)

        return fit

    def _fit_binned(self, grower, labels, weights, n_classes, random_state):
        """Grow the tree, and return the leaf of each sample; the `labels` are indices of classes.

        The targets are the columns of the indicator matrix of the classes, so that a leaf predicts
        their proportions, and the gain of a split is the decrease of the Gini impurity. For two
        classes, one target is enough: 1 for the second class, -1 for the first.
        """
        if n_classes == 2:
            gradients = np.where(labels == 1, -weights, weights)
        else:
            gradients = np.zeros((len(labels), n_classes))
            gradients[np.arange(len(labels)), labels] = -weights
        tree, values, leaves = grower.grow(gradients, weights, random_state)
        self._proportions = values
        if n_classes == 2:
            self._proportions = np.empty((len(values), 2))
            self._proportions[:, 1] = (1.0 + values[:, 0]) / 2
            self._proportions[:, 0] = 1.0 - self._proportions[:, 1]
        grower.set_fitted(self, tree)
        return leaves

    def _node_values(self, n_classes=None, response_method=None):
        """Return the proportions of the classes in each node, or the hypothesis of a booster."""
        if response_method is None:
            return self._proportions
        if response_method == "predict_proba":
            return self._proportions @ (self.classes_ == 1)
        predicted = self.classes_[self._proportions.argmax(axis=1)]
        return predicted.astype(np.float64) if n_classes is None else np.eye(n_classes)[predicted]


def n_targets(n_classes):
    return 1 if n_classes == 2 else n_classes


def as_floats(X):
    """Return an array of single precision unchanged, and any other one in double precision."""
    return X if X.dtype == np.float32 else np.asarray(X, dtype=np.float64)


def encode_categories(X, categories):
    """Return `X` as floats, or a copy in which categories are replaced by their codes."""
    X = encoded = as_floats(X)
    for feature, of_feature in enumerate(categories):
        if of_feature is not None:
            encoded = X.astype(np.float64) if encoded is X else encoded
            encoded[:, feature] = codes_of_categories(X[:, feature], of_feature)
    return encoded


def nodes_of(tree, values):
    """Return the arrays of a tree, as :class:`SumOfTrees` needs them, with values of the nodes."""
    nodes = tree.nodes()
    left = nodes["left"]
    return nodes | {
        "children_left": left,
        "children_right": left + 1,
        "features": nodes["feature"],
        "thresholds": nodes["threshold"],
        "values": values.reshape(len(left), -1),
    }


class HistogramGrower:
    """Grows trees with the parameters of `tree` on samples whose features are binned once.

    If the samples of `bins` are a part, or there are none in it, `n_samples` is the number of all.
    `parts` and `buffers` are those of :class:`Grower`.
    """

    def __init__(self, tree, bins, n_outputs=1, *, n_samples=None, parts=None, buffers=None):
        self.bins = bins
        self.n_samples = bins.codes.shape[1] if n_samples is None else n_samples
        self.n_features = len(bins.n_bins)
        self.max_features = tree.max_features
        constraints = tree._constraints(bins.is_categorical.astype(bool))
        symmetric = getattr(tree, "symmetric", False)
        if n_outputs > 1 and (bins.is_categorical.any() or constraints.any() or symmetric):
            raise ValueError(
                "categorical_features, monotonic_cst and symmetric=True are supported for one "
                f"target or two classes only, got {n_outputs} targets or classes"
            )
        max_depth = getattr(tree, "max_depth", None) or 2**30
        if symmetric:
            max_depth = min(max_depth, int(np.log2(tree.max_leaf_nodes)))
        is_large = self.n_samples * self.n_features >= LEAST_VALUES_FOR_THREADS
        self.compiled = Grower(
            bins.codes,
            bins.thresholds_of_codes(),
            bins.n_bins,
            bins.has_missing,
            bins.is_categorical,
            constraints,
            # A leaf needs at least one sample.
            max_leaf_nodes=min(tree.max_leaf_nodes, max(2, self.n_samples)),
            min_samples_leaf=min(tree.min_samples_leaf, np.iinfo(np.intc).max // 2),
            max_depth=min(max_depth, 2**30),
            symmetric=symmetric,
            l2_regularization=getattr(tree, "l2_regularization", 0.0),
            min_hessian=tree._min_hessian,
            category_smoothing=CATEGORY_SMOOTHING,
            n_outputs=n_outputs,
            n_threads=effective_n_jobs(tree.n_jobs) if is_large and parts is None else 1,
            parts=parts,
            buffers=buffers,
        )

    def grow(self, gradients, hessians, random_state, unit=1.0):
        """Grow a tree; return it, the values of its nodes, and the leaf of each sample."""
        features = self._draw_features(random_state)
        leaves = np.empty(self.n_samples, dtype=np.intc)
        gradients = gradients.reshape(self.n_samples, -1)
        tree, values = self.compiled.grow(gradients, hessians, features, leaves, unit)
        return tree, values, leaves

    def grow_on_parts(self, totals, random_state):
        """Grow a tree on the samples of the parts; return it, and the values of its leaves."""
        features = self._draw_features(random_state)
        tree, values, nodes = self.compiled.grow_on_parts(totals, self.n_samples, features)
        return tree, values[nodes, 0]

    def _draw_features(self, random_state):
        if self.max_features is None:
            return None
        return draw_features(self.max_features, self.n_features, random_state)

    def set_fitted(self, model, tree, values=None):
        """Set the fitted attributes of a tree; of a regression tree, if `values` are given."""
        if values is not None:
            model._leaf_values = values if values.shape[1] > 1 else None
        model.n_features_in_ = self.n_features
        model.categories_ = self.bins.categories
        model.tree_ = tree
        return model

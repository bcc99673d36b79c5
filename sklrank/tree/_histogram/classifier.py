"""HistogramTreeClassifier: the classifier among the histogram trees."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklrank._checks import check_class_labels, check_rows, check_weights, sorted_labels
from sklrank._estimators import _fit_context, shares_text, unchanged_on_error
from sklrank._typing import MaxFeatures, Self
from sklrank.tree._histogram.regressor import HistogramTree, as_floats
from sklrank.tree._proportions import ProportionsMixin


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

"""Base classes of the honest trees and forests, and the division of samples into two halves."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    as_numbers,
    check_class_labels,
    check_rows,
    check_weights,
    is_integer,
    sorted_labels,
)
from sklrank._estimators import (
    MAX_FEATURES,
    BaseEstimator,
    Interval,
    _fit_context,
    failed_weight_checks,
    shares_text,
    unchanged_on_error,
)
from sklrank._typing import Self
from sklrank.tree._proportions import ProportionsMixin
from sklrank.tree._sums import SumOfTrees, kept_sum

# Sums of squares of larger targets overflow.
MAX_TARGET = 1e150
# Least weight, as a fraction of the largest one: the product of three sums of weights is not 0.
MIN_WEIGHT = 1e-90


# Texts that the docstrings of the classes share.
TEXTS = {
    "splits": """
splits_ : structured ndarray of shape (n_levels,)
    The `feature` and `threshold` of each level. Samples with values above the threshold are on
    the right side of the split.
""",
    "importances": """
feature_importances_ : ndarray of shape (n_features,)
    Fraction of the total reduction of the squared error, or of the Gini impurity, that is due
    to each feature, computed on the samples that choose the splits. All importances are 0 if
    there are no splits.
""",
    "importances_and_outputs": """
{importances}
n_outputs_ : int
    Number of targets.
{n_features_in}
""",
    "parameters_and_classes": """
{parameters}

Attributes
----------
classes_ : ndarray of shape (n_classes,)
    Class labels, sorted.
""",
    "paper": """
References
----------
.. [1] D. Fotakis, A. Kalavasis and E. Psaroudaki, "Label ranking through nonparametric
   regression", ICML 2022, appendix D.
""",
    "papers": """
{paper}
.. [2] V. Syrgkanis and M. Zampetakis, "Estimation and inference with trees and forests in high
   dimensions", COLT 2020.
""",
}


def draw_halves(n_samples: int, honest: bool, random_state) -> tuple[np.ndarray, np.ndarray]:
    """Divide the samples into halves at random, and return the indices of the samples of each half.

    The first half chooses the splits, the second one determines the leaf values; if the number of
    samples is odd, it has one sample more. If `honest` is False, both contain all samples.
    """
    if not honest:
        everything = np.arange(n_samples)
        return everything, everything
    order = random_state.permutation(n_samples)
    return np.sort(order[: n_samples // 2]), np.sort(order[n_samples // 2 :])


def standardize(y, weights=None):
    """Center each target, and divide all targets by their largest absolute value.

    A constant target becomes 0. The squares of the result do not overflow.
    """
    if y.size == 0:
        return y
    low, high = y.min(axis=0), y.max(axis=0)
    y = np.where(low == high, 0.0, y - np.average(y, axis=0, weights=weights))
    return y / (np.abs(y).max() or 1.0)


def group_means(y, weights, groups, n_groups: int):
    """Return the mean target of each group of samples, of shape `(n_groups, n_outputs)`.

    The group of each sample is given by `groups`; no group may be empty. The `weights` of the
    samples may be None.
    """
    columns = (y if weights is None else y * weights[:, np.newaxis]).T
    sums = [np.bincount(groups, weights=output, minlength=n_groups) for output in columns]
    return np.column_stack(sums) / np.bincount(groups, weights, n_groups)[:, np.newaxis]


def weights_of(weights, samples):
    """Return the weights of some of the samples, or None if there are no weights."""
    return None if weights is None else weights[samples]


@shares_text()
class HonestEstimator(BaseEstimator):
    """Base class of the honest trees and forests.

    The base class of a kind of model defines `_fit(X, y, weights, random_state)`, where `weights`
    are positive or None, and `_predict(X)`, where targets and predictions have the shape
    `(n_samples, n_outputs)`; `_input_dtype()`, in which values are compared with thresholds; and
    `_trees()`, those of `export_shap`. A regressor and a classifier of this kind add
    :class:`HonestRegressor` and :class:`HonestClassifier`, whose `_check_data` converts targets.
    """

    _parameter_constraints: dict = {
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "honest": ["boolean"],
        "max_features": MAX_FEATURES,
        "random_state": ["random_state"],
    }

    @property
    def _failed_checks(self):
        # Parameters that were not checked yet may be arrays.
        counts = not (is_integer(self.min_samples_leaf) and self.min_samples_leaf == 1)
        draws = not (self.max_features is None is getattr(self, "max_samples", None))
        if self.honest is False and not counts and not draws:
            return {}
        return failed_weight_checks("samples or features are drawn, divided or counted")

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch.

        {dense_samples}
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets of a regressor, or class labels of a classifier, of shape `(n_samples,)`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples in the errors that splits reduce and in the means of leaves.
            Samples of weight 0 are left out, before samples are drawn or divided into halves.
            `min_samples_leaf` counts samples. If None, all samples have weight 1.

        {returns_self}
        """
        with unchanged_on_error(self):
            X, y = self._check_data(X, y, self._input_dtype())
            self._fitted_dtype = X.dtype.name
            weights = None
            if sample_weight is not None:
                weights = check_weights(sample_weight, len(X), positive=True)
                seen = weights > 0
                X, y, weights = X[seen], y[seen], weights[seen]
                # Sums of products do not overflow, and whole numbers remain exact multiples.
                weights = np.ldexp(weights, -np.frexp(weights.max())[1])
                weights = np.maximum(weights, MIN_WEIGHT)
            self._fit(X, y, weights, check_random_state(self.random_state))
        return self

    def export_shap(self) -> dict:
        """Return the tree, or the trees of a forest, in the format of `shap.TreeExplainer`.

        Returns
        -------
        dict
            A list of trees, `trees`, each of them a dict of arrays. The explainer explains what
            `predict` of a regressor or `predict_proba` of a classifier returns.
        """
        check_is_fitted(self)
        return {"trees": self._trees(), "input_dtype": np.dtype(self._fitted_dtype).type}

    def _check_X(self, X):
        check_is_fitted(self)
        return check_rows(self, X, reset=False, dtype=np.dtype(self._fitted_dtype))


@shares_text()
class HonestSingleTree(HonestEstimator):
    """Base class of the trees, whose leaves have the `values_`.

    `_nodes()` returns the arrays of the tree of `export_shap`; the first node is the root.
    """

    def apply(self, X: ArrayLike) -> np.ndarray:
        """Return the index of the leaf of each sample.

        {dense_samples_and_returns}
        ndarray of int of shape (n_samples,)
            Index of the leaf of each sample, which is a row index of `values_`.
        """
        return self._find_leaves(self._check_X(X))

    def export_text(self, *, decimals: int = 2) -> str:
        """Return the rules of the tree as text, in the form of :func:`sklearn.tree.export_text`.

        Parameters
        ----------
        decimals : int, default=2
            Number of digits after the decimal point.

        Returns
        -------
        str
            A line for each side of a split and for each leaf. Features have the names of `fit`, or
            are called feature_0, feature_1, and so on.
        """
        check_is_fitted(self)
        nodes = self._nodes()
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"feature_{i}" for i in range(self.n_features_in_)]
        lines, stack = [], [(0, "")]
        while stack:
            node, text = stack.pop()
            lines += [text] if text else []
            # The line of a node is that of its side of the split above.
            indent = "|   " + text[: text.index("|--- ")] if text else ""
            if nodes["children_left"][node] < 0:
                values = ", ".join(f"{value:.{decimals}f}" for value in nodes["values"][node])
                lines.append(f"{indent}|--- value: [{values}]")
                continue
            feature, threshold = names[nodes["features"][node]], nodes["thresholds"][node]
            for side, sign in ("right", "> "), ("left", "<="):
                line = f"{indent}|--- {feature} {sign} {threshold:.{decimals}f}"
                stack.append((nodes[f"children_{side}"][node], line))
        return "\n".join(lines) + "\n"

    def _trees(self):
        return [self._nodes()]

    def _find_leaves(self, X):
        def make():
            nodes = self._nodes()
            # The last nodes have the `values_`.
            leaves = np.arange(len(self.values_) - len(nodes["values"]), len(self.values_))
            return SumOfTrees([nodes | {"values": leaves[:, np.newaxis]}], self.n_features_in_)

        leaves = kept_sum(self, [self.values_], None, make).predict(X)
        return leaves[:, 0].astype(np.intp)

    def _predict(self, X):
        return self.values_[self._find_leaves(X)]


@shares_text()
class HonestRegressor(RegressorMixin, MultiOutputMixin, HonestEstimator):
    """Base class of the honest regressors."""

    def _check_data(self, X, y, dtype):
        X, y = check_rows(self, X, y=y, reset=True, dtype=dtype, multi_output=True, y_numeric=True)
        if issparse(y):
            raise ValueError("y must be dense, got a sparse matrix: pass y.toarray()")
        if y.dtype.kind in "mM":
            raise ValueError(f"y must be numbers, got {y.dtype}: pass times in a unit")
        y = as_numbers(y, "y").reshape(len(X), -1)
        if np.abs(y).max() > MAX_TARGET:
            raise ValueError(
                f"y must be within {MAX_TARGET:g} of 0, got {np.abs(y).max():g}: sums of "
                "squares would overflow; scale it"
            )
        self.n_outputs_ = y.shape[1]
        return X, y

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the targets.

        {dense_samples_and_returns}
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predicted targets. The array is 1-d if there is a single target.
        """
        predicted = self._predict(self._check_X(X))
        return predicted[:, 0] if self.n_outputs_ == 1 else predicted


class HonestClassifier(ProportionsMixin, HonestEstimator):
    """Base class of the honest classifiers.

    The targets are the columns of the indicator matrix of the classes, so that their means in a
    leaf are the proportions of the classes, and the squared error is the Gini impurity.
    """

    def _check_data(self, X, y, dtype):
        X, y = check_rows(self, X, y=y, reset=True, dtype=dtype)
        self.classes_, labels = sorted_labels(y, "y", return_inverse=True)
        check_class_labels(y)
        return X, np.eye(len(self.classes_))[labels]

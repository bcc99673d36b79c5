"""OffPolicyClassifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklrank import _validation
from sklrank._estimator import BaseEstimator
from sklrank._sklearn import HasMethods, StrOptions, _fit_context, _num_samples, _safe_indexing
from sklrank.feedback import Exploration
from sklrank.off_policy._log import check_log
from sklrank.off_policy._models import cross_fitted
from sklrank.off_policy._values import policy_value

if TYPE_CHECKING:
    from typing_extensions import Self


class OffPolicyClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""Classifier that learns which label to show from the log of another policy.

    The log has, for each sample, the label shown, its propensity p and a reward r. A method
    estimates the reward of each label, :math:`\hat r(x_i, a)`, and a classifier learns from each
    sample with each label a, with the weight :math:`\hat r(x_i, a) - \min_b \hat r(x_i, b)` [1]_.
    The weighted number of correct predictions is then the estimated value of the policy that shows
    the predicted labels, up to a constant: any classifier that accepts `sample_weight` maximizes
    it, also a boosted one, and rewards may be any real numbers.

    - "ips": r / p for the label shown, and 0 for the others.
    - "snips": the same for r minus a baseline, the self-normalized value of the last fit. Fits are
      repeated as long as this value increases. The origin of the rewards has no effect [2]_.
    - "dm": the reward that a cross-fitted model predicts.
    - "dr": the prediction, plus its error divided by p for the label shown [3]_.

    Without a log, `fit` learns from class labels as the classifier does. With "dm", "dr" and
    negative rewards, the classifier gets up to ``n_samples * (n_classes - 1)`` weighted samples.

    Parameters
    ----------
    estimator : estimator
        Classifier whose `fit` accepts `sample_weight`.
    method : {"ips", "snips", "dm", "dr"}, default="ips"
        Estimate of the rewards.
    reward_model : estimator, default=None
        Classifier or regressor of the rewards, for "dm" and "dr", as in :func:`policy_value`.
    cv : int, cross-validation generator or iterable, default=5
        Folds of cross-fitting of the reward model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; for a log without `classes`, the indices of the labels.
    estimator_ : estimator
        Fitted classifier of the indices of the classes.
    n_features_in_ : int
        Number of features. Defined only if `estimator_` has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `estimator_` has them.

    See Also
    --------
    policy_value : Estimate the value of the policy on a log that it has not learned from.

    References
    ----------
    .. [1] N. Abe, B. Zadrozny and J. Langford, "An iterative method for multi-class cost-sensitive
       learning", KDD 2004.
    .. [2] A. Swaminathan and T. Joachims, "The self-normalized estimator for counterfactual
       learning", NIPS 2015.
    .. [3] M. Dudik et al., "Doubly robust policy evaluation and learning", ICML 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklrank.feedback import Exploration
    >>> from sklrank.off_policy import OffPolicyClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> shown = np.random.RandomState(0).randint(3, size=150)
    >>> log = Exploration(shown, np.full(150, 1 / 3))
    >>> model = OffPolicyClassifier(LogisticRegression(max_iter=1000))
    >>> model = model.fit(X, shown == y, exploration=log)
    >>> print(f"{np.mean(model.predict(X) == y):.2f}")
    0.97
    """

    __metadata_request__fit = {"exploration": True}
    __metadata_request__score = {"exploration": True}
    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "predict"])],
        "method": [StrOptions({"ips", "snips", "dm", "dr"})],
        "reward_model": [HasMethods(["fit", "predict"]), None],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        method: Literal["ips", "snips", "dm", "dr"] = "ips",
        reward_model: Any = None,
        cv: Any = 5,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.reward_model = reward_model
        self.cv = cv

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        exploration: Exploration | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Learn from the rewards of the labels shown, or from class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, in a form that `estimator` accepts.
        y : array-like of shape (n_samples,)
            Rewards of the labels shown, any real numbers; samples with a missing reward, NaN, are
            left out. Without `exploration`, class labels.
        exploration : Exploration, default=None
            The labels shown, one for each sample, and their propensities.
        classes : array-like of shape (n_classes,), default=None
            Names of the labels, in the order of their indices in `exploration`. If None, the labels
            are the indices up to the largest one shown.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        _validation.check_sparse(X)
        if exploration is None:
            y = _validation.check_target(y, multilabel=False).values
            classes = _validation.sorted_classes(y)
            estimator = clone(self.estimator).fit(X, np.searchsorted(classes, y))
        else:
            if classes is None:
                classes = np.arange(np.max(getattr(exploration, "actions", 0)) + 1)
            classes = _validation.names_of(classes)
            estimator = self._fit_log(X, y, exploration, len(classes))
        self.estimator_, self.classes_ = estimator, classes
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))
        return self

    def _fit_log(self, X, rewards, exploration, n_labels):
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"estimator={self.estimator!r} must accept sample_weight in `fit`; let "
                "OffPolicyClassifier be the last step of a pipeline"
            )
        even = np.broadcast_to(1 / n_labels, (_num_samples(X), n_labels))
        log = check_log(rewards, exploration, even)
        known_X = _safe_indexing(X.tocsr() if sparse.issparse(X) else X, np.flatnonzero(log.known))
        if self.method == "snips":
            return self._fit_self_normalized(known_X, log, n_labels)
        if self.method == "ips":
            values = log.rewards / log.propensities
            return self._fit_weighted(known_X, *_weighted_shown(log.actions, values, n_labels))
        gains, rows = np.empty(log.policy.shape), np.arange(len(log.actions))
        for test, label, values in cross_fitted(self.reward_model, log, X, self.cv):
            gains[test, label] = values
        if self.method == "dr":
            errors = log.rewards - gains[rows, log.actions]
            gains[rows, log.actions] += errors / log.propensities
        return self._fit_weighted(known_X, *_weighted_labels(gains))

    def _fit_self_normalized(self, X, log, n_labels):
        """Maximize a ratio of sums by Dinkelbach's method: the baseline is the last ratio."""
        best, value, baseline = None, -np.inf, log.rewards.mean()
        while True:
            values = (log.rewards - baseline) / log.propensities
            estimator = self._fit_weighted(X, *_weighted_shown(log.actions, values, n_labels))
            weights = (estimator.predict(X) == log.actions) / log.propensities
            new = np.average(log.rewards, weights=weights) if weights.any() else -np.inf
            if best is not None and (new <= value or np.isclose(new, value)):
                return best
            best, value, baseline = estimator, new, max(new, baseline)

    def _fit_weighted(self, X, rows, labels, weights):
        if not len(rows):
            raise ValueError("rewards must differ: no label is better than another one")
        # The mean weight is 1, so that a penalty does not depend on the unit of the rewards.
        weights = weights / weights.mean()
        return clone(self.estimator).fit(_safe_indexing(X, rows), labels, sample_weight=weights)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the label to show for each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, entries of `classes_`.
        """
        chosen = self._chosen(X)
        return self.classes_[chosen]

    def propensities(self, X: ArrayLike) -> np.ndarray:
        """Return the probability that the policy shows each label: 1 for the predicted one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, 0 or 1.
        """
        chosen = self._chosen(X)
        return np.eye(len(self.classes_), dtype=np.int8)[chosen]

    def _chosen(self, X):
        check_is_fitted(self)
        _validation.check_sparse(X)
        return self.estimator_.predict(X)

    def score(self, X: ArrayLike, y: ArrayLike, exploration: Exploration | None = None) -> float:
        """Return the self-normalized estimate of the value, or the accuracy for class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Rewards of the labels shown, or class labels.
        exploration : Exploration, default=None
            The labels shown and their propensities.

        Returns
        -------
        float
            The score.
        """
        if exploration is None:
            return accuracy_score(y, self.predict(X))
        return policy_value(y, exploration, self, method="snips", X=X).value

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = _validation.input_tags_of(self.estimator)
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


def _weighted_labels(gains):
    """Return samples, labels and weights, given the estimated rewards of all labels."""
    gains = gains - gains.min(axis=1, keepdims=True)
    rows, labels = np.nonzero(gains)
    return rows, labels, gains[rows, labels]


def _weighted_shown(actions, values, n_labels):
    """Return samples, labels and weights if all labels but those shown have the value 0."""
    good, bad = np.flatnonzero(values > 0), np.flatnonzero(values < 0)
    gains = np.zeros((len(bad), n_labels))
    gains[np.arange(len(bad)), actions[bad]] = values[bad]
    rows, labels, weights = _weighted_labels(gains)
    return (
        np.concatenate([good, bad[rows]]),
        np.concatenate([actions[good], labels]),
        np.concatenate([values[good], weights]),
    )

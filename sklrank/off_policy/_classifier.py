"""OffPolicyClassifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    check_container,
    check_given,
    check_target,
    input_tags_of,
    names_of,
    plain,
    sorted_classes,
)
from sklrank._estimators import (
    BaseEstimator,
    HasMethods,
    StrOptions,
    _fit_context,
    _num_samples,
    _safe_indexing,
    fit_weighted,
    shares_text,
)
from sklrank._typing import Self
from sklrank.feedback import Exploration
from sklrank.off_policy._log import check_log
from sklrank.off_policy._methods import cross_fitted
from sklrank.off_policy._values import policy_value


@shares_text()
class OffPolicyClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""Classifier that learns which label to show from the log of another policy.

    A classifier learns from each sample with each label a, with the weight
    :math:`\hat r(x_i, a) - \min_b \hat r(x_i, b)`, where :math:`\hat r` estimates the reward [1]_.
    The weighted number of correct predictions is then the estimated value of the policy that shows
    the predicted labels, up to a constant. Without a log, `fit` learns from class labels.

    Parameters
    ----------
    estimator : estimator
        Classifier whose `fit` accepts `sample_weight`, or a pipeline or a search of one. A pipeline
        is fitted to the weighted samples, which are repetitions: transformers that need the samples
        themselves are put before `OffPolicyClassifier`.
    method : {"ips", "snips", "dm", "dr"}, default="ips"
        Estimate :math:`\hat r`; see Notes.
    reward_model : estimator, default=None
        Model of the rewards, for "dm" and "dr", as in :func:`policy_value`.
    cv : int, cross-validation generator or iterable, default=5
        Folds of cross-fitting of the reward model, each sample in one of them.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels; for a log without `classes`, the indices of the labels.
    estimator_ : estimator
        Fitted classifier of the indices of the classes.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number and names of the features. Defined only if `estimator_` has them.

    Notes
    -----
    With the reward r and the propensity p of the label shown, the value v of the last fit, and the
    prediction q of `reward_model`, :math:`\hat r` is

    ======= ==================== =====================================
    Method  Label shown          Other labels
    ======= ==================== =====================================
    "ips"   r / p                0
    "snips" (r - v) / p          0; repeated while v increases [2]_
    "dm"    q                    q
    "dr"    q + (r - q) / p      q [3]_
    ======= ==================== =====================================

    References
    ----------
    .. [1] Abe et al., "An iterative method for multi-class cost-sensitive learning", KDD 2004.
    .. [2] A. Swaminathan and T. Joachims, "The self-normalized estimator for counterfactual
       learning", NIPS 2015.
    .. [3] Dudik et al., "Doubly robust policy evaluation and learning", ICML 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklrank.feedback import Exploration
    >>> from sklrank.off_policy import OffPolicyClassifier
    >>> X, shown = [[0], [0], [1], [1]], np.array([0, 1, 0, 1])
    >>> log = Exploration(shown, np.full(4, 0.5))
    >>> model = OffPolicyClassifier(DecisionTreeClassifier())
    >>> model.fit(X, [3.5, 1.0, -1.0, 2.0], exploration=log).predict(X)
    array([0, 0, 1, 1])
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
        self, estimator: Any, *, method: str = "ips", reward_model: Any = None, cv: Any = 5
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
            Rewards of the labels shown, NaN if not known. Without `exploration`, class labels.
        exploration : Exploration, default=None
            The labels shown and their propensities.
        classes : array-like of shape (n_classes,), default=None
            Names of the labels; in the order of the indices, if `exploration` has no names. If
            None, those in `exploration` or, without, the indices up to the largest one shown.

        {returns_self}
        """
        check_given(y)
        check_container(X)
        X, y = plain(X), plain(y)
        if not is_classifier(self.estimator):
            raise ValueError(f"estimator must be a classifier, got {self.estimator!r}")
        if exploration is None:
            y = check_target(y, multilabel=False).values
            classes = sorted_classes(y)
            estimator = clone(self.estimator).fit(X, np.searchsorted(classes, y))
        else:
            if classes is None:
                classes = getattr(exploration, "classes", None)
            if classes is None:
                classes = np.arange(np.max(getattr(exploration, "actions", 0)) + 1)
            classes = names_of(classes)
            estimator = self._fit_log(X, y, exploration, classes)
        self.estimator_, self.classes_ = estimator, classes
        self._learned_log = exploration is not None
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))
        return self

    def _fit_log(self, X, rewards, exploration, classes):
        even = np.broadcast_to(1 / len(classes), (_num_samples(X), len(classes)))
        log = check_log(rewards, exploration, even, classes=classes)
        known_X = _safe_indexing(X.tocsr() if sparse.issparse(X) else X, np.flatnonzero(log.known))
        if self.method == "snips":
            return self._fit_self_normalized(known_X, log)
        if self.method == "ips":
            return self._fit_shown(known_X, log, log.rewards / log.propensities)
        gains = np.empty(log.policy.shape)
        for test, label, values in cross_fitted(self.reward_model, log, X, self.cv):
            gains[test, label] = values
        if self.method == "dr":
            errors = log.rewards - log.of_shown(gains)
            gains[np.arange(len(errors)), log.actions] += errors / log.propensities
        gains -= gains.min(axis=1, keepdims=True)
        rows, labels = np.nonzero(gains)
        return self._fit_weighted(known_X, rows, labels, gains[rows, labels])

    def _fit_self_normalized(self, X, log):
        """Maximize a ratio of sums by Dinkelbach's method: the baseline is the last ratio."""
        best, value, baseline = None, -np.inf, log.rewards.mean()
        while True:
            estimator = self._fit_shown(X, log, (log.rewards - baseline) / log.propensities)
            weights = (estimator.predict(X) == log.actions) / log.propensities
            new = np.average(log.rewards, weights=weights) if weights.any() else -np.inf
            if best is not None and (new <= value or np.isclose(new, value)):
                return best
            best, value, baseline = estimator, new, max(new, baseline)

    def _fit_shown(self, X, log, values):
        """Fit to the values of the labels shown; a negative one is a weight of all others."""
        good, bad = np.flatnonzero(values > 0), np.flatnonzero(values < 0)
        places, others = np.nonzero(np.arange(log.policy.shape[1]) != log.actions[bad, np.newaxis])
        rows = np.concatenate([good, bad[places]])
        labels = np.concatenate([log.actions[good], others])
        return self._fit_weighted(X, rows, labels, np.abs(values[rows]))

    def _fit_weighted(self, X, rows, labels, weights):
        if not len(rows):
            raise ValueError("rewards must differ: no label is better than another one")
        # The mean weight is 1, so that a penalty does not depend on the unit of the rewards.
        weights = weights / weights.mean()
        return fit_weighted(clone(self.estimator), _safe_indexing(X, rows), labels, weights)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the label to show for each sample.

        {samples_and_returns}
        ndarray of shape (n_samples,)
            Labels, entries of `classes_`.
        """
        chosen = self._chosen(X)
        return self.classes_[chosen]

    def propensities(self, X: ArrayLike) -> np.ndarray:
        """Return the probability that each label is shown: 1 for the predicted one.

        {samples_and_returns}
        ndarray of shape (n_samples, n_classes)
            Probabilities, 0 or 1.
        """
        chosen = self._chosen(X)
        return np.eye(len(self.classes_), dtype=np.int8)[chosen]

    def _chosen(self, X):
        check_is_fitted(self)
        check_container(X)
        return self.estimator_.predict(plain(X))

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        exploration: Exploration | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the self-normalized value on a log, or without one the accuracy.

        Parameters
        ----------
        X, y, exploration : array-like, array-like, Exploration
            As in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, without `exploration`.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        if exploration is None:
            if self._learned_log:
                raise ValueError(
                    "exploration is None, but this classifier has learned from a log, and y holds "
                    "rewards: pass exploration=..., and let scikit-learn's tools pass it on by "
                    "sklearn.set_config(enable_metadata_routing=True)"
                )
            return accuracy_score(y, self.predict(X), sample_weight=sample_weight)
        return policy_value(y, exploration, self, method="snips", X=X).value

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = input_tags_of(self.estimator)
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

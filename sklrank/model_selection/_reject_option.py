"""RejectOptionClassifier."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import check_is_fitted

from sklrank._estimator import BaseEstimator
from sklrank._sklearn import N_JOBS, HasMethods, Interval, _fit_context
from sklrank._validation import (
    check_sparse,
    check_target,
    input_tags_of,
    sorted_classes,
    with_reject_label,
)
from sklrank.metrics import reject_loss

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike
    from sklearn.model_selection import BaseCrossValidator
    from typing_extensions import Self


class RejectOptionClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifier that rejects the samples whose margin is below a cross-validated threshold.

    The margin of a sample is the difference between its two greatest scores, which are those of
    `decision_function`, or of `predict_proba` if the classifier has no `decision_function`. The
    threshold minimizes the mean cost of cross-validated predictions, where a mistake costs 1 and a
    rejection `reject_cost`. With exact probabilities of two classes, this is Chow's rule [1]_.

    Parameters
    ----------
    estimator : estimator
        Classifier with `decision_function` or `predict_proba`.
    reject_cost : float, default=0.1
        Cost of rejecting a sample, at least 0.
    cv : int, cross-validation generator or iterable, default=None
        Splits of the samples, see :func:`sklearn.model_selection.cross_val_predict`.
    n_jobs : int, default=None
        Number of splits that are fitted at the same time.

    Attributes
    ----------
    estimator_ : estimator
        Classifier that was fitted to all samples.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    threshold_ : float
        Smallest margin for which a sample is not rejected. Among equally good thresholds, the
        smallest one is used.
    reject_label_ : object
        Label that `predict` returns for a rejected sample: "reject" if the classes are strings, and
        -1 if they are numbers, or a similar one if this is a class.
    n_features_in_ : int
        Number of features. Defined only if `estimator_` has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `estimator_` has them.

    See Also
    --------
    sklrank.linear_model.PredtronClassifier : Linear classifier with REJECT as a prediction.
    sklrank.metrics.reject_loss : Mean cost of mistakes and rejections.

    References
    ----------
    .. [1] C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on
       Information Theory 16(1), 1970.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklrank.linear_model import PredtronClassifier
    >>> from sklrank.model_selection import RejectOptionClassifier
    >>> X_train, X_test, y_train, y_test = train_test_split(
    ...     *load_digits(return_X_y=True), random_state=0
    ... )
    >>> model = RejectOptionClassifier(PredtronClassifier(average=True), reject_cost=0.2)
    >>> model = model.fit(X_train, y_train)
    >>> round(float((model.predict(X_test) == model.reject_label_).mean()), 2)
    0.11
    """

    _parameter_constraints: dict = {
        "estimator": [
            HasMethods(["fit", "decision_function"]),
            HasMethods(["fit", "predict_proba"]),
        ],
        "reject_cost": [Interval(Real, 0, None, closed="left")],
        "cv": ["cv_object"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        estimator: ClassifierMixin,
        *,
        reject_cost: float = 0.1,
        cv: int | BaseCrossValidator | Iterable | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.reject_cost = reject_cost
        self.cv = cv
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Choose the threshold by cross-validation, and fit the classifier to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, in a form that `estimator` accepts.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if y is None:
            raise ValueError(
                "RejectOptionClassifier requires y to be passed, but the target y is None"
            )
        check_sparse(X)
        y = check_target(y, multilabel=False).values
        classes = sorted_classes(y)
        scores = cross_val_predict(
            self.estimator, X, y, cv=self.cv, n_jobs=self.n_jobs, method=_method_of(self.estimator)
        )
        if scores.ndim > 1 and scores.shape[1] != len(classes):
            raise ValueError(
                f"estimator={self.estimator!r} must score each of the {len(classes)} classes, but "
                f"it returns {scores.shape[1]} scores: a support vector classifier does so with "
                "decision_function_shape='ovr'"
            )
        margins, best = _margins(scores)
        order = np.argsort(margins)
        # The mean cost if the first 0, 1, ..., n samples in this order are rejected.
        costs = np.arange(len(y) + 1) * float(self.reject_cost)
        costs[:-1] += np.cumsum((classes[best] != y)[order][::-1])[::-1]
        thresholds = np.append(margins[order], np.inf)
        costs[1:][thresholds[1:] == thresholds[:-1]] = np.inf
        estimator = clone(self.estimator).fit(X, y)
        self.estimator_, self.classes_ = estimator, classes
        self.threshold_ = float(thresholds[np.argmin(costs)])
        self._predictions, self.reject_label_ = with_reject_label(classes)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the class of each sample, or `reject_label_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted labels.
        """
        check_is_fitted(self)
        check_sparse(X)
        margins, best = _margins(getattr(self.estimator_, _method_of(self.estimator_))(X))
        return self._predictions[np.where(margins < self.threshold_, len(self.classes_), best)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return 1 minus the mean cost of mistakes and rejections.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            The score. It depends on `reject_cost`, which should not be tuned by it.
        """
        return 1.0 - reject_loss(
            y,
            self.predict(X),
            reject_cost=self.reject_cost,
            reject_label=self.reject_label_,
            sample_weight=sample_weight,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = input_tags_of(self.estimator)
        tags.input_tags.sparse, tags.input_tags.pairwise = inner.sparse, inner.pairwise
        return tags


def _method_of(estimator):
    return "decision_function" if hasattr(estimator, "decision_function") else "predict_proba"


def _margins(scores):
    """Return the margin and the index of the best class of each sample, both `(n_samples,)`."""
    if scores.ndim == 1:
        return np.abs(scores), (scores > 0).astype(np.intp)
    two_best = np.partition(scores, -2, axis=1)[:, -2:]
    return two_best[:, 1] - two_best[:, 0], np.argmax(scores, axis=1)

"""OnlineVotingClassifier."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from sklrank._base_online import multiplies_entries
from sklrank._compiled_classifier import CompiledClassifier
from sklrank._randomness import set_random_states
from sklrank._sklearn import Interval
from sklrank._validation import MAX_FACTOR, input_tags_of
from sklrank.linear_model import OnlineLogisticRegression
from sklrank.online_boosting._voting import VotingLearner

if TYPE_CHECKING:
    from typing import Any

__all__ = ["OnlineVotingClassifier"]


class OnlineVotingClassifier(CompiledClassifier):
    """Weighted vote of online classifiers, in which the best one soon has the largest weight.

    Each classifier learns from every sample. The class probabilities are the weighted mean of those
    of the classifiers. The weight of a classifier is proportional to ``exp(-learning_rate * L)``,
    where L is the sum of its rank losses so far, each before the sample was learned (Hedge [1]_).
    The rank loss is the proportion of classes whose probability is larger than that of the true
    class, where equal probabilities count one half. Thus it need not be known in advance which
    classifier is suited to the data.

    In a booster, the rank loss is the proportion of pairs of a relevant and an irrelevant label
    that are in the wrong order. With top-k feedback, only pairs among the labels shown are known.

    Parameters
    ----------
    estimators : list of estimators or None, default=None
        Classifiers, of any of the classes :class:`~sklrank.linear_model.OnlineLogisticRegression`,
        :class:`~sklrank.linear_model.OnlineRidgeClassifier`,
        :class:`~sklrank.tree.HoeffdingTreeClassifier` and :class:`OnlineVotingClassifier`. They are
        cloned. If None, two logistic regressions are used, one of standardized and one of raw
        samples, which are scaled to the norm one. Unlike in
        :class:`~sklearn.ensemble.VotingClassifier`, they have no names, so that `set_params` cannot
        set their parameters.
    learning_rate : float, default=1.0
        Learning rate of the weights. With larger values, the weights follow the losses faster.
    random_state : int, RandomState instance or None, default=None
        Controls the seeds of the classifiers.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimators_ : list of estimators
        Classifiers. Their classes are 0, ..., n_classes - 1, the indices into `classes_`.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights of the classifiers, which sum to one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    AdaOLMR : Boosts classifiers, which then learn from the mistakes of each other.
    recommended_learners : Lists of weak learners. The list for top-k feedback consists of an
        `OnlineVotingClassifier`.
    sklearn.ensemble.VotingClassifier : Vote with fixed weights, for data sets in memory.

    References
    ----------
    .. [1] Y. Freund and R. E. Schapire, "A decision-theoretic generalization of on-line learning
       and an application to boosting", Journal of Computer and System Sciences 55, 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
    >>> from sklrank.online_boosting import OnlineVotingClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OnlineVotingClassifier([OnlineLogisticRegression(), OnlineRidgeClassifier()])
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.85)
    True
    """

    _parameter_constraints: dict = {
        "estimators": [list, tuple, None],
        "learning_rate": [Interval(Real, 0, MAX_FACTOR, closed="right")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimators: Sequence[Any] | None = None,
        *,
        learning_rate: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimators = estimators
        self.learning_rate = learning_rate
        self.random_state = random_state

    @property
    def estimator_weights_(self) -> np.ndarray:
        """Weights of the classifiers."""
        self._check_fitted()
        return self._learner.part_weights

    @property
    def _accepts_nan(self):
        # Tags must be available for invalid parameters, too.
        templates = self.estimators if isinstance(self.estimators, list | tuple) else []
        return bool(templates) and all(input_tags_of(each).allow_nan for each in templates)

    def _multiplies_entries(self):
        return multiplies_entries(self.estimators)

    def _make_learner(self, n_features, n_classes, random_state):
        generator, estimators = np.random.RandomState(), []
        for template in self._templates():
            estimator = clone(template)
            estimator._validate_params()
            set_random_states(estimator, random_state)
            estimators.append(estimator._init_model(n_features, np.arange(n_classes), generator))
        self.estimators_ = estimators
        return VotingLearner([estimator._learner for estimator in estimators], self.learning_rate)

    def _templates(self):
        if self.estimators is None:
            logistic = OnlineLogisticRegression(normalize="l2")
            return [logistic, clone(logistic).set_params(standardize=False)]
        if not self.estimators:
            raise ValueError("estimators is empty; give at least one classifier, or None")
        for template in self.estimators:
            if not isinstance(template, CompiledClassifier):
                raise TypeError(
                    "estimators must be online classifiers of sklrank, such as "
                    f"OnlineLogisticRegression; got {template!r}"
                )
        return self.estimators

    def _check_weights(self, weights):
        for estimator in self.estimators_:
            estimator._check_weights(weights)

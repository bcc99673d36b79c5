"""Linear models that learn from streams of samples.

:class:`OnlineLogisticRegression` takes adaptive gradient steps, and :class:`OnlineRidgeClassifier`
solves a least squares problem with recursive updates. Both standardize the samples as they arrive.
They are compiled, and they can be weak learners of the boosters in :mod:`sklrank.online_boosting`.

:class:`BanditronClassifier` and :class:`LinUCBClassifier` learn from bandit feedback: in each
round, the classifier shows one class and observes only whether this class is correct.
:class:`BanditronClassifier` takes steps of online mirror descent; :class:`LinUCBClassifier` uses a
ridge regression with confidence bounds for each class.

:class:`SemiBanditRanker` shows several labels of each sample, and learns the relevance of each of
them.

:class:`PredtronClassifier`, :class:`PredtronLabelRanker` and :class:`PredtronQueryRanker` are
perceptrons for arbitrary losses. The loss, the representation of the predictions and the mirror map
can be chosen independently of each other.
"""

from sklrank.linear_model._bandit._banditron import BanditronClassifier
from sklrank.linear_model._bandit._linucb import LinUCBClassifier
from sklrank.linear_model._bandit._semi_bandit import SemiBanditRanker
from sklrank.linear_model._predtron._classifier import PredtronClassifier
from sklrank.linear_model._predtron._rankers import PredtronLabelRanker, PredtronQueryRanker
from sklrank.linear_model._regression._estimators import (
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
)

__all__ = [
    "BanditronClassifier",
    "LinUCBClassifier",
    "OnlineLogisticRegression",
    "OnlineRidgeClassifier",
    "PredtronClassifier",
    "PredtronLabelRanker",
    "PredtronQueryRanker",
    "SemiBanditRanker",
]

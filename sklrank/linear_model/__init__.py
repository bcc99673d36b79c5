"""Linear models that learn from streams.

:class:`OnlineLogisticRegression` takes adaptive gradient steps, :class:`OnlineRidgeClassifier`
solves its least squares anew with every row. Both standardise the rows as they come, both are
compiled and serve the boosters of :mod:`sklrank.online_boosting` as weak learners.

:class:`BanditronClassifier` learns from bandit feedback: it shows one class a row, and only whether
that was right becomes known. Dual weights, a mirror map that makes weights of them, and steps of
rank one are its first-order kind; regressions with confidence bounds its second-order one.

:class:`PredtronClassifier`, :class:`PredtronLabelRanker` and :class:`PredtronQueryRanker` are
perceptrons for any loss: a loss, a representation of what is predicted and a mirror map are three
choices that go together freely.
"""

from sklrank.linear_model._bandit._banditron import BanditronClassifier
from sklrank.linear_model._online._estimators import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.linear_model._predtron._classifier import PredtronClassifier
from sklrank.linear_model._predtron._label_ranker import PredtronLabelRanker
from sklrank.linear_model._predtron._query_ranker import PredtronQueryRanker

__all__ = [
    "BanditronClassifier",
    "OnlineLogisticRegression",
    "OnlineRidgeClassifier",
    "PredtronClassifier",
    "PredtronLabelRanker",
    "PredtronQueryRanker",
]

"""Linear models that learn from streams.

:class:`OnlineLogisticRegression` takes adaptive gradient steps, :class:`OnlineRidgeClassifier`
solves its least squares anew with every row. Both standardise the rows as they come, both are
compiled and serve the boosters of :mod:`sklrank.online_boosting` as weak learners.
"""

from sklrank.linear_model._online_linear import OnlineLogisticRegression, OnlineRidgeClassifier

__all__ = ["OnlineLogisticRegression", "OnlineRidgeClassifier"]

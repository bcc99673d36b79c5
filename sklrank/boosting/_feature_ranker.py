"""Single features as weak rankers, AdaRank's own."""

from typing import NamedTuple

import numpy as np

__all__ = ["FeatureLearner", "FeatureRanker"]

# A rise of the objective by this share is rounding.
ROUNDING = 1e-12


class FeatureRanker(NamedTuple):
    """Scores documents by one feature."""

    feature: int
    sign: float
    """1: the higher the feature, the better; -1: the lower."""
    n_features: int

    def predict(self, X):
        """The feature, or its negative."""
        return self.sign * X[:, self.feature]

    @property
    def feature_importances_(self):
        """1 for the feature."""
        return np.eye(self.n_features)[self.feature]


class FeatureLearner:
    """The best feature under the weights of the queries, which lowers the objective.

    Xu & Li's weak ranker is the feature of the best weighted performance. Once a feature has been
    taken, taking it again changes no ranking, and with it no weight: it is the best again, and all
    rounds that follow are lost. So a feature is passed over when its step would not lower the
    objective, for the next best one; when none does, the search has ended.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The training rows.
    objective : QueryObjective
        Measures the features, once.
    learning_rate : float
        What steps will be multiplied by.
    """

    def __init__(self, X, objective, learning_rate):
        n_features = X.shape[1]
        self.rankers = [
            FeatureRanker(feature, sign, n_features)
            for feature in range(n_features)
            for sign in (1.0, -1.0)
        ]
        self.X = X
        self.learning_rate = learning_rate
        self.performances = np.array(
            [objective.performance(ranker.predict(X)) for ranker in self.rankers]
        )

    def learn(self, objective, random_state):
        """The best feature that lowers the objective; None if there is none."""
        quality = self.performances @ objective.query_weights
        for best in np.argsort(-quality, kind="stable"):
            ranker = self.rankers[best]
            hypothesis = ranker.predict(self.X)
            step = self.learning_rate * objective.step(hypothesis)
            if not step > 0:
                return None
            value = objective.value_at(objective.scores + step * hypothesis)
            if value < objective.value * (1 - ROUNDING):
                return ranker, hypothesis
        return None

"""Single features as weak rankers, AdaRank's own."""

from typing import NamedTuple

import numpy as np

__all__ = ["SEARCHES", "FeatureLearner", "FeatureRanker"]

# Shares of its step that a weak ranker is tried with.
SHARES = (1.0, 0.5, 0.25, 0.125)
# A fall of the objective by less than this share of it is rounding.
ROUNDING = 1e-12

# How many weak rankers are tried, the best by weighted performance first, and with which shares.
SEARCHES = {"greedy": (None, SHARES), "weighted": (1, SHARES[:1])}


class FeatureRanker(NamedTuple):
    """Scores documents by one feature."""

    feature: int
    factor: float
    """What the feature is multiplied by; negative where less is better."""
    n_features: int

    def predict(self, X):
        """The feature, times the factor."""
        return self.factor * X[:, self.feature]

    @property
    def feature_importances_(self):
        """How much of the step goes to the feature."""
        return abs(self.factor) * np.eye(self.n_features)[self.feature]


class FeatureLearner:
    """Which feature, and how much of its step, lowers the objective.

    Xu & Li's weak ranker is the feature of the best performance under the weights of the queries
    ("weighted"). Once it has been taken, taking it again changes no ranking, and with it no weight:
    it is the best again, and all rounds that follow are lost. "greedy" tries all features, with
    their steps and shares of them, and takes what lowers the objective most: a second feature is
    often worse than the first alone when it comes with a whole step. Either search ends when
    nothing tried lowers the objective.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The training rows.
    objective : QueryObjective
        Measures the features, once.
    learning_rate : float
        What steps will be multiplied by.
    search : {"greedy", "weighted"}
        See above.
    """

    n_tries = 1

    def __init__(self, X, objective, learning_rate, search):
        n_features = X.shape[1]
        self.rankers = [
            FeatureRanker(feature, sign, n_features)
            for feature in range(n_features)
            for sign in (1.0, -1.0)
        ]
        self.X = X
        self.learning_rate = learning_rate
        self.n_tried, self.shares = SEARCHES[search]
        self.performances = np.array(
            [objective.performance(ranker.predict(X)) for ranker in self.rankers]
        )

    def learn(self, objective, random_state):
        """The feature and share that lower the objective most; None if none does."""
        best, lowest = None, objective.value * (1 - ROUNDING)
        # Added to nothing, all shares of a feature rank alike.
        shares = self.shares if objective.scores.any() else self.shares[:1]
        quality = self.performances @ objective.query_weights
        for index in np.argsort(-quality, kind="stable")[: self.n_tried]:
            ranker = self.rankers[index]
            hypothesis = ranker.predict(self.X)
            masses = objective.masses_of(self.performances[index])
            step = self.learning_rate * objective.step_of(*masses)
            for share in shares:
                value = objective.value_at(objective.scores + share * step * hypothesis)
                if value < lowest:
                    lowest = value
                    best = ranker._replace(factor=share * ranker.factor), share * hypothesis
        return best

"""Single features as weak rankers, for AdaRank."""

from typing import NamedTuple

import numpy as np

from sklrank.boosting._weak_learners import Learner

__all__ = ["SEARCHES", "STEP_FRACTIONS", "FeatureLearner"]

# Fractions of the full step that are tried for each weak ranker.
STEP_FRACTIONS = (1.0, 0.5, 0.25, 0.125)
# A relative decrease of the objective by less than this is rounding.
ROUNDING = 1e-12

# Number of weak rankers that are tried, in descending order of weighted performance (None for all),
# and fractions of the step.
SEARCHES = {"greedy": (None, STEP_FRACTIONS), "weighted": (1, STEP_FRACTIONS[:1])}


class FeatureRanker(NamedTuple):
    """Weak ranker that scores documents by one feature."""

    feature: int
    factor: float
    """Factor of the feature; negative where smaller values rank earlier."""
    n_features: int

    def predict(self, X):
        """Return the feature times the factor."""
        return self.factor * X[:, self.feature]

    @property
    def feature_importances_(self):
        """Absolute value of the factor for the feature, 0 for the others."""
        importances = np.zeros(self.n_features)
        importances[self.feature] = abs(self.factor)
        return importances


class FeatureLearner(Learner):
    """Learner that selects a feature and a fraction of its step.

    The weak ranker of Xu & Li is the feature with the best performance under the weights of the
    queries ("weighted"). If this feature is added again, no ranking changes, and therefore no
    weight. The same feature would be selected in all later rounds. "greedy" tries all features with
    fractions of their steps, and selects the candidate that decreases the objective most. (The full
    step of a second feature often gives a worse ranking than the first feature alone.) With either
    search, boosting stops when no candidate decreases the objective.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training samples.
    objective : QueryObjective
        Computes the performance of each feature, once.
    learning_rate : float
        Learning rate that multiplies the steps.
    search : {"greedy", "weighted"}
        See above.
    """

    def __init__(self, X, objective, learning_rate, search):
        n_features = X.shape[1]
        self.rankers = [
            FeatureRanker(feature, sign, n_features)
            for feature in range(n_features)
            for sign in (1.0, -1.0)
        ]
        self.X = X
        self.learning_rate = learning_rate
        self.n_tried, self.fractions = SEARCHES[search]
        self.performances = np.array(
            [objective.performance(ranker.predict(X)) for ranker in self.rankers]
        )

    def fit(self, objective, random_state):
        """Return the best candidate as a feature ranker, and its hypothesis.

        Both are multiplied by the fraction of the step. Return None if no candidate decreases the
        objective.
        """
        best, least = None, objective.value * (1 - ROUNDING)
        # If all scores are 0, all fractions of a feature give the same ranking.
        fractions = self.fractions if objective.scores.any() else self.fractions[:1]
        weighted = self.performances @ objective.query_weights
        for index in np.argsort(-weighted, kind="stable")[: self.n_tried]:
            ranker = self.rankers[index]
            hypothesis = ranker.predict(self.X)
            step = self.learning_rate * objective.step_by_performance(self.performances[index])
            for fraction in fractions:
                value = objective.value_at(objective.scores + fraction * step * hypothesis)
                if value < least:
                    least = value
                    best = ranker._replace(factor=fraction * ranker.factor), fraction * hypothesis
        return best

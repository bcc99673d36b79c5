"""A label ranker for rankings that were made from scores, such as those of the benchmark sets.

The smallest scores of a sample are often equal, because they were rounded, and a sort leaves the
labels that have them in the order of the columns. The end of such a ranking, its *tail*, tells
nothing about the sample, and a model that is fitted to it learns the wrong scores. Rankings that
people gave have no such tails.
"""

import numpy as np
from scipy.special import expit, log_softmax
from scipy.stats import rankdata
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklrank.label_ranking import PlackettLuceRanker, StackedRanker, recommended_rankers

# Shorter tails are not tied: two labels are in the order of the columns in half of all rankings.
MIN_TAIL = 3


class TiedTailRanker(BaseEstimator):
    """Plackett-Luce model of complete rankings whose last labels are in the order of the columns.

    The labels of tails of three and more are tied, except for the first label of the ranking, and a
    Plackett-Luce model with a weak penalty is fitted. Labels whose probability to be ranked first
    is at most a threshold are ranked last, in the order of the columns. The threshold is that with
    the most pairs of labels in the right order in the training data.
    """

    def fit(self, X, y):
        """Fit the model and choose the threshold."""
        y = np.asarray(y)
        tied = np.array([tie_tail(ranks) for ranks in y])
        self.model_ = PlackettLuceRanker(alpha=0.001, random_state=0).fit(X, tied)
        self.classes_ = self.model_.classes_
        logs = self._log_probabilities(X)
        floors = [-np.inf, *np.quantile(logs, np.linspace(0.02, 0.98, 40))]
        orders = np.sign(y[:, np.newaxis] - y[:, :, np.newaxis])

        def agreement(floor):
            scores = self._scores(logs, floor)
            return np.sum(np.sign(scores[:, :, np.newaxis] - scores[:, np.newaxis]) * orders)

        self.floor_ = max(floors, key=agreement)
        return self

    def _log_probabilities(self, X):
        return log_softmax(self.model_.decision_function(X), axis=1)

    @staticmethod
    def _scores(logs, floor):
        """Return the negative expected positions; those below the floor are in column order."""
        raised = np.maximum(logs, floor)
        before = expit(raised[:, np.newaxis] - raised[:, :, np.newaxis])
        below = logs <= floor
        places = np.cumsum(below, axis=1) - (below.sum(axis=1, keepdims=True) + 1) / 2
        return -before.sum(axis=2) - np.where(below, places, 0)

    def decision_function(self, X):
        """Return the score of each label."""
        return self._scores(self._log_probabilities(X), self.floor_)

    def predict(self, X):
        """Return the positions of the labels."""
        return rankdata(-self.decision_function(X), axis=1, method="ordinal")


def tie_tail(ranks):
    """Return the positions of a ranking with a tied tail."""
    order = np.argsort(ranks)
    length = 1
    while length < len(order) - 1 and order[-length - 1] < order[-length]:
        length += 1
    ranks = np.array(ranks, dtype=float)
    if length >= MIN_TAIL:
        ranks[order[-length:]] = ranks[order[-1]]
    return ranks


def with_squares(X):
    """Return the features and their squares."""
    return np.hstack([X, X**2])


def with_tied_tails(n_features):
    """Return the recommended stack with this ranker as one more member."""
    tails = make_pipeline(StandardScaler(), FunctionTransformer(with_squares), TiedTailRanker())
    members = [*recommended_rankers(n_features, random_state=0), ("tied_tails", tails)]
    return StackedRanker(members, random_state=0)

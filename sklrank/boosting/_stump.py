"""The default weak learner: one feature, one threshold, found among all of them in one pass."""

from typing import NamedTuple

import numpy as np

from sklrank.boosting._stump_search import best_stump
from sklrank.tree._thresholds import midpoints, rises

__all__ = ["Stump", "StumpLearner"]

# A bin's code is a byte.
MAX_BINS = 255


class Stump(NamedTuple):
    """A classifier of rows into 0 and 1 by one feature."""

    feature: int
    threshold: float
    above: bool
    """Whether it says 1 above the threshold, or at it and below."""

    def predict(self, X):
        """1 or 0 for each row, as float64."""
        right = X[:, self.feature] > self.threshold
        return (right if self.above else ~right).astype(np.float64)


class StumpLearner:
    """Stumps that agree best with the labels under the weights: the weak learner of `None`.

    The search is exact over all thresholds between values, for features of up to 255 different
    ones; others are cut at that many quantiles.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The training rows.
    """

    def __init__(self, X):
        self.X = X
        self.thresholds = [thresholds_of(column) for column in X.T]
        n_bins = [1 + len(thresholds) for thresholds in self.thresholds]
        self.first_bin = np.concatenate([[0], np.cumsum(n_bins)]).astype(np.intp)
        self.codes = np.empty(X.shape, dtype=np.uint8)
        for feature, thresholds in enumerate(self.thresholds):
            self.codes[:, feature] = np.searchsorted(thresholds, X[:, feature])
        self.sums = np.empty(self.first_bin[-1])

    def learn(self, objective, random_state):
        """The stump that gains most, and what it says of the training rows."""
        signed = np.where(objective.labels == 1, objective.weights, -objective.weights)
        _, feature, bin_, above = best_stump(self.codes, self.first_bin, signed, self.sums)
        if feature < 0:
            return Stump(0, np.inf, True), np.zeros(len(signed))
        stump = Stump(feature, float(self.thresholds[feature][bin_]), bool(above))
        return stump, stump.predict(self.X)


def thresholds_of(values):
    """Thresholds between the values of a feature, at most 254."""
    ordered = np.sort(values)
    bounds = rises(ordered, MAX_BINS)
    return midpoints(ordered[bounds - 1], ordered[bounds])

"""Linear scores, from which the boosting of trees may start.

The splits of trees approximate a linear function of many features only after many rounds. If
boosting starts from linear scores, the trees learn what these miss. The weights minimize the
objective of boosting plus an L2 penalty. Whether the linear scores help is determined by held-out
queries; see `race.py`.
"""

import numpy as np
from scipy.optimize import minimize

from sklrank._estimators import one_blas_thread

# Factor of the squared weights of standardized features and of the objective at scores of 0. A
# choice of 0.1, 0.01 or 0.001 by held-out queries ranked no better beyond noise, on 16 sets of
# generated documents.
PENALTY = 1e-2
# Number of samples of which arrays are made at a time, which limits the memory.
BLOCK = 4096


class LinearScorer:
    """Weighted sum of features.

    Values outside the range of the training samples are replaced by its nearest bound, and missing
    values by the mean, so that no score is extreme.

    Each parameter has a number for each feature: the smallest and the largest value, the mean, the
    weight, and twice the decrease of the objective in proportion to the absolute weights of the
    standardized features. (The gains of the trees are twice the decrease by their splits.)
    """

    def __init__(self, low, high, mean, coef, gain):
        self.low = low
        self.high = high
        self.mean = mean
        self.coef = coef
        self.gain = gain

    def terms(self, X):
        """Return the part of the scores that is due to each feature, of the shape of `X`."""
        return self._centered(X) * self.coef

    def predict(self, X):
        """Return the scores of an array `X`."""
        scores = np.empty(len(X))
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            # Unlike BLAS, the sum for a row does not depend on the number of rows.
            scores[block] = np.einsum("ij,j->i", self._centered(X[block]), self.coef)
        return scores

    def _centered(self, X):
        """Return the differences of the features, limited to their ranges, to their means."""
        centered = np.clip(X, self.low, self.high, dtype=np.float64, order="C")
        centered -= self.mean
        np.copyto(centered, 0.0, where=np.isnan(centered))
        return centered


@one_blas_thread
def fit_linear(X, objective, bounds=None, weights=None):
    """Return a LinearScorer of the samples `X`, whose objective is given.

    Entries of `X` may be NaN. The scores of the objective are changed. `bounds`, of shape
    `(n_features, 2)`, are the least and the largest weight of each feature, or None. The `weights`
    of the samples, or None, are those of the means and deviations of the features.
    """
    X = np.ascontiguousarray(X)
    is_known = ~np.isnan(X)
    low = np.min(X, axis=0, where=is_known, initial=np.inf)
    high = np.max(X, axis=0, where=is_known, initial=-np.inf)
    # A feature without values has an empty range and NaN as mean.
    with np.errstate(all="ignore"):
        weights = np.ones(len(X)) if weights is None else weights
        # Temporary arrays of the size of X would be the largest ones of the ranker.
        sums = np.zeros((2, X.shape[1]))
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            sums[0] += weights[block] @ np.where(is_known[block], X[block], 0.0)
            sums[1] += weights[block] @ is_known[block]
        mean = sums[0] / sums[1]
        centered = LinearScorer(low, high, mean, None, None)._centered(X)
        squares = np.einsum("i,ij,ij->j", weights, centered, centered)
        deviation = np.sqrt(squares / weights.sum())
    # The squares and reciprocals of other deviations are not finite.
    is_used = (deviation > 1e-150) & (deviation < 1e150)
    unit = np.where(is_used, deviation, 1.0)
    low, high, mean = (np.where(is_used, bound, 0.0) for bound in (low, high, mean))
    centered[:, ~is_used] = 0.0
    centered /= unit
    objective.set_scores(np.zeros(len(X)))
    start = objective.value

    penalty = PENALTY * start

    def penalized(weights):
        objective.set_scores(centered @ weights)
        gradient = 2 * penalty * weights - objective.negative_gradient @ centered
        return objective.value + penalty * weights @ weights, gradient

    weights = minimize(
        penalized,
        np.zeros(X.shape[1]),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        # The scores are a start only: trees correct them.
        options={"maxiter": 15},
    ).x
    objective.set_scores(centered @ weights)
    shares = np.abs(weights) / (np.abs(weights).sum() or 1.0)
    gain = 2 * max(0.0, start - objective.value) * shares
    return LinearScorer(low, high, mean, weights * is_used / unit, gain)

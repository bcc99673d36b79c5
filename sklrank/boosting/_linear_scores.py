"""Linear scores, from which the boosting of trees may start.

The splits of trees approximate a linear function of many features only after many rounds. If
boosting starts from linear scores, the trees learn what these miss. The weights minimize the
objective of boosting plus an L2 penalty. Whether the linear scores help, and with which penalty, is
determined by held-out queries; see `_tree_race.py`.
"""

import numpy as np
from scipy.optimize import minimize

from sklrank._sklearn import one_blas_thread

# Penalties, the largest first, which multiply the squared weights of standardized features and the
# objective at scores of 0: powers of ten, of which held-out queries choose one.
PENALTIES = (1e-1, 1e-2, 1e-3)


class LinearScorer:
    """Weighted sum of features.

    Values outside the range of the training samples are replaced by its nearest bound, and missing
    values by the mean, so that no score is extreme.

    Parameters
    ----------
    low, high, mean : ndarray of shape (n_features,)
        Smallest value, largest value and mean of each feature.
    coef : ndarray of shape (n_features,)
        Weight of each feature.
    gain : ndarray of shape (n_features,)
        Twice the decrease of the objective, in proportion to the absolute weights of the
        standardized features. (The gains of the trees are twice the decrease by their splits.)
    """

    def __init__(self, low, high, mean, coef, gain):
        self.low = low
        self.high = high
        self.mean = mean
        self.coef = coef
        self.gain = gain

    def predict(self, X):
        """Return the scores of an array `X`."""
        scores = np.empty(len(X))
        # Blocks of samples limit the memory.
        for start in range(0, len(X), 4096):
            block = slice(start, start + 4096)
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
def fit_linear(X, objective, penalties, bounds=None):
    """Fit linear scores for each penalty, each starting from the weights of the one before.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples. Entries may be NaN.
    objective : Objective
        Objective of these samples, which has a `negative_gradient`. Its scores are changed.
    penalties : sequence of float
        Penalties, in descending order.
    bounds : ndarray of shape (n_features, 2) or None, default=None
        Least and largest weight of each feature.

    Returns
    -------
    list of LinearScorer
    """
    X = np.ascontiguousarray(X)
    is_known = ~np.isnan(X)
    low = np.min(X, axis=0, where=is_known, initial=np.inf)
    high = np.max(X, axis=0, where=is_known, initial=-np.inf)
    # A feature without values has an empty range and NaN as mean.
    with np.errstate(all="ignore"):
        mean = np.sum(X, axis=0, dtype=np.float64, where=is_known) / is_known.sum(axis=0)
        centered = LinearScorer(low, high, mean, None, None)._centered(X)
        deviation = np.sqrt(np.mean(centered**2, axis=0))
    # The squares and reciprocals of other deviations are not finite.
    is_used = (deviation > 1e-150) & (deviation < 1e150)
    unit = np.where(is_used, deviation, 1.0)
    low, high, mean = (np.where(is_used, bound, 0.0) for bound in (low, high, mean))
    centered[:, ~is_used] = 0.0
    centered /= unit
    objective.set_scores(np.zeros(len(X)))
    start = objective.value

    def penalized(weights, penalty):
        objective.set_scores(centered @ weights)
        gradient = 2 * penalty * weights - objective.negative_gradient @ centered
        return objective.value + penalty * weights @ weights, gradient

    weights, scorers = np.zeros(X.shape[1]), []
    for penalty in penalties:
        weights = minimize(
            penalized,
            weights,
            args=(penalty * start,),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            # The scores are a start only: trees correct them.
            options={"maxiter": 15},
        ).x
        objective.set_scores(centered @ weights)
        shares = np.abs(weights) / (np.abs(weights).sum() or 1.0)
        gain = 2 * max(0.0, start - objective.value) * shares
        scorers.append(LinearScorer(low, high, mean, weights * is_used / unit, gain))
    return scorers

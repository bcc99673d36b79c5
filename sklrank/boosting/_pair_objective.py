"""What RankBoost minimises: the exponential loss of pairs of documents."""

import numpy as np

from sklrank.boosting._objective import Objective
from sklrank.boosting._pair_orders import GradedPairLoss
from sklrank.boosting._powers import MAX_PAIR_SCORE_GAP, powers

__all__ = ["PairObjective"]

# Of 1 at the start. Scores that go on growing after that are cut off some day, and pairs are tied.
NOTHING_LEFT = 1e-12


class PairObjective(Objective):
    r"""The mean of :math:`\exp(F_j - F_i)` over pairs of a query in which i is more relevant.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Relevance.
    queries : Queries
        Which documents are ranked against each other.
    """

    def __init__(self, y, queries):
        self._queries = queries
        self._pairs = GradedPairLoss(y, queries)
        ones = np.ones(len(y))
        self._n_pairs, _ = self._pairs.demand(ones, ones)

    def move_to(self, scores):
        self._powers = powers(scores, self._queries, MAX_PAIR_SCORE_GAP)
        error, signed = self._pairs.demand(*self._powers)
        self.value = error / self._n_pairs
        self.labels = (signed > 0).astype(np.intp)
        self.weights = np.abs(signed) / self._n_pairs
        if self.value < NOTHING_LEFT:
            self.weights[:] = 0.0

    def masses(self, hypothesis):
        won, lost = self._pairs.masses(*self._powers, hypothesis)
        return won / self._n_pairs, lost / self._n_pairs

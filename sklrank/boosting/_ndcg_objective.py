"""What NDCG_Boost minimises: the expected NDCG lost, over rankings drawn by the scores."""

import numpy as np

from sklrank.boosting import _ndcg_pairs
from sklrank.boosting._objective import Objective
from sklrank.boosting._powers import MAX_SCORE_GAP, powers
from sklrank.metrics import dcg_score

__all__ = ["NDCGObjective"]


class NDCGObjective(Objective):
    r"""Equation 3.11 of Valizadegan (2010), a mean over queries.

    .. math:: \frac{1}{n} \sum_k \frac{1}{Z_k} \sum_i (2^{r_i} - 1) A_i, \quad
              A_i = \sum_{j \ne i} \frac{1}{1 + \exp(F_i - F_j)}

    The document i of gain :math:`2^{r_i} - 1` has the expected rank :math:`1 + A_i`, and the NDCG
    lost by it is bounded by a multiple of :math:`A_i` (Proposition 1). The dissertation writes F
    for twice the score; here it is the score.

    Parameters
    ----------
    gains : ndarray of shape (n_samples,)
        What each document is worth at the top.
    queries : Queries
        Which documents are ranked against each other. Those without any gain have no NDCG; the
        mean is over the others.
    """

    def __init__(self, gains, queries):
        # The gainful documents of a query first: the loops count on it.
        self._order = np.lexsort((gains == 0, queries.codes))
        self._queries = queries
        self._starts = queries.starts
        ideal = dcg_score(
            gains, gains, qid=queries.codes, gain="linear", ties="stable", average=False
        )
        gains = gains[self._order]
        self._n_relevant = np.add.reduceat(gains > 0, queries.starts[:-1], dtype=np.intp)
        normaliser = ideal * max(1, np.count_nonzero(ideal))
        normaliser = np.where(normaliser == 0, 1.0, normaliser)
        self._gains = gains / np.repeat(normaliser, queries.sizes)
        self._room = np.empty((2, 2, queries.sizes.max()))
        self._signed = np.empty(len(gains))

    def move_to(self, scores):
        lifts, _ = powers(scores, self._queries, MAX_SCORE_GAP)
        self._powers = lifts[self._order]
        self.value = _ndcg_pairs.demand(
            self._powers, self._gains, self._starts, self._n_relevant, self._signed
        )
        signed = np.empty_like(self._signed)
        signed[self._order] = self._signed
        self.labels = (signed > 0).astype(np.intp)
        self.weights = np.abs(signed)

    def masses(self, hypothesis):
        return _ndcg_pairs.masses(
            self._powers,
            self._gains,
            self._starts,
            self._n_relevant,
            hypothesis[self._order],
            *self._room,
        )

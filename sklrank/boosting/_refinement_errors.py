"""What ranking refinement knows of the order of documents: from a base ranker, and from judgements.

Each class is an order V as those of `_pair_orders.py`, whose error is one of the two that ranking
refinement brings together (Valizadegan 2010, Equations 4.6 and 4.7). Only the base ranker's asks
for time in the number of pairs.
"""

import numpy as np

from sklrank.boosting import _refinement_pairs
from sklrank.boosting._pair_orders import AllPairLoss

__all__ = ["BaseRankerLoss", "JudgementLoss"]


class BaseRankerLoss:
    """The order of a base ranker's scores: V = W of Equation 4.1, of 4.2 for infinite confidence.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Scores of the base ranker.
    confidence : ndarray of shape (n_queries,)
        Lambda of each query, from 0 to infinity.
    queries : Queries
        Which rows are compared with each other.
    """

    def __init__(self, scores, confidence, queries):
        self._order = np.lexsort((-scores, queries.codes))
        self._starts = queries.starts
        # Halves: the difference of any two is a number.
        gaps = -np.diff(scores[self._order] / 2, prepend=np.inf)
        gaps[queries.starts[:-1]] = 0.0
        rates = np.repeat(confidence, queries.sizes)
        # Equal scores are a draw, however sure the base ranker is.
        with np.errstate(invalid="ignore", over="ignore"):
            self._ratios = np.where(gaps == 0, 1.0, np.exp(-2 * rates * gaps))

    def demand(self, lifts, drops):
        order, of_order = self._order, np.empty(len(self._order))
        error = _refinement_pairs.base_demand(
            lifts[order], drops[order], self._ratios, self._starts, of_order
        )
        demand = np.empty_like(of_order)
        demand[order] = of_order
        return error, demand

    def masses(self, lifts, drops, hypothesis):
        order = self._order
        return _refinement_pairs.base_masses(
            lifts[order], drops[order], self._ratios, self._starts, hypothesis[order]
        )


class JudgementLoss:
    """Judgements of which a share is wrong: V = T of Equation 4.3.

    Parameters
    ----------
    judgements : GradedPairLoss or ExplicitPairLoss
        The set O of ordered pairs.
    noise : float
        Eta, from 0 (all judgements are right) to 1 (they tell nothing).
    queries : Queries
        Which rows are compared with each other.
    """

    def __init__(self, judgements, noise, queries):
        self._terms = ((1 - noise, judgements), (noise / 2, AllPairLoss(queries)))

    def demand(self, lifts, drops):
        (a, judgements), (b, anything) = self._terms
        error, demand = judgements.demand(lifts, drops)
        any_error, any_demand = anything.demand(lifts, drops)
        return a * error + b * any_error, a * demand + b * any_demand

    def masses(self, lifts, drops, hypothesis):
        (a, judgements), (b, anything) = self._terms
        won, lost = judgements.masses(lifts, drops, hypothesis)
        any_won, any_lost = anything.masses(lifts, drops, hypothesis)
        return a * won + b * any_won, a * lost + b * any_lost

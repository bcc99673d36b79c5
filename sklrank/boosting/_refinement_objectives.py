"""What ranking refinement minimises: errors by a base ranker and by judgements, together."""

from abc import abstractmethod

import numpy as np

from sklrank.boosting._objective import Objective
from sklrank.boosting._powers import MAX_PAIR_SCORE_GAP, powers

__all__ = ["ProductObjective", "SumObjective"]


class RefinementObjective(Objective):
    """Errors of the scores by two sources of knowledge.

    Parameters
    ----------
    base : BaseRankerLoss
        What the base ranker knows: its error is err_w (Equation 4.6).
    judged : JudgementLoss
        What users told: its error is err_t (Equation 4.7).
    queries : Queries
        Which rows are ranked against each other. An error is the sum of those of all queries.
    """

    def __init__(self, base, judged, queries):
        self._base = base
        self._judged = judged
        self._queries = queries

    @abstractmethod
    def _combine(self, base_error, judged_error):
        """Of two errors: the objective, and the factors of the two in its pair weights gamma."""

    def move_to(self, scores):
        self._lifts, self._drops = powers(scores, self._queries, MAX_PAIR_SCORE_GAP)
        base_error, base_demand = self._base.demand(self._lifts, self._drops)
        judged_error, judged_demand = self._judged.demand(self._lifts, self._drops)
        self.value, self._factors = self._combine(base_error, judged_error)
        of_base, of_judged = self._factors
        signed = of_base * base_demand + of_judged * judged_demand
        self.labels = (signed > 0).astype(np.intp)
        self.weights = np.abs(signed)

    def masses(self, hypothesis):
        of_base, of_judged = self._factors
        base_won, base_lost = self._base.masses(self._lifts, self._drops, hypothesis)
        won, lost = self._judged.masses(self._lifts, self._drops, hypothesis)
        return of_base * base_won + of_judged * won, of_base * base_lost + of_judged * lost


class ProductObjective(RefinementObjective):
    r"""L_p of Equation 4.10, multiplicative ranking refinement: the product of the two errors.

    The weights :math:`\gamma_{ij} = a_{ij} + b_{ij}` of pairs (4.11, 4.12) add up to one for each
    source, so that neither needs a weight. What :class:`Objective` says holds for the logarithm:
    in a round it falls by :math:`(\sqrt\mu - \sqrt\nu)^2` or more (Theorem 9). Theorem 10 has
    :math:`\eta = \mu - \nu` there, which is more and does not always hold;
    :math:`\eta^2 / 4` does, as :math:`\mu + \nu \leq 2`.
    """

    def _combine(self, base_error, judged_error):
        return base_error * judged_error, (1 / base_error, 1 / judged_error)


class SumObjective(RefinementObjective):
    """L_a of Equation 4.9, linear ranking refinement: the weighted sum of the two errors.

    Parameters
    ----------
    base, judged, queries : object
        As for all objectives of refinement.
    balance : float
        Weight of the base ranker's error, the paper's gamma.
    """

    def __init__(self, base, judged, queries, balance):
        super().__init__(base, judged, queries)
        self._balance = balance

    def _combine(self, base_error, judged_error):
        # Only the ratio of the factors matters; weak learners add up squares of the weights.
        most = max(self._balance, 1.0)
        return self._balance * base_error + judged_error, (self._balance / most, 1 / most)

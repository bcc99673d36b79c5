"""Ranking refinement by the product or the sum of two losses (Valizadegan 2010, chapter 4).

The scores have a loss with respect to the base ranker (err_w) and a loss with respect to the
judgements (err_t). Boosting decreases their product (MRR, Equation 4.10) or their weighted sum
(LRR, Equation 4.9).
"""

import numpy as np

from sklrank._boosting_rounds import Objective
from sklrank.boosting._pair_losses import (
    MAX_PAIR_SCORE_GAP,
    AllPairLoss,
    exp_scores,
)


def base_confidence(scores, queries):
    """Return lambda, 1 / (standard deviation of the ten highest scores), of each query."""
    best_first = scores[np.lexsort((-scores, queries.codes))]
    deviations = np.array(
        [
            standard_deviation(best_first[first : min(first + 10, last)])
            for first, last in zip(queries.starts[:-1], queries.starts[1:])
        ]
    )
    with np.errstate(divide="ignore", over="ignore"):
        return 1 / deviations


def standard_deviation(values):
    """Return the standard deviation without overflow or underflow of the squares."""
    unit = np.abs(values).max() or 1.0
    return (values / unit).std() * unit


def auto_noise(judgements, queries):
    """Return the eta for which the judged pairs contribute half of the sum of T; 1 if none is."""
    exp_zero = np.ones((2, len(queries.codes)))
    n_judged, _ = judgements.loss_and_negative_gradient(*exp_zero)
    n_all, _ = AllPairLoss(queries).loss_and_negative_gradient(*exp_zero)
    return float(2 * n_judged / (2 * n_judged + n_all)) if n_judged else 1.0


class RefinementObjective(Objective):
    r"""Product or weighted sum of two losses, for ranking refinement.

    The product is L_p of Equation 4.10 (multiplicative ranking refinement). The weight of a pair is
    :math:`\gamma_{ij} = a_{ij} + b_{ij}`, its terms in the two losses, divided by the losses (4.11,
    4.12). The :math:`a_{ij}` sum to 1, and so do the :math:`b_{ij}`, so that no weight between the
    losses is needed. The bound of `_objectives.py` holds for the logarithm. With the step weights
    :math:`\mu = c` and :math:`\nu = w`, it decreases by at least :math:`(\sqrt\mu - \sqrt\nu)^2` in
    a round (Theorem 9). Theorem 10 states a larger decrease, :math:`\eta = \mu - \nu`, which does
    not always hold. A decrease of :math:`\eta^2 / 4` always holds, since :math:`\mu + \nu \leq 2`.

    The sum is L_a of Equation 4.9 (linear ranking refinement).

    The losses are err_w of the base ranker and err_t of the judgements, sums over all queries.
    `balance` is the weight of the loss of the base ranker in the sum, which is called gamma in
    Equation 4.9. If it is None, the objective is the product.
    """

    def __init__(self, base_loss, judgement_loss, queries, balance=None):
        self._base_loss = base_loss
        self._judgement_loss = judgement_loss
        self._queries = queries
        self._balance = balance

    def set_scores(self, scores):
        self._exp_scores = exp_scores(scores, self._queries, MAX_PAIR_SCORE_GAP)
        base, base_gradient = self._base_loss.loss_and_negative_gradient(*self._exp_scores)
        judged, judged_gradient = self._judgement_loss.loss_and_negative_gradient(*self._exp_scores)
        if self._balance is None:
            self.value = base * judged
            self._factors = 1 / base, 1 / judged
        else:
            self.value = self._balance * base + judged
            # Only the ratio of the factors matters. They are scaled to at most 1, since weak
            # learners sum squares of the weights, which could overflow.
            largest = max(self._balance, 1.0)
            self._factors = self._balance / largest, 1 / largest
        a, b = self._factors
        self._set_gradient(a * base_gradient + b * judged_gradient)

    def step_weights(self, hypothesis):
        a, b = self._factors
        base = self._base_loss.step_weights(*self._exp_scores, hypothesis)
        judged = self._judgement_loss.step_weights(*self._exp_scores, hypothesis)
        return a * base[0] + b * judged[0], a * base[1] + b * judged[1]

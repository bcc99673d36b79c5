"""Ranking refinement by the product or the sum of two losses (Valizadegan 2010, chapter 4).

The scores have a loss with respect to the base ranker (err_w) and a loss with respect to the
judgements (err_t). Boosting decreases their product (MRR, Equation 4.10) or their weighted sum
(LRR, Equation 4.9).
"""

import numpy as np

from sklrank.boosting._objectives import ProductObjective, SumObjective
from sklrank.boosting._pair_losses import AllPairLoss, BaseRankerLoss, JudgementLoss

__all__ = ["auto_confidence", "auto_noise", "make_objective"]

# Number of top-ranked documents whose standard deviation of scores `auto_confidence` uses.
N_TOP_DOCUMENTS = 10


def make_objective(combination, base_scores, judgements, queries, *, confidence, noise, balance):
    """Return the objective of boosting.

    Parameters
    ----------
    combination : {"auto", "product", "sum"}
        How the losses are combined; "auto" is the same as "product".
    base_scores : ndarray of shape (n_samples,)
        Scores of the base ranker.
    judgements : GradedPairLoss or ExplicitPairLoss
        Judgements.
    queries : Queries
        Query of each document.
    confidence : ndarray of shape (n_queries,)
        Lambda of each query.
    noise : float
        Eta of the judgements.
    balance : float
        Gamma, the weight of the loss of the base ranker in the sum.

    Returns
    -------
    ProductObjective or SumObjective
    """
    base_loss = BaseRankerLoss(base_scores, confidence, queries)
    judgement_loss = JudgementLoss(judgements, noise, queries)
    if combination == "sum":
        return SumObjective(base_loss, judgement_loss, queries, balance)
    return ProductObjective(base_loss, judgement_loss, queries)


def auto_confidence(scores, queries):
    """Return 1 / (standard deviation of the top scores) of each query, `(n_queries,)`."""
    best_first = scores[np.lexsort((-scores, queries.codes))]
    deviations = np.array(
        [
            standard_deviation(best_first[first : min(first + N_TOP_DOCUMENTS, last)])
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

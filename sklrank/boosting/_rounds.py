"""The one loop of boosting in function space.

From the scores of the training rows an objective (`_objective.py`) gives each row a label and a
weight; a weak learner (`_weak_learners.py`) learns them; the objective gives the step; the scores
move. NDCG_Boost, RankBoost, ranking refinement, MCSSB, ASSEMBLE and AdaRank differ in the objective
and in nothing else.
"""

from typing import Any, NamedTuple

__all__ = ["Round", "play_rounds"]


class Round(NamedTuple):
    """What a round of boosting adds."""

    model: Any
    """The weak learner's model."""
    step: float
    """Its weight in the sum."""


def play_rounds(objective, learner, scores, learning_rate, random_state):
    """Boost, a round whenever the caller asks for one.

    Parameters
    ----------
    objective : Objective
        Asked for labels, weights and steps.
    learner : WeakLearner
        Asked for a model, and for its hypothesis on the training rows.
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Where to start; changed in place.
    learning_rate : float
        Each step is multiplied by it. Up to 2 the objective never rises.
    random_state : RandomState instance
        For the weak learners.

    Yields
    ------
    Round
        After the objective has moved to the new scores.

    Returns
    -------
    str
        Why no further round is possible.
    """
    objective.move_to(scores)
    while objective.weights.any():
        model, hypothesis = learner.learn(objective, random_state)
        step = learning_rate * objective.step(hypothesis)
        if not step > 0:
            return "a weak learner was no better than chance"
        scores += step * hypothesis
        objective.move_to(scores)
        yield Round(model, step)
    return "no row has a weight: there is nothing left to gain"

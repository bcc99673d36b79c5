"""The one loop of boosting in function space.

From the scores of the training rows an objective (`_objective.py`) gives each row a label and a
weight; a weak learner (`_weak_learners.py`) learns them; the objective gives the step; the scores
move. NDCG_Boost, RankBoost, ranking refinement, MCSSB, ASSEMBLE and AdaRank differ in the objective
and in nothing else.
"""

__all__ = ["play_rounds"]


def play_rounds(objective, learner, scores, n_rounds, *, learning_rate, random_state, after_round):
    """Boost.

    Parameters
    ----------
    objective : Objective
        Asked for labels, weights and steps; it has been moved to `scores`.
    learner : object
        Asked for a model, and for its hypothesis on the training rows; or None if it has none. In a
        round it may try `n_tries` times to be better than chance.
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Where to start; changed in place.
    n_rounds : int
        How many rounds to play at most.
    learning_rate : float
        Each step is multiplied by it. Up to 2 the objective never rises.
    random_state : RandomState instance
        For the weak learners.
    after_round : callable
        Called with the model and the step of each round, when the objective has moved to the new
        scores. It returns a reason to stop, or None.

    Returns
    -------
    str
        Why the rounds ended.
    """
    for _ in range(n_rounds):
        if not objective.weights.any():
            return "no row has a weight: there is nothing left to gain"
        for _ in range(learner.n_tries):
            learnt = learner.learn(objective, random_state)
            if learnt is None:
                return "no weak learner lowers the objective"
            model, hypothesis = learnt
            step = learning_rate * objective.step(hypothesis)
            if step > 0:
                break
        else:
            if learner.n_tries > 1:
                return f"none of {learner.n_tries} weak learners, each of new rows, beat chance"
            return "the last weak learner was no better than chance"
        scores += step * hypothesis
        objective.move_to(scores)
        reason = after_round(model, step)
        if reason is not None:
            return reason
    return "n_estimators rounds were played"

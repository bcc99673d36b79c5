"""The choice of the size of trees and of the number of rounds, by held-out queries.

Small trees rank noisy data better, large trees rank rich data better, and no number of queries or
documents shows which of them a data set needs. Therefore, trees of several sizes are boosted on a
part of the queries, and the objective of the other queries is computed after each round. The size
and the round with the smallest value are chosen. (The objective is chosen rather than NDCG because
it varies less from one set of queries to another.)
"""

import numpy as np

from sklrank.boosting._weak_learners import TreeLearner
from sklrank.tree._histogram_tree import HistogramGrower

__all__ = ["choose_tree"]

# A size is dropped if its held-out objective has not decreased for this number of rounds.
PATIENCE = 10
# A size is dropped after this fraction of the rounds if it has decreased the held-out objective by
# less than this fraction of the decrease of the best size.
TRIAL, LEAST_DECREASE = 0.25, 0.85
# If one size remains then, and the last rounds (`PATIENCE`) account for at least this fraction of
# its decrease, far more rounds are needed, and all of them are fitted.
STILL_DECREASING = 0.05
# The smallest trees are chosen that reach this fraction of the largest decrease: differences of a
# few percent are within the error of the held-out objective, and small trees overfit less.
SUFFICIENT_DECREASE = 0.95


class Candidate:
    """Boosted trees of one size."""

    def __init__(self, tree, bins, objectives):
        self.tree = tree
        train, held_out = bins
        self._learner = TreeLearner(tree, None, train)
        self._held_out = HistogramGrower(tree, held_out)
        self._objective, self._held_out_objective = objectives
        self._scores = np.zeros(self._learner.grower.n_samples)
        self._held_out_scores = np.zeros(self._held_out.n_samples)
        self._held_out_objective.set_scores(self._held_out_scores)
        self.values = [self._held_out_objective.value]

    def add_round(self, learning_rate, random_state):
        """Boost for a round, and return whether another one may be worth while."""
        self._objective.set_scores(self._scores)
        grown = self._learner.grow(self._objective, random_state)
        if grown is None:
            return False
        tree, hypothesis = grown
        step = learning_rate * self._learner.step(self._objective, hypothesis)
        self._scores += step * hypothesis
        self._held_out_scores += step * self._held_out.predict(tree)
        self._held_out_objective.set_scores(self._held_out_scores)
        self.values.append(self._held_out_objective.value)
        return len(self.values) - 1 - np.argmin(self.values) < PATIENCE

    @property
    def decrease(self):
        """Largest decrease of the held-out objective."""
        return self.values[0] - min(self.values)

    @property
    def is_still_decreasing(self):
        """True if the last rounds account for a large part of the decrease."""
        last = self.values[-1 - PATIENCE :]
        return last[0] - last[-1] >= STILL_DECREASING * self.decrease


def choose_tree(trees, bins, objectives, n_rounds, learning_rate, random_state):
    """Return the best of several trees, and the best number of rounds.

    Parameters
    ----------
    trees : list of HistogramTreeRegressor
        Trees of different sizes, the smallest first.
    bins : pair of FeatureBlocks
        Codes of the samples to learn from, and of the held-out samples.
    objectives : pair of Objective
        Objectives of both. Their scores are changed.
    n_rounds : int
        Maximum number of rounds.
    learning_rate : float
        Learning rate that multiplies each step.
    random_state : RandomState instance
        Draws the features of the trees.
    """
    candidates = [Candidate(tree, bins, objectives) for tree in trees]
    active = candidates
    for n_fitted in range(1, n_rounds + 1):
        active = [item for item in active if item.add_round(learning_rate, random_state)]
        if n_fitted == round(TRIAL * n_rounds):
            least = LEAST_DECREASE * max(item.decrease for item in candidates)
            active = [item for item in active if item.decrease >= least]
            if len(active) == 1 and active[0].is_still_decreasing:
                return active[0].tree, n_rounds
    sufficient = SUFFICIENT_DECREASE * max(item.decrease for item in candidates)
    best = next(item for item in candidates if item.decrease >= sufficient)
    return best.tree, max(1, int(np.argmin(best.values)))

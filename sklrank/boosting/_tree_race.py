"""The race for the start, the size and the number of the trees of HistGradientBoostingRanker.

Small trees rank noisy data better, large trees rank rich data better, and linear scores are a good
start for some data only. No number of queries or documents shows what a data set needs. Therefore,
trees of several sizes are boosted on a part of the queries, from scores of 0 and from linear
scores, and the objective of the held-out queries is computed after each round. The start, the size
and the number of rounds with the smallest objective are chosen. (The objective varies less from one
set of queries to another than NDCG does.)
"""

from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold

from sklrank._weak_learners import TreeLearner
from sklrank.boosting._document_ranker import Target
from sklrank.boosting._linear_scores import fit_linear

# Numbers of leaves: a stump, the default of scikit-learn and LightGBM, and their geometric mean.
LEAF_NUMBERS = (2, 8, 31)
# The queries are divided into this number of folds. So many of them are held out in turn that they
# have up to this number of samples in total: small data sets, where the race is fast and least
# certain, need all. Linear scores are fitted to this number of samples at most, and four times as
# many race, which bounds the time of the race in large data sets to about that of the trees.
N_FOLDS, FOLD_SAMPLES = 5, 15_000
# A candidate leaves the race if its objective has not decreased for this number of rounds, the
# default of early stopping in scikit-learn.
PATIENCE = 10
# After these fractions of the rounds, a candidate must have these fractions of the decrease of the
# best one. That saves a third of the time on nine generated and real sets; one of them is ranked
# worse (by .002 in NDCG@10).
TRIALS = {0.1: 0.6, 0.25: 0.85}


class Fold(NamedTuple):
    """Queries to learn from and held-out queries; each field has an entry for both parts."""

    bins: list
    """Codes of the samples."""
    objectives: list
    """Objectives, whose scores are changed."""
    linear: list
    """Linear scores of both parts."""


class Winner(NamedTuple):
    """The start, the size and the number of trees."""

    is_linear: bool
    """True if boosting starts from linear scores, False if from 0."""
    tree: object
    n_trees: int | None
    """Number of trees; None if all rounds are fitted."""


class RaceData(NamedTuple):
    """Training samples, of which folds are made and to which linear scores are fitted."""

    X: np.ndarray
    target: Target
    make_objective: Callable
    """Function ``make_objective(target)`` that returns the objective of some samples."""
    bounds: np.ndarray | None
    """Bounds of the weights of linear scores."""
    seed: int
    """Seed of the folds, and of the queries that are drawn."""

    def folds(self, bins, validation):
        """Return the fold of the validation set, or those of held-out queries, if there are any."""
        n_samples, queries = len(self.target.y), self.target.queries
        if validation is not None:
            X_val, target = validation
            parts = X_val, bins.encode(X_val), self.make_objective(target)
            return [self._fold(np.arange(n_samples), bins, *parts)]
        if queries.n_queries < N_FOLDS:
            return []
        splitter = GroupKFold(N_FOLDS, shuffle=True, random_state=self.seed)
        splits = splitter.split(self.target.y, groups=queries.codes)
        folds = []
        for split in islice(splits, max(1, round(FOLD_SAMPLES / n_samples))):
            train, test = (self._draw(part, 4 * FOLD_SAMPLES / n_samples) for part in split)
            fold = self._fold(train, bins, self.X[test], bins.take(test), self._objective(test))
            # Both parts must have something to learn.
            if all(objective.weights.any() for objective in fold.objectives):
                folds.append(fold)
        return folds

    def _fold(self, samples, bins, X_val, bins_val, objective_val):
        objectives = [self._objective(samples), objective_val]
        parts = self.X[samples], X_val
        for objective, part in zip(objectives, parts):
            objective.set_scores(np.zeros(len(part)))
        scorer = self.fit_linear(samples)
        return Fold([bins.take(samples), bins_val], objectives, [*map(scorer.predict, parts)])

    def fit_linear(self, samples):
        """Return linear scores that are fitted to queries of the samples."""
        samples = self._draw(samples, FOLD_SAMPLES / len(samples))
        target = self.target.take(samples)
        weights = target.weights * target.query_weights[target.queries.codes]
        return fit_linear(self.X[samples], self.make_objective(target), self.bounds, weights)

    def _objective(self, samples):
        return self.make_objective(self.target.take(samples))

    def _draw(self, samples, fraction):
        """Return the samples of drawn queries: at least one query, and this fraction at most."""
        if fraction >= 1:
            return samples
        codes = self.target.queries.codes[samples]
        sizes = np.bincount(codes)
        drawn = np.random.RandomState(self.seed).permutation(np.flatnonzero(sizes))
        most = fraction * len(samples)
        n_drawn = max(1, np.searchsorted(sizes[drawn].cumsum(), most, side="right"))
        return samples[np.isin(codes, drawn[:n_drawn])]


class Candidate:
    """A start and a size of trees, boosted on the folds."""

    def __init__(self, is_linear, tree, folds):
        self.is_linear, self.tree, self._folds = is_linear, tree, folds
        self._scores = [[is_linear * part for part in fold.linear] for fold in folds]
        self._learners = [TreeLearner(tree, None, fold.bins[0]) for fold in folds]
        self.values = []
        self._evaluate()

    def _evaluate(self):
        values = [fold.objectives[1].value_at(F) for fold, (_, F) in zip(self._folds, self._scores)]
        self.values.append(np.mean(values))

    def add_round(self, learning_rate, random_state):
        """Boost for a round, and return whether another one may be worth while."""
        for fold, learner, scores in zip(self._folds, self._learners, self._scores):
            objective, held_out = fold.objectives[0], fold.bins[1]
            objective.set_scores(scores[0])
            if grown := learner.grow(objective, random_state):
                tree, hypothesis = grown
                step = learner.step(objective, hypothesis, learning_rate)
                scores[0] += step * hypothesis
                scores[1] += step * tree.predict_codes(held_out.codes, held_out.n_bins)
        self._evaluate()
        return len(self.values) - 1 - np.argmin(self.values) < PATIENCE


def run_race(trees, starts, folds, n_rounds, learning_rate, random_state):
    """Return the winner among the trees, from the `starts`: False is 0, True linear scores."""
    candidates = [Candidate(is_linear, tree, folds) for is_linear in starts for tree in trees]
    largest, active = candidates[0].values[0], candidates
    trials = {round(fraction * n_rounds): least for fraction, least in TRIALS.items()}
    for n_fitted in range(1, n_rounds + 1):
        active = [item for item in active if item.add_round(learning_rate, random_state)]
        if n_fitted in trials:
            smallest = min(min(item.values) for item in candidates)
            limit = largest - trials[n_fitted] * (largest - smallest)
            active = [item for item in active if min(item.values) <= limit]
    winner = min(candidates, key=lambda item: min(item.values))
    n_trees = int(np.argmin(winner.values))
    return Winner(winner.is_linear, winner.tree, n_trees if n_trees < n_rounds else None)

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
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import has_fit_parameter

from sklrank._queries import qid_argument
from sklrank._validation import check_outputs
from sklrank._weak_learners import TreeLearner
from sklrank.boosting._document_ranker import DocumentTarget
from sklrank.boosting._linear_scores import fit_linear

# Numbers of leaves: a stump, the default of scikit-learn and LightGBM, and their geometric mean.
LEAF_NUMBERS = (2, 8, 31)
# The queries are divided into this number of folds. So many of them are held out in turn as have up
# to `RACE_SAMPLES` samples with those to learn from: small data sets, where the race is fast and
# least certain, need all. So many samples at most race, and have linear scores fitted to them,
# which bounds the time in large data sets. (With 30,000, the default ranked no better on three
# generated sets of 40,000 documents; with two folds of 9,000 documents instead of one, no better on
# the 13 sets of `benchmarks/document_ranking.py` and 12 others.)
N_FOLDS, RACE_SAMPLES = 5, 15_000
# Trees that race have so many bins, which takes a third of the time; on the same sets, the
# winners ranked as well. (Fewer bins of the trees that are used cost .014 on products of features.)
RACE_BINS = 63
# A candidate leaves the race if its objective has not decreased for this number of rounds, the
# default of early stopping in scikit-learn.
PATIENCE = 10
# After these fractions of the rounds, at least five, a candidate must have these fractions of the
# decrease of the best one. On the five sets of the benchmark on which rules were chosen, no later
# winner is dropped.
TRIALS = {0.05: 0.5, 0.25: 0.9}


class Fold(NamedTuple):
    """Queries to learn from and held-out queries; each field has an entry for both parts."""

    bins: list
    """Codes of the samples."""
    objectives: list
    """Objectives, whose scores are changed."""
    scores: dict
    """For each start, the initial scores of both parts."""
    judge: Callable
    """Function of the scores of the held-out queries that should be small."""


class Winner(NamedTuple):
    """The start, the size and the number of trees."""

    start: object
    """Kind of the initial scores."""
    tree: object
    n_trees: int | None
    """Number of trees; None if all rounds are fitted."""


class RaceData(NamedTuple):
    """Training samples, of which folds are made and to which linear scores are fitted."""

    X: np.ndarray
    target: DocumentTarget
    make_bins: Callable
    """Function ``make_bins(X)`` that returns the codes of samples."""
    starts: tuple
    """Kinds of initial scores: None for scores of 0, "linear", or an estimator."""
    make_objective: Callable
    """Function ``make_objective(target)`` that returns the objective of some samples."""
    make_judge: Callable
    """Function ``make_judge(objective, X, target)`` that returns the function of held-out scores
    that should be small."""
    bounds: np.ndarray | None
    """Bounds of the weights of linear scores."""
    seed: int
    """Seed of the folds, and of the queries that are drawn."""

    def splits(self):
        """Return the samples of each fold to learn from, and those that are held out, as pairs."""
        samples, codes = np.arange(len(self.target.y)), self.target.queries.codes
        if self.target.queries.n_queries < N_FOLDS:
            # With 20 documents in a fold, they are held out: a part of a query is a query, too.
            if len(samples) < 20 * N_FOLDS:
                return []
            codes = samples
        splitter = GroupKFold(N_FOLDS, shuffle=True, random_state=self.seed)
        splits = splitter.split(self.target.y, groups=codes)
        return [
            [self._draw(part, RACE_SAMPLES / len(samples)) for part in split]
            for split in islice(splits, max(1, RACE_SAMPLES // len(samples)))
        ]

    def start_samples(self):
        """Return the samples to which linear scores are fitted in the end."""
        samples = np.arange(len(self.target.y))
        return self._draw(samples, RACE_SAMPLES / len(samples))

    def folds(self, validation, splits=None):
        """Return the fold of the validation set, or those of held-out queries, if there are any."""
        if validation is not None:
            return [self._fold(self.start_samples(), *validation)]
        folds = []
        for train, test in self.splits() if splits is None else splits:
            fold = self._fold(train, self.X[test], self.target.take(test))
            # Both parts must have something to learn.
            if all(objective.weights.any() for objective in fold.objectives):
                folds.append(fold)
        return folds

    def _fold(self, samples, X_val, target_val):
        X = self.X[samples]
        objectives = [
            self.make_objective(self.target.take(samples)),
            self.make_objective(target_val),
        ]
        for objective, part in zip(objectives, (X, X_val)):
            objective.set_scores(np.zeros(len(part)))
        scores = {}
        for start in self.starts:
            model = self.fit_start(start, samples)
            scores[start] = [scores_of(model, X), scores_of(model, X_val)]
        bins = self.make_bins(X)
        judge = self.make_judge(objectives[1], X_val, target_val)
        return Fold([bins, bins.encode(X_val)], objectives, scores, judge)

    def fit_start(self, start, samples):
        """Return a model of initial scores, fitted to (drawn) samples; None for scores of 0."""
        if start is None:
            return None
        if start == "linear":
            samples = self._draw(samples, RACE_SAMPLES / len(samples))
        X, target = self.X[samples], self.target.take(samples)
        weights = target.all_weights
        if start == "linear":
            return fit_linear(X, self.make_objective(target), self.bounds, weights)
        model = clone(start)
        arguments = qid_argument(model, target.queries.codes)
        if (weights != 1).any():
            if not has_fit_parameter(model, "sample_weight"):
                raise ValueError(
                    f"init must accept weights, but the fit method of {model!r} has no "
                    "sample_weight; use another one, or no weights"
                )
            arguments["sample_weight"] = weights
        return model.fit(X, target.y, **arguments)

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

    def __init__(self, start, tree, folds):
        self.start, self.tree, self._folds = start, tree, folds
        self._scores = [[part.copy() for part in fold.scores[start]] for fold in folds]
        self._learners = [TreeLearner(tree, tree._make_grower(fold.bins[0])) for fold in folds]
        self.values = []
        self._evaluate()

    def _evaluate(self):
        values = [fold.judge(F) for fold, (_, F) in zip(self._folds, self._scores)]
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


def scores_of(model, X):
    """Return the initial scores of a model; None stands for scores of 0."""
    if model is None:
        return np.zeros(X.shape[0])
    return check_outputs(np.asarray(model.predict(X), dtype=np.float64), model)


def run_race(trees, starts, folds, n_rounds, learning_rate, random_state):
    """Return the winner among the trees and the starts."""
    candidates = [Candidate(start, tree, folds) for start in starts for tree in trees]
    largest, active = candidates[0].values[0], candidates
    trials = {round(fraction * n_rounds): least for fraction, least in TRIALS.items()}
    trials = {n_fitted: least for n_fitted, least in trials.items() if n_fitted >= 5}
    for n_fitted in range(1, n_rounds + 1):
        active = [item for item in active if item.add_round(learning_rate, random_state)]
        if n_fitted in trials:
            smallest = min(min(item.values) for item in candidates)
            limit = largest - trials[n_fitted] * (largest - smallest)
            active = [item for item in active if min(item.values) <= limit]
    winner = min(candidates, key=lambda item: min(item.values))
    n_trees = int(np.argmin(winner.values))
    return Winner(winner.start, winner.tree, n_trees if n_trees < n_rounds else None)

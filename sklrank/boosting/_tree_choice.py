"""The choice of the start of boosting, the size of trees and the number of rounds.

Small trees rank noisy data better, large trees rank rich data better, and linear scores are a good
start for some data only. No number of queries or documents shows what a data set needs. Therefore,
trees of several sizes are boosted on a part of the queries, from scores of 0 and from linear
scores, and the objective of the held-out queries is computed after each round. The start, the size
and the number of rounds with the smallest value are chosen. (The objective is chosen rather than
NDCG because it varies less from one set of queries to another.) In small data sets, each query is
held out once.
"""

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold

from sklrank.boosting._document_ranker import queries_of
from sklrank.boosting._linear_scores import PENALTIES, fit_linear
from sklrank.boosting._weak_learners import TreeLearner
from sklrank.tree import HistogramTreeRegressor

__all__ = ["Choice", "ChoiceData", "Fold", "choose_start", "choose_trees"]

# Numbers of leaves of the default trees, of which one is chosen by held-out queries.
LEAF_NUMBERS = (2, 8, 31)
# The queries are divided into this number of folds, each of which is held out in turn: all of them
# in small data sets, in which this takes little time and the choice is least certain. The folds
# have up to this number of samples in total (training and held-out), but at least one is held out.
N_FOLDS, FOLD_SAMPLES = 5, 15_000
# With fewer queries, nothing is held out, and the trees have this number of leaves.
LEAST_QUERIES, FEW_QUERIES_LEAF_NUMBER = 5, 8
# The choice of the trees uses queries with at most this number of samples in total.
CHOICE_SAMPLES = 60_000
# Linear scores are fitted to queries with at most this number of samples in total.
LINEAR_SAMPLES = 20_000
# The default trees have these minimum numbers of samples in a leaf and maximum numbers of bins, but
# fewer in small data sets: one for this number of samples, and at least the second number.
LEAF_SAMPLES, SAMPLES_PER_LEAF_SAMPLE, LEAST_LEAF_SAMPLES = 20, 100, 1
BINS, SAMPLES_PER_BIN, LEAST_BINS = 255, 100, 32

# A candidate is dropped if its held-out objective has not decreased for this number of rounds.
PATIENCE = 10
# A candidate is dropped after these fractions of the rounds if it has decreased the held-out
# objective by less than these fractions of the decrease of the best candidate.
TRIALS = {0.1: 0.6, 0.25: 0.85}
# If one candidate remains after the last trial, and the last rounds (`PATIENCE`) account for at
# least this fraction of its decrease, far more rounds are needed, and all of them are fitted.
STILL_DECREASING = 0.05


class Fold(NamedTuple):
    """A part of the queries to learn from, and the held-out queries."""

    bins: tuple
    """Codes of the samples of both parts, two FeatureBlocks."""
    objectives: tuple
    """Objectives of both parts, whose scores are changed."""
    linear: list
    """Linear scores of the samples of both parts, for each of the `PENALTIES`."""

    def shows_something(self):
        """Return True if both parts have queries with documents of different relevance."""
        return all(
            objective.losses_at(np.zeros_like(scores)).any()
            for objective, scores in zip(self.objectives, self.linear[0])
        )


class Choice(NamedTuple):
    """The start, the trees and the number of rounds."""

    penalty: float | None
    """Penalty of the linear scores from which boosting starts; None if it starts from 0."""
    tree: object
    n_trees: int | None
    """Number of trees; None if all rounds are fitted."""
    may_need_more: bool
    """True if the maximum number of rounds ended the choice while the objective decreased."""

    def n_rounds(self, most):
        """Return the number of rounds, linear scores included; None if all `most` are fitted."""
        if self.n_trees is None:
            return None
        n_rounds = self.n_trees + (self.penalty is not None)
        return max(1, n_rounds) if n_rounds < most else None


class ChoiceData(NamedTuple):
    """Training samples, from which folds are made and linear scores are fitted."""

    X: np.ndarray
    y: np.ndarray
    queries: Any
    make_objective: Callable
    """Function ``make_objective(y, queries)`` that returns the objective of some samples."""
    seed: int
    """Seed of the folds, and of the queries that are drawn."""

    def held_out_folds(self, bins):
        """Return the folds that show something; none if there are few queries."""
        grouped = self.y[self.queries.order]
        first = self.queries.starts[:-1]
        differ = np.maximum.reduceat(grouped, first) > np.minimum.reduceat(grouped, first)
        if np.count_nonzero(differ) < LEAST_QUERIES:
            return []
        n_samples = len(self.y)
        splitter = GroupKFold(N_FOLDS, shuffle=True, random_state=self.seed)
        n_folds = max(1, round(FOLD_SAMPLES / n_samples))
        share = CHOICE_SAMPLES / n_samples
        splits = [
            [self._draw_queries(part, share * len(part)) for part in split]
            for split in islice(splitter.split(self.y, groups=self.queries.codes), n_folds)
        ]
        folds = [self._held_out_fold(bins, split) for split in splits]
        return [fold for fold in folds if fold.shows_something()]

    def _held_out_fold(self, bins, split):
        """Return the fold of samples to learn from and of held-out samples."""
        scorers = self.fit_linear(samples=split[0])
        parts = [self.X[samples] for samples in split]
        return Fold(
            [bins.take(samples) for samples in split],
            [self._objective(samples) for samples in split],
            [[scorer.predict(part) for part in parts] for scorer in scorers],
        )

    def validation_fold(self, bins, X_val, y_val, queries_val):
        """Return the fold of all samples and the validation set."""
        objectives = [
            self.make_objective(self.y, self.queries),
            self.make_objective(y_val, queries_val),
        ]
        linear = [[each.predict(self.X), each.predict(X_val)] for each in self.fit_linear()]
        return Fold([bins, bins.encode(X_val)], objectives, linear)

    def fit_linear(self, penalties=PENALTIES, samples=None):
        """Return linear scores for each penalty, fitted to queries of the given samples, or all."""
        samples = np.arange(len(self.y)) if samples is None else samples
        samples = self._draw_queries(samples, LINEAR_SAMPLES)
        return fit_linear(self.X[samples], self._objective(samples), penalties)

    def _objective(self, samples):
        return self.make_objective(self.y[samples], queries_of(self.queries, samples))

    def _draw_queries(self, samples, n_samples):
        """Return those of the samples whose queries are drawn, up to `n_samples` of them.

        At least one query is drawn.
        """
        if len(samples) <= n_samples:
            return samples
        codes = self.queries.codes[samples]
        sizes = np.bincount(codes, minlength=self.queries.n_queries)
        drawn = np.random.RandomState(self.seed).permutation(np.flatnonzero(sizes))
        n_drawn = max(1, np.searchsorted(sizes[drawn].cumsum(), n_samples, side="right"))
        return samples[np.isin(codes, drawn[:n_drawn])]


class FoldBooster:
    """Boosted trees of one fold.

    Parameters
    ----------
    tree : HistogramTreeRegressor
        Tree whose parameters are used in all rounds.
    fold : Fold
        Samples.
    scores : pair of ndarray of shape (n_samples,)
        Initial scores of the samples of both parts.
    """

    def __init__(self, tree, fold, scores):
        train, held_out = fold.bins
        self._learner = TreeLearner(tree, None, train)
        self._held_out = held_out
        self._objective, self._held_out_objective = fold.objectives
        self._scores, self._held_out_scores = (part.copy() for part in scores)

    def losses(self):
        """Return the loss of each held-out query."""
        return losses_of(self._held_out_objective, self._held_out_scores)

    def add_round(self, learning_rate, random_state):
        """Boost for a round, unless no tree has a split."""
        self._objective.set_scores(self._scores)
        grown = self._learner.grow(self._objective, random_state)
        if grown is None:
            return
        tree, hypothesis = grown
        step = self._learner.step(self._objective, hypothesis, learning_rate)
        self._scores += step * hypothesis
        held_out = self._held_out
        self._held_out_scores += step * tree.predict_codes(held_out.codes, held_out.n_bins)


class Candidate:
    """A start and a tree, boosted on all folds."""

    def __init__(self, penalty, tree, folds, starts):
        self.penalty, self.tree = penalty, tree
        self._boosters = [FoldBooster(tree, *fold) for fold in zip(folds, starts)]
        self.values, self._losses = [], []
        self._evaluate()

    def _evaluate(self):
        self._losses.append(np.concatenate([booster.losses() for booster in self._boosters]))
        self.values.append(self._losses[-1].sum())

    def add_round(self, learning_rate, random_state):
        """Boost for a round, and return whether another one may be worth while."""
        for booster in self._boosters:
            booster.add_round(learning_rate, random_state)
        self._evaluate()
        return len(self.values) - 1 - self.n_rounds < PATIENCE

    @property
    def n_rounds(self):
        """Number of rounds with the smallest held-out objective."""
        return int(np.argmin(self.values))

    @property
    def losses(self):
        """Loss of each held-out query after this number of rounds."""
        return self._losses[self.n_rounds]

    @property
    def is_still_decreasing(self):
        """True if the last rounds account for a large part of the decrease."""
        last = self.values[-1 - PATIENCE :]
        return last[0] - last[-1] >= STILL_DECREASING * (self.values[0] - min(self.values))


def default_trees(n_samples, n_jobs=None):
    """Return a tree of each number of leaves for this number of samples."""
    leaf_samples = max(LEAST_LEAF_SAMPLES, min(LEAF_SAMPLES, n_samples // SAMPLES_PER_LEAF_SAMPLE))
    bins = max(LEAST_BINS, min(BINS, n_samples // SAMPLES_PER_BIN))
    return [
        HistogramTreeRegressor(
            max_leaf_nodes=n, min_samples_leaf=leaf_samples, max_bins=bins, n_jobs=n_jobs
        )
        for n in LEAF_NUMBERS
    ]


def choose_start(data, validation, *, n_rounds, learning_rate, n_jobs, random_state):
    """Choose the start of boosting, the default trees and the number of rounds.

    Parameters
    ----------
    data : ChoiceData
        Training samples.
    validation : tuple or None
        `X`, `y` and the queries of a validation set. If None, queries of the training samples are
        held out. If there are few, 0 is the start, and all rounds are fitted.
    n_rounds : int
        Maximum number of rounds.
    learning_rate : float
        Learning rate that multiplies each step.
    n_jobs : int or None
        Number of threads that grow each tree.
    random_state : RandomState instance
        Draws the samples whose quantiles bound the bins, and the features of the trees.

    Returns
    -------
    choice : Choice
    bins : FeatureBlocks
        The bins of the features of all training samples.
    """
    trees = default_trees(len(data.y), n_jobs)
    bins = trees[0]._bin(data.X, random_state)
    if validation is None:
        folds = data.held_out_folds(bins)
    else:
        folds = [data.validation_fold(bins, *validation)]
    if not folds:
        tree = trees[LEAF_NUMBERS.index(FEW_QUERIES_LEAF_NUMBER)]
        return Choice(None, tree, None, may_need_more=False), bins
    return choose_trees(trees, folds, n_rounds, learning_rate, random_state), bins


def choose_trees(trees, folds, n_rounds, learning_rate, random_state):
    """Choose the start of boosting, the size of the trees and the number of rounds.

    Parameters
    ----------
    trees : list of HistogramTreeRegressor
        Trees of different sizes, the smallest first.
    folds : list of Fold
        Parts of the queries.
    n_rounds : int
        Maximum number of rounds.
    learning_rate : float
        Learning rate that multiplies each step.
    random_state : RandomState instance
        Draws the features of the trees.

    Returns
    -------
    Choice
    """
    zeros = [[np.zeros_like(part) for part in fold.linear[0]] for fold in folds]
    penalty, linear = best_penalty(folds)
    candidates = [
        Candidate(penalty, tree, folds, scores)
        for penalty, scores in ((None, zeros), (penalty, linear))
        for tree in trees
    ]
    largest, active = candidates[0].values[0], candidates
    trials = {round(fraction * n_rounds): least for fraction, least in TRIALS.items()}
    for n_fitted in range(1, n_rounds + 1):
        active = [item for item in active if item.add_round(learning_rate, random_state)]
        if n_fitted in trials:
            decrease = largest - min(min(item.values) for item in candidates)
            limit = largest - trials[n_fitted] * decrease
            active = [item for item in active if min(item.values) <= limit]
        if n_fitted == max(trials) and len(active) == 1 and active[0].is_still_decreasing:
            return Choice(active[0].penalty, active[0].tree, None, may_need_more=True)
    best = min(candidates, key=lambda item: min(item.values))
    same_start = [item for item in candidates if item.penalty == best.penalty]
    chosen = next(item for item in same_start if is_as_good(item, best))
    was_cut = chosen in active and chosen.n_rounds > 0
    return Choice(chosen.penalty, chosen.tree, chosen.n_rounds, may_need_more=was_cut)


def best_penalty(folds):
    """Return the penalty with the smallest held-out objective, and the scores of each fold."""
    values = np.zeros(len(PENALTIES))
    for fold in folds:
        _, objective = fold.objectives
        for index, (_, scores) in enumerate(fold.linear):
            values[index] += losses_of(objective, scores).sum()
    best = int(np.argmin(values))
    return PENALTIES[best], [fold.linear[best] for fold in folds]


def losses_of(objective, scores):
    """Return the loss of each query, not divided by the number of queries as the objective is."""
    return objective.losses_at(scores) * objective.n_counted


def is_as_good(candidate, best):
    """Return whether the losses are within a standard error of those of the best candidate.

    Smaller trees overfit less, so that they are chosen if there is no clear difference.
    """
    gaps = candidate.losses - best.losses
    return gaps.sum() <= np.sqrt(len(gaps)) * gaps.std()

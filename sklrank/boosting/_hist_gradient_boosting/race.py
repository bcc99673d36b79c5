"""The race for the start, the size and the number of the trees of HistGradientBoostingRanker.

Small trees rank noisy data better, large trees rich data, and linear scores are a good start for
some data only, whatever the number of queries or documents. Therefore, trees of several sizes are
boosted on a part of the queries, from scores of 0 and from linear scores, and the objective of the
held-out queries is computed after each round. The start, the size and the number of rounds with the
smallest objective are chosen. (It varies less from one set of queries to another than NDCG does.)
Early stopping holds out queries, too: they are drawn, checked and judged here, as those of a
validation set.
"""

import warnings
from collections.abc import Callable
from copy import copy
from functools import partial
from inspect import isfunction
from itertools import islice
from numbers import Real
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import has_fit_parameter

from sklrank import metrics
from sklrank._checks import Queries, check_outputs, check_relevance, qid_argument
from sklrank._estimators import (
    _check_monotonic_cst,
    minimize_smooth,
    one_blas_thread,
    print_progress,
)
from sklrank.boosting._base import DocumentTarget, split_queries
from sklrank.boosting._hist_gradient_boosting.categories import warn_if_untransformed
from sklrank.tree._histogram import HistogramTreeRegressor

SCORERS = {
    "ndcg": metrics.ndcg_scorer,
    "average_precision": metrics.average_precision_scorer,
    "precision_at_k": metrics.precision_at_k_scorer,
    "recall_at_k": metrics.recall_at_k_scorer,
    "hit_rate": metrics.hit_rate_scorer,
    "reciprocal_rank": metrics.reciprocal_rank_scorer,
}

# Numbers of leaves of symmetric trees: a stump, the depth 6 of CatBoost, and half of it. (On the
# five sets of the benchmark on which rules were chosen, trees of 31 leaves that are not symmetric
# ranked worse by .007 +- .006; the depths 1, 4 and 6 no better.)
LEAF_NUMBERS = (2, 8, 64)
# Folds of the queries. So many are held out in turn as have up to `RACE_SAMPLES` samples with those
# to learn from: small sets, where the race is fast and least certain, need all. So many samples at
# most race, and have linear scores fitted to them. (With 30,000, the default ranked no better on
# three generated sets of 40,000 documents; with two folds of 9,000 instead of one, no better on the
# 13 sets of `benchmarks/document_ranking.py` and 12 others.)
N_FOLDS, RACE_SAMPLES = 5, 15_000
# Trees that race have so many bins, which takes a third of the time; on the same sets, the
# winners ranked as well. (Fewer bins of the trees that are used cost .014 on products of features.)
RACE_BINS = 63
# Rounds without a decrease after which a candidate leaves the race: scikit-learn's default.
PATIENCE = 10
# After these fractions of the rounds, at least five, a candidate must have these fractions of the
# decrease of the best one, which drops no later winner of the same five sets.
TRIALS = {0.05: 0.5, 0.25: 0.9}
# Factor of the squared weights of standardized features and of the objective at scores of 0. A
# choice of 0.1, 0.01 or 0.001 by held-out queries ranked no better beyond noise, on 16 sets of
# generated documents.
PENALTY = 1e-2
# Number of samples of which arrays are made at a time, which limits the memory.
BLOCK = 4096


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
    relevance: np.ndarray | None = None
    """Relevance of the held-out documents."""


class Winner(NamedTuple):
    """The start, the size and the number of trees."""

    start: object
    """Kind of the initial scores."""
    tree: HistogramTreeRegressor
    """Tree with the parameters of all trees."""
    n_trees: int | None
    """Number of trees; None if all rounds are fitted."""
    init: object = None
    """Model of the initial scores, fitted to the training samples; None for scores of 0."""

    def checked(self, value, value_of_zeros):
        """Return the winner, without its linear scores if they do not decrease the objective."""
        # They were perhaps fitted to a part of the queries only.
        return self if value < value_of_zeros else self._replace(init=None)


class Race:
    """The race for the trees of a ranker, whose random state bins the features and draws them.

    `starts` are kinds of initial scores: None for scores of 0, "linear", or an estimator.
    """

    def __init__(self, ranker):
        self._ranker, self.starts = ranker, (ranker.init,)
        kind = ranker.init if isinstance(ranker.init, str) else None
        if kind == "auto":
            self.starts = (None,) if callable(ranker.loss) else (None, "linear")
        if not (kind or ranker.init is None or ranker.monotonic_cst is None):
            warnings.warn("init may violate monotonic_cst, which binds the trees", stacklevel=4)
        no_value = "needs the value of the loss, but loss is a function, which returns derivatives"
        if callable(ranker.loss) and kind == "linear":
            raise ValueError(f"init='linear' {no_value}; use an estimator as init, or None")
        if callable(ranker.loss) and ranker.early_stopping is True and ranker.scoring == "loss":
            raise ValueError(
                f"scoring='loss' {no_value}; for early stopping use a metric, such as "
                "scoring='ndcg'"
            )

    def bins(self, X, max_bins=None):
        """Return the bins of samples, which do not depend on the size of the trees."""
        [tree, *_] = make_trees(self._ranker, len(X))
        with warnings.catch_warnings():
            if max_bins is not None and max_bins < tree.max_bins:
                # The model has more bins, of which it warns.
                tree.max_bins = max_bins
                warnings.filterwarnings("ignore", "the categorical feature")
            return tree._bin(X, self._ranker._random_state)

    def winner(self, X, target, validation=None):
        """Return the winner. `validation` has the held-out X and target, or is None."""
        winner = self.run(X, target, validation=validation)
        if not isinstance(winner.init, LinearScorer):
            return winner
        objective = self._ranker._make_objective(target).compared()
        scores = winner.init.predict(X)
        return winner.checked(objective.value_at(scores), objective.value_at(np.zeros(len(X))))

    def run(self, X, target, *, splits=None, validation=None):
        """Return the winner, whose linear scores are not checked.

        Of `X`, only the samples of :meth:`splits` and :meth:`start_samples` are read.
        """
        ranker, folds = self._ranker, []
        trees = make_trees(ranker, len(target.y))
        # Without a value of the loss, nothing can be compared.
        is_judged = ranker.scoring != "loss" or not callable(ranker.loss)
        n_choices = len(trees) * len(self.starts)
        if is_judged and (n_choices > 1 or ranker.early_stopping == "auto"):
            folds = self._folds(X, target, splits, validation)
        winner = Winner(self.starts[0], trees[len(trees) // 2], None)
        if folds:
            check_varying(ranker, [(fold.judge, fold.relevance) for fold in folds])
            rounds = ranker.max_iter, ranker.learning_rate
            winner = run_race(trees, self.starts, folds, *rounds, ranker._random_state)
        return winner._replace(init=self._fit_start(winner.start, X, target))

    def splits(self, target):
        """Return the samples of each fold to learn from, and those that are held out, as pairs."""
        samples, codes = np.arange(len(target.y)), target.queries.codes
        if target.queries.n_queries < N_FOLDS:
            # With 20 documents in a fold, they are held out: a part of a query is a query, too.
            if len(samples) < 20 * N_FOLDS:
                return []
            codes = samples
        splitter = GroupKFold(N_FOLDS, shuffle=True, random_state=self._ranker._split_seed)
        splits = splitter.split(target.y, groups=codes)
        return [
            [self._draw(target, part, RACE_SAMPLES / len(samples)) for part in split]
            for split in islice(splits, max(1, RACE_SAMPLES // len(samples)))
        ]

    def start_samples(self, target):
        """Return the samples to which linear scores are fitted in the end."""
        return self._draw(target, np.arange(len(target.y)), RACE_SAMPLES / len(target.y))

    def _draw(self, target, samples, fraction):
        """Return the samples of drawn queries: at least one query, and this fraction at most."""
        if fraction >= 1:
            return samples
        codes = target.queries.codes[samples]
        sizes = np.bincount(codes)
        drawn = np.random.RandomState(self._ranker._split_seed).permutation(np.flatnonzero(sizes))
        most = fraction * len(samples)
        n_drawn = max(1, np.searchsorted(sizes[drawn].cumsum(), most, side="right"))
        return samples[np.isin(codes, drawn[:n_drawn])]

    def _folds(self, X, target, splits, validation):
        """Return the fold of the validation set, or those of held-out queries, if there are any."""
        if validation is not None:
            return [self._fold(X, target, self.start_samples(target), *validation)]
        folds = []
        for train, test in self.splits(target) if splits is None else splits:
            fold = self._fold(X, target, train, X[test], target.take(test))
            # Both parts must have something to learn.
            if all(objective.weights.any() for objective in fold.objectives):
                folds.append(fold)
        return folds

    def _fold(self, X, target, samples, X_val, target_val):
        ranker, X, target = self._ranker, X[samples], target.take(samples)
        objectives = [ranker._make_objective(each) for each in (target, target_val)]
        for objective, part in zip(objectives, (X, X_val)):
            objective.set_scores(np.zeros(len(part)))
        scores = {}
        for start in self.starts:
            model = self._fit_start(start, X, target)
            scores[start] = [scores_of(model, X), scores_of(model, X_val)]
        bins = self.bins(X, RACE_BINS)
        judge = make_judge(ranker, objectives[1], X_val, target_val)
        return Fold([bins, bins.encode(X_val)], objectives, scores, judge, target_val.y)

    def _fit_start(self, start, X, target):
        """Return a model of initial scores, fitted to (drawn) samples; None for scores of 0."""
        if start is None:
            return None
        is_linear = start == "linear"
        samples = self.start_samples(target) if is_linear else np.arange(len(target.y))
        X, target = X[samples], target.take(samples)
        weights = target.all_weights
        if is_linear:
            objective = self._ranker._make_objective(target).compared()
            return fit_linear(X, objective, self._linear_bounds(), weights)
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

    def _linear_bounds(self):
        """Return the bounds of the weights of linear scores, or None if there are none."""
        [tree, *_] = make_trees(self._ranker, 1)
        is_categorical = tree._categorical_mask(self._ranker.n_features_in_)
        constraints = tree._constraints(is_categorical)
        if not (is_categorical.any() or constraints.any()):
            return None
        low = np.where((constraints > 0) | is_categorical, 0.0, -np.inf)
        high = np.where((constraints < 0) | is_categorical, 0.0, np.inf)
        return np.column_stack([low, high])


def check_frozen_init(ranker):
    """Refuse a fitted start that would get other columns than those it was fitted to."""
    names = getattr(ranker.init, "feature_names_in_", None)
    if names is None or not isinstance(ranker.init, FrozenEstimator):
        return
    if ranker._encoder is not None:
        raise ValueError(
            "init was fitted to a data frame, and would get the categories of X as numbers: let it "
            "predict a column of X, and pass init=None"
        )
    given = getattr(ranker, "feature_names_in_", names)
    if not np.array_equal(given, names):
        raise ValueError(
            f"init was fitted to the features {', '.join(map(str, names))}, and X has "
            f"{', '.join(map(str, given))}: pass the same ones in the same order"
        )


def make_trees(ranker, n_samples):
    """Return a tree of each size that races, with the parameters of a ranker."""
    monotonic_cst = ranker.monotonic_cst
    if isinstance(monotonic_cst, dict):
        monotonic_cst = _check_monotonic_cst(ranker, monotonic_cst)
    min_samples_leaf = ranker.min_samples_leaf
    if min_samples_leaf == "auto":
        min_samples_leaf = max(1, min(20, n_samples // 100))
    return [
        HistogramTreeRegressor(
            max_leaf_nodes=number,
            min_samples_leaf=min_samples_leaf,
            max_depth=ranker.max_depth,
            symmetric=ranker.max_leaf_nodes == "auto",
            l2_regularization=ranker.l2_regularization,
            max_features=ranker.max_features,
            max_bins=ranker.max_bins,
            categorical_features=ranker.is_categorical_,
            monotonic_cst=monotonic_cst,
            n_jobs=ranker.n_jobs,
        )
        for number in (LEAF_NUMBERS if ranker.max_leaf_nodes == "auto" else [ranker.max_leaf_nodes])
    ]


def winner_of_warm_start(ranker, n_samples):
    """Return the winner, whose tree has the parameters that the ranker has now."""
    trees = {tree.max_leaf_nodes: tree for tree in make_trees(ranker, n_samples)}
    middle = list(trees.values())[len(trees) // 2]
    return ranker._winner._replace(tree=trees.get(ranker.max_leaf_nodes_, middle))


# -- Linear scores.


class LinearScorer:
    """Weighted sum of features, which minimizes the objective of boosting plus an L2 penalty.

    Values are limited to the range of the training samples, from `low` to `high`, and missing ones
    are replaced by the mean, so that no score is extreme. The `gain` is twice the decrease of the
    objective, as those of trees, in proportion to the absolute weights of standardized features.
    """

    def __init__(self, low, high, mean, coef, gain):
        self.low, self.high, self.mean, self.coef, self.gain = low, high, mean, coef, gain

    def terms(self, X):
        """Return the part of the scores that is due to each feature, of the shape of `X`."""
        return self._centered(X) * self.coef

    def predict(self, X):
        """Return the scores of an array `X`."""
        scores = np.empty(len(X))
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            # Unlike BLAS, the sum for a row does not depend on the number of rows.
            scores[block] = np.einsum("ij,j->i", self._centered(X[block]), self.coef)
        return scores

    def _centered(self, X):
        """Return the differences of the features, limited to their ranges, to their means."""
        centered = np.clip(X, self.low, self.high, dtype=np.float64, order="C")
        centered -= self.mean
        np.copyto(centered, 0.0, where=np.isnan(centered))
        return centered


@one_blas_thread
def fit_linear(X, objective, bounds=None, weights=None):
    """Return a LinearScorer of the samples `X`, whose objective is given, and set to its scores.

    `bounds`, `(n_features, 2)` or None, are the least and the largest weight of each feature.
    `weights` are those of the samples in the means and deviations of the features.
    """
    X = np.ascontiguousarray(X)
    is_known = ~np.isnan(X)
    low = np.min(X, axis=0, where=is_known, initial=np.inf)
    high = np.max(X, axis=0, where=is_known, initial=-np.inf)
    # A feature without values has an empty range and NaN as mean.
    with np.errstate(all="ignore"):
        weights = np.ones(len(X)) if weights is None else weights
        # Temporary arrays of the size of X would be the largest ones of the ranker.
        sums = np.zeros((2, X.shape[1]))
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            sums[0] += weights[block] @ np.where(is_known[block], X[block], 0.0)
            sums[1] += weights[block] @ is_known[block]
        mean = sums[0] / sums[1]
        centered = LinearScorer(low, high, mean, None, None)._centered(X)
        squares = np.einsum("i,ij,ij->j", weights, centered, centered)
        deviation = np.sqrt(squares / weights.sum())
    # The squares and reciprocals of other deviations are not finite.
    is_used = (deviation > 1e-150) & (deviation < 1e150)
    unit = np.where(is_used, deviation, 1.0)
    low, high, mean = (np.where(is_used, bound, 0.0) for bound in (low, high, mean))
    centered[:, ~is_used] = 0.0
    centered /= unit
    objective.set_scores(np.zeros(len(X)))
    start, penalty = objective.value, PENALTY * objective.value

    def penalized(weights):
        objective.set_scores(centered @ weights)
        gradient = 2 * penalty * weights - objective.negative_gradient @ centered
        return objective.value + penalty * weights @ weights, gradient

    # The scores are a start only: trees correct them.
    weights = minimize_smooth(penalized, np.zeros(X.shape[1]), bounds, maxiter=15).x
    objective.set_scores(centered @ weights)
    shares = np.abs(weights) / (np.abs(weights).sum() or 1.0)
    gain = 2 * max(0.0, start - objective.value) * shares
    return LinearScorer(low, high, mean, weights * is_used / unit, gain)


# -- Held-out documents.


def check_validation_set(ranker, X, target, X_val, y_val, qid_val):
    """Return the documents and the target of the validation set, or None if there is none."""
    if X_val is None and y_val is None and qid_val is None:
        return None
    if X_val is None or y_val is None:
        raise ValueError("X_val and y_val must be passed together, and qid_val with qid")
    if qid_val is None and ranker._fitted_with_qid:
        raise ValueError("qid_val is None, but qid was given: pass the queries of X_val")
    X_val = ranker._check_documents(X_val, reset=False)
    y_val = check_relevance(y_val, X_val.shape[0], signed=True, names=("y_val", "X_val"))
    target_val = DocumentTarget.of(y_val, Queries.from_qid(qid_val, len(y_val), "qid_val"))
    check_evaluated(ranker, target_val, "of X_val", names=("y_val", "qid_val"))
    n_queries = target.queries.n_queries, target_val.queries.n_queries
    warn_if_untransformed(X, X_val, n_queries, ranker.is_categorical_)
    return X_val, target_val


def hold_out(ranker, target):
    """Return the samples to learn from, and those held out, the same in each warm start."""
    fraction = ranker.validation_fraction
    if ranker.estimators_ and fraction > ranker._held_out_fraction:
        raise ValueError(
            f"validation_fraction={fraction} would hold out queries that the rounds so far learned "
            "from; for a warm start it must not exceed that of the fit before, "
            f"{ranker._held_out_fraction}; use early_stopping='auto' or False, or pass X_val"
        )
    train, held_out = split_queries(target.queries, fraction, ranker._split_seed)
    target.take(train).check_something_to_learn("to learn from")
    check_evaluated(ranker, target.take(held_out), "held out")
    return train, held_out


def check_evaluated(ranker, target, part, *, names=("y", "qid")):
    """Raise a ValueError if rounds cannot be evaluated on "the samples {part}"."""
    target.check_something_to_learn(part, names=names)
    objective = ranker._make_objective(target)
    objective.set_scores(np.zeros(len(target.y)))
    if not objective.weights.any():
        raise ValueError(
            f"{names[0]} has no documents of different gain in the samples {part}, so that their "
            "objective is always the same; include relevant documents, and check gain"
        )


def evaluate_rounds(ranker, evaluated):
    """Compute the losses of held-out documents, X and their target, after the rounds so far.

    Return what computes those of later rounds: the functions of scores and of models, and the
    scores so far; or nothing without such documents.
    """
    if evaluated is None:
        return ()
    X, target = evaluated
    judge, losses = make_judge(ranker, ranker._make_objective(target), X, target), []
    check_varying(ranker, [(judge, target.y)])
    for scores in ranker._staged_scores(X):
        losses.append(judge(scores))
    ranker.validation_loss_curve_ = np.array(losses)
    return judge, scores, partial(ranker._hypothesis, X=X)


def round_reporter(ranker, judge=None, scores=None, hypothesis_of=None):
    """Return the function that is called after each round; see :func:`evaluate_rounds`."""

    def after_round(model, step):
        figures = {"objective": float(ranker.loss_curve_[-1]), "step": float(step)}
        if judge is not None:
            scores[:] += step * hypothesis_of(model)
            loss = figures["validation loss"] = float(judge(scores))
            ranker.validation_loss_curve_ = np.append(ranker.validation_loss_curve_, loss)
        if ranker.verbose:
            done = f"round {len(ranker.estimators_)} of {ranker.max_iter}"
            print_progress(type(ranker).__name__, done, figures)
        return ranker._early_stopping_reason()

    return after_round


class FixedScores(NamedTuple):
    """A fitted ranker for scorers, whose predictions are known."""

    scores: np.ndarray

    def predict(self, X):
        return self.scores.copy()


def make_judge(ranker, objective, X, target):
    """Return the function of the scores of held-out queries that should be small."""
    if ranker.scoring == "loss":
        return objective.compared().held_out_value
    scorer, options = ranker.scoring, {}
    if isfunction(scorer) and scorer.__name__.endswith("_score"):
        raise ValueError(
            f"scoring must be a scorer, called with an estimator and samples, but "
            f"{scorer.__name__} is a metric: pass {scorer.__name__}r or its name"
        )
    if isinstance(scorer, str):
        scorer = clone(SCORERS[scorer])
        known = scorer.get_params()
        given = {"k": ranker.k, "gain": ranker.gain}
        scorer.set_params(**{n: v for n, v in given.items() if n in known and v is not None})
    if (target.all_weights != 1).any():
        options["sample_weight"] = target.all_weights
    qid = target.queries.codes

    def judge(scores):
        value = scorer(FixedScores(scores), X, target.y, qid=qid, **options)
        if not (isinstance(value, Real) and np.isfinite(value)):
            raise ValueError(f"scoring must return a finite number, got {value!r}")
        return -float(value)

    return judge


def check_varying(ranker, judged):
    """Raise a ValueError if all judges have one value for the best and for the worst ranking."""
    if ranker.scoring != "loss" and all(judge(y) == judge(-y) for judge, y in judged):
        raise ValueError(
            f"scoring={ranker.scoring!r} is the same for all rankings of the held-out queries, and "
            "cannot compare rounds: pass a smaller k, relevance of 0 where documents are not "
            "relevant, or scoring='ndcg'"
        )


# -- Boosting on the folds.


class TreeLearner:
    """Learner of trees with the parameters of `tree`, on samples that are binned once."""

    def __init__(self, tree, bins):
        self._tree, self._grower = tree, tree._make_grower(bins)

    def grow(self, objective, random_state):
        """Return a tree and its hypothesis, or None if the tree has no split."""
        tree, values, leaves = self._grower.grow(
            -objective.negative_gradient, objective.hessians, random_state
        )
        return (tree, values[:, 0].take(leaves)) if tree.n_nodes > 1 else None

    def fit(self, objective, random_state):
        """Return a fitted model and its hypothesis, or None if the tree has no split."""
        grown = self.grow(objective, random_state)
        if grown is None:
            return None
        tree, hypothesis = grown
        return self._grower.set_fitted(copy(self._tree), tree), hypothesis

    def step(self, objective, hypothesis, learning_rate):
        """Return the learning rate times the factor of the leaves."""
        return learning_rate * objective.leaf_step


class Candidate:
    """A start and a size of trees, boosted on the folds."""

    def __init__(self, start, tree, folds):
        self.start, self.tree, self._folds = start, tree, folds
        self._scores = [[part.copy() for part in fold.scores[start]] for fold in folds]
        self._learners = [TreeLearner(tree, fold.bins[0]) for fold in folds]
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
    return check_outputs(np.ascontiguousarray(model.predict(X), dtype=np.float64), model)


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

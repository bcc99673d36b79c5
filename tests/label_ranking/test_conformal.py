"""Conformal sets and intervals: their coverage, sizes, and slow statements."""

import pickle
from functools import partial
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklrank._checks.rankings import close_ranks
from sklrank.label_ranking import (
    ConformalRanks,
    ConformalTopLabels,
    LabelwiseRanker,
    PlackettLuceRanker,
    StackedRanker,
)
from sklrank.label_ranking._plackett_luce.likelihood import topk_probabilities

COEF = np.random.RandomState(7).normal(size=(3, 5))


def draw(n_samples, seed):
    random = np.random.RandomState(seed)
    X = random.normal(size=(n_samples, 3))
    noise = random.gumbel(size=(n_samples, 5))
    return X, np.argsort(np.argsort(-2 * X @ COEF - noise, axis=1), axis=1) + 1


X, Y = draw(400, 0)
MODEL = PlackettLuceRanker(alpha=0.1).fit(*draw(2000, 1))
RIDGE = LabelwiseRanker(Ridge()).fit(*draw(2000, 1))
each_ranker = pytest.mark.parametrize("ranker", [MODEL, RIDGE], ids=["model", "ridge"])


def frozen(make, ranker, **parameters):
    return make(FrozenEstimator(ranker), calibration_size=1.0, **parameters)


# -- Slow statements.


@pytest.mark.parametrize("k", [1, 2])
@each_ranker
def test_threshold_is_a_quantile(ranker, k):
    sets = frozen(ConformalTopLabels, ranker, k=k, confidence_level=0.85).fit(X, Y)
    if ranker is MODEL:
        confidences = MODEL.predict_topk_proba(X, k)
    else:
        scores = RIDGE.decision_function(X)
        confidences = [[s - sorted(row)[-k] for s in row] for row in scores]
    lowest = sorted(
        min(c for c, position in zip(*row) if position <= k) for row in zip(confidences, Y)
    )
    # 341 = ceil(401 * 0.85) of the 400 samples are covered.
    assert sets.threshold_ == pytest.approx(lowest[400 - 341])
    found = sets.predict_sets(X)
    for row, (predicted, ranks) in enumerate(zip(confidences, ranker.predict(X))):
        for label in range(5):
            expected = predicted[label] >= sets.threshold_ or ranks[label] <= k
            assert found[row, label] == expected
    assert np.mean([found[row, Y[row] <= k].all() for row in range(400)]) >= 341 / 400


@each_ranker
def test_intervals_are_quantiles(ranker):
    intervals = frozen(ConformalRanks, ranker, confidence_level=0.8).fit(X, Y)
    centers, widths = ranker.predict(X).astype(float), np.ones(Y.shape)
    if ranker is MODEL:
        pairs = MODEL.predict_pair_proba(X)
        for row in range(400):
            for l in range(5):
                others = [pairs[row, l, m] for m in range(5) if m != l]
                centers[row, l] = 1 + sum(1 - p for p in others)
                widths[row, l] = np.sqrt(1 + sum(p * (1 - p) for p in others))
    found = intervals.predict_intervals(X)
    for l in range(5):
        # 321 = ceil(401 * 0.8) of the 400 samples.
        quantile = sorted(abs(Y[:, l] - centers[:, l]) / widths[:, l])[320]
        assert intervals.quantiles_[l] == pytest.approx(quantile)
        for row in range(400):
            inside = [
                position
                for position in range(1, 6)
                if abs(position - centers[row, l]) <= quantile * widths[row, l] + 1e-9
            ] or [int(np.rint(centers[row, l]))]
            assert found[row, l].tolist() == [inside[0], inside[-1]]


def test_held_out_samples_are_not_fitted():
    sets = ConformalTopLabels(LabelwiseRanker(Ridge()), calibration_size=0.25, random_state=0)
    fitted = []

    class Recording(LabelwiseRanker):
        def fit(self, X, y):
            fitted.append(X)
            return super().fit(X, y)

    sets.set_params(ranker=Recording(Ridge())).fit(X, Y)
    assert [len(rows) for rows in fitted] == [300]
    rest = np.array([row for row in X if not (fitted[0] == row).all(axis=1).any()])
    assert len(rest) == 100
    again = frozen(ConformalTopLabels, sets.ranker_)
    rows = [np.flatnonzero((X == row).all(axis=1))[0] for row in rest]
    assert again.fit(X[rows], Y[rows]).threshold_ == pytest.approx(sets.threshold_)
    assert_array_equal(sets.predict(X), sets.ranker_.predict(X))


@pytest.mark.parametrize("make", [ConformalTopLabels, ConformalRanks])
def test_pipelines_and_searches(make):
    """The probabilities of the model inside of them are those of the model alone."""
    model = PlackettLuceRanker(alpha=1.0)
    expected = make(model, random_state=0).fit(X, Y)
    search = GridSearchCV(model, {"alpha": [1.0]})
    for ranker in (make_pipeline(model), make_pipeline(FunctionTransformer(), model), search):
        found = make(ranker, random_state=0).fit(X, Y)
        name = "threshold_" if make is ConformalTopLabels else "quantiles_"
        assert_allclose(getattr(found, name), getattr(expected, name))


def stack_of_frozen(model):
    return StackedRanker([("frozen", FrozenEstimator(model))], cv=2, random_state=0)


@pytest.mark.parametrize(
    "make", [partial(frozen, ConformalTopLabels), partial(frozen, ConformalRanks), stack_of_frozen]
)
def test_a_frozen_ranker_of_other_labels(make):
    names = list("abcde")
    model = LabelwiseRanker(Ridge()).fit(X, pd.DataFrame(Y, columns=names))
    wrapper = make(model)
    assert wrapper.fit(X, pd.DataFrame(Y, columns=names)).classes_.tolist() == names
    before = pickle.dumps(wrapper)
    with pytest.raises(ValueError, match="column 'b' at position 0.*has the label 'a'"):
        wrapper.fit(X, pd.DataFrame(Y, columns=list("bacde")))
    for n_labels in (1, 4):
        with pytest.raises(ValueError, match=f"y has {n_labels} labels, and the frozen.* to 5"):
            wrapper.fit(X, Y[:, :n_labels])
    assert pickle.dumps(wrapper) == before


# -- The theorem.


class Scores(BaseEstimator):
    """A ranker whose samples are the scores of the labels."""

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def decision_function(self, X):
        return X


N_SPLITS = 100


def splits(n_samples):
    for split in range(N_SPLITS):
        order = np.random.RandomState(split).permutation(n_samples)
        yield order[: n_samples // 2 - 1], order[n_samples // 2 - 1 :]


each_scorer = pytest.mark.parametrize(
    "ranker", [Scores(), pytest.param(MODEL, marks=pytest.mark.slow)], ids=["scores", "model"]
)


def held_out_data(ranker, seed):
    X, Y = draw(400, seed)
    return (RIDGE.decision_function(X) if isinstance(ranker, Scores) else X), Y


@pytest.mark.parametrize("k", [1, pytest.param(2, marks=pytest.mark.slow)])
@each_scorer
def test_coverage_of_sets(ranker, k):
    """At least the level, and not much more.

    The coverage of a split has a standard error of 0.03, the mean over 100 splits of 0.003.
    """
    X, Y = held_out_data(ranker, 2)
    coverages = []
    for held_out, test in splits(400):
        sets = frozen(ConformalTopLabels, ranker, k=k).fit(X[held_out], Y[held_out])
        coverages.append((sets.predict_sets(X[test]) | (Y[test] > k)).all(axis=1).mean())
    assert abs(np.mean(coverages) - 0.9) < 0.009


@each_scorer
def test_coverage_of_intervals(ranker):
    """Positions are whole numbers, so intervals may cover more than the level."""
    X, Y = held_out_data(ranker, 3)
    coverages = []
    for held_out, test in splits(400):
        intervals = frozen(ConformalRanks, ranker).fit(X[held_out], Y[held_out])
        found = intervals.predict_intervals(X[test])
        inside = (found[:, :, 0] <= Y[test]) & (Y[test] <= found[:, :, 1])
        coverages.append(inside.mean(axis=0))
    assert np.mean(coverages, axis=0).min() > 0.891
    if ranker is MODEL:
        assert np.mean(coverages, axis=0).max() <= 0.91


@pytest.mark.parametrize("k", [1, 2])
def test_sets_are_as_small_as_those_of_an_oracle(k):
    """The oracle knows the probabilities, and the threshold of a large population."""
    X, Y = draw(2000, 4)
    truth = topk_probabilities(2 * X @ COEF, k)
    lowest = np.where(Y <= k, truth, np.inf).min(axis=1)
    oracle = (truth >= np.quantile(lowest, 0.1)).sum(axis=1).mean()
    sets = ConformalTopLabels(PlackettLuceRanker(alpha=1.0), k=k, random_state=0)
    found = sets.fit(*draw(2000, 5)).predict_sets(X)
    assert found.sum(axis=1).mean() <= 1.1 * oracle
    assert len(np.unique(found.sum(axis=1))) >= 3


# -- Incomplete rankings.

SEEN = np.random.RandomState(8).uniform(size=Y.shape) < 0.5
HALF = np.where(SEEN, Y, np.nan)


@each_ranker
def test_incomplete_rankings_are_those_of_fewer_labels(ranker):
    """Rankings of the same three labels have the sets and intervals of a ranker of these."""

    class Part(BaseEstimator):
        def __init__(self, ranker):
            self.ranker = ranker
            if hasattr(ranker, "predict_pair_proba"):
                self.predict_pair_proba = lambda X: ranker.predict_pair_proba(X)[:, 1:4, 1:4]
                self.predict_topk_proba = None

        def fit(self, X, y):
            return self

        def __sklearn_is_fitted__(self):
            return True

        def decision_function(self, X):
            return self.ranker.decision_function(X)[:, 1:4]

    seen = np.isin(np.arange(5), [1, 2, 3])
    part, partial = Part(ranker), np.where(seen, Y, np.nan)
    with pytest.warns(UserWarning, match="there are 0"):  # of the other two labels
        intervals = frozen(ConformalRanks, ranker).fit(X, partial)
    expected = frozen(ConformalRanks, part).fit(X, Y[:, 1:4])
    found = intervals.predict_intervals(X, seen)
    assert_array_equal(found[:, 1:4], expected.predict_intervals(X))
    assert not found[:, [0, 4]].any()
    for k in (1, 2, 3, 4):
        sets = frozen(ConformalTopLabels, ranker, k=k).fit(X, partial)
        if k < 4:
            expected = frozen(ConformalTopLabels, part, k=k).fit(X, Y[:, 1:4])
            assert_array_equal(sets.predict_sets(X, seen)[:, 1:4], expected.predict_sets(X))
        assert not sets.predict_sets(X, seen)[:, [0, 4]].any()
    assert sets.predict_sets(X, seen)[:, 1:4].all()


@pytest.mark.parametrize("make", [ConformalTopLabels, ConformalRanks])
def test_a_mask_of_each_sample(make):
    wrapper = frozen(make, MODEL).fit(X, HALF)
    predict = wrapper.predict_sets if make is ConformalTopLabels else wrapper.predict_intervals
    found = predict(X, SEEN)
    for row in range(20):
        assert_array_equal(found[row], predict(X[row : row + 1], SEEN[row])[0])
    assert not predict(X[:1], np.zeros(5, dtype=bool)).any()


def test_rows_without_a_ranked_label_are_left_out():
    rows, all_ = np.where(np.arange(400)[:, np.newaxis] < 200, Y, np.nan), np.ones(5, dtype=bool)
    for k in (1, 2):
        found = frozen(ConformalTopLabels, MODEL, k=k).fit(X, rows).predict_sets(X, all_)
        expected = frozen(ConformalTopLabels, MODEL, k=k).fit(X[:200], Y[:200])
        assert_array_equal(found, expected.predict_sets(X))


def test_labels_are_inserted_by_the_probabilities_of_the_model():
    """Given the order of the ranked labels, which is kept; ties are kept, too."""
    scores = np.array([0.5, -0.3, 0.1, -0.8])
    for given in ([1.0, np.nan, 2.0, np.nan], [2.0, np.nan, 1.0, 2.0]):
        given = np.array(given)
        wrapper = ConformalRanks(FrozenEstimator(MODEL))
        wrapper.ranker_ = Scores()
        wrapper.ranker_.predict_topk_proba = None
        samples = np.tile(scores, (20000, 1))
        complete = wrapper._complete(samples, np.tile(given, (20000, 1)), 0)
        assert not np.isnan(complete).any()
        assert_array_equal(close_ranks(np.where(np.isnan(given), np.nan, complete))[0], given)
        chances = {}
        for ordering in permutations(range(4)):
            place = np.argsort(ordering)
            weights = np.exp(scores[list(ordering)])
            chance = np.prod(weights / np.cumsum(weights[::-1])[::-1])
            if given[3] != 2.0 and place[0] < place[2]:
                chances[tuple(place + 1.0)] = chance
        for ranks, chance in chances.items():
            found = (complete == ranks).all(axis=1).mean()
            assert found == pytest.approx(chance / sum(chances.values()), abs=0.02)
        assert_array_equal(complete[:, 0] == complete[:, 3], np.full(20000, given[3] == 2.0))


@pytest.mark.slow
@pytest.mark.parametrize("ranker", [MODEL, RIDGE], ids=["model", "ridge"])
def test_coverage_with_half_of_the_labels_missing(ranker):
    """Within a point of the level; whole positions may cover more.

    The means over 100 splits have standard errors of 0.0024.
    """
    X, Y = draw(600, 3)
    seen = np.random.RandomState(4).uniform(size=Y.shape) < 0.5
    observed = np.where(seen, Y, np.nan)
    ranks = close_ranks(observed)
    covered = {"sets": [], "intervals": [], "all sets": [], "all intervals": []}

    def add(name, inside, where):
        covered[name].append(inside[where].mean())

    for held_out, test in splits(600):
        intervals = frozen(ConformalRanks, ranker).fit(X[held_out], observed[held_out])
        sets = frozen(ConformalTopLabels, ranker).fit(X[held_out], observed[held_out])
        for name, mask, truth in (("", seen[test], ranks[test]), ("all ", None, Y[test])):
            found = intervals.predict_intervals(X[test], mask)
            ranked = ~np.isnan(truth)
            add(name + "intervals", (found[..., 0] <= truth) & (truth <= found[..., 1]), ranked)
            found = sets.predict_sets(X[test], mask) | (truth != 1)
            add(name + "sets", found.all(axis=1), ranked.any(axis=1))
    found = {name: round(float(np.mean(values)), 4) for name, values in covered.items()}
    assert abs(found["sets"] - 0.9) < 0.01
    assert 0.893 <= found["intervals"]
    if ranker is MODEL:  # The probabilities are true, and its intervals have no whole lengths.
        for name, coverage in found.items():
            assert 0.89 <= coverage <= 0.91, name


# -- In typical use.


def test_too_few_held_out_samples():
    message = r"confidence_level=0.95 needs at least 19 held-out .* there are 18.*at most 18/19"
    with pytest.warns(UserWarning, match=message):
        sets = frozen(ConformalTopLabels, MODEL, confidence_level=0.95).fit(X[:18], Y[:18])
    assert sets.threshold_ == -np.inf
    assert sets.predict_sets(X).all()
    with pytest.warns(UserWarning, match=message):
        intervals = frozen(ConformalRanks, MODEL, confidence_level=0.95).fit(X[:18], Y[:18])
    assert_array_equal(intervals.predict_intervals(X[:1])[0], [[1, 5]] * 5)
    exactly = frozen(ConformalTopLabels, MODEL, confidence_level=0.95).fit(X[:19], Y[:19])
    assert np.isfinite(exactly.threshold_)


def test_stacked_rankers_have_probabilities():
    ranker = StackedRanker([("ridge", LabelwiseRanker(Ridge()))]).fit(X, Y)
    sets = frozen(ConformalTopLabels, ranker).fit(X, Y)
    scores = ranker.pair_scale_ * ranker.decision_function(X)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    lowest = np.sort(expected[np.arange(400), Y.argmin(axis=1)])
    assert sets.threshold_ == pytest.approx(lowest[400 - 361])


def test_tied_best_labels_are_all_covered():
    tied = np.maximum(Y, 2)
    sets = frozen(ConformalTopLabels, MODEL).fit(X, tied)
    assert (sets.predict_sets(X) | (tied > 2)).all(axis=1).mean() >= 0.9


def test_later_parameters_do_not_change_a_fitted_model():
    sets = frozen(ConformalTopLabels, MODEL, k=2).fit(X, Y)
    expected = sets.predict_sets(X)
    assert_array_equal(sets.set_params(k=4, confidence_level=0.1).predict_sets(X), expected)


@pytest.mark.parametrize("make", [ConformalTopLabels, ConformalRanks])
def test_bad_arguments(make):
    wrapper = frozen(make, MODEL).fit(X, Y)
    expected = wrapper.decision_function(X)
    predict = wrapper.predict_sets if make is ConformalTopLabels else wrapper.predict_intervals
    assert_array_equal(predict(X, [0, 3]), predict(X, np.array([True, False, False, True, False])))
    for wrong in (np.ones(5), [7], np.ones(4, dtype=bool), np.ones((5, 1), dtype=bool)):
        with pytest.raises(ValueError, match="available must"):
            predict(X, wrong)
    with pytest.raises(ValueError, match="confidence_level"):
        clone(wrapper).set_params(confidence_level=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="calibration_size=0.5 cannot split 1 samples"):
        clone(wrapper).set_params(calibration_size=0.5).fit(X[:1], Y[:1])
    assert_allclose(wrapper.decision_function(X), expected)
    if make is ConformalTopLabels:
        with pytest.raises(ValueError, match="k must be.*the number of labels, 5; got 6"):
            clone(wrapper).set_params(k=6).fit(X, Y)

"""LabelwiseRanker and PairwiseRanker: against slow statements, and in typical use."""

import pickle
from copy import deepcopy
from functools import partial
from itertools import combinations, permutations

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    RidgeCV,
    SGDRegressor,
)
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.parallel import _get_threadpool_controller

from sklrank.datasets import hide_labels, make_sparse_label_ranking
from sklrank.label_ranking import (
    CalibratedLabelRanker,
    ConformalRanks,
    ConformalTopLabels,
    LabelwiseRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    StackedRanker,
    positions_from_scores,
)
from sklrank.label_ranking._labelwise import fill_positions

pytestmark = pytest.mark.usefixtures("few_trees")

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(120, 4))
UTILITY = X @ RANDOM.normal(size=(4, 5)) + 0.3 * RANDOM.normal(size=(120, 5))
Y = np.argsort(np.argsort(-UTILITY, axis=1), axis=1) + 1
INCOMPLETE = np.where(RANDOM.uniform(size=Y.shape) < 0.3, np.nan, Y)
TIED = np.ceil(Y / 2)
RANKERS = {
    "labelwise": LabelwiseRanker(DecisionTreeRegressor(max_depth=4, random_state=0)),
    "labelwise, jointly": LabelwiseRanker(
        DecisionTreeRegressor(max_depth=4, random_state=0), multi_output=True
    ),
    "labelwise, ridge": LabelwiseRanker(Ridge()),
    "labelwise, relative": LabelwiseRanker(Ridge(), incomplete="relative"),
    "labelwise, default": LabelwiseRanker(random_state=0),
    "pairwise": PairwiseRanker(LogisticRegression()),
    "pairwise, jointly": PairwiseRanker(
        DecisionTreeClassifier(max_depth=4, random_state=0), multi_output=True
    ),
    "pairwise, soft": PairwiseRanker(GaussianNB(), voting="soft"),
    "pairwise, forests": PairwiseRanker(RandomForestClassifier(4, random_state=0)),
}


# The default estimator grows three forests for each label to choose the size of their leaves.
LONG = {"labelwise, default": pytest.mark.slow}


@pytest.fixture(params=[pytest.param(name, marks=LONG.get(name, ())) for name in RANKERS])
def ranker(request):
    return clone(RANKERS[request.param])


def tau(a, b):
    """Return the share of concordant minus that of discordant pairs, without ties."""
    pairs = list(combinations(range(len(a)), 2))
    return sum(np.sign((a[i] - a[j]) * (b[i] - b[j])) for i, j in pairs) / len(pairs)


# -- Against slow statements.


def test_labelwise_is_one_regression_on_each_position():
    ranker = LabelwiseRanker(LinearRegression()).fit(X, Y)
    scores = np.column_stack([LinearRegression().fit(X, Y[:, l] / 5).predict(X) for l in range(5)])
    assert_allclose(ranker.decision_function(X), -scores, atol=1e-12)
    orders = [sorted(range(5), key=list(row).__getitem__) for row in scores]
    expected = [[order.index(l) + 1 for l in range(5)] for order in orders]
    assert_array_equal(ranker.predict(X), expected)
    assert len(ranker.estimators_) == 5
    for multi_output in (True, "auto"):
        jointly = clone(ranker).set_params(multi_output=multi_output).fit(X, Y)
        assert len(jointly.estimators_) == 1
        assert_array_equal(jointly.predict(X), expected)


def test_labelwise_is_one_tree_for_each_label():
    """Unlike a joint tree, which splits for all labels at once."""
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    scores = LabelwiseRanker(tree).fit(X, Y).decision_function(X)
    expected = [clone(tree).fit(X, Y[:, l] / 5).predict(X) for l in range(5)]
    assert_array_equal(scores, -np.column_stack(expected))
    jointly = LabelwiseRanker(tree, multi_output=True).fit(X, Y).decision_function(X)
    assert_array_equal(jointly, -clone(tree).fit(X, Y / 5).predict(X))
    assert not np.allclose(jointly, scores)


def test_only_the_order_of_the_positions_counts():
    """Tied labels share the mean of their positions."""
    ranker = LabelwiseRanker(LinearRegression())
    expected = ranker.fit(X, Y).decision_function(X)
    assert_allclose(clone(ranker).fit(X, Y**3 + 7).decision_function(X), expected)
    shared = np.array([[1.5, 1.5, 3.5, 3.5, 5.0]])[0][Y - 1]
    tied = clone(ranker).fit(X, TIED).decision_function(X)
    assert_allclose(tied, -LinearRegression().fit(X, shared / 5).predict(X), atol=1e-12)


def test_labelwise_learns_relative_positions_of_incomplete_rankings():
    """The mean position in the complete rankings that agree with the order of the ranked labels."""
    complete = [*permutations(range(1, 6))]
    ranker = LabelwiseRanker(Ridge(), incomplete="relative").fit(X, INCOMPLETE)
    for label in range(5):
        chosen = [i for i in range(len(X)) if not np.isnan(INCOMPLETE[i, label])]
        target = []
        for i in chosen:
            given = np.flatnonzero(~np.isnan(INCOMPLETE[i]))
            order = given[np.argsort(INCOMPLETE[i, given])]
            agree = [ranks for ranks in complete if (np.diff(np.array(ranks)[order]) > 0).all()]
            target.append(np.mean([ranks[label] for ranks in agree]) / 5)
        expected = Ridge().fit(X[chosen], target).predict(X)
        assert_allclose(ranker.decision_function(X)[:, label], -expected, atol=1e-12)


@pytest.mark.parametrize("estimator", [Ridge(), RidgeCV(), KNeighborsRegressor()])
def test_label_ranked_by_a_single_sample_keeps_its_position(estimator):
    few = Y.astype(float)
    few[1:, 2] = np.nan
    scores = LabelwiseRanker(estimator, incomplete="relative").fit(X, few).decision_function(X)
    assert_allclose(scores[:, 2], np.full(120, -Y[0, 2] / 5))


@pytest.mark.parametrize("multi_output", [False, True])
def test_out_of_bag_scores(multi_output):
    """The scores of a sample are those of the trees whose bootstrap samples lack it."""
    forest = RandomForestRegressor(20, random_state=0)
    ranker = LabelwiseRanker(forest, oob_score=True, multi_output=multi_output).fit(X, Y)
    for number, model in enumerate(ranker.estimators_):
        for row in range(3):
            trees = [
                tree.predict(X[row : row + 1])[0]
                for tree, samples in zip(model.estimators_, model.estimators_samples_)
                if row not in samples
            ]
            columns = slice(None) if multi_output else number
            expected = -np.mean(trees, axis=0)
            assert_allclose(ranker.oob_decision_function_[row, columns], expected)
    ranker.set_params(oob_score=False).fit(X, Y)
    assert not hasattr(ranker, "oob_decision_function_")
    with pytest.raises(ValueError, match="oob_score=True needs an estimator with out-of-bag"):
        LabelwiseRanker(Ridge(), oob_score=True).fit(X, Y)


def test_out_of_bag_scores_of_incomplete_rankings():
    """The forest of a label predicts the samples that do not rank it."""
    forest = RandomForestRegressor(20, random_state=0)
    ranker = LabelwiseRanker(forest, oob_score=True, incomplete="relative").fit(X, INCOMPLETE)
    scores = ranker.decision_function(X)
    for label, model in enumerate(ranker.estimators_):
        missing = np.isnan(INCOMPLETE[:, label])
        found = ranker.oob_decision_function_[:, label]
        assert_allclose(found[missing], scores[missing, label])
        assert_allclose(found[~missing], -model.oob_prediction_)


def test_labelwise_learns_revealed_positions_of_incomplete_rankings():
    """Definition 8: the positions of the ranked labels are those among all labels."""
    revealed = hide_labels(Y, 0.6, keep_positions=True, random_state=0)
    ranker = LabelwiseRanker(Ridge(), incomplete="absolute").fit(X, revealed)
    for label in range(5):
        known = ~np.isnan(revealed[:, label])
        expected = Ridge().fit(X[known], Y[known, label] / 5).predict(X)
        assert_allclose(ranker.decision_function(X)[:, label], -expected, atol=1e-12)
    with pytest.raises(ValueError, match="positions from 1 to 5.*relative"):
        LabelwiseRanker(Ridge(), incomplete="absolute").fit(X, revealed + 1)


def filled_by(scores, revealed):
    """Give the positions that are left to the labels that are not ranked, the best one first."""
    filled = revealed.copy()
    for row, of_labels in zip(filled, scores):
        missing = np.flatnonzero(np.isnan(row)).tolist()
        left = sorted(set(range(1, 6)) - set(row))
        for label in sorted(missing, key=lambda label: -of_labels[label]):
            row[label] = left.pop(0)
    return filled


def test_labelwise_learns_coarse_labels():
    """Positions that are not given are latent: four fits to the order of the models before."""
    revealed = hide_labels(Y, 0.6, keep_positions=True, random_state=0)
    ranker = LabelwiseRanker(Ridge(), incomplete="coarse").fit(X, revealed)
    slow = LabelwiseRanker(Ridge(), incomplete="absolute").fit(X, revealed)
    for _ in range(4):
        filled = filled_by(slow.decision_function(X), revealed)
        slow = LabelwiseRanker(Ridge()).fit(X, filled)
    assert_allclose(ranker.decision_function(X), slow.decision_function(X), rtol=1e-12)
    sgd = LabelwiseRanker(SGDRegressor(random_state=0), incomplete="coarse")
    sgd.partial_fit(X, Y)
    slow = deepcopy(sgd).partial_fit(X, filled_by(sgd.decision_function(X), revealed))
    assert_allclose(sgd.partial_fit(X, revealed).decision_function(X), slow.decision_function(X))


def test_ties_take_the_nearest_positions():
    positions = np.array([[1.5, np.nan, 1.5, np.nan], [np.nan, 2.0, np.nan, np.nan]])
    filled = fill_positions(positions, np.array([[0, 1, 0, 2], [1, 0, 1, 2]]))
    assert_array_equal(filled, [[1.5, 4, 1.5, 3], [3, 2, 4, 1]])


def test_revealed_positions_tell_more_than_the_order():
    X, Y = make_sparse_label_ranking(600, 20, 6, n_informative=4, random_state=0)
    revealed = hide_labels(Y[:500], 0.5, keep_positions=True, random_state=0)
    forest = RandomForestRegressor(random_state=0)
    relative, absolute = (
        LabelwiseRanker(forest, incomplete=rule).fit(X[:500], revealed).score(X[500:], Y[500:])
        for rule in ("relative", "absolute")
    )
    assert absolute > relative + 0.03


def test_random_ties_of_copeland():
    """Printed rule: tied labels are in each order equally often; other labels are as before."""
    votes = [[1, 2, 3], [2, 3, 1], [3, 1, 2]]  # A cycle: each label beats one other.
    cycles = np.array([[*row, 4] for row in votes] * 7)
    orders = []
    for seed in range(40):
        ranker = PairwiseRanker(DummyClassifier(), voting="copeland-random", random_state=seed)
        ranker.fit(np.zeros((21, 1)), cycles)
        found = ranker.predict(np.zeros((2, 1)))
        assert_array_equal(found[0], found[1])
        assert found[0, 3] == 4
        orders.append(tuple(found[0, :3]))
    counts = [orders.count(order) for order in permutations((1, 2, 3))]
    assert sum(counts) == 40 and min(counts) >= 2
    soft = PairwiseRanker(DummyClassifier(), random_state=0).fit(np.zeros((21, 1)), cycles)
    assert_array_equal(soft.predict(np.zeros((1, 1))), [[1, 2, 3, 4]])


@pytest.mark.parametrize("Y", [Y, INCOMPLETE, TIED], ids=["complete", "incomplete", "tied"])
@pytest.mark.parametrize("voting", ["copeland", "soft"])
def test_pairs_vote(Y, voting):
    """A classifier for each pair, from the samples that order it; soft votes break ties."""
    ranker = PairwiseRanker(LogisticRegression(), voting=voting).fit(X, Y)
    wins, soft = np.zeros((len(X), 5)), np.zeros((len(X), 5))
    for a, b in combinations(range(5), 2):
        chosen = [i for i in range(len(X)) if Y[i, a] < Y[i, b] or Y[i, a] > Y[i, b]]
        model = LogisticRegression().fit(X[chosen], Y[chosen, a] < Y[chosen, b])
        p = model.predict_proba(X)[:, 1]
        soft[:, a] += p
        soft[:, b] += 1 - p
        wins[np.arange(len(X)), np.where(p > 0.5, a, b)] += 1
    for row, ranks in enumerate(ranker.predict(X)):
        keys = list(-soft[row]) if voting == "soft" else list(zip(-wins[row], -soft[row]))
        order = sorted(range(5), key=keys.__getitem__)
        assert [order.index(l) + 1 for l in range(5)] == ranks.tolist()


def test_one_model_of_all_pairs():
    """By `multi_output`; "auto" has one for each pair of incomplete or tied rankings."""
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    jointly = PairwiseRanker(tree, multi_output=True).fit(X, Y)
    assert len(jointly.estimators_) == 1
    pairs = list(combinations(range(5), 2))
    assert_array_equal(jointly.pairs_, pairs)
    indicators = np.column_stack([Y[:, a] < Y[:, b] for a, b in pairs])
    chances = [p[:, 1] for p in clone(tree).fit(X, indicators).predict_proba(X)]
    assert_allclose(jointly._pair_probabilities(X), np.column_stack(chances))
    where_possible = PairwiseRanker(tree, multi_output="auto")
    assert len(clone(where_possible).fit(X, Y).estimators_) == 1
    for incomplete in (INCOMPLETE, TIED):
        assert len(clone(where_possible).fit(X, incomplete).estimators_) == 10
    assert len(PairwiseRanker(tree).fit(X, Y).estimators_) == 10


def test_pairs_that_are_never_compared_or_always_ordered_alike():
    """Half a vote for each label, or the vote of the only outcome; without a model."""
    Y = np.array([[1, 2, np.nan, 4]] * 60 + [[2, 1, np.nan, 4]] * 60)
    ranker = PairwiseRanker(LogisticRegression()).fit(X, Y)
    assert ranker.frequencies_.tolist() == [0.5, 0.5, 1.0, 0.5, 1.0, 0.5]
    assert [model is None for model in ranker.estimators_] == [False] + [True] * 5
    ranks = ranker.predict(X)
    # First one of labels 0 and 1, then the other, or label 2, which has three half votes.
    assert set(ranks[:, 3]) == {4}
    assert_array_equal(np.sort(ranks, axis=1), np.tile([1, 2, 3, 4], (120, 1)))
    nothing = PairwiseRanker(LogisticRegression()).fit(X, np.tile([3, 1, 2], (120, 1)))
    assert_array_equal(nothing.predict(X), np.tile([3, 1, 2], (120, 1)))


class OnlyPredicts(ClassifierMixin, BaseEstimator):
    """A classifier without `predict_proba` and `decision_function`."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.mean_ = X[y == self.classes_[-1]].mean(axis=0) - X[y == self.classes_[0]].mean(axis=0)
        return self

    def predict(self, X):
        return self.classes_[(X @ self.mean_ > 0).astype(int)]


@pytest.mark.parametrize("multi_output", [False, True])
def test_pair_probabilities_are_those_of_the_classifiers(multi_output):
    """Label 0 always comes first."""
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    rankings = np.column_stack([np.ones(len(Y)), Y + 1.0])
    ranker = PairwiseRanker(tree, multi_output=multi_output).fit(X, rankings)
    before = ranker.predict_pair_proba(X[:5])
    n_labels = rankings.shape[1]
    for a in range(n_labels):
        assert_array_equal(before[:, a, a], 0.5)
        assert_array_equal(before[:, 0, a], 0.5 if a == 0 else 1.0)
        for b in range(1, a):
            if not multi_output:
                wins = rankings[:, b] < rankings[:, a]
                chances = clone(tree).fit(X, wins).predict_proba(X[:5])[:, 1]
                assert_allclose(before[:, b, a], chances)
            assert_allclose(before[:, b, a] + before[:, a, b], 1.0)
    soft = clone(ranker).set_params(voting="soft").fit(X, rankings).decision_function(X[:5])
    assert_allclose(before.sum(axis=2) - 0.5, soft)


@pytest.mark.parametrize("weak", [LinearSVC(), Perceptron(), OnlyPredicts(), DummyClassifier()])
def test_any_classifier(weak):
    ranker = PairwiseRanker(weak).fit(X, Y)
    assert_array_equal(np.sort(ranker.predict(X), axis=1), np.tile(np.arange(1, 6), (120, 1)))
    assert np.isfinite(ranker.decision_function(X)).all()


def test_one_model_of_all_pairs_without_probabilities():
    """Margins become soft votes; the targets are numbers, which ridge classifiers need."""
    jointly = PairwiseRanker(RidgeClassifier(), multi_output=True).fit(X, Y)
    separate = PairwiseRanker(RidgeClassifier()).fit(X, Y)
    assert len(jointly.estimators_) == 1
    assert jointly.score(X, Y) == pytest.approx(separate.score(X, Y), abs=0.02)
    chances = jointly._pair_probabilities(X)
    assert 0 < chances.min() < 0.4 and len(np.unique(chances)) > 100


def test_equal_soft_votes_go_to_the_smaller_label():
    """Despite rounding errors of the sums."""
    for n_labels in (3, 5, 7):
        shifts = np.array([np.roll(np.arange(n_labels), i) for i in range(n_labels)]) + 1
        ranker = PairwiseRanker(DummyClassifier(), voting="soft").fit(X[:n_labels], shifts)
        assert_array_equal(ranker.predict(X[:1]), [np.arange(1, n_labels + 1)])


def test_half_of_the_labels_missing():
    """Better than labelwise regression on the few complete rankings."""
    random = np.random.RandomState(1)
    holes = np.where(random.uniform(size=Y.shape) < 0.5, np.nan, Y)
    complete = ~np.isnan(holes).any(axis=1)
    utility = X @ np.linalg.lstsq(X, UTILITY, rcond=None)[0]
    truth = np.argsort(np.argsort(-utility, axis=1), axis=1) + 1
    pairwise = PairwiseRanker(LogisticRegression()).fit(X, holes).score(X, truth)
    few = LabelwiseRanker(Ridge()).fit(X[complete], holes[complete]).score(X, truth)
    assert pairwise > 0.8 > few


# -- In typical use.


def test_learns(ranker):
    """Far better than chance on held-out samples; the score is the mean tau."""
    ranker.fit(X[:80], Y[:80])
    ranks = ranker.predict(X[80:])
    assert_array_equal(np.sort(ranks, axis=1), np.tile(np.arange(1, 6), (40, 1)))
    expected = np.mean([tau(a, b) for a, b in zip(Y[80:], ranks)])
    assert ranker.score(X[80:], Y[80:]) == pytest.approx(expected)
    assert expected > 0.3
    weight = np.arange(40.0)
    weighted = np.average([tau(a, b) for a, b in zip(Y[80:], ranks)], weights=weight)
    assert ranker.score(X[80:], Y[80:], sample_weight=weight) == pytest.approx(weighted)


def test_rankings_agree_with_the_scores(ranker):
    ranker.fit(X, Y)
    scores, ranks = ranker.decision_function(X), ranker.predict(X)
    assert_array_equal(ranker.predict_ranks(X), ranks)
    top = ranker.predict_topk(X, 2)
    for row in range(len(X)):
        order = sorted(range(5), key=lambda l: (-scores[row, l], l))
        assert order[:2] == top[row].tolist()
        assert [order.index(l) + 1 for l in range(5)] == ranks[row].tolist()


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
def test_samples_are_independent_and_models_reproducible(ranker):
    first, second = clone(ranker).fit(X, Y), clone(ranker).fit(X, Y)
    scores = first.decision_function(X)
    assert_array_equal(scores, second.decision_function(X))
    assert_allclose(first.decision_function(X[5:6])[0], scores[5], atol=1e-12)
    assert_array_equal(pickle.loads(pickle.dumps(first)).decision_function(X), scores)
    with joblib.parallel_config("threading"):  # it takes seconds to start processes
        parallel = clone(ranker).set_params(n_jobs=2).fit(X, Y)
        assert_array_equal(parallel.decision_function(X), scores)


@pytest.mark.parametrize("make", [LabelwiseRanker, PairwiseRanker])
def test_fits_advance_a_generator(make):
    """Each fit draws the seed of its default estimator."""
    generator, same = np.random.RandomState(5), np.random.RandomState(5)
    ranker = make(random_state=generator)
    first, second = (ranker.fit(X[:40], Y[:40, :3]).decision_function(X) for _ in range(2))
    assert not np.array_equal(first, second)
    for expected in (first, second):
        seed = same.randint(np.iinfo(np.int32).max)
        ranker = make(random_state=seed).fit(X[:40], Y[:40, :3])
        assert_array_equal(ranker.decision_function(X), expected)


def blas_threads():
    """Return the numbers of threads of the BLAS libraries."""
    libraries = _get_threadpool_controller().select(user_api="blas").info()
    return [library["num_threads"] for library in libraries]


class RecordsThreads(Ridge):
    """Records the BLAS threads of each fit."""

    def fit(self, X, y):
        self.threads_ = blas_threads()
        return super().fit(X, y)


@pytest.mark.skipif(not blas_threads(), reason="threadpoolctl does not know this BLAS library")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_many_small_fits_use_one_blas_thread(n_jobs):
    """In this thread and in others; a single model of all labels uses all BLAS threads."""
    ranker = LabelwiseRanker(RecordsThreads(), n_jobs=n_jobs)
    with _get_threadpool_controller().limit(limits=2, user_api="blas"):
        with joblib.parallel_config("threading"):
            ranker.fit(X, Y)
            stacked = StackedRanker([("one", ranker), ("two", ranker)]).fit(X, Y)
        jointly = clone(ranker).set_params(multi_output=True).fit(X, Y)
        assert set(blas_threads()) == {2}
    models = [*ranker.estimators_, *(m for one in stacked.estimators_ for m in one.estimators_)]
    assert {n for model in models for n in model.threads_} == {1}
    assert set(jointly.estimators_[0].threads_) == {2}


@pytest.mark.parametrize("name", ["labelwise, ridge", "pairwise"])
def test_labels_can_be_permuted(name):
    """Permuted columns of y permute the predicted ranks."""
    order = np.array([3, 0, 4, 2, 1])
    ranks = clone(RANKERS[name]).fit(X, Y).predict(X)
    assert_array_equal(clone(RANKERS[name]).fit(X, Y[:, order]).predict(X), ranks[:, order])


def test_sparse_samples_where_the_estimator_accepts_them():
    some = sparse.csr_array(np.where(X > 0.5, X, 0.0))
    for ranker in (LabelwiseRanker(Ridge()), PairwiseRanker(LogisticRegression())):
        dense = clone(ranker).fit(some.toarray(), INCOMPLETE if "Pair" in str(ranker) else Y)
        ranker.fit(some, INCOMPLETE if "Pair" in str(ranker) else Y)
        assert (ranker.predict(some) == dense.predict(some.toarray())).mean() > 0.99
    with pytest.raises(TypeError, match="[Ss]parse"):
        PairwiseRanker(GaussianNB()).fit(some, Y)


@pytest.mark.parametrize("make", [LabelwiseRanker, PairwiseRanker])
def test_sparse_samples_with_wide_indices(make, wide_csr):
    narrow = make(random_state=0).fit(sparse.csr_array(X[:30]), Y[:30, :3])
    ranks = narrow.predict(sparse.csr_array(X))
    wide = make(random_state=0).fit(wide_csr(X[:30]), Y[:30, :3])
    assert_array_equal(wide.predict(wide_csr(X)), ranks)
    assert_array_equal(wide.predict(wide_csr(X).tocsc()), ranks)


def test_missing_values_where_the_estimator_accepts_them():
    holes = np.where(X > 1.5, np.nan, X)
    forest = RandomForestClassifier(10, random_state=0)
    assert PairwiseRanker(forest).fit(holes, Y).predict(holes).shape == Y.shape
    with pytest.raises(ValueError, match="NaN"):
        PairwiseRanker(LogisticRegression()).fit(holes, Y)


def test_a_fitted_ranker_ignores_later_parameters():
    """It accepts what the estimators that it has fitted accept."""
    holes = np.where(X > 1.5, np.nan, X)
    ranker = PairwiseRanker(RandomForestClassifier(10, random_state=0)).fit(holes, Y)
    expected = ranker.predict(holes)
    assert_array_equal(ranker.set_params(estimator=GaussianNB()).predict(holes), expected)
    some = sparse.csr_array(np.where(X > 0.5, X, 0.0))
    ranker = LabelwiseRanker(Ridge()).fit(some, Y)
    expected = ranker.predict(some)
    ranker.set_params(estimator=HistGradientBoostingRegressor())
    assert_array_equal(ranker.predict(some), expected)
    with pytest.raises(TypeError, match="[Ss]parse"):
        ranker.fit(some, Y)
    assert_array_equal(ranker.predict(some), expected)


@pytest.mark.parametrize(
    "ranker",
    [
        LabelwiseRanker(Ridge()),
        PairwiseRanker(LogisticRegression()),
        PlackettLuceRanker(kernel="rbf"),
        *(
            pytest.param(ranker, marks=pytest.mark.slow)
            for ranker in (*RANKERS.values(), StackedRanker(cv=2))
        ),
    ],
    ids=repr,
)
def test_metadata_routing_changes_nothing(ranker, routing):
    ranker = clone(ranker).set_params(**dict.fromkeys({"random_state"} & {*ranker.get_params()}, 0))
    with config_context(enable_metadata_routing=False):
        expected = clone(ranker).fit(X[:40], Y[:40]).decision_function(X)
    assert_array_equal(clone(ranker).fit(X[:40], Y[:40]).decision_function(X), expected)


def test_in_scikit_learn():
    """Pipelines, searches by tau, cross-validation, data frames with names."""
    pipeline = make_pipeline(StandardScaler(), LabelwiseRanker(Ridge()))
    grid = {"labelwiseranker__estimator__alpha": [1e-3, 1e3]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, Y)
    assert search.best_params_["labelwiseranker__estimator__alpha"] == 1e-3
    assert cross_val_score(PairwiseRanker(LogisticRegression()), X, INCOMPLETE, cv=3).min() > 0.5
    frame = pd.DataFrame(X, columns=list("abcd"))
    ranker = LabelwiseRanker(Ridge()).fit(frame, pd.DataFrame(Y))
    assert ranker.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(frame[["b", "a", "c", "d"]])


FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > 0, "up", "down"))
BY_NAME = make_column_transformer((OneHotEncoder(), ["kind"]), ("passthrough", ["b", "a", "c"]))
AS_CHOSEN = BY_NAME.fit_transform(FRAME)


@pytest.mark.parametrize(
    ("make", "estimator"),
    [
        (LabelwiseRanker, Ridge()),
        (partial(LabelwiseRanker, incomplete="relative"), Ridge()),
        (PairwiseRanker, LogisticRegression()),
    ],
)
def test_estimators_select_columns_of_a_data_frame_by_name(make, estimator):
    """Strings too: only the estimators check the values."""
    y = Y[:, :3] if make is LabelwiseRanker else INCOMPLETE[:, :3]
    expected = make(estimator).fit(AS_CHOSEN, y).decision_function(AS_CHOSEN)
    ranker = make(make_pipeline(BY_NAME, estimator)).fit(FRAME, y)
    assert_allclose(ranker.decision_function(FRAME), expected)
    assert ranker.feature_names_in_.tolist() == [*"abcd", "kind"]
    assert ranker.n_features_in_ == 5
    for model in ranker.estimators_:
        assert model.feature_names_in_.tolist() == [*"abcd", "kind"]
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(FRAME[["kind", *"abcd"]])
    with pytest.raises(ValueError, match="could not convert"):
        make(estimator).fit(FRAME, y)
    assert cross_val_score(ranker, FRAME, y, cv=2).min() > 0.3


@pytest.mark.parametrize("make", [LabelwiseRanker, PairwiseRanker])
def test_a_data_frame_equals_its_array_for_the_default_estimator(make):
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abcd"))
    few = Y[:, :3]
    expected = make(random_state=0).fit(X.astype(np.float32), few).decision_function(X / 2)
    ranker = make(random_state=0).fit(frame, few)
    assert_array_equal(ranker.decision_function(frame / 2), expected)
    infinite = frame.replace(frame.iloc[3, 2], np.inf)
    for bad, message in (frame[:50], "y has 120 rows and X has 50"), (infinite, "infinity"):
        with pytest.raises(ValueError, match=message):
            make().fit(bad, Y)
    for bad in infinite, frame[:0]:
        with pytest.raises(ValueError, match="infinity|0 sample"):
            ranker.predict(bad)


def test_one_label():
    """A single label has rank 1."""
    for ranker in (LabelwiseRanker(Ridge()), PairwiseRanker(LogisticRegression())):
        assert_array_equal(ranker.fit(X, Y[:, :1]).predict(X), np.ones((120, 1)))


@pytest.mark.parametrize("make", [LabelwiseRanker, PairwiseRanker])
@pytest.mark.parametrize(
    "y, message",
    [
        (None, "requires y to be passed"),
        (Y[:, 0], "Reshape y"),
        (Y[:50], "y has 50 rows and X has 120"),
        (np.where(Y == 1, np.inf, Y), "y must be finite, or NaN for a label that is not ranked"),
        (Y * np.nan, "ranks no label"),
        (Y[:, :0], "y must be an array of positions, one per label.*0 feature"),
        (Y[np.newaxis], r"y must hold positions of shape.*got \(1, 120, 5\)"),
        (np.full(Y.shape, "first"), "y must be an array of positions.*first"),
        ([[1, 2], [1]] * 60, "y must be an array of positions.*shape"),
        (sparse.csr_array(Y), r"y must be an array of positions.*toarray\(\)"),
        (Y.astype(str), None),
    ],
)
def test_bad_rankings(make, y, message):
    ranker = make(DecisionTreeRegressor() if make is LabelwiseRanker else GaussianNB()).fit(X, Y)
    before = pickle.dumps(ranker)
    if message is None:
        ranker.fit(X, y)  # strings of numbers are numbers
        return
    for refusing in (ranker.fit, ranker.score):
        with pytest.raises(ValueError, match=message):
            refusing(X, y)
    assert pickle.dumps(ranker) == before
    with pytest.raises(NotFittedError):
        make().predict(X)


def test_rankings_of_other_labels_cannot_be_scored():
    with pytest.raises(ValueError, match=r"^y must hold a position for each.*got \(120, 4\)"):
        LabelwiseRanker(Ridge()).fit(X, Y).score(X, Y[:, :4])


@pytest.mark.parametrize("ranker", [LabelwiseRanker(Ridge()), PlackettLuceRanker(alpha=1.0)])
def test_numbers_that_may_be_scores(ranker):
    """They are learned as positions, with a warning; ranks and means of ranks are not suspect."""
    with pytest.warns(UserWarning, match=r"the position 2\.6;.*by sklrank.*positions_from_scores"):
        ranker.fit(X, Y - 0.4)
    expected = clone(ranker).fit(X, Y).decision_function(X)
    assert_allclose(ranker.decision_function(X), expected)
    for positions in (Y, 10 * Y, Y / 2, INCOMPLETE):
        if positions is not INCOMPLETE or isinstance(ranker, PlackettLuceRanker):
            clone(ranker).fit(X, positions)
    assert_allclose(clone(ranker).fit(X, positions_from_scores(-Y)).decision_function(X), expected)


def test_only_the_outer_ranker_warns_of_scores():
    with pytest.warns(UserWarning, match="the position") as caught:
        StackedRanker([("ridge", LabelwiseRanker(Ridge()))], cv=3).fit(X, Y - 0.4)
    assert len(caught) == 1


def test_estimators_of_the_wrong_kind():
    scaled = make_pipeline(StandardScaler(), Ridge())
    for regressor in (Ridge(), scaled):
        with pytest.raises(ValueError, match=r"estimator must be a classifier.*Ridge\(\)"):
            PairwiseRanker(regressor).fit(X, Y)
    for classifier in (GaussianNB(), DummyClassifier()):
        with pytest.raises(ValueError, match="estimator must be a regressor.*use PairwiseRanker"):
            LabelwiseRanker(classifier).fit(X, Y)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
@pytest.mark.parametrize("multi_output", [False, True])
def test_out_of_bag_scores_of_samples_in_all_trees(multi_output):
    forest = RandomForestRegressor(2, random_state=0)
    ranker = LabelwiseRanker(forest, multi_output=multi_output, oob_score=True).fit(X, Y)
    scores, predicted = ranker.oob_decision_function_, ranker.decision_function(X)
    for number, model in enumerate(ranker.estimators_):
        columns = slice(None) if multi_output else [number]
        in_all = sorted(set.intersection(*map(set, model.estimators_samples_)))
        assert 30 < len(in_all) < 90
        assert_allclose(scores[in_all][:, columns], predicted[in_all][:, columns])
        assert (scores[:, columns] < 0).all()


def test_parameters_that_a_prediction_does_not_use():
    ranker = LabelwiseRanker(Ridge()).fit(X, Y)
    expected = ranker.predict(X)
    assert_array_equal(ranker.set_params(multi_output="x").predict(X), expected)
    with pytest.raises(ValueError, match="n_jobs"):
        ranker.set_params(n_jobs=0).predict(X)


def test_labelwise_and_incomplete_rankings():
    ranker = LabelwiseRanker(Ridge())
    with pytest.raises(ValueError, match="use PairwiseRanker"):
        ranker.fit(X, INCOMPLETE)
    never = INCOMPLETE.copy()
    never[:, 2] = np.nan
    with pytest.raises(ValueError, match=r"labels \[2\] in no row"):
        ranker.set_params(incomplete="relative").fit(X, never)
    with pytest.raises(ValueError, match="multi_output=True"):
        ranker.set_params(multi_output=True).fit(X, INCOMPLETE)
    with pytest.raises(ValueError, match="multi_output=True"):
        PairwiseRanker(DecisionTreeClassifier(), multi_output=True).fit(X, INCOMPLETE)
    assert not hasattr(ranker, "classes_")


class NaNScores(BaseEstimator):
    """Ranker or regressor that predicts NaN for samples with large entries."""

    def fit(self, X, y):
        self.scores_ = -np.nanmean(y, axis=0)
        return self

    def predict(self, X):
        return np.where(np.abs(X).max(axis=1) > 1e6, np.nan, 1.0)

    def decision_function(self, X):
        return self.predict(X)[:, np.newaxis] * self.scores_


@pytest.mark.parametrize(
    "ranker",
    [
        PairwiseRanker(GaussianNB()),
        PairwiseRanker(GaussianNB(), voting="soft"),
        PairwiseRanker(MultiOutputClassifier(GaussianNB()), multi_output=True),
        LabelwiseRanker(NaNScores()),
        StackedRanker([("naive", PairwiseRanker(GaussianNB()))]),
        StackedRanker([("nan", NaNScores())]),
        CalibratedLabelRanker(NaNScores()),
        ConformalRanks(NaNScores()),
        ConformalTopLabels(NaNScores()),
    ],
    ids=repr,
)
def test_scores_that_are_nan_are_refused(ranker):
    complete = np.argsort(np.argsort(X[:, :3], axis=1), axis=1) + 1
    ranker.fit(X, complete)
    extreme = X.copy()
    extreme[0, 0] = 1e308
    methods = {"predict", "decision_function", "predict_pair_proba", "predict_sets"}
    for method in methods | {"predict_intervals"}:
        if hasattr(ranker, method):
            assert np.isfinite(getattr(ranker, method)(X)).all()
            with pytest.raises(ValueError, match="predicts NaN or infinity"):
                with np.errstate(all="ignore"):
                    getattr(ranker, method)(extreme)

"""StackedRanker: against slow statements, and in typical use."""

import pickle
from itertools import product

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize_scalar, nnls
from scipy.special import log_expit
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklrank.label_ranking import (
    LabelwiseRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    StackedRanker,
    recommended_rankers,
)
from sklrank.label_ranking._stack_weights import PairCorrection, non_negative_weights
from sklrank.label_ranking._stacked import KernelFeatures, process_loss
from sklrank.metrics import kendall_tau_score

pytestmark = pytest.mark.usefixtures("few_trees")

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(120, 4))
UTILITY = X @ RANDOM.normal(size=(4, 5)) + 0.3 * RANDOM.normal(size=(120, 5))
Y = np.argsort(np.argsort(-UTILITY, axis=1), axis=1) + 1
INCOMPLETE = np.where(RANDOM.uniform(size=Y.shape) < 0.3, np.nan, Y)
LINEAR, RIDGE, TREE = (
    LabelwiseRanker(regressor, multi_output="auto", incomplete="relative")
    for regressor in (Ridge(), Ridge(100.0), DecisionTreeRegressor(max_depth=4, random_state=0))
)
LOGISTIC = PairwiseRanker(LogisticRegression(), voting="soft")
SAME_FOR_ALL = LabelwiseRanker(DummyRegressor())


def stacked(**rankers):
    return StackedRanker([*rankers.items()], cv=3, pair_correction=False)


# -- Against slow statements.


def centered(values):
    return (values - values.mean(axis=1, keepdims=True)).ravel()


def test_weights_are_non_negative_least_squares_on_held_out_samples():
    rankers = [TREE, LOGISTIC]
    held_out = np.zeros((2, *Y.shape))
    for scores, ranker in zip(held_out, rankers):
        for train, test in KFold(3).split(X):
            scores[test] = clone(ranker).fit(X[train], Y[train]).decision_function(X[test])
    expected, _ = nnls(np.column_stack([*map(centered, held_out)]), -centered(Y / 6))
    ranker = stacked(tree=TREE, logistic=LOGISTIC).fit(X, Y)
    assert_allclose([*ranker.weights_.values()], expected)
    all_scores = [clone(ranker).fit(X, Y).decision_function(X) for ranker in rankers]
    assert_allclose(ranker.decision_function(X), np.tensordot(expected, all_scores, axes=1))
    sizes = [np.sqrt(np.mean(centered(scores) ** 2)) for scores in held_out]
    shares = expected * sizes / np.dot(expected, sizes)
    assert_allclose([*ranker.shares_.values()], shares)


def test_default_rankers_of_many_features():
    few, many = (dict(recommended_rankers(n_features)) for n_features in (300, 301))
    assert few.keys() - many.keys() == {"pairwise_splines"}


@pytest.mark.parametrize("name", dict(recommended_rankers()))
def test_default_rankers_learn_what_the_stack_gives_them(name):
    """Incomplete rankings, few samples, pickles, and the same ranker for the same random state."""
    member = dict(recommended_rankers(random_state=0))[name]
    scores = clone(member).fit(X, INCOMPLETE).decision_function(X)
    assert kendall_tau_score(Y, -scores) > 0.5
    again = pickle.loads(pickle.dumps(clone(member).fit(X, INCOMPLETE)))
    assert_allclose(again.decision_function(X), scores)
    assert clone(member).fit(X[:4], Y[:4]).decision_function(X).shape == Y.shape


def test_labels_that_a_training_fold_does_not_rank_have_no_weight_in_its_scores():
    few = np.where((np.arange(120) >= 40)[:, np.newaxis] & (np.arange(5) == 2), np.nan, Y)
    rankers = [TREE, LOGISTIC]
    scores, targets = ([], []), []
    for train, test in KFold(3).split(X):
        labels = [l for l in range(5) if not np.isnan(few[train, l]).all()]
        assert len(labels) == (4 if 0 in test else 5)
        for ranker_scores, ranker in zip(scores, rankers):
            fitted = clone(ranker).fit(X[train], few[train][:, labels])
            ranker_scores.append(fitted.decision_function(X[test]))
        for i in test:
            ranked = [few[i, l] for l in labels if not np.isnan(few[i, l])]
            place = [sum(other <= few[i, l] for other in ranked) for l in labels]
            targets.append([p / (len(ranked) + 1) if p else np.nan for p in place])

    def explained(rankings):
        known = [np.array(r)[~np.isnan(target)] for r, target in zip(rankings, targets)]
        return np.concatenate([r - r.mean() for r in known])

    columns = [explained([row for fold in folds for row in fold]) for folds in scores]
    expected, _ = nnls(np.column_stack(columns), -explained(targets))
    ranker = stacked(tree=TREE, logistic=LOGISTIC).fit(X, few)
    assert_allclose([*ranker.weights_.values()], expected)


def held_out_scores(rankers, Y=Y):
    scores = np.zeros((len(rankers), *Y.shape))
    for held_out, ranker in zip(scores, rankers):
        for train, test in KFold(3).split(X):
            held_out[test] = clone(ranker).fit(X[train], Y[train]).decision_function(X[test])
    return scores


def slow_logistic_factor(scores, Y):
    """Maximize the likelihood of all ordered pairs of labels, without derivatives."""
    pairs = [
        (row, a, b)
        for row, positions in enumerate(Y)
        for a in range(5)
        for b in range(5)
        if positions[a] < positions[b]
    ]
    differences = np.array([scores[i, a] - scores[i, b] for i, a, b in pairs])
    target = (len(pairs) + 1) / (len(pairs) + 2)

    def loss(log):
        margins = differences * np.exp(log)
        return -np.mean(target * log_expit(margins) + (1 - target) * log_expit(-margins))

    return np.exp(minimize_scalar(loss, (-5, 5), tol=1e-10).x)


def test_pair_probabilities_are_calibrated_on_held_out_samples():
    """The scale is that of a logistic model of the stacked held-out scores."""
    ranker = stacked(tree=TREE, linear=LINEAR).fit(X, Y)
    held_out = held_out_scores([TREE, LINEAR])
    combined = np.tensordot([*ranker.weights_.values()], held_out, axes=1)
    assert ranker.pair_scale_ == pytest.approx(slow_logistic_factor(combined, Y), rel=1e-3)
    probabilities = ranker.predict_pair_proba(X)
    scores = ranker.pair_scale_ * ranker.decision_function(X)
    for a, b in product(range(5), repeat=2):
        assert_allclose(probabilities[:, a, b], 1 / (1 + np.exp(scores[:, b] - scores[:, a])))


def test_out_of_bag_scores_are_held_out_scores():
    forest = LabelwiseRanker(
        RandomForestRegressor(15, random_state=0), oob_score=True, incomplete="relative"
    )
    ranker = stacked(forest=forest, linear=LINEAR).fit(X, INCOMPLETE)
    fitted = clone(forest).fit(X, INCOMPLETE)
    linear = np.zeros(Y.shape)
    for train, test in KFold(3).split(X):
        fold = clone(LINEAR).fit(X[train], INCOMPLETE[train])
        linear[test] = fold.decision_function(X[test])
    held_out = np.array([fitted.oob_decision_function_, linear])
    expected, _ = non_negative_weights(held_out, INCOMPLETE)
    assert_allclose([*ranker.weights_.values()], expected)
    assert_array_equal(
        ranker.named_estimators_["forest"].decision_function(X), fitted.decision_function(X)
    )


def slow_votes(scores, Y, new_scores):
    """Fit scikit-learn's classifier for each pair; sum up the probabilities to come first."""
    votes = np.zeros(new_scores.shape)
    for a in range(5):
        for b in range(a + 1, 5):
            rows = [i for i in range(len(Y)) if Y[i, a] < Y[i, b] or Y[i, a] > Y[i, b]]
            features = [
                np.column_stack([s[:, a], s[:, b], s[:, a] - s[:, b]]) for s in (scores, new_scores)
            ]
            polynomials = PolynomialFeatures(2, include_bias=False)
            logistic = LogisticRegression(solver="newton-cholesky", tol=1e-8)
            model = make_pipeline(StandardScaler(), polynomials, logistic)
            wins = (Y[:, a] < Y[:, b])[rows]
            if wins.all() or not wins.any():
                before = np.full(len(new_scores), np.mean(wins) if rows else 0.5)
            else:
                before = model.fit(features[0][rows], wins).predict_proba(features[1])[:, 1]
            votes[:, a] += before
            votes[:, b] += 1 - before
    return votes


def rank_ties_by_index(n_samples, seed):
    """Make samples and positions; labels of negative utility are ranked by their index."""
    random = np.random.RandomState(seed)
    samples, weights = (
        random.normal(size=(n_samples, 4)),
        np.random.RandomState(0).normal(size=(4, 5)),
    )
    utility = np.maximum(samples @ weights, 0)
    return samples, np.argsort(np.argsort(-utility, axis=1, kind="stable"), axis=1) + 1.0


def test_votes_are_those_of_logistic_regressions():
    """One for each pair, with ties, missing labels, and labels of which one is always first."""
    scores, positions = rank_ties_by_index(150, seed=1)
    scores = np.column_stack([scores, scores.sum(axis=1)])
    positions[:20, 0] = positions[:20, 1]
    positions[40:80, 2] = np.nan
    for always_first in (False, True):
        if always_first:
            positions[:, 3], positions[:, 4] = 0, np.nan
        correction = PairCorrection().fit(scores[:100], positions[:100])
        expected = slow_votes(scores[:100], positions[:100], scores[100:])
        assert_allclose(correction.votes(scores[100:]), expected, atol=1e-5)


def test_newtons_method_finds_the_minimum_of_separable_data():
    """The loss is flat at first, so that whole steps are too long."""
    scores = np.array([[0.0, 0.1], [0.0, -0.1], [1e3, 0.0], [-1e3, 0.0]] * 30)
    positions = np.where(scores[:, :1] - scores[:, 1:] > 0, [[1, 2]], [[2, 1]])
    votes = PairCorrection().fit(scores, positions).votes(scores)
    logistic = LogisticRegression(tol=1e-8, max_iter=10_000)
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), logistic)
    features = np.column_stack([scores, scores[:, 0] - scores[:, 1]])
    expected = model.fit(features, positions[:, 0] == 1).predict_proba(features)[:, 1]
    assert_allclose(votes[:, 0], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("first", "overlapping", "incomplete", "helps"),
    [
        (RIDGE, False, True, True),
        (RIDGE, True, False, True),
        (TREE, False, False, False),
        pytest.param(RIDGE, False, False, True, marks=pytest.mark.slow),
        pytest.param(TREE, True, True, False, marks=pytest.mark.slow),
    ],
)
def test_pairs_are_corrected_by_votes_of_held_out_sums(first, overlapping, incomplete, helps):
    samples, positions = rank_ties_by_index(120, seed=1)
    if incomplete:
        positions[np.random.RandomState(0).uniform(size=positions.shape) < 0.2] = np.nan
    splitter = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0) if overlapping else KFold(3)
    folds = [*splitter.split(samples)]
    rankers = {"first": first, "linear": LINEAR}
    ranker = StackedRanker([*rankers.items()], cv=folds)
    ranker.fit(samples, positions)
    weights = [*ranker.weights_.values()]
    combined = [
        np.tensordot(
            weights,
            [
                clone(member).fit(samples[train], positions[train]).decision_function(samples[test])
                for member in rankers.values()
            ],
            axes=1,
        )
        for train, test in folds
    ]
    votes = []
    for fold, (_, test) in enumerate(folds):
        pairs = [
            (combined[other][row], positions[sample])
            for other, (_, held_out) in enumerate(folds)
            for row, sample in enumerate(held_out)
            if sample not in test
        ]
        votes.append(slow_votes(*map(np.array, zip(*pairs)), combined[fold]))
    held_out = np.concatenate([positions[test] for _, test in folds])
    combined, votes = np.concatenate(combined), np.concatenate(votes)
    expected, _ = non_negative_weights(np.array([combined, votes]), held_out)
    corrected = expected[0] * combined + expected[1] * votes
    if kendall_tau_score(held_out, -corrected) <= kendall_tau_score(held_out, -combined):
        expected = [1, 0]
    assert (expected[1] > 0) == helps
    assert_allclose(ranker.correction_weights_, expected, rtol=1e-3)
    fitted = [clone(member).fit(samples, positions) for member in rankers.values()]
    summed = np.tensordot(weights, [member.decision_function(samples) for member in fitted], axes=1)
    total = expected[0] * summed + expected[1] * slow_votes(combined, held_out, summed)
    assert_allclose(ranker.decision_function(samples), total, atol=1e-4)


def test_the_correction_learns_biases_of_pairs():
    samples, positions = rank_ties_by_index(500, seed=1)
    train, test = slice(300), slice(300, None)
    plain = stacked(linear=LINEAR).fit(samples[train], positions[train])
    corrected = clone(plain).set_params(pair_correction=True).fit(samples[train], positions[train])
    gain = corrected.score(samples[test], positions[test]) - plain.score(
        samples[test], positions[test]
    )
    assert gain > 0.02


@pytest.mark.parametrize("target", ["few", "tied"])
def test_no_correction_that_does_not_help(target):
    samples, positions = rank_ties_by_index(60, seed=1)
    if target == "few":
        samples, positions = samples[:19], positions[:19]
    else:
        positions[:] = 1.0
    plain = stacked(linear=LINEAR).fit(samples, positions)
    ranker = clone(plain).set_params(pair_correction=True).fit(samples, positions)
    assert_array_equal(ranker.correction_weights_, [1, 0])
    assert_array_equal(ranker.decision_function(samples), plain.decision_function(samples))


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_plackett_luce_models_are_stacked_as_expected_positions(in_pipeline):
    """The penalty is chosen once, from all samples."""
    model = PlackettLuceRanker(random_state=0)
    member = make_pipeline(StandardScaler(), model) if in_pipeline else model
    ranker = stacked(model=member, tree=TREE).fit(X, Y)
    alpha = clone(model).fit(StandardScaler().fit_transform(X), Y).alpha_
    held_out = held_out_scores([TREE, TREE])
    for train, test in KFold(3).split(X):
        scaler = StandardScaler().fit(X[train])
        fold = PlackettLuceRanker(alpha=alpha).fit(scaler.transform(X[train]), Y[train])
        held_out[0, test] = -fold.expected_positions(scaler.transform(X[test]))
    expected, _ = non_negative_weights(held_out, Y)
    assert_allclose([*ranker.weights_.values()], expected, rtol=1e-3)


def test_a_single_ranker_keeps_its_predictions():
    ranker = stacked(tree=TREE).fit(X, Y)
    assert_array_equal(ranker.predict(X), clone(TREE).fit(X, Y).predict(X))
    assert ranker.shares_ == {"tree": 1.0}


def test_only_the_order_of_the_positions_counts():
    ranker = stacked(tree=TREE, linear=LINEAR)
    expected = ranker.fit(X, Y).decision_function(X)
    assert_allclose(clone(ranker).fit(X, Y**3 + 7).decision_function(X), expected)


def test_useless_rankers_are_dropped():
    ranker = stacked(linear=LINEAR, none=SAME_FOR_ALL).fit(X, Y)
    assert ranker.shares_["linear"] > 0.9
    twice = stacked(one=LINEAR, two=clone(LINEAR)).fit(X, Y)
    assert_allclose(sum(twice.shares_.values()), 1.0)
    assert len(twice.estimators_) == sum(weight > 0 for weight in twice.weights_.values())
    assert_array_equal(twice.predict(X), clone(LINEAR).fit(X, Y).predict(X))


def test_equal_shares_if_no_ranker_helps():
    nothing = np.tile([1, 1, 1], (120, 1))
    ranker = stacked(linear=LINEAR, none=SAME_FOR_ALL).fit(X, nothing)
    assert ranker.shares_ == {"linear": 0.5, "none": 0.5}
    assert_array_equal(ranker.predict(X[:2]), [[1, 2, 3], [1, 2, 3]])
    # Scores that differ by rounding are divided by 1, not by the size of the rounding.
    with pytest.warns(UserWarning, match="are not compared"):
        ranker = StackedRanker(cv=2, random_state=0).fit(X, nothing)
    assert max(ranker.weights_.values()) < 100


# -- In typical use.


def test_the_default_finds_the_rankers_that_suit_the_data():
    recommended = StackedRanker(cv=3, random_state=0).fit(X, Y)
    more = np.random.RandomState(1).normal(size=(500, 4))
    random = np.random.RandomState(0)
    random.normal(size=(120, 4))
    utility = more @ random.normal(size=(4, 5))
    truth = np.argsort(np.argsort(-utility, axis=1), axis=1) + 1
    assert recommended.score(more, truth) > 0.85
    assert recommended.shares_["forest"] < 0.5
    assert recommended.score(more, truth) >= clone(LINEAR).fit(X, Y).score(more, truth) - 0.02


@pytest.mark.slow
def test_the_default_is_reproducible():
    first = StackedRanker(random_state=0).fit(X[:30], Y[:30])
    with joblib.parallel_config("threading"):  # it takes seconds to start processes
        again = StackedRanker(random_state=0, n_jobs=2).fit(X[:30], Y[:30])
    assert_allclose(again.decision_function(X), first.decision_function(X))
    assert again.weights_ == first.weights_


def test_one_fold_for_many_samples(monkeypatch):
    import sklrank.label_ranking._stacked as module

    fitted = []

    class Counting(LabelwiseRanker):
        def fit(self, X, y):
            fitted.append(len(X))
            return super().fit(X, y)

    monkeypatch.setattr(module, "_MANY_SAMPLES", 100)
    StackedRanker([("one", Counting(Ridge()))], random_state=0).fit(X, Y)
    assert fitted == [96, 120]
    fitted.clear()
    StackedRanker([("one", Counting(Ridge()))], random_state=0).fit(X[:100], Y[:100])
    assert fitted == [80] * 5 + [100]


def test_incomplete_rankings():
    ranker = stacked(linear=LINEAR, logistic=LOGISTIC).fit(X, INCOMPLETE)
    assert ranker.score(X, Y) > 0.8
    with pytest.raises(ValueError, match="not ranked"):
        stacked(linear=LabelwiseRanker(Ridge())).fit(X, INCOMPLETE)


@pytest.mark.slow
@pytest.mark.parametrize("n_ranked", [1, 2])
def test_recommended_where_few_samples_rank_a_label(n_ranked):
    """The other labels are ranked as well as ever."""
    few = Y[:60].astype(float)
    few[n_ranked:, 2] = np.nan
    others = [0, 1, 3, 4]
    scores = StackedRanker(cv=2, random_state=0).fit(X[:60], few).decision_function(X[60:])
    assert kendall_tau_score(Y[60:, others], -scores[:, others]) > 0.75


def test_equal_shares_if_a_single_sample_is_ranked():
    single = np.full(Y.shape, np.nan)
    single[7] = Y[7]
    ranker = stacked(linear=LINEAR, logistic=LOGISTIC).fit(X, single)
    assert ranker.shares_ == {"linear": 0.5, "logistic": 0.5}
    assert_array_equal(ranker.predict(X), np.tile(Y[7], (120, 1)))


def test_a_label_that_no_sample_ranks():
    """Regression refuses it, comparisons give it half votes, as without stacking."""
    never = np.where(np.arange(5) == 2, np.nan, Y)
    with pytest.raises(ValueError, match=r"labels \[2\] in no row"):
        StackedRanker().fit(X, never)
    logistic = stacked(logistic=LOGISTIC).fit(X, never)
    assert_array_equal(logistic.predict(X), clone(LOGISTIC).fit(X, never).predict(X))
    # A single sample ranks the other labels; one fold holds it out.
    single = np.where((np.arange(120) == 7)[:, np.newaxis], never, np.nan)
    assert stacked(logistic=LOGISTIC).fit(X, single).predict(X).shape == Y.shape


def test_sparse_samples_if_all_rankers_accept_them():
    ranker = stacked(linear=LINEAR, tree=TREE)
    expected = ranker.fit(X, Y).decision_function(X)
    found = clone(ranker).fit(sparse.csr_matrix(X), Y).decision_function(sparse.csr_matrix(X))
    assert_allclose(found, expected, atol=1e-3)
    with pytest.raises(TypeError, match="[Ss]parse"):
        StackedRanker().fit(sparse.csr_matrix(X), Y)


def test_data_frames():
    frame = pd.DataFrame(X, columns=list("abcd"))
    ranker = stacked(linear=LINEAR, tree=TREE).fit(frame, pd.DataFrame(Y))
    assert_array_equal(ranker.feature_names_in_, list("abcd"))
    assert_array_equal(ranker.predict(frame), clone(ranker).fit(X, Y).predict(X))


def test_rankers_select_columns_of_a_data_frame_by_name():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(text="not a number")
    chosen = make_column_transformer(("passthrough", ["b", "d"]))
    by_name = [make_pipeline(chosen, ranker) for ranker in (LINEAR, TREE)]
    ranker = stacked(linear=by_name[0], tree=by_name[1]).fit(frame, Y)
    expected = stacked(linear=LINEAR, tree=TREE).fit(X[:, [1, 3]], Y)
    assert ranker.weights_ == expected.weights_
    assert_array_equal(ranker.predict(frame), expected.predict(X[:, [1, 3]]))


def test_parameters_of_the_rankers_by_name():
    ranker = stacked(linear=clone(LINEAR), tree=clone(TREE))
    ranker.set_params(linear__estimator__alpha=7.0, tree=clone(LOGISTIC), cv=4)
    assert ranker.estimators[0][1].estimator.alpha == 7.0
    assert isinstance(ranker.get_params()["tree"], PairwiseRanker)
    grid = {"linear__estimator__alpha": [1e-3, 1e6]}
    search = GridSearchCV(stacked(linear=clone(LINEAR)), grid, cv=3).fit(X, Y)
    assert set(search.best_params_) == set(grid)
    assert StackedRanker().get_params()["estimators"] is None


def test_in_a_pipeline_and_pickled():
    ranker = stacked(linear=LINEAR, tree=TREE)
    assert cross_val_score(make_pipeline(StandardScaler(), ranker), X, Y, cv=2).mean() > 0.8
    ranker.fit(X, Y)
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X), ranker.predict(X))
    assert set(ranker.predict_topk(X, 2)[0]) <= set(range(5))


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([], "empty"),
        ([("one", LINEAR), ("one", TREE)], "not unique"),
        ([("a__b", LINEAR)], "must not contain __"),
        ([("cv", LINEAR)], "conflict"),
    ],
)
def test_bad_names_of_rankers(estimators, message):
    with pytest.raises(ValueError, match=message):
        StackedRanker(estimators).fit(X, Y)


def test_bad_data_leave_the_fitted_ranker_unchanged():
    ranker = stacked(linear=LINEAR, tree=TREE)
    with pytest.raises(NotFittedError):
        ranker.predict(X)
    expected = ranker.fit(X, Y).decision_function(X)
    with pytest.raises(ValueError, match="shape"):
        ranker.fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="splits"):
        ranker.fit(X[:2], Y[:2])
    assert_allclose(ranker.decision_function(X), expected)


def test_as_few_samples_as_folds():
    few = X[:5], np.tile(Y[:1], (5, 1))
    assert_array_equal(StackedRanker(random_state=0).fit(*few).predict(X), np.tile(Y[:1], (120, 1)))


def test_pipelines_and_searches():
    """A Plackett-Luce model inside of them has the same scores as outside."""
    model = PlackettLuceRanker(alpha=1.0)
    expected = stacked(model=model, tree=TREE).fit(X, Y).decision_function(X)
    search = GridSearchCV(model, {"alpha": [1.0]})
    for ranker in (make_pipeline(model), make_pipeline(make_pipeline(model)), search):
        found = stacked(model=ranker, tree=TREE).fit(X, Y).decision_function(X)
        assert_allclose(found, expected)


def test_scores_that_tell_the_reverse():
    """The probabilities of pairs are 1/2 then."""

    class Reverse(LabelwiseRanker):
        def decision_function(self, X):
            return -super().decision_function(X)

    ranker = StackedRanker([("reverse", Reverse(Ridge()))], cv=3, pair_correction=False).fit(X, Y)
    assert ranker.pair_scale_ == 0.0
    assert_array_equal(ranker.predict_pair_proba(X), 0.5)


def test_scores_of_labels_that_are_not_ranked():
    """They change neither weights nor shares."""
    scores = np.random.RandomState(0).normal(size=(3, 120, 5)) - INCOMPLETE
    known = np.where(np.isnan(INCOMPLETE), 0.0, scores)
    other = np.where(np.isnan(INCOMPLETE), 1e3, scores)
    for found, expected in zip(
        non_negative_weights(other, INCOMPLETE), non_negative_weights(known, INCOMPLETE)
    ):
        assert_allclose(found, expected)


@pytest.mark.parametrize(
    "estimators",
    [
        [LabelwiseRanker],
        [("a", LabelwiseRanker)],
        [LabelwiseRanker()],
        [("a",)],
        [("a", LOGISTIC.estimator)],
        [("a", "drop")],
        [(1, LabelwiseRanker())],
        [("a", None)],
    ],
)
def test_estimators_other_than_named_rankers(estimators):
    with pytest.raises(ValueError, match="estimators must be a list of"):
        StackedRanker(estimators).fit(np.zeros((9, 1)), np.tile([1, 2], (9, 1)))


def test_rankers_may_be_pipelines():
    pipeline = make_pipeline(StandardScaler(), LINEAR)
    ranker = stacked(linear=pipeline).fit(X, Y)
    assert_array_equal(ranker.predict(X), clone(pipeline).fit(X, Y).predict(X))


def test_folds_may_be_masks():
    held_out = np.arange(120) < 40
    masks = [(~held_out, held_out), (held_out, ~held_out)]
    indices = [tuple(np.flatnonzero(mask) for mask in fold) for fold in masks]
    rankers = [("tree", TREE), ("linear", LINEAR)]
    by_mask, by_index = (StackedRanker(rankers, cv=cv).fit(X, Y) for cv in (masks, indices))
    assert by_mask.weights_ == by_index.weights_


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (121, "cv=121 cannot split 120 rankings"),
        ([(range(60), range(60, 121))], "cannot split 120 rankings: index 120 is out of bounds"),
        ([(np.ones(90, bool), np.ones(90, bool))], "cannot split 120.*boolean index did not match"),
        (StratifiedKFold(3), r"cv=StratifiedKFold\(.*\) cannot split 120 rankings.*KFold"),
        ([], r"cv=\[\] must make at least one fold"),
        ([([0, 1, 2], np.array([], int))], "cv=.* must .* each with .* held-out samples"),
        ([(np.array([], int), [0, 1, 2])], "cv=.* must .* each with training samples"),
    ],
)
def test_empty_folds(cv, message):
    with pytest.raises(ValueError, match=message):
        StackedRanker([("linear", LINEAR)], cv=cv).fit(X, Y)


def test_fewer_samples_than_folds():
    with pytest.raises(ValueError, match="cv='auto' makes 5 folds"):
        StackedRanker().fit(np.zeros((4, 1)), np.tile([1, 2], (4, 1)))


def test_kernel_features_find_the_features_that_matter():
    """The widths maximize the likelihood; the features reproduce the Matern kernel."""
    random = np.random.RandomState(0)
    samples = random.normal(size=(150, 4))
    utility = np.column_stack([np.sin(3 * samples[:, 0]), samples[:, 1], np.zeros(150)])
    positions = np.argsort(np.argsort(-utility)) + 1.0
    features = KernelFeatures(random_state=0).fit(samples, positions)
    assert features.widths_[:2].max() < features.widths_[2:].min() / 3
    scaled = StandardScaler().fit_transform(samples) / features.widths_
    distances = np.sqrt(3) * np.linalg.norm(scaled[:, np.newaxis] - scaled, axis=2)
    found = features.transform(samples)
    assert_allclose(found @ found.T, (1 + distances) * np.exp(-distances), atol=1e-6)
    constant = KernelFeatures(random_state=0).fit(samples, np.ones((150, 3)))
    assert_allclose(constant.widths_, 2.0)
    many = KernelFeatures(random_state=0).fit(random.normal(size=(30, 101)), positions[:30])
    assert len(set(many.widths_)) == 1


@pytest.mark.parametrize("n_widths", [4, 1])
def test_likelihood_of_the_widths(n_widths):
    """It is that of scikit-learn's processes; the gradient is that of finite differences."""
    random = np.random.RandomState(0)
    samples, targets = random.normal(size=(30, 4)), random.normal(size=(30, 3))
    logs = random.normal(size=n_widths + 2)
    kernel = ConstantKernel() * Matern(np.ones(n_widths), nu=1.5) + WhiteKernel()
    process = GaussianProcessRegressor(kernel, optimizer=None).fit(samples, targets)
    loss, gradient = process_loss(logs, samples, targets)
    assert_allclose(loss, -process.log_marginal_likelihood(logs), rtol=1e-12)
    moves = 1e-5 * np.eye(len(logs))
    above, below = (
        [-process.log_marginal_likelihood(logs + sign * move) for move in moves] for sign in (1, -1)
    )
    assert_allclose(gradient, np.subtract(above, below) / 2e-5, rtol=1e-6, atol=1e-6)


def test_weights_in_a_single_fold():
    """Samples of weight zero are left out, also of the folds."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 3))
    Y = (X @ rng.normal(size=(3, 4))).argsort(axis=1).argsort(axis=1) + 1.0
    members = [("ridge", LabelwiseRanker(Ridge())), ("mean", LabelwiseRanker(DummyRegressor()))]
    for kept in (slice(12), slice(50, 60)):
        weights = np.zeros(60)
        weights[kept] = 1.0
        one, other = (StackedRanker(members, cv=KFold(3)) for _ in range(2))
        one.fit(X, Y, sample_weight=weights)
        other.fit(X[kept], Y[kept])
        assert_allclose(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-305])
def test_subnormal_features_have_no_effect(size):
    """The intervals between knots of splines are subnormal, too."""
    rng = np.random.RandomState(0)
    X, Y = np.sign(rng.normal(size=(30, 2))) * size, np.argsort(rng.normal(size=(30, 3))) + 1.0
    member = dict(recommended_rankers())["pairwise_splines"]
    scores = clone(member).fit(X, Y).decision_function(X)
    assert_array_equal(scores, clone(member).fit(0 * X, Y).decision_function(0 * X))

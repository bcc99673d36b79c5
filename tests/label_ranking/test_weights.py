"""Sample weights of label rankers stand for repetitions, where the inner estimators do so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklrank.label_ranking import (
    CalibratedLabelRanker,
    ConformalRanks,
    LabelwiseRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    StackedRanker,
)
from sklrank.label_ranking._stack_weights import PairCorrection

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(90, 3))
Y = np.argsort(np.argsort(X + RANDOM.normal(size=X.shape), axis=1), axis=1) + 1.0
INCOMPLETE = np.where(RANDOM.uniform(size=Y.shape) < 0.3, np.nan, Y)
WEIGHTS = RANDOM.randint(3, size=len(X))
ROWS = np.repeat(np.arange(len(X)), WEIGHTS)

LOGISTIC = LogisticRegression(tol=1e-10, max_iter=1000)
RANKERS = {
    "labelwise": LabelwiseRanker(Ridge(), incomplete="relative"),
    "trees": LabelwiseRanker(
        DecisionTreeRegressor(max_depth=3, random_state=0), incomplete="relative"
    ),
    "pipeline": LabelwiseRanker(make_pipeline(StandardScaler(), Ridge()), incomplete="relative"),
    "nested": LabelwiseRanker(
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), Ridge())),
        incomplete="relative",
    ),
    "pairwise": PairwiseRanker(LOGISTIC, voting="soft"),
    "copeland": PairwiseRanker(DecisionTreeClassifier(max_depth=2, random_state=0)),
    "plackett-luce": PlackettLuceRanker(alpha=1.0, tol=1e-8),
    "kernel": PlackettLuceRanker(kernel="rbf", alpha=1.0, gamma=0.5, tol=1e-8),
}
JOINT = {
    "labelwise": LabelwiseRanker(Ridge(), multi_output=True),
    "pairwise": PairwiseRanker(
        DecisionTreeClassifier(max_depth=2, random_state=0), multi_output=True, voting="soft"
    ),
}


@pytest.mark.parametrize("name", RANKERS)
def test_weights_are_repetitions(name):
    ranker = RANKERS[name]
    expected = ranker.fit(X[ROWS], INCOMPLETE[ROWS]).decision_function(X)
    weighted = ranker.fit(X, INCOMPLETE, sample_weight=WEIGHTS).decision_function(X)
    assert_allclose(weighted, expected, atol=1e-5)
    equal = ranker.fit(X, INCOMPLETE).decision_function(X)
    assert np.abs(equal - expected).max() > 1e-3


@pytest.mark.parametrize("name", JOINT)
def test_weights_of_joint_models(name):
    ranker = JOINT[name]
    expected = ranker.fit(X[ROWS], Y[ROWS]).decision_function(X)
    assert_allclose(ranker.fit(X, Y, WEIGHTS).decision_function(X), expected, atol=1e-9)


def test_frequencies_have_the_weights():
    """Of pairs that all models agree on, or that have no model."""
    ranker = PairwiseRanker(LOGISTIC)
    assert_allclose(
        ranker.fit(X, INCOMPLETE, WEIGHTS).frequencies_,
        ranker.fit(X[ROWS], INCOMPLETE[ROWS]).frequencies_,
    )


def copies(number):
    """Return a stack of two rankers and folds, which hold out all copies of a sample together."""
    n = len(X)
    samples = np.tile(np.arange(n), number)
    folds = [
        (np.flatnonzero(samples % 3 != fold), np.flatnonzero(samples % 3 == fold))
        for fold in range(3)
    ]
    rankers = [
        ("linear", LabelwiseRanker(LinearRegression())),
        ("pairs", PairwiseRanker(LOGISTIC, voting="soft")),
    ]
    return samples, StackedRanker(rankers, cv=folds)


@pytest.mark.parametrize("pair_correction", [False, True])
def test_stacks(pair_correction):
    """Half of the samples have weight 3: as with three copies, of which two lack the others."""
    weights = np.where(np.arange(len(X)) < 45, 3.0, 1.0)
    samples, stack = copies(3)
    kept = np.concatenate([np.arange(len(X)), len(X) + np.arange(45), 2 * len(X) + np.arange(45)])
    samples = samples[kept]
    folds = [
        (np.flatnonzero(samples % 3 != fold), np.flatnonzero(samples % 3 == fold))
        for fold in range(3)
    ]
    repeated = stack.set_params(cv=folds, pair_correction=pair_correction).fit(
        X[samples], Y[samples]
    )
    _, stack = copies(1)
    stack.set_params(pair_correction=pair_correction).fit(X, Y, sample_weight=weights)
    assert stack.weights_ == pytest.approx(repeated.weights_, rel=1e-4)
    equal = copies(1)[1].set_params(pair_correction=pair_correction).fit(X, Y)
    assert equal.weights_ != pytest.approx(repeated.weights_, rel=1e-3)
    if not pair_correction:
        assert stack.pair_scale_ == pytest.approx(repeated.pair_scale_, rel=1e-2)
        assert_allclose(stack.decision_function(X), repeated.decision_function(X), rtol=1e-4)


def test_samples_of_weight_zero_are_left_out():
    ranker = RANKERS["trees"]
    expected = ranker.fit(X[:60], Y[:60]).decision_function(X)
    weights = np.repeat([1.0, 0.0], [60, 30])
    assert_array_equal(ranker.fit(X, Y, weights).decision_function(X), expected)


def test_pairs_that_only_samples_of_weight_zero_compare():
    known = Y.copy()
    known[:60, 2] = np.nan
    weights = np.repeat([1.0, 0.0], [60, 30])
    ranker = PairwiseRanker(LOGISTIC, voting="soft")
    expected = ranker.fit(X[:60], known[:60]).decision_function(X)
    assert_array_equal(ranker.fit(X, known, weights).decision_function(X), expected)
    corrections = [
        PairCorrection().fit(X[:60], known[:60]),
        PairCorrection().fit(X, known, weights),
    ]
    assert_array_equal(*(correction.votes(X) for correction in corrections))


@pytest.mark.slow
@pytest.mark.usefixtures("few_trees")
def test_the_default_stack_follows_heavy_samples():
    both, weights = np.vstack([X, X]), np.repeat([9.0, 0.1], len(X))
    stack = StackedRanker(cv=2, random_state=0).fit(
        both, np.vstack([Y, 4 - Y]), sample_weight=weights
    )
    assert stack.score(X, Y) > 0.5


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (WEIGHTS - 1.0, "sample_weight must not be negative"),
        ([1, 2], "sample_weight must have the shape"),
        (0 * WEIGHTS, "sample_weight is all zeros"),
    ],
)
def test_bad_weights(weights, message):
    ranker = LabelwiseRanker(Ridge()).fit(X, Y)
    before = ranker.decision_function(X)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, Y, weights)
    assert_array_equal(ranker.decision_function(X), before)


def test_estimators_without_weights_are_refused_by_name():
    for inner in (KNeighborsRegressor(), make_pipeline(StandardScaler(), KNeighborsRegressor())):
        with pytest.raises(ValueError, match=r"sample_weight cannot be used.*KNeighborsRegressor"):
            LabelwiseRanker(inner).fit(X, Y, WEIGHTS)


@pytest.mark.usefixtures("few_trees")
def test_folds_and_out_of_bag_scores_are_those_of_all_samples():
    forest = LabelwiseRanker(random_state=0, oob_score=True).fit(X, Y, WEIGHTS)
    left_out = WEIGHTS == 0
    expected = forest.decision_function(X[left_out])
    assert_allclose(forest.oob_decision_function_[left_out], expected)
    folds = [(np.arange(45), np.arange(45, 90)), (np.arange(45, 90), np.arange(45))]
    stack = StackedRanker([("forest", forest), ("linear", RANKERS["labelwise"])], cv=folds)
    assert stack.fit(X, Y, WEIGHTS).score(X, Y) > 0.3


def test_wrapped_rankers_pass_weights_on():
    """Of a ranker that was fitted to some samples, the others calibrate the probabilities."""
    samples, _ = copies(3)
    folds = [(np.flatnonzero(samples % 3 != i), np.flatnonzero(samples % 3 == i)) for i in range(3)]
    ranker = CalibratedLabelRanker(RANKERS["labelwise"])
    weights = np.where(np.arange(len(X)) < 45, 3.0, 1.0)
    expected = ranker.set_params(cv=folds).fit(X[samples], Y[samples], weights[samples] / 3)
    scale, scores = expected.pair_scale_, expected.decision_function(X)
    ranker.set_params(cv=[(train[train < 90], test[test < 90]) for train, test in folds])
    assert ranker.fit(X, Y, weights).pair_scale_ == pytest.approx(scale, rel=1e-4)
    assert_allclose(ranker.decision_function(X), scores)
    conformal = ConformalRanks(RANKERS["labelwise"], random_state=0)
    equal = conformal.fit(X, Y).decision_function(X)
    assert np.abs(conformal.fit(X, Y, weights).decision_function(X) - equal).max() > 1e-3

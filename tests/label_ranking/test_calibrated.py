"""CalibratedLabelRanker: against slow statements, and calibration of its probabilities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import log_expit
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from sklrank.label_ranking import (
    CalibratedLabelRanker,
    LabelwiseRanker,
    PairwiseRanker,
    StackedRanker,
    _inner_rankers,
)
from sklrank.linear_model import PredtronLabelRanker
from sklrank.metrics import pair_brier_score
from sklrank.online_boosting import OnlineBMR

RANDOM = np.random.RandomState(0)
COEF = RANDOM.normal(size=(3, 4))


def draw(n_samples):
    X = RANDOM.normal(size=(n_samples, 3))
    utility = X @ COEF + RANDOM.gumbel(size=(n_samples, 4))
    return X, np.argsort(np.argsort(-utility, axis=1), axis=1) + 1.0


X, Y = draw(300)
INCOMPLETE = np.where(RANDOM.uniform(size=Y.shape) < 0.3, np.nan, Y)
RANKERS = {
    "ridge": LabelwiseRanker(Ridge()),
    "tree": LabelwiseRanker(DecisionTreeRegressor(random_state=0)),
    "votes": PairwiseRanker(LogisticRegression()),
}


def maximum_likelihood(differences):
    """Return the factor of the differences of pairs of labels, the better one first."""
    target = (len(differences) + 1) / (len(differences) + 2)

    def loss(factor):
        margins = factor * np.array(differences)
        return -np.mean(target * log_expit(margins) + (1 - target) * log_expit(-margins))

    return minimize_scalar(loss, bounds=(0, 50), method="bounded").x


def held_out_differences(ranker, Y):
    differences = []
    for train, test in KFold(3).split(X):
        scores = clone(ranker).fit(X[train], Y[train]).decision_function(X[test])
        for row, i in enumerate(test):
            differences += [
                scores[row, a] - scores[row, b]
                for a in range(4)
                for b in range(4)
                if Y[i, a] < Y[i, b]
            ]
    return np.array(differences)


@pytest.mark.parametrize("Y", [Y, INCOMPLETE], ids=["complete", "incomplete"])
def test_logistic_function_of_the_differences(Y):
    ranker = RANKERS["votes"]
    expected = maximum_likelihood(held_out_differences(ranker, Y))
    found = CalibratedLabelRanker(ranker, cv=KFold(3)).fit(X, Y)
    assert found.pair_scale_ == pytest.approx(expected, rel=1e-3)
    scores = clone(ranker).fit(X, Y).decision_function(X)
    assert_array_equal(found.decision_function(X), scores)
    gaps = scores[:, :, np.newaxis] - scores[:, np.newaxis]
    assert_allclose(found.predict_pair_proba(X), 1 / (1 + np.exp(-found.pair_scale_ * gaps)))


@pytest.mark.parametrize("name", RANKERS)
def test_probabilities_are_calibrated(name):
    """In bins of the predicted probability, on new samples."""
    more, truth = draw(3000)
    ranker = CalibratedLabelRanker(RANKERS[name], random_state=0).fit(X, Y)
    chances = ranker.predict_pair_proba(more)
    assert_allclose(chances + chances.transpose(0, 2, 1), 1.0)
    assert_array_equal(chances[:, np.arange(4), np.arange(4)], 0.5)
    wins = truth[:, :, np.newaxis] < truth[:, np.newaxis]
    off = ~np.eye(4, dtype=bool)
    predicted, outcome = chances[:, off].ravel(), wins[:, off].ravel()
    bins = np.minimum((predicted * 5).astype(int), 4)
    for b in range(5):
        if (bins == b).sum() > 300:
            assert abs(predicted[bins == b].mean() - outcome[bins == b].mean()) < 0.07
    assert pair_brier_score(truth, chances) < 0.25
    assert_array_equal(ranker.predict(more), ranker.ranker_.predict(more))


def test_a_part_of_many_pairs_is_used(monkeypatch):
    monkeypatch.setattr(_inner_rankers, "MAX_COMPARISONS", 300 * 16 // 3)
    ranker = RANKERS["ridge"]
    scores, positions = clone(ranker).fit(X, Y).decision_function(X)[::3], Y[::3]
    differences = [
        row[a] - row[b]
        for row, truth in zip(scores, positions)
        for a in range(4)
        for b in range(4)
        if truth[a] < truth[b]
    ]
    found = CalibratedLabelRanker(FrozenEstimator(clone(ranker).fit(X, Y)), cv=[(range(300),) * 2])
    expected = pytest.approx(maximum_likelihood(differences), rel=1e-3)
    assert found.fit(X, Y).pair_scale_ == expected


def test_labels_that_a_fold_does_not_rank():
    """Their scores were not learned: the pairs that contain them are left out."""
    rare = Y.copy()
    rare[1:, 2] = np.nan
    ranker = LabelwiseRanker(Ridge(), incomplete="relative")
    found = CalibratedLabelRanker(ranker, cv=KFold(3)).fit(X, rare)
    differences = []
    for train, test in KFold(3).split(X):
        labels = [0, 1, 3] if 0 in test else [0, 1, 2, 3]
        model = clone(ranker).fit(X[train], rare[np.ix_(train, labels)])
        scores = model.decision_function(X[test])
        for row, i in enumerate(test):
            differences += [
                scores[row, a] - scores[row, b]
                for a in range(len(labels))
                for b in range(len(labels))
                if rare[i, labels[a]] < rare[i, labels[b]]
            ]
    assert found.pair_scale_ == pytest.approx(maximum_likelihood(differences), rel=1e-3)


def test_a_frozen_ranker_with_labels_that_a_fold_does_not_rank():
    """It has scores of all labels; those of labels that the fold does not rank are left out."""
    rare = Y.copy()
    rare[1:, 2] = np.nan
    frozen = FrozenEstimator(LabelwiseRanker(Ridge()).fit(X, Y))
    scores = frozen.decision_function(X)
    # The label is left out in the first fold, whose other samples do not rank it.
    found = CalibratedLabelRanker(frozen, cv=KFold(3)).fit(X, rare)
    without = rare.copy()
    without[0, 2] = np.nan
    differences = [
        scores[i, a] - scores[i, b]
        for i, row in enumerate(without)
        for a in range(4)
        for b in range(4)
        if row[a] < row[b]
    ]
    assert found.pair_scale_ == pytest.approx(maximum_likelihood(differences), rel=1e-3)
    stack = StackedRanker([("frozen", frozen)], cv=KFold(3)).fit(X, rare)
    assert_array_equal(stack.predict(X), frozen.predict(X))


def test_frozen_estimators_of_other_targets():
    """They do not learn the positions, and any scores of labels rank them."""
    best = OnlineBMR(n_estimators=3, random_state=0).fit(X, (Y <= 2).astype(int))
    ranker = CalibratedLabelRanker(FrozenEstimator(best), random_state=0).fit(X, Y)
    assert_array_equal(ranker.decision_function(X), best.decision_function(X))
    assert ranker.predict_pair_proba(X[:1]).shape == (1, 4, 4)


def test_shuffled_folds():
    ranker = CalibratedLabelRanker(RANKERS["ridge"], random_state=3)
    expected = clone(ranker).fit(X, Y).pair_scale_
    seed = np.random.RandomState(3).randint(np.iinfo(np.int32).max)
    folds = KFold(5, shuffle=True, random_state=seed)
    for parameters in ({"cv": folds}, {"cv": [*folds.split(X)]}):
        assert clone(ranker).set_params(**parameters).fit(X, Y).pair_scale_ == expected
    assert clone(ranker).set_params(random_state=4).fit(X, Y).pair_scale_ != expected


@pytest.mark.parametrize("other", [LogisticRegression(), PredtronLabelRanker()])
def test_other_estimators_than_label_rankers(other):
    with pytest.raises(ValueError, match="ranker must be a label ranker, whose targets are pos"):
        CalibratedLabelRanker(other).fit(X, Y)


def test_useless_scores_and_too_few_pairs():
    noise = CalibratedLabelRanker(RANKERS["tree"], random_state=0)
    shuffled = np.array([RANDOM.permutation(row) for row in Y])
    assert np.abs(noise.fit(X, shuffled).predict_pair_proba(X) - 0.5).max() < 0.2
    single = np.full((6, 3), np.nan)
    single[:, 0] = 1.0
    votes = CalibratedLabelRanker(RANKERS["votes"], cv=2).fit(X[:6], single)
    assert_allclose(votes.predict_pair_proba(X[:2]), 0.5)
    with pytest.raises(ValueError, match="cv=5 cannot split 3 rankings"):
        CalibratedLabelRanker(RANKERS["ridge"]).fit(X[:3], Y[:3])


def test_folds_may_be_masks():
    held_out = np.arange(300) < 100
    masks = [(~held_out, held_out), (held_out, ~held_out)]
    indices = [tuple(np.flatnonzero(mask) for mask in fold) for fold in masks]
    factors = [
        CalibratedLabelRanker(RANKERS["ridge"], cv=cv).fit(X, Y).pair_scale_
        for cv in (masks, indices)
    ]
    assert factors[0] == factors[1]


@pytest.mark.parametrize(
    ("cv", "message"),
    [(301, "cv=301 cannot split 300 rankings"), ([], r"cv=\[\] must make at least one fold")],
)
def test_empty_folds(cv, message):
    with pytest.raises(ValueError, match=message):
        CalibratedLabelRanker(RANKERS["ridge"], cv=cv).fit(X, Y)

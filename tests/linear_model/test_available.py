"""Labels that are not available, and rewards that are numbers or not known."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sklrank.feedback import Exploration
from sklrank.linear_model import BanditronClassifier, LinUCBClassifier, SemiBanditRanker
from sklrank.online_boosting import AdaOLMR, TopKAdaptive, TopKBBM

M, N = 6, 60
RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(N, 3))
Y = (X @ RANDOM.normal(size=(3, M)) > 0.5).astype(int)
# At least three labels are available for each sample, and the last label never is.
MASK = RANDOM.rand(N, M) < 0.5
MASK[:, :3], MASK[:, -1] = True, False
BANDITS = [
    BanditronClassifier(exploration="ag3"),
    LinUCBClassifier(kernel="linear", exploration=0.2),
    LinUCBClassifier(n_components=5, randomization="thompson", exploration=1.0),
    LinUCBClassifier(covariance="diagonal", randomization="inverse-gap", exploration=0.1),
]
RANKERS = [
    SemiBanditRanker(k=2, exploration=0.3),
    SemiBanditRanker(k=2, randomization="inverse-gap"),
    TopKBBM(k=2, exploration=0.3, randomization="plackett-luce"),
    TopKBBM(k=2, exploration=0.3, cost_estimate="labels"),
    TopKAdaptive(k=2, exploration=0.3, cost_estimate="pairs"),
]


def rewards_of(shown):
    return np.take_along_axis(Y, shown.actions.reshape(N, -1), axis=1).reshape(shown.actions.shape)


@pytest.mark.parametrize("model", [*BANDITS, *RANKERS], ids=repr)
def test_only_available_labels_are_shown(model):
    model = clone(model).set_params(random_state=0)
    for _ in range(2):
        shown = model.explore(X, classes=range(M), available=MASK)
        assert np.take_along_axis(MASK, shown.actions.reshape(N, -1), axis=1).all()
        model.partial_fit_feedback(X, shown, rewards_of(shown), available=MASK)
    with pytest.raises(ValueError, match="shown in row 0 as not available"):
        model.partial_fit_feedback(X, shown, rewards_of(shown), available=range(3, 6))
    if not isinstance(model, TopKAdaptive):  # which draws experts
        chances = model.propensities(X, available=MASK)
        if chances.ndim == 3:
            assert not chances[~MASK].any()
            chances = np.diagonal(chances, axis1=1, axis2=2)
        assert_array_equal(chances > 0, MASK)
        assert_allclose(chances.sum(axis=1), shown.actions[0].size)
    # One row for all samples, as a mask or by names in any order.
    for names in (np.arange(M) < 3, [2, 0, 1]):
        assert model.explore(X, available=names).actions.max() < 3
    by_name = pd.Series(np.arange(M) < 3)[::-1]
    assert model.explore(X, available=by_name).actions.max() < 3
    scores = clone(model).progressive_fit(
        X, Y if shown.actions.ndim > 1 else Y.argmax(axis=1), range(M), available=MASK
    )
    assert_array_equal(np.isfinite(scores), MASK)


@pytest.mark.parametrize("model", [*BANDITS, *RANKERS, AdaOLMR(n_estimators=2)], ids=repr)
def test_predictions_of_available_labels(model):
    single = model in BANDITS
    model = clone(model).set_params(random_state=0).fit(X, Y.argmax(axis=1) % 4 if single else Y)
    mask, scores = MASK[:, : len(model.classes_)], model.decision_function(X)
    found = model.predict(X, available=mask)
    if single:
        best = np.where(mask, scores, -np.inf).argmax(axis=1)
        assert_array_equal(found, model.classes_[best])
        return
    assert not found[~mask].any()
    ranks, best = model.predict_ranks(X, available=mask), model.predict_topk(X, 2, available=mask)
    for of_sample, row, positions, labels in zip(scores, mask, ranks, best):
        order = sorted(range(M), key=lambda l: (not row[l], -of_sample[l], l))
        assert_array_equal(np.argsort(positions), [*order[: row.sum()], *np.flatnonzero(~row)])
        assert_array_equal(labels, order[:2])
    with pytest.raises(ValueError, match="at least 2 labels"):
        model.predict_topk(X, 2, available=[1])


@pytest.mark.parametrize("model", [*BANDITS, *RANKERS], ids=repr)
def test_invalid_masks(model, fingerprint):
    model = clone(model).set_params(random_state=0)
    shown = model.explore(X, classes=range(M))
    model.partial_fit_feedback(X, shown, rewards_of(shown))
    before = fingerprint(model)
    for bad, message in (
        (MASK[:, :5], "shape"),
        (MASK[:7], "shape"),
        ([0, 9], "not in classes_"),
        (MASK.astype(int), "mask of bools"),  # whose entries are names of labels
        ([1, 0, 1, 0, 0, 0], "mask of bools"),
        (np.array([True, None], dtype=object), "mask of bools"),
        ([[0], [1, 2]], "mask of bools"),
        ([{}], "mask of bools"),
        (np.zeros(M, bool), "at least"),
    ):
        with pytest.raises(ValueError, match=f"available must .*{message}|{message}"):
            model.explore(X, available=bad)
        with pytest.raises(ValueError, match=message):
            model.partial_fit_feedback(X, shown, rewards_of(shown), available=bad)
        with pytest.raises(ValueError, match=message):
            model.predict(X, available=bad)
    assert fingerprint(model) == before


def test_boosters_learn_nothing_of_pairs_with_other_labels():
    """If the labels shown are the only ones, "labels" is "pairs", for one relevant label."""
    record = Exploration(np.tile([0, 1], (N, 1)), np.full((N, 2, 2), 0.5))
    rewards, found = np.eye(2)[Y[:, 0]], []
    for estimate, available in (("labels", [0, 1]), ("pairs", None), ("labels", None)):
        model = TopKBBM("trees", 2, k=2, cost_estimate=estimate, random_state=0)
        model.partial_fit_feedback(X, record, rewards, classes=range(M), available=available)
        found.append(model.decision_function(X))
    assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


@pytest.mark.parametrize("model", BANDITS, ids=repr)
def test_rewards_that_are_not_known_are_skipped(model, fingerprint):
    """For a single label, the sample has no effect at all."""
    models = [clone(model).set_params(random_state=0) for _ in range(2)]
    shown, _ = (each.explore(X, classes=range(M)) for each in models)
    rewards, known = rewards_of(shown).astype(float), np.arange(N) % 3 > 0
    rewards[~known] = np.nan
    models[0].partial_fit_feedback(X, shown, rewards)
    models[1].partial_fit_feedback(X[known], shown[known], rewards[known])
    assert fingerprint(models[0]) == fingerprint(models[1])


@pytest.mark.parametrize("model", [BANDITS[1], BANDITS[3]], ids=repr)
def test_numbers_as_rewards_of_a_bandit(model):
    """The weights are linear in the rewards, as those of a ridge regression are."""
    random, weights = np.random.RandomState(1), []
    actions, rewards = random.randint(M, size=N), random.rand(2, N)
    record = Exploration(actions, np.ones(N))
    for values in (*rewards, rewards.mean(axis=0)):
        each = clone(model).set_params(random_state=0, drift_threshold=None)
        each.partial_fit_feedback(X, record, values, classes=range(M))
        weights.append(each.coef_)
    assert_allclose(weights[2], (weights[0] + weights[1]) / 2, atol=1e-12)
    assert_allclose(each.error_rate_, 1 - values.mean())


def test_numbers_as_rewards_of_a_ranker():
    """Rewards teach expected relevance: constant rewards of 0.2 to 0.8 are reproduced."""
    truth, model = np.linspace(0.2, 0.8, M), SemiBanditRanker(k=M, random_state=0)
    x = np.tile(X, (20, 1))
    record = Exploration(np.tile(np.arange(M), (len(x), 1)), np.ones((len(x), M, M)))
    model.partial_fit_feedback(x, record, np.tile(truth, (len(x), 1)), classes=range(M))
    assert_allclose(model.predict_proba(X).mean(axis=0), truth, atol=0.1)
    assert_array_equal(model.decision_function(X).mean(axis=0).argsort(), np.arange(M))
    # Nothing is learned about labels whose rewards are NaN.
    rewards = np.tile(truth, (len(x), 1))
    rewards[:, 0] = np.nan
    few = SemiBanditRanker(k=M - 1, random_state=0)
    all_but_one = Exploration(record.actions[:, 1:], np.ones((len(x), M - 1, M - 1)))
    few.partial_fit_feedback(x, all_but_one, rewards[:, 1:], classes=range(M))
    nans = SemiBanditRanker(k=M, random_state=0)
    nans.partial_fit_feedback(x, record, rewards, classes=range(M))
    assert_array_equal(few.decision_function(X), nans.decision_function(X))
    assert nans.partial_fit_feedback(x[:2], record[:2], np.full((2, M), np.nan)).n_rounds_ == len(x)


@pytest.mark.parametrize("estimate", ["pairs", "labels", "doubly-robust"])
def test_boosters_skip_labels_whose_rewards_are_not_known(estimate):
    """A list of labels of which one is not known is the list without it."""
    found = []
    for k in (3, 2):
        model = TopKBBM(k=3, cost_estimate=estimate, random_state=0)
        record = Exploration(np.tile(np.arange(k), (N, 1)), np.full((N, k, k), 0.5))
        rewards = np.where(np.arange(k) < 2, Y[:, :k], np.nan)
        model.partial_fit_feedback(X, record, rewards, classes=range(M))
        found.append(model.decision_function(X))
    assert_array_equal(*found)

"""Estimates of costs from top-k feedback, and schedules of exploration, by their definitions."""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from feature_maps import features_of
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklrank.online_boosting._costs import LogisticCosts, PotentialCosts
from sklrank.online_boosting._pair_feedback import ESTIMATES

from sklrank.feedback import Exploration
from sklrank.feedback._protocol import LIST_RANDOMIZATIONS, make_sampler
from sklrank.linear_model import OnlineLogisticRegression
from sklrank.online_boosting import TopKAdaptive, TopKBBM


def make_rows(n=60, m=4, seed=0):
    random = np.random.RandomState(seed)
    X = random.normal(size=(n, 3))
    Y = (X @ random.normal(size=(3, m)) + random.normal(size=(n, m)) > 0.5).astype(int)
    return X, Y


class Recorder(ClassifierMixin, BaseEstimator):
    """A learner of costs, which records them. It learns slowly."""

    def __init__(self, tilt=1.0):
        self.tilt = tilt

    def partial_fit_costs(self, X, costs):
        if not hasattr(self, "costs_"):
            self.costs_, self.sums_ = [], np.zeros(costs.shape[1])
        self.costs_.append(costs[0].copy())
        self.sums_ -= 1e-3 * costs[0]
        return self

    def predict_proba(self, X):
        votes = np.exp(self.sums_ + self.tilt * np.cos(np.arange(len(self.sums_)) * X[0, 0]))
        return votes[np.newaxis] / votes.sum()


DIRECT = OnlineLogisticRegression(multi_class="ovr", normalize="l2")
RULES = {
    TopKBBM: lambda m, n: PotentialCosts(m, n, 0.1, "hinge"),
    TopKAdaptive: lambda m, n: LogisticCosts(m, n),
}


def make_model(make, estimate, k, **parameters):
    return make(
        [DIRECT, Recorder(0.5), Recorder(-1.0)],
        k=k,
        cost_estimate=estimate,
        propensity_clip=0,
        random_state=0,
        **parameters,
    )


def sum_over_pairs(rule, i, scores, weights):
    """Return the sum of the costs of single pairs (a, b), each multiplied by weights[a, b]."""
    m = len(scores)
    total = np.zeros(m)
    for a, b in product(range(m), repeat=2):
        if a != b:
            total += weights[a, b] * rule.evaluate(i, scores, [a], [b], [[1.0]], 1)[0]
    return total


def scores_before(model, x):
    """Return the scores before each learner, for one sample."""
    votes = [learner._learner.predict_rows(x) for learner in model.estimators_[:1]]
    votes += [learner.predict_proba(x) for learner in model.estimators_[1:]]
    weighted = model.estimator_weights_[:, None] * np.vstack(votes)
    return np.vstack([np.zeros(weighted.shape[1]), np.cumsum(weighted, axis=0)])


def chances(model, x):
    """Return Pr[l is relevant] by the first weak learner, which learns like the direct model."""
    return 1 / (1 + np.exp(-model.estimators_[0]._class_scores(x)[0]))


def slow_weights(estimate, actions, p, rewards, q):
    """Return the weight w_ab of each pair, by the definitions in `_pair_feedback.pyx`."""
    m = len(q)
    weights = np.zeros((m, m))
    if estimate == "doubly-robust":
        weights = q[:, None] * (1 - q)
    for i, a in enumerate(actions):
        if estimate == "labels" and rewards[i]:
            weights[a] = 1 / p[i, i]
        for j, b in enumerate(actions):
            if estimate == "pairs":
                weights[a, b] = rewards[i] * (1 - rewards[j]) / p[i, j]
            elif estimate == "doubly-robust":
                error = rewards[i] * (1 - rewards[j]) - q[a] * (1 - q[b])
                weights[a, b] += error / p[i, j]
    return weights


@pytest.mark.parametrize("make", RULES)
@pytest.mark.parametrize("estimate, k", [("pairs", 2), ("labels", 1), ("labels", 3)])
def test_costs_follow_the_definitions(make, estimate, k):
    check_costs(make, estimate, k)


@pytest.mark.parametrize("make", RULES)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_doubly_robust_costs_follow_the_definition(make, k):
    """The direct model is that of a weak learner, which learns from the labels shown too."""
    check_costs(make, "doubly-robust", k)


def check_costs(make, estimate, k):
    X, Y = make_rows()
    m = Y.shape[1]
    model = make_model(make, estimate, k, exploration=0.5)
    rule = RULES[make](m, 3)
    model.partial_fit(X[:20], Y[:20])
    for t in range(20, 60):
        x = X[t : t + 1]
        shown = model.explore(x)
        rewards = Y[t, shown.actions[0]]
        scores, q = scores_before(model, x), chances(model, x)
        weights = slow_weights(estimate, shown.actions[0], shown.propensities[0], rewards, q)
        model.partial_fit_feedback(x, shown, rewards[None])
        for i, learner in enumerate(model.estimators_):
            if i:
                expected = sum_over_pairs(rule, i, scores[i], weights)
                assert_allclose(learner.costs_[-1], expected, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("randomization", sorted(LIST_RANDOMIZATIONS))
@pytest.mark.parametrize("make", RULES)
@pytest.mark.parametrize("estimate, k", [("labels", 1), ("labels", 2), ("doubly-robust", 2)])
def test_estimates_are_unbiased(randomization, make, estimate, k, law):
    """The mean costs over all outcomes are the sum over all pairs, or all relevant labels."""
    X, Y = make_rows(40)
    m = Y.shape[1]
    model = make_model(make, estimate, k, exploration=0.4, randomization=randomization)
    model.fit(X, Y)
    rule, sampler = RULES[make](m, 3), make_sampler(randomization, m, k, 0.4)
    for row in np.flatnonzero(Y.any(axis=1) & ~Y.all(axis=1))[:1]:
        x, y = X[row : row + 1], Y[row]
        ranking = model.decision_function(x)
        both = sampler.propensities(ranking)[0]
        mean = np.zeros((3, m))
        for shown, probability in law(randomization, ranking[0], k, 0.4).items():
            record = Exploration([shown], both[np.ix_(shown, shown)][None])
            after = deepcopy(model).partial_fit_feedback(x, record, y[list(shown)][None])
            for i in (1, 2):
                mean[i] += probability * after.estimators_[i].costs_[-1]
        weights = y[:, None] * ((1 - y) if estimate == "doubly-robust" else np.ones(m))
        for i in (1, 2):
            expected = sum_over_pairs(rule, i, scores_before(model, x)[i], weights)
            assert_allclose(mean[i], expected, atol=1e-9)


def test_all_labels_shown_need_no_model():
    """Doubly robust costs are then those of the pairs."""
    X, Y = make_rows(40)
    models = [
        TopKBBM([Recorder(0.5), Recorder(1.0)], k=4, cost_estimate=estimate, random_state=0)
        .set_params(propensity_clip=0)
        .fit(X, Y)
        for estimate in ("pairs", "doubly-robust")
    ]
    assert_allclose(*(model.decision_function(X) for model in models), atol=1e-12)


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("make", RULES)
def test_fit_is_explore_and_feedback(make, estimate, fingerprint):
    """Sample by sample; the schedule of exploration goes on."""
    X, Y = make_rows()
    model = make(
        "trees",
        n_estimators=3,
        k=2,
        exploration=lambda t: 1 / (1 + t / 20),
        cost_estimate=estimate,
        randomization="plackett-luce",
        random_state=0,
    )
    simulated, played = clone(model).partial_fit(X, Y), clone(model)
    for i in range(len(X)):
        shown = played.explore(X[i : i + 1], classes=range(4))
        played.partial_fit_feedback(X[i : i + 1], shown, Y[i, shown.actions[0]][None])
    assert fingerprint(vars(played) | {"exploration": 0}) == fingerprint(
        vars(simulated) | {"exploration": 0}
    )


@pytest.mark.parametrize("k", [2, 4])
def test_the_direct_model_learns_the_labels_shown(k):
    """A gradient step of size g / sqrt(1 + sum g^2) for each, also if none of them is relevant."""
    X, Y = make_rows()
    Y[::4] = 0
    sample_weight = np.tile([1.0, 0.5, 2.0], 20)
    model = TopKBBM("trees", n_estimators=1, k=k, cost_estimate="doubly-robust", random_state=0)
    W, squares = np.zeros((4, 4)), 1.0
    for i, x in enumerate(X[:, np.newaxis]):
        shown = model.explore(x, classes=range(4))
        features = features_of(model._direct_model.feature_map, x)[0]
        is_shown = np.isin(np.arange(4), shown.actions)
        slopes = sample_weight[i] * (1 / (1 + np.exp(-features @ W)) - Y[i])
        gradient = np.outer(features, slopes * is_shown)
        squares = squares + gradient**2
        W = W - gradient / np.sqrt(squares)
        rewards = Y[i, shown.actions[0]][np.newaxis]
        model.partial_fit_feedback(x, shown, rewards, sample_weight=sample_weight[i : i + 1])
        assert_allclose(model._direct_model.weight_table, W, atol=1e-12)


def test_single_labels_need_the_estimate_of_labels():
    X, Y = make_rows()
    for parameters in ({"cost_estimate": "pairs"}, {"cost_estimate": "doubly-robust"}):
        with pytest.raises(ValueError, match=r"k=1 .*cost_estimate=\"labels\""):
            TopKBBM("trees", n_estimators=2, k=1, **parameters).fit(X, Y)
    model = TopKBBM("trees", n_estimators=10, k=1, cost_estimate="labels", random_state=0)
    model.set_params(exploration=0.5, max_iter=5).fit(X, Y)
    assert model.explore(X).actions.shape == (60, 1)
    assert model.score(X, Y) > 0.6


@pytest.mark.parametrize("make", RULES)
def test_direct_models_refuse_missing_values(make, fingerprint):
    """Hoeffding trees accept them, but the direct model is linear."""
    X, Y = make_rows()
    missing = X.copy()
    missing[3, 1] = np.nan
    make("trees", n_estimators=2, cost_estimate="pairs", random_state=0).fit(missing, Y)
    model = make("trees", n_estimators=2, random_state=0).fit(X, Y)
    before = fingerprint(model)
    for learn in (model.partial_fit, model.fit):
        with pytest.raises(ValueError, match="NaN"):
            learn(missing, Y)
        assert fingerprint(model) == before


# -- Schedules.


@pytest.mark.parametrize(
    "schedule, rate",
    [("decay", lambda t: t**-0.25), (lambda t: 0.5 / t, lambda t: 0.5 / t), (0.3, lambda t: 0.3)],
)
@pytest.mark.parametrize("make", RULES)
def test_schedules(make, schedule, rate):
    """A label is shown with probability (1 - rho)[greedy] + rho k / m, rho that of the round."""
    X, Y = make_rows()
    k, m = 2, 4
    model = make("trees", n_estimators=2, k=k, exploration=schedule, random_state=0)
    for i in range(len(X)):
        rho = rate(i + 1)
        p = model.explore(X[i : i + 1], classes=range(m)).propensities[0, 0, 0]
        assert min(abs(p - rho * k / m), abs(p - (1 - rho + rho * k / m))) < 1e-12
        # All samples of a call have the amount of the next round; learning is what counts rounds.
        assert len({*np.round(model.explore(X[:9]).propensities[:, 0, 0], 9)}) <= 2
        model.partial_fit(X[i : i + 1], Y[i : i + 1], sample_weight=[1.0])
        model.partial_fit(X[i : i + 1], Y[i : i + 1], sample_weight=[0.0])
    assert model.n_rounds_ == len(X)


def test_rounds_of_weight_zero_do_not_advance_the_schedule():
    X, Y = make_rows()
    called = []

    def schedule(t):
        called.append(t)
        return 0.5

    weights = np.arange(len(X)) % 2.0
    TopKBBM("trees", n_estimators=2, exploration=schedule, random_state=0).partial_fit(
        X, Y, sample_weight=weights
    )
    assert called[-len(X) :] == [1 + i // 2 for i in range(len(X))]


@pytest.mark.parametrize("value", [0.0, 1.5, np.nan, "much", None])
@pytest.mark.parametrize("n_valid", [0, 70, 2000])
def test_schedules_of_bad_rates(value, n_valid, fingerprint):
    """The model does not change, also if the first invalid rate is that of a late round."""
    X, Y = make_rows()
    last = len(X) + n_valid
    schedule = {"exploration": lambda t: 0.5 if t <= last else value}
    model = TopKBBM("trees", n_estimators=2, **schedule, random_state=0).fit(X, Y)
    before = fingerprint(model)
    n_copies = 2 + n_valid // len(X)
    X, Y = np.tile(X, (n_copies, 1)), np.tile(Y, (n_copies, 1))
    methods = [model.fit, model.partial_fit, model.progressive_fit]
    if n_valid == 0:
        methods.append(lambda X, Y: model.explore(X))
    for method in methods:
        with pytest.raises(ValueError, match="exploration must return a number in"):
            method(X, Y)
        assert fingerprint(model) == before

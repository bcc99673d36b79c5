"""Exploration schedules against the equations, with sums over all rounds."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits

from sklrank.feedback import DecayingExploration, SelfTunedExploration
from sklrank.feedback._protocol import SCHEDULES, exploration_rates, make_schedule
from sklrank.linear_model import BanditronClassifier, LinUCBClassifier, SemiBanditRanker
from sklrank.online_boosting import TopKAdaptive

DECAYS = {
    "decay": lambda t: t ** (-1 / 4),
    "ag0": lambda t: t ** (-1 / 3) / 2,
    0.3: lambda t: 0.3,
    DecayingExploration(0.6, 0.9): lambda t: 0.9 * t**-0.6,
}
X, y = (data[:60] for data in load_digits(return_X_y=True))


def rate_of(t):
    return 1 / (1 + t) ** 0.4


@pytest.mark.parametrize("exploration", [*DECAYS, rate_of])
def test_rates_of_rounds(exploration):
    """One meaning for all estimators: bandits, whatever the division into calls, and top-k."""
    expected = [DECAYS.get(exploration, rate_of)(t) for t in range(1, 32)]
    assert_allclose(exploration_rates(exploration, range(1, 32)), expected, rtol=1e-15)
    schedule, rates = make_schedule(exploration), []
    for start, stop in ((0, 1), (1, 13), (13, 30)):
        schedule.prepare(lambda t: exploration_rates(exploration, t), stop - start)
        rates += [schedule.rate, *schedule.record_rounds([True] * (stop - start))[:-1]]
        schedule = pickle.loads(pickle.dumps(schedule))
    assert_allclose([*rates, schedule.rate], expected, rtol=1e-15)
    Y = np.eye(10, dtype=int)[y]
    for model in (SemiBanditRanker(k=2), TopKAdaptive("trees", 1, k=2)):
        model.set_params(exploration=exploration, random_state=0).partial_fit(X[:9], Y[:9])
        p = model.explore(X[9:10]).propensities[0, 0, 0]
        assert min(abs(p - expected[9] / 5), abs(p - 1 + 0.8 * expected[9])) < 1e-12


def check_self_tuned(rates, rule, hits, l2, l1):
    """Check the rates of all rounds: Eqs. 6.3 to 6.5 with the derivatives of w_2 and w_1."""

    def slope(z, power):
        return power * (1 + z) ** (power - 1)

    for t, rate in enumerate(rates, start=1):
        before = np.array(hits[: t - 1], dtype=float)
        gain, miss = np.sum(1 + 2 * before), np.sum(1 - before)
        wanted = {
            "ag1": slope(gain, l2) / (2 * slope(0, l2)),
            "ag2": slope(t, l2) / (2 * slope(miss, l1)),
            "ag3": slope(gain, l2) / (2 * slope(miss, l1)),
        }
        assert rate == pytest.approx(wanted[rule], rel=1e-12)
        assert 0 < rate <= 0.5


@given(
    hits=st.lists(st.booleans(), max_size=40),
    powers=st.tuples(st.floats(0.05, 1), st.floats(0.05, 1)).map(sorted) | st.none(),
    rule=st.sampled_from(["ag1", "ag2", "ag3"]),
    cut=st.integers(0, 40),
)
def test_self_tuned_rates(hits, powers, rule, cut):
    """Support functions (1 + z)^l_j, l_2 <= l_1; the exponents of the names are 0.1."""
    l2, l1 = powers or (0.1, 0.1)
    exploration = SelfTunedExploration(rule, power=l2, miss_power=l1) if powers else rule
    schedule = make_schedule(exploration)
    rates = [schedule.rate, *schedule.record_rounds(hits[:cut])]
    rates += pickle.loads(pickle.dumps(schedule)).record_rounds(hits[cut:])
    check_self_tuned(rates, rule, hits, l2, l1)


@pytest.mark.parametrize("make", [BanditronClassifier, LinUCBClassifier])
@pytest.mark.parametrize("exploration", [rate_of, "ag3"])
def test_rates_of_models(make, exploration):
    """The records have the propensities of these rates; models go on after pickles."""
    model, hits, rates = make(exploration=exploration, random_state=0), [], []
    for start, stop in ((0, 1), (1, 20), (20, 60)):
        shown = model.explore(X[start:stop], classes=range(10))
        rates.append(model.exploration_)
        greedy = shown.propensities > rates[-1] / 10 + 1e-9
        assert_allclose(shown.propensities[~greedy], rates[-1] / 10)
        assert_allclose(shown.propensities[greedy], 1 - rates[-1] + rates[-1] / 10)
        rewards = y[start:stop] == shown.actions
        for i in range(start, stop):
            # Of Banditron; the greedy class of LinUCB is that of the largest confidence bound.
            hits.append(rewards[i - start] and model.predict(X[[i]])[0] == shown.actions[i - start])
            model.partial_fit_feedback(X[[i]], shown[i - start], rewards[[i - start]])
    if exploration is rate_of:
        assert_allclose([*rates, model.exploration_], [rate_of(t) for t in (1, 2, 21, 61)])
    elif make is BanditronClassifier:
        assert model.exploration_ == make_schedule("ag3").record_rounds(hits)[-1]
    saved = pickle.loads(pickle.dumps(model)).partial_fit(X, y)
    assert_array_equal(saved.decision_function(X), model.partial_fit(X, y).decision_function(X))


@pytest.mark.parametrize("rate", [0, 1.5, np.nan, "0.1", None])
def test_rates_of_a_function_out_of_range(rate, fingerprint):
    model = BanditronClassifier(
        exploration=lambda t: rate if t == 60 else 0.1, max_iter=1, shuffle=False
    )
    model.fit(X[:50], y[:50])
    before = fingerprint(model._rounds)
    with pytest.raises(ValueError, match=r"a number in \(0, 1\] for each round, got .* round 60"):
        model.partial_fit(X[30:50], y[30:50])
    assert fingerprint(model._rounds) == before
    with pytest.raises(ValueError, match="for round 1"):
        BanditronClassifier(exploration=lambda t: rate, shuffle=False).fit(X, y)


def test_estimates_of_misses_are_upper_bounds():
    """In the mean, as Chapter 6 states."""
    n_classes, rate, n_rounds = 4, 0.3, 20_000
    p = 1 - rate + rate / n_classes
    random_state = np.random.RandomState(0)
    for wrong in (0.1, 0.4, 1.0):
        hits = random_state.uniform(size=n_rounds) < (1 - wrong) * p
        schedule = make_schedule("ag2")
        schedule.record_rounds(hits)
        misses = 1 - schedule.n_hits / n_rounds
        assert misses == pytest.approx(1 - (1 - wrong) * p, abs=0.02)
        assert misses >= wrong


def test_self_tuned_exploration_of_a_model():
    """A clone starts anew; each model has a schedule of its own."""
    model = BanditronClassifier(exploration=SelfTunedExploration("ag2"), random_state=0)
    first = model.fit(X, y).decision_function(X)
    again = clone(model).fit(X, y)
    assert_array_equal(again.decision_function(X), first)
    assert repr(model.exploration) == (
        f"SelfTunedExploration(rule='ag2', power={1 / 3}, miss_power={2 / 3})"
    )
    assert repr(SCHEDULES["ag0"]) == f"DecayingExploration(power={1 / 3}, scale=0.5)"


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (SelfTunedExploration, {"rule": "ag0"}, "rule must be"),
        (SelfTunedExploration, {"rule": ["ag1"]}, "rule must be"),
        (SelfTunedExploration, {"power": 0}, "power must be"),
        (SelfTunedExploration, {"power": True}, "power must be"),
        (SelfTunedExploration, {"power": 0.5, "miss_power": 0.4}, "miss_power must be"),
        (SelfTunedExploration, {"miss_power": 1.1}, "miss_power must be"),
        (DecayingExploration, {"power": -1}, "power must be 0 or more and scale in"),
        (DecayingExploration, {"scale": 0}, "power must be 0 or more and scale in"),
    ],
)
def test_bad_parameters(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters)

"""Exploration schedules against the equations, with sums over all rounds."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklrank.feedback._schedules import SCHEDULES, make_schedule

from sklrank.feedback import SelfTunedExploration
from sklrank.linear_model import BanditronClassifier, LinUCBClassifier

POWER = 0.1


def derivative(z):
    """Return the derivative of the support function (1 + z)^0.1."""
    return POWER * (1 + z) ** (POWER - 1)


def expected(name, hits, propensities):
    """Return the rate of the next round by Valizadegan (2010), Eqs. 6.3 to 6.5."""
    hits, t = np.asarray(hits, dtype=float), len(hits) + 1
    mu, tau = 2 * hits, 1 - hits
    age = np.arange(len(hits))[::-1]
    if name == "decay":
        return t ** (-1 / 3) / 2
    if name == "ag1":
        return derivative(np.sum(1 + mu)) / (2 * derivative(0))
    if name == "ag2":
        return derivative(t) / (2 * derivative(np.sum(tau)))
    if name == "ag2-unbiased":
        total = 0.0
        for hit, propensity in zip(hits, propensities):
            total = max(total + 1 - hit / propensity, 0.0)
        return derivative(t) / (2 * derivative(total))
    if name == "ag3":
        return derivative(np.sum(1 + mu)) / (2 * derivative(np.sum(tau)))
    assert name == "ag3-forgetting"
    return derivative(np.sum(0.99**age * (1 + mu))) / (2 * derivative(np.sum(0.99**age * tau)))


ROUNDS = st.lists(st.tuples(st.booleans(), st.floats(0.5, 1.0)), max_size=40)


@given(rounds=ROUNDS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_follow_the_equations(name, rounds):
    """In each round, from the first on; all rates are in (0, 1/2]."""
    schedule = make_schedule(name)
    hits, propensities = [hit for hit, _ in rounds], [p for _, p in rounds]
    rates = [schedule.rate, *schedule.record_rounds(hits, propensities)]
    assert_allclose(
        rates, [expected(name, hits[:t], propensities[:t]) for t in range(len(rates))], rtol=1e-12
    )
    assert 0 < min(rates) and max(rates) <= 0.5


@pytest.mark.parametrize("name", [*SCHEDULES, 0.3])
def test_pickles_go_on(name):
    random = np.random.RandomState(0)
    hits, propensities = random.rand(200) < 0.5, random.uniform(0.5, 1, 200)
    one, two = make_schedule(name), make_schedule(name)
    at_once = one.record_rounds(hits, propensities)
    two.record_rounds(hits[:70], propensities[:70])
    two = pickle.loads(pickle.dumps(two))
    assert two.record_rounds(hits[70:], propensities[70:]) == at_once[70:]
    assert two.n_rounds == 200


def test_constant_is_constant():
    assert set(make_schedule(0.3).record_rounds([True, False] * 5, [0.5] * 10)) == {0.3}


def rate_of(t):
    return 1 / (1 + t) ** 0.4


@pytest.mark.parametrize("make", [BanditronClassifier, LinUCBClassifier])
def test_rates_of_a_function(make):
    """The records have the propensities of these rates, whatever the division into calls."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:60], y[:60]
    model = make(exploration=rate_of, random_state=0)
    for start, stop in ((0, 1), (1, 20), (20, 60)):
        shown = model.explore(X[start:stop], classes=range(10))
        expected = rate_of(start + 1)
        greedy = shown.propensities > expected / 10 + 1e-9
        assert_allclose(shown.propensities[~greedy], expected / 10)
        assert_allclose(shown.propensities[greedy], 1 - expected + expected / 10)
        rewards = y[start:stop] == shown.actions
        model.partial_fit_feedback(X[start:stop], shown, rewards)
        assert_allclose(model.exploration_, rate_of(stop + 1))
    whole = make(exploration=rate_of, max_iter=1, random_state=0).fit(X, y)
    parts = make(exploration=rate_of, random_state=0)
    for start, stop in ((0, 1), (1, 20), (20, 60)):
        parts.partial_fit(X[start:stop], y[start:stop], classes=range(10))
    assert_allclose(parts.decision_function(X), whole.decision_function(X))
    assert_allclose(whole.exploration_, rate_of(61))
    saved = pickle.loads(pickle.dumps(parts)).partial_fit(X, y)
    assert_allclose(saved.decision_function(X), parts.partial_fit(X, y).decision_function(X))


def test_a_function_of_constant_rates_equals_a_number():
    X, y = load_digits(return_X_y=True)
    by_number = BanditronClassifier(exploration=0.3, random_state=0).fit(X[:200], y[:200])
    by_function = clone(by_number).set_params(exploration=lambda t: 0.3).fit(X[:200], y[:200])
    assert_allclose(by_function.coef_, by_number.coef_)


@pytest.mark.parametrize("rate", [0, 1.5, np.nan, "0.1", None])
def test_rates_of_a_function_out_of_range(rate, fingerprint):
    X, y = load_digits(return_X_y=True)
    model = BanditronClassifier(exploration=lambda t: rate if t == 60 else 0.1, max_iter=1)
    model.fit(X[:50], y[:50])
    before = fingerprint(model._rounds)
    with pytest.raises(ValueError, match=r"a number in \(0, 1\] for each round, got .* round 60"):
        model.partial_fit(X[50:70], y[50:70])
    assert fingerprint(model._rounds) == before
    with pytest.raises(ValueError, match="for round 1"):
        BanditronClassifier(exploration=lambda t: rate).fit(X, y)


def test_estimates_of_misses():
    """In the mean, that of the thesis is an upper bound, and the other one is unbiased."""
    n_classes, rate, n_rounds = 4, 0.3, 20_000
    p = 1 - rate + rate / n_classes
    random_state = np.random.RandomState(0)
    for wrong in (0.1, 0.4, 1.0):
        hits = random_state.uniform(size=n_rounds) < (1 - wrong) * p
        means = []
        for name in ("ag2", "ag2-unbiased"):
            schedule = make_schedule(name)
            schedule.record_rounds(hits, np.full(n_rounds, p))
            means.append(schedule.__getstate__()["sum_misses"] / n_rounds)
        assert means[0] == pytest.approx(1 - (1 - wrong) * p, abs=0.02)
        assert means[0] >= wrong
        assert means[1] == pytest.approx(wrong, abs=0.02)
    text, unbiased = make_schedule("ag2"), make_schedule("ag2-unbiased")
    text.record_rounds([True, False] * 50, [p] * 100)
    unbiased.record_rounds([True, False] * 50, [p] * 100)
    assert unbiased.rate < text.rate


def test_forgetting_adapts_to_recent_rounds():
    """A hundred bad rounds after a thousand good ones increase the rate."""
    rates = {}
    for name in ("ag3", "ag3-forgetting"):
        schedule = make_schedule(name)
        good = schedule.record_rounds([True] * 1000, [0.9] * 1000)[-1]
        bad = schedule.record_rounds([False] * 100, [0.9] * 100)[-1]
        rates[name] = good, bad
    assert rates["ag3-forgetting"][1] > 0.1 > 0.03 > rates["ag3"][1]


def check_self_tuned(rates, rule, hits, slope_2, slope_1):
    """Check the rates of all rounds: Eqs. 6.3 to 6.5 with the derivatives of w_2 and w_1."""
    for t, rate in enumerate(rates, start=1):
        before = np.array(hits[: t - 1], dtype=float)
        gain, miss = np.sum(1 + 2 * before), np.sum(1 - before)
        if rule == "ag1":
            wanted = slope_2(gain) / (2 * slope_2(0))
        elif rule == "ag2":
            wanted = slope_2(t) / (2 * slope_1(miss))
        else:
            wanted = slope_2(gain) / (2 * slope_1(miss))
        assert rate == pytest.approx(wanted, rel=1e-12)
        assert 0 < rate <= 0.5


@given(
    rounds=ROUNDS,
    powers=st.tuples(st.floats(0.05, 1), st.floats(0.05, 1)).map(sorted),
    rule=st.sampled_from(["ag1", "ag2", "ag3"]),
)
def test_support_functions_of_choice(rounds, powers, rule):
    """Eqs. 6.3 to 6.5 with w_j(z) = (1 + z)^l_j, l_2 <= l_1; rates are in (0, 1/2]."""
    l2, l1 = powers
    hits, propensities = [hit for hit, _ in rounds], [p for _, p in rounds]
    schedule = make_schedule(SelfTunedExploration(rule, power=l2, miss_power=l1))
    rates = [schedule.rate, *schedule.record_rounds(hits, propensities)]
    slopes = [lambda z, l=l: l * (1 + z) ** (l - 1) for l in (l2, l1)]
    check_self_tuned(rates, rule, hits, *slopes)


def inverse(z):
    """Return the derivative of log(1 + z)."""
    return 1 / (1 + z)


def decaying(z):
    """Return the derivative of a concave function, which is below that of log(1 + z)."""
    return np.exp(-z / 50) / 2 * inverse(z)


SUPPORT = [(decaying, inverse), (decaying, None), (inverse, inverse)]


@settings(max_examples=15)
@given(rounds=ROUNDS, cuts=st.lists(st.integers(1, 39), max_size=3), pickled=st.booleans())
@pytest.mark.parametrize("functions", SUPPORT)
@pytest.mark.parametrize("rule", ["ag1", "ag2", "ag3"])
def test_support_functions_of_the_user(rule, functions, rounds, cuts, pickled):
    """Eqs. 6.3 to 6.5, with sums over all rounds, whatever the division into calls."""
    exploration = SelfTunedExploration(rule, derivative=functions[0], miss_derivative=functions[1])
    slope_2, slope_1 = functions[0], functions[1] or functions[0]
    hits = np.array([hit for hit, _ in rounds], dtype=float)
    schedule = make_schedule(exploration)
    rates = [schedule.rate]
    for part in np.split(hits, sorted(cuts)):
        schedule.prepare(exploration, len(part))
        rates += schedule.record_rounds(part, np.ones(len(part)))
        schedule = pickle.loads(pickle.dumps(schedule)) if pickled else schedule
        assert schedule.rate == rates[-1]
    check_self_tuned(rates, rule, hits, slope_2, slope_1)


@pytest.mark.parametrize("rule", ["ag1", "ag2", "ag3"])
def test_derivatives_of_powers_are_the_powers(rule):
    X, y = load_digits(return_X_y=True)
    by_power = SelfTunedExploration(rule, power=0.3, miss_power=0.6)
    by_derivative = SelfTunedExploration(
        rule,
        derivative=lambda z: 0.3 * (1 + z) ** -0.7,
        miss_derivative=lambda z: 0.6 * (1 + z) ** -0.4,
    )
    expected = BanditronClassifier(exploration=by_power, random_state=0).fit(X[:300], y[:300])
    model = clone(expected).set_params(exploration=by_derivative).fit(X[:300], y[:300])
    assert model.exploration_ == pytest.approx(expected.exploration_)
    assert_allclose(model.coef_, expected.coef_)


@pytest.mark.parametrize(
    ("derivative", "miss_derivative", "message"),
    [
        (lambda z: 1 + z, None, "derivative must not increase"),
        (lambda z: 1 - z / 10, None, "derivative must map an array of numbers, here from 0 to"),
        (lambda z: 1.0, None, "to an array of positive numbers of the same shape"),
        (inverse, lambda z: 0.9 * inverse(z), "miss_derivative must not be smaller than deriv"),
        (inverse, lambda z: np.full(len(z), np.nan), "miss_derivative must map"),
    ],
)
def test_bad_derivatives(derivative, miss_derivative, message, fingerprint):
    """They are called before the model learns."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:100], y[:100]
    model = BanditronClassifier(exploration=SelfTunedExploration(derivative=inverse)).fit(X, y)
    before = fingerprint(model._rounds)
    bad = SelfTunedExploration(derivative=derivative, miss_derivative=miss_derivative)
    with pytest.raises(ValueError, match=message):
        model.set_params(exploration=bad).fit(X, y)
    assert fingerprint(model._rounds) == before


@pytest.mark.parametrize("rule", ["ag1", "ag2", "ag3"])
def test_powers_of_the_experiments_are_the_named_schedules(rule):
    """Bit by bit."""
    random = np.random.RandomState(0)
    hits, propensities = random.rand(300) < 0.7, random.uniform(0.5, 1, 300)
    named, chosen = make_schedule(rule), SelfTunedExploration(rule, power=0.1, miss_power=0.1)
    assert make_schedule(chosen).record_rounds(hits, propensities) == named.record_rounds(
        hits, propensities
    )


def test_self_tuned_exploration_of_a_model():
    """A clone starts anew; each model has a schedule of its own."""
    X, y = load_digits(return_X_y=True)
    model = BanditronClassifier(exploration=SelfTunedExploration("ag2"), random_state=0)
    first = model.fit(X, y).decision_function(X)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), first)
    assert again.score(X, y) > 0.3  # a random class: 0.1
    assert repr(model.exploration) == (
        f"SelfTunedExploration('ag2', power={1 / 3}, miss_power={2 / 3}, forgetting_factor=1.0)"
    )
    assert repr(SelfTunedExploration("ag1", derivative=inverse)) == (
        f"SelfTunedExploration('ag1', derivative={inverse!r}, miss_derivative=None)"
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rule": "ag0"}, "rule must be"),
        ({"rule": ["ag1"]}, "rule must be"),
        ({"power": 0}, "power must be"),
        ({"power": True}, "power must be"),
        ({"power": 0.5, "miss_power": 0.4}, "miss_power must be"),
        ({"miss_power": 1.1}, "miss_power must be"),
        ({"forgetting_factor": 0.0}, "forgetting_factor must be"),
        ({"derivative": 0.5}, "derivative must be callable"),
        ({"derivative": inverse, "miss_derivative": "log"}, "miss_derivative must be callable"),
        ({"miss_derivative": inverse}, "miss_derivative requires derivative"),
        ({"derivative": inverse, "forgetting_factor": 0.9}, "forgetting_factor must be 1"),
    ],
)
def test_bad_support_functions(parameters, message):
    with pytest.raises(ValueError, match=message):
        SelfTunedExploration(**parameters)

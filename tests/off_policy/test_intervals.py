"""Intervals: their definitions, and how often they contain the value."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from sklrank.feedback import Exploration
from sklrank.off_policy import confidence_sequence, list_policy_value, policy_value
from sklrank.off_policy._intervals import bootstrap_interval

# Logging policy, policy, and probability of a reward of 1, of three labels.
LOGGING, POLICY, CHANCES = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.2, 0.5, 0.7]])
VALUE = POLICY @ CHANCES


def simulate(random, n):
    actions = random.choice(3, p=LOGGING, size=n)
    rewards = (random.rand(n) < CHANCES[actions]).astype(float)
    return rewards, Exploration(actions, LOGGING[actions]), np.tile(POLICY, (n, 1))


def slow_lower_bounds(terms, error, horizon):
    """Waudby-Smith et al. 2022, Theorem 2 with k = 0, one term at a time."""
    gains = costs = bets = 0.0
    guess, squares, total, best, found = 0.5, 0.25, 0.0, 0.0, []
    for t, xi in enumerate(terms, start=1):
        scale = t * np.log(1 + t) if horizon is None else horizon
        bet = min(np.sqrt(2 * np.log(1 / error) / (squares / t * scale)), 1 / 2)
        gains, bets = gains + bet * xi, bets + bet
        costs += (xi - guess) ** 2 * (-np.log(1 - bet) - bet)
        best = max(best, (gains - np.log(1 / error) - costs) / bets)
        found.append(best)
        total += xi
        guess = min(total / t, 1)
        squares += (xi - guess) ** 2
    return np.array(found)


@pytest.mark.parametrize("horizon", [None, 50])
@pytest.mark.parametrize("low, high", [(0, 1), (-2, 3)])
def test_sequences_are_the_definition(horizon, low, high):
    random = np.random.RandomState(0)
    rewards, weights = random.uniform(low, high, size=50), random.exponential(size=50)
    found = confidence_sequence(
        rewards, weights, confidence=0.9, reward_range=(low, high), horizon=horizon
    )
    scaled = (rewards - low) / (high - low)
    lower = slow_lower_bounds(weights * scaled, 0.05, horizon)
    upper = 1 - slow_lower_bounds(weights * (1 - scaled), 0.05, horizon)
    assert_allclose([found.low, found.high], low + (high - low) * np.array([lower, upper]))
    assert_allclose(found.value, [(weights * rewards)[: t + 1].mean() for t in range(50)])


def test_sequences_may_be_computed_as_the_log_grows():
    """An interval depends only on the samples before it."""
    random = np.random.RandomState(1)
    rewards, weights = random.rand(300), random.exponential(size=300)
    whole, part = (confidence_sequence(rewards[:n], weights[:n]) for n in (300, 120))
    for name in whole:
        assert_allclose(whole[name][:120], part[name])


def test_intervals_of_estimates_are_the_definitions():
    log = rewards, exploration, _ = simulate(np.random.RandomState(2), 500)
    weights = (POLICY / LOGGING)[exploration.actions]
    terms = weights * rewards
    found = policy_value(*log, method="ips", confidence=0.9)
    margin = norm.ppf(0.95) * terms.std(ddof=1) / np.sqrt(500)
    assert_allclose([found.low, found.high], [terms.mean() - margin, terms.mean() + margin])
    for kind, horizon in (("bernstein", 500), ("sequence", None)):
        found = policy_value(*log, method="ips", interval=kind)
        bounds = confidence_sequence(rewards, weights, horizon=horizon)
        assert_allclose([found.low, found.high], [bounds.low[-1], bounds.high[-1]])
    with pytest.raises(ValueError, match="reward_range"):
        confidence_sequence(rewards + 1, weights)
    for bounds in (1, None, (1, 0), (0, np.inf), (0, 1, 2)):
        with pytest.raises(ValueError, match="reward_range must be"):
            confidence_sequence(rewards, weights, reward_range=bounds)
    for horizon in (0, -1, 0.5, "all"):
        with pytest.raises(ValueError, match="horizon must be a positive integer"):
            confidence_sequence(rewards, weights, horizon=horizon)
    with pytest.raises(ValueError, match="weights must be finite"):
        confidence_sequence(rewards, -weights)
    with pytest.raises(ValueError, match="one shape"):
        confidence_sequence(rewards, weights[1:])


@pytest.mark.parametrize("method", ["ips", "snips", "dr", "sndr"])
@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_bootstrap(method, noise):
    """Rows are drawn; if few rows differ, only the number of rows of each kind is."""
    rewards, exploration, policy = simulate(np.random.RandomState(2), 500)
    rewards = rewards + noise * np.random.RandomState(3).rand(500)
    model = np.tile([0.4, 0.3, 0.5], (500, 1))
    options = {"interval": "bootstrap", "reward_model": model, "random_state": 0}
    found = policy_value(rewards, exploration, policy, method=method, **options)
    weights, baseline = (POLICY / LOGGING)[exploration.actions], np.zeros(500)
    if method.endswith("dr"):
        rewards, baseline = rewards - model[0, exploration.actions], np.full(500, model[0] @ POLICY)
    random, values = np.random.RandomState(0), []
    for _ in range(1000):
        rows = random.randint(500, size=500)
        total = weights[rows].sum() if method.startswith("sn") else 500
        values.append(baseline[rows].mean() + weights[rows] @ rewards[rows] / total)
    expected = np.quantile(values, [0.025, 0.975])
    if noise:
        assert_allclose([found.low, found.high], expected, rtol=1e-12)
    else:
        # Five standard errors of the difference of two quantiles of 1,000 values.
        errors = np.std(values) * np.sqrt(2 * 0.025 * 0.975 / 1000) / norm.pdf(norm.ppf(0.975))
        assert_allclose([found.low, found.high], expected, rtol=0, atol=5 * errors)


def test_bootstrap_draws_the_numbers_of_few_distinct_rows():
    terms = np.repeat([0.5, -1.0, 3.0], [300, 150, 50])
    numbers = np.random.RandomState(1).multinomial(500, [0.3, 0.6, 0.1], 1000)
    expected = np.quantile(numbers @ [-1.0, 0.5, 3.0] / 500, [0.05, 0.95])
    found = bootstrap_interval(terms, terms[:, np.newaxis], 0.9, np.random.RandomState(1))
    assert_allclose(found, expected, rtol=1e-12)


N_RUNS = 200
# Three standard errors of the share of runs in which an interval of 95 % contains the value.
MARGIN = 3 * np.sqrt(0.05 * 0.95 / N_RUNS)


def coverage(estimates, value=VALUE):
    """Return the share of the runs in which the intervals contain the value, for each interval."""
    random = np.random.RandomState(3)
    found = [estimates(random) for _ in range(N_RUNS)]
    return np.mean([[each.low <= value <= each.high for each in run] for run in found], axis=0)


@pytest.mark.slow
def test_intervals_contain_the_value_as_often_as_they_say():
    """Normal ones, also with a fitted model, and the bootstrap of means and of ratios."""
    model = np.tile([0.4, 0.4, 0.5], (400, 1))
    kinds = [{"method": method, "reward_model": model} for method in ("ips", "snips", "dr", "sndr")]
    kinds += [{"method": "dr", "reward_model": LogisticRegression()}]
    kinds += [kind | {"interval": "bootstrap"} for kind in kinds[1:3]]

    def estimates(random):
        log = simulate(random, 400)
        return [policy_value(*log, random_state=random, **kind) for kind in kinds]

    assert_allclose(coverage(estimates), 0.95, rtol=0, atol=MARGIN)


@pytest.mark.slow
def test_intervals_of_lists_contain_the_value_as_often_as_they_say():
    policy = np.array([0.45, 0.7, 0.85])  # probability that each label is one of two
    value = policy @ CHANCES

    def estimates(random):
        actions = np.array([random.permutation(3)[:2] for _ in range(300)])
        pairs = np.where(np.eye(2, dtype=bool), 2 / 3, 1 / 3)
        log = Exploration(actions, np.broadcast_to(pairs, (300, 2, 2)))
        clicks = random.rand(300, 2) < CHANCES[actions]
        return [list_policy_value(clicks, log, np.tile(policy, (300, 1)))]

    assert_allclose(coverage(estimates, value), 0.95, rtol=0, atol=MARGIN)


@pytest.mark.slow
@pytest.mark.parametrize("horizon", [None, 2000])
def test_sequences_contain_the_value_at_every_time_at_once(horizon):
    random, weights = np.random.RandomState(4), POLICY / LOGGING
    inside, widths = 0, []
    for _ in range(N_RUNS):
        rewards, log, _ = simulate(random, 2000)
        found = confidence_sequence(rewards, weights[log.actions], horizon=horizon)
        inside += np.all((found.low <= VALUE) & (VALUE <= found.high))
        widths.append(found.high[-1] - found.low[-1])
    assert inside >= 0.95 * N_RUNS
    # The interval of the central limit theorem, which holds at one time, is half as wide.
    variance = LOGGING @ (weights**2 * CHANCES) - VALUE**2
    assert np.mean(widths) < 4 * 2 * 1.96 * np.sqrt(variance / 2000)


@pytest.mark.slow
def test_bernstein_intervals_hold_for_few_samples():
    def estimates(random):
        return [policy_value(*simulate(random, 100), method="ips", interval="bernstein")]

    with pytest.warns(UserWarning):
        assert coverage(estimates) >= 0.95

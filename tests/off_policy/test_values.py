"""Estimates of the value of a policy: definitions, unbiasedness by enumeration, warnings."""

import importlib.util
import os
import tracemalloc
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, softmax
from scipy.stats import sem
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_val_score

from sklrank.feedback import Exploration
from sklrank.linear_model import LinUCBClassifier
from sklrank.off_policy import (
    OffPolicyClassifier,
    OffPolicyWarning,
    list_policy_value,
    policy_value,
    policy_value_score,
)

# Small problems are problems of which the log says little.
quiet = pytest.mark.filterwarnings("ignore::sklrank.off_policy.OffPolicyWarning")
FIELDS = {"value", "standard_error", "low", "high", "effective_sample_size", "max_weight"}
FIELDS |= {"mean_weight", "threshold", "n_samples"}


def simplex(random, *shape):
    values = random.exponential(size=shape)
    return values / values.sum(axis=-1, keepdims=True)


@pytest.fixture
def problem():
    """A log of 400 samples with 4 labels, real and predicted rewards, and the logging policy."""
    random = np.random.RandomState(0)
    logging, policy = (0.5 + simplex(random, 400, 4)) / 3, simplex(random, 400, 4)
    actions = np.array([random.choice(4, p=row) for row in logging])
    rows = np.arange(400)
    expected = random.normal(size=(400, 4))
    rewards = expected[rows, actions] + random.normal(size=400)
    predicted = expected + random.normal(size=(400, 4))
    log = Exploration(actions, logging[rows, actions])
    return rewards, log, policy, predicted, logging


def slow_value(method, rewards, log, policy, predicted, threshold):
    """The definitions, one sample at a time."""
    n = len(rewards)
    weights = [policy[i, a] / p for i, (a, p) in enumerate(zip(log.actions, log.propensities))]
    total, mean_weight = 0.0, sum(weights) / n
    for i, (reward, w) in enumerate(zip(rewards, weights)):
        model = sum(policy[i, a] * predicted[i, a] for a in range(policy.shape[1]))
        error = reward - predicted[i, log.actions[i]]
        total += {
            "ips": lambda w=w, r=reward: w * r,
            "snips": lambda w=w, r=reward: w / mean_weight * r,
            "clipped": lambda w=w, r=reward: min(w, threshold) * r,
            "dm": lambda q=model: q,
            "dr": lambda w=w, q=model, e=error: q + w * e,
            "sndr": lambda w=w, q=model, e=error: q + w / mean_weight * e,
            "switch-dr": lambda w=w, q=model, e=error: q + (w * e if w <= threshold else 0),
            # Su et al. 2020: lambda w / (w**2 + lambda).
            "dr-os": lambda w=w, q=model, e=error: q + threshold * w / (w**2 + threshold) * e,
        }[method]()
    return total / n


METHODS = ["ips", "snips", "clipped", "dm", "dr", "sndr", "switch-dr", "dr-os"]


@quiet
@pytest.mark.parametrize("threshold", [0.5, 2.0, 1e9])
@pytest.mark.parametrize("method", METHODS)
def test_value_is_the_definition(problem, method, threshold):
    rewards, log, policy, predicted, _ = problem
    options = {"method": method, "threshold": threshold, "reward_model": predicted}
    found = policy_value(rewards, log, policy, **options)
    assert_allclose(found.value, slow_value(method, rewards, log, policy, predicted, threshold))
    assert set(found) == FIELDS and found.low < found.value < found.high
    weights = policy[np.arange(400), log.actions] / log.propensities
    assert_allclose(found.max_weight, max(weights))
    assert_allclose(found.mean_weight, weights.mean())
    assert_allclose(found.effective_sample_size, weights.sum() ** 2 / (weights**2).sum())


def logs_of(logging, rewards):
    """Yield all logs of a few samples: probability, record, rewards."""
    n, m = logging.shape
    rows = np.arange(n)
    for actions in product(range(m), repeat=n):
        propensities = logging[rows, actions]
        yield propensities.prod(), Exploration(actions, propensities), rewards[rows, list(actions)]


@quiet
@pytest.mark.parametrize("method", ["ips", "dr"])
def test_estimates_are_unbiased_over_all_logs(method):
    random = np.random.RandomState(1)
    logging, policy, rewards = simplex(random, 3, 4), simplex(random, 3, 4), random.rand(3, 4)
    options = {"method": method, "reward_model": random.normal(size=(3, 4))}  # any wrong model
    total = 0.0
    for probability, log, seen in logs_of(logging, rewards):
        total += probability * policy_value(seen, log, policy, **options).value
    assert_allclose(total, (policy * rewards).sum(axis=1).mean())


@quiet
@pytest.mark.parametrize("method", ["dm", "dr", "sndr", "switch-dr", "dr-os"])
def test_right_models_need_no_propensities(method):
    random = np.random.RandomState(2)
    logging, policy, rewards = simplex(random, 3, 4), simplex(random, 3, 4), random.rand(3, 4)
    for _, log, seen in logs_of(logging, rewards):
        wrong = Exploration(log.actions, random.rand(3))
        found = policy_value(seen, wrong, policy, method=method, reward_model=rewards)
        assert_allclose(found.value, (policy * rewards).sum(axis=1).mean())


@quiet
def test_variances_are_in_the_order_of_theory():
    """A good model reduces the variance of ips, shrinkage that of dr, and dm has the least."""
    random = np.random.RandomState(4)
    logging, policy, rewards = simplex(random, 2, 5), simplex(random, 2, 5), 1 + random.rand(2, 5)
    model = rewards + 0.3 * random.normal(size=(2, 5))
    means, squares = dict.fromkeys(METHODS, 0.0), dict.fromkeys(METHODS, 0.0)
    for probability, log, seen in logs_of(logging, rewards):
        for method in METHODS:
            options = {"reward_model": model, "threshold": 1.5}
            value = policy_value(seen, log, policy, method=method, **options).value
            means[method] += probability * value
            squares[method] += probability * value**2
    variances = {method: squares[method] - means[method] ** 2 for method in METHODS}
    assert variances["dm"] == pytest.approx(0, abs=1e-12)
    assert variances["dm"] < variances["dr-os"] < variances["dr"] < variances["ips"]
    assert variances["switch-dr"] < variances["dr"]
    assert max(variances["clipped"], variances["snips"]) < variances["ips"]


@quiet
@pytest.mark.parametrize("method", ["clipped", "dr-os"])
def test_thresholds_have_the_least_bound_on_the_squared_error(method):
    random, chosen = np.random.RandomState(0), []
    function = {"clipped": min, "dr-os": lambda w, t: w / (1 + w**2 / t)}[method]
    for _ in range(20):
        first = random.beta(0.6, 0.6, size=300).clip(0.002, 0.998)
        actions = (random.rand(300) < first).astype(int)
        propensities = np.where(actions == 1, first, 1 - first)
        log, rewards = Exploration(actions, propensities), random.rand(300)
        policy, weights = np.full((300, 2), 0.5), 0.5 / propensities
        options = {"method": method, "reward_model": np.zeros((300, 2))}
        found = policy_value(rewards, log, policy, **options)
        bounds, largest = {}, 5 * 10 ** np.floor(np.log10(weights.max() ** 2))
        for t in (np.inf, 50_000, 10_000, 5000, 1000, 500, 100, 50, 10):
            terms = [function(w, t) * r for w, r in zip(weights, rewards)]
            changes = weights * rewards - terms
            bias = abs(np.mean(changes)) + 2 * np.std(changes) / np.sqrt(300)
            if t == np.inf or t <= largest:
                bounds[t] = np.var(terms) / 300 + bias**2
        assert bounds[found.threshold] == pytest.approx(min(bounds.values()))
        options["threshold"] = found.threshold
        assert found.value == policy_value(rewards, log, policy, **options).value
        chosen.append(found.threshold)
    assert min(chosen) < max(chosen) == np.inf


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("kind", ["even", "concentrated", "heavy tails"])
@pytest.mark.parametrize("method", ["clipped", "switch-dr", "dr-os"])
def test_chosen_thresholds_do_not_increase_the_error(method, kind):
    """The mean squared error over 300 logs, beyond its own standard error."""
    random = np.random.RandomState(0)
    utility = random.normal(size=(500, 10))
    spread = {"even": 0.3, "concentrated": 2.0, "heavy tails": 1.5}[kind]
    noise = random.standard_t(2, size=(500, 10)) if kind == "heavy tails" else 0
    logging = softmax(spread * random.normal(size=(500, 10)) + noise, axis=1)
    policy, rewards = softmax(utility, axis=1), expit(utility)
    model = 0.7 * rewards + 0.1
    errors = {np.inf: [], "auto": []}
    for _ in range(300):
        actions = (logging.cumsum(axis=1) > random.rand(500, 1)).argmax(axis=1)
        seen = random.rand(500) < rewards[np.arange(500), actions]
        log = Exploration(actions, logging[np.arange(500), actions])
        for threshold, found in errors.items():
            options = {"method": method, "reward_model": model, "threshold": threshold}
            value = policy_value(seen.astype(float), log, policy, **options).value
            found.append((value - (policy * rewards).sum(axis=1).mean()) ** 2)
    assert np.mean(errors["auto"]) <= np.mean(errors[np.inf]) + sem(errors[np.inf])


def test_standard_errors_are_standard_deviations(problem):
    """The standard deviation of estimates from many logs of the same kind, normalized or not."""
    _, _, policy, predicted, logging = problem
    random, rows = np.random.RandomState(5), np.arange(400)
    found = {method: [] for method in ("ips", "snips", "dr", "sndr")}
    for _ in range(120):
        actions = (random.rand(400, 1) > logging.cumsum(axis=1)).sum(axis=1)
        actions = np.minimum(actions, 3)
        log = Exploration(actions, logging[rows, actions])
        rewards = 1 + predicted[rows, actions] + random.normal(size=400)
        for method, estimates in found.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OffPolicyWarning)
                options = {"method": method, "reward_model": predicted}
                estimates.append(policy_value(rewards, log, policy, **options))
    for method, estimates in found.items():
        values = [estimate.value for estimate in estimates]
        errors = [estimate.standard_error for estimate in estimates]
        assert np.median(errors) == pytest.approx(np.std(values), rel=0.25), method


@quiet
def test_missing_rewards_are_left_out(problem):
    rewards, log, policy, predicted, _ = problem
    rewards[::3] = np.nan
    known = np.arange(400) % 3 > 0
    X = np.arange(400.0)[:, None]
    whole, part = (rewards, log, policy), (rewards[known], log[known], policy[known])
    for method in METHODS:
        found = policy_value(*whole, method=method, reward_model=predicted)
        kept = policy_value(*part, method=method, reward_model=predicted[known])
        assert found == kept and found.n_samples == 266
    model = DummyRegressor()
    found = policy_value(*whole, reward_model=model, X=X)
    assert found == policy_value(*part, reward_model=model, X=X[known])


class Recorder(RegressorMixin, BaseEstimator):
    """Regressor that predicts 1000 times the label, plus the number of its samples."""

    fits = []

    def fit(self, X, y):
        self.fits.append((X, y))
        self.n_seen_ = len(X)
        return self

    def predict(self, X):
        return 1000.0 * X[:, 1:].argmax(axis=1) + self.n_seen_


@quiet
def test_models_are_cross_fitted():
    random = np.random.RandomState(6)
    X, actions = random.normal(size=(30, 1)), random.randint(3, size=30)
    log, policy = Exploration(actions, np.full(30, 1 / 3)), simplex(random, 30, 3)
    rewards, cv = random.rand(30), KFold(3)
    Recorder.fits.clear()
    found = policy_value(rewards, log, policy, reward_model=Recorder(), X=X, cv=cv, method="dm")
    assert_allclose(found.value, (policy @ [0, 1000, 2000]).mean() + 20)
    for (features, target), (train, _) in zip(Recorder.fits, cv.split(X), strict=True):
        assert_allclose(features, np.column_stack([X, np.eye(3)[actions]])[train])
        assert_allclose(target, rewards[train])


@quiet
def test_classifiers_of_rewards_predict_their_mean():
    random = np.random.RandomState(7)
    actions = random.randint(2, size=600)
    log, rewards = Exploration(actions, np.full(600, 0.5)), 3.0 * (random.rand(600) < actions * 0.8)
    always = np.ones(600, dtype=int)
    options = {"reward_model": LogisticRegression(), "method": "dm"}
    assert policy_value(rewards, log, always, **options).value == pytest.approx(2.4, abs=0.2)
    assert policy_value(np.zeros(600), log, always, **options).value == 0


def messages(rewards, log, policy):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        policy_value(rewards, log, policy, method="ips")
    assert all(e.category is OffPolicyWarning and e.filename == __file__ for e in caught)
    return " ".join(str(entry.message) for entry in caught)


def test_warnings_name_what_is_wrong():
    n, random = 1000, np.random.RandomState(8)
    actions, even = random.randint(4, size=n), np.full((n, 4), 1 / 4)
    log, rewards = Exploration(actions, np.full(n, 1 / 4)), np.ones(n)
    assert messages(rewards, log, even) == ""
    few = messages(rewards[:90], log[:90], even[:90])
    assert "effective sample size is 90" in few and "Use 'snips' or 'sndr'" in few
    small = np.where(np.arange(n) == 5, 1 / 4000, 1 / 4)
    three = np.minimum(actions, 2), np.where(actions < 2, 1 / 4, 1 / 2)
    for message, record in {
        "the mean weight is 2,": (actions, np.full(n, 1 / 8)),
        "one sample has 50% of all weight": (actions, small),
        "propensities are 1": (actions, np.where(actions == 0, 1.0, 1 / 4)),
        "with probability 0.25 what the log never shows": three,
    }.items():
        assert message in messages(rewards, Exploration(*record), even)


def test_forms_of_policies_are_equivalent():
    random = np.random.RandomState(9)
    X, actions = random.normal(size=(500, 3)), random.randint(2, size=500)
    log, rewards = Exploration(actions, np.full(500, 0.5)), random.rand(500)
    chosen = random.randint(2, size=500)
    one_hot = np.eye(2)[chosen]
    found = policy_value(rewards, log, one_hot, method="ips")
    assert found == policy_value(rewards, log, chosen, method="ips")
    assert found == policy_value(rewards, log, one_hot[:, 1], method="ips")
    assert policy_value_score(rewards, chosen, log, method="ips") == found.value
    assert policy_value_score(rewards, log, chosen, method="ips") == found.value
    bandit = LinUCBClassifier(exploration=0.2, random_state=0).partial_fit(X, chosen)
    found = policy_value(rewards, log, bandit, X=X, method="ips")
    assert found == policy_value(rewards, log, bandit.propensities(X), method="ips")


def test_labels_as_policies_need_no_square_of_their_number():
    shown = np.tile([0, 99_999], 200)
    log = Exploration(shown, np.full(400, 0.5))
    assert policy_value(shown == 0, log, np.zeros(400, int), method="ips").value == 1.0


def test_scores_choose_policies_in_a_grid_search():
    random = np.random.RandomState(10)
    X = random.normal(size=(3000, 2))
    actions, wanted = random.randint(3, size=3000), np.where(X[:, 0] > 0, 2, 1)
    log, rewards = Exploration(actions, np.full(3000, 1 / 3)), (actions == wanted) - 0.5
    model, grid = OffPolicyClassifier(LogisticRegression()), {"estimator__C": [1e-9, 1.0]}
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(policy_value_score).set_score_request(exploration=True)
        scores = cross_val_score(model, X, rewards, scoring=scorer, params={"exploration": log})
        assert np.all(scores > 0.3)
        for scoring in (None, scorer):
            search = GridSearchCV(model, grid, scoring=scoring)
            search.fit(X, rewards, exploration=log)
            assert search.best_params_ == {"estimator__C": 1.0}
    assert (search.predict(X) == wanted).mean() > 0.95


def test_invalid_arguments_are_named(problem):
    rewards, log, policy, predicted, _ = problem
    sick = policy.copy()
    sick[3, 0] = np.nan
    named = Exploration(log.actions, log.propensities, [1, 2, 3, 4])
    bad = [
        ("method", {"method": "ipw"}),
        ("rewards", {"rewards": rewards + 1j}),
        ("rewards", {"rewards": np.full(400, np.nan)}),
        ("rewards", {"rewards": np.where(rewards > 1, np.inf, rewards)}),
        ("rewards", {"rewards": np.where(rewards > 1, 1e200, rewards)}),
        ("rewards", {"rewards": np.ones((400, 2))}),
        ("policy", {"policy": policy / 2}),
        ("policy", {"policy": sick}),
        ("policy", {"policy": policy[:-1]}),
        ("policy", {"policy": np.full(400, -1)}),
        ("policy .* indices .* or their names", {"policy": log.actions, "exploration": named}),
        ("`X`", {"policy": LinUCBClassifier()}),
        ("propensities", {"exploration": Exploration(log.actions, np.zeros(400))}),
        ("actions", {"exploration": Exploration(log.actions + 1, log.propensities)}),
        ("actions", {"exploration": log[:-1]}),
        ("threshold", {"threshold": -1}),
        ("confidence", {"confidence": 95}),
        ("interval", {"interval": "student"}),
        ("interval", {"interval": "sequence"}),
        ("reward_range", {"method": "ips", "interval": "bernstein"}),
        ("reward_model", {"reward_model": np.ones((400, 3))}),
        ("X must have", {"reward_model": None, "X": np.ones((3, 1))}),
        ("cv must hold out", {"reward_model": None, "cv": ShuffleSplit(2, random_state=0)}),
        ("cv must hold out", {"reward_model": None, "cv": [(np.arange(9), np.arange(9, 20))]}),
    ]
    arguments = {"rewards": rewards, "exploration": log, "policy": policy}
    for name, changes in bad:
        with pytest.raises(ValueError, match=name):
            policy_value(**{**arguments, "reward_model": predicted, **changes})
    never = np.full(400, 4)
    with pytest.raises(ValueError, match="all weights are 0"):
        policy_value(rewards, log, never, method="snips")


def test_probabilities_of_large_logs_are_not_copied():
    n, m, random = 20_000, 100, np.random.RandomState(11)
    policy, actions = simplex(random, n, m), random.randint(m, size=n)
    policy.flags.writeable = False
    log, rewards = Exploration(actions, np.full(n, 1 / m)), random.rand(n)
    even = np.broadcast_to(1 / m, (n, m))
    for method in METHODS:
        tracemalloc.start()
        policy_value(rewards, log, policy, method=method, reward_model=even)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < policy.nbytes / 2, method


@pytest.fixture
def open_bandit():
    """Return the reader of the Open Bandit data, and the path of their wheel, if it is known."""
    wheel = os.environ.get("OBP_WHEEL")
    if not wheel:
        pytest.skip("OBP_WHEEL is not set to the path of obp-0.4.1-py3-none-any.whl")
    path = Path(__file__).parents[2] / "benchmarks" / "_open_bandit.py"
    spec = importlib.util.spec_from_file_location("open_bandit", path)
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    return reader, wheel


def test_published_values_of_thompson_sampling(open_bandit):
    """The README of the Open Bandit Pipeline prints 1.198126 for the campaign "all"."""
    reader, wheel = open_bandit
    found = {}
    for campaign in ("all", "men", "women"):
        log, clicks, positions = reader.read_log(wheel, "random", campaign)
        policy = reader.thompson_sampling(wheel, campaign)[positions]
        found[campaign] = policy_value(clicks, log, policy, method="ips").value
        if campaign == "all":
            assert found[campaign] / clicks.mean() == pytest.approx(1.198126, abs=1e-6)
            value = policy_value_score(clicks, policy, log, method="snips")
            assert value == pytest.approx(0.004776, abs=5e-7)
    # The policy has been drawn with another seed.
    assert found["men"] == pytest.approx(0.004527, rel=0.005)
    assert found["women"] == pytest.approx(0.006790, rel=0.005)


def test_published_logs_without_overlap_are_warned_about(open_bandit):
    reader, wheel = open_bandit
    log, clicks, _ = reader.read_log(wheel, "bts", "women")
    even = np.full((len(clicks), 46), 1 / 46)
    with pytest.warns(OffPolicyWarning) as caught:
        found = policy_value(clicks, log, even, method="ips")
    assert round(found.effective_sample_size) == 2 and round(found.max_weight) == 21_739
    texts = " ".join(str(each.message) for each in caught)
    assert "effective sample size is 2.08" in texts and "one sample has 69%" in texts


class Chance:
    """A model that shows its labels with fixed probabilities."""

    def __init__(self, probabilities):
        self.classes_ = np.array(list(probabilities))
        self.found = np.array(list(probabilities.values()))

    def propensities(self, X):
        return np.tile(self.found, (len(X), 1))


def test_models_are_told_what_was_available():
    X, available = np.random.RandomState(0).normal(size=(400, 2)), np.ones((400, 3), dtype=bool)
    available[::2, 1] = False
    model = LinUCBClassifier(kernel="linear", exploration=0.5, random_state=0)
    log = model.explore(X, classes=["a", "b", "c"], available=available)
    clicks = (log.actions == 2) * 1.0
    found = policy_value(clicks, log, model, X=X, available=available, method="ips")
    assert found.value == pytest.approx(clicks.mean())
    assert found.mean_weight == pytest.approx(1)


@quiet
def test_labels_of_models_and_logs_are_matched_by_name():
    """The log does not have "d", the policy not "a"."""
    random, names = np.random.RandomState(0), np.array(["c", "a", "b"])
    log = Exploration(random.randint(3, size=300), np.full(300, 1 / 3), names)
    rewards, X = random.normal(size=300), np.zeros((300, 1))
    policy = {"b": 0.5, "c": 0.2, "d": 0.3}
    weights = np.array([3 * policy.get(name, 0.0) for name in names[log.actions]])
    for method in ("ips", "snips"):
        found = policy_value(rewards, log, Chance(policy), X=X, method=method).value
        total = len(rewards) if method == "ips" else weights.sum()
        assert_allclose(found, weights @ rewards / total)
    pairs = Exploration(log.actions[:, None], np.full((300, 1, 1), 1 / 3), names)
    found = list_policy_value(rewards[:, None], pairs, Chance(policy), X=X).value
    assert_allclose(found, weights @ rewards / 300)
    with pytest.raises(ValueError, match="policy has the labels .'x'., and the log has others"):
        policy_value(rewards, log, Chance({"x": 1.0}), X=X, method="ips")

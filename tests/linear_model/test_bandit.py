"""Bandit classifiers against the algorithms in plain Python, and their common behavior."""

import pickle
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import get_args

import joblib
import numpy as np
import pandas as pd
import pytest
from class_streams import stream
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sklrank._typing import ExplorationRate
from sklrank.feedback import Exploration
from sklrank.feedback._protocol import (
    RANDOMIZATIONS,
    SCHEDULES,
    exploration_rates,
    make_sampler,
    make_schedule,
)
from sklrank.linear_model import BanditronClassifier, LinUCBClassifier
from sklrank.model_selection import progressive_val_score

MODELS = {
    "constant": BanditronClassifier(exploration=0.2, random_state=0, shuffle=False),
    "decay, bare": BanditronClassifier(
        exploration="decay", fit_intercept=False, random_state=0, shuffle=False
    ),
    "self-tuned": BanditronClassifier(exploration="ag3", random_state=0, shuffle=False),
    "positive": BanditronClassifier(
        mirror_map="positive", exploration="ag2", random_state=0, shuffle=False
    ),
    "p-norm": BanditronClassifier(mirror_map="p-norm", random_state=0, shuffle=False),
    "entropy": BanditronClassifier(mirror_map="entropy", random_state=0, shuffle=False),
    "entropy, theory": BanditronClassifier(
        mirror_map="entropy", learning_rate="theory", random_state=0, shuffle=False
    ),
    "entropy, fast": BanditronClassifier(
        mirror_map="entropy", learning_rate=0.5, exploration="ag3", random_state=0, shuffle=False
    ),
    "full": LinUCBClassifier(kernel="linear", random_state=0, shuffle=False),
    "full, bare": LinUCBClassifier(
        exploration="ag3", alpha=1.0, fit_intercept=False, random_state=0, shuffle=False
    ),
    "full, not standardized": LinUCBClassifier(
        clip=None, exploration=0.1, random_state=0, shuffle=False
    ),
    "diagonal": LinUCBClassifier(
        covariance="diagonal", bonus=0.5, clip=1.5, random_state=0, shuffle=False
    ),
    "rbf": LinUCBClassifier(n_components=7, gamma=0.8, random_state=0, shuffle=False),
    "rbf, explores": LinUCBClassifier(
        kernel="rbf", n_components=10, clip=1.5, exploration=0.1, random_state=0, shuffle=False
    ),
    "rbf, diagonal": LinUCBClassifier(
        covariance="diagonal",
        kernel="rbf",
        n_components=4,
        bonus=0.5,
        random_state=0,
        shuffle=False,
    ),
}
LINEAR = [name for name in MODELS if not name.startswith("rbf")]
BANDITRONS = [name for name, model in MODELS.items() if isinstance(model, BanditronClassifier)]


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


# -- The algorithms, sample by sample in plain Python.


class SlowBanditron:
    """Algorithms 7, 9 and 10 of Valizadegan (2010), and the positive orthant of Section 5.4."""

    def __init__(self, model, n_features, n_classes):
        self.model, self.n_classes = model, n_classes
        self.theta = np.zeros((n_classes, n_features + model.fit_intercept))
        self.t, self.largest = 0, 0.0

    def extend(self, x):
        return np.append(x, 1.0) if self.model.fit_intercept else x

    def scores(self, x):
        weights = self.theta
        if self.model.mirror_map == "entropy":
            weights = softmax(weights, axis=1)
        elif self.model.mirror_map == "p-norm":
            q = np.log(weights.size)
            norm = np.linalg.norm(weights.ravel(), q) or 1.0
            weights = weights * (np.abs(weights) / norm) ** (q - 2)
        return weights @ self.extend(x)

    choose_scores = scores

    def learn(self, x, best, action, propensity, reward, rate):
        x = self.extend(x)
        self.t, self.largest = self.t + 1, max(self.largest, np.abs(x).max())
        size = self.model.learning_rate
        if isinstance(size, str):
            size = 1.0
            if self.model.mirror_map == "entropy":  # Eq. 5.12, and the factor of section 5.4
                K, T = self.n_classes, self.t
                size = np.sqrt(K * (1 - rate) * np.log(K) / (T * rate)) / self.largest
                size *= {"auto": 1e-5, "theory": 1}[self.model.learning_rate]
        delta = np.zeros(self.n_classes)
        delta[best] += 1
        delta[action] -= reward / propensity
        self.theta -= size * np.outer(delta, x)
        if self.model.mirror_map == "positive":
            self.theta = np.maximum(self.theta, 0)


def root_mean(squares):
    return np.sqrt(np.mean(squares)) if np.any(squares) else 1.0


def standardizes(model):
    return bool(isinstance(model, LinUCBClassifier) and model.fit_intercept and model.clip)


class SlowLinUCB:
    """LinUCB on standardized samples; each round computes all sums and inverses from scratch."""

    def __init__(self, model, n_features, n_classes, random):
        self.model, self.covariance = model, model.covariance
        kernel = model.kernel
        if kernel == "auto":
            kernel = "rbf" if standardizes(model) and self.covariance == "full" else "linear"
        self.D = model.n_components if kernel == "rbf" else 0
        self.frequencies = np.sqrt(2 * model.gamma / n_features) * random.randn(n_features, self.D)
        self.phases = random.random_sample(self.D) * 2 * np.pi
        width = n_features + self.D + model.fit_intercept
        bonus, alpha = {"linear": (0.9, 0.2), "rbf": (0.6, 0.15)}[kernel]
        if self.covariance == "diagonal":
            bonus, alpha = 3.0, 0.4
        alpha = alpha if model.alpha == "auto" else model.alpha
        self.bonus = bonus if model.bonus == "auto" else model.bonus
        self.constant = {"full": 0.25, "diagonal": 0.5}[self.covariance]
        self.A = np.array([alpha * np.eye(width) for _ in range(n_classes)])
        self.b = np.zeros((n_classes, width))
        self.w = np.zeros((n_classes, width))
        self.rows, self.linear_squares, self.squares, self.squared_errors = [], [], [], []

    def standardized(self, x, rows):
        if not standardizes(self.model):
            return x
        if not rows:
            return np.zeros_like(x)
        most = self.model.clip * np.std(rows, axis=0)
        x, *rows = (np.clip(row - np.mean(rows, axis=0), -most, most) for row in (x, *rows))
        extent = np.ptp(rows, axis=0)
        return x / np.where(extent > 0, extent, np.inf)

    def random_features(self, x, rows):
        rows = np.array(rows).reshape(-1, len(x))
        deviations = np.std(rows, axis=0) if len(rows) else np.zeros_like(x)
        means = np.mean(rows, axis=0) if len(rows) else x
        z = (x - means) / np.where(deviations > 0, deviations, np.inf)
        z = np.clip(z, -self.model.clip, self.model.clip)
        return np.sqrt(2 / self.D) * np.cos(z @ self.frequencies + self.phases)

    def features(self, x, rows, linear_squares):
        z = self.standardized(x, rows)
        if not self.D:
            return z
        growth = np.sqrt(len(self.rows) / (len(self.rows) + 100))
        return np.append(z / root_mean(linear_squares), growth * self.random_features(x, rows))

    def scaled(self, z, squares):
        z = z / root_mean(squares)
        return np.append(z, self.constant) if self.model.fit_intercept else z

    def scaled_with(self, x):
        """Return the squared norms without and with random features, and the scaled features."""
        rows = [*self.rows, x]
        linear = np.sum(self.standardized(x, rows) ** 2)
        z = self.features(x, rows, [*self.linear_squares, linear])
        return linear, z @ z, self.scaled(z, [*self.squares, z @ z])

    def scores(self, x):
        return self.w @ self.scaled(self.features(x, self.rows, self.linear_squares), self.squares)

    def choose_scores(self, x):
        *_, x = self.scaled_with(x)
        variances = np.array([x @ np.linalg.inv(A) @ x for A in self.A])
        bonus = self.bonus * (1 + 50 / (len(self.rows) + 100) if self.D else 1)
        return self.w @ x + bonus * np.sqrt(self.error_variance() * variances)

    def error_variance(self):
        """Mean of three errors of one and those of the rounds, weighted by t (t + 1) / 2."""
        n = len(self.squared_errors)
        if not n:
            return 1.0
        t = np.arange(1, n + 1)
        return (3 + n * np.average(self.squared_errors, weights=t * (t + 1))) / (3 + n)

    def learn(self, x, best, action, propensity, reward, rate):
        linear, squares, scaled = self.scaled_with(x)
        self.rows.append(x)
        self.linear_squares.append(linear)
        self.squares.append(squares)
        x = scaled
        self.squared_errors.append((reward - self.w[action] @ x) ** 2)
        if self.covariance == "full":
            self.A[action] += np.outer(x, x)
            self.b[action] += reward * x
            self.w[action] = np.linalg.solve(self.A[action], self.b[action])
        else:
            direction = np.linalg.inv(self.A[action]) @ x
            error = reward - self.w[action] @ x
            self.w[action] += direction * error / (1 + x @ direction)
            self.A[action] += np.diag(x * x)


def exploration_of(model):
    return 0.0 if model.exploration == "auto" else model.exploration


def slow_rounds(model, X, y, n_classes):
    """Return the slow model, the scores before each round, the classes shown, and the schedule."""
    schedule, K, random = make_schedule(exploration_of(model)), n_classes, np.random.RandomState(0)
    schedule.prepare(lambda t: exploration_rates(exploration_of(model), t), len(X))
    if isinstance(model, LinUCBClassifier):
        slow = SlowLinUCB(model, X.shape[1], K, random)
    else:
        slow = SlowBanditron(model, X.shape[1], K)
    scores, shown = [], []
    for x, label, draw in zip(X, y, random.random_sample(len(X))):
        scores.append(slow.scores(x))
        best, rate = int(np.argmax(slow.choose_scores(x).round(9))), schedule.rate
        action = best if draw >= rate else int(draw / rate * K)
        p = (1 - rate) * (action == best) + rate / K
        shown.append((action, p))
        slow.learn(x, best, action, p, float(action == label), rate)
        schedule.record_rounds([action == best == label])
    return slow, np.array(scores), shown, schedule


def not_clipped(model, X):
    if not standardizes(model):
        return np.full(len(X), True)
    return np.all(np.abs((X - X.mean(axis=0)) / X.std(axis=0)) <= model.clip, axis=1)


@pytest.mark.parametrize("randomization", RANDOMIZATIONS)
@pytest.mark.parametrize("model", [BanditronClassifier(), LinUCBClassifier(bonus=0)], ids=repr)
def test_policies(model, randomization):
    """The policies of top-k rankers, with k = 1 and the rate of the schedule, at the scores."""
    model = clone(model).set_params(
        exploration=lambda t: 1 / (1 + t), randomization=randomization, random_state=0
    )
    for i in range(8):
        shown, more = model.explore(X0[[i]], classes=range(4)), model.explore(X0)
        scores = model.decision_function(X0).reshape(len(X0), -1)
        laws = make_sampler(randomization, 4, 1, 1 / (2 + i)).propensities(scores)
        chances = model.propensities(X0)[np.arange(len(X0)), more.actions]
        assert_allclose(more.propensities, chances, rtol=1e-9)
        if i and isinstance(model, BanditronClassifier):
            assert_allclose(
                more.propensities, laws[np.arange(len(X0)), more.actions, more.actions], rtol=1e-9
            )
        model.partial_fit_feedback(X0[[i]], shown, shown.actions == i % 4)
    played = clone(model).partial_fit(X0, Y0, classes=np.unique(Y0))
    chances = played.propensities(X0)
    assert chances.min() > 0
    assert_allclose(chances.sum(axis=1), 1)


@pytest.mark.parametrize("n_classes", [4, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MODELS)
def test_rounds_match_the_algorithms(name, n_classes):
    """Same draws, classes shown and scores; in one call, and in the two halves of a round."""
    model = clone(MODELS[name])
    X, y = stream(n_rows=35, n_classes=n_classes)
    slow, scores, shown, schedule = slow_rounds(model, X, y, n_classes)
    halves = clone(model)
    found = model.progressive_fit(X, y, classes=range(n_classes))
    assert_allclose(found, scores, rtol=1e-6, atol=1e-7)
    for i in range(len(X)):
        row = slice(i, i + 1)
        drawn = halves.explore(X[row], classes=range(n_classes))
        assert drawn.actions.tolist() == [shown[i][0]]
        assert_allclose(drawn.propensities, [shown[i][1]])
        halves.partial_fit_feedback(X[row], drawn, (drawn.actions == y[row]).astype(int))
    end = np.array([slow.scores(x) for x in X])
    margins = end[:, 1] - end[:, 0] if n_classes == 2 else end
    for fitted in (model, halves):
        assert fitted.error_rate_ == np.mean(
            [action != y[i] for i, (action, _) in enumerate(shown)]
        )
        assert fitted.exploration_ == pytest.approx(schedule.rate)
        assert fitted.n_rounds_ == len(X)
        assert_allclose(fitted.decision_function(X), margins, rtol=1e-6, atol=1e-7)
        if name not in LINEAR:
            continue
        whole = not_clipped(fitted, X)
        linear = X @ fitted.coef_.T + fitted.intercept_
        assert_allclose(linear.squeeze()[whole], margins[whole], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["full, not standardized", "full, bare"])
@pytest.mark.parametrize("n_features", [1, 3, 8, 21])
@pytest.mark.parametrize("density", [0.1, 1.0])
def test_sparse_rounds_match_the_algorithm(name, n_features, density):
    """Pending steps and blocks of four rows of the matrices do not change the result."""
    model = clone(MODELS[name]).set_params(clip=None)
    X, y = stream(n_rows=70, n_features=n_features)
    X = np.where(np.random.RandomState(1).random_sample(X.shape) < density, X, 0.0)
    _, scores, shown, _ = slow_rounds(model, X, y, 4)
    rows = sparse.csr_array(X)
    first = clone(model).partial_fit(rows[:30], y[:30], classes=range(4))
    found = model.progressive_fit(rows, y, classes=range(4))
    assert_allclose(found, scores, rtol=1e-6, atol=1e-7)
    assert model.error_rate_ == np.mean([action != y[i] for i, (action, _) in enumerate(shown)])
    resumed = pickle.loads(pickle.dumps(first)).partial_fit(rows[30:], y[30:])
    assert_array_equal(resumed.coef_, model.coef_)


def test_shares_of_the_draws_are_the_propensities(model):
    """Shares of the classes shown for one sample, over many draws; explore does not learn."""
    X, y = stream()
    model.set_params(exploration=0.3).partial_fit(X, y)
    shown = model.explore(np.repeat(X[:1], 20_000, axis=0))
    shares = np.bincount(shown.actions, minlength=4) / 20_000
    assert_allclose(np.sort(shares), [0.075] * 3 + [0.775], atol=0.012)
    propensities = dict(zip(shown.actions, shown.propensities))
    assert_allclose(sorted(propensities.values()), [0.075] * 3 + [0.775])
    assert model.n_rounds_ == len(X)


# -- Chunks, sparse matrices, class labels.


@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(1, 149), unique=True, max_size=6).map(sorted),
    between=st.lists(st.sampled_from(["predict", "pickle", "nothing"]), min_size=7, max_size=7),
    kind=st.sampled_from([np.asarray, sparse.csr_array]),
)
@pytest.mark.parametrize("name", MODELS)
def test_chunks_do_not_matter(name, seed, cuts, between, kind, fingerprint):
    """One call, or chunks with predictions and pickling in between: bit-identical models."""
    X, y = stream(seed)
    at_once = clone(MODELS[name]).partial_fit(kind(X), y, range(4))
    model = clone(MODELS[name])
    for rows, action in zip(np.split(np.arange(len(X)), cuts), between, strict=False):
        model.partial_fit(kind(X[rows]), y[rows], range(4))
        if action == "predict":
            model.predict(X)
        elif action == "pickle":
            model = pickle.loads(pickle.dumps(model))
    assert_array_equal(model.decision_function(X), at_once.decision_function(X))
    assert fingerprint(model) == fingerprint(at_once)


@pytest.mark.parametrize("cuts", [[40], [1, 2, 90]])
def test_chunks_of_feedback_do_not_matter(model, cuts, fingerprint):
    """Also for the log of another policy."""
    X, y = stream()
    random = np.random.RandomState(1)
    shown = Exploration(random.randint(4, size=150), random.uniform(0.2, 1, 150))
    rewards = (shown.actions == y).astype(int)
    at_once = clone(model).partial_fit_feedback(X, shown, rewards, classes=range(4))
    for rows in np.split(np.arange(150), cuts):
        model.partial_fit_feedback(X[rows], shown[rows], rewards[rows], classes=range(4))
    assert fingerprint(model) == fingerprint(at_once)


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_memory_mapped_models_learn(model, mode, tmp_path, fingerprint):
    """They learn like the model in memory, and the file is left unchanged."""
    X, y = stream()
    model.partial_fit(X[:20], y[:20], classes=range(4))
    joblib.dump(model, tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of joblib, on small arrays
        loaded = joblib.load(tmp_path / "model", mmap_mode=mode)
    for continued in (model, loaded):
        continued.partial_fit(X[20:], y[20:])
        shown = continued.explore(X)
        continued.partial_fit_feedback(X, shown, shown.actions == y)
    assert fingerprint(loaded) == fingerprint(model)
    assert (tmp_path / "model").read_bytes() == before


def test_samples_are_independent(model):
    """Scores and draws of a sample do not depend on the other samples of a call."""
    X, y = stream()
    model.partial_fit(X, y)
    scores, shown = model.decision_function(X), clone(model).partial_fit(X, y).explore(X)
    for i in (0, 7, 149):
        assert_array_equal(model.decision_function(X[i : i + 1]), scores[i : i + 1])
    parts = [model.explore(X[rows]) for rows in (slice(0, 1), slice(1, 70), slice(70, 150))]
    for array in ("actions", "propensities"):
        joined = np.concatenate([getattr(part, array) for part in parts])
        assert_array_equal(joined, getattr(shown, array))


@pytest.mark.parametrize("name", [*BANDITRONS, "full, bare", "full, not standardized"])
def test_sparse_matrices_make_the_same_model(name):
    """Also with duplicate entries and unsorted columns."""
    X, y = stream()
    rows = sparse.csr_array(X)
    entries = np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr
    doubled = sparse.csr_array(entries, shape=X.shape)
    wide = rows.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    dense = clone(MODELS[name]).partial_fit(X, y)
    for kind in (rows, doubled, wide, sparse.csc_array(X)):
        model = clone(MODELS[name]).partial_fit(kind, y)
        assert model.error_rate_ == dense.error_rate_
        assert_allclose(model.coef_, dense.coef_, rtol=1e-7, atol=1e-8)
        assert_allclose(model.intercept_, dense.intercept_, rtol=1e-7, atol=1e-8)
        assert_array_equal(model.predict(kind), dense.predict(X))


@pytest.mark.parametrize("name", ["constant", "entropy", "full, bare"])
def test_sparse_matrices_stay_sparse_without_standardization(name):
    """Also after a start with dense samples."""
    X, y = stream(n_rows=20)
    wide = sparse.csr_array(np.ones((100_000, 1)) * [1, 0, 0, 0, 0, 0])
    model = clone(MODELS[name]).partial_fit(X, y, classes=range(4))
    tracemalloc.start()
    try:
        model.predict(wide[:1000])
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[1]
        model.explore(wide)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < 4e6  # a dense copy would take 4.8e6, the return value 2.4e6


@pytest.mark.parametrize("name", MODELS)
def test_threads_may_explore_with_one_model(name):
    X, y = stream()
    model = clone(MODELS[name]).set_params(exploration=1e-300).partial_fit(X, y)
    many = np.tile(X, (30, 1))
    expected = model.explore(many).actions
    with ThreadPoolExecutor(4) as threads:
        found = [threads.submit(model.explore, many) for _ in range(8)]
    for future in found:
        assert_array_equal(future.result().actions, expected)


@pytest.mark.parametrize("names", [[10, 20, 30, 40], ["d", "cc", "bb", "a"]])
def test_classes_have_names(model, names):
    """Labels may have any type; columns are those of the sorted labels."""
    X, y = stream()
    order = np.argsort(names)
    place = np.argsort(order)
    plain = clone(model).partial_fit(X, place[y], range(4))
    model.partial_fit(X, np.array(names)[y].tolist(), names)
    assert model.classes_.tolist() == sorted(names)
    assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert_array_equal(model.predict(X), model.classes_[plain.predict(X)])


@pytest.mark.parametrize(
    ("names", "dtype"),
    [
        ([-128, -1, 5, 127], np.int8),
        ([3, 5, 7, 9], np.uint64),
        ([3, 5, 7, 9], np.int32),
        ([-(2**62), 0, 3, 2**62], np.int64),
        ([2**62, 2**62 + 2, 2**62 + 3, 2**62 + 5], np.int64),
    ],
)
def test_classes_are_numbers_of_any_width(names, dtype):
    """Labels of any integer type and range are found; a number between two classes is none."""
    X, y = stream()
    plain = clone(MODELS["constant"]).partial_fit(X, y, range(4))
    names = np.array(names, dtype=dtype)
    model = clone(MODELS["constant"]).partial_fit(X, names[y], names)
    assert_array_equal(model.predict(X), names[plain.predict(X)])
    gap = int(names[0]) + 1
    with pytest.raises(ValueError, match=rf"not in `classes`: \[{gap}\]"):
        model.partial_fit(X[:1], np.array([gap], dtype=dtype))


def test_passes_of_fit(model, fingerprint):
    X, y = stream()
    twice = clone(model).set_params(max_iter=2).fit(X, y)
    again = model.set_params(max_iter=1).fit(X, y).partial_fit(X, y)
    assert_array_equal(twice.decision_function(X), again.decision_function(X))
    assert fingerprint(clone(again).fit(X, y)) == fingerprint(clone(again).fit(X, y))


@pytest.mark.filterwarnings("error")
def test_extreme_values(model):
    """No crash and no warning, and ordinary samples afterwards."""
    random = np.random.RandomState(0)
    X0, y = stream()
    for values in ([9e59, -9e59], [1e-160, 0.0, -1e-160], [9e59, 1e-300, 1.0], [0.0]):
        X = random.choice(values, X0.shape)
        model.partial_fit(X, y, range(4)).partial_fit(X0, y)
        model.predict(np.vstack([X, X0]))
        shown = model.explore(X)
        assert set(shown.actions.tolist()) <= {0, 1, 2, 3}
        assert np.all((shown.propensities > 0) & (shown.propensities <= 1))


def test_progressive_validation_finds_the_scores():
    X, y = stream()
    model = MODELS["full"]
    scores = clone(model).progressive_fit(X, y)
    values = progressive_val_score(clone(model), X, y, scoring="accuracy")
    assert_array_equal(values, scores.argmax(axis=1) == y)


# -- Delayed and logged feedback.


def test_delayed_feedback_in_another_order():
    """Feedback is learned with the propensities of the draw, after any delay."""
    X, y = stream(n_rows=600)
    for name in ("constant", "full"):
        model, pending = clone(MODELS[name]), []
        for rows in np.split(np.arange(600), 20):
            pending.append((rows, model.explore(X[rows], classes=range(4))))
            if len(pending) > 3:
                rows, shown = pending.pop(0)
                back = rows[::-1]
                model.partial_fit_feedback(X[back], shown[::-1], y[back] == shown.actions[::-1])
        assert model.n_rounds_ == 510
        assert model.score(X, y) > 0.5


def test_logs_in_data_frames():
    X, y = stream()
    model = clone(MODELS["constant"])
    shown = model.explore(X, classes=list("abcd"))
    rewards = (shown.actions == y).astype(int)
    frame = shown.to_frame(rewards=rewards, classes=model.classes_)
    assert frame.columns.tolist() == ["action_0", "reward_0", "propensity_0"]
    assert len(shown[:0].to_frame()) == 0
    read = Exploration.from_frame(frame, classes=model.classes_)
    assert_array_equal(read.actions, shown.actions)
    assert_array_equal(read.propensities, shown.propensities)
    copies = [pickle.loads(pickle.dumps(model)) for _ in range(2)]
    model.partial_fit_feedback(X, shown, rewards)
    for copy, columns in zip(copies, ("reward_0", ["reward_0"]), strict=True):
        copy.partial_fit_feedback(X, read, frame[columns])
        assert_array_equal(copy.coef_, model.coef_)


# -- Errors.

X0, Y0 = stream(n_rows=20)
BAD_PARAMETERS = {
    BanditronClassifier: {
        "exploration": [-0.1, 1.5, "ag4", None, 0],
        "randomization": ["greedy", None],
        "kernel": ["linear", 3],
        "gamma": [0, -1, "scale"],
        "mirror_map": ["hyperbolic", None, 3],
        "learning_rate": [0, -1, 1e61, "fast"],
        "fit_intercept": ["yes", None],
        "max_iter": [0, 1.5],
        "shuffle": ["yes", None],
        "random_state": ["seed", -1],
    },
    LinUCBClassifier: {
        "covariance": ["half", 1, None],
        "kernel": ["poly", None],
        "n_components": [0, 1.5, None],
        "gamma": [0, -1, None],
        "bonus": [-1, None],
        "alpha": [0, 1e-11, None],
        "clip": [0, -1, "no"],
        "item_features": [3],
        "drift_threshold": [0, -1, "no"],
        "exploration": [-0.1, 1.5, "ag4", None],
        "randomization": ["greedy", None],
        "fit_intercept": ["yes", None],
        "max_iter": [0, 1.5],
        "shuffle": ["yes", None],
        "random_state": ["seed", -1],
    },
}


@pytest.mark.parametrize("make", BAD_PARAMETERS)
def test_every_parameter_is_checked(make):
    assert set(BAD_PARAMETERS[make]) == set(make().get_params())


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (make, name, value)
        for make, parameters in BAD_PARAMETERS.items()
        for name, values in parameters.items()
        for value in values
    ],
)
def test_bad_parameter_is_named(make, name, value, fingerprint):
    model = make(**{name: value})
    before = fingerprint(model)
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=name):
            call(X0, Y0)
    with pytest.raises(ValueError, match=name):
        model.explore(X0, classes=range(4))
    assert fingerprint(model) == before


SHOWN = Exploration(Y0 % 4, np.full(20, 0.5))
BAD_FEEDBACK = {
    "no record": (7, np.ones(20), "exploration must have actions"),
    "no propensities": (
        SimpleNamespace(actions=Y0, propensities=None),
        np.ones(20),
        "must have actions and propensities",
    ),
    "unknown action": (Exploration(Y0 + 1, SHOWN.propensities), np.ones(20), "from 0 to 3"),
    "negative action": (Exploration(Y0 - 1, SHOWN.propensities), np.ones(20), "from 0 to 3"),
    "names": (Exploration(Y0.astype(str), SHOWN.propensities), np.ones(20), "must be integers"),
    "several labels": (
        Exploration(np.tile([0, 1], (20, 1)), np.ones((20, 2, 2))),
        np.ones(20),
        "one label for each",
    ),
    "too few rows": (SHOWN[:7], np.ones(20), "each of 20 samples"),
    "p = 0": (Exploration(Y0, np.zeros(20)), np.ones(20), "in \\(0, 1\\]"),
    "p > 1": (Exploration(Y0, np.full(20, 1.1)), np.ones(20), "in \\(0, 1\\]"),
    "p NaN": (Exploration(Y0, np.full(20, np.nan)), np.ones(20), "in \\(0, 1\\]"),
    "p text": (Exploration(Y0, np.full(20, "a")), np.ones(20), "must be probabilities"),
    "reward 1/2": (SHOWN, np.full(20, 0.5), "rewards must be 0 or 1: Banditron"),
    "reward 2": (SHOWN, np.full(20, 2), "rewards must be numbers from 0 to 1"),
    "reward missing": (SHOWN, np.ones(19), "rewards must have the shape"),
}


@pytest.mark.parametrize("case", BAD_FEEDBACK)
@pytest.mark.parametrize("fitted", [False, True])
def test_bad_feedback_is_named(case, fitted, fingerprint):
    exploration, rewards, message = BAD_FEEDBACK[case]
    model = clone(MODELS["self-tuned"])
    if fitted:
        model.partial_fit(X0, Y0, range(4))
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit_feedback(X0, exploration, rewards, classes=range(4))
    assert fingerprint(model) == before


def test_bad_calls_leave_the_model(model, fingerprint):
    with pytest.raises(NotFittedError, match="name them by `classes`"):
        model.explore(X0)
    with pytest.raises(NotFittedError):
        _ = model.exploration_
    for call in (model.explore, lambda X, classes: model.partial_fit(X, Y0, classes)):
        for classes, message in (
            (np.array(["a", 1], dtype=object), "classes must be names that have an order"),
            ([0, 1, None], "classes must name labels .* without NaN or None"),
            ([0, 1, np.nan], "classes must name labels"),
            ("abcd", "classes must name labels"),
        ):
            with pytest.raises(ValueError, match=message):
                call(X0, classes=classes)
    model.explore(X0, classes=range(4))
    assert np.isnan(model.error_rate_)
    model.partial_fit(X0, Y0)
    before = fingerprint(model)
    for call, message in [
        (lambda: model.partial_fit(X0, Y0 + 1), "not in `classes`"),
        (lambda: model.partial_fit(X0, Y0, range(1, 5)), r"missing: \[0\], new: \[4\]"),
        (lambda: model.partial_fit(X0[:, :3], Y0), "3 features"),
        (lambda: model.partial_fit(np.full_like(X0, np.nan), Y0), "NaN"),
        (lambda: model.partial_fit(np.full_like(X0, -1e200), Y0), "X has an entry of the size 1e"),
        (lambda: model.explore(X0, classes=range(3)), r"lacks labels of the model .missing: \[3\]"),
        (lambda: model.explore(X0[:, :2], classes=range(5)), "2 features"),
        (lambda: model.explore(X0, classes=range(5), random_state=[-1]), "random_state must be"),
        (lambda: model.set_params(random_state="a"), "random_state must be"),
        (lambda: model.fit(X0, np.zeros(20)), "one class only"),
        (lambda: model.predict(sparse.csr_array(X0[:, :2])), "2 features"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
        assert fingerprint(model) == before


@pytest.mark.parametrize(
    ("model", "changed"),
    [
        (LinUCBClassifier(random_state=0), {"covariance": "diagonal", "clip": None}),
        (LinUCBClassifier(random_state=0), {"kernel": "linear", "n_components": 3, "gamma": 9.0}),
        (BanditronClassifier(random_state=0), {"mirror_map": "p-norm", "exploration": 1.0}),
    ],
)
def test_parameters_are_read_when_a_model_is_started(model, changed):
    """A change afterwards has no effect on the model."""
    model = clone(model).partial_fit(X0, Y0)
    other = clone(model).partial_fit(X0, Y0)
    model.set_params(**changed).partial_fit(X0, Y0)
    other.partial_fit(X0, Y0)
    assert_array_equal(model.decision_function(X0), other.decision_function(X0))
    assert_array_equal(model.explore(X0).actions, other.explore(X0).actions)


def test_annotation_names_the_schedules():
    _, names, *_ = get_args(ExplorationRate)
    assert sorted(get_args(names)) == sorted(SCHEDULES)


@pytest.mark.parametrize("name", ["constant", "full"])
def test_feature_names(name):
    frame = pd.DataFrame(X0, columns=list("abcdef"))
    model = clone(MODELS[name]).fit(frame, Y0)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.explore(frame).actions.shape == (20,)


@pytest.mark.parametrize("model", [BanditronClassifier(random_state=0), LinUCBClassifier()])
@pytest.mark.parametrize("started", [False, True])
def test_unsorted_classes_are_refused(model, started):
    """Actions are indices into `classes_`, which is sorted: others would be other classes."""
    model, X = clone(model), np.eye(2)
    shown = Exploration(np.array([0, 1]), np.full(2, 0.5))
    if started:
        model.partial_fit(X, ["book", "news"])
    for call in (
        model.explore,
        lambda *args, **named: model.partial_fit_feedback(X, shown, [1, 0], **named),
    ):
        with pytest.raises(ValueError, match="must be sorted"):
            call(X, classes=["news", "book"])
    assert model.explore(X, classes=["book", "news"]).actions.shape == (2,)

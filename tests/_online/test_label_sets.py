"""Calibration of scores and rules for label sets, compared with slow statements of them."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.metrics import f1_score, log_loss
from sklrank._online.label_sets import THRESHOLDS, LabelSets

from sklrank.feedback import Exploration
from sklrank.linear_model import SemiBanditRanker
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM

X, Y = make_multilabel_classification(160, n_features=8, n_classes=6, random_state=0)
Y[:3], Y[40] = 0, 1  # some samples without relevant labels, and one with all of them
RANKERS = {
    "ada": AdaOLMR(random_state=0),
    "bmr": OnlineBMR(random_state=0),
    "adaptive": TopKAdaptive(k=2, exploration=0.3, random_state=0),
    "bbm": TopKBBM(k=2, exploration=0.3, randomization="single-swap", random_state=0),
    "semi-bandit": SemiBanditRanker(k=2, exploration=0.3, random_state=0),
}
METHODS = ["decision_function", "predict_proba", "predict"]


class SlowLabelSets:
    """The equations of `_online/label_sets.pyx`, for samples of any number of relevant labels."""

    def __init__(self, n_labels):
        self.w, self.H = np.zeros(5), np.eye(5)
        self.b, self.c = np.zeros(n_labels), np.full(n_labels, 4.0)
        self.past = []  # for each sample: weight, known weights, relevance, sets of the rules

    def probabilities(self, s):
        share = np.maximum(s, 0.0) + 1e-9
        self.features = np.column_stack(
            [
                (s - s.mean()) / (s.std() + 1e-9),
                np.log(len(s) * share / share.sum() + 1e-3),
                s,
                np.full(len(s), s.max()),
                np.ones(len(s)),
            ]
        )
        return expit(np.clip(self.features @ self.w + self.b, -30, 30))

    def sum_of(self, function):
        return sum(
            weight * function(known, y, sets) for weight, known, y, sets in self.past
        ) + np.zeros(())

    def hits_and_sizes(self, rule, total=np.sum):
        hits = self.sum_of(lambda known, y, sets: total(known * y * sets[rule]))
        sizes = self.sum_of(lambda known, y, sets: total(sets[rule] + known * y))
        return hits, sizes

    def sets(self, p):
        hits, sizes = self.hits_and_sizes("f1")
        threshold = (hits + 5) / (sizes + 10)
        top = np.arange(len(p)) == np.argmax(p)
        best = np.lexsort((np.arange(len(p)), -p))[: int(np.rint(p.sum()))]
        hits, sizes = self.hits_and_sizes("f1_macro", total=np.asarray)
        half, f1 = p > 0.5, p > threshold
        return {
            "hamming": half,
            "half or top": half if half.any() else top,
            "f1": f1,
            "cardinality": np.isin(np.arange(len(p)), best),
            "f1_macro": p > (hits + 10 * threshold) / (sizes + 10),
        }

    def value(self, measure, rule):
        if measure == "auto":
            hits, sizes = self.hits_and_sizes(rule)
            return (2 * hits + 10) / (sizes + 10)
        values = {
            "subset": lambda known, y, sets: float(np.all(y == sets[rule])),
            "jaccard": lambda known, y, sets: (
                np.sum(y & sets[rule]) / np.sum(y | sets[rule]) if np.any(y | sets[rule]) else 1.0
            ),
        }
        return self.sum_of(values[measure])

    def predict(self, s, threshold):
        p = self.probabilities(s)
        sets = self.sets(p)
        if not isinstance(threshold, str):
            return p > threshold
        if threshold in sets:
            return sets[threshold]
        rules = ["hamming", "half or top", "f1", "cardinality"]
        return sets[rules[np.argmax([self.value(threshold, rule) for rule in rules])]]

    def learn(self, s, y, known, weight):
        p = self.probabilities(s)
        self.past.append((weight, known, y, self.sets(p)))
        k = weight * (known > 0)  # importance weights do not affect the calibration
        self.H += (self.features.T * (k * p * (1 - p))) @ self.features
        self.w -= np.linalg.solve(self.H, self.features.T @ (k * (p - y)))
        self.c += k * p * (1 - p)
        self.b -= k * (p - y) / self.c


def random_stream(seed, n=30, m=5):
    """Return scores, relevance and weights of samples; some scores are tied, zero or negative."""
    rng = np.random.default_rng(seed)
    y = rng.random((n, m)) < rng.choice([0.1, 0.4, 0.9], size=(n, 1))
    scores = np.round(rng.normal(size=(n, m)) + y, rng.integers(0, 3)) * rng.choice([0, 1, 3])
    scores[rng.random(n) < 0.1] = 0.0
    return scores, y, rng.choice([0.0, 1.0, 2.0], size=n, p=[0.1, 0.8, 0.1])


def random_record(rng, y, k=2):
    actions = np.array([rng.permutation(y.shape[1])[:k] for _ in y])
    rewards = np.take_along_axis(y, actions, axis=1).astype(float)
    return actions, rewards, rng.uniform(0.2, 1.0, size=(len(y), k))


def lists(y):
    y = csr_array(y)
    return {"indptr": y.indptr.astype(np.intp), "labels": y.indices.astype(np.intp)}


def play(model, scores, weights, threshold="auto", **feedback):
    chances, sets = np.empty(scores.shape), np.empty(scores.shape, dtype=np.intp)
    model.play(scores, weights, chances=chances, sets=sets, threshold=threshold, **feedback)
    return chances, sets


def state_of(model):
    return {name: np.asarray(value).tobytes() for name, value in model.__getstate__().items()}


@pytest.mark.parametrize("threshold", [*THRESHOLDS, 0.3])
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_all_labels_known(threshold, seed):
    scores, y, weights = random_stream(seed)
    slow = SlowLabelSets(y.shape[1])
    chances, sets = play(LabelSets(y.shape[1], True), scores, weights, threshold, **lists(y))
    for t in range(len(y)):
        assert_allclose(chances[t], slow.probabilities(scores[t]), rtol=1e-6, atol=1e-9)
        assert_array_equal(sets[t], slow.predict(scores[t], threshold))
        if weights[t] > 0:
            slow.learn(scores[t], y[t], np.ones(y.shape[1]), weights[t])


@pytest.mark.parametrize("threshold", ["auto", "f1", "f1_macro", "hamming", "cardinality"])
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**20))
def test_some_labels_known(threshold, seed):
    """Hits and relevant labels are weighted by 1 / propensity; the size of a set is known."""
    scores, y, weights = random_stream(seed)
    record = random_record(np.random.default_rng(seed), y)
    slow = SlowLabelSets(y.shape[1])
    chances, sets = play(LabelSets(y.shape[1], True), scores, weights, threshold, shown=record)
    for t, (actions, rewards, propensities) in enumerate(zip(*record, strict=True)):
        assert_allclose(chances[t], slow.probabilities(scores[t]), rtol=1e-6, atol=1e-9)
        assert_array_equal(sets[t], slow.predict(scores[t], threshold))
        known, seen = np.zeros(y.shape[1]), np.zeros(y.shape[1], dtype=bool)
        known[actions], seen[actions] = 1.0 / propensities, rewards
        if weights[t] > 0:
            slow.learn(scores[t], seen, known, weights[t])


@pytest.mark.parametrize("some", [False, True])
def test_class_labels(some):
    """The temperature takes Newton steps on the log likelihood of the classes that are possible."""
    rng = np.random.default_rng(0)
    n, m = 80, 4
    labels = rng.integers(m, size=n)
    y = np.eye(m, dtype=bool)[labels]
    scores, record = rng.normal(size=(n, m)) + y, random_record(rng, y)
    chances, sets = np.empty((n, m)), np.empty((n, m), dtype=np.intp)
    feedback = {"shown": record} if some else lists(y)
    LabelSets(m, False).play(scores, np.ones(n), chances=chances, sets=sets, **feedback)
    temperature, hessian = 1.0, 1.0
    for t, s in enumerate(scores):
        p = softmax(temperature * s)
        assert_allclose(chances[t], p, rtol=1e-9)
        assert_array_equal(sets[t], np.arange(m) == np.argmax(s))
        possible = y[t].copy()
        if some and not record[1][t].any():
            possible = ~np.isin(np.arange(m), record[0][t])
        q = p * possible / np.sum(p * possible)
        variances = [w @ s**2 - (w @ s) ** 2 for w in (p, q)]
        hessian += max(0.0, variances[0] - variances[1])
        temperature = max(temperature + (q @ s - p @ s) / hessian, 1e-3)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**20), stop=st.integers(1, 29))
def test_chunks_pickles_and_other_thresholds(seed, stop):
    """Chunks and pickles give the same bits, and what is learned does not depend on the rule."""
    scores, y, weights = random_stream(seed)
    whole, parts = LabelSets(5, True), LabelSets(5, True)
    expected = play(whole, scores, weights, "auto", **lists(y))
    first = play(parts, scores[:stop], weights[:stop], "auto", **lists(y[:stop]))
    parts = pickle.loads(pickle.dumps(parts))
    second = play(parts, scores[stop:], weights[stop:], "auto", **lists(y[stop:]))
    for i in range(2):
        assert_array_equal(np.concatenate([first[i], second[i]]), expected[i])
    state = state_of(whole)
    assert state_of(parts) == state
    other = LabelSets(5, True)
    play(other, scores, weights, 0.4, **lists(y))
    assert state_of(other) == state
    play(whole, scores, None)
    assert state_of(whole) == state


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**20), order=st.permutations(range(5)))
def test_labels_can_be_permuted(seed, order):
    """Up to rounding, and except for rules that choose among labels of equal probabilities."""
    scores, y, weights = random_stream(seed)
    scores = scores + np.random.default_rng(seed).normal(scale=0.1, size=scores.shape)  # no ties
    chances, sets = play(LabelSets(5, True), scores, weights, "f1", **lists(y))
    shuffled = np.ascontiguousarray(scores[:, order])
    other, other_sets = play(LabelSets(5, True), shuffled, weights, "f1", **lists(y[:, order]))
    assert_allclose(other, chances[:, order], rtol=1e-6, atol=1e-9)
    assert np.mean(other_sets != sets[:, order]) < 0.01  # rounding may decide at a threshold


@pytest.mark.parametrize(
    "change",
    [
        {"scores": np.zeros((4, 2))},
        {"sample_weight": np.ones(3)},
        {"sets": np.zeros((4, 2), dtype=np.intp)},
        {"chances": np.zeros((3, 3))},
        {"labels": np.full(4, 3)},
        {"shown": (np.full((4, 1), 3), np.zeros((4, 1)), np.ones((4, 1)))},
        {"shown": (np.zeros((4, 1), np.intp), np.zeros((4, 2)), np.ones((4, 1)))},
        {"shown": (np.zeros((3, 1), np.intp), np.zeros((3, 1)), np.ones((3, 1)))},
    ],
)
def test_arrays_that_do_not_match(change):
    arguments = {"scores": np.zeros((4, 3)), "sample_weight": np.ones(4), **lists(np.eye(4, 3))}
    with pytest.raises(ValueError):
        LabelSets(3, True).play(**{**arguments, **change})


# -- The estimators.


@pytest.mark.parametrize("kind", RANKERS)
@pytest.mark.parametrize("threshold", ["auto", "f1_macro", 0.3])
def test_each_sample_is_predicted_before_it_is_learned(kind, threshold):
    """`progressive_fit` returns what `predict` and `predict_proba` would have returned."""
    model = clone(RANKERS[kind]).set_params(threshold=threshold)
    methods = ["predict", "predict_proba"]
    sets, chances = model.progressive_fit(X[:50], csr_array(Y[:50]), method=methods)
    slow = clone(model).partial_fit(X[:1], Y[:1])
    for i in range(1, 50):
        assert_array_equal(sets[i], slow.predict(X[[i]])[0])
        assert_array_equal(chances[i], slow.predict_proba(X[[i]])[0])
        slow.partial_fit(X[[i]], Y[[i]])
    assert_array_equal(slow.predict(X), model.predict(X))
    assert set(np.unique(sets)) <= {0, 1}


@pytest.mark.parametrize("kind", RANKERS)
def test_chunks_give_identical_rankers(kind, fingerprint):
    whole, parts = (clone(RANKERS[kind]) for _ in range(2))
    expected = whole.progressive_fit(X, Y, method=METHODS)
    found = []
    for rows in np.split(np.arange(len(X)), [1, 40, 41, 100]):
        found.append(parts.progressive_fit(X[rows], Y[rows], method=METHODS))
        parts = pickle.loads(pickle.dumps(parts))
    for i in range(3):
        assert_array_equal(np.concatenate([part[i] for part in found]), expected[i])
    assert fingerprint(parts) == fingerprint(whole)
    assert_array_equal(whole.predict(X[5:9]), whole.predict(X)[5:9])


@pytest.mark.parametrize("kind", RANKERS)
def test_class_labels_have_probabilities(kind):
    data, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    data, y = data[order], np.array(["ant", "bee", "cow"])[y[order]]
    model = clone(RANKERS[kind])
    classes, chances = model.progressive_fit(data, y, method=["predict", "predict_proba"])
    assert_allclose(chances.sum(axis=1), 1.0)
    assert_array_equal(classes, model.classes_[chances.argmax(axis=1)])
    assert np.mean(classes[75:] == y[75:]) > 0.7
    assert log_loss(y[75:], chances[75:]) < 0.9 * np.log(3)
    other = clone(RANKERS[kind]).set_params(threshold=0.9).partial_fit(data, y)
    assert_array_equal(model.predict(data), other.predict(data))


def test_probabilities_are_calibrated():
    """Among all labels of probability about p, the proportion p is relevant."""
    rng = np.random.RandomState(1)
    data = rng.normal(size=(3000, 10))
    y = (data @ rng.normal(size=(10, 8)) + rng.logistic(size=(3000, 8)) > 1).astype(int)
    model = AdaOLMR(random_state=0).fit(data[:1500], y[:1500])
    p, y = model.predict_proba(data[1500:]).ravel(), y[1500:].ravel()
    for low in np.arange(0.0, 1.0, 0.2):
        rows = (p >= low) & (p < low + 0.2)
        assert abs(np.mean(p[rows]) - np.mean(y[rows])) < 0.06


def test_rules_optimize_their_measures():
    data, y = make_multilabel_classification(
        2000, n_features=40, n_classes=12, n_labels=2, allow_unlabeled=True, random_state=2
    )
    value_of = {
        "auto": lambda sets: f1_score(y, sets, average="micro"),
        "f1_macro": lambda sets: f1_score(y, sets, average="macro"),
        "subset": lambda sets: np.mean(np.all(y == sets, axis=1)),
        "hamming": lambda sets: np.mean(y == sets),
    }
    sets = {
        threshold: AdaOLMR(threshold=threshold, random_state=0).progressive_fit(
            data, y, method="predict"
        )
        for threshold in value_of
    }
    for measure, value in value_of.items():
        others = [value(each) for name, each in sets.items() if name != measure]
        assert value(sets[measure]) > max(others) - 0.002
        assert value(sets[measure]) > min(others) + 0.02


@pytest.mark.parametrize("kind", RANKERS)
def test_invalid_thresholds(kind):
    for threshold in (0.0, 1.0, -0.5, np.nan, True, "f2", None, "precision"):
        model = clone(RANKERS[kind]).set_params(threshold=threshold)
        for method in (model.fit, model.partial_fit, model.progressive_fit):
            with pytest.raises(ValueError, match="'threshold' parameter of"):
                method(X, Y)
        assert not hasattr(model, "classes_")


@pytest.mark.parametrize("kind", ["adaptive", "bbm", "semi-bandit"])
@pytest.mark.parametrize("threshold", ["jaccard", "subset"])
def test_labels_shown_are_not_sufficient(kind, threshold):
    model = clone(RANKERS[kind]).set_params(threshold=threshold)
    with pytest.raises(ValueError, match=f"threshold='{threshold}' is chosen by a measure that"):
        model.fit(X, Y)
    assert not hasattr(model, "classes_")
    assert model.fit(X, Y.argmax(axis=1)).predict(X).shape == (len(X),)


@pytest.mark.parametrize("method", ["fit", ["predict", "score"], "scores"])
def test_invalid_methods(method):
    model = AdaOLMR()
    with pytest.raises(ValueError, match="method must be one of"):
        model.progressive_fit(X, Y, method=method)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("kind", RANKERS)
@pytest.mark.parametrize("y", [np.zeros((40, 3), int), np.ones((40, 3), int)], ids=["none", "all"])
def test_no_label_or_all_labels(kind, y):
    for threshold in ("f1", "hamming", 0.5):
        model = clone(RANKERS[kind]).set_params(threshold=threshold).fit(X[:40], y)
        assert np.all(np.abs(model.predict_proba(X) - y[0]) < 0.5)
        assert_array_equal(model.predict(X), np.tile(y[0], (160, 1)))


def test_propensities_do_not_affect_scores_and_probabilities():
    shown = SemiBanditRanker(k=2, random_state=0).explore(X, classes=range(6))
    rewards = np.take_along_axis(Y, shown.actions, axis=1)
    other = Exploration(shown.actions, np.full(shown.propensities.shape, 0.5))
    models = [
        SemiBanditRanker(k=2, random_state=0).partial_fit_feedback(X, each, rewards, range(6))
        for each in (shown, other)
    ]
    for method in ("decision_function", "predict_proba"):
        assert_array_equal(*(getattr(model, method)(X) for model in models))


@pytest.mark.parametrize("y", [Y[:, 0], Y], ids=["classes", "labels"])
def test_huge_weights_give_finite_probabilities(y):
    model = AdaOLMR("trees", n_estimators=2, random_state=0).fit(X, y, np.full(len(X), 1e150))
    assert np.isfinite(model.predict_proba(X)).all()

"""Mirror maps: the weights after any steps are those of the definition."""

import pickle
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.preprocessing import scale
from sklearn.utils import get_tags
from sklrank._compiled.rows import Rows
from sklrank.linear_model._bandit._model import MirrorDescent
from sklrank.linear_model._bandit._rounds import BanditRounds

from sklrank.feedback._protocol import make_schedule
from sklrank.linear_model import BanditronClassifier, PredtronClassifier
from sklrank.linear_model._mirror import MIRROR_MAPS

N_CLASSES, N_FEATURES = 9, 11


def project(theta):
    return np.maximum(theta, 0)


def keep(theta):
    return theta


def dual_exponent(p):
    return max(2.0, np.log(p))


def p_norm_weights(theta):
    q = dual_exponent(theta.size)
    norm = np.sum(np.abs(theta) ** q) ** (1 / q)
    return np.sign(theta) * np.abs(theta) ** (q - 1) / norm ** (q - 2) if norm else theta


def group_norm_weights(theta):
    q = dual_exponent(theta.shape[1])
    lengths = np.sqrt(np.sum(theta**2, axis=0))
    norm = np.sum(lengths**q) ** (1 / q)
    return theta * (lengths / norm) ** (q - 2) if norm else theta


def schatten_weights(theta):
    q = dual_exponent(min(theta.shape))
    left, values, right = np.linalg.svd(theta, full_matrices=False)
    norm = np.sum(values**q) ** (1 / q)
    return left * (values ** (q - 1) / norm ** (q - 2)) @ right if norm else theta


# The dual weights after a step, and the weights, as functions of the dual weights.
DEFINITIONS = {
    "euclidean": (keep, keep),
    "p-norm": (keep, p_norm_weights),
    "group-norm": (keep, group_norm_weights),
    "schatten": (keep, schatten_weights),
    "positive": (project, project),
    "entropy": (keep, partial(softmax, axis=1)),
}


def make_map(name, n_features, constant):
    return MIRROR_MAPS[name](N_CLASSES, n_features + int(constant))


def with_constant(X, constant):
    return np.hstack([X, np.full((len(X), int(constant)), constant)])


def assert_same_weights(found, expected):
    """Singular values near zero are accurate to the square root of the rounding error."""
    assert_allclose(found, expected, rtol=1e-9, atol=1e-8 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("name", ["euclidean", "p-norm", "group-norm", "schatten", "entropy"])
def test_maps_of_the_user(name):
    """A function of the dual weights is the map that it defines, also pickled in mid-stream."""
    X, y = make_blobs(100, centers=3, n_features=4, cluster_std=4, random_state=0)
    X, function = scale(X), DEFINITIONS[name][1]
    for model in (
        PredtronClassifier(average=True, random_state=0),
        BanditronClassifier(learning_rate=0.3, random_state=0),
    ):
        own = clone(model).set_params(mirror_map=function).partial_fit(X[:50], y[:50])
        named = model.set_params(mirror_map=name).partial_fit(X, y)
        own = pickle.loads(pickle.dumps(own)).partial_fit(X[50:], y[50:])
        assert_allclose(own.decision_function(X), named.decision_function(X), atol=1e-9)


def test_maps_of_the_user_that_fail():
    X, y = make_blobs(100, centers=3, n_features=4, random_state=0)
    for function, error in ((lambda theta: theta[0], ValueError), (lambda theta: 1 / 0, Exception)):
        for model in (
            PredtronClassifier(mirror_map=function),
            BanditronClassifier(mirror_map=function),
        ):
            with pytest.raises(error, match="must return|division"):
                model.fit(X, y)
            assert not hasattr(model, "classes_")


class Failing:
    """A function of the user that fails from some call on."""

    n_left = np.inf

    def __call__(self, theta):
        Failing.n_left -= 1
        return theta if self.n_left > 0 else 1 / 0


@pytest.mark.parametrize("n", [1, 60])
@pytest.mark.parametrize("make", [PredtronClassifier, BanditronClassifier])
def test_maps_of_the_user_that_fail_later(make, n):
    """The model is as before."""
    X, y = make_blobs(100, centers=3, n_features=4, cluster_std=9, random_state=0)
    model = make(mirror_map=Failing(), random_state=0).partial_fit(X, y)
    before = model.decision_function(X)
    model = pickle.loads(pickle.dumps(model))  # Its weights are not computed yet.
    for n_left in range(2):
        Failing.n_left = n_left
        with pytest.raises(ZeroDivisionError):
            model.partial_fit(X[:n], y[:n])
        assert model.n_rounds_ == 100
    Failing.n_left = np.inf
    assert_array_equal(model.decision_function(X), before)


def test_maps_of_the_user_can_be_merged():
    X, y = make_blobs(100, centers=3, n_features=4, random_state=0)
    parts = [
        PredtronClassifier(mirror_map=keep, random_state=0).partial_fit(X[i::2], y[i::2])
        for i in range(2)
    ]
    merged = deepcopy(parts[0]).merge([parts[1]])
    assert_allclose(merged.coef_, (parts[0].coef_ + parts[1].coef_) / 2)
    others = (PredtronClassifier(mirror_map=lambda theta: theta).fit(X, y) for _ in range(2))
    with pytest.raises(ValueError, match="define it in a module"):
        next(others).merge(next(others))


def test_every_map_is_tested():
    assert set(DEFINITIONS) == set(MIRROR_MAPS)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("constant", [0.0, 1.0])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_weights_follow_the_definition(name, constant, kind):
    """After each step, with steps of all sizes; scores are products with the weights."""
    random = np.random.RandomState(0)
    X = random.normal(size=(40, N_FEATURES)) * (random.rand(40, N_FEATURES) < 0.5)
    after_step, to_weights = DEFINITIONS[name]
    mirror_map = make_map(name, N_FEATURES, constant)
    theta = np.zeros((N_CLASSES, N_FEATURES + int(constant)))
    full = with_constant(X, constant)
    for i, size in enumerate(random.choice([0.01, 1.0, 30.0], 40)):
        rounds = BanditRounds(MirrorDescent(N_FEATURES, mirror_map, size), make_schedule(0.5))
        row = Rows(kind(X[i : i + 1]), constant)
        action, reward = random.randint(N_CLASSES), random.randint(2)
        best = int(np.argmax(rounds.score(row)[0]))
        assert_same_weights(rounds.score(row)[0], to_weights(theta) @ full[i])
        rounds.learn_feedback(row, np.array([action]), np.array([0.25]), np.array([float(reward)]))
        delta = np.zeros(N_CLASSES)
        delta[best] += 1
        delta[action] -= reward / 0.25
        theta = after_step(theta - size * np.outer(delta, full[i]))
        assert_allclose(mirror_map.dual_weights, theta, rtol=1e-9, atol=1e-9)
        assert_same_weights(mirror_map.weights, to_weights(theta))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_step_of_all_classes_is_the_steps_of_each(name, kind):
    """A direction of zero does not change a class, whatever the row."""
    random = np.random.RandomState(1)
    X = random.normal(size=(100, N_FEATURES)) * (random.rand(100, N_FEATURES) < 0.3)
    directions = random.normal(size=(100, N_CLASSES)) * (random.rand(100, N_CLASSES) < 0.4)
    directions[50] = 0
    at_once, one_by_one = (make_map(name, N_FEATURES, 1.0) for _ in range(2))
    for i in range(100):
        row = Rows(kind(X[i : i + 1]), 1.0)
        at_once.take_steps(row, directions[i : i + 1])
        for k in range(N_CLASSES):
            one_by_one.take_steps(row, directions[i : i + 1] * (np.arange(N_CLASSES) == k))
        assert_array_equal(at_once.dual_weights, one_by_one.dual_weights)
        assert_same_weights(at_once.weights, one_by_one.weights)
    untouched = make_map(name, N_FEATURES, 1.0)
    with np.errstate(invalid="ignore"):
        untouched.take_steps(Rows(np.full((1, N_FEATURES), np.inf), 1.0), np.zeros((1, N_CLASSES)))
    assert_array_equal(untouched.dual_weights, np.zeros((N_CLASSES, N_FEATURES + 1)))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_reading_and_pickling_change_nothing(name, kind, fingerprint):
    """Reading weights, scoring and pickling leave the map bit-identical."""
    random = np.random.RandomState(2)
    X = random.normal(size=(200, N_FEATURES)) * (random.rand(200, N_FEATURES) < 0.3)
    X *= random.choice([1e-30, 1.0, 1e3, 1e30], size=(200, 1))
    directions = random.normal(size=(200, N_CLASSES)) / 1e30
    plain, read = (make_map(name, N_FEATURES, 1.0) for _ in range(2))
    for i in range(200):
        row = Rows(kind(X[i : i + 1]), 1.0)
        plain.take_steps(row, directions[i : i + 1])
        read.take_steps(row, directions[i : i + 1])
        read.weights  # noqa: B018
        if i % 7 == 0:
            rounds = BanditRounds(MirrorDescent(N_FEATURES, read, 1.0), make_schedule(0.5))
            before = rounds.score(row)
            read = pickle.loads(pickle.dumps(read))
            rounds = BanditRounds(MirrorDescent(N_FEATURES, read, 1.0), make_schedule(0.5))
            assert_array_equal(rounds.score(row), before)
    assert_array_equal(read.weights, plain.weights)
    states = [mirror_map.__getstate__() for mirror_map in (read, plain)]
    if name == "of a user":
        states = [state | {"mirror_map": None} for state in states]
    assert fingerprint(states[0]) == fingerprint(states[1])


@pytest.mark.parametrize("name", MIRROR_MAPS)
def test_long_streams_of_sparse_rows_do_not_drift(name):
    """Sums stay accurate over 30,000 sparse steps and periods of huge dual weights."""
    random = np.random.RandomState(3)
    mirror_map = make_map(name, 50, 0.0)
    after_step, to_weights = DEFINITIONS[name]
    for size in (1.0, 1e3, 1e-3):
        X = sparse.random(10_000, 50, 0.04, "csr", random_state=random)
        directions = np.zeros((10_000, N_CLASSES))
        places = np.arange(10_000), random.randint(N_CLASSES, size=10_000)
        directions[places] = size * random.normal(size=10_000)
        mirror_map.take_steps(Rows(X, 0.0), directions)
        theta = mirror_map.dual_weights
        assert_same_weights(mirror_map.weights, to_weights(theta))
        back = Rows(sparse.csr_array(np.eye(50)), 0.0)
        mirror_map.take_steps(back, np.ascontiguousarray(-0.999999 * theta.T))
        theta = after_step(theta - 0.999999 * theta)
        assert_allclose(mirror_map.dual_weights, theta, atol=1e-9 * np.abs(theta).max() + 1e-9)
        assert_same_weights(mirror_map.weights, to_weights(mirror_map.dual_weights))


def test_entropic_weights_stay_a_distribution():
    """For dual weights far apart, and for long sparse streams of small changes."""
    random = np.random.RandomState(1)
    mirror_map = MIRROR_MAPS["entropy"](2, 50)
    for size in (1e-3, 1e4, 1.0):
        rounds = BanditRounds(MirrorDescent(50, mirror_map, size), make_schedule(0.5))
        X = sparse.random(5000, 50, 0.04, "csr", random_state=random)
        shown = random.randint(2, size=5000)
        rewards = random.randint(2, size=5000).astype(float)
        rounds.learn_feedback(Rows(X, 0.0), shown, np.full(5000, 0.5), rewards)
        assert_allclose(mirror_map.weights.sum(axis=1), 1.0, rtol=1e-9)
        assert_allclose(mirror_map.weights, softmax(mirror_map.dual_weights, axis=1), atol=1e-9)


def test_entropic_weights_are_accurate_after_a_huge_one():
    """The sum is recomputed once exp(38), which swallows the other terms, has gone."""
    mirror_map = MIRROR_MAPS["entropy"](1, 50)
    first = Rows(sparse.csr_array(np.eye(50)[:1]), 0.0)
    mirror_map.take_steps(first, np.array([[38.0]]))
    mirror_map.take_steps(first, np.array([[-38.0]]))
    assert_allclose(mirror_map.weights, np.full((1, 50), 1 / 50), rtol=1e-12)


def test_steps_that_do_not_fit_are_refused():
    mirror_map = MIRROR_MAPS["euclidean"](3, 5)
    with pytest.raises(ValueError, match="directions do not fit"):
        mirror_map.take_steps(Rows(np.ones((2, 5)), 0.0), np.ones((2, 4)))
    with pytest.raises(ValueError, match="width of the map"):
        mirror_map.take_steps(Rows(np.ones((2, 5)), 1.0), np.ones((2, 3)))


@pytest.mark.parametrize("name", MIRROR_MAPS)
@pytest.mark.parametrize(
    "models",
    [
        [BanditronClassifier(random_state=seed) for seed in range(5)],
        [PredtronClassifier(average=True, shuffle=False)],
    ],
)
def test_poor_score_tag(name, models):
    """On the samples of scikit-learn's checks of classifiers, and on those of two classes."""
    X, y = make_blobs(300, random_state=0)
    X = scale(X)
    models = [clone(model).set_params(mirror_map=name) for model in models]
    scores = [
        [model.fit(X[rows], y[rows]).score(X[rows], y[rows]) for model in models]
        for rows in (y != 2, y < 3)
    ]
    good = np.mean(scores, axis=1) > 0.83
    assert get_tags(models[0]).classifier_tags.poor_score == (not good.all())

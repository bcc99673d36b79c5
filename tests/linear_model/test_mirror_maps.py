"""Mirror maps: weights are what the definition makes of all steps taken so far."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax

from sklrank.feedback._schedules import ConstantSchedule
from sklrank.linear_model._bandit_model import MirrorDescent
from sklrank.linear_model._bandit_rounds import BanditRounds
from sklrank.linear_model._mirror_maps import MIRROR_MAPS
from sklrank.linear_model._rows import Rows

N_CLASSES = 3


def project(theta):
    return np.maximum(theta, 0)


# What a step leaves of the dual weights, and the weights that it makes of them.
DEFINITIONS = {
    "euclidean": (lambda theta: theta, lambda theta: theta),
    "positive": (project, project),
    "entropy": (lambda theta: theta, lambda theta: softmax(theta, axis=1)),
}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("constant", [0.0, 1.0])
@pytest.mark.parametrize("name", MIRROR_MAPS)
def test_weights_follow_the_definition(name, constant, kind):
    """Step by step, with steps of all sizes; scores are products with the weights."""
    random = np.random.RandomState(0)
    X = random.normal(size=(300, 6)) * (random.rand(300, 6) < 0.5)
    after_step, to_weights = DEFINITIONS[name]
    mirror_map = MIRROR_MAPS[name](N_CLASSES, 6 + int(constant))
    theta = np.zeros((N_CLASSES, 6 + int(constant)))
    full = np.hstack([X, np.full((300, int(constant)), constant)])
    for i, size in enumerate(random.choice([0.01, 1.0, 30.0], 300)):
        rounds = BanditRounds(MirrorDescent(6, mirror_map, size), ConstantSchedule(0.5))
        row = Rows(kind(X[i : i + 1]), constant)
        action, reward = random.randint(N_CLASSES), random.randint(2)
        best = int(np.argmax(rounds.score(row)[0]))
        assert_allclose(rounds.score(row)[0], to_weights(theta) @ full[i], rtol=1e-9, atol=1e-9)
        rounds.learn_shown(row, np.array([action]), np.array([0.25]), np.array([reward], np.int8))
        delta = np.zeros(N_CLASSES)
        delta[best] += 1
        delta[action] -= reward / 0.25
        theta = after_step(theta - size * np.outer(delta, full[i]))
        assert_allclose(mirror_map.dual_weights, theta, rtol=1e-9, atol=1e-9)
        assert_allclose(mirror_map.weights, to_weights(theta), rtol=1e-9, atol=1e-9)
    copy = pickle.loads(pickle.dumps(mirror_map))
    assert_array_equal(copy.dual_weights, mirror_map.dual_weights)
    assert_array_equal(copy.weights, mirror_map.weights)


def test_entropic_weights_stay_a_distribution():
    """Whatever the dual weights: far apart, or long sparse streams of small changes."""
    random = np.random.RandomState(1)
    mirror_map = MIRROR_MAPS["entropy"](2, 50)
    for size in (1e-3, 1e4, 1.0):
        rounds = BanditRounds(MirrorDescent(50, mirror_map, size), ConstantSchedule(0.5))
        X = sparse.random(5000, 50, 0.04, "csr", random_state=random)
        shown = random.randint(2, size=5000)
        rewards = random.randint(2, size=5000).astype(np.int8)
        rounds.learn_shown(Rows(X, 0.0), shown, np.full(5000, 0.5), rewards)
        assert_allclose(mirror_map.weights.sum(axis=1), 1.0, rtol=1e-9)
        assert_allclose(mirror_map.weights, softmax(mirror_map.dual_weights, axis=1), atol=1e-9)

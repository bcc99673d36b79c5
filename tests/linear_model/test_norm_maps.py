"""Mirror maps of norms: gradients of half the squared dual norm, and convexity."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklrank._compiled.rows import Rows

from sklrank.linear_model._mirror import MIRROR_MAPS


def p_norm(W, r):
    return np.sum(np.abs(W) ** r) ** (1 / r)


def group_norm(W, r):
    return p_norm(np.sqrt(np.sum(W**2, axis=0)), r)


def schatten_norm(W, r):
    return p_norm(np.linalg.svd(W, compute_uv=False), r)


NORMS = {"euclidean": p_norm, "p-norm": p_norm, "group-norm": group_norm, "schatten": schatten_norm}
NUMBERS = {
    "p-norm": lambda shape: shape[0] * shape[1],
    "group-norm": lambda shape: shape[1],
    "schatten": min,
}
SHAPES = [(9, 12), (12, 9), (30, 8), (1, 40), (2, 3), (1, 1)]


def dual_exponent(name, shape):
    return 2.0 if name == "euclidean" else max(2.0, np.log(NUMBERS[name](shape)))


def exponent(name, shape):
    q = dual_exponent(name, shape)
    return q / (q - 1)


def weights_of(name, theta):
    """Weights of dual weights that are set by one dense step for each class."""
    mirror_map = MIRROR_MAPS[name](*theta.shape)
    for k, dual_weights in enumerate(theta):
        direction = np.zeros((1, len(theta)))
        direction[0, k] = 1
        mirror_map.take_steps(Rows(dual_weights[np.newaxis], 0.0), direction)
    return mirror_map.weights


def potential_gradient(name, W):
    """Gradient of 1/2 ||W||^2, in closed form."""
    r = exponent(name, W.shape)
    if name == "schatten":
        left, values, right = np.linalg.svd(W, full_matrices=False)
        return left * (values ** (r - 1) * p_norm(values, r) ** (2 - r)) @ right
    if name == "group-norm":
        lengths = np.sqrt(np.sum(W**2, axis=0))
        lengths[lengths == 0] = 1
        return W * lengths ** (r - 2) * group_norm(W, r) ** (2 - r)
    return np.sign(W) * np.abs(W) ** (r - 1) * p_norm(W, r) ** (2 - r)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NORMS)
def test_map_inverts_the_gradient_of_the_potential(name, shape):
    """grad Phi(grad Phi*(Theta)) = Theta, and vice versa."""
    random = np.random.RandomState(0)
    for scale in (1e-40, 1.0, 1e40):
        theta = scale * random.normal(size=shape)
        assert_allclose(potential_gradient(name, weights_of(name, theta)), theta, rtol=1e-7)
        W = scale * random.normal(size=shape)
        assert_allclose(weights_of(name, potential_gradient(name, W)), W, rtol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NORMS)
def test_weights_are_the_gradient_of_the_conjugate(name, shape):
    """It equals finite differences of half the squared dual norm."""
    random = np.random.RandomState(1)
    theta = random.normal(size=shape)
    q = dual_exponent(name, shape)
    gradient = np.empty(shape)
    for place in np.ndindex(shape):
        change = np.zeros(shape)
        change[place] = 1e-5
        above, below = (NORMS[name](theta + d, q) ** 2 / 2 for d in (change, -change))
        gradient[place] = (above - below) / 2e-5
    assert_allclose(weights_of(name, theta), gradient, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", NUMBERS)
def test_few_numbers_make_the_euclidean_map(name):
    """If ln p is below 2; the largest such p is 7."""
    shape = {"p-norm": (1, 7), "group-norm": (20, 7), "schatten": (7, 20)}[name]
    theta = np.random.RandomState(2).normal(size=shape)
    assert_allclose(weights_of(name, theta), theta, rtol=1e-15)
    assert MIRROR_MAPS[name](*shape).exponent == 2.0
    more = tuple(n + (n == 7) for n in shape)
    assert MIRROR_MAPS[name](*more).exponent > 2.0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NORMS)
def test_potential_is_strongly_convex(name, shape):
    """D(A, B) >= convexity / 2 ||A - B||^2 for the divergence D, with the convexity r - 1."""
    random = np.random.RandomState(3)
    r = exponent(name, shape)
    convexity = 1 / (getattr(MIRROR_MAPS[name](*shape), "exponent", 2.0) - 1)
    assert convexity == pytest.approx(r - 1)
    for spread in (1e-2, 1.0, 1e2):
        A = random.normal(size=shape)
        B = A + spread * random.normal(size=shape)
        values = [NORMS[name](W, r) ** 2 / 2 for W in (A, B)]
        distance = values[0] - values[1] - np.sum((A - B) * potential_gradient(name, B))
        bound = convexity / 2 * NORMS[name](A - B, r) ** 2
        assert distance >= bound * (1 - 1e-9)


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, pytest.param(np.asarray, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_all_sizes(name, kind):
    """Dual weights that grow and shrink by many powers of ten, with a thousand features."""
    random = np.random.RandomState(5)
    mirror_map = MIRROR_MAPS[name](9, 1000)
    for scale in (1e-40, 1.0, 1e-40, 1e40, 1e-20, 1e100, 1e-100, 1e-160):
        X = np.zeros((40, 1000))
        X[np.arange(40), random.randint(1000, size=40)] = random.normal(size=40)
        directions = random.normal(size=(40, 9)) * scale
        mirror_map.take_steps(Rows(kind(X), 0.0), directions)
        found = mirror_map.weights
        theta = mirror_map.dual_weights
        unit = np.abs(theta).max()
        scaled = potential_gradient(name, found / unit)
        assert_allclose(scaled, theta / unit, rtol=1e-7, atol=1e-7)
        # Back to zero, exactly.
        mirror_map.take_steps(Rows(kind(np.eye(1000)), 0.0), np.ascontiguousarray(-theta.T))
        assert np.all(mirror_map.weights == 0)


@pytest.mark.parametrize("name", NORMS)
def test_weights_scale_with_the_dual_weights(name):
    """Maps of norms are homogeneous, so scaling all steps does not change predictions."""
    theta = np.random.RandomState(6).normal(size=(9, 12))
    for scale in (1e-3, 7.0):
        assert_allclose(weights_of(name, scale * theta), scale * weights_of(name, theta), rtol=1e-9)


@pytest.mark.parametrize("name", ["p-norm", "group-norm"])
def test_relevant_features_have_most_of_the_weight(name):
    """Three of two thousand features, with a small share of the dual weights."""
    random = np.random.RandomState(7)
    mirror_map = MIRROR_MAPS[name](2, 2000)
    X = random.choice([-1.0, 1.0], size=(400, 2000))
    signs = np.sign(X[:, :3].sum(axis=1))
    mirror_map.take_steps(Rows(X, 0.0), np.stack([signs, -signs], axis=1))
    shares = [
        np.abs(table[:, :3]).sum() / np.abs(table).sum()
        for table in (mirror_map.dual_weights, mirror_map.weights)
    ]
    assert shares[0] < 0.05
    assert shares[1] > 0.5

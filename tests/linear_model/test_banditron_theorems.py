"""Bounds on the mistakes of online mirror descent with bandit feedback (Valizadegan 2010, ch. 5).

With the share g of exploration, K classes, T rounds and steps of size eta, for every U

    E[M] <= D(U) / (eta kappa) + sum l_t(U) / kappa + eta g T / (2 rho kappa (1 - g)) + g T,
    kappa = 1 - eta / (2 rho) (1 - g / K + g / K (1 + K^2 / g^2)),

where M is the number of rounds in which the class shown was wrong, l_t(U) the hinge loss at margin
1, D(U) the divergence of U from the initial weights, and rho the constant of strong convexity in a
norm for which the dual norm of a step x delta' is at most |delta|_2 for all samples. The theorems
print 1 - g in place of 1 - g / K, the larger number, which is in the proof of Proposition 5.
"""

import numpy as np
import pytest

from sklrank.linear_model import BanditronClassifier
from sklrank.linear_model._mirror import MIRROR_MAPS

N_CLASSES, N_FEATURES, N_ROUNDS, RATE = 9, 60, 40_000, 0.2


def bounds(etas, divergence, losses, convexity):
    """Return the bound for each step size; infinity if kappa is not positive."""
    K, T, g = N_CLASSES, N_ROUNDS, RATE
    kappa = 1 - etas / (2 * convexity) * (1 - g / K + g / K * (1 + (K / g) ** 2))
    variance = etas * g * T / (2 * convexity * (1 - g))
    with np.errstate(divide="ignore"):
        return np.where(kappa > 0, (divergence / etas + losses + variance) / kappa, np.inf) + g * T


def hinge_losses(U, X, y):
    scores = X @ U.T
    rows = np.arange(len(y))
    right = scores[rows, y]
    scores[rows, y] = -np.inf
    return np.maximum(0, 1 + scores.max(axis=1) - right).sum()


def signs_stream(random, noise=0.0):
    """Samples of -1 and 1; the first nine features are an indicator of the class."""
    y = random.randint(N_CLASSES, size=N_ROUNDS)
    X = random.choice([-1.0, 1.0], size=(N_ROUNDS, N_FEATURES))
    X[:, :N_CLASSES] = 2 * np.eye(N_CLASSES)[y] - 1
    return X, np.where(random.rand(N_ROUNDS) < noise, random.randint(N_CLASSES, size=N_ROUNDS), y)


def mistakes(X, y, **params):
    """Return the number of mistakes in one stream.

    Its standard deviation is about 200, and the bounds exceed it by thousands.
    """
    model = BanditronClassifier(exploration=RATE, fit_intercept=False, random_state=0, **params)
    return N_ROUNDS * model.partial_fit(X, y, range(N_CLASSES)).error_rate_


def assert_bound_is_informative(bound):
    """Check that the bound is below the number of mistakes of uniform draws."""
    assert bound < 0.8 * (1 - 1 / N_CLASSES) * N_ROUNDS


def group_norm(U, r):
    return np.linalg.norm(np.linalg.norm(U, axis=0), r)


NORMS = {
    "euclidean": lambda U, r: np.linalg.norm(U),
    "p-norm": lambda U, r: np.linalg.norm(U.ravel(), r),
    "group-norm": group_norm,
    "schatten": lambda U, r: np.linalg.norm(np.linalg.svd(U, compute_uv=False), r),
}


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("name", NORMS)
def test_theorem_11(name, noise):
    """The number of mistakes is within the bound, for a teacher of one feature per class.

    Potentials are 1/2 ||W||^2, so D(U) = 1/2 ||U||^2. The weights scale with eta, and predictions
    do not depend on it: the bound holds for the best eta. Samples have a radius of 1, and the dual
    norm of a step is then at most |delta|_2. The norm of Eq. 5.9 is not needed; for p = s = 2 it is
    the largest singular value, not the Frobenius norm of the text.
    """
    mirror_map = MIRROR_MAPS[name](N_CLASSES, N_FEATURES)
    exponent = getattr(mirror_map, "exponent", 2.0)
    convexity, q = 1 / (exponent - 1), 2.0 if name == "schatten" else exponent
    X, y = signs_stream(np.random.RandomState(0), noise)
    X /= np.linalg.norm(X, q, axis=1)[:, np.newaxis]
    # Scaled by the radius, the margin of 2 is 1.
    U = np.eye(N_CLASSES, N_FEATURES) / (2 * X[0, np.argmax(X[0])])
    divergence = NORMS[name](U, 1 + convexity) ** 2 / 2
    etas = convexity * np.geomspace(1e-4, 1, 200)
    bound = bounds(etas, divergence, hinge_losses(U, X, y), convexity).min()
    assert_bound_is_informative(bound)
    assert mistakes(X, y, mirror_map=name) <= bound


def best_entropic_step(U, X, y):
    """Return the least bound and its step size; D(U) is the relative entropy to uniform weights."""
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.nansum(U * np.log(N_FEATURES * U))
    etas = np.geomspace(1e-4, 1, 200)
    found = bounds(etas, divergence, hinge_losses(U, X, y), 1.0)
    return found.min(), etas[np.argmin(found)]


@pytest.mark.slow
def test_theorem_12():
    """Exponential gradient keeps the bound for samples of length 1 and teachers of distributions.

    D(U) is at most K ln d, with d the number of features; the theorem prints K ln K.
    """
    random = np.random.RandomState(0)
    y = random.randint(N_CLASSES, size=N_ROUNDS)
    X = random.normal(size=(N_ROUNDS, N_FEATURES))
    X[:, :N_CLASSES] = 0
    X *= 0.3 / np.linalg.norm(X, axis=1, keepdims=True)
    X[np.arange(N_ROUNDS), y] = np.sqrt(1 - 0.3**2)
    assert np.allclose(np.linalg.norm(X, axis=1), 1)
    U = np.eye(N_CLASSES, N_FEATURES)
    bound, eta = best_entropic_step(U, X, y)
    assert_bound_is_informative(bound)
    assert mistakes(X, y, mirror_map="entropy", learning_rate=eta) <= bound


@pytest.mark.slow
def test_theorem_13():
    """The bound of Theorem 12 for samples of any length with values up to 1: it grows with ln d.

    The printed kappa has E|delta|_1, but its proof needs E|delta|_2^2, which is large because of
    importance weights K / g. Moreover 2 - 2 g - 4 g / K is not E|delta|_1, which is up to 2.
    """
    X, y = signs_stream(np.random.RandomState(0))
    assert np.abs(X).max() == 1
    bound, eta = best_entropic_step(np.eye(N_CLASSES, N_FEATURES), X, y)
    assert_bound_is_informative(bound)
    assert mistakes(X, y, mirror_map="entropy", learning_rate=eta) <= bound

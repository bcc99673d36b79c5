"""The papers' loss bounds hold, to the letter, on data of a known margin.

Rows are drawn, and those kept that a teacher W* of unit norm separates by a margin gamma, which is
measured by enumerating predictions. Then, whatever the order and the number of passes, the sum of
losses L is at most

    4 R^2 C_L^2 / (alpha c_L gamma^2)   by Algorithms 1 and 3 (Theorems 1 and 15),
    4 R^2 C_L / gamma^2                 by Algorithm 2 (Theorem 14).
"""

from itertools import permutations, product

import numpy as np
import pytest
from sklearn.base import clone

from sklrank.linear_model import PredtronClassifier, PredtronLabelRanker, PredtronQueryRanker

# -- Norms of weights, of which that of the teacher is 1: radii of rows, convexity.


def exponent(p):
    return max(2.0, np.log(p))


def grouped(W, name):
    """The numbers of which the norm is an l_r norm, and q of its dual."""
    if name == "group-norm":
        parts = np.linalg.norm(W, axis=0)
    elif name == "schatten":
        parts = np.linalg.svd(W, compute_uv=False)
    else:
        parts = np.abs(W).ravel()
    return parts, 2.0 if name == "euclidean" else exponent(len(parts))


def unit(W, name):
    parts, q = grouped(W, name)
    return W / np.linalg.norm(parts, q / (q - 1))


def greatest_radius(X, n_scores, name):
    """Of rows (n, p), or queries (n, m, p), by the definition of the map's norm (Eq. 6)."""
    _, q = grouped(np.empty((n_scores, X.shape[-1])), name)
    if X.ndim == 2:
        lengths = np.abs(X)
        q_of_rows = 2.0 if name in ("euclidean", "schatten") else q
        return np.linalg.norm(lengths, q_of_rows, axis=1).max(), 1 / (q - 1)
    if name == "euclidean":
        return np.linalg.norm(X, 2, axis=(1, 2)).max(), 1.0
    return np.linalg.norm(np.linalg.norm(X, axis=1), q, axis=1).max(), 1 / (q - 1)


def margin(scores, predictions, losses):
    """How far the least right prediction is ahead of the best wrong one; -inf: incompatible."""
    likes = predictions @ scores
    right = losses == 0
    if np.ptp(likes[right]) > 1e-9:
        return -np.inf
    return likes[right].min() - likes[~right].max(initial=-np.inf)


# -- Problems: predictions, and the loss of each by label.


def of_classes(costs):
    costs = np.asarray(costs, dtype=float)
    m = len(costs)
    basis = np.array([[-1.0], [1.0]]) if costs.shape == (2, 2) else np.eye(m)
    if costs.shape[1] > m:
        basis = np.vstack([basis, np.full(m, m**-0.5)])
    return basis, list(costs)


def of_sets(m, loss):
    sets = np.array(list(product([0, 1], repeat=m)))
    predictions = (2.0 * sets - 1) / np.sqrt(m)
    return predictions, [
        np.asarray(loss(sets @ (1 - y), (1 - sets) @ y), dtype=float) for y in sets
    ]


def zero_one(m):
    return 1.0 - np.eye(m)


CLASSES = {
    "perceptron": ({}, zero_one(2)),
    "uneven": ({"loss": [1.0, 0.4]}, zero_one(2) * [[1.0], [0.4]]),
    "multiclass": ({}, zero_one(4)),
    "ordinal": ({"loss": "absolute"}, np.abs(np.subtract.outer(range(4), range(4)))),
    "costs": ({"loss": [[0, 1, 3], [2, 0, 1], [1, 1, 0]]}, [[0, 1, 3], [2, 0, 1], [1, 1, 0]]),
    "reject": ({"reject_cost": [0.5, 0.25]}, np.c_[zero_one(2), [0.5, 0.25]]),
    "reject one of three": ({"reject_cost": 0.3}, np.c_[zero_one(3), np.full(3, 0.3)]),
}
SETS = {
    "subset_zero_one": lambda fp, fn: fp + fn > 0,
    "hamming": lambda fp, fn: fp + fn,
}
MAPS = ["euclidean", "p-norm", "group-norm", "schatten"]


def teach(random, n_features, n_scores, name):
    """Weights of a few features, of unit norm."""
    W = np.zeros((n_scores, n_features))
    few = random.permutation(n_features)[:4]
    W[:, few] = random.normal(size=(n_scores, 4))
    return unit(W, name)


def separable_rows(predictions, losses, name, seed, n=3000, share=0.25, n_features=40):
    """The rows of a teacher's greatest margins, their labels, and the least of these margins."""
    random = np.random.RandomState(seed)
    X = random.normal(size=(n, n_features))
    W = teach(random, n_features, predictions.shape[1], name)
    best = (X @ W.T @ predictions.T).argmax(axis=1)
    labels = np.array(
        [next(y for y, costs in enumerate(losses) if costs[b] == 0) for b in range(len(losses[0]))]
    )[best]
    margins = np.array([margin(W @ x, predictions, losses[y]) for x, y in zip(X, labels)])
    kept = margins >= np.quantile(margins, 1 - share)
    assert margins[kept].min() > 0
    return X[kept], labels[kept], margins[kept].min()


def bound(losses, radius, convexity, gamma, driven):
    """The theorem's rate and bound."""
    positive = np.concatenate(losses)
    positive = positive[positive > 0]
    least, most = positive.min(), positive.max()
    if driven:
        return convexity / (4 * most * radius**2), 4 * radius**2 * most / (convexity * gamma**2)
    rate = convexity * least / (4 * radius**2)
    return rate, 4 * radius**2 * most**2 / (convexity * least * gamma**2)


def check_bound(model, given, rate, greatest):
    """After every pass; at the rate of all rows, and at that of the rows so far."""
    for learning_rate in (rate, "theory"):
        fitted = clone(model).set_params(learning_rate=learning_rate, max_iter=20).fit(*given)
        total = fitted.mean_loss_ * fitted.n_rounds_
        assert 0 < total <= greatest


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("problem", CLASSES)
def test_bounds_of_classes(problem, name, driven):
    """Theorems 1, 14 and 15; Corollary 2 is "uneven", with c_L and C_L as they are."""
    parameters, costs = CLASSES[problem]
    predictions, losses = of_classes(costs)
    X, y, gamma = separable_rows(predictions, losses, name, seed=len(problem))
    radius, convexity = greatest_radius(X, predictions.shape[1], name)
    rate, greatest = bound(losses, radius, convexity, gamma, driven)
    update = "loss-driven" if driven else "loss-augmented"
    model = PredtronClassifier(
        update=update, mirror_map=name, fit_intercept=False, shuffle=True, random_state=0
    )
    check_bound(model.set_params(**parameters), (X, y), rate, greatest)


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("loss", SETS)
def test_bounds_of_sets(loss, name, driven):
    """Of three labels; "error_set_size" is below."""
    predictions, losses = of_sets(3, SETS[loss])
    X, y, gamma = separable_rows(predictions, losses, name, seed=len(loss))
    radius, convexity = greatest_radius(X, 3, name)
    rate, greatest = bound(losses, radius, convexity, gamma, driven)
    update = "loss-driven" if driven else "loss-augmented"
    model = PredtronClassifier(loss=loss, update=update, mirror_map=name, fit_intercept=False)
    Y = np.array(list(product([0, 1], repeat=3)))[y]
    check_bound(model, (X, Y), rate, greatest)

"""The bounds of the paper hold exactly on data with a known margin.

Samples are drawn, and those are kept that a teacher W* of unit norm separates by a margin gamma,
which is measured by enumerating predictions. Then, in any order and with any number of passes, the
sum of losses L is at most

    4 R^2 C_L^2 / (alpha c_L gamma^2)   by Algorithms 1 and 3 (Theorems 1 and 15),
    4 R^2 C_L / gamma^2                 by Algorithm 2 (Theorem 14).
"""

from itertools import permutations, product

import numpy as np
import pytest
from sklearn.base import clone

from sklrank.linear_model import PredtronClassifier, PredtronLabelRanker, PredtronQueryRanker
from sklrank.linear_model._predtron._ranking_losses import position_values

# -- Norms of the teacher's weights, radii of samples, convexity.


def exponent(p):
    return max(2.0, np.log(p))


def grouped(W, name):
    """Return the numbers whose l_r norm is the norm of W, and q of its dual."""
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
    """Return the greatest radius (Eq. 6) of samples (n, p) or queries (n, m, p); the convexity."""
    _, q = grouped(np.zeros((n_scores, X.shape[-1])), name)
    if X.ndim == 2:
        lengths = np.abs(X)
        q_of_rows = 2.0 if name in ("euclidean", "schatten") else q
        return np.linalg.norm(lengths, q_of_rows, axis=1).max(), 1 / (q - 1)
    if name == "euclidean":
        return np.linalg.norm(X, 2, axis=(1, 2)).max(), 1.0
    return np.linalg.norm(np.linalg.norm(X, axis=1), q, axis=1).max(), 1 / (q - 1)


def margin(scores, predictions, losses):
    """Least similarity of a correct prediction minus the greatest one of another; or -inf.

    It is -inf if the correct predictions have different similarities. `scores` may have many rows.
    """
    similarities = scores @ predictions.T
    correct, others = similarities[..., losses == 0], similarities[..., losses > 0]
    gaps = correct.min(axis=-1) - others.max(axis=-1, initial=-np.inf)
    return np.where(np.ptp(correct, axis=-1) > 1e-9, -np.inf, gaps)


# -- Problems: predictions, and their losses for each label.


def of_classes(costs):
    costs = np.asarray(costs, dtype=float)
    m = len(costs)
    if costs.shape[1] > m:
        return np.vstack([np.eye(m), np.full(m, 1 / np.sqrt(m))]), list(costs)
    return np.array([[-1.0], [1.0]]) if m == 2 else np.eye(m), list(costs)


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
    "reject": ({"reject_cost": [0.5, 0.3]}, np.column_stack([zero_one(2), [0.5, 0.3]])),
    "ordinal": ({"loss": "absolute"}, np.abs(np.subtract.outer(range(4), range(4)))),
    "costs": ({"loss": [[0, 1, 3], [2, 0, 1], [1, 1, 0]]}, [[0, 1, 3], [2, 0, 1], [1, 1, 0]]),
}
SETS = {
    "subset_zero_one": lambda fp, fn: fp + fn > 0,
    "hamming": lambda fp, fn: fp + fn,
}
MAPS = ["euclidean", "p-norm", "group-norm", "schatten"]


def draw_teacher(random, n_features, n_scores, name):
    """Draw weights of unit norm that are nonzero for a few features only."""
    W = np.zeros((n_scores, n_features))
    few = random.permutation(n_features)[:4]
    W[:, few] = random.normal(size=(n_scores, 4))
    return unit(W, name)


def draw_separable(predictions, losses, name, seed, n=800, share=0.25, n_features=40):
    """Draw samples; return those of the greatest margins, their labels and the least margin."""
    random = np.random.RandomState(seed)
    X = random.normal(size=(n, n_features))
    W = draw_teacher(random, n_features, predictions.shape[1], name)
    margins = np.column_stack([margin(X @ W.T, predictions, costs) for costs in losses])
    labels, margins = margins.argmax(axis=1), margins.max(axis=1)
    kept = margins >= np.quantile(margins, 1 - share)
    assert margins[kept].min() > 0
    return X[kept], labels[kept], margins[kept].min()


def bound(losses, radius, convexity, gamma, loss_driven):
    """Return the learning rate of the theorem and its bound."""
    positive = np.concatenate(losses)
    positive = positive[positive > 0]
    low, high = positive.min(), positive.max()
    if loss_driven:
        return convexity / (4 * high * radius**2), 4 * radius**2 * high / (convexity * gamma**2)
    rate = convexity * low / (4 * radius**2)
    return rate, 4 * radius**2 * high**2 / (convexity * low * gamma**2)


def check_bound(model, given, rate, greatest):
    fitted = clone(model).set_params(learning_rate=rate, max_iter=10).fit(*given)
    total = fitted.mean_loss_ * fitted.n_rounds_
    assert 0 < total <= greatest


@pytest.mark.filterwarnings("ignore:loss has no effect")
@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("problem", CLASSES)
def test_bounds_of_classes(problem, name, loss_driven):
    """Theorems 1, 14 and 15; Corollary 2 is "uneven", with c_L and C_L as they are."""
    parameters, costs = CLASSES[problem]
    predictions, losses = of_classes(costs)
    X, y, gamma = draw_separable(predictions, losses, name, seed=len(problem))
    radius, convexity = greatest_radius(X, predictions.shape[1], name)
    rate, greatest = bound(losses, radius, convexity, gamma, loss_driven)
    update = "loss-driven" if loss_driven else "loss-augmented"
    model = PredtronClassifier(update=update, mirror_map=name, fit_intercept=False)
    check_bound(model.set_params(**parameters), (X, y), rate, greatest)


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("loss", SETS)
def test_bounds_of_label_sets(loss, name, loss_driven):
    """Sets of three labels.

    "error_set_size" has no margin: only scores of zero give all its correct sets one similarity.
    """
    predictions, losses = of_sets(3, SETS[loss])
    X, y, gamma = draw_separable(predictions, losses, name, seed=len(loss))
    radius, convexity = greatest_radius(X, 3, name)
    rate, greatest = bound(losses, radius, convexity, gamma, loss_driven)
    update = "loss-driven" if loss_driven else "loss-augmented"
    model = PredtronClassifier(loss=loss, update=update, mirror_map=name, fit_intercept=False)
    Y = np.array(list(product([0, 1], repeat=3)))[y]
    check_bound(model, (X, Y), rate, greatest)


@pytest.mark.parametrize("update", ["loss-augmented", "loss-driven"])
def test_bound_is_attained(update):
    """Each orthogonal sample is a mistake, and there are as many as Theorems 1 and 14 allow."""
    n = 30
    y = np.random.RandomState(0).randint(2, size=n)
    gamma = 2 / np.sqrt(n)
    rate, greatest = bound(list(zero_one(2)), 1.0, 1.0, gamma, update == "loss-driven")
    model = PredtronClassifier(
        update=update, learning_rate=rate, fit_intercept=False, max_iter=5, shuffle=False
    )
    model.fit(np.eye(n), y)
    assert model.n_mistakes_ == n
    np.testing.assert_allclose(greatest, n)


# -- Rankings. Items of equal relevance have equal scores, otherwise there is no margin.

LEVELS = np.array([0.0, 1.0, 2.5])
REPRESENTATIONS = {"linear": ("linear", 1.1), "power 1.1": ("power", 1.1), "power 2": ("power", 2)}


def of_rankings(y, f):
    """Return all rankings of items with these grades, and their NDCG losses."""
    positions = np.array(list(permutations(range(len(y)))))
    gains = (1 / np.log2(2 + positions)) @ (2.0**y - 1)
    losses = (gains.max() - gains) / gains.max()
    losses[losses < 1e-12] = 0.0
    return f[positions] / np.linalg.norm(f), losses


def draw_grades(random, n, m):
    grades = random.randint(len(LEVELS), size=(n, m))
    return grades[np.ptp(grades, axis=1) > 0]


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_margin_of_rankings(representation):
    """Lemma 4: the margin follows from the gaps between neighboring grades."""
    representation, power = REPRESENTATIONS[representation]
    f = position_values(representation, 5, power=power)
    random = np.random.RandomState(0)
    for y in draw_grades(random, 30, 5):
        y = -np.sort(-y)
        t = np.cumsum(random.exponential(size=3))[y]
        drops = np.flatnonzero(np.diff(y)) + 1  # the positions i_j, from 0
        gaps = (t[drops - 1] - t[drops]) * (f[drops - 1] - f[drops]) / np.linalg.norm(f)
        np.testing.assert_allclose(margin(t, *of_rankings(y, f)), gaps.min())


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_bounds_of_label_rankings(representation, name, loss_driven):
    """Corollaries 7 and 8, with c_L and C_L as they are."""
    random = np.random.RandomState(1)
    Y = draw_grades(random, 120, 4)
    W = draw_teacher(random, 40, 4, name)
    X = random.normal(size=(len(Y), 40))
    X += (LEVELS[Y] - X @ W.T) @ np.linalg.pinv(W).T
    check_rankings(PredtronLabelRanker, representation, name, loss_driven, X, Y, LEVELS[Y], 4)


@pytest.mark.parametrize("loss_driven", [False, True])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_bounds_of_document_rankings(representation, name, loss_driven):
    """Corollaries 5 and 6: the radius is the operator norm, or that of the columns' norms."""
    random = np.random.RandomState(2)
    Y = draw_grades(random, 120, 4)
    w = draw_teacher(random, 40, 1, name)[0]
    X = random.normal(size=(*Y.shape, 40))
    X += (LEVELS[Y] - X @ w)[..., np.newaxis] * w / (w @ w)
    check_rankings(PredtronQueryRanker, representation, name, loss_driven, X, Y, LEVELS[Y], 1)


def check_rankings(ranker, representation, name, loss_driven, X, Y, scores, n_scores):
    representation, power = REPRESENTATIONS[representation]
    f = position_values(representation, Y.shape[1], power=power)
    rounds = [of_rankings(y, f) for y in Y]
    gamma = min(margin(t, *of_round) for t, of_round in zip(scores, rounds))
    radius, convexity = greatest_radius(X, n_scores, name)
    losses = [costs for _, costs in rounds]
    rate, greatest = bound(losses, radius, convexity, gamma, loss_driven)
    model = ranker(
        representation=representation,
        power=power,
        update="loss-driven" if loss_driven else "loss-augmented",
        mirror_map=name,
    )
    if ranker is PredtronLabelRanker:
        check_bound(model.set_params(fit_intercept=False), (X, Y), rate, greatest)
    else:
        qid = np.repeat(np.arange(len(Y)), Y.shape[1])
        check_bound(model, (X.reshape(len(qid), -1), Y.ravel(), qid), rate, greatest)

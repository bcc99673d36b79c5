"""The objective of MCSSB against its equations in loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklrank._boosters.rounds import MAX_SCORE_GAP
from sklrank.semi_supervised._mcssb import MCSSBObjective
from sklrank.semi_supervised._similarity import labeled_affinities

N, K = 8, 3
LABELS = np.array([0, -1, 1, -1, 2, -1, -1, 0])
C = 7.0


def some_matrix(seed, share=0.5):
    random = np.random.RandomState(seed)
    matrix = np.triu(random.uniform(size=(N, N)) * (random.uniform(size=(N, N)) < share), 1)
    return matrix + matrix.T


MATRICES = {
    "dense": some_matrix(0, share=1.0),
    "sparse": some_matrix(1),
    "uniform": np.ones((N, N)),
    "identity": np.eye(N),
}
KINDS = [
    ("dense", np.asarray),
    ("dense", sparse.csr_array),
    ("sparse", np.asarray),
    ("sparse", sparse.csr_array),
    ("uniform", np.asarray),
    ("identity", sparse.csr_array),
]


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0]}-{kind[1].__name__}")
def problem(request):
    """Return a similarity matrix and its objective."""
    name, storage = request.param
    similarity = storage(MATRICES[name])
    affinities = labeled_affinities(similarity, LABELS, np.ones(N), K)
    return MATRICES[name], MCSSBObjective(similarity, affinities, LABELS, np.ones(N), C)


def some_scores(seed=0, size=2.0):
    return size * np.random.RandomState(seed).normal(size=(N, K))


class Naive:
    """Equations 2.1 to 2.18 in loops."""

    def __init__(self, S, scores):
        self.S = S
        self.b = b = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        self.Z = b @ b.T
        self.y = np.eye(K)[LABELS]
        self.labeled = np.flatnonzero(LABELS >= 0)

    def value(self):
        unlabeled = sum(self.S[i, j] / self.Z[i, j] for i in range(N) for j in range(N))
        labeled = sum(
            self.S[i, j] / (self.y[i] @ self.b[j]) for i in self.labeled for j in range(N)
        )
        return unlabeled + C * labeled

    def tau(self, i, j, k):
        return self.b[i, k] * self.b[j, k] / self.Z[i, j]

    def phi(self, i, j, k):
        b, y = self.b, self.y
        return sum(y[i, l] * b[j, k] / b[j, l] for l in range(K)) - y[i, k] / b[j, k]

    def costs(self):
        costs = np.zeros((N, K))
        for i in range(N):
            for k in range(K):
                alpha = sum(
                    self.S[i, j] * (self.b[i, k] - self.tau(i, j, k)) / self.Z[i, j]
                    for j in range(N)
                )
                beta = sum(self.S[i, j] * self.phi(j, i, k) for j in self.labeled) / 2
                costs[i, k] = alpha + C * beta
        return costs

    def labels_and_weights(self):
        labels, weights = [], []
        for costs, label in zip(self.costs(), LABELS):
            label = label if label >= 0 else min(range(K), key=costs.__getitem__)
            labels.append(label)
            weights.append(max(0, -costs[label]))
        return labels, weights

    def step_weights(self, h):
        S, b, y = self.S, self.b, self.y
        a_u = b_u = a_l = b_l = 0.0
        for j in range(N):
            for i in range(N):
                a_u += S[i, j] / self.Z[i, j] * sum(h[i, k] * b[i, k] for k in range(K))
                b_u += S[i, j] / self.Z[i, j] * sum(h[i, k] * self.tau(i, j, k) for k in range(K))
            for i in self.labeled:
                a_l += (S[i, j] / 2) * sum(
                    y[i, k] / b[j, k] * b[j, l] * h[j, l] for k in range(K) for l in range(K)
                )
                b_l += S[i, j] / 2 * sum(y[i, k] * h[j, k] / b[j, k] for k in range(K))
        return b_u + C * b_l, a_u + C * a_l


@pytest.mark.parametrize("seed", range(3))
def test_values_costs_weights_and_steps(problem, seed):
    S, objective = problem
    scores = some_scores(seed)
    naive = Naive(S, scores)
    objective.set_scores(scores)
    costs = naive.costs()
    assert_allclose(objective.value, naive.value(), rtol=1e-10)
    assert_allclose(objective.costs, costs, rtol=1e-10, atol=1e-10 * np.abs(costs).max())
    labels, weights = naive.labels_and_weights()
    assert_array_equal(objective.labels, labels)
    assert_allclose(objective.weights, weights, rtol=1e-10, atol=1e-10 * np.abs(costs).max())
    for h in (np.eye(K)[np.random.RandomState(seed).randint(K, size=N)] for _ in range(3)):
        correct, incorrect = naive.step_weights(h)
        assert_allclose(objective.step_weights(h), (correct, incorrect), rtol=1e-10)
        expected = max(0.0, np.log(correct / incorrect) / 4)
        assert_allclose(objective.step(h), expected, rtol=1e-9, atol=1e-15)


def test_algorithm_3_gives_labeled_samples_no_weight(problem):
    S, everything = problem
    affinities = labeled_affinities(S, LABELS, np.ones(N), K)
    objective = MCSSBObjective(S, affinities, LABELS, np.ones(N), C, trains_labeled=False)
    scores = some_scores()
    for each in (objective, everything):
        each.set_scores(scores)
    _, weights = Naive(S, scores).labels_and_weights()
    expected = [weights[i] if LABELS[i] < 0 else 0 for i in range(N)]
    assert_allclose(objective.weights, expected, rtol=1e-10, atol=1e-10 * np.max(weights))
    # The labels have an effect through the objective.
    assert_allclose(objective.value, everything.value)
    assert_allclose(objective.costs, everything.costs)


@pytest.mark.parametrize("seed", range(5))
def test_lemma_2_and_theorem_4_hold_for_every_step(problem, seed):
    """The lemma holds for any hypothesis, so that a random one is enough."""
    _, objective = problem
    scores = some_scores(seed)
    h = np.eye(K)[np.random.RandomState(seed).randint(K, size=N)]
    objective.set_scores(scores)
    before, (correct, incorrect), best = (
        objective.value,
        objective.step_weights(h),
        objective.step(h),
    )
    for step in (0.01, 0.3, 1.0, 2.0):
        objective.set_scores(scores + step * h)
        bound = (np.exp(-2 * step) - 1) * correct + (np.exp(2 * step) - 1) * incorrect
        assert objective.value - before <= bound + 1e-9 * before
    if best:
        objective.set_scores(scores + best * h)
        gap = (np.sqrt(correct) - np.sqrt(incorrect)) ** 2
        assert objective.value <= before * np.exp(-gap / before) * (1 + 1e-12)
        objective.set_scores(scores + 2 * best * h)
        assert objective.value <= before * (1 + 1e-12)


def test_costs_are_gradients(problem):
    """The bound touches the objective: the cost of a class is half of the slope."""
    _, objective = problem
    scores = some_scores()
    objective.set_scores(scores)
    costs = objective.costs
    slopes = np.zeros((N, K))
    for i in range(N):
        for k in range(K):
            moved = scores.copy()
            moved[i, k] += 1e-5
            objective.set_scores(moved)
            up = objective.value
            moved[i, k] -= 2e-5
            objective.set_scores(moved)
            slopes[i, k] = (up - objective.value) / 2e-5
    assert_allclose(slopes, 2 * costs, rtol=1e-5, atol=1e-5 * np.abs(costs).max())


def test_scores_far_apart_do_not_overflow(problem):
    _, objective = problem
    objective.set_scores(some_scores(size=1e5))
    for numbers in (objective.value, objective.costs, objective.weights):
        assert np.isfinite(numbers).all()
    assert np.isfinite(objective.step_weights(np.eye(K)[np.zeros(N, dtype=int)])).all()


def test_scores_near_the_cap_are_exact():
    S = MATRICES["dense"]
    affinities = labeled_affinities(S, LABELS, np.ones(N), K)
    objective = MCSSBObjective(S, affinities, LABELS, np.ones(N), C)
    scores = some_scores()
    scores *= 0.3 * MAX_SCORE_GAP / np.ptp(scores, axis=1).max()
    naive = Naive(S, scores)
    objective.set_scores(scores)
    assert_allclose(objective.value, naive.value(), rtol=1e-10)
    assert_allclose(objective.costs, naive.costs(), rtol=1e-8, atol=1e-8 * objective.value)


def test_any_class_affinities_define_a_labeled_term():
    """Samples without affinities and similarities have no weight."""
    affinities = np.array([[2.0, 0, 0], [0, 0, 0]])
    labels = np.array([-1, -1])
    objective = MCSSBObjective(sparse.csr_array((2, 2)), affinities, labels, np.ones(2), C)
    objective.set_scores(np.zeros((2, 3)))
    assert_allclose(objective.value, C * 2 * 3)
    assert_allclose(objective.costs, [[C * 3 * (1 / 3 - 1), C, C], [0, 0, 0]])
    assert_allclose(objective.weights, [2 * C, 0])

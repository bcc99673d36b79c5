"""Similarities of samples and class affinities, against loops over all pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklrank.semi_supervised import MCSSBClassifier, PooledLabelSpreading, _similarity
from sklrank.semi_supervised._similarity import (
    diffused_affinities,
    labeled_affinities,
    make_similarity,
    negative_gradient,
    neighbor_graph,
    one_hot,
    shrunken_proportions,
    standardized,
)

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(9, 2))
LABELS = np.array([0, -1, 1, -1, -1, 2, 0, -1, -1])
PROBABILITIES = RANDOM.dirichlet(np.ones(3), size=9)


def distances(X):
    return np.array([[np.sqrt(np.sum((a - b) ** 2)) for b in X] for a in X])


def some_graph(n=9, seed=1):
    matrix = np.triu(np.random.RandomState(seed).uniform(size=(n, n)))
    matrix[matrix < 0.4] = 0
    return matrix + matrix.T


@pytest.mark.parametrize("block", [1, 20, 10**6])
def test_width_of_the_gaussian_is_a_share_of_the_range_of_distances(block, monkeypatch):
    monkeypatch.setattr(_similarity, "BLOCK", block)
    apart = distances(X)
    pairs = apart[~np.eye(9, dtype=bool)]
    width = 0.15 * (pairs.max() - pairs.min())
    expected = np.exp(-(apart**2) / (2 * width**2))
    np.fill_diagonal(expected, 0)
    assert_allclose(make_similarity(X, "rbf"), expected, rtol=1e-10)
    assert_allclose(make_similarity(sparse.csr_matrix(X), "rbf"), expected, rtol=1e-10)


@pytest.mark.parametrize(
    "X", [np.eye(4), np.zeros((4, 2)), np.eye(2), np.linalg.qr(RANDOM.normal(size=(5, 5)))[0]]
)
def test_gaussian_of_samples_at_equal_distances(X):
    found = make_similarity(X, "rbf")
    off_diagonal = found[~np.eye(len(X), dtype=bool)]
    assert_allclose(off_diagonal, off_diagonal[0], rtol=1e-10)
    assert off_diagonal[0] > 0.5
    assert_array_equal(np.diag(found), 0)


def test_neighbor_graph_connects_samples_if_one_is_near_the_other():
    apart = distances(X)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1)[:, :2]
    expected = [[float(j in near[i] or i in near[j]) for j in range(9)] for i in range(9)]
    assert_array_equal(neighbor_graph(X, 2).toarray(), expected)
    assert_array_equal(neighbor_graph(X, 99).toarray(), 1 - np.eye(9))


def test_names_of_similarities():
    assert_array_equal(make_similarity(X, "identity").toarray(), np.eye(9))
    graph = make_similarity(X * [1, 1000], "diffusion", 2)
    assert_array_equal(graph.toarray(), neighbor_graph(standardized(X), 2).toarray())


@pytest.mark.filterwarnings("ignore:(overflow|invalid)")
def test_gaussian_refuses_distances_that_overflow():
    with pytest.raises(ValueError, match="distances of samples overflow"):
        make_similarity(1e200 * X, "rbf")


def test_callable_computes_the_matrix():
    def linear(X):
        return np.abs(X @ X.T)

    assert_allclose(make_similarity(X, linear), np.abs(X @ X.T))


def naive_negative_gradient(matrix, b):
    n = len(matrix)
    return np.array(
        [sum(matrix[i, j] / (b[i] @ b[j]) ** 2 * b[j] for j in range(n)) for i in range(n)]
    )


@pytest.mark.parametrize("block", [1, 20, 10**6])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_products_are_sums_over_pairs(storage, block, monkeypatch):
    monkeypatch.setattr(_similarity, "BLOCK", block)
    matrix = some_graph()
    similarity = storage(matrix)
    assert_allclose(similarity @ PROBABILITIES, matrix @ PROBABILITIES, rtol=1e-10)
    expected = naive_negative_gradient(matrix, PROBABILITIES)
    assert_allclose(negative_gradient(similarity, PROBABILITIES, PROBABILITIES), expected)


def test_labeled_affinities_are_similarities_to_labeled_samples_of_a_class():
    matrix = some_graph()
    expected = [
        [sum(i * matrix[i, j] for i in range(9) if LABELS[i] == k) for k in range(3)]
        for j in range(9)
    ]
    assert_allclose(labeled_affinities(matrix, LABELS, np.arange(9), 3), expected, rtol=1e-10)


def test_diffused_affinities_against_the_limit_of_the_diffusion():
    matrix = some_graph(seed=2)
    degrees = matrix.sum(axis=1)
    transfer = matrix / np.sqrt(np.outer(degrees, degrees))
    spread = np.linalg.solve(np.eye(9) - 0.9 * transfer, one_hot(LABELS, 3))
    spread *= shrunken_proportions(np.array([2, 1, 1])) / spread.sum(axis=0)
    expected = np.zeros((9, 3))
    for i in range(9):
        k = spread[i].argmax()
        if LABELS[i] < 0:
            expected[i, k] = spread[i, k] / spread[i].sum()
        else:
            expected[i, LABELS[i]] = 1.0
    found = diffused_affinities(sparse.csr_matrix(matrix), LABELS, np.ones(9), 3)
    assert_array_equal(found > 0, expected > 0)
    assert_allclose(found, expected, rtol=1e-3)  # the diffusion stops where little is left to come


def test_proportions_are_shrunken_towards_equal_ones_if_labels_are_few():
    assert_allclose(shrunken_proportions(np.array([2.0, 1, 1])), 1 / 3)
    assert_allclose(shrunken_proportions(np.array([5.0, 5, 5])), 1 / 3)
    assert_allclose(shrunken_proportions(np.array([9e6, 1e6])), [0.9, 0.1], rtol=1e-4)
    shrinkage = (1 - 0.68) / (9 * 2 * 0.3**2)
    assert_allclose(
        shrunken_proportions(np.array([8.0, 2])),
        [0.5 * shrinkage + 0.8 * (1 - shrinkage), 0.5 * shrinkage + 0.2 * (1 - shrinkage)],
    )


def test_samples_that_are_not_connected_to_a_labeled_one_have_no_affinity():
    graph = sparse.csr_matrix(
        [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    )
    affinities = diffused_affinities(graph, np.array([0, -1, -1, -1, 1]), np.ones(5), 2)
    assert_array_equal(affinities, [[1, 0], [1, 0], [0, 0], [0, 0], [0, 1]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((9, 3)), r"the shape \(9, 9\); got \(9, 3\)"),
        (np.ones((3, 3)), r"got \(3, 3\)"),
        (-np.eye(9), "must not have negative entries; got -1"),
        (np.triu(np.ones((9, 9))), "must be a symmetric matrix"),
        (np.full((9, 9), np.nan), "NaN"),
    ],
)
def test_refuses_malformed_similarities(kind, matrix, message):
    with pytest.raises(ValueError, match=message) as error:
        make_similarity(X, lambda X: kind(matrix))
    assert "the result of the callable similarity" in str(error.value)


def test_entries_whose_squares_overflow():
    with pytest.raises(ValueError, match="X has an entry of the size 1e.300"):
        PooledLabelSpreading(2).fit(np.copysign(1e300, X), LABELS)
    with pytest.raises(ValueError, match="X has"):
        MCSSBClassifier(n_estimators=2).fit(np.copysign(1e300, X), LABELS)

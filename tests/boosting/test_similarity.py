"""Similarities of rows and class masses, against loops over all pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklrank.boosting import _similarity
from sklrank.boosting._class_masses import (
    diffused_masses,
    indicators,
    labeled_masses,
    shrunken_shares,
)
from sklrank.boosting._similarity import (
    DenseSimilarity,
    SparseSimilarity,
    make_similarity,
    neighbor_graph,
)

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(9, 2))
LABELS = np.array([0, -1, 1, -1, -1, 2, 0, -1, -1])
SHARES = RANDOM.dirichlet(np.ones(3), size=9)


def distances(X):
    return np.array([[np.sqrt(np.sum((a - b) ** 2)) for b in X] for a in X])


def some_graph(n=9, seed=1):
    matrix = np.triu(np.random.RandomState(seed).uniform(size=(n, n)))
    matrix[matrix < 0.4] = 0
    return matrix + matrix.T


@pytest.mark.parametrize("block", [1, 20, 10**6])
def test_gaussian_has_a_share_of_the_range_of_distances_for_its_width(block, monkeypatch):
    monkeypatch.setattr(_similarity, "BLOCK", block)
    apart = distances(X)
    pairs = apart[~np.eye(9, dtype=bool)]
    width = 0.3 * (pairs.max() - pairs.min())
    expected = np.exp(-(apart**2) / (2 * width**2))
    np.fill_diagonal(expected, 0)
    assert_allclose(make_similarity(X, "rbf", bandwidth=0.3).matrix, expected, rtol=1e-10)
    assert_allclose(
        make_similarity(sparse.csr_matrix(X), "rbf", bandwidth=0.3).matrix, expected, rtol=1e-10
    )


@pytest.mark.parametrize(
    "X", [np.eye(4), np.zeros((4, 2)), np.eye(2), np.linalg.qr(RANDOM.normal(size=(5, 5)))[0]]
)
def test_gaussian_of_rows_that_are_equally_far_from_each_other(X):
    found = make_similarity(X, "rbf").matrix
    off_diagonal = found[~np.eye(len(X), dtype=bool)]
    assert_allclose(off_diagonal, off_diagonal[0], rtol=1e-10)
    assert off_diagonal[0] > 0.5
    assert_array_equal(np.diag(found), 0)


def test_neighbor_graph_joins_rows_of_which_one_is_near_the_other():
    apart = distances(X)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1)[:, :2]
    expected = [[float(j in near[i] or i in near[j]) for j in range(9)] for i in range(9)]
    assert_array_equal(neighbor_graph(X, 2).toarray(), expected)
    assert_array_equal(neighbor_graph(X, 99).toarray(), 1 - np.eye(9))


def test_uniform_and_absolute():
    assert_array_equal(make_similarity(X, "uniform").matrix, np.ones((9, 9)))
    assert make_similarity(X, "uniform").matrix.strides == (0, 0)
    assert_array_equal(make_similarity(X, "absolute").matrix.toarray(), np.eye(9))


@pytest.mark.parametrize("bandwidth, expected", [(1e-300, 0.0), (1e300, 1.0)])
def test_gaussian_of_any_width_has_similarities(bandwidth, expected):
    found = make_similarity(X, "rbf", bandwidth=bandwidth).matrix
    assert_array_equal(found, expected * (1 - np.eye(9)))


@pytest.mark.filterwarnings("ignore:(overflow|invalid)")
def test_gaussian_refuses_distances_that_are_no_numbers():
    with pytest.raises(ValueError, match="distances of rows overflow"):
        make_similarity(1e200 * X, "rbf")


def test_a_callable_makes_the_matrix():
    def linear(X):
        return np.abs(X @ X.T)

    assert_allclose(make_similarity(X, linear).matrix, np.abs(X @ X.T))


def naive_pull(matrix, shares):
    n = len(matrix)
    return np.array(
        [
            sum(matrix[i, j] / (shares[i] @ shares[j]) ** 2 * shares[j] for j in range(n))
            for i in range(n)
        ]
    )


@pytest.mark.parametrize("block", [1, 20, 10**6])
@pytest.mark.parametrize("of", [DenseSimilarity, SparseSimilarity])
def test_products_are_sums_over_pairs(of, block, monkeypatch):
    monkeypatch.setattr(_similarity, "BLOCK", block)
    matrix = some_graph()
    similar = of(matrix)
    assert_allclose(similar.times(SHARES), matrix @ SHARES, rtol=1e-10)
    assert_allclose(similar.pull(SHARES), naive_pull(matrix, SHARES), rtol=1e-10)


def test_products_of_a_matrix_without_memory():
    assert_allclose(
        make_similarity(X, "uniform").pull(SHARES), naive_pull(np.ones((9, 9)), SHARES), rtol=1e-10
    )


def test_labeled_masses_are_similarities_to_labeled_rows_of_a_class():
    matrix = some_graph()
    expected = [
        [sum(matrix[i, j] for i in range(9) if LABELS[i] == k) for k in range(3)] for j in range(9)
    ]
    assert_allclose(labeled_masses(DenseSimilarity(matrix), LABELS, 3), expected, rtol=1e-10)


def test_diffused_masses_against_the_limit_of_the_diffusion():
    matrix = some_graph(seed=2)
    degrees = matrix.sum(axis=1)
    transfer = matrix / np.sqrt(np.outer(degrees, degrees))
    spread = np.linalg.solve(np.eye(9) - 0.9 * transfer, indicators(LABELS, 3))
    spread *= shrunken_shares(np.array([2, 1, 1])) / spread.sum(axis=0)
    expected = np.zeros((9, 3))
    for i in range(9):
        k = spread[i].argmax()
        if LABELS[i] < 0:
            expected[i, k] = spread[i, k] / spread[i].sum()
        else:
            expected[i, LABELS[i]] = 1.0
    found = diffused_masses(sparse.csr_matrix(matrix), LABELS, 3)
    assert_array_equal(found > 0, expected > 0)
    assert_allclose(found, expected, rtol=1e-3)  # the diffusion stops where little is left to come


def test_shares_of_classes_are_equal_until_many_labels_say_otherwise():
    assert_allclose(shrunken_shares(np.array([2.0, 1, 1])), 1 / 3)
    assert_allclose(shrunken_shares(np.array([5.0, 5, 5])), 1 / 3)
    assert_allclose(shrunken_shares(np.array([9e6, 1e6])), [0.9, 0.1], rtol=1e-4)
    drawn = (1 - 0.68) / (9 * 2 * 0.3**2)
    assert_allclose(
        shrunken_shares(np.array([8.0, 2])),
        [0.5 * drawn + 0.8 * (1 - drawn), 0.5 * drawn + 0.2 * (1 - drawn)],
    )


def test_no_label_reaches_rows_that_nothing_joins_to_a_labeled_one():
    graph = sparse.csr_matrix(
        [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    )
    masses = diffused_masses(graph, np.array([0, -1, -1, -1, 1]), 2)
    assert_array_equal(masses, [[1, 0], [1, 0], [0, 0], [0, 0], [0, 1]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((9, 3)), r"the shape \(9, 9\); got \(9, 3\)"),
        (np.ones((3, 3)), r"got \(3, 3\)"),
        (-np.eye(9), "must not be negative; got -1"),
        (np.triu(np.ones((9, 9))), "must be symmetric"),
        (np.full((9, 9), np.nan), "NaN"),
    ],
)
def test_refuses_what_is_no_similarity(kind, matrix, message):
    with pytest.raises(ValueError, match=message):
        make_similarity(X, kind(matrix))

"""How similar training rows are, and the one pass over all pairs that a round of MCSSB takes.

A similarity S is symmetric and 0 or more. It offers two products: `times(values)`, which is
``S @ values``, and `pull(shares)`, which is ``sum_j S_ij / (b_i' b_j)^2 b_j`` for class shares
``b``: where similar rows pull a row, the stronger the less the two agree. Either kind of storage
holds each similarity once and works through it in blocks.
"""

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array, gen_batches

__all__ = [
    "DenseSimilarity",
    "SparseSimilarity",
    "check_similarity",
    "make_similarity",
    "neighbor_graph",
]

# Numbers of a block: what stays in the cache between the steps that a block goes through.
BLOCK = 2**18


class DenseSimilarity:
    """All pairs: an ndarray of shape (n_samples, n_samples), or a view of one that has no copy."""

    def __init__(self, matrix):
        self.matrix = matrix

    def times(self, values):
        product = np.empty(values.shape)
        for rows in blocks(len(self.matrix)):
            product[rows] = self.matrix[rows] @ values
        return product

    def pull(self, shares):
        pulled = np.empty(shares.shape)
        for rows in blocks(len(self.matrix)):
            weights = shares[rows] @ shares.T
            np.multiply(weights, weights, out=weights)
            np.divide(self.matrix[rows], weights, out=weights)
            pulled[rows] = weights @ shares
        return pulled


class SparseSimilarity:
    """Few pairs: a sparse matrix of shape (n_samples, n_samples)."""

    def __init__(self, matrix):
        self.matrix = sparse.csr_array(matrix)
        self.first = np.repeat(np.arange(len(self.matrix.indptr) - 1), np.diff(self.matrix.indptr))
        self.second = self.matrix.indices

    def times(self, values):
        return self.matrix @ values

    def pull(self, shares):
        # Class after class: an array of pairs and classes would be many times the similarity.
        agreement = np.zeros(self.matrix.nnz)
        for share in np.ascontiguousarray(shares.T):
            agreement += share.take(self.first) * share.take(self.second)
        weights = self.matrix.copy()
        weights.data /= agreement**2
        return weights @ shares


def blocks(n_samples):
    """Slices of rows whose pairs with all rows make a block."""
    return gen_batches(n_samples, max(1, BLOCK // n_samples))


def make_similarity(X, kind, *, bandwidth=0.15, n_neighbors=7, n_jobs=None):
    """The similarity of rows that a name, a matrix or a callable stands for.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Samples.
    kind : {"rbf", "knn", "uniform", "absolute"}, callable, or matrix
        A callable makes a matrix of `X`, dense or sparse.
    bandwidth : float, default=0.15
        Of "rbf".
    n_neighbors : int, default=7
        Of "knn".
    n_jobs : int, default=None
        Of the search for neighbors.

    Returns
    -------
    DenseSimilarity or SparseSimilarity
    """
    n_samples = X.shape[0]
    if callable(kind):
        return check_similarity(kind(X), n_samples)
    if not isinstance(kind, str):
        return check_similarity(kind, n_samples)
    if kind == "knn":
        return SparseSimilarity(neighbor_graph(X, n_neighbors, n_jobs))
    if kind == "absolute":
        return SparseSimilarity(sparse.eye(n_samples, format="csr"))
    if kind == "uniform":
        return DenseSimilarity(np.broadcast_to(1.0, (n_samples, n_samples)))
    return DenseSimilarity(gaussian(X, bandwidth))


def neighbor_graph(X, n_neighbors, n_jobs=None):
    """1 where one of two rows is among the nearest of the other, as a CSR matrix."""
    n_neighbors = min(n_neighbors, X.shape[0] - 1)
    search = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(X)
    graph = search.kneighbors_graph()
    return graph.maximum(graph.T).tocsr()


def gaussian(X, bandwidth):
    """``exp(-d^2 / 2w^2)`` of distances d, w a share of their range; 0 on the diagonal."""
    n_samples = X.shape[0]
    matrix = np.empty((n_samples, n_samples))
    nearest, farthest = np.inf, 0.0
    for rows in blocks(n_samples):
        block = matrix[rows]
        block[:] = euclidean_distances(X[rows], X, squared=True)
        farthest = np.maximum(farthest, block.max())
        block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = np.inf
        nearest = min(nearest, block.min())
    if not np.isfinite(farthest):
        raise ValueError("X has entries so large that the distances of rows overflow; scale them")
    nearest, farthest = np.sqrt(nearest), np.sqrt(farthest)
    width = bandwidth * (farthest - nearest)
    if farthest - nearest <= 1e-6 * farthest:
        # All distances are equal, up to rounding: all pairs are to be equally similar.
        width = farthest or 1.0
    # The inverse of its square is to be a number that is not 0.
    width = np.clip(width, 1e-153, 1e150)
    with np.errstate(over="ignore"):
        matrix *= -0.5 / width**2
    return np.exp(matrix, out=matrix)


def check_similarity(matrix, n_samples):
    """A similarity from a matrix of the user's, dense or sparse; the diagonal counts as given."""
    matrix = check_array(
        matrix, accept_sparse="csr", dtype=np.float64, input_name="the similarity matrix"
    )
    if matrix.shape != (n_samples, n_samples):
        raise ValueError(
            "the similarity matrix must have a row and a column for each row of X, the shape "
            f"({n_samples}, {n_samples}); got {matrix.shape}"
        )
    least, most = matrix.min(), matrix.max()
    if least < 0:
        raise ValueError(f"similarities must not be negative; got {least:g}")
    if asymmetry(matrix) > 1e-8 * most:
        raise ValueError(
            "the similarity matrix must be symmetric; make it so by (S + S.T) / 2, or a graph by "
            "S.maximum(S.T)"
        )
    return SparseSimilarity(matrix) if sparse.issparse(matrix) else DenseSimilarity(matrix)


def asymmetry(matrix):
    """The largest difference between a similarity and its mirror image."""
    if sparse.issparse(matrix):
        return abs(matrix - matrix.T).max()
    return max(np.abs(matrix[rows] - matrix[:, rows].T).max() for rows in blocks(matrix.shape[0]))

"""Similarities of samples for MCSSB, and the class affinities that follow from them.

A similarity S is a symmetric matrix with entries >= 0, dense or a CSR array.

The *class affinity* ``q_j^k`` is the sum of the similarities of sample j to the labeled samples of
class k (Valizadegan 2010, Eq. 2.6). The objective depends on the labels only through these
affinities. It remains valid if they are replaced by any other (n_samples, n_classes) array of
numbers >= 0.
"""

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, gen_batches

from sklrank._checks import check_entries

# Entries of a block, which stays in the cache between the operations on it.
BLOCK = 2**18

# Weight of the neighbors in the class distribution of a sample, in each step of label spreading.
# Of 0.5, 0.8, 0.9, 0.95 and 0.99, the values 0.9 and 0.95 label most samples correctly on digits,
# wine, breast_cancer, iris, satimage, vowel, mice_protein, optdigits, letter and pendigits.
SPREADING_FACTOR = 0.9


def negative_gradient(similarity, probabilities, weighted):
    """Return the negative gradient of ``sum_j S_ij w_j / (b_i' b_j)`` with respect to b_i,

        sum_j S_ij w_j b_j / (b_i' b_j)^2,

    for each sample i, with the class probabilities b_i and the weights w_j of samples. The rows of
    `weighted` are w_j b_j. Each round of MCSSB computes it once, by a pass over all pairs of
    samples with similarities. Dense matrices, which may be broadcast views, are processed in blocks
    of rows.
    """
    n_samples = len(probabilities)
    if sparse.issparse(similarity):
        rows = np.repeat(np.arange(n_samples), np.diff(similarity.indptr))
        agreement = np.zeros(similarity.nnz)
        # Loop over the classes: an (n_pairs, n_classes) array would be much larger than S.
        for of_class in np.ascontiguousarray(probabilities.T):
            agreement += of_class.take(rows) * of_class.take(similarity.indices)
        weights = similarity.copy()
        weights.data /= agreement**2
        return weights @ weighted
    gradient = np.empty(probabilities.shape)
    for rows in gen_batches(n_samples, max(1, BLOCK // n_samples)):
        weights = probabilities[rows] @ probabilities.T
        np.multiply(weights, weights, out=weights)
        np.divide(similarity[rows], weights, out=weights)
        gradient[rows] = weights @ weighted
    return gradient


# -- Similarities.


def make_similarity(X, kind, n_neighbors=7):
    """Return the similarity of the samples.

    `kind` is "diffusion" (with `n_neighbors`), "rbf", "identity", or a function that computes the
    matrix, dense or sparse, from `X`.
    """
    if callable(kind):
        return check_similarity(kind(X), X.shape[0])
    if kind == "diffusion":
        return sparse.csr_array(neighbor_graph(standardized(X), n_neighbors))
    if kind == "identity":
        return sparse.csr_array(sparse.eye(X.shape[0]))
    return gaussian(X)


def standardized(X):
    """Return the features divided by their standard deviations; dense ones also have mean 0."""
    check_entries(X)
    return StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X)


def neighbor_graph(X, n_neighbors, n_jobs=None):
    """Return the graph of neighbors, a CSR matrix.

    Entry (i, j) is 1 if i is a nearest neighbor of j, or j is a nearest neighbor of i.
    """
    n_neighbors = min(n_neighbors, X.shape[0] - 1)
    graph = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(X).kneighbors_graph()
    return graph.maximum(graph.T).tocsr()


def gaussian(X):
    """Return ``exp(-d^2 / 2w^2)`` for distances d, with 0 on the diagonal.

    The width w is 15 % of the range of the distances.
    """
    matrix = euclidean_distances(X)
    farthest = matrix.max()
    if not np.isfinite(farthest):
        raise ValueError(
            "X has entries so large that the distances of samples overflow; scale the features"
        )
    np.fill_diagonal(matrix, np.inf)
    spread = farthest - matrix.min()
    # If all distances are equal up to rounding, all similarities should be equal too.
    width = 0.15 * spread if spread > 1e-6 * farthest else farthest or 1.0
    # 1 / width^2 must be finite and above 0.
    matrix /= np.clip(width, 1e-153, 1e150)
    with np.errstate(over="ignore"):
        matrix *= matrix
    matrix *= -0.5
    return np.exp(matrix, out=matrix)


def check_similarity(matrix, n_samples):
    """Check a matrix that a function of the user returned, and return the similarity.

    The diagonal of the matrix is kept.
    """
    name = "the result of the callable similarity"
    matrix = check_array(matrix, accept_sparse="csr", dtype=np.float64, input_name=name)
    if matrix.shape != (n_samples, n_samples):
        raise ValueError(
            f"{name} must have a row and a column for each sample, the shape ({n_samples}, "
            f"{n_samples}); got {matrix.shape}"
        )
    least, most = matrix.min(), matrix.max()
    if least < 0:
        raise ValueError(f"{name} must not have negative entries; got {least:g}")
    if abs(matrix - matrix.T).max() > 1e-8 * most:
        raise ValueError(
            f"{name} must be a symmetric matrix; make it symmetric by (S + S.T) / 2, or a graph by "
            "S.maximum(S.T)"
        )
    return sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix


# -- Class affinities.


def labeled_affinities(similarity, labels, weights, n_classes):
    """Return the class affinities of Eq. 2.6 (Valizadegan 2010), `(n_samples, n_classes)`.

    They are the similarities of each sample to the labeled samples of each class, whose weights
    multiply them.
    """
    return similarity @ (weights[:, np.newaxis] * one_hot(labels, n_classes))


def diffused_affinities(graph, labels, weights, n_classes):
    """Return the affinity of each sample to at most one class, computed by label spreading.

    Each class spreads the weights of its labeled samples to all samples that are connected to them.
    The total weight of a class is scaled to its estimated proportion (`shrunken_proportions`),
    regardless of how central its labeled samples are. An unlabeled sample has an affinity only to
    the class with the largest weight at the sample. This affinity is the proportion of that class
    in the total weight at the sample, so that samples between classes have smaller affinities.

    The affinity of a labeled sample to its class is 1. All entries of a row are 0 if the sample is
    not connected to a labeled one.
    """
    source = one_hot(labels, n_classes)
    shares = spread_labels(graph, weights[:, np.newaxis] * source, n_classes)
    strongest = one_hot(shares.argmax(axis=1), n_classes)
    return np.where(labels[:, np.newaxis] < 0, shares * strongest, source)


def spread_labels(graph, sources, n_classes):
    """Return the proportion of each class in the weight at each sample, as `diffused_affinities`.

    `graph` holds the weights of the edges, symmetric. `sources`, of shape
    `(n_samples, n_sets * n_classes)`, are the indicator matrices of several sets of labels, times
    the weights of the samples, side by side. So is the result, which is 0 for samples that are not
    connected to a labeled one.
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scale = sparse.diags(1 / np.sqrt(np.where(degrees > 0, degrees, 1.0)))
    transfer = SPREADING_FACTOR * (scale @ graph @ scale).tocsr()
    spread = sources
    # The sum of all later terms is less than 1e-4.
    for _ in range(100):
        spread = transfer @ spread + (1 - SPREADING_FACTOR) * sources
    # A set may lack a class.
    counts = sources.sum(axis=0)
    spread = spread / np.where(counts > 0, spread.sum(axis=0), 1.0)
    spread, counts = spread.reshape(len(spread), -1, n_classes), counts.reshape(-1, n_classes)
    spread = spread * [shrunken_proportions(each) for each in counts]
    total = spread.sum(axis=2, keepdims=True)
    shares = np.divide(spread, total, out=np.zeros_like(spread), where=total > 0)
    return shares.reshape(sources.shape)


def one_hot(labels, n_classes):
    """Return the indicator matrix of the labels, with a row of zeros for each label -1."""
    return (labels[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)


def shrunken_proportions(counts):
    """Return the James-Stein estimate of class proportions from the counts of few labels.

    The observed proportions are shrunk towards equal proportions, more strongly if their
    differences can be explained by chance (Hausser and Strimmer, "Entropy inference and the
    James-Stein estimator", JMLR 2009).
    """
    equal = 1 / len(counts)
    proportions = counts / counts.sum()
    variance = 1 - np.sum(proportions**2)
    distance = (counts.sum() - 1) * np.sum((proportions - equal) ** 2)
    shrinkage = 1.0 if variance >= distance else variance / distance
    return shrinkage * equal + (1 - shrinkage) * proportions

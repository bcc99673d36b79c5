"""The labeled term of MCSSB: for each row, how much speaks for each of the classes.

The term of Eq. 2.6 sees the similarities only through the *class masses* of the rows, ``q_j^k``,
the similarity of row j to the labeled rows of class k. Any other (n_samples, n_classes) numbers can
take their place, and the objective, its bounds and its steps stay as they are.
"""

import numpy as np
from scipy import sparse

__all__ = ["diffused_masses", "indicators", "labeled_masses", "shrunken_shares"]

# What a row takes from its neighbors in each step. After so many steps what is left to come is less
# than a ten thousandth of the start.
SPREAD = 0.9
N_STEPS = 100


def indicators(labels, n_classes):
    """1 at the class of each row; only 0 where it is -1."""
    return (labels[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)


def labeled_masses(similarity, labels, n_classes):
    """Class masses as printed: the similarity to the labeled rows of each class."""
    return similarity.times(indicators(labels, n_classes))


def diffused_masses(graph, labels, n_classes):
    """Class masses of one class a row: that whose labels reach it most when they spread on a graph.

    Few rows have a labeled neighbor; this reaches all that are connected to one. What spreads of a
    class is made to have the share that the class has among the rows (`shrunken_shares`), however
    central its labeled rows are. The mass is the share of the strongest class in all that reaches
    the row, so that rows between classes count less.

    Parameters
    ----------
    graph : sparse matrix of shape (n_samples, n_samples)
        Weights of the edges, symmetric.
    labels : ndarray of int of shape (n_samples,)
        Classes; -1: none. Labeled rows keep theirs, with a mass of one.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        At most one entry a row is not 0; none is in rows that no label reaches.
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scale = sparse.diags(1 / np.sqrt(np.where(degrees > 0, degrees, 1.0)))
    transfer = SPREAD * (scale @ graph @ scale).tocsr()
    source = indicators(labels, n_classes)
    spread = source
    for _ in range(N_STEPS):
        spread = transfer @ spread + (1 - SPREAD) * source
    spread = spread / spread.sum(axis=0) * shrunken_shares(source.sum(axis=0))
    total = spread.sum(axis=1, keepdims=True)
    shares = np.divide(spread, total, out=np.zeros_like(spread), where=total > 0)
    strongest = indicators(shares.argmax(axis=1), n_classes)
    return np.where(labels[:, np.newaxis] < 0, shares * strongest, source)


def shrunken_shares(counts):
    """Shares of the classes among all rows, from counts of a few labels.

    Those counted are drawn towards equal ones, as far as chance can explain that they differ
    (Hausser and Strimmer, "Entropy inference and the James-Stein estimator", JMLR 2009).
    """
    equal = 1 / len(counts)
    shares = counts / counts.sum()
    chance = 1 - np.sum(shares**2)
    difference = (counts.sum() - 1) * np.sum((shares - equal) ** 2)
    drawn = 1.0 if chance >= difference else chance / difference
    return drawn * equal + (1 - drawn) * shares

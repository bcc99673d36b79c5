"""Judgements of documents, which are grades or pairs of documents."""

import numpy as np

from sklrank._relevance import check_relevance
from sklrank.boosting._pair_losses import ExplicitPairLoss, GradedPairLoss

__all__ = ["check_judgements", "standardized_wins"]


def check_judgements(y, pairs, queries):
    """Check the judgements, which are either `y` or `pairs`, and return their loss."""
    if y is None and pairs is None:
        raise ValueError(
            "RankingRefiner requires y to be passed, but the target y is None; pass judgements, "
            "as y or as pairs"
        )
    if pairs is None:
        return GradedPairLoss(check_relevance(y, len(queries.codes), judgements=True), queries)
    if y is not None:
        raise ValueError(
            "y and pairs are both given as judgements; pass one of them, the other None"
        )
    return ExplicitPairLoss(check_pairs(pairs, queries))


def check_pairs(pairs, queries):
    """Check the pairs, and return them without duplicates, `(n_pairs, 2)` of intp."""
    try:
        pairs = np.asarray(pairs)
    except ValueError as error:
        raise ValueError(f"pairs must hold two indices of samples in each row: {error}") from error
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise ValueError(
            "pairs must hold two indices of samples in each row, the better document first, as "
            f"integers of shape (n_pairs, 2); got {pairs.dtype} of shape {pairs.shape}"
        )
    n_samples = len(queries.codes)
    outside = (pairs < 0) | (pairs >= n_samples)
    if outside.any():
        raise ValueError(
            f"pairs must hold indices of samples, from 0 to {n_samples - 1}; got "
            f"{pairs[outside][0]}"
        )
    first, second = queries.codes[pairs].T
    if (first != second).any():
        bad = pairs[first != second][0].tolist()
        raise ValueError(
            f"pairs must be of documents of one query, but the samples {bad} have different qid; "
            "leave such pairs out"
        )
    if (pairs[:, 0] == pairs[:, 1]).any():
        sample = pairs[pairs[:, 0] == pairs[:, 1]][0, 0]
        raise ValueError(f"pairs must be of two documents; got the sample {sample} twice")
    return np.unique(pairs, axis=0).astype(np.intp)


def standardized_wins(judgements, queries):
    """Return the judged documents, and the number of their wins minus losses, standardized.

    Documents of queries in which no document was judged to be better than another are left out.
    The wins of a query have mean 0 and standard deviation 1.
    """
    ones = np.ones(len(queries.codes))
    _, wins = judgements.loss_and_negative_gradient(ones, ones)
    judged = judgements.judged
    codes = queries.codes[judged]
    squares = np.bincount(codes, wins[judged] ** 2, queries.n_queries)
    counts = np.bincount(codes, minlength=queries.n_queries)
    judged = judged[squares[codes] > 0]
    codes = queries.codes[judged]
    return judged, wins[judged] / np.sqrt(squares[codes] / counts[codes])

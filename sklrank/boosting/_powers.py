"""e^F of scores F, query by query: what sums over pairs of documents are made of."""

import numpy as np

__all__ = ["MAX_PAIR_SCORE_GAP", "MAX_SCORE_GAP", "powers"]

# Scores further than this from their middle, or from their largest, are taken for this: powers,
# their reciprocals and the squares of both stay finite, and nothing is left to gain so far out.
MAX_SCORE_GAP = 300.0
# Errors of pairs are sums of products of two powers, and are squared or multiplied themselves.
MAX_PAIR_SCORE_GAP = MAX_SCORE_GAP / 2


def powers(scores, queries, farthest):
    """e^F and e^-F, up to a factor of each query by which the one is larger, the other smaller.

    Scores of a query further than `farthest` from their middle are taken for this, so that products
    of few powers stay finite.
    """
    first = queries.starts[:-1]
    grouped = scores[queries.order]
    middle = (np.maximum.reduceat(grouped, first) + np.minimum.reduceat(grouped, first)) / 2
    lifts = np.exp(np.clip(scores - middle[queries.codes], -farthest, farthest))
    return lifts, 1 / lifts

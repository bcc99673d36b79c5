"""Losses of Predtron that are gains of items and discounts of positions.

A *ranking loss* is an object that knows a gain for each item of a ranking, g, and a discount for
each position, D. With sigma(i) the position of item i,

    L(sigma) = 1 - sum_i g_i D(sigma(i)) / best

and best is the greatest that the sum can be (Jain et al. 2015, proof of Lemma 3).
"""

import numpy as np

from sklrank._validation import as_numbers
from sklrank.linear_model._predtron._losses import extremes, look_up
from sklrank.metrics._conventions import check_k, factors_of

__all__ = [
    "RANKING_LOSSES",
    "NDCGLoss",
    "PrecisionLoss",
    "discounts_of",
    "gains_of",
    "make_ranking_loss",
    "ranking_extremes",
]

# Sums of greater gains would overflow, and so would the reciprocal of the best total if all gains
# were smaller.
MAX_GAIN, MIN_GAIN = 1e300, 1e-300


class NDCGLoss:
    r"""One minus the normalised discounted cumulative gain, :math:`1 - NDCG`.

    The gain of an item of the grade :math:`y \geq 0` is :math:`2^y - 1`, and the discount at
    position j is :math:`1 / \log_2(1 + j)` (Section 4 of the paper, which prints another gain).
    Gains of a ranking are divided by :math:`2^{\max y}`, which the loss does not feel: so grades
    may be in the hundreds.

    Parameters
    ----------
    k : int, default=None
        How many positions count, from the top; None for all.
    """

    def __init__(self, k=None):
        check_k(k)
        self.k = k

    def gains(self, relevance):
        """Gains of rankings, one along the last axis."""
        highest = relevance.max(axis=-1, keepdims=True, initial=0.0)
        return np.exp2(relevance - highest) - np.exp2(-highest)

    def discounts(self, n_positions):
        """Discounts at the positions 1, 2, ..."""
        return _cut(factors_of("log2", n_positions), self.k)


class PrecisionLoss:
    r"""One minus the precision among the first k, relative to what can be reached.

    Items of a grade above 0 have the gain 1, positions up to k the discount 1. With r relevant
    items of which h stand there, the loss is :math:`1 - h / \min(k, r)`.

    Parameters
    ----------
    k : int
        How many positions count, from the top.
    """

    def __init__(self, k):
        check_k(k)
        if k is None:
            raise ValueError("k must be a positive integer under loss='precision', got None.")
        self.k = k

    def gains(self, relevance):
        """Gains of rankings, one along the last axis."""
        return np.greater(relevance, 0)

    def discounts(self, n_positions):
        """Discounts at the positions 1, 2, ..."""
        return _cut(np.ones(n_positions), self.k)


def _cut(discounts, k):
    if k is not None:
        discounts[k:] = 0.0
    return discounts


RANKING_LOSSES = {"ndcg": NDCGLoss, "precision": PrecisionLoss}


def make_ranking_loss(loss, k=None):
    """The ranking loss of this name, or a user's object as it is.

    Parameters
    ----------
    loss : str or object
        "ndcg" (`NDCGLoss`), "precision" (`PrecisionLoss`), or an object with the methods
        `gains(relevance)`, of arrays `(n_rankings, n_items)`, and `discounts(n_positions)`.
    k : int, default=None
        How many positions count; an object says that itself.

    Returns
    -------
    object
        With the methods `gains` and `discounts`.

    Raises
    ------
    ValueError
        If the loss is unknown, or `k` does not fit it.
    """
    if not all(callable(getattr(loss, name, None)) for name in ("gains", "discounts")):
        return look_up("loss", RANKING_LOSSES, loss, "an object with gains and discounts")(k)
    if k is not None:
        raise ValueError(f"k must be None where loss is an object, got {k!r}: its discounts tell.")
    return loss


def gains_of(loss, relevance, starts):
    """Gains of the items of all rounds.

    Parameters
    ----------
    loss : object
        What `make_ranking_loss` returns.
    relevance : ndarray of shape (n_items,)
        Grades, those of round i at `starts[i]:starts[i + 1]`.
    starts : ndarray of shape (n_rounds + 1,)
        Where the items of each round start.

    Returns
    -------
    ndarray of shape (n_items,)
        Gains, finite and not negative, the greatest of a round not near zero.

    Raises
    ------
    ValueError
        If a grade is not finite, or a gain is something else.
    """
    relevance = np.asarray(relevance, dtype=np.float64)
    if not np.isfinite(relevance).all():
        raise ValueError("y must have finite grades, got NaN or infinity: leave such items out.")
    gains, best = np.empty((2, len(relevance)))
    sizes = np.diff(starts)
    for size in np.unique(sizes[sizes > 0]):
        places = starts[:-1][sizes == size][:, np.newaxis] + np.arange(size)
        block = as_numbers(loss.gains(relevance[places]), "loss")
        if block.shape != places.shape:
            raise ValueError(
                "loss must give a gain for each entry of an array of the shape "
                f"{places.shape}, got the shape {block.shape}."
            )
        gains[places], best[places] = block, block.max(axis=1, keepdims=True)
    bad = ~((gains >= 0) & (gains <= MAX_GAIN) & ((gains == 0) | (best >= MIN_GAIN)))
    if bad.any():
        item = bad.argmax()
        raise ValueError(
            f"loss must give gains from 0 to {MAX_GAIN:g}, the greatest of a round 0 or from "
            f"{MIN_GAIN:g}, got {gains[item]} for the relevance {relevance[item]}: grade items "
            "from 0 (not relevant) up."
        )
    return gains


def discounts_of(loss, n_positions):
    """Discounts of a ranking loss at the positions 1, 2, ..., checked.

    Parameters
    ----------
    loss : object
        What `make_ranking_loss` returns.
    n_positions : int
        How many positions there are.

    Returns
    -------
    ndarray of shape (n_positions,)
        Discounts, finite, not negative and not rising, in units of the first one: the loss does not
        feel that, and sums do not overflow.

    Raises
    ------
    ValueError
        If they are something else.
    """
    discounts = np.array(as_numbers(loss.discounts(n_positions), "loss"))
    fair = discounts.shape == (n_positions,) and np.isfinite(discounts).all()
    if not (fair and (discounts >= 0).all() and (np.diff(discounts) <= 0).all()):
        raise ValueError(
            f"loss must give {n_positions} finite discounts that are not negative and do not rise "
            f"with the position, got {discounts.ravel()[:5].tolist()} for the first ones, of the "
            f"shape {discounts.shape}."
        )
    return discounts / discounts[0] if discounts.any() else discounts


def ranking_extremes(gains, discounts):
    """As `extremes`, over all rankings of a list of items, in closed form.

    The greatest loss is that of the ranking upside down. Any wrong ranking becomes right by swaps
    of two items, each of which lowers the loss, so one that is least wrong is a swap away from
    right: its loss is (g - g') (D - D') / best for two positions of a right ranking.
    """
    ideal = -np.sort(-np.asarray(gains, dtype=np.float64))
    discounts = discounts[: len(ideal)]
    best = ideal @ discounts
    if best == 0:
        return extremes([])
    pairs = np.unique(np.column_stack([ideal, discounts]), axis=0)
    swaps = np.subtract.outer(pairs[:, 0], pairs[:, 0])
    swaps *= np.subtract.outer(pairs[:, 1], pairs[:, 1])
    least, _ = extremes(swaps / best)
    return least, float(((ideal - ideal[::-1]) @ discounts) / best)

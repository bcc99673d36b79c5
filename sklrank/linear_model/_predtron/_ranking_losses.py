"""Losses and representations of rankings.

A *ranking loss* is an object that returns a gain g for each item of a ranking and a discount D for
each position. With sigma(i) the position of item i,

    L(sigma) = 1 - sum_i g_i D(sigma(i)) / best

where best is the greatest value of the sum (Jain et al. 2015, proof of Lemma 3). A new loss is a
new entry of `RANKING_LOSSES`.

A *representation* is a function f of positions: rep(sigma)_i = f(sigma(i)) / Z. The margin that two
neighbours at the positions i - 1 and i need grows with 1 / (f(i - 1) - f(i)) (Lemma 4). So "power",
-i^p with p > 1, needs small margins at the bottom of a ranking, where items are hard to tell apart,
and "reciprocal", 1 / i, needs small margins at the top.
"""

from numbers import Real

import numpy as np

from sklrank._validation import as_numbers
from sklrank.linear_model._predtron._losses import look_up
from sklrank.metrics._conventions import check_k, factors_of

__all__ = [
    "RANKING_LOSSES",
    "REPRESENTATIONS",
    "NDCGLoss",
    "PrecisionLoss",
    "discounts_of",
    "gains_of",
    "make_ranking_loss",
    "position_values",
]

# Sums of greater gains would overflow, and so would the reciprocal of `best` if all gains were
# smaller.
MAX_GAIN, MIN_GAIN = 1e300, 1e-300


class NDCGLoss:
    r"""One minus the normalised discounted cumulative gain, :math:`1 - NDCG`.

    The gain of an item of relevance :math:`y \geq 0` is :math:`2^y - 1`, and the discount at
    position j is :math:`1 / \log_2(1 + j)` (Section 4 of the paper, which prints another gain).
    Gains of a ranking are divided by :math:`2^{\max y}`, which does not change the loss, so that
    the relevance may be in the hundreds.

    Parameters
    ----------
    k : int, default=None
        Number of positions that count, from the top; None for all.
    """

    def __init__(self, k=None):
        check_k(k)
        self.k = k

    def gains(self, relevance):
        """Return the gains of rankings along the last axis."""
        highest = relevance.max(axis=-1, keepdims=True, initial=0.0)
        return np.exp2(relevance - highest) - np.exp2(-highest)

    def discounts(self, n_positions):
        """Return the discounts at the positions 1, 2, ..."""
        return _cut(factors_of("log2", n_positions), self.k)


class PrecisionLoss:
    r"""One minus the precision at k, relative to the best possible one.

    Items with a relevance above 0 have the gain 1, positions up to k the discount 1. With r
    relevant items, h of which are at these positions, the loss is :math:`1 - h / \min(k, r)`.

    Parameters
    ----------
    k : int
        Number of positions that count, from the top.
    """

    def __init__(self, k):
        check_k(k)
        if k is None:
            raise ValueError("k must be a positive integer under loss='precision', got None.")
        self.k = k

    def gains(self, relevance):
        """Return the gains of rankings along the last axis."""
        return np.greater(relevance, 0)

    def discounts(self, n_positions):
        """Return the discounts at the positions 1, 2, ..."""
        return _cut(np.ones(n_positions), self.k)


def _cut(discounts, k):
    if k is not None:
        discounts[k:] = 0.0
    return discounts


RANKING_LOSSES = {"ndcg": NDCGLoss, "precision": PrecisionLoss}


def make_ranking_loss(loss, k=None):
    """Return the ranking loss of this name, or a user's object unchanged.

    Parameters
    ----------
    loss : str or object
        "ndcg" (`NDCGLoss`), "precision" (`PrecisionLoss`), or an object with the methods
        `gains(relevance)`, of arrays `(n_rankings, n_items)`, and `discounts(n_positions)`.
    k : int, default=None
        Number of positions that count. None for an object, whose discounts define it.

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
    """Return the gains of the items of all rounds.

    Parameters
    ----------
    loss : object
        Ranking loss, see `make_ranking_loss`.
    relevance : ndarray of shape (n_items,)
        Relevance of the items; round i has the items `starts[i]:starts[i + 1]`.
    starts : ndarray of shape (n_rounds + 1,)
        First item of each round.

    Returns
    -------
    ndarray of shape (n_items,)
        Gains, finite and not negative. The greatest gain of a round is zero or not near zero.

    Raises
    ------
    ValueError
        If the relevance is not finite, or the loss returns other gains.
    """
    relevance = np.asarray(relevance, dtype=np.float64)
    if not np.isfinite(relevance).all():
        raise ValueError("y must have finite grades, got NaN or infinity: leave such items out.")
    gains, best = np.empty((2, len(relevance)))
    sizes = np.diff(starts)
    for size in np.unique(sizes[sizes > 0]):
        items = starts[:-1][sizes == size][:, np.newaxis] + np.arange(size)
        block = as_numbers(loss.gains(relevance[items]), "loss")
        if block.shape != items.shape:
            raise ValueError(
                "loss must give a gain for each entry of an array of the shape "
                f"{items.shape}, got the shape {block.shape}."
            )
        gains[items], best[items] = block, block.max(axis=1, keepdims=True)
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
    """Return the checked discounts of a ranking loss at the positions 1, 2, ...

    Parameters
    ----------
    loss : object
        Ranking loss, see `make_ranking_loss`.
    n_positions : int
        Number of positions.

    Returns
    -------
    ndarray of shape (n_positions,)
        Discounts, finite, not negative and not increasing. They are divided by the first one, which
        does not change the loss, so that sums do not overflow.

    Raises
    ------
    ValueError
        If the loss returns other discounts.
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


# Functions of positions and of the exponent, which only "power" uses.
REPRESENTATIONS = {
    "linear": lambda positions, power: -positions,
    "power": lambda positions, power: -(positions**power),
    "reciprocal": lambda positions, power: 1 / positions,
}


def position_values(representation, n_positions, *, power=1.1):
    """Return the values of a representation's f at the positions 1, 2, ...

    Parameters
    ----------
    representation : str or callable
        "power": -i^power; "linear": -i; "reciprocal": 1/i; or a function that takes an array of
        positions, floats from 1, and returns the values there.
    n_positions : int
        Number of positions.
    power : float, default=1.1
        The exponent of "power", greater than 0.

    Returns
    -------
    ndarray of shape (n_positions,)
        Values, strictly decreasing.

    Raises
    ------
    ValueError
        If the representation is unknown, or its values are not finite or do not decrease strictly.

    Examples
    --------
    >>> from sklrank.linear_model._predtron._ranking_losses import position_values
    >>> position_values("reciprocal", 4)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    >>> position_values(lambda positions: -(positions**2), 4)
    array([ -1.,  -4.,  -9., -16.])
    """
    positions = np.arange(1.0, n_positions + 1)
    with np.errstate(over="ignore"):
        if callable(representation):
            values = np.array(as_numbers(representation(positions.copy()), "representation"))
        else:
            named = look_up("representation", REPRESENTATIONS, representation, "a function")
            values = named(positions, _check_power(power))
        squares = np.sum(np.square(values))
    if values.shape != positions.shape:
        raise ValueError(
            f"representation must return a value for each of {n_positions} positions, got the "
            f"shape {values.shape}."
        )
    # The condition is stated positively, since a NaN makes every comparison false.
    if not (np.isfinite(squares) and (np.diff(values) < 0).all()):
        raise ValueError(
            "representation must give finite values that decrease strictly, with finite squares, "
            f"got {values[:5].tolist()} at the first of {n_positions} positions, under "
            f"representation={representation!r}."
        )
    return values


def _check_power(power):
    if not isinstance(power, Real) or isinstance(power, bool) or not 0 < power < np.inf:
        raise ValueError(f"power must be a finite number greater than 0, got {power!r}.")
    return power

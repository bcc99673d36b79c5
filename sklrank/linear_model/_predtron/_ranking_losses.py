"""Losses and representations of rankings.

A *ranking loss* is an object that returns a gain g for each item of a ranking and a discount D for
each position. Let sigma(i) be the position of item i. The loss of a ranking is

    L(sigma) = 1 - sum_i g_i D(sigma(i)) / best

where best is the greatest value of the sum (Jain et al. 2015, proof of Lemma 3). The discount at a
position must not depend on the number of positions.

A new loss is added as an entry of `RANKING_LOSSES`, with its name in `RankingLossName` and its text
in `LOSS_TEXT`: the parameter check, the annotations and the docstrings of both rankers follow. Its
slow statement is an entry of `RANKING_LOSSES` in `tests/linear_model/test_predtron_rounds.py`. The
entry is a class derived from `NamedRankingLoss`, which is called as `Entry(k)`, where `k` is the
number of top-ranked items to include in the loss, or None. Its method `gains(relevance)` receives
an array of shape (n_rankings, n_items) and returns the gains, an array of the same shape. Its
method `discounts(n_positions)` returns the discounts at the positions 1 to n_positions. `gains_of`
and `discounts_of` describe the valid values.

A loss of gains and discounts that is not their sum has the attribute `task`, a class derived from
`RankingTask` in `_ranking_task.pyx`, which states what to override.

A *representation* is a function f of positions, with rep(sigma)_i = f(sigma(i)) / Z. The difference
between the scores of two items at the positions i - 1 and i that Lemma 4 requires grows with
1 / (f(i - 1) - f(i)). So "power", -i^p with p > 1, requires small differences at the bottom of a
ranking, where items are hard to tell apart. "reciprocal", 1 / i, requires small differences at the
top. A new one is an entry of `REPRESENTATIONS`, with its name in `RepresentationName` and its text.
"""

from typing import Literal

import numpy as np

from sklrank._checks import as_numbers
from sklrank.linear_model._predtron._ranking_task import RankingTask
from sklrank.metrics._document_values import factors_of

# Sums of gains above MAX_GAIN would overflow. The reciprocal of `best` would overflow if all gains
# were below MIN_GAIN.
MAX_GAIN, MIN_GAIN = 1e300, 1e-300


# The names of the losses and representations, and their descriptions in the docstrings.
RankingLossName = Literal["ndcg", "precision"]
RepresentationName = Literal["power", "linear", "reciprocal"]
LOSS_TEXT = r"""
loss : {"ndcg", "precision"} or object, default="ndcg"
    Loss of a ranking: 1 minus the NDCG, with the gains :math:`2^y - 1`, or minus the precision at
    `k`, divided by its greatest possible value, where items with :math:`y > 0` are relevant. See
    Notes for an object.
k : int or None, default=None
    Number of top-ranked items to include in the loss, and in the NDCG that `score` returns; if
    None, all. Required for "precision", and None if `loss` is an object.
representation : {"power", "linear", "reciprocal"} or callable, default="power"
    The strictly decreasing function :math:`f`: :math:`-j^{power}`, :math:`-j` or :math:`1 / j`. A
    callable maps an array of positions to the values of :math:`f`. At positions where it decreases
    faster, smaller differences between the scores suffice ([1]_, Lemma 4).
power : float, default=1.1
    Exponent of the "power" representation. It is ignored for other representations.
"""
OBJECT_TEXT = """
An object `loss` defines 1 minus a sum of gains times discounts, divided by its greatest possible
value. Its ``gains(relevance)`` returns the gains of relevance values of shape (n_rankings,
n_items), and ``discounts(n)`` the discounts at the positions 1 to n, which must be nonnegative and
nonincreasing and must not depend on n.
"""


class NamedRankingLoss:
    """Base class of the losses that have names, of the `k` top-ranked items, or all if None."""

    task = RankingTask

    def __init__(self, k=None):
        self.k = k

    def _cut(self, discounts):
        """Set the discounts at the positions after `k` to 0."""
        if self.k is not None:
            discounts[self.k :] = 0.0
        return discounts


class NDCGLoss(NamedRankingLoss):
    r"""NDCG loss: 1 minus the normalized discounted cumulative gain.

    The gain of an item of relevance :math:`y \geq 0` is :math:`2^y - 1`, and the discount at
    position j is :math:`1 / \log_2(1 + j)`. Section 4 of the paper has the same discounts, but
    other gains. The gains of a ranking are divided by :math:`2^{\max y}`, so that they do not
    overflow for relevance values in the hundreds. This does not change the loss.
    """

    def gains(self, relevance):
        """Return the gains of rankings along the last axis."""
        highest = relevance.max(axis=-1, keepdims=True, initial=0.0)
        return np.exp2(relevance - highest) - np.exp2(-highest)

    def discounts(self, n_positions):
        """Return the discounts at the positions 1, 2, ..."""
        return self._cut(factors_of("log2", n_positions))


class PrecisionLoss(NamedRankingLoss):
    r"""Precision loss: 1 minus the precision at k divided by its greatest possible value.

    An item is relevant and has the gain 1 if its relevance is above 0. Positions up to k have the
    discount 1. All other gains and discounts are 0. If h of r relevant items are at the positions
    up to k, the loss is :math:`1 - h / \min(k, r)`.
    """

    def __init__(self, k):
        super().__init__(k)
        if k is None:
            raise ValueError("k must be a positive integer under loss='precision', got None.")

    def gains(self, relevance):
        """Return the gains of rankings along the last axis."""
        return np.greater(relevance, 0)

    def discounts(self, n_positions):
        """Return the discounts at the positions 1, 2, ..."""
        return self._cut(np.ones(n_positions))


RANKING_LOSSES = {"ndcg": NDCGLoss, "precision": PrecisionLoss}


def make_ranking_loss(loss, k=None):
    """Return the ranking loss with the given name, or a user-defined loss unchanged.

    `k` must be None for an object, whose discounts determine which positions are included. Raise
    ValueError if `k` is not valid for the loss.
    """
    if isinstance(loss, str):
        return RANKING_LOSSES[loss](k)
    if k is not None:
        raise ValueError(f"k must be None where loss is an object, got {k!r}: its discounts tell.")
    return loss


def task_of(loss):
    """Return the class of the task of a ranking loss."""
    return loss.task if isinstance(loss, NamedRankingLoss) else RankingTask


def gains_of(loss, relevance, starts):
    """Return the checked gains of the items of all rounds, `(n_items,)`.

    Round i has the items `starts[i]:starts[i + 1]`. Gains are from 0 to `MAX_GAIN`, and the largest
    one of a round is zero or at least `MIN_GAIN`. Raise ValueError if the loss returns others.
    """
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

    They are divided by the first one unless all are zero, so that sums do not overflow. This does
    not change the loss. Raise ValueError unless they are finite, nonnegative and nonincreasing.
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


# The functions return the values of f at positions. Only "power" uses the exponent `power`.
REPRESENTATIONS = {
    "linear": lambda positions, power: -positions,
    "power": lambda positions, power: -(positions**power),
    "reciprocal": lambda positions, power: 1 / positions,
}


def position_values(representation, n_positions, *, power=1.1):
    """Return the values of a representation's f at the positions 1, 2, ...

    A function receives the positions, an array of floats, and returns the values. Raise ValueError
    if its values are not finite or do not decrease strictly.
    """
    positions = np.arange(1.0, n_positions + 1)
    with np.errstate(over="ignore"):
        if callable(representation):
            values = np.array(as_numbers(representation(positions.copy()), "representation"))
        else:
            values = REPRESENTATIONS[representation](positions, power)
        squares = np.sum(np.square(values))
    if values.shape != positions.shape:
        raise ValueError(
            f"representation must return a value for each of {n_positions} positions, got the "
            f"shape {values.shape}."
        )
    # The condition is the negation of a valid case, since every comparison with NaN is false.
    if not (np.isfinite(squares) and (np.diff(values) < 0).all()):
        raise ValueError(
            "representation must give finite values that decrease strictly, with finite squares, "
            f"got {values[:5].tolist()} at the first of {n_positions} positions, under "
            f"representation={representation!r}."
        )
    return values

"""Losses of pairs of labels, and the tables from which the cost rules compute with them.

A loss f maps the difference z = s[b] - s[a] of the scores of an irrelevant label b and a relevant
label a to a number. It must not decrease in z.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev


class PairLoss(NamedTuple):
    """Loss of a pair of labels, as a function of the difference z of their scores."""

    function: Callable[[np.ndarray], np.ndarray]
    formula: str
    """Formula in the docstrings of the boosters."""
    has_slope: bool = True
    """True if the loss has a gradient, which the adaptive boosters need."""


# An entry is all that a loss needs: the boosters accept its name and describe its formula.
LOSSES = {
    "hinge": PairLoss(lambda z: np.maximum(1.0 + z, 0.0), "``max(1 + z, 0)``."),
    "rank": PairLoss(
        lambda z: 0.5 * ((z > 0.0) + (z >= 0.0)), "1 if z is positive, 0.5 if z is 0.", False
    ),
    "logistic": PairLoss(lambda z: np.logaddexp(0.0, z), "``log(1 + exp(z))``."),
    "exponential": PairLoss(
        lambda z: np.exp(np.minimum(z, 30.0)) * (1.0 + np.maximum(z - 30.0, 0.0)),
        "``exp(z)``, which is linear for z above 30, so that costs are finite.",
    ),
}
SLOPED_LOSSES = {name for name, loss in LOSSES.items() if loss.has_slope}


def loss_function(loss):
    """Return the function of a loss, which is a name or a callable."""
    return LOSSES[loss].function if isinstance(loss, str) else loss


def describe_losses(names):
    """Return the lines of docstrings that describe losses and the rules for callables."""
    listed = [f'    - "{name}" : {LOSSES[name].formula}' for name in LOSSES if name in names]
    return "\n".join([*listed, CALLABLE_TEXT])


CALLABLE_TEXT = """\
    - A callable maps an array of differences z to an array of losses. It must not decrease in
      z, and must be smooth except at multiples of 1/64. It is called when the model starts, with
      the possible differences, and approximated by polynomials to a relative error of 1e-10.
"""

# Polynomials of this number of coefficients approximate a loss on small intervals. The intervals
# are made smaller until the relative error is below the tolerance.
N_COEFFICIENTS = 6
PIECES_PER_UNIT = (4, 8, 16, 32, 64)
TOLERANCE = 1e-10


def walk_tails(up, down, n_learners):
    """Compute the tail sums of a random walk after 0, 1, ..., n_learners - 1 steps.

    Parameters
    ----------
    up, down : float
        Probability of the step +1 and of the step -1. Otherwise the step is 0.
    n_learners : int
        Number of tables, one for each number of steps from 0 to n_learners - 1.

    Returns
    -------
    tails : ndarray of shape (n_entries, 2)
        Tail sums T0 and T1 (see `_costs.pyx`). The rows for n steps start at ``starts[n]`` and
        cover d = lows[n] - 2, ..., highs[n] + 3.
    starts, lows, highs : ndarrays of shape (n_learners,)
        First row of the table for n steps, and the smallest and the largest value of the walk after
        n steps, apart from values of negligible probability.
    """
    law, low = np.ones(1), 0
    tails, lows, highs = [], [], []
    for _ in range(n_learners):
        values = np.arange(low, low + len(law))
        ends = np.zeros(3)
        mass = np.concatenate((np.cumsum(law[::-1])[::-1], ends))
        first = np.concatenate((np.cumsum((law * values)[::-1])[::-1], ends))
        tails.append(
            np.column_stack([np.concatenate((np.full(2, t[0]), t)) for t in (mass, first)])
        )
        lows.append(low)
        highs.append(low + len(law) - 1)
        law = np.convolve(law, [down, 1.0 - up - down, up])
        low -= 1
        # Smaller probabilities are negligible compared with rounding errors.
        kept = np.flatnonzero(law > 1e-30)
        law, low = law[kept[0] : kept[-1] + 1], low + kept[0]
    starts = np.cumsum([0] + [len(t) for t in tails[:-1]])
    return (
        np.concatenate(tails),
        starts.astype(np.intp),
        np.array(lows, dtype=np.intp),
        np.array(highs, dtype=np.intp),
    )


def loss_pieces(loss, limit, or_integers=False):
    """Approximate a loss of pairs by polynomials on intervals of equal length.

    Parameters
    ----------
    loss : callable
        Maps an array of differences s[b] - s[a] to an array of losses. It must not decrease.
    limit : int
        Differences are from ``-limit`` to `limit`.
    or_integers : bool, default=False
        Whether a loss that is not convex is only needed at integers. Then there is one interval
        per unit, and the polynomials are constants.

    Returns
    -------
    pieces : ndarray of shape (2 * limit * per_unit + 1, N_COEFFICIENTS)
        Coefficients of 1, t, t**2, ... of the polynomials. Row j is the polynomial for differences
        ``(j + t) / per_unit - limit`` with t in [0, 1).
    per_unit : int
        Number of intervals per unit, which is 1 only if the polynomials are constants.

    Raises
    ------
    ValueError
        If the loss is not finite, decreases, or has kinks inside of the smallest intervals.
    """
    grid = np.arange(-8 * limit, 8 * limit + 1) / 8
    values = _evaluate(loss, grid)
    tolerance = TOLERANCE * np.maximum(np.abs(values), 1.0)
    if np.any(np.diff(values) < -tolerance[1:]):
        raise ValueError(f"loss must not decrease in s[b] - s[a], but {loss!r} does")
    is_convex = np.all(values[:-2] - 2 * values[1:-1] + values[2:] >= -4 * tolerance[2:])
    if or_integers and not is_convex:
        pieces = np.zeros((2 * limit + 1, N_COEFFICIENTS))
        pieces[:, 0] = values[::8]
        return pieces, 1
    nodes = chebyshev.chebpts1(N_COEFFICIENTS) / 2 + 0.5
    between = np.linspace(0.03, 0.97, 2 * N_COEFFICIENTS + 1)
    inverse = np.linalg.inv(np.vander(nodes, increasing=True))
    for per_unit in PIECES_PER_UNIT:
        starts = np.arange(2 * limit * per_unit + 1)[:, np.newaxis]
        pieces = _evaluate(loss, (starts + nodes) / per_unit - limit) @ inverse.T
        exact = _evaluate(loss, (starts + between) / per_unit - limit)
        error = np.abs(pieces @ np.vander(between, N_COEFFICIENTS, increasing=True).T - exact)
        if np.all(error <= TOLERANCE * np.maximum(np.abs(exact), 1.0)):
            return pieces, per_unit
    raise ValueError(
        f"loss must be smooth between multiples of 1/{PIECES_PER_UNIT[-1]}, but {loss!r} has a "
        "kink elsewhere or large derivatives"
    )


def _evaluate(loss, differences):
    values = np.asarray(loss(differences), dtype=np.float64)
    if values.shape != differences.shape or not np.all(np.isfinite(values)):
        raise ValueError(
            f"loss must map an array of differences of scores, from {differences.min():g} to "
            f"{differences.max():g}, to an array of finite numbers of the same shape, but {loss!r} "
            "does not"
        )
    return values


def expected_pieces(pieces, per_unit, up, down, n_learners):
    """Compute the expectations of a loss after 0, 1, ..., n_learners - 1 steps of a random walk.

    The expectation after n + 1 steps is a weighted sum of the expectations after n steps, shifted
    by -1, 0 and 1. Therefore it has the same intervals, and the polynomials are summed with the
    same weights. The errors do not grow.

    Parameters
    ----------
    pieces, per_unit
        Polynomials of the loss, see `loss_pieces`.
    up, down : float
        Probability of the step +1 and of the step -1. Otherwise the step is 0.
    n_learners : int
        Number of tables, one for each number of steps from 0 to n_learners - 1.

    Returns
    -------
    tables : ndarray of shape (n_rows, N_COEFFICIENTS)
        Polynomials of the expectations. The table for n steps covers differences from
        ``n - n_learners`` to ``n_learners - n``.
    centers : ndarray of shape (n_learners,), dtype intp
        Row of the difference 0 in the table for n steps.
    """
    tables, centers, start = [], [], 0
    for n in range(n_learners):
        tables.append(pieces)
        centers.append(start + (n_learners - n) * per_unit)
        start += len(pieces)
        pieces = (
            up * pieces[2 * per_unit :]
            + down * pieces[: -2 * per_unit]
            + (1.0 - up - down) * pieces[per_unit:-per_unit]
        )
    return np.concatenate(tables), np.array(centers, dtype=np.intp)

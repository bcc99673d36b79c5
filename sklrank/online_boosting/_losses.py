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
        lambda z: (z > 0.0) + 0.5 * (z == 0.0), "1 if z is positive, 0.5 if z is 0.", False
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
    listed = [f'    - "{name}" : {LOSSES[name].formula}\n' for name in LOSSES if name in names]
    return (
        "".join(listed)
        + """\
    - A callable maps an array of differences z to an array of losses. It must not decrease in
      z, and must be smooth except at multiples of 1/64. It is called when the model starts, with
      the possible differences, and approximated by polynomials to a relative error of 1e-10.
"""
    )


# Numbers of coefficients and of intervals per unit of the polynomials that approximate a loss:
# lines for the hinge loss, and else as few intervals as the relative error allows.
PIECES = ((2, 1), (6, 4), (6, 8), (6, 16), (6, 32), (6, 64))
TOLERANCE = 1e-10


def loss_pieces(loss, limit, or_integers=False):
    """Approximate a loss of pairs by polynomials on intervals of equal length.

    `loss` maps an array of differences, from ``-limit`` to `limit`, to losses. With `or_integers`,
    a loss that is not convex is only needed at integers. Raise ValueError if the loss is not
    finite, decreases, or has kinks inside of the smallest intervals.

    Returns
    -------
    pieces : ndarray of shape (2 * limit * per_unit + 1, n_coefficients)
        Coefficients of 1, t, t**2, ... of the polynomials, or only the constants at integers. Row j
        is the polynomial for differences ``(j + t) / per_unit - limit`` with t in [0, 1).
    per_unit : int
        Number of intervals per unit.
    """
    grid = np.arange(-8 * limit, 8 * limit + 1) / 8
    values = _evaluate(loss, grid)
    tolerance = TOLERANCE * np.maximum(np.abs(values), 1.0)
    if np.any(np.diff(values) < -tolerance[1:]):
        raise ValueError(f"loss must not decrease in s[b] - s[a], but {loss!r} does")
    is_convex = np.all(values[:-2] - 2 * values[1:-1] + values[2:] >= -4 * tolerance[2:])
    if or_integers and not is_convex:
        return values[::8, np.newaxis].copy(), 1
    between = np.linspace(0.03, 0.97, 13)
    for n_coefficients, per_unit in PIECES:
        nodes = chebyshev.chebpts1(n_coefficients) / 2 + 0.5
        inverse = np.linalg.inv(np.vander(nodes, increasing=True))
        starts = np.arange(2 * limit * per_unit + 1)[:, np.newaxis]
        pieces = _evaluate(loss, (starts + nodes) / per_unit - limit) @ inverse.T
        exact = _evaluate(loss, (starts + between) / per_unit - limit)
        error = np.abs(pieces @ np.vander(between, n_coefficients, increasing=True).T - exact)
        if np.all(error <= TOLERANCE * np.maximum(np.abs(exact), 1.0)):
            return pieces, per_unit
    raise ValueError(
        f"loss must be smooth between multiples of 1/{PIECES[-1][1]}, but {loss!r} has a "
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

    The arguments are the polynomials of the loss (see `loss_pieces`), the probabilities of the
    steps +1 and -1, and the number of tables. Return the tables, one below the other, and the rows
    `(n_learners,)` of the difference 0. The table for n steps covers differences from
    ``n - n_learners`` to ``n_learners - n``.
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

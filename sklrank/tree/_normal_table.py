"""The functions of the normal law that the split search looks up, as a table of cubics."""

import numpy as np
from scipy.special import entr, ndtr

__all__ = ["share_and_coin_cubics"]


def share_and_coin_cubics(n_cells, steps_per_unit):
    """Cubics for Phi(-z) and for the entropy in bits of a coin that shows heads with Phi(z).

    Parameters
    ----------
    n_cells : int
        Number of intervals, from z = 0 on.
    steps_per_unit : int
        Intervals in a unit of z.

    Returns
    -------
    ndarray of shape (n_cells, 8)
        For each interval the coefficients of u^0, ..., u^3 of either function, u in [0, 1).
    """
    z = np.arange(n_cells + 1) / steps_per_unit
    lower, upper, density = ndtr(-z), ndtr(z), np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    coin = (entr(lower) + entr(upper)) / np.log(2)
    coin_slope = density * np.log2(lower / upper)
    return np.hstack(
        [_hermite(lower, -density / steps_per_unit), _hermite(coin, coin_slope / steps_per_unit)]
    )


def _hermite(value, slope):
    """Coefficients of the cubics with this value and slope at the knots, one apart."""
    rise = np.diff(value)
    return np.column_stack(
        [
            value[:-1],
            slope[:-1],
            3 * rise - 2 * slope[:-1] - slope[1:],
            slope[:-1] + slope[1:] - 2 * rise,
        ]
    )

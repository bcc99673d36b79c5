"""How a ranking becomes a vector: a function f of positions, and rep(sigma)_i = f(sigma(i)) / Z.

The margin that two neighbours at the positions i - 1 and i need grows with 1 / (f(i - 1) - f(i))
(Jain et al. 2015, Lemma 4). So "power", -i^p with p > 1, asks for little at the bottom of a
ranking, where items are hard to tell apart, and "reciprocal", 1 / i, for little at the top.
"""

from numbers import Real

import numpy as np

from sklrank._validation import as_numbers
from sklrank.linear_model._predtron._losses import look_up

__all__ = ["REPRESENTATIONS", "position_values"]

# The value at positions 1, 2, ...; only "power" heeds the power.
REPRESENTATIONS = {
    "linear": lambda positions, power: -positions,
    "power": lambda positions, power: -(positions**power),
    "reciprocal": lambda positions, power: 1 / positions,
}


def position_values(representation, n_positions, *, power=1.1):
    """The function f of a representation at the positions 1, 2, ...

    Parameters
    ----------
    representation : str or callable
        "power": -i^power; "linear": -i; "reciprocal": 1/i; or a function that takes an array of
        positions, floats from 1, and returns the values there.
    n_positions : int
        How many positions there are.
    power : float, default=1.1
        The exponent of "power", greater than 0.

    Returns
    -------
    ndarray of shape (n_positions,)
        Values, strictly decreasing.

    Raises
    ------
    ValueError
        If the representation is unknown, or its values are not finite or do not decrease.

    Examples
    --------
    >>> from sklrank.linear_model._predtron._representations import position_values
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
    # The test says what must hold: a NaN would pass one for its opposite.
    if not (np.isfinite(squares) and (np.diff(values) < 0).all()):
        raise ValueError(
            "representation must give finite values, whose squares are so too, and each of which "
            f"is less than the one before, got {values[:5].tolist()} at the first positions, of "
            f"{n_positions}, under representation={representation!r}."
        )
    return values


def _check_power(power):
    if not isinstance(power, Real) or isinstance(power, bool) or not 0 < power < np.inf:
        raise ValueError(f"power must be a finite number greater than 0, got {power!r}.")
    return power

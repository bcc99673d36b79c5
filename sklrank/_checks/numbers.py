"""Checks of weights, levels and other numbers, of seeds and of texts as numbers."""

from numbers import Integral, Real

import numpy as np
import sklearn.utils
from sklearn.utils import check_array

from sklrank._checks.samples import DATES, aligned, plain

# Maximal sample weight. Trees sum up squares of weights, which must not overflow.
MAX_WEIGHT = 1e150


# Booleans are instances of `Integral` and `Real`, but no parameter takes them as numbers: the
# functions below, and `Interval` in `_estimators/sklearn.py`, do not accept them.


def is_integer(x) -> bool:
    """Return True if `x` is an integer, and not a boolean."""
    return type(x) is int or (isinstance(x, Integral) and not isinstance(x, bool))


def is_number(x) -> bool:
    """Return True if `x` is a real number, and not a boolean."""
    # `isinstance` of an abstract class takes a microsecond.
    return type(x) is float or (isinstance(x, Real) and not isinstance(x, bool))


def check_level(level, name):
    """Raise unless the confidence level of intervals is a number between 0 and 1."""
    if not (is_number(level) and 0 < level < 1):
        raise ValueError(f"{name} must be a number between 0 and 1, got {level!r}")


def check_scalar(x, name, target_type, **bounds):
    """Check a number with scikit-learn's `check_scalar`, and raise if it is a boolean or NaN."""
    if isinstance(x, bool):
        raise TypeError(f"{name} must be a number, got {x!r}")
    if isinstance(x, Real) and x != x:
        # No comparison with a bound would fail.
        raise ValueError(f"{name} must be a number, got {x!r}")
    return sklearn.utils.check_scalar(x, name, target_type, **bounds)


def check_random_state(random_state):
    """Return a RandomState instance from a parameter `random_state`, as scikit-learn does."""
    try:
        return sklearn.utils.check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be an integer from 0 to 2**32 - 1, a RandomState instance or None; "
            f"got {random_state!r}"
        ) from error


def check_weights(sample_weight, n_samples: int, *, positive: bool, name="sample_weight"):
    """Return the sample weights `(n_samples,)`, called `name`, as float64; none is negative.

    If `positive` is True, raise if all are zero.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    if is_number(sample_weight):
        sample_weight = np.full(n_samples, sample_weight)
    elif isinstance(sample_weight, bool):
        raise ValueError(f"{name} must be numbers, got {sample_weight}")
    weights = _as_array(sample_weight, name, dtype=np.float64, order="C")
    if weights.shape != (n_samples,):
        raise ValueError(f"{name} must have the shape ({n_samples},), got {weights.shape}")
    if np.any(weights < 0):
        raise ValueError(
            f"{name} must not be negative, got {weights.min():g}; ignore samples by weight 0"
        )
    if np.any(weights > MAX_WEIGHT):
        raise ValueError(
            f"{name} must be {MAX_WEIGHT:g} or less, got {weights.max():g}: larger ones "
            "would overflow"
        )
    if positive and not np.any(weights > 0):
        raise ValueError(
            f"Sample weights must contain at least one non-zero number; {name} is all zeros"
        )
    return aligned(weights)


def check_finite(values, name, what, remedy, dtype=np.float64):
    """Return an argument of a metric, which is `what`, as an array of one or two dimensions."""
    array = _as_array(values, name, dtype=dtype, allow_nd=True, ensure_all_finite=False)
    if array.ndim > 2:
        raise ValueError(
            f"{name} must hold {what} of shape (n_samples,) or (n_samples, n_labels), got "
            f"{array.shape}."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = tuple(bad[0].tolist())
        raise ValueError(f"{name} must be finite, got {array[where]} at {where}: {remedy}.")
    return aligned(array)


def _as_array(values, name, **options):
    """Return an argument, called `name`, as `check_array` of scikit-learn does with options."""
    try:
        check_distinct(values := plain(values), name)
        return check_array(values, ensure_2d=False, input_name=name, **options)
    except (TypeError, ValueError) as error:
        if name in str(error):
            raise
        raise ValueError(f"{name} must be numbers: {error}") from error


def check_exact(ids, name):
    """Raise if ids are floats of such a size that different whole numbers are the same float."""
    if ids.dtype.kind == "O":
        ids = np.array([each for each in ids.flat if isinstance(each, float)], dtype=np.float64)
    if ids.dtype.kind != "f":
        return
    bits = np.finfo(ids.dtype).nmant + 1
    large = ids[np.isfinite(ids) & (np.abs(ids) >= 2.0**bits)]
    if large.size:
        raise ValueError(
            f"{name} has the number {large.flat[0]:.0f} of the type {ids.dtype}, which holds whole "
            f"numbers up to 2**{bits} only: beyond it, different ids become equal. Read ids as "
            "integers or strings"
        )


def check_distinct(values, name):
    """Raise if different integers among the values, called `name`, become equal as floats."""
    ids = np.asarray(values)
    if ids.dtype.kind in "iu" and ids.size and max(-int(ids.min()), int(ids.max())) > 2**53:
        ids = np.unique(ids)
        if len(np.unique(ids.astype(np.float64))) < len(ids):
            raise ValueError(
                f"{name} has integers beyond 2**53 that are equal as float64: subtract the smallest"
            )


def look_up(name, table, choice, also=""):
    """Return ``table[choice]``, where `choice` is the value of the parameter called `name`."""
    if not isinstance(choice, str) or choice not in table:
        raise ValueError(f"{name} must be {also}one of {sorted(table)}, got {choice!r}.")
    return table[choice]


def as_numbers(values, name, what="numbers"):
    """Return values, called `name`, which must be `what`, as a float64 array."""
    try:
        values = plain(values)
        array = np.asarray(values)
        dates = array.dtype.kind == "O" and any(isinstance(entry, DATES) for entry in array.flat)
        if dates or array.dtype.kind in "cmM":
            # NumPy would convert dates to integers, and discard imaginary parts.
            kind = "dates" if dates else f"values of the type {array.dtype}"
            raise TypeError(f"got {kind}")
        check_distinct(array, name)
        return aligned(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be {what}: {error}") from error

"""The choices that give a metric of document rankings several meanings, by name.

Each table holds what a parameter may be; the checks are derived from the tables.
"""

from numbers import Integral
from types import SimpleNamespace

import numpy as np

from sklrank.metrics._document_lists import TIES

# What a document of a grade is worth.
_GAINS = {"exponential": lambda grades: np.exp2(grades) - 1, "linear": lambda grades: grades}
# Sums of more would overflow.
_MOST_GAIN = 1e300


def _letor_discount(ranks):
    return 1 / np.log2(np.maximum(ranks, 2))


# By how much the gain at a rank, from 1, is multiplied.
_DISCOUNTS = {"log2": lambda ranks: 1 / np.log2(ranks + 1), "letor": _letor_discount}

# What a query without a relevant document counts; NaN keeps it out of the mean.
EMPTY = {"drop": np.nan, "zero": 0.0, "one": 1.0}

# Whether a query with less than k documents counts 0.
SHORT_IS_ZERO = {"end": False, "zero": True}

# The gain is not among them: it has a default of its own, the same for all.
_CONVENTIONS = {
    "standard": {
        "discount": "log2",
        "empty": "drop",
        "short": "end",
        "ties": "average",
    },
    "letor": {
        "discount": "letor",
        "empty": "zero",
        "short": "zero",
        "ties": "stable",
    },
}

_OPTIONS = {
    "gain": _GAINS,
    "discount": _DISCOUNTS,
    "empty": EMPTY,
    "short": SHORT_IS_ZERO,
    "ties": TIES,
}
# These may be functions, too.
_FUNCTIONS = ("gain", "discount")


def choose(convention, **choices):
    """Take each choice that is None, or not named, from the convention, and check all of them.

    Parameters
    ----------
    convention : str
        Name of the convention.
    **choices
        Values of parameters, by name.

    Returns
    -------
    SimpleNamespace
        With an attribute for each choice, named or of the convention.

    Raises
    ------
    ValueError
        If the convention or a choice is unknown.
    """
    defaults = look_up("convention", _CONVENTIONS, convention)
    for name, choice in choices.items():
        if choice is None and name in defaults:
            choices[name] = defaults[name]
        elif not (name in _FUNCTIONS and callable(choice)):
            look_up(name, _OPTIONS[name], choice)
    return SimpleNamespace(**defaults | choices)


def check_k(k):
    """Check how many documents count, from the top; None for all."""
    if k is not None and (not isinstance(k, Integral) or isinstance(k, bool) or k < 1):
        raise ValueError(f"k must be a positive integer, or None for all documents, got {k!r}.")


def gains_of(gain, grades):
    """What the documents are worth, ndarray of float64, shape (n_samples,), not negative."""
    if callable(gain):
        gains = _call("gain", gain, grades)
    else:
        with np.errstate(over="ignore"):
            gains = _GAINS[gain](grades)
    bad = ~((gains >= 0) & (gains <= _MOST_GAIN))
    if bad.any():
        row = bad.argmax()
        raise ValueError(
            f"gain must be from 0 to {_MOST_GAIN:g}, got {gains[row]} for the grade {grades[row]} "
            f"of y_true under gain={gain!r}: grade documents from 0 (not relevant) up, by small "
            "numbers where the gain is exponential."
        )
    return gains


def factors_of(discount, n_ranks):
    """By how much gains at the ranks 1, 2, ... are multiplied, float64 of shape (n_ranks,)."""
    ranks = np.arange(1.0, n_ranks + 1)
    if not callable(discount):
        return _DISCOUNTS[discount](ranks)
    factors = _call("discount", discount, ranks)
    # The ideal order puts the largest gain first only if the factors fall.
    if not (np.isfinite(factors) & (factors >= 0)).all() or (np.diff(factors) > 0).any():
        raise ValueError(
            "discount must give finite factors that are not negative and do not rise with the "
            f"rank, got {factors[:5].tolist()} for the first ranks."
        )
    return factors


def _call(name, function, values):
    results = np.asarray(function(values.copy()), dtype=np.float64)
    if results.shape != values.shape:
        raise ValueError(
            f"{name} must return a number for each entry of an array of shape {values.shape}, got "
            f"shape {results.shape}."
        )
    return results


def look_up(name, table, choice):
    """The entry of `table` that the parameter `name` chooses."""
    if not isinstance(choice, str) or choice not in table:
        also = "callable or " if name in _FUNCTIONS else ""
        raise ValueError(f"{name} must be {also}one of {sorted(table)}, got {choice!r}.")
    return table[choice]

"""Named options of the metrics of document rankings, on which papers and programs differ.

Each table contains the allowed values of a parameter. The validation of parameters uses the tables.
"""

from types import SimpleNamespace

import numpy as np

from sklrank._validation import is_integer
from sklrank.metrics._document_lists import TIES

# The gain of a document as a function of its grade.
_GAINS = {"exponential": lambda grades: np.exp2(grades) - 1, "linear": lambda grades: grades}
# The sum of gains above this value may overflow.
_MAX_GAIN = 1e300


def _letor_discount(ranks):
    return 1 / np.log2(np.maximum(ranks, 2))


# The factor by which the gain at a rank, counted from 1, is multiplied.
_DISCOUNTS = {"log2": lambda ranks: 1 / np.log2(ranks + 1), "letor": _letor_discount}

# The score of a query without a relevant document. A query with score NaN is left out of the mean.
EMPTY = {"drop": np.nan, "zero": 0.0, "one": 1.0}

# Whether the score of a query with fewer than k documents is 0.
SHORT_IS_ZERO = {"end": False, "zero": True}

# The defaults of each convention, except for the gain, whose default does not depend on it.
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
# Options that may also be functions.
_FUNCTIONS = ("gain", "discount")


def choose(convention, **choices):
    """Check the options, and return the values of all options.

    An option that is None or not given has the value of the convention.

    Parameters
    ----------
    convention : str
        Name of the convention.
    **choices
        Values of the options, by name.

    Returns
    -------
    SimpleNamespace
        Object with an attribute for each option.

    Raises
    ------
    ValueError
        If the convention or an option is unknown.
    """
    defaults = look_up("convention", _CONVENTIONS, convention)
    for name, choice in choices.items():
        if choice is None and name in defaults:
            choices[name] = defaults[name]
        elif not (name in _FUNCTIONS and callable(choice)):
            look_up(name, _OPTIONS[name], choice)
    return SimpleNamespace(**defaults | choices)


def check_k(k):
    """Check the parameter `k`, the number of top-ranked documents to include, or None for all."""
    if k is not None and (not is_integer(k) or k < 1):
        raise ValueError(f"k must be a positive integer, or None for all documents, got {k!r}.")


def gains_of(gain, grades):
    """Return the gains of the documents, non-negative float64 values of shape `(n_samples,)`."""
    gains = _evaluate_gain(gain, grades)
    bad = ~_are_gains(gains)
    if bad.any():
        i = bad.argmax()
        raise ValueError(
            f"gain must be from 0 to {_MAX_GAIN:g}, got {gains[i]} for the grade {grades[i]} with "
            f"gain={gain!r}: use grades from 0 (not relevant) up, and small numbers if the gain is "
            "exponential."
        )
    return gains


def has_gains(gain, grades):
    """Return True if `gains_of` accepts the gains of the documents."""
    return bool(_are_gains(_evaluate_gain(gain, grades)).all())


def gain_by_order(grades):
    """Return the number of distinct lower grades, a gain that depends on the order only."""
    return np.unique(grades, return_inverse=True)[1]


def _evaluate_gain(gain, grades):
    if callable(gain):
        return _call("gain", gain, grades)
    with np.errstate(over="ignore"):
        return _GAINS[gain](grades)


def _are_gains(gains):
    return (gains >= 0) & (gains <= _MAX_GAIN)


def factors_of(discount, n_ranks):
    """Return the factors of the gains at the ranks 1, 2, ..., an array of shape `(n_ranks,)`."""
    ranks = np.arange(1.0, n_ranks + 1)
    if not callable(discount):
        return _DISCOUNTS[discount](ranks)
    factors = _call("discount", discount, ranks)
    # Only if the factors do not increase, the ideal ranking is in descending order of the gains.
    if not (np.isfinite(factors) & (factors >= 0)).all() or (np.diff(factors) > 0).any():
        raise ValueError(
            "discount must return finite factors that are not negative and do not rise with the "
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
    """Return ``table[choice]``, where `choice` is the value of the parameter called `name`."""
    if not isinstance(choice, str) or choice not in table:
        also = "callable or " if name in _FUNCTIONS else ""
        raise ValueError(f"{name} must be {also}one of {sorted(table)}, got {choice!r}.")
    return table[choice]

"""Metrics of ranked documents, as functions of the scores: conventions, sorted lists, and values.

The documents of a query are adjacent. Tied documents form a *group*. All orders of a group are
equally likely, so sums over a list are expected values. If ties are broken by the order of the
samples or by the worst order, each group consists of a single document.
"""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from sklrank._checks import (
    GAINS,
    call_on_array,
    gains_of,
    group_starts,
    is_integer,
    look_up,
    places,
    sort_keys,
    sums_of_queries,
)

# Last rank that matters if all ranks matter.
EVERY_PLACE = np.iinfo(np.intp).max


class NoRelevantDocumentError(ValueError):
    """Error of a mean over queries of which none has a relevant document."""


# -- Documents sorted by score.


class Lists(NamedTuple):
    """The sorted documents of all queries, in descending order of their scores in each query."""

    order: np.ndarray
    """Indices of the samples, sorted by query, of shape `(n_samples,)`."""
    groups: np.ndarray
    """Index in `order` at which each group of tied documents starts, of shape `(n_groups,)`."""


# Whether documents of equal scores are in groups; else they are in the order of the samples, or of
# their values.
TIES = {"average": True, "stable": False, "worst": False}


def list_documents(queries, scores, values, ties):
    """Sort the documents of each query by score, in descending order.

    Those with equal scores are in the order `ties`: "average", "stable" or "worst", by `values`.
    """
    if TIES[ties]:
        order = _sort_in_any_order(queries, -scores)
        return Lists(order, group_starts(queries, scores[order]))
    keys = (values, -scores) if ties == "worst" else (-scores,)
    order = np.lexsort((*keys, sort_keys(queries.codes, queries.n_queries)))
    return Lists(order, np.arange(len(order)))


def _sort_in_any_order(queries, key):
    """Return the indices that sort the samples by query, then by the key, equal keys in any order.

    NumPy sorts faster if equal keys need not keep their order.
    """
    order = np.argsort(key)
    return order[np.argsort(sort_keys(queries.codes, queries.n_queries)[order], kind="stable")]


def expected_values(lists, values):
    """Return the expected value of the document at each place: the mean value in its group."""
    sizes = _group_sizes(lists)
    return np.repeat(np.add.reduceat(values[lists.order], lists.groups) / sizes, sizes)


def expected_precisions(queries, lists, relevant):
    """Return the expected value at each place of the precision times the relevance, 0 or 1.

    Let p be the j-th place of a group of m documents, of which r are relevant, and let h be the
    number of relevant documents before the group. The document at p is relevant with probability
    r / m. If it is, each of the j - 1 places before it in the group has a relevant document with
    probability (r - 1) / (m - 1). The expected value is therefore ::

        r / m * (h + 1 + (j - 1) * (r - 1) / (m - 1)) / p
    """
    sizes = _group_sizes(lists)
    hits = np.add.reduceat(relevant[lists.order], lists.groups, dtype=np.float64)
    before = np.cumsum(hits) - hits
    # Subtract the hits of earlier queries. The first group of a query starts at the first entry of
    # the query.
    first_groups = np.searchsorted(lists.groups, queries.starts)
    before -= np.repeat(before[first_groups[:-1]], np.diff(first_groups))
    slopes = (hits - 1) / np.maximum(sizes - 1, 1)

    place_in_group = np.arange(len(lists.order)) - np.repeat(lists.groups, sizes)
    expected_hits = np.repeat(before + 1, sizes) + place_in_group * np.repeat(slopes, sizes)
    return np.repeat(hits / sizes, sizes) * expected_hits / places(queries)


def _group_sizes(lists):
    return np.diff(lists.groups, append=len(lists.order))


# -- Options on which papers and programs differ.

# The factor by which the gain at a rank, counted from 1, is multiplied.
_DISCOUNTS = {
    "log2": lambda ranks: 1 / np.log2(ranks + 1),
    "letor": lambda ranks: 1 / np.log2(np.maximum(ranks, 2)),
}

# The score of a query without a relevant document. A query with score NaN is left out of the mean.
EMPTY = {"drop": np.nan, "zero": 0.0, "one": 1.0}

# Whether the score of a query with fewer than k documents is 0.
SHORT_IS_ZERO = {"end": False, "zero": True}

# The defaults of each convention, except for the gain, whose default does not depend on it.
_CONVENTIONS = {
    "standard": {"discount": "log2", "empty": "drop", "short": "end", "ties": "average"},
    "letor": {"discount": "letor", "empty": "zero", "short": "zero", "ties": "stable"},
}

_OPTIONS = {
    "gain": GAINS,
    "discount": _DISCOUNTS,
    "empty": EMPTY,
    "short": SHORT_IS_ZERO,
    "ties": TIES,
}
# Options that may also be functions.
_FUNCTIONS = ("gain", "discount")


def metric_options(convention, **choices):
    """Check the options, and return the values of all options.

    An option that is None or not given has the value of the convention. The options are attributes
    of the result. A ValueError is raised if the convention or an option is unknown.
    """
    defaults = look_up("convention", _CONVENTIONS, convention)
    for name, choice in choices.items():
        if choice is None and name in defaults:
            choices[name] = defaults[name]
        elif not (name in _FUNCTIONS and callable(choice)):
            also = "callable or " if name in _FUNCTIONS else ""
            look_up(name, _OPTIONS[name], choice, also)
    return SimpleNamespace(**defaults | choices)


def check_cutoff(k):
    """Check the parameter `k`, the number of top-ranked documents to include, or None for all."""
    if k is not None and not (is_integer(k) and 1 <= k <= EVERY_PLACE):
        raise ValueError(
            f"k must be a positive integer, at most {EVERY_PLACE}, or None for all documents, got "
            f"{k!r}."
        )


def factors_of(discount, n_ranks):
    """Return the factors of the gains at the ranks 1, 2, ..., an array of shape `(n_ranks,)`."""
    ranks = np.arange(1.0, n_ranks + 1)
    if not callable(discount):
        return _DISCOUNTS[discount](ranks)
    factors = call_on_array("discount", discount, ranks)
    # Only if the factors do not increase, the ideal ranking is in descending order of the gains.
    if not (np.isfinite(factors) & (factors >= 0)).all() or (np.diff(factors) > 0).any():
        raise ValueError(
            "discount must return finite factors that are not negative and do not rise with the "
            f"rank, got {factors[:5].tolist()} for the first ranks."
        )
    return factors


# -- Values of queries.

# Each of the following functions takes the queries, the grades and the options of a metric. It
# returns a function that computes the value of the metric for each query from the scores alone.
# Quantities that do not depend on the scores are computed only once, which saves time if the same
# documents are ranked repeatedly.


def ndcg_of_queries(queries, grades, chosen, k):
    """Return a function that computes the NDCG of each query from the scores."""
    gains = gains_of(chosen.gain, grades)
    factors = rank_factors(queries, chosen.discount, k)
    best = sums_of_queries(queries, gains[_sort_in_any_order(queries, -gains)] * factors)

    def values_of(scores):
        values = np.full(queries.n_queries, EMPTY[chosen.empty])
        np.divide(_dcg(queries, gains, scores, factors, chosen.ties), best, values, where=best > 0)
        if k is not None and SHORT_IS_ZERO[chosen.short]:
            values[(queries.sizes < k) & (best > 0)] = 0
        return values

    return values_of


def dcg_of_queries(queries, grades, chosen, k):
    """Return a function that computes the DCG of each query from the scores."""
    gains = gains_of(chosen.gain, grades)
    factors = rank_factors(queries, chosen.discount, k)
    return lambda scores: _dcg(queries, gains, scores, factors, chosen.ties)


def average_precision_of_queries(queries, grades, chosen, k):
    """Return a function that computes the average precision of each query from the scores."""
    relevant = grades > 0
    last = last_place(k)
    counted = places(queries) <= last
    n_relevant = count_relevant(queries, grades)
    divisors = np.clip(n_relevant, 1, last)

    def values_of(scores):
        lists = list_documents(queries, scores, relevant, chosen.ties)
        sums = sums_of_queries(queries, expected_precisions(queries, lists, relevant) * counted)
        return with_empty(sums / divisors, n_relevant, chosen)

    return values_of


def rank_factors(queries, discount, k):
    """Return the factor of the gain at each place of the sorted lists, 0 at ranks above `k`."""
    ranks = places(queries)
    factors = factors_of(discount, ranks.max())[ranks - 1]
    return factors if k is None else np.where(ranks <= k, factors, 0)


def _dcg(queries, gains, scores, factors, ties):
    lists = list_documents(queries, scores, gains, ties)
    return sums_of_queries(queries, expected_values(lists, gains) * factors)


def last_place(k):
    """Return the last rank that a metric cut at `k` includes."""
    return EVERY_PLACE if k is None else k


def count_relevant(queries, grades):
    """Return the number of relevant documents of each query."""
    return np.bincount(queries.codes, weights=grades > 0, minlength=queries.n_queries)


def with_empty(values, n_relevant, chosen):
    """Return the values, where those of queries without a relevant document are replaced."""
    return np.where(n_relevant > 0, values, EMPTY[chosen.empty])

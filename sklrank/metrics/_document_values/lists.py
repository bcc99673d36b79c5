"""Lists of documents by query, with ties, and expected values at their places."""

from typing import NamedTuple

import numpy as np

from sklrank._checks import (
    group_starts,
    places,
    sort_keys,
)

# Last rank that matters if all ranks matter.
EVERY_PLACE = np.iinfo(np.intp).max


# -- Documents sorted by score.


class Lists(NamedTuple):
    """The sorted documents of all queries, in descending order of their scores in each query."""

    order: np.ndarray
    """Indices of the samples, sorted by query, of shape `(n_samples,)`."""
    groups: np.ndarray
    """Index in `order` at which each group of tied documents starts, of shape `(n_groups,)`."""


def list_documents(queries, scores, values, ties):
    """Sort the documents of each query by score, in descending order.

    Those with equal scores are in the order `ties`: "average", "stable" or "worst", by `values`.
    """
    return TIES[ties](queries, scores, values)


def list_best_first(queries, values):
    """Sort the documents of each query by their values, in descending order, without groups."""
    return _without_groups(_sort_in_any_order(queries, -values))


def _sort_in_groups(queries, scores, values):
    order = _sort_in_any_order(queries, -scores)
    return Lists(order, group_starts(queries, scores[order]))


def _sort_stable(queries, scores, values):
    return _without_groups(_sort_by_query(queries, -scores))


def _sort_worst_first(queries, scores, values):
    return _without_groups(_sort_by_query(queries, values, -scores))


def _sort_by_query(queries, *keys):
    """Return the indices that sort the samples by query, then by the last key, and so on."""
    return np.lexsort((*keys, sort_keys(queries.codes, queries.n_queries)))


def _sort_in_any_order(queries, key):
    """Return the indices that sort the samples by query, then by the key, equal keys in any order.

    NumPy sorts faster if equal keys need not keep their order.
    """
    order = np.argsort(key)
    return order[np.argsort(sort_keys(queries.codes, queries.n_queries)[order], kind="stable")]


def _without_groups(order):
    return Lists(order, np.arange(len(order)))


TIES = {"average": _sort_in_groups, "stable": _sort_stable, "worst": _sort_worst_first}


def expected_values(lists, values):
    """Return the expected value of the document at each place: the mean value in its group."""
    sizes = _group_sizes(lists)
    return np.repeat(np.add.reduceat(values[lists.order], lists.groups) / sizes, sizes)


def expected_precisions(queries, lists, relevant):
    """Return the expected value at each place of the precision times the relevance, 0 or 1.

    Let place :math:`p` be the :math:`j`-th place of a group of :math:`m` documents, of which
    :math:`r` are relevant. Let :math:`h` be the number of relevant documents before the group. The
    document at place :math:`p` is relevant with probability :math:`r / m`. If it is relevant, each
    of the :math:`j - 1` places before it in the group has a relevant document with probability
    :math:`(r - 1) / (m - 1)`. The expected value is therefore ::

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

"""Documents sorted by score within each query, and sums over the sorted lists.

The documents of all queries are in one array, those of a query next to each other. Tied documents
form a *group*, in which all orders are equally likely; sums over a list are therefore expected
values. If ties are broken by the order of the samples, or by the worst order, each group is a
single document, and the expected value is the value itself.
"""

from typing import NamedTuple

import numpy as np


class Lists(NamedTuple):
    """The documents of all queries, best first within each query."""

    order: np.ndarray
    """Indices of the samples, query after query, `(n_samples,)`."""
    groups: np.ndarray
    """Index in `order` at which each group of tied documents starts, `(n_groups,)`."""


def list_documents(queries, scores, values, ties):
    """Sort the documents of each query by score, in descending order.

    Parameters
    ----------
    queries : Queries
        The queries of the samples.
    scores : ndarray of shape (n_samples,)
        Scores to sort by.
    values : ndarray of shape (n_samples,)
        Values of the documents, for ``ties="worst"``.
    ties : {"average", "stable", "worst"}
        Order of documents with equal scores.

    Returns
    -------
    Lists
        The sorted documents.
    """
    return TIES[ties](queries, scores, values)


def _sort_in_groups(queries, scores, values):
    order = _sort_by_query(queries, -scores)
    listed = scores[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = listed[1:] != listed[:-1]
    new[queries.starts[:-1]] = True
    return Lists(order, np.flatnonzero(new))


def _sort_stable(queries, scores, values):
    return _without_groups(_sort_by_query(queries, -scores))


def _sort_worst_first(queries, scores, values):
    return _without_groups(_sort_by_query(queries, values, -scores))


def _sort_by_query(queries, *keys):
    """Return the samples sorted by query, then by the last key, then by the one before it."""
    # 16-bit integers are sorted in linear time.
    codes = queries.codes.astype(np.uint16) if queries.n_queries <= 2**16 else queries.codes
    return np.lexsort((*keys, codes))


def _without_groups(order):
    return Lists(order, np.arange(len(order)))


TIES = {"average": _sort_in_groups, "stable": _sort_stable, "worst": _sort_worst_first}


def places(queries):
    """Return the rank within its query, from 1, of each entry of the lists."""
    return np.arange(1, len(queries.order) + 1) - np.repeat(queries.starts[:-1], queries.sizes)


def sums_of_queries(queries, terms):
    """Sum over each query the terms of its entries."""
    return np.add.reduceat(terms, queries.starts[:-1])


def expected_values(lists, values):
    """Return the expected value of the document at each place: the mean of its group."""
    sizes = _group_sizes(lists)
    return np.repeat(np.add.reduceat(values[lists.order], lists.groups) / sizes, sizes)


def expected_precisions(queries, lists, relevant):
    """Return the expected precision at each place, counting 0 if the document is not relevant.

    Let place :math:`p` be the :math:`j`-th of a group of :math:`m` documents, of which :math:`r`
    are relevant, with :math:`h` relevant documents before the group. The document at the place is
    relevant with probability :math:`r / m`. Given that, each of the :math:`j - 1` places before it
    in the group has a relevant document with probability :math:`(r - 1) / (m - 1)`: ::

        r / m * (h + 1 + (j - 1) * (r - 1) / (m - 1)) / p
    """
    sizes = _group_sizes(lists)
    hits = np.add.reduceat(relevant[lists.order], lists.groups, dtype=np.float64)
    before = np.cumsum(hits) - hits
    # Subtract the hits of earlier queries. The first group of a query starts with the query.
    first_groups = np.searchsorted(lists.groups, queries.starts)
    before -= np.repeat(before[first_groups[:-1]], np.diff(first_groups))
    slopes = (hits - 1) / np.maximum(sizes - 1, 1)

    place_in_group = np.arange(len(lists.order)) - np.repeat(lists.groups, sizes)
    expected_hits = np.repeat(before + 1, sizes) + place_in_group * np.repeat(slopes, sizes)
    return np.repeat(hits / sizes, sizes) * expected_hits / places(queries)


def _group_sizes(lists):
    return np.diff(lists.groups, append=len(lists.order))

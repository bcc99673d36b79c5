"""Documents listed best first, query by query: arrays in, arrays out.

The documents of all queries stand in one array, those of a query side by side. Tied documents form
a *group*, within which any order is as likely as another; what is summed over a list is therefore
an expected value. Where the rows, or their worst order, decide on ties, every group is one document
and the expected value is the value.
"""

from typing import NamedTuple

import numpy as np


class Lists(NamedTuple):
    """The documents of all queries, best first."""

    order: np.ndarray
    """Rows, query after query, `(n_samples,)`."""
    groups: np.ndarray
    """Where each group of tied documents starts in `order`, `(n_groups,)`."""


def list_documents(queries, scores, values, ties):
    """Sort the documents of each query by score, the highest first.

    Parameters
    ----------
    queries : Queries
        Which rows belong together.
    scores : ndarray of shape (n_samples,)
        What to sort by.
    values : ndarray of shape (n_samples,)
        What documents are worth, for ``ties="worst"``.
    ties : {"average", "stable", "worst"}
        How equal scores are ordered.

    Returns
    -------
    Lists
        The lists.
    """
    return TIES[ties](queries, scores, values)


def _in_any_order(queries, scores, values):
    order = _by_query(queries, -scores)
    listed = scores[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = listed[1:] != listed[:-1]
    new[queries.starts[:-1]] = True
    return Lists(order, np.flatnonzero(new))


def _in_order_of_rows(queries, scores, values):
    return _untied(_by_query(queries, -scores))


def _worst_first(queries, scores, values):
    return _untied(_by_query(queries, values, -scores))


def _by_query(queries, *keys):
    """Rows sorted by query, then by the last key, then by the one before."""
    # Numbers of 16 bits are sorted in linear time.
    codes = queries.codes.astype(np.uint16) if queries.n_queries <= 2**16 else queries.codes
    return np.lexsort((*keys, codes))


def _untied(order):
    return Lists(order, np.arange(len(order)))


TIES = {"average": _in_any_order, "stable": _in_order_of_rows, "worst": _worst_first}


def places(queries):
    """The place in its query's list, from 1, of each entry of the lists."""
    return np.arange(1, len(queries.order) + 1) - np.repeat(queries.starts[:-1], queries.sizes)


def sums_of_queries(queries, terms):
    """Add up, for each query, one term for each place."""
    return np.add.reduceat(terms, queries.starts[:-1])


def expected_values(lists, values):
    """What the document at each place is worth: the mean of its group."""
    sizes = _group_sizes(lists)
    return np.repeat(np.add.reduceat(values[lists.order], lists.groups) / sizes, sizes)


def expected_precisions(queries, lists, relevant):
    """Expected precision at each place, where the document there is relevant, else 0.

    At place :math:`p`, the :math:`j`-th of a group of :math:`m` documents with :math:`r` relevant
    ones and :math:`h` relevant ones before it, a relevant document stands with probability
    :math:`r / m`. Given that, each of the :math:`j - 1` places before it in the group holds one of
    the other :math:`r - 1` relevant documents with probability :math:`(r - 1) / (m - 1)`: ::

        r / m * (h + 1 + (j - 1) * (r - 1) / (m - 1)) / p
    """
    sizes = _group_sizes(lists)
    hits = np.add.reduceat(relevant[lists.order], lists.groups, dtype=np.float64)
    before = np.cumsum(hits) - hits
    # Hits of earlier queries do not count. The first group of a query starts where the query does.
    first_groups = np.searchsorted(lists.groups, queries.starts)
    before -= np.repeat(before[first_groups[:-1]], np.diff(first_groups))
    slopes = (hits - 1) / np.maximum(sizes - 1, 1)

    place_in_group = np.arange(len(lists.order)) - np.repeat(lists.groups, sizes)
    expected_hits = np.repeat(before + 1, sizes) + place_in_group * np.repeat(slopes, sizes)
    return np.repeat(hits / sizes, sizes) * expected_hits / places(queries)


def _group_sizes(lists):
    return np.diff(lists.groups, append=len(lists.order))

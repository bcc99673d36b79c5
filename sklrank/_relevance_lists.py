"""Relevance lists: the form in which compiled loops read the labels of rows.

Row ``i`` has the relevant labels ``labels[indptr[i]:indptr[i + 1]]``, as in a CSR matrix. A class
label is a list of length one. The documents of queries are kept in the same way.
"""

import numpy as np

__all__ = ["lists_of", "lists_of_rows"]


def lists_of(indptr, rows):
    """Where the lists of these rows start, `(n_rows + 1,)`, and the places of what they hold.

    `rows` is a slice or an array of row numbers, in any order.
    """
    firsts, sizes = indptr[:-1][rows], np.diff(indptr)[rows]
    starts = np.append(np.intp(0), np.cumsum(sizes, dtype=np.intp))
    items = np.arange(starts[-1]) + np.repeat(firsts - starts[:-1], sizes)
    return starts, items


def lists_of_rows(indptr, labels, rows: slice):
    """The relevance lists of rows that follow each other: views, had without a copy of labels."""
    first, last = indptr[rows.start], indptr[rows.stop]
    return indptr[rows.start : rows.stop + 1] - first, labels[first:last]

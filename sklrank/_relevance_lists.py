"""Relevance lists: the relevant labels of samples in the format that compiled loops read.

The relevant labels of sample ``i`` are ``labels[indptr[i]:indptr[i + 1]]``, as in a CSR matrix. For
a target of class labels, each list has length one. The documents of queries are stored in the same
format.
"""

import numpy as np

__all__ = ["lists_of", "lists_of_rows"]


def lists_of(indptr, rows):
    """Return the row pointers `(n_rows + 1,)` of some rows, and the positions of their entries.

    `rows` is a slice or an array of row numbers, in any order.
    """
    firsts, sizes = indptr[:-1][rows], np.diff(indptr)[rows]
    starts = np.append(np.intp(0), np.cumsum(sizes, dtype=np.intp))
    items = np.arange(starts[-1]) + np.repeat(firsts - starts[:-1], sizes)
    return starts, items


def lists_of_rows(indptr, labels, rows: slice):
    """Return the relevance lists `indptr, labels` of consecutive rows, without copying `labels`."""
    first, last = indptr[rows.start], indptr[rows.stop]
    return indptr[rows.start : rows.stop + 1] - first, labels[first:last]

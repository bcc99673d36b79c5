"""Relevance lists: the relevant labels of samples, as compiled loops read them.

Sample ``i`` has the relevant labels ``labels[indptr[i]:indptr[i + 1]]``, as in a CSR matrix. A
class label is a list of length one. The documents of queries are stored in the same way.
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
    """Return the relevance lists of consecutive rows; `labels` is not copied."""
    first, last = indptr[rows.start], indptr[rows.stop]
    return indptr[rows.start : rows.stop + 1] - first, labels[first:last]

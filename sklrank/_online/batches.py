"""Calls in parts: slices of rows, by size and time, label lists, and what the calls use in turn."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from scipy import sparse

# Samples per batch. Callbacks run, and lines of `verbose` are printed, between batches.
BATCH = 10_000
# The same for rounds of many learners, which take longer.
SMALL_BATCH = 1000
# Aim for the seconds of a compiled call. Ctrl-C is noticed, and other threads run, between calls.
CALL_SECONDS = 0.05
# Maximal number of entries (128 MB) of a block of a sparse matrix that is converted to an array.
MAX_DENSE_ENTRIES = 2**24


def row_blocks(X, max_rows, *, dense=True):
    """Return slices that cover the rows of `X`, each of at most `max_rows` rows.

    If `X` is sparse and `dense` is True, the blocks will be converted to arrays. Then a block has
    at most `MAX_DENSE_ENTRIES` entries, but at least one row.
    """
    if dense and sparse.issparse(X):
        max_rows = min(max_rows, max(1, MAX_DENSE_ENTRIES // X.shape[1]))
    return slices(X.shape[0], max_rows)


def slices(n, size):
    """Return slices that cover `n` items, each of at most `size` items."""
    # gen_batches of scikit-learn is not used, since checking its parameters takes longer than some
    # models need to learn one sample. For the same reason a single slice is a special case.
    if 0 < n <= size:
        return [slice(0, n)]
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def timed_slices(batches):
    """Divide batches into slices of one compiled call each, and yield them.

    The calls of the loop's body are timed. The first one has one sample, and each call at most
    16 times as many as the one before, so that it takes about `CALL_SECONDS`.
    """
    size = 1
    for batch in batches:
        start = batch.start
        while start < batch.stop:
            stop = min(start + size, batch.stop)
            begin = perf_counter()
            yield slice(start, stop)
            rows_in_time = CALL_SECONDS * (stop - start) / max(perf_counter() - begin, 1e-9)
            size = max(1, min(16 * (stop - start), int(rows_in_time)))
            start = stop


def in_order(rows, order):
    """Return the numbers of the samples at the places `rows`, a slice, of an order or None."""
    return rows if order is None else order[rows]


def mask_rows(available, rows):
    """Return these rows of the mask of available labels, or None if it is None."""
    return None if available is None else available[rows]


def to_dense(X):
    """Return `X` as an array."""
    return X.toarray() if sparse.issparse(X) else X


def lists_of(indptr, rows):
    """Return the row pointers `(n_rows + 1,)` of some rows, and the positions of their entries.

    `rows` is a slice or an array of row numbers, in any order.
    """
    firsts, sizes = indptr[:-1][rows], np.diff(indptr)[rows]
    starts = np.append(np.intp(0), np.cumsum(sizes, dtype=np.intp))
    items = np.arange(starts[-1]) + np.repeat(firsts - starts[:-1], sizes)
    return starts, items


def lists_of_rows(indptr, labels, rows):
    """Return the relevance lists `indptr, labels` of some rows; see `lists_of`."""
    if isinstance(rows, slice):  # without a copy of `labels`
        first, last = indptr[rows.start], indptr[rows.stop]
        return indptr[rows.start : rows.stop + 1] - first, labels[first:last]
    starts, items = lists_of(indptr, rows)
    return starts, labels[items]


class WorkingMemory:
    """Compiled objects that calls use in turn, such as samplers, which are not part of a model.

    After a model is loaded or copied, they are made again. To make one takes longer than to learn a
    sample. A call that fails keeps what it has taken, which may be in the middle of its work.
    """

    def __init__(self):
        self._free = {}

    def __reduce__(self):
        return WorkingMemory, ()

    def take(self, key, make):
        """Return the object of this key or, if another call has taken it, the result of `make`."""
        thing = self._free.pop(key, None)
        return make() if thing is None else thing

    def give(self, key, thing):
        """Let other calls take the object."""
        self._free[key] = thing

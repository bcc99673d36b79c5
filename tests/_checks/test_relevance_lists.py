"""Relevance lists of some rows, compared with Python lists."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklrank._online.batches import lists_of, lists_of_rows

LISTS = [[3, 5], [], [0, 1, 2], [7], []]
INDPTR = np.array([0, 2, 2, 5, 6, 6], dtype=np.intp)
LABELS = np.array([3, 5, 0, 1, 2, 7], dtype=np.intp)


def as_python(starts, labels):
    assert starts.dtype == labels.dtype == np.intp
    assert starts[-1] == len(labels)
    return [labels[first:last].tolist() for first, last in zip(starts[:-1], starts[1:])]


@pytest.mark.parametrize("rows", [[4, 0, 2, 2], [1, 4], [], [0, 1, 2, 3, 4]])
def test_lists_of_rows_in_any_order(rows):
    starts, items = lists_of(INDPTR, np.array(rows, dtype=np.intp))
    assert as_python(starts, LABELS[items]) == [LISTS[row] for row in rows]


@pytest.mark.parametrize("rows", [slice(0, 5), slice(1, 4), slice(4, 5), slice(2, 2)])
def test_lists_of_consecutive_rows(rows):
    assert as_python(*lists_of_rows(INDPTR, LABELS, rows)) == LISTS[rows]
    starts, items = lists_of(INDPTR, rows)
    assert_array_equal(LABELS[items], lists_of_rows(INDPTR, LABELS, rows)[1])
    assert as_python(starts, LABELS[items]) == LISTS[rows]

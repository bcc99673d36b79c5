# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Indices sorted by two keys, the greatest first."""

from libc.stdlib cimport qsort

import numpy as np

_ITEM = np.dtype([("first", np.float64), ("second", np.float64), ("index", np.intp)])


def make_items(n):
    """Room for `n` items, one at least."""
    return np.empty(max(n, 1), dtype=_ITEM)


cdef int compare(const void* left, const void* right) noexcept nogil:
    cdef const Item* a = <const Item*>left
    cdef const Item* b = <const Item*>right
    if a.first != b.first:
        return -1 if a.first > b.first else 1
    if a.second != b.second:
        return -1 if a.second > b.second else 1
    return (a.index > b.index) - (a.index < b.index)


cdef void sort_items(Item* items, Py_ssize_t n) noexcept nogil:
    qsort(items, n, sizeof(Item), compare)

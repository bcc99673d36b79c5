# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Indices sorted by two keys in decreasing order."""

import numpy as np

_ITEM = np.dtype([("first", np.float64), ("second", np.float64), ("index", np.intp)])

# Maximum number of items that are sorted by insertion.
cdef Py_ssize_t MAX_INSERTION = 12


def make_items(n):
    """Return an uninitialized array of `n` items, or of one item if `n` is 0."""
    return np.empty(max(n, 1), dtype=_ITEM)


cdef void sort_items(Item* items, Py_ssize_t n, Item* buffer) noexcept nogil:
    # This is a merge sort. Its comparisons are inlined, unlike those of `qsort` in the C library.
    cdef Py_ssize_t half = n // 2, i = 0, j = half, k = 0
    if n <= MAX_INSERTION:
        insert_items(items, n)
        return
    sort_items(items, half, buffer)
    sort_items(items + half, n - half, buffer)
    for i in range(half):
        buffer[i] = items[i]
    i = 0
    while i < half:
        if j < n and precedes(&items[j], &buffer[i]):
            items[k] = items[j]
            j += 1
        else:
            items[k] = buffer[i]
            i += 1
        k += 1


cdef void insert_items(Item* items, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef Item item
    for i in range(1, n):
        item, j = items[i], i
        while j > 0 and precedes(&item, &items[j - 1]):
            items[j] = items[j - 1]
            j -= 1
        items[j] = item


cdef inline bint precedes(const Item* a, const Item* b) noexcept nogil:
    if a.first != b.first:
        return a.first > b.first
    if a.second != b.second:
        return a.second > b.second
    return a.index < b.index

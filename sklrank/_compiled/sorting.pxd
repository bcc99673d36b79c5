"""Indices sorted by two keys."""


cdef packed struct Item:
    double first
    double second
    Py_ssize_t index

# Sort the items in place by decreasing `first`, then decreasing `second`, then increasing index.
# The buffer must have space for n // 2 items.
cdef void sort_items(Item* items, Py_ssize_t n, Item* buffer) noexcept nogil

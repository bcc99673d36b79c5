"""Indices sorted by two keys."""


cdef packed struct Item:
    double first
    double second
    Py_ssize_t index

# Sort in place: the greatest `first` comes first, among equals the greatest `second`, then the
# smallest index. In `room` there is scratch for half as many.
cdef void sort_items(Item* items, Py_ssize_t n, Item* room) noexcept nogil

"""Blocks of memory of trees, which take less than NumPy arrays."""

# Return a block of memory with a new size. The functions PyMem_Raw... can be called without the
# GIL, and tracemalloc counts their allocations.
cdef void* resized(void* block, size_t n_bytes) except NULL nogil

# Return a copy of a block of memory as a new array.
cdef array_of(const void* block, tuple shape, dtype)

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Codes of the bins of features.

The code of a value is the number of thresholds below it.
Codes are stored in blocks of `WIDTH` features, `(n_blocks, n_samples, WIDTH)`: the histograms of a
block fit in the first level of the cache, and the codes of a sample are read at once.
"""

cimport cython
from libc.math cimport isnan

import numpy as np

BLOCK_WIDTH = WIDTH
MAX_CATEGORIES = MAX_BINS


cdef int check_codes(codes, n_bins) except -1:
    """Raise ValueError if the codes do not have blocks for all features."""
    n_blocks, _, width = np.shape(codes)
    if width != WIDTH or n_blocks != (len(n_bins) + WIDTH - 1) // WIDTH or n_blocks == 0:
        raise ValueError(
            f"codes of {len(n_bins)} features have the shape {np.shape(codes)}; there must be at "
            f"least one feature, and blocks of {WIDTH}"
        )
    return 0


def encode(
    const cython.floating[:] values, const double[::1] thresholds, unsigned char missing,
    unsigned char[:, ::1] codes, Py_ssize_t position,
):
    """Write the number of thresholds below each value into `codes[:, position]`.

    NaN has the code `missing`. Return whether a value is NaN.
    """
    cdef Py_ssize_t i
    cdef const double* base
    cdef Py_ssize_t length, half, n = thresholds.shape[0]
    cdef double value
    cdef bint any_missing = False
    if codes.shape[0] != values.shape[0] or not 0 <= position < codes.shape[1] or n >= MAX_BINS:
        raise ValueError("values, thresholds and codes do not fit each other")
    with nogil:
        for i in range(values.shape[0]):
            value = values[i]
            if isnan(value):
                codes[i, position] = missing
                any_missing = True
                continue
            if n == 0:
                codes[i, position] = 0
                continue
            # Binary search without branches.
            base = &thresholds[0]
            length = n
            while length > 1:
                half = length // 2
                base += half * (base[half - 1] < value)
                length -= half
            codes[i, position] = base - &thresholds[0] + (base[0] < value)
    return any_missing

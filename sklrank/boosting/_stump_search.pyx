# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Which threshold of which feature agrees best with signed weights of the rows.

A stump that says 1 on the set A of rows gains the sum of their weights (valizadegan 2010, Eqs. 3.18
and 4.13). Rows come as bin codes, so that one pass over them fills a histogram of each feature; a
running sum over its bins then is the gain of each threshold, and what is left of the total that of
the other direction.
"""

from libc.string cimport memset


def best_stump(
    const unsigned char[:, ::1] codes,
    const Py_ssize_t[::1] first_bin,
    const double[::1] weights,
    double[::1] sums,
):
    """The best stump of all: gain, feature, bin, and whether it says 1 above that bin.

    Bin `b` of feature `f` has the number `first_bin[f] + b`, and `sums` has an entry for each.
    Among equal gains the smaller feature comes first, then the smaller bin, then above. Without any
    threshold the gain is minus infinity.
    """
    cdef Py_ssize_t n_rows = codes.shape[0], n_features = codes.shape[1]
    cdef Py_ssize_t i, f, b, best_feature = -1, best_bin = -1
    cdef bint best_above = True
    cdef double total = 0.0, below, best_gain = -float("inf"), weight
    with nogil:
        memset(&sums[0], 0, sums.shape[0] * sizeof(double))
        for i in range(n_rows):
            weight = weights[i]
            if weight == 0.0:
                continue
            total += weight
            for f in range(n_features):
                sums[first_bin[f] + codes[i, f]] += weight
        for f in range(n_features):
            below = 0.0
            for b in range(first_bin[f], first_bin[f + 1] - 1):
                below += sums[b]
                if total - below > best_gain:
                    best_gain = total - below
                    best_feature, best_bin, best_above = f, b - first_bin[f], True
                if below > best_gain:
                    best_gain = below
                    best_feature, best_bin, best_above = f, b - first_bin[f], False
    return best_gain, best_feature, best_bin, best_above

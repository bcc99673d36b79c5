# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Which threshold of which feature parts the rows of two classes best.

Rows come as bin codes, so that one pass over them fills a histogram of each feature: of each bin
the weight, and the *balance*, the weight of class 1 less that of class 0. Running sums over the
bins then tell what each threshold has below it, and the rest of the totals what it has above.
"""

from libc.math cimport fabs
from libc.string cimport memset

# Where nothing is left of a total, running sums may leave this share of it.
cdef double ROUNDING = 1e-12


def best_threshold(
    const unsigned char[:, ::1] codes,
    const Py_ssize_t[::1] first_bin,
    const double[::1] balances,
    double[:, ::1] sums,
    bint gini,
):
    """The best feature and the bin below its threshold; feature -1 where none gains.

    The bins of feature `f` have the numbers from `first_bin[f]` on, and `sums` has a row for each.
    Among equals the smaller feature comes first, then the smaller bin.
    """
    cdef Py_ssize_t n_rows = codes.shape[0], n_features = codes.shape[1]
    cdef Py_ssize_t i, f, b, best_feature = -1, best_bin = -1
    cdef double balance = 0.0, weight = 0.0, below, weight_below, above, weight_above, score, best
    with nogil:
        memset(&sums[0, 0], 0, 2 * sums.shape[0] * sizeof(double))
        for i in range(n_rows):
            if balances[i] == 0.0:
                continue
            balance += balances[i]
            weight += fabs(balances[i])
            for f in range(n_features):
                b = first_bin[f] + codes[i, f]
                sums[b, 0] += balances[i]
                sums[b, 1] += fabs(balances[i])
        best = ROUNDING * weight + (balance * balance / weight if gini else fabs(balance))
        for f in range(n_features):
            below = weight_below = 0.0
            for b in range(first_bin[f], first_bin[f + 1] - 1):
                below += sums[b, 0]
                weight_below += sums[b, 1]
                above, weight_above = balance - below, weight - weight_below
                if weight_below <= ROUNDING * weight or weight_above <= ROUNDING * weight:
                    continue
                if gini:
                    score = below * below / weight_below + above * above / weight_above
                else:
                    score = fabs(above - below)
                if score > best:
                    best, best_feature, best_bin = score, f, b - first_bin[f]
    return best_feature, best_bin

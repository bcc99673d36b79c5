"""Gaussian observers of a leaf, and the search for its best split."""


cdef enum:
    # The vectors, one entry a feature, that an observer row holds one after the other.
    WEIGHT = 0      # weight of the values seen
    MEAN = 1
    M2 = 2          # weighted sum of squared deviations from the mean
    LOW = 3         # smallest value seen
    HIGH = 4        # greatest value seen
    N_STATS = 5
    # Where leaves vote by naive Bayes:
    PRECISION = 5   # 1 / variance; infinite where there is none to speak of
    LOG_PRECISION = 6
    N_STATS_AND_DENSITIES = 7


cdef enum:
    MAX_POINTS = 128    # of the thresholds tried on a feature


cdef enum Criterion:
    ENTROPY = 0
    GINI = 1


cdef struct Split:
    Py_ssize_t feature      # -1: nothing is better than no split
    double threshold
    double gain
    double runner_up        # gain of the best split on any other feature, or of no split (0)


cdef void observe(
    double* row, const double* x, Py_ssize_t n_features, double weight
) noexcept nogil

cdef double left_share(
    const double* row, Py_ssize_t feature, Py_ssize_t n_features, double threshold
) noexcept nogil

cdef Split best_split(
    const double* stats,        # observer rows
    Py_ssize_t row_length,
    const int* rows,            # (n_rows,) which ones; negative: none
    Py_ssize_t n_rows,
    Py_ssize_t n_features,
    Py_ssize_t n_points,
    Criterion criterion,
    double min_branch_fraction,
) noexcept nogil

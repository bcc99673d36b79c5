"""Gaussian observers of a leaf: statistics, densities, and the search for the best split."""


cdef enum:
    # An observer row consists of these vectors, one after the other. Each vector has one entry for
    # each feature.
    WEIGHT = 0      # sum of the weights of the observed values
    MEAN = 1
    M2 = 2          # weighted sum of squared deviations from the mean
    LOW = 3         # smallest observed value
    HIGH = 4        # largest observed value
    N_STATS = 5
    # The row has the following vectors only if leaves may predict by naive Bayes.
    PRECISION = 5   # 1 / variance; infinite if the variance is too small or too large
    LOG_PRECISION = 6
    N_STATS_AND_DENSITIES = 7


cdef enum:
    N_POINTS = 10       # number of thresholds tried on a feature, as in MOA


cdef struct Split:
    Py_ssize_t feature      # -1 if no split has a positive gain
    double threshold
    double gain
    double runner_up        # gain of the best split on another feature, or of no split (0)


cdef void clear(double* row, Py_ssize_t n_features) noexcept nogil

cdef void observe(
    double* row, const double* x, Py_ssize_t n_features, double weight
) noexcept nogil

cdef void refresh_density(double* row, Py_ssize_t n_features) noexcept nogil

cdef double log_density(
    const double* row, const double* pooled, const double* x, Py_ssize_t n_features
) noexcept nogil

cdef double left_share(
    const double* row, Py_ssize_t feature, Py_ssize_t n_features, double threshold
) noexcept nogil

cdef Split best_split(
    const double* stats,        # observer rows
    Py_ssize_t row_length,
    const int* rows,            # (n_rows,) row indices of the classes of a leaf; negative if none
    Py_ssize_t n_rows,
    Py_ssize_t n_features,
) noexcept nogil

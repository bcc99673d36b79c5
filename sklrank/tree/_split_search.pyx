# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Gaussian observers of a leaf, and the search for its best split.

A leaf keeps one *observer row* for each class that it has seen: for every feature the weight, mean,
squared deviations, minimum and maximum of that class's values. Within a class a feature is taken
as Gaussian, so the share of class c that a threshold t sends to the left is

    p_c(t) = Phi((t - mean_c) / sd_c),      0 below the minimum and 1 from the maximum on.

With the class shares pi_c and p = sum_c pi_c p_c, the information gain of the split is the mutual
information of class and side. Written from the side's end,

    gain(t) = H2(p) - sum_c pi_c H2(p_c(t)),        H2 = entropy of a coin in bits,

it needs no logarithm a class: z -> Phi(z) and z -> H2(Phi(z)) come from one table of cubics.
The Gini gain comes out as sum_c pi_c^2 (p_c - p)^2 / (p (1 - p)).
"""

from libc.math cimport INFINITY, fabs, log2, sqrt

from sklrank.tree._normal_table import share_and_coin_cubics

cdef enum:
    STEPS_PER_UNIT = 16
    Z_MAX = 8                           # Phi(-8) = 6e-16
    N_CELLS = STEPS_PER_UNIT * Z_MAX

# Gains this close are equal, and the first of them is taken: the order of the classes, in which
# the gains are summed, must not decide.
cdef double ROUNDING = 1e-12

# A gain this small may be none: the table of H2(Phi(z)) is good to some 1e-7.
cdef double MIN_GAIN = 1e-6

# Cubic Hermite coefficients on |z| in [0, Z_MAX): four of Phi(-|z|), then four of H2(Phi(z)).
cdef double[N_CELLS][8] TABLE


def _fill_table():
    cdef double[:, ::1] cubics = share_and_coin_cubics(N_CELLS, STEPS_PER_UNIT)
    cdef Py_ssize_t i, j
    for i in range(N_CELLS):
        for j in range(8):
            TABLE[i][j] = cubics[i, j]


_fill_table()


cdef inline void share_and_coin(double z, double* share, double* coin) noexcept nogil:
    # Phi(z), and the entropy in bits of a coin that shows heads with that probability.
    cdef double u = fabs(z) * STEPS_PER_UNIT
    cdef Py_ssize_t cell
    cdef const double* a
    if not u < N_CELLS:         # or u is NaN, where values overflow
        share[0] = 1.0 if z > 0 else 0.0
        coin[0] = 0.0
        return
    cell = <Py_ssize_t>u
    u -= cell
    a = TABLE[cell]
    share[0] = a[0] + u * (a[1] + u * (a[2] + u * a[3]))
    if z > 0:
        share[0] = 1.0 - share[0]
    coin[0] = a[4] + u * (a[5] + u * (a[6] + u * a[7]))


cdef inline double coin_entropy(double p) noexcept nogil:
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return -p * log2(p) - (1.0 - p) * log2(1.0 - p)


cdef void observe(
    double* row, const double* x, Py_ssize_t n_features, double weight
) noexcept nogil:
    # West's update of weighted mean and squared deviations; a NaN leaves its feature as it was.
    cdef double* seen = row + WEIGHT * n_features
    cdef double* mean = row + MEAN * n_features
    cdef double* m2 = row + M2 * n_features
    cdef double* low = row + LOW * n_features
    cdef double* high = row + HIGH * n_features
    cdef double value, deviation, step
    cdef Py_ssize_t f
    for f in range(n_features):
        value = x[f]
        if value != value:
            continue
        seen[f] += weight
        deviation = value - mean[f]
        step = deviation * (weight / seen[f])
        mean[f] += step
        m2[f] += weight * deviation * (deviation - step)
        low[f] = value if value < low[f] else low[f]
        high[f] = value if value > high[f] else high[f]


cdef inline double inverse_deviation(
    const double* row, Py_ssize_t feature, Py_ssize_t n_features
) noexcept nogil:
    # Population deviation: it does not depend on the scale of the weights.
    cdef double m2 = row[M2 * n_features + feature]
    return sqrt(row[WEIGHT * n_features + feature] / m2) if m2 > 0.0 else INFINITY


cdef inline void class_side(
    const double* row,
    Py_ssize_t feature,
    Py_ssize_t n_features,
    double inverse_sd,
    double threshold,
    double* share,
    double* coin,
) noexcept nogil:
    # Share of a class to the left of the threshold, and the entropy of its side.
    if threshold < row[LOW * n_features + feature]:
        share[0] = 0.0
        coin[0] = 0.0
    elif threshold >= row[HIGH * n_features + feature]:
        share[0] = 1.0
        coin[0] = 0.0
    else:
        share_and_coin((threshold - row[MEAN * n_features + feature]) * inverse_sd, share, coin)


cdef double left_share(
    const double* row, Py_ssize_t feature, Py_ssize_t n_features, double threshold
) noexcept nogil:
    cdef double share, coin
    class_side(
        row, feature, n_features, inverse_deviation(row, feature, n_features), threshold,
        &share, &coin,
    )
    return share


cdef void gains_of_feature(
    const double* stats,
    Py_ssize_t row_length,
    const int* rows,
    Py_ssize_t n_rows,
    Py_ssize_t n_features,
    Py_ssize_t feature,
    Criterion criterion,
    const double* thresholds,
    Py_ssize_t n_points,
    double total,
    double* left,
    double* gains,
) noexcept nogil:
    # Share of the weight to the left of each threshold, and its gain.
    cdef double share, coin, weight, inverse_sd
    cdef const double* row
    cdef Py_ssize_t i, t
    for t in range(n_points):
        left[t] = 0.0
        gains[t] = 0.0
    for i in range(n_rows):
        if rows[i] < 0:
            continue
        row = stats + rows[i] * row_length
        weight = row[WEIGHT * n_features + feature] / total
        if weight == 0.0:
            continue
        inverse_sd = inverse_deviation(row, feature, n_features)
        for t in range(n_points):
            class_side(row, feature, n_features, inverse_sd, thresholds[t], &share, &coin)
            left[t] += weight * share
            gains[t] -= weight * coin
    if criterion == ENTROPY:
        for t in range(n_points):
            gains[t] += coin_entropy(left[t])
        return
    for t in range(n_points):
        gains[t] = 0.0
        for i in range(n_rows):
            if rows[i] < 0:
                continue
            row = stats + rows[i] * row_length
            weight = row[WEIGHT * n_features + feature] / total
            if weight > 0.0:
                share = left_share(row, feature, n_features, thresholds[t])
                gains[t] += weight * weight * (share - left[t]) * (share - left[t])
        gains[t] /= left[t] * (1.0 - left[t])


cdef Split best_split(
    const double* stats,
    Py_ssize_t row_length,
    const int* rows,
    Py_ssize_t n_rows,
    Py_ssize_t n_features,
    Py_ssize_t n_points,
    Criterion criterion,
    double min_branch_fraction,
) noexcept nogil:
    # Best of `n_points` equally spaced thresholds between the extremes of each feature.
    cdef double[MAX_POINTS] thresholds
    cdef double[MAX_POINTS] left
    cdef double[MAX_POINTS] gains
    cdef double low, high, total, gain, threshold
    cdef const double* row
    cdef Split best
    cdef Py_ssize_t f, i, t
    best.feature = -1
    best.threshold = best.gain = best.runner_up = 0.0
    for f in range(n_features):
        low = INFINITY
        high = -INFINITY
        total = 0.0
        for i in range(n_rows):
            if rows[i] < 0:
                continue
            row = stats + rows[i] * row_length
            total += row[WEIGHT * n_features + f]
            low = min(low, row[LOW * n_features + f])
            high = max(high, row[HIGH * n_features + f])
        if not low < high:
            continue
        for t in range(n_points):
            thresholds[t] = low + (high - low) * ((t + 1.0) / (n_points + 1.0))
        gains_of_feature(
            stats, row_length, rows, n_rows, n_features, f, criterion, thresholds, n_points, total,
            left, gains,
        )
        gain = -INFINITY
        threshold = 0.0
        for t in range(n_points):
            if min(left[t], 1.0 - left[t]) > min_branch_fraction and gains[t] > gain + ROUNDING:
                gain = gains[t]
                threshold = thresholds[t]
        if gain < MIN_GAIN:
            continue
        if gain > best.gain + ROUNDING:
            best.runner_up = best.gain
            best.gain = gain
            best.feature = f
            best.threshold = threshold
        elif gain > best.runner_up:
            best.runner_up = gain
    return best

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Gaussian observers of a leaf: statistics, densities, and the search for the best split.

A leaf keeps one *observer row* for each class that it has seen: for each feature the weight, mean,
sum of squared deviations, minimum and maximum of the values of that class. Within a class a feature
is modelled as Gaussian, so the share of class c that a threshold t sends to the left is

    p_c(t) = Phi((t - mean_c) / sd_c),      0 below the minimum and 1 from the maximum on.

With the class shares pi_c and p = sum_c pi_c p_c, the information gain of the split is the mutual
information of class and side. Written in terms of the side,

    gain(t) = H2(p) - sum_c pi_c H2(p_c(t)),        H2 = binary entropy in bits,

it needs no logarithm for each class: z -> Phi(z) and z -> H2(Phi(z)) come from one table of cubics.
The Gini gain is sum_c pi_c^2 (p_c - p)^2 / (p (1 - p)).

Naive Bayes treats the features as independent within a class: the log density of a class is the sum
of its Gaussian log densities. A leaf has a *pooled* observer row of all classes together, whose
variances replace those that are not known yet.
"""

cimport cython
from libc.math cimport INFINITY, fabs, log, log2, sqrt

import numpy as np
from scipy.special import entr, ndtr

cdef enum:
    STEPS_PER_UNIT = 16
    Z_MAX = 8                           # Phi(-8) = 6e-16
    N_STEPS = STEPS_PER_UNIT * Z_MAX

# A class whose variance is below this share of the pooled variance gets the pooled variance: a
# single value determines the mean of a class, not its variance.
cdef double MIN_VARIANCE_SHARE = 1e-9
# Outside of these bounds a variance or its inverse overflows.
cdef double MIN_VARIANCE = 1e-290
cdef double MAX_VARIANCE = 1e290

# Gains that differ by less are equal, and the first one is chosen: the order of the classes, in
# which the gains are summed, must not matter.
cdef double ROUNDING = 1e-12

# A smaller gain counts as none: the table of H2(Phi(z)) has errors up to about 1e-7.
cdef double MIN_GAIN = 1e-6

# Cubic Hermite coefficients on |z| in [0, Z_MAX): four of Phi(-|z|), then four of H2(Phi(z)).
cdef double[N_STEPS][8] TABLE


@cython.wraparound(True)
def _hermite(value, slope):
    """Return the coefficients `(n_steps, 4)` of cubics through values and slopes at unit knots."""
    rise = np.diff(value)
    return np.column_stack(
        [
            value[:-1],
            slope[:-1],
            3 * rise - 2 * slope[:-1] - slope[1:],
            slope[:-1] + slope[1:] - 2 * rise,
        ]
    )


def _fill_table():
    z = np.arange(N_STEPS + 1) / STEPS_PER_UNIT
    lower, upper, density = ndtr(-z), ndtr(z), np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    entropy = (entr(lower) + entr(upper)) / np.log(2)
    entropy_slope = density * np.log2(lower / upper)
    cdef double[:, ::1] cubics = np.hstack(
        [
            _hermite(lower, -density / STEPS_PER_UNIT),
            _hermite(entropy, entropy_slope / STEPS_PER_UNIT),
        ]
    )
    cdef Py_ssize_t i, j
    for i in range(N_STEPS):
        for j in range(8):
            TABLE[i][j] = cubics[i, j]


_fill_table()


cdef inline void share_and_entropy(double z, double* share, double* entropy) noexcept nogil:
    # Phi(z) and its binary entropy.
    cdef double u = fabs(z) * STEPS_PER_UNIT
    cdef Py_ssize_t step
    cdef const double* a
    if not u < N_STEPS:         # u is NaN where values overflow
        share[0] = 1.0 if z > 0 else 0.0
        entropy[0] = 0.0
        return
    step = <Py_ssize_t>u
    u -= step
    a = TABLE[step]
    share[0] = a[0] + u * (a[1] + u * (a[2] + u * a[3]))
    if z > 0:
        share[0] = 1.0 - share[0]
    entropy[0] = a[4] + u * (a[5] + u * (a[6] + u * a[7]))


cdef inline double binary_entropy(double p) noexcept nogil:
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return -p * log2(p) - (1.0 - p) * log2(1.0 - p)


cdef void clear(double* row, Py_ssize_t n_features) noexcept nogil:
    cdef Py_ssize_t f, n = n_features
    for f in range(n):
        row[WEIGHT * n + f] = 0.0
        row[MEAN * n + f] = 0.0
        row[M2 * n + f] = 0.0
        row[LOW * n + f] = INFINITY
        row[HIGH * n + f] = -INFINITY


cdef void observe(
    double* row, const double* x, Py_ssize_t n_features, double weight
) noexcept nogil:
    # West's update of the weighted mean and squared deviations; NaN values are skipped.
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


cdef void refresh_density(double* row, Py_ssize_t n_features) noexcept nogil:
    # Recompute PRECISION and LOG_PRECISION from WEIGHT and M2.
    cdef Py_ssize_t f, n = n_features
    cdef double variance
    for f in range(n):
        row[PRECISION * n + f] = row[LOG_PRECISION * n + f] = INFINITY
        if row[WEIGHT * n + f] > 0.0:
            variance = row[M2 * n + f] / row[WEIGHT * n + f]
            if MIN_VARIANCE < variance < MAX_VARIANCE:
                row[PRECISION * n + f] = 1.0 / variance
                row[LOG_PRECISION * n + f] = -log(variance)


cdef double log_density(
    const double* row,
    const double* pooled,
    const double* x,
    const Py_ssize_t* used,
    Py_ssize_t n_features,
) noexcept nogil:
    # The log density of a class, minus the term that is the same for all classes.
    cdef Py_ssize_t f, n = n_features
    cdef double value, mean, precision, log_precision, total = 0.0
    for f in range(n):
        value = x[f if used == NULL else used[f]]
        if value != value or pooled[PRECISION * n + f] == INFINITY:
            continue
        mean = row[MEAN * n + f]
        precision = row[PRECISION * n + f]
        log_precision = row[LOG_PRECISION * n + f]
        if precision * MIN_VARIANCE_SHARE > pooled[PRECISION * n + f]:
            precision = pooled[PRECISION * n + f]
            log_precision = pooled[LOG_PRECISION * n + f]
            if row[WEIGHT * n + f] == 0.0:
                mean = pooled[MEAN * n + f]
        total += 0.5 * (log_precision - (value - mean) * (value - mean) * precision)
    return total


cdef inline double inverse_sd_of(
    const double* row, Py_ssize_t feature, Py_ssize_t n_features
) noexcept nogil:
    # The population deviation does not depend on the scale of the weights.
    cdef double m2 = row[M2 * n_features + feature]
    return sqrt(row[WEIGHT * n_features + feature] / m2) if m2 > 0.0 else INFINITY


cdef inline void class_side(
    const double* row,
    Py_ssize_t feature,
    Py_ssize_t n_features,
    double inverse_sd,
    double threshold,
    double* share,
    double* entropy,
) noexcept nogil:
    # The share of a class to the left of the threshold, and the entropy of its side.
    if threshold < row[LOW * n_features + feature]:
        share[0] = 0.0
        entropy[0] = 0.0
    elif threshold >= row[HIGH * n_features + feature]:
        share[0] = 1.0
        entropy[0] = 0.0
    else:
        share_and_entropy(
            (threshold - row[MEAN * n_features + feature]) * inverse_sd, share, entropy
        )


cdef double left_share(
    const double* row, Py_ssize_t feature, Py_ssize_t n_features, double threshold
) noexcept nogil:
    cdef double share, entropy
    class_side(
        row, feature, n_features, inverse_sd_of(row, feature, n_features), threshold,
        &share, &entropy,
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
    # The share of the weight to the left of each threshold, and the gain of each.
    cdef double share, entropy, weight, inverse_sd
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
        inverse_sd = inverse_sd_of(row, feature, n_features)
        for t in range(n_points):
            class_side(row, feature, n_features, inverse_sd, thresholds[t], &share, &entropy)
            left[t] += weight * share
            gains[t] -= weight * entropy
    if criterion == ENTROPY:
        for t in range(n_points):
            gains[t] += binary_entropy(left[t])
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
    # The best of `n_points` equally spaced thresholds between the extremes of each feature.
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

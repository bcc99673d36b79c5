# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Gaussian observers of a leaf: statistics, densities, and the search for the best split.

A leaf keeps one *observer row* for each class that has occurred in it. The row contains the weight,
mean, sum of squared deviations, minimum and maximum of the values of each feature in that class.
Each feature is modeled as Gaussian within a class. For a threshold t between the minimum and the
maximum of class c, the fraction of class c on the left side of the split is therefore

    p_c(t) = Phi((t - mean_c) / sd_c).

It is 0 below the minimum, and 1 from the maximum on. Let pi_c be the proportion of class c in the
weight of the leaf, and let p = sum_c pi_c p_c. The information gain of the split is the mutual
information of class and side. It equals

    gain(t) = H2(p) - sum_c pi_c H2(p_c(t)),

where H2 is the binary entropy in bits. In this form no logarithm has to be computed for each class,
because Phi(z) and H2(Phi(z)) are both interpolated from a table of cubics. The Gini gain is
sum_c pi_c^2 (p_c - p)^2 / (p (1 - p)).

Naive Bayes treats the features as independent within a class: the log density of a class is the sum
of its Gaussian log densities over the features. For naive Bayes a leaf also has a *pooled* observer
row of all classes together. Its variance replaces the variance of a class that is not known yet.
"""

cimport cython
from libc.math cimport INFINITY, fabs, log, log2, sqrt

from sklrank._online.outliers cimport UNBOUNDED_VALUES, bounded_deviation, is_outlier

import numpy as np
from scipy.special import entr, ndtr

cdef enum:
    STEPS_PER_UNIT = 16
    Z_MAX = 8                           # Phi(-8) = 6e-16
    N_STEPS = STEPS_PER_UNIT * Z_MAX

# Standard deviations from the mean of a class beyond which there are no thresholds. Few values are
# farther; all other values would be on one side of all thresholds that reach to a gross error.
cdef double MAX_REACH = 6.0

# If the variance of a class is below this fraction of the pooled variance, the pooled variance is
# used instead. For example, the variance of a class cannot be estimated from a single value.
cdef double MIN_VARIANCE_SHARE = 1e-9
# Gains that differ by less than this are treated as equal, and the first one is chosen, so that the
# result does not depend on the order of the classes, in which the gains are summed.
cdef double ROUNDING = 1e-12

# Below this share of a sum of squares, what remains of it without a value is rounding.
cdef double ROUNDING_OF_M2 = 1e-13

# Deviations from so many values that bound the next one: its sums keep the digits of the others.
cdef double MIN_EARLY = 3.0, MAX_EARLY = 1e6

# Fraction of the weight of a leaf that each side of a split must exceed, as in MOA.
cdef double MIN_BRANCH_FRACTION = 0.01

# A smaller gain is treated as 0, since the table of H2(Phi(z)) has errors of up to about 1e-7.
cdef double MIN_GAIN = 1e-6

# Cubic Hermite coefficients for |z| in [0, Z_MAX). Each row contains the four coefficients of
# Phi(-|z|), followed by the four coefficients of H2(Phi(z)).
cdef double[N_STEPS][8] TABLE


@cython.wraparound(True)
def _hermite(value, slope):
    """Return the coefficients `(n_steps, 4)` of cubics with these values and slopes at the knots.

    The distance between neighboring knots is 1.
    """
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
    # Compute Phi(z) and its binary entropy.
    cdef double u = fabs(z) * STEPS_PER_UNIT
    cdef Py_ssize_t step
    cdef const double* a
    if not u < N_STEPS:         # also true if u is NaN because of an overflow
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
    # Update the weighted mean and squared deviations by West's formula. NaN values are skipped, and
    # the number of values, of which outliers are told, is that of values of this weight.
    cdef double* seen = row + WEIGHT * n_features
    cdef double* mean = row + MEAN * n_features
    cdef double* m2 = row + M2 * n_features
    cdef double* low = row + LOW * n_features
    cdef double* high = row + HIGH * n_features
    cdef double value, deviation, limit, step, scale = 1.0 / weight
    cdef Py_ssize_t f
    for f in range(n_features):
        value = x[f]
        if value != value:
            continue
        deviation = bounded_deviation(value - mean[f], m2[f] * scale, seen[f] * scale)
        if MIN_EARLY <= seen[f] * scale < UNBOUNDED_VALUES and m2[f] > 0.0:
            limit = MAX_EARLY * sqrt(m2[f] / seen[f])
            if fabs(deviation) > limit:
                deviation = limit if deviation > 0.0 else -limit
                value = mean[f] + deviation
        seen[f] += weight
        step = deviation * (weight / seen[f])
        mean[f] += step
        m2[f] += weight * deviation * (deviation - step)
        low[f] = value if value < low[f] else low[f]
        high[f] = value if value > high[f] else high[f]
        # The first ones were not bounded. The extreme ones are now compared with the others.
        if 0.0 <= (seen[f] - weight) * scale - UNBOUNDED_VALUES < 1.0:
            bound_known(low[f], &seen[f], &mean[f], &m2[f], weight)
            bound_known(high[f], &seen[f], &mean[f], &m2[f], weight)


cdef void bound_known(
    double value, const double* seen, double* mean, double* m2, double weight
) noexcept nogil:
    # Bound a value that is in the sums, if it is an outlier beside the others.
    cdef double rest = seen[0] - weight
    cdef double mean_of_rest = mean[0] + (mean[0] - value) * (weight / rest)
    cdef double deviation = value - mean_of_rest
    cdef double m2_of_rest = m2[0] - weight * deviation * (value - mean[0])
    cdef double step, scale = 1.0 / weight
    if m2_of_rest > ROUNDING_OF_M2 * m2[0] and is_outlier(
        deviation, m2_of_rest * scale, rest * scale
    ):
        deviation = bounded_deviation(deviation, m2_of_rest * scale, rest * scale)
        step = deviation * (weight / seen[0])
        mean[0] = mean_of_rest + step
        m2[0] = m2_of_rest + weight * deviation * (deviation - step)


cdef void refresh_density(double* row, Py_ssize_t n_features) noexcept nogil:
    # Recompute PRECISION and LOG_PRECISION from WEIGHT and M2.
    cdef Py_ssize_t f, n = n_features
    cdef double variance
    for f in range(n):
        row[PRECISION * n + f] = row[LOG_PRECISION * n + f] = INFINITY
        if row[WEIGHT * n + f] > 0.0:
            variance = row[M2 * n + f] / row[WEIGHT * n + f]
            # Neither the variance nor its inverse may overflow.
            if 0.0 < variance < INFINITY and 1.0 / variance < INFINITY:
                row[PRECISION * n + f] = 1.0 / variance
                row[LOG_PRECISION * n + f] = -log(variance)


cdef double log_density(
    const double* row, const double* pooled, const double* x, Py_ssize_t n_features
) noexcept nogil:
    # Return the log density of a class, up to a constant that is the same for all classes.
    cdef Py_ssize_t f, n = n_features
    cdef double value, mean, precision, log_precision, total = 0.0
    for f in range(n):
        value = x[f]
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
    # Return the inverse of the standard deviation (without Bessel's correction, so that it does not
    # depend on the scale of the weights).
    cdef double m2 = row[M2 * n_features + feature]
    return sqrt(row[WEIGHT * n_features + feature] / m2) if m2 > 0.0 else INFINITY


cdef inline void class_side(
    const double* row, Py_ssize_t feature, Py_ssize_t n_features, double inverse_sd,
    double threshold, double* share, double* entropy,
) noexcept nogil:
    # Compute the fraction of a class to the left of the threshold, and its binary entropy.
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
    const double* stats, Py_ssize_t row_length, const int* rows, Py_ssize_t n_rows,
    Py_ssize_t n_features, Py_ssize_t feature, const double* thresholds, double total,
    double* left, double* gains,
) noexcept nogil:
    # Compute the fraction of the weight to the left of each threshold, and the information gain of
    # each threshold.
    cdef double share, entropy, weight, inverse_sd
    cdef const double* row
    cdef Py_ssize_t i, t
    for t in range(N_POINTS):
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
        for t in range(N_POINTS):
            class_side(row, feature, n_features, inverse_sd, thresholds[t], &share, &entropy)
            left[t] += weight * share
            gains[t] -= weight * entropy
    for t in range(N_POINTS):
        gains[t] += binary_entropy(left[t])


cdef Split best_split(
    const double* stats, Py_ssize_t row_length, const int* rows, Py_ssize_t n_rows,
    Py_ssize_t n_features,
) noexcept nogil:
    # Return the best split over all features, each with `N_POINTS` equally spaced thresholds
    # between its minimum and its maximum, but for values that are far from the mean of their class.
    cdef double[N_POINTS] thresholds
    cdef double[N_POINTS] left
    cdef double[N_POINTS] gains
    cdef double low, high, total, gain, threshold, mean, reach
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
            if not row[WEIGHT * n_features + f] > 0.0:
                continue
            mean = row[MEAN * n_features + f]
            reach = MAX_REACH * sqrt(row[M2 * n_features + f] / row[WEIGHT * n_features + f])
            low = min(low, max(row[LOW * n_features + f], mean - reach))
            high = max(high, min(row[HIGH * n_features + f], mean + reach))
        if not low < high:
            continue
        for t in range(N_POINTS):
            thresholds[t] = low + (high - low) * ((t + 1.0) / (N_POINTS + 1.0))
        gains_of_feature(
            stats, row_length, rows, n_rows, n_features, f, thresholds, total,
            left, gains,
        )
        gain = -INFINITY
        threshold = 0.0
        for t in range(N_POINTS):
            if min(left[t], 1.0 - left[t]) > MIN_BRANCH_FRACTION and gains[t] > gain + ROUNDING:
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

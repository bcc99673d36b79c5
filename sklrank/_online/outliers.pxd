"""Bounds of what a single value adds to running means, variances and ranges."""

from libc.math cimport sqrt

cdef enum:
    # Standard deviations from the mean beyond which a value counts as one at this distance. After n
    # values it adds at most 900 / n times the variance. All features but rare ones, of which less
    # than one in 900 values differs from the others, have smaller deviations.
    MAX_DEVIATIONS = 30
    # Values after which they are bounded. The variance of fewer ones can be small by chance.
    UNBOUNDED_VALUES = 30


cdef inline bint is_outlier(double deviation, double m2, double n) noexcept nogil:
    # Return whether a value, given its deviation from the mean of n values, is to be bounded. `m2`
    # is the sum of their squared deviations. No value is if all values so far are equal.
    return (
        n >= UNBOUNDED_VALUES and m2 > 0.0
        and deviation * deviation * n > MAX_DEVIATIONS * MAX_DEVIATIONS * m2
    )


cdef inline double bounded_deviation(double deviation, double m2, double n) noexcept nogil:
    # Return the deviation of a value from the mean of n values, bounded if it is an outlier.
    if not is_outlier(deviation, m2, n):
        return deviation
    return (MAX_DEVIATIONS if deviation > 0.0 else -MAX_DEVIATIONS) * sqrt(m2 / n)

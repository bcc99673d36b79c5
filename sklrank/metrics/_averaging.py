"""Values of a metric for each sample or query, and their weighted means."""

import numpy as np
from sklearn.utils import gen_batches

from sklrank._checks import check_weights

# Number of entries of a temporary array. It is small enough for the cache, and large enough that
# NumPy's overhead is negligible.
_BLOCK = 2**16


def samples_per_block(n_labels):
    """Return the number of samples to process at a time, which limits the memory."""
    return max(1, _BLOCK // n_labels)


def evaluate_samples(values_of, shape, *, average, sample_weight):
    """Return `values_of(block)` of all samples, or their mean; `shape` is that of the scores."""
    n_samples, n_labels = shape
    weight = check_weight(sample_weight, n_samples, average)
    values = np.empty(n_samples)
    for block in gen_batches(n_samples, samples_per_block(n_labels)):
        values[block] = values_of(block)
    return weighted_mean(values, weight) if average else values


def weighted_mean(values, weights=None):
    """Return the weighted mean of an array of numbers, of which none is NaN.

    The values and the weights are scaled by powers of two, which is exact, so that sums neither
    overflow nor underflow. The mean is infinite only if a value is infinite.
    """
    values, exponent = _scale(values)
    weights = None if weights is None else _scale(weights)[0]
    return float(np.ldexp(np.average(values, weights=weights), exponent))


def _scale(numbers):
    """Return numbers whose largest absolute value is from 1/2 to 1, and the exponent of 2."""
    numbers = np.asarray(numbers, dtype=np.float64)
    _, exponent = np.frexp(np.max(np.abs(numbers)))
    return np.ldexp(numbers, -exponent), exponent


def check_weight(sample_weight, n_samples, average):
    """Return the validated weights of the samples in a mean, or None if there are no weights."""
    if sample_weight is None:
        return None
    if not average:
        raise ValueError(
            "sample_weight only affects the mean over samples, got it with average=False: multiply "
            "the result of average=False by the weights instead."
        )
    return check_weights(sample_weight, n_samples, positive=True)

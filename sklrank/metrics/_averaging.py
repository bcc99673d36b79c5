"""From a value for each sample or query to the result of a metric: the values, or their mean."""

import numpy as np
from sklearn.utils import gen_batches

from sklrank._validation import check_weights

# Numbers in a temporary array: small enough for the cache, large enough to hide NumPy's overhead.
_BLOCK = 2**16


def samples_per_block(n_labels):
    """Return how many samples to process at a time so that memory stays bounded."""
    return max(1, _BLOCK // n_labels)


def evaluate_samples(values_of, shape, *, average, sample_weight):
    """Compute the values of samples block by block, then average them.

    Parameters
    ----------
    values_of : callable
        Function of a slice of samples that returns an array with a value for each of them.
    shape : (int, int)
        Numbers of samples and of labels.
    average : bool
        Whether to return the mean, or the value of each sample.
    sample_weight : array-like of shape (n_samples,) or None
        Weights of the samples in the mean.

    Returns
    -------
    float or ndarray of float64, shape (n_samples,)
        The mean, or the values.

    Raises
    ------
    ValueError
        If the length of `sample_weight` is wrong, or if it is given with ``average=False``.
    """
    n_samples, n_labels = shape
    weight = check_weight(sample_weight, n_samples, average)
    values = np.empty(n_samples)
    for block in gen_batches(n_samples, samples_per_block(n_labels)):
        values[block] = values_of(block)
    return float(np.average(values, weights=weight)) if average else values


def mean_of_queries(values, weight):
    """Return the weighted mean of the values of queries; NaN values are left out."""
    kept = ~np.isnan(values)
    weight = kept.astype(np.float64) if weight is None else weight * kept
    if not weight.any():
        raise ValueError(
            "y_true has no relevant document in any query of positive weight, so that "
            "empty='drop' leaves nothing to average: pass empty='zero' or 'one' to count such "
            "queries."
        )
    return float(np.average(values[kept], weights=weight[kept]))


def check_weight(sample_weight, n_samples, average):
    """Check the weights of the samples in a mean; None stays None."""
    if sample_weight is None:
        return None
    if not average:
        raise ValueError(
            "sample_weight only affects the mean over samples, got it with average=False: multiply "
            "the result of average=False by the weights instead."
        )
    return check_weights(sample_weight, n_samples, positive=True)

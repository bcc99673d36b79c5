"""From values of rows to what a metric returns: each row's value, or their weighted mean."""

import numpy as np
from sklearn.utils import gen_batches

from sklrank._validation import check_weights

# Numbers in a temporary array: small enough for the cache, large enough to hide NumPy's overhead.
_BLOCK = 2**16


def rows_per_block(n_labels):
    """How many rows to take at a time so that memory stays bounded."""
    return max(1, _BLOCK // n_labels)


def evaluate_rows(values_of, shape, *, average, sample_weight):
    """Take the values of rows block by block, then average them.

    Parameters
    ----------
    values_of : callable
        From a slice of rows to their values, an array.
    shape : (int, int)
        Numbers of rows and of labels.
    average : bool
        Whether to return the mean, or each row's value.
    sample_weight : array-like of shape (n_samples,) or None
        Weights of the rows in the mean.

    Returns
    -------
    float or ndarray of float64, shape (n_samples,)
        The mean, or the values.

    Raises
    ------
    ValueError
        If `sample_weight` does not fit the rows, or comes without a mean to weigh.
    """
    n_samples, n_labels = shape
    weight = check_weight(sample_weight, n_samples, average)
    values = np.empty(n_samples)
    for rows in gen_batches(n_samples, rows_per_block(n_labels)):
        values[rows] = values_of(rows)
    return float(np.average(values, weights=weight)) if average else values


def check_weight(sample_weight, n_samples, average):
    """Check the weights of the rows in a mean, where there is one; None stays None."""
    if sample_weight is None:
        return None
    if not average:
        raise ValueError(
            "sample_weight only weighs the mean over rows, got it with average=False: multiply "
            "what average=False returns by the weights instead."
        )
    return check_weights(sample_weight, n_samples, positive=True)

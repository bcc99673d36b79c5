"""Between which values of a feature a split may fall."""

import numpy as np

__all__ = ["midpoints", "rises"]


def rises(ordered, max_bins: int | None):
    """Where sorted values rise: at each index the value is above the one before.

    Of more than `max_bins` different values, only as many rises as bins have bounds between them:
    the first one from each quantile on.
    """
    bounds = 1 + np.flatnonzero(ordered[1:] > ordered[:-1])
    if max_bins is not None and len(bounds) >= max_bins:
        quantiles = np.arange(1, max_bins) * len(ordered) / max_bins
        following = np.minimum(np.searchsorted(bounds, quantiles), len(bounds) - 1)
        bounds = bounds[np.unique(following)]
    return bounds


def midpoints(low, high):
    """Thresholds: below `high`, and not below `low`, even between neighbouring floats."""
    low, high = np.asarray(low), np.asarray(high)
    middle = low / 2 + high / 2
    return np.where((low < middle) & (middle < high), middle, low)

"""Candidate thresholds of features: between all values, or between quantiles of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["BinnedFeatures", "Candidates", "find_candidates", "find_thresholds", "midpoints"]


class BinnedFeatures:
    """Features whose values are replaced by bin codes, for :func:`best_threshold`.

    The code of a value is the number of thresholds below it.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    max_bins : int
        Maximum number of bins of a feature, up to 256.
    """

    def __init__(self, X, max_bins):
        self.thresholds = [find_thresholds(values, max_bins) for values in X.T]
        n_bins = [1 + len(thresholds) for thresholds in self.thresholds]
        self.first_bin = np.concatenate([[0], np.cumsum(n_bins)]).astype(np.intp)
        self.codes = np.empty(X.shape, dtype=np.uint8)
        for feature, thresholds in enumerate(self.thresholds):
            self.codes[:, feature] = np.searchsorted(thresholds, X[:, feature])
        # Memory for the histograms of the search, allocated once for all boosting rounds.
        self.histograms = np.empty((self.first_bin[-1], 2))


def find_thresholds(values, max_bins: int):
    """Return the thresholds of a feature, fewer than `max_bins` of them."""
    ordered = np.sort(values)
    bounds = _bin_bounds(ordered, max_bins)
    return midpoints(ordered[bounds - 1], ordered[bounds])


class Candidates(NamedTuple):
    """Candidate splits, ordered by feature and threshold, for :func:`split_gains`.

    As the threshold of a feature rises from one candidate to the next, some samples pass to its
    other side.
    """

    features: np.ndarray
    thresholds: np.ndarray
    first: np.ndarray
    """The candidates of feature j are `first[j]` to `first[j + 1]`."""
    starts: np.ndarray
    stops: np.ndarray
    samples: np.ndarray
    """The samples that pass with candidate s are `samples[starts[s]:stops[s]]`."""


def find_candidates(X, max_bins: int | None) -> Candidates:
    """Return the thresholds of all features, with the samples that pass at each of them."""
    thresholds, sizes, samples = zip(*(_candidates_of(values, max_bins) for values in X.T))
    counts = [len(size) for size in sizes]
    stops = np.cumsum(np.concatenate(sizes), dtype=np.intp)
    return Candidates(
        features=np.repeat(np.arange(len(counts)), counts),
        thresholds=np.concatenate(thresholds),
        first=np.cumsum([0, *counts], dtype=np.intp),
        starts=np.concatenate([[0], stops])[: len(stops)].astype(np.intp),
        stops=stops,
        samples=np.concatenate(samples).astype(np.intc),
    )


def _candidates_of(values, max_bins):
    """Return a feature's thresholds, the number of samples that pass at each, and the samples."""
    low, high = values.min(), values.max()
    if low == high:
        return np.empty(0), np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    is_high = values == high
    if np.count_nonzero(is_high) + np.count_nonzero(values == low) == len(values):
        # Gains are symmetric in the two sides: the smaller side is cheaper to sum up.
        passing = np.flatnonzero(is_high if 2 * is_high.sum() <= len(values) else ~is_high)
        return midpoints([low], [high]), np.array([len(passing)]), passing
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    bounds = _bin_bounds(ordered, max_bins)
    thresholds = midpoints(ordered[bounds - 1], ordered[bounds])
    return thresholds, np.diff(bounds, prepend=0), order[: bounds[-1]]


def _bin_bounds(ordered, max_bins):
    """Return the indices of sorted values at which a new bin starts.

    Every distinct value has a bin of its own, unless there are more than `max_bins` of them: then
    the bins start at the first new value at or after each quantile.
    """
    bounds = 1 + np.flatnonzero(ordered[1:] > ordered[:-1])
    if max_bins is not None and len(bounds) >= max_bins:
        quantiles = np.arange(1, max_bins) * len(ordered) / max_bins
        following = np.minimum(np.searchsorted(bounds, quantiles), len(bounds) - 1)
        bounds = bounds[np.unique(following)]
    return bounds


def midpoints(low, high):
    """Return thresholds t with `low` <= t < `high`, even between neighbouring floats."""
    low, high = np.asarray(low), np.asarray(high)
    middle = low / 2 + high / 2
    return np.where((low < middle) & (middle < high), middle, low)

"""Candidate thresholds of features, between all distinct values or between their quantiles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["BinnedFeatures", "Candidates", "find_candidates", "find_thresholds", "midpoints"]


class BinnedFeatures:
    """Samples whose feature values are replaced by bin codes, as :func:`best_threshold` needs them.

    The code of a value is the number of thresholds that are smaller than the value.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    max_bins : int
        Maximum number of bins of each feature, at most 256.
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
    """Return the candidate thresholds of a feature: fewer than `max_bins`, in ascending order."""
    ordered = np.sort(values)
    bounds = _bin_bounds(ordered, max_bins)
    return midpoints(ordered[bounds - 1], ordered[bounds])


class Candidates(NamedTuple):
    """Candidate splits, ordered by feature and threshold, as :func:`split_gains` needs them.

    If the threshold of a feature increases from one candidate to the next, some samples pass to the
    other side of the split.
    """

    features: np.ndarray
    thresholds: np.ndarray
    first: np.ndarray
    """The candidates of feature j are `first[j]` to `first[j + 1]`."""
    starts: np.ndarray
    stops: np.ndarray
    samples: np.ndarray
    """The samples that pass to the other side at candidate s are `samples[starts[s]:stops[s]]`."""


def find_candidates(X, max_bins: int | None) -> Candidates:
    """Return the candidate splits of all features, each with the samples that pass at it."""
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
    """Return the candidate splits of one feature.

    The result consists of the thresholds, the number of samples that pass to the other side at each
    of them, and the indices of these samples in the order of the thresholds.
    """
    low, high = values.min(), values.max()
    if low == high:
        return np.empty(0), np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    is_high = values == high
    if np.count_nonzero(is_high) + np.count_nonzero(values == low) == len(values):
        # Since gains are symmetric in the two sides, only the samples of the smaller side are
        # listed, which makes the sums over them faster.
        passing = np.flatnonzero(is_high if 2 * is_high.sum() <= len(values) else ~is_high)
        return midpoints([low], [high]), np.array([len(passing)]), passing
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    bounds = _bin_bounds(ordered, max_bins)
    thresholds = midpoints(ordered[bounds - 1], ordered[bounds])
    return thresholds, np.diff(bounds, prepend=0), order[: bounds[-1]]


def _bin_bounds(ordered, max_bins):
    """Return the indices of sorted values at which a new bin starts.

    Each distinct value has its own bin if there are at most `max_bins` distinct values. Otherwise
    the bins start at the first new value at or after each quantile.
    """
    bounds = 1 + np.flatnonzero(ordered[1:] > ordered[:-1])
    if max_bins is not None and len(bounds) >= max_bins:
        quantiles = np.arange(1, max_bins) * len(ordered) / max_bins
        following = np.minimum(np.searchsorted(bounds, quantiles), len(bounds) - 1)
        bounds = bounds[np.unique(following)]
    return bounds


def midpoints(low, high):
    """Return the thresholds halfway between `low` and `high`.

    Each threshold t satisfies `low` <= t < `high`, even if `low` and `high` are adjacent floats.
    """
    low, high = np.asarray(low), np.asarray(high)
    middle = low / 2 + high / 2
    return np.where((low < middle) & (middle < high), middle, low)

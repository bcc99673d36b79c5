"""Candidate thresholds of features, between all distinct values or between their quantiles."""

from __future__ import annotations

import warnings
from copy import copy
from typing import NamedTuple

import numpy as np

from sklrank._checks import check_exact
from sklrank.tree._histogram.bin_codes import BLOCK_WIDTH, encode

# Thresholds are quantiles of at most this number of values.
MAX_VALUES = 200_000
# Trees need not distinguish the rarest categories, of at most this share of the samples.
MAX_RARE = 0.01


class FeatureBlocks:
    """Samples whose feature values are replaced by bin codes, as :class:`Grower` needs them.

    The code of a value is the number of thresholds that are smaller. The code of a category is its
    index among the sorted `max_bins` most frequent ones; others are missing. Missing values have a
    code of their own, which follows the others. `random_state` draws the samples whose quantiles
    are the thresholds, if there are very many.
    """

    def __init__(self, X, max_bins, is_categorical, random_state):
        drawn = draw_samples(len(X), random_state)
        columns = (
            distinct_values(values) if categorical else values[drawn]
            for values, categorical in zip(X.T, is_categorical)
        )
        self._find_bins(columns, max_bins, is_categorical)
        self.codes, self.has_missing = self._encode(X)

    @classmethod
    def of_columns(cls, columns, max_bins, is_categorical, has_missing):
        """Return bins without samples from drawn values, and distinct values of categories."""
        bins = cls.__new__(cls)
        bins._find_bins(columns, max_bins, is_categorical)
        bins.has_missing = has_missing.astype(np.uint8)
        return bins.with_codes(np.empty((-(-len(is_categorical) // BLOCK_WIDTH), 0, BLOCK_WIDTH)))

    def _find_bins(self, columns, max_bins, is_categorical):
        n_features = len(is_categorical)
        self.is_categorical = is_categorical.astype(np.uint8)
        self.thresholds, self.categories = [np.empty(0)] * n_features, [None] * n_features
        for feature, values in enumerate(columns):
            if is_categorical[feature]:
                check_exact(values[0], f"the categorical feature {feature}")
                self.categories[feature] = most_frequent(*values, max_bins, feature)
            else:
                ordered = values.astype(np.float64)
                ordered = np.sort(ordered[~np.isnan(ordered)])
                bounds = _bin_bounds(ordered, max_bins)
                self.thresholds[feature] = midpoints(ordered[bounds - 1], ordered[bounds])
        self.n_bins = np.array(
            [
                1 + len(thresholds) if categories is None else max(1, len(categories))
                for thresholds, categories in zip(self.thresholds, self.categories)
            ],
            dtype=np.intc,
        )

    def _encode(self, X):
        """Return the codes of samples, and for each feature whether a value is missing."""
        n_samples, n_features = X.shape
        n_blocks = -(-n_features // BLOCK_WIDTH)
        codes = np.zeros((n_blocks, n_samples, BLOCK_WIDTH), dtype=np.uint8)
        has_missing = np.empty(n_features, dtype=np.uint8)
        for feature, values in enumerate(X.T):
            thresholds, n_bins = self.thresholds[feature], self.n_bins[feature]
            if self.is_categorical[feature]:
                values = codes_of_categories(values, self.categories[feature])
                thresholds = np.arange(n_bins - 1) + 0.5
            block, position = divmod(feature, BLOCK_WIDTH)
            has_missing[feature] = encode(values, thresholds, n_bins, codes[block], position)
        return codes, has_missing

    def encode(self, X):
        """Return the same bins with the codes of other samples."""
        return self.with_codes(self._encode(X)[0])

    def with_codes(self, codes):
        """Return the same bins with these codes."""
        encoded = copy(self)
        encoded.codes = np.asarray(codes, dtype=np.uint8)
        return encoded

    def thresholds_of_codes(self):
        """Return the largest value with a code up to each code, of all features in succession."""
        sizes = self.n_bins.astype(np.intp) + self.has_missing
        bounds = np.full(sizes.sum(), np.inf)
        for start, thresholds in zip(np.cumsum(sizes) - sizes, self.thresholds):
            # A split after the last code sends all values but the missing ones to the left.
            bounds[start : start + len(thresholds)] = thresholds
        return bounds


def draw_samples(n_samples, random_state):
    """Return the indices of the samples whose quantiles are the thresholds, or a slice for all."""
    if n_samples <= MAX_VALUES:
        return slice(0, n_samples)
    return np.sort(random_state.choice(n_samples, MAX_VALUES, replace=False))


def distinct_values(values):
    """Return the distinct values, without NaN, in ascending order, and their counts."""
    return np.unique(values[~np.isnan(values)], return_counts=True)


def most_frequent(categories, counts, max_bins: int, feature: int):
    """Return the `max_bins` most frequent categories in ascending order; warn if many are rarer."""
    order = np.argsort(-counts, kind="stable")
    share = counts[order[max_bins:]].sum() / max(counts.sum(), 1)
    if share > MAX_RARE:
        warnings.warn(
            f"the categorical feature {feature} of X has {len(categories)} categories, more than "
            f"max_bins={max_bins}: those of {share:.0%} of the samples count as missing. Encode "
            "the feature by sklearn.preprocessing.TargetEncoder, or group its categories",
            stacklevel=2,
        )
    return np.sort(categories[order[:max_bins]])


def codes_of_categories(values, categories):
    """Return the index of each value among the sorted categories, NaN if it is not among them."""
    if not len(categories):
        return np.full(len(values), np.nan)
    codes = np.minimum(np.searchsorted(categories, values), len(categories) - 1)
    return np.where(categories[codes] == values, codes.astype(np.float64), np.nan)


class Candidates(NamedTuple):
    """Candidate splits, ordered by feature and threshold, as :func:`split_gains` needs them.

    From one candidate of a feature to the next, some samples pass to the other side of the split.
    """

    features: np.ndarray
    thresholds: np.ndarray
    first: np.ndarray
    """The candidates of feature j are `first[j]` to `first[j + 1]`."""
    starts: np.ndarray
    stops: np.ndarray
    samples: np.ndarray
    """The samples that pass to the other side at candidate s are `samples[starts[s]:stops[s]]`."""


def find_candidates(X, max_bins: int = 255) -> Candidates:
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
    """Return the thresholds of one feature, and the number of samples that pass at each of them.

    Return also the indices of these samples, in the order of the thresholds.
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

    Each distinct value has its own bin, if there are at most `max_bins`; otherwise, bins start at
    the first new value at or after each quantile.
    """
    bounds = 1 + np.flatnonzero(ordered[1:] > ordered[:-1])
    if len(bounds) >= max_bins:
        quantiles = np.arange(1, max_bins) * len(ordered) / max_bins
        following = np.minimum(np.searchsorted(bounds, quantiles), len(bounds) - 1)
        bounds = bounds[np.unique(following)]
    return bounds


def midpoints(low, high):
    """Return thresholds halfway between `low` and `high`, at least `low` and below `high`."""
    low, high = np.asarray(low), np.asarray(high)
    middle = low / 2 + high / 2
    return np.where((low < middle) & (middle < high), middle, low)

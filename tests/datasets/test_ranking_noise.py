"""Random rankings have the right distribution."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, kstest, truncnorm

from sklrank.datasets import sample_mallows, sample_plackett_luce
from sklrank.datasets._ranking_noise import truncated_normal

N_DRAWS = 50_000


def all_positions(n_labels):
    return [positions for positions in permutations(range(1, n_labels + 1))]


def distance(first, second):
    """Count the label pairs in different order, pair by pair."""
    pairs = [(i, j) for i in range(len(first)) for j in range(i)]
    return sum((first[i] < first[j]) != (second[i] < second[j]) for i, j in pairs)


def mallows_law(center, theta):
    weights = [np.exp(-theta * distance(p, center)) for p in all_positions(len(center))]
    return np.array(weights) / sum(weights), sum(weights)


def plackett_luce_law(scores):
    def probability(positions):
        left = list(np.argsort(positions))
        result = 1.0
        while left:
            result *= np.exp(scores[left[0]]) / np.exp(scores[left]).sum()
            left.pop(0)
        return result

    return np.array([probability(p) for p in all_positions(len(scores))])


def assert_follows(drawn, law):
    """Pearson's test, at a level that a correct sampler with a fixed seed passes almost surely."""
    n_labels = drawn.shape[1]
    index = {positions: i for i, positions in enumerate(all_positions(n_labels))}
    rows, counts = np.unique(drawn, axis=0, return_counts=True)
    observed = np.zeros(len(law))
    observed[[index[tuple(row)] for row in rows.astype(int).tolist()]] = counts
    expected = law * len(drawn)
    common = expected >= 5
    observed = [*observed[common], observed[~common].sum()]
    expected = [*expected[common], max(expected[~common].sum(), 1e-9)]
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected) if e > 1e-6)
    assert statistic < chi2.ppf(0.999, max(common.sum() - 1, 1))


@pytest.mark.parametrize("center", [[1, 2], [4, 1, 3, 2], [3, 5, 1, 2, 4]])
@pytest.mark.parametrize("theta", [0.0, 1e-9, 1.0, 2.5])
def test_mallows(center, theta):
    drawn = sample_mallows(np.tile(center, (N_DRAWS, 1)), theta, random_state=1)
    law, normalizer = mallows_law(center, theta)
    assert_follows(drawn, law)
    phi = np.exp(-theta)
    product = np.prod([sum(phi**v for v in range(i)) for i in range(1, len(center) + 1)])
    assert_allclose(normalizer, product)


def test_mallows_with_extreme_theta():
    centers = np.array([[3, 1, 2], [1, 2, 3]] * 100)
    for theta in (800.0, 1e300, np.inf):
        assert_array_equal(sample_mallows(centers, theta, random_state=0), centers)
    assert not np.array_equal(sample_mallows(centers, 0, random_state=0), centers)


def test_mallows_uses_the_center_of_each_sample():
    """Centers may be any numbers, and rankings may be too long for enumeration."""
    rng = np.random.default_rng(0)
    centers = np.argsort(rng.random((3000, 40)), axis=1) + 1.0
    drawn = sample_mallows(centers, 1.0, random_state=0)
    assert_array_equal(np.sort(drawn, axis=1), np.tile(np.arange(1, 41), (3000, 1)))
    phi = np.exp(-1.0)
    i = np.arange(1, 41)
    expected = (phi / (1 - phi) - i * phi**i / (1 - phi**i)).sum()
    distances = [distance(p, c) for p, c in zip(drawn[:300], centers[:300])]
    assert np.mean(distances) == pytest.approx(expected, rel=0.05)
    assert_array_equal(sample_mallows(centers**3 - 7, 1.0, random_state=0), drawn)


@pytest.mark.parametrize("scores", [[0.0, 1.0], [1.0, 0.0, -2.0], [0.3, 2.0, 0.0, 0.3]])
def test_plackett_luce(scores):
    scores = np.array(scores)
    drawn = sample_plackett_luce(np.tile(scores, (N_DRAWS, 1)), random_state=0)
    assert_follows(drawn, plackett_luce_law(scores))


@pytest.mark.parametrize("scale", [0.01, 0.1, 0.3, 5.0])
def test_truncated_normal(scale):
    drawn = truncated_normal(np.random.RandomState(0), scale, 0.25, (20_000,))
    assert np.abs(drawn).max() <= 0.25
    law = truncnorm(-0.25 / scale, 0.25 / scale, scale=scale)
    assert kstest(drawn, law.cdf).pvalue > 0.001


def test_truncated_normal_of_extreme_scales():
    rng = np.random.RandomState(0)
    assert_array_equal(truncated_normal(rng, 0, 0.25, (3, 2)), np.zeros((3, 2)))
    assert np.abs(truncated_normal(rng, 1e-300, 0.25, (9,))).max() < 1e-290
    assert 0.1 < truncated_normal(rng, 1e9, 0.25, (1000,)).std() < 0.2


@pytest.mark.parametrize(
    "centers, theta, problem",
    [
        ([[1, 2]], -0.1, "theta"),
        ([[1, 2]], np.nan, "theta must be a number, got nan"),
        ([[1, 2], [1, 1]], 1.0, "centers must rank every label, without ties; row 1"),
        ([[1, np.nan]], 1.0, "centers must rank every label"),
        ([[np.nan]], 1.0, "centers must rank every label"),
        ([1, 2], 1.0, "centers must hold positions of shape"),
    ],
)
def test_wrong_parameters_of_mallows(centers, theta, problem):
    with pytest.raises(ValueError, match=problem):
        sample_mallows(centers, theta)


@pytest.mark.parametrize("scores, problem", [([1, 2], "scores must"), ([[1, np.nan]], "scores")])
def test_wrong_scores(scores, problem):
    with pytest.raises(ValueError, match=problem):
        sample_plackett_luce(scores)

"""Exploration schemes against an enumeration of all outcomes, and against many draws."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.feedback import (
    LIST_RANDOMIZATIONS,
    RANDOMIZATIONS,
    SoftmaxRandomization,
    ThompsonRandomization,
    make_sampler,
)

SCHEMES = list(RANDOMIZATIONS.values())
# Those that draw several labels, and those that sometimes show the greedy top k on purpose.
LIST_SCHEMES = [make for name, make in RANDOMIZATIONS.items() if name in LIST_RANDOMIZATIONS]
GREEDY_SCHEMES = [make for make in SCHEMES if make(1e-4).propensities([[0, 0]], 1)[0, 0, 0] > 0.9]
SIZES = [(2, 1), (2, 2), (3, 1), (3, 2), (4, 2), (4, 4), (5, 2), (5, 3), (6, 3), (6, 5)]
CASES = [(make, m, k) for make in SCHEMES for m, k in SIZES if k == 1 or make in LIST_SCHEMES]


@pytest.mark.parametrize("make, m, k", CASES)
@pytest.mark.parametrize("rho", [0.05, 0.3, 1.0])
def test_propensities_are_exact(make, m, k, rho, law):
    """They are sums over all outcomes that show both labels."""
    scheme = make(rho)
    scores = np.random.RandomState(m).permutation(m).astype(float)
    expected = np.zeros((m, m))
    for shown, probability in law(scheme, scores, k).items():
        expected[np.ix_(shown, shown)] += probability
    found = scheme.propensities(scores[None], k)[0]
    assert_allclose(found, expected, atol=1e-12)
    # The record has the propensities of the labels shown.
    record = scheme.explore(np.tile(scores, (50, 1)), k, random_state=0)
    for actions, propensities in zip(record.actions, record.propensities):
        assert_array_equal(propensities, found[np.ix_(actions, actions)])
    # Each pair has a positive propensity, so that estimates are unbiased.
    assert k == 1 or found.min() > 0


@pytest.mark.parametrize("rho", [1e-4, 1e-3, 0.05])
@pytest.mark.parametrize("spread", [1, 30])
def test_softmax_with_a_small_share_of_the_uniform_distribution(rho, spread, law):
    """The strengths of labels differ by many powers of ten."""
    scheme, scores = SoftmaxRandomization(rho), spread * np.array([0.0, 3.0, 1.0, -2.0, 1.5])
    for k in (1, 2, 3, 4):
        expected = np.zeros((5, 5))
        for shown, probability in law(scheme, scores, k).items():
            expected[np.ix_(shown, shown)] += probability
        found = scheme.propensities(scores[None], k)[0]
        assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
        if k > 1:
            assert found.min() >= k * (k - 1) * (rho / 5) ** 2
    least = SoftmaxRandomization(1e-4).propensities(scores[None], 2)
    assert_array_equal(SoftmaxRandomization(1e-9).propensities(scores[None], 2), least)


@pytest.mark.parametrize("make, m, k", CASES)
def test_available_labels(make, m, k, law):
    """The labels that are not available have no effect, as if they did not exist."""
    random, scheme = np.random.RandomState(m), make(0.3)
    scores = random.normal(size=(20, m))
    available = np.arange(m) < random.randint(k, m + 1, size=(20, 1))
    available = np.array([random.permutation(row) for row in available])
    shown = scheme.explore(scores, k, random_state=1, available=available)
    uniforms = np.random.RandomState(1)
    for of_sample, mask, actions, of_shown in zip(
        scores, available, shown.actions, shown.propensities
    ):
        labels = np.flatnonzero(mask)
        alone = scheme.explore([of_sample[mask]], k, random_state=uniforms)
        assert_array_equal(labels[alone.actions[0]], actions)
        assert_array_equal(alone.propensities[0], of_shown)
        expected = np.zeros((m, m))
        for outcome, probability in law(scheme, of_sample[mask], k).items():
            expected[np.ix_(labels[list(outcome)], labels[list(outcome)])] += probability
        found = scheme.propensities([of_sample], k, available=mask)[0]
        assert_allclose(found, expected, atol=1e-12)
        assert not found[~mask].any() and not found[:, ~mask].any()
    for bad, message in (
        (np.arange(m) < k - 1, "at least"),
        (np.ones((3, m), bool), "shape"),
        (["no label"], "not in classes_"),
    ):
        with pytest.raises(ValueError, match=message):
            scheme.explore(scores, k, available=bad)


def test_thompson_sampling():
    """The share of cells is close to the share of draws, for errors of very different sizes."""
    random, n = np.random.RandomState(0), 200_000
    for spread, tolerance in ((0.1, 0.005), (0.5, 0.01), (1.0, 0.02)):
        scores, errors = random.normal(size=8), np.exp(spread * random.normal(size=8))
        sampler = make_sampler("thompson", 8, 1, 1.0)
        found = sampler.propensities(scores[None], None, errors[None], pairs=False)[0, :, 0]
        draws = (scores + errors * random.normal(size=(n, 8))).argmax(axis=1)
        assert_allclose(found, np.bincount(draws, minlength=8) / n, atol=tolerance)
        assert found.min() >= 1e-4 / 8
        assert_allclose(found.sum(), 1)
    with pytest.raises(ValueError, match="draws a single label"):
        ThompsonRandomization().explore([[1.0, 2.0]], 2)


@pytest.mark.slow
@pytest.mark.parametrize("make", LIST_SCHEMES)
@pytest.mark.parametrize("m, k", [(3, 2), (4, 2), (4, 3), (4, 4)])
def test_draws_have_the_law(make, m, k, law):
    """Frequencies of the tuples shown are within five standard deviations."""
    scheme, n = make(0.6), 200_000
    scores = np.random.RandomState(m).permutation(m).astype(float)
    shown = scheme.explore(np.tile(scores, (n, 1)), k, random_state=1).actions
    found = defaultdict(int)
    for outcome, count in zip(*np.unique(shown, axis=0, return_counts=True)):
        found[tuple(outcome)] = count
    expected = law(scheme, scores, k)
    assert set(found) == {outcome for outcome, p in expected.items() if p > 0}
    for outcome, p in expected.items():
        assert abs(found[outcome] - n * p) < 5 * np.sqrt(n * p * (1 - p)) + 1


@given(st.data())
def test_draws_are_rankings(data):
    """k distinct labels; nearly without exploration the best ones, the smaller label for ties."""
    m = data.draw(st.integers(1, 8))
    k = data.draw(st.integers(1, m))
    scores = data.draw(st.lists(st.integers(-2, 2), min_size=m, max_size=m))
    make = data.draw(st.sampled_from(SCHEMES if k == 1 else LIST_SCHEMES))
    shown = make(1.0).explore([scores] * 20, k, random_state=data.draw(st.integers(0, 99))).actions
    assert shown.shape == (20, k)
    assert shown.min() >= 0 and shown.max() < m
    assert all(len(set(row)) == k for row in shown)
    if make not in GREEDY_SCHEMES:
        return
    greedy = make(1e-12).explore([scores], k, random_state=0).actions[0]
    assert list(greedy) == sorted(range(m), key=lambda label: (-scores[label], label))[:k]


@pytest.mark.parametrize("make", LIST_SCHEMES)
def test_draws_do_not_depend_on_the_chunks(make):
    """One RandomState gives the same draws for each sample alone and for all at once."""
    scores = np.random.RandomState(0).normal(size=(40, 5))
    at_once = make(0.5).explore(scores, 3, random_state=7)
    random_state = np.random.RandomState(7)
    for i in range(len(scores)):
        row = make(0.5).explore(scores[i : i + 1], 3, random_state=random_state)
        assert_array_equal(row.actions[0], at_once.actions[i])
        assert_array_equal(row.propensities[0], at_once.propensities[i])


@pytest.mark.parametrize("make", SCHEMES)
@pytest.mark.parametrize("rho", [0, -0.1, 1.1, float("nan"), "much", True, None])
def test_exploration_outside_its_range(make, rho):
    with pytest.raises(ValueError, match=r"exploration must be a number in \(0, 1\]"):
        make(rho)


@pytest.mark.parametrize("make", SCHEMES)
def test_bad_scores_and_k(make):
    scheme = make(0.2)
    for k in (0, 4, 1.5, True):
        with pytest.raises(ValueError, match="k must be an integer from 1 to"):
            scheme.explore([[1.0, 2.0, 3.0]], k)
        with pytest.raises(ValueError, match="k must be an integer from 1 to"):
            scheme.propensities([[1.0, 2.0, 3.0]], k)
    for scores in ([1.0, 2.0], [[np.nan, 1.0]], [[]], np.empty((0, 3))):
        with pytest.raises(ValueError):
            scheme.explore(scores, 1)
    assert repr(scheme) == f"{make.__name__}(exploration=0.2)"

"""Exploration schemes against an enumeration of all outcomes, and against many draws."""

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from sklrank.feedback import explore
from sklrank.feedback._protocol import LIST_RANDOMIZATIONS, RANDOMIZATIONS, make_sampler
from sklrank.linear_model import BanditronClassifier, LinUCBClassifier, SemiBanditRanker
from sklrank.online_boosting import TopKAdaptive, TopKBBM

# Those that draw several labels, and those that sometimes show the greedy top k on purpose.
LIST_SCHEMES = [scheme for scheme in RANDOMIZATIONS if scheme in LIST_RANDOMIZATIONS]
GREEDY_SCHEMES = [s for s in RANDOMIZATIONS if explore([[0, 0]], 1, s, 1e-4, 0).propensities > 0.9]
SIZES = [(2, 1), (2, 2), (3, 1), (3, 2), (4, 2), (4, 4), (5, 2), (5, 3), (6, 3), (6, 5)]


def powers(scores, exploration):
    """A scheme of the user: strengths of which one may be 0."""
    return (scores - scores.min()) ** (1 + exploration) + (np.ptp(scores) == 0)


CASES = [(s, m, k) for s in RANDOMIZATIONS for m, k in SIZES if k == 1 or s in LIST_SCHEMES]
CASES += [(powers, m, k) for m, k in SIZES]


def propensities_of(outcomes, m):
    """Return the probabilities that two labels are both shown: sums over all outcomes."""
    both = np.zeros((m, m))
    for shown, probability in outcomes.items():
        both[np.ix_(shown, shown)] += probability
    return both


@pytest.mark.parametrize("scheme, m, k", CASES)
@pytest.mark.parametrize("rho", [0.3, 1.0])
def test_propensities_are_exact(scheme, m, k, rho, law):
    scores = np.random.RandomState(m).permutation(m).astype(float)
    found = make_sampler(scheme, m, k, rho).propensities(scores[None])[0]
    assert_allclose(found, propensities_of(law(scheme, scores, k, rho), m), atol=1e-12)
    # The record has the propensities of the labels shown.
    record = explore(np.tile(scores, (50, 1)), k, scheme, rho, random_state=0)
    for actions, propensities in zip(record.actions, record.propensities):
        assert_array_equal(propensities, found[np.ix_(actions, actions)])
    # Each pair has a positive propensity, so that estimates are unbiased.
    assert k == 1 or found.min() > 0


# The least propensities of two labels in the notes of `explore`; those of others are not negative.
BOUNDS = {
    "uniform": lambda rho, k, m: rho * k * (k - 1) / (m * (m - 1)),
    "single-swap": lambda rho, k, m: rho / m**2,
    "plackett-luce": lambda rho, k, m: rho * k * (k - 1) / (2 * m) ** 2,
    "inverse-gap": lambda rho, k, m: k * (k - 1) * (1e-4 / m) ** 2,
}


@pytest.mark.parametrize("scheme", LIST_SCHEMES)
@pytest.mark.parametrize("rho", [1e-4, 0.05, 1.0])
@pytest.mark.parametrize("spread", [1, 30, 1e6])
def test_least_propensities(scheme, rho, spread, law):
    """They are bounded and accurate if the strengths of labels differ by many powers of ten."""
    scores = spread * np.array([0.0, 3.0, 1.0, -2.0, 1.5])
    for k in (2, 3, 4):
        found = make_sampler(scheme, 5, k, rho).propensities(scores[None])[0]
        expected = propensities_of(law(scheme, scores, k, rho), 5)
        assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
        bound = BOUNDS[scheme](rho, k, 5) if scheme in BOUNDS else 0.0
        assert found.min() >= bound * (1 - 1e-12)


def largest_error(outcomes, m):
    """Return the largest error of the estimate of a loss with pairs from 0 to 1 (Lemma 5).

    Of all lists shown and relevant sets: the estimate is too large by 1 / p - 1 for each pair that
    is shown, if the others have no loss, or too small by the number of the pairs not shown.
    """
    p, errors = propensities_of(outcomes, m), [0.0]
    for relevant in product([True, False], repeat=m):
        pairs = np.logical_and.outer(relevant, np.logical_not(relevant))
        for actions, probability in outcomes.items():
            shown = np.zeros((m, m), dtype=bool)
            shown[np.ix_(actions, actions)] = probability > 0
            errors += [(1 / p[pairs & shown] - 1).sum(), (pairs & ~shown).sum()]
    return max(errors)


@pytest.mark.parametrize("rho", [0.05, 0.2])
def test_largest_errors_of_estimates(rho, law):
    """Lemmas 6 and 10 of Raman et al.: 2 m^2 / rho and, for single swaps, (2 m^2 - k^2) / rho."""
    scores = np.arange(5.0)[::-1]
    errors = {
        scheme: largest_error(law(scheme, scores, 3, rho), 5)
        for scheme in ("uniform", "single-swap", "plackett-luce", "inverse-gap")
    }
    assert errors["uniform"] <= 2 * 5**2 / rho
    assert errors["single-swap"] <= (2 * 5**2 - 3**2) / rho
    # Only the bound of single swaps is smaller, not the error.
    order = ["uniform", "single-swap", "plackett-luce", "inverse-gap"]
    assert sorted(errors, key=errors.get) == order


def test_least_exploration_of_inverse_gaps():
    scores = np.array([[0.0, 3.0, 1.0, -2.0, 1.5]])
    least, less = (make_sampler("inverse-gap", 5, 2, rho) for rho in (1e-4, 1e-9))
    assert_array_equal(less.propensities(scores), least.propensities(scores))


@pytest.mark.parametrize("scheme, m, k", CASES)
def test_available_labels(scheme, m, k, law):
    """The labels that are not available have no effect, as if they did not exist."""
    random = np.random.RandomState(m)
    scores = random.normal(size=(10, m))
    available = np.arange(m) < random.randint(k, m + 1, size=(10, 1))
    available = np.array([random.permutation(row) for row in available])
    shown = explore(scores, k, scheme, 0.3, random_state=1, available=available)
    found = make_sampler(scheme, m, k, 0.3).propensities(scores, available.astype(np.int8))
    uniforms = np.random.RandomState(1)
    for i, mask in enumerate(available):
        labels, of_sample = np.flatnonzero(mask), scores[i, mask]
        alone = explore([of_sample], k, scheme, 0.3, random_state=uniforms)
        assert_array_equal(labels[alone.actions[0]], shown.actions[i])
        assert_array_equal(alone.propensities[0], shown.propensities[i])
        expected = propensities_of(law(scheme, of_sample, k, 0.3), len(labels))
        assert_allclose(found[i][np.ix_(labels, labels)], expected, atol=1e-12)
        assert not found[i, ~mask].any() and not found[i][:, ~mask].any()


class Interrupt:
    """A function that is interrupted in each third call."""

    n_calls = 0

    def __call__(self, scores):
        self.n_calls += 1
        if self.n_calls % 3 == 0:
            raise KeyboardInterrupt
        return np.ones(len(scores))


class Scheme:
    """A scheme of the user, an object that can fail, and that has no hash."""

    result = __hash__ = None

    def __call__(self, scores, exploration):
        return powers(scores, exploration) if self.result is None else self.result(scores)


@pytest.mark.parametrize(
    "model",
    [
        LinUCBClassifier(),
        BanditronClassifier(),
        SemiBanditRanker(k=2),
        TopKBBM(k=2),
        TopKAdaptive(k=2),
    ],
    ids=repr,
)
def test_schemes_of_the_user(model):
    (X, y), scheme = load_iris(return_X_y=True), Scheme()
    X = scale(X)
    model.set_params(randomization=scheme, random_state=0).progressive_fit(X, y)
    assert len(np.unique(model.explore(X).actions)) == 3
    # What the function raises reaches the caller, and the model stays as it was.
    before, rounds = model.decision_function(X), model.n_rounds_
    results = {
        ZeroDivisionError: lambda scores: 1 / 0,
        KeyboardInterrupt: Interrupt(),
        ValueError: np.atleast_2d,
    }
    for error, scheme.result in results.items():
        for call in (model.fit, model.partial_fit, model.progressive_fit):
            with pytest.raises(error):
                call(X, y)
        with pytest.raises(error):
            model.explore(X)
        assert_array_equal(model.decision_function(X), before)
        assert model.n_rounds_ == rounds
    scheme.result = None
    assert model.partial_fit(X, y).n_rounds_ == rounds + len(X)
    for scheme.result in (np.zeros_like, np.atleast_2d, np.negative):
        with pytest.raises(ValueError, match="must return strengths"):
            explore([[0.1, 0.2]], 1, scheme)


def test_masks_of_frames_of_scores():
    scores = pd.DataFrame([[0.1, 0.7, 0.5]] * 9, columns=["a", "b", "c"])
    mask = pd.DataFrame([[True, False, True]] * 9, columns=["c", "b", "a"])
    for available in (mask[["a", "b", "c"]], mask.iloc[0], ["a", "c"]):
        assert_array_equal(explore(scores, 1, available=available, random_state=0).actions, 2)


def test_masks_of_two_classes():
    model = LinUCBClassifier(random_state=0).fit([[0.0], [1.0]] * 20, [False, True] * 20)
    mask = pd.Series([True, False], index=[True, False])
    assert model.explore([[0.0]] * 5, available=mask).actions.all()


def test_invalid_masks():
    masks = {"at least": np.arange(3) < 1, "shape": np.ones((3, 3), bool), "not in": ["no label"]}
    for message, available in masks.items():
        with pytest.raises(ValueError, match=message):
            explore(np.zeros((2, 3)), 2, available=available)


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
    with pytest.raises(ValueError, match="scheme='thompson' draws a single label, and k=2"):
        explore([[1.0, 2.0]], 2, "thompson")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", LIST_SCHEMES)
@pytest.mark.parametrize("m, k", [(3, 2), (4, 2), (4, 3), (4, 4)])
def test_draws_have_the_law(scheme, m, k, law):
    """Frequencies of the tuples shown are within five standard deviations."""
    n, scores = 50_000, np.random.RandomState(m).permutation(m).astype(float)
    shown = explore(np.tile(scores, (n, 1)), k, scheme, 0.6, random_state=1).actions
    found = Counter(map(tuple, shown.tolist()))
    expected = law(scheme, scores, k, 0.6)
    assert set(found) == {outcome for outcome, p in expected.items() if p > 0}
    for outcome, p in expected.items():
        assert abs(found[outcome] - n * p) < 5 * np.sqrt(n * p * (1 - p)) + 1


@given(st.data())
def test_draws_are_rankings(data):
    """k distinct labels; nearly without exploration the best ones, the smaller label for ties."""
    m = data.draw(st.integers(1, 8))
    k = data.draw(st.integers(1, m))
    scores = data.draw(st.lists(st.integers(-2, 2), min_size=m, max_size=m))
    scheme = data.draw(st.sampled_from(list(RANDOMIZATIONS) if k == 1 else LIST_SCHEMES))
    seed = data.draw(st.integers(0, 99))
    shown = explore([scores] * 20, k, scheme, 1.0, random_state=seed).actions
    assert shown.shape == (20, k)
    assert shown.min() >= 0 and shown.max() < m
    assert all(len(set(row)) == k for row in shown)
    if scheme in GREEDY_SCHEMES:
        greedy = explore([scores], k, scheme, 1e-12, random_state=0).actions[0]
        assert list(greedy) == sorted(range(m), key=lambda label: (-scores[label], label))[:k]


@pytest.mark.parametrize("scheme", LIST_SCHEMES)
def test_draws_do_not_depend_on_the_chunks(scheme):
    """One RandomState gives the same draws for each sample alone and for all at once."""
    scores = np.random.RandomState(0).normal(size=(40, 5))
    at_once = explore(scores, 3, scheme, 0.5, random_state=7)
    random_state = np.random.RandomState(7)
    for i in range(len(scores)):
        row = explore(scores[i : i + 1], 3, scheme, 0.5, random_state=random_state)
        assert_array_equal(row.actions[0], at_once.actions[i])
        assert_array_equal(row.propensities[0], at_once.propensities[i])


def test_invalid_arguments():
    for rho in (0, -0.1, 1.1, float("nan"), "much", True, None):
        with pytest.raises(ValueError, match=r"exploration must be a number in \(0, 1\]"):
            explore([[1.0, 2.0]], 1, exploration=rho)
    for scheme in ("greedy", None, ["uniform"]):
        with pytest.raises(ValueError, match="scheme must be one of .*'inverse-gap'"):
            explore([[1.0, 2.0]], 1, scheme)
    for k in (0, 4, 1.5, True):
        with pytest.raises(ValueError, match="k must be an integer from 1 to"):
            explore([[1.0, 2.0, 3.0]], k)
    for scores in ([1.0, 2.0], [[np.nan, 1.0]], [[]], np.empty((0, 3))):
        with pytest.raises(ValueError):
            explore(scores, 1)

"""Costs and losses against the definitions of Jung & Tewari (2018), by enumeration of all votes."""

import pickle
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklrank.online_boosting._costs import LogisticCosts, PotentialCosts


def pair_loss(kind, gap):
    """Return the loss of a pair by the score difference of its irrelevant and relevant label."""
    if kind == "hinge":
        return max(1 + gap, 0.0)
    return float(gap > 0) + 0.5 * float(gap == 0)


def loss(kind, scores, relevant, weights):
    irrelevant = [b for b in range(len(scores)) if b not in relevant]
    return sum(
        weights[j, k] * pair_loss(kind, scores[b] - scores[a])
        for (j, a), (k, b) in product(enumerate(relevant), enumerate(irrelevant))
    )


def baseline(m, relevant, edge):
    """Return u_gamma^Y; the edge is at most 1 / |Y|, so that it is a distribution."""
    edge = min(edge, 1 / len(relevant))
    a = (1 - len(relevant) * edge) / m
    return [a + edge * (label in relevant) for label in range(m)]


def potential(kind, scores, relevant, weights, edge, n):
    """Return phi_n of Eq. 1: the mean loss over all n-tuples of labels."""
    u = baseline(len(scores), relevant, edge)
    total = 0.0
    for draws in product(range(len(scores)), repeat=n):
        reached = np.array(scores)
        for label in draws:
            reached[label] += 1
        total += np.prod([u[label] for label in draws]) * loss(kind, reached, relevant, weights)
    return total


def all_relevant_sets(m):
    return [list(s) for size in range(1, m) for s in combinations(range(m), size)]


def pair_weights(relevant, m, random=None):
    shape = (len(relevant), m - len(relevant))
    return np.full(shape, 1 / np.prod(shape)) if random is None else random.uniform(0, 2, shape)


@pytest.mark.parametrize("kind", ["hinge", "rank"])
@pytest.mark.parametrize("edge", [0.3, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_potentials_are_exact(kind, edge, weighted):
    """Eq. 2, for several learners and all sets of labels; scores are sums of votes."""
    random = np.random.RandomState(0)
    n_learners = 4
    for m, i in [(2, 0), (3, 0), (3, 2), (4, 1), (4, 3)]:
        rule = PotentialCosts(m, n_learners, edge, kind)
        for turn, relevant in enumerate(all_relevant_sets(m)):
            whole = turn % 2 or kind == "rank"
            votes = random.dirichlet(np.full(m, 0.3), size=i)
            scores = random.multinomial(i, np.full(m, 1 / m)) * 1.0 if whole else votes.sum(axis=0)
            weights = pair_weights(relevant, m, random if weighted else None)
            irrelevant = [b for b in range(m) if b not in relevant]
            costs = rule.evaluate(i, scores, relevant, irrelevant, weights)[0]
            expected = [
                potential(kind, scores + np.eye(m)[l], relevant, weights, edge, n_learners - 1 - i)
                for l in range(m)
            ]
            assert_allclose(costs, expected, atol=1e-10, rtol=1e-10)


def test_potential_of_a_given_number_of_relevant_labels():
    """Top-k feedback assumes one relevant label (Raman et al. 2020)."""
    m, edge, relevant = 4, 0.2, [0, 2]
    rule = PotentialCosts(m, 3, edge, "hinge")
    scores = np.array([0.2, 0.1, 0.4, 0.3])
    weights = pair_weights(relevant, m)
    costs = rule.evaluate(1, scores, relevant, [1, 3], weights, baseline_size=1)[0]
    expected = np.zeros(m)
    for (j, a), (k, b) in product(enumerate(relevant), enumerate([1, 3])):
        for l in range(m):
            start = scores + np.eye(m)[l]
            u = baseline(m, [a], edge)
            for x in range(m):
                end = start + np.eye(m)[x]
                expected[l] += weights[j, k] * u[x] * pair_loss("hinge", end[b] - end[a])
    assert_allclose(costs, expected, atol=1e-10)


def logistic(scores, relevant, irrelevant, weights):
    return sum(
        weights[j, k] * np.logaddexp(0, scores[b] - scores[a])
        for (j, a), (k, b) in product(enumerate(relevant), enumerate(irrelevant))
    )


@given(st.integers(2, 7), st.integers(0, 2**32 - 1), st.booleans())
def test_logistic_costs_are_the_gradient(m, seed, weighted):
    """Eq. 8 against finite differences, and Eq. 9: the costs sum to zero."""
    random = np.random.RandomState(seed)
    relevant = sorted(random.choice(m, random.randint(1, m), replace=False).tolist())
    irrelevant = [b for b in range(m) if b not in relevant]
    weights = pair_weights(relevant, m, random if weighted else None)
    scores = random.normal(scale=3, size=m)
    costs = LogisticCosts(m, 4).evaluate(1, scores, relevant, irrelevant, weights)[0]
    step = 1e-5
    for l in range(m):
        ends = [
            logistic(scores + sign * step * np.eye(m)[l], relevant, irrelevant, weights)
            for sign in (1, -1)
        ]
        assert_allclose(costs[l], (ends[0] - ends[1]) / (2 * step), atol=1e-8)
    assert abs(costs.sum()) < 1e-12


def test_logistic_costs_to_the_last_digits():
    """Each pair by the formula."""
    random = np.random.RandomState(3)
    scores, relevant, irrelevant = random.normal(size=6), [1, 4], [0, 2, 3, 5]
    weights = random.uniform(size=(2, 4))
    expected = np.zeros(6)
    for (j, a), (k, b) in product(enumerate(relevant), enumerate(irrelevant)):
        slope = weights[j, k] / (1 + np.exp(scores[a] - scores[b]))
        expected[a] -= slope
        expected[b] += slope
    costs = LogisticCosts(6, 1).evaluate(0, scores, relevant, irrelevant, weights)[0]
    assert_allclose(costs, expected, rtol=1e-13, atol=1e-15)


def test_logistic_costs_of_scores_that_underflow():
    """Both exponentials of a pair may underflow if a third label has a large score."""
    scores = np.array([0.0, 1.0, 2000.0, -2000.0])
    costs = LogisticCosts(4, 1).evaluate(0, scores, [0], [1, 2, 3], [[1.0, 1.0, 1.0]])[0]
    slope = 1 / (1 + np.exp(-1.0))
    assert_allclose(costs, [-slope - 1, slope, 1.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("tie_loss", [0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_loss_of_an_expert_is_the_rank_loss(tie_loss, weighted):
    """Each pair by the formula, with ties; the same for all rules."""
    random = np.random.RandomState(0)
    for relevant in all_relevant_sets(5):
        scores = random.randint(3, size=5).astype(float)
        irrelevant = [b for b in range(5) if b not in relevant]
        weights = pair_weights(relevant, 5, random if weighted else None)
        expected = sum(
            weights[j, k] * (float(scores[b] > scores[a]) + tie_loss * (scores[b] == scores[a]))
            for (j, a), (k, b) in product(enumerate(relevant), enumerate(irrelevant))
        )
        found = LogisticCosts(5, 2, tie_loss=tie_loss).evaluate(
            0, scores, relevant, irrelevant, weights
        )[1]
        assert found == pytest.approx(expected, abs=1e-12)
        if tie_loss == 0.5:
            other = PotentialCosts(5, 2, 0.1, "hinge")
            assert other.evaluate(0, scores, relevant, irrelevant, weights)[1] == found


@pytest.mark.parametrize(
    "rule", [LogisticCosts(4, 3), PotentialCosts(4, 3, 0.1, "hinge")], ids=["logistic", "potential"]
)
def test_rules_pickle_and_refuse_bad_arguments(rule):
    """A rule is pickled by its parameters; labels out of bounds raise an error."""
    arguments = ([0.0, 1.0, 2.0, 3.0], [1], [0, 3], [[0.5, 0.5]])
    again = pickle.loads(pickle.dumps(rule))
    assert_allclose(again.evaluate(1, *arguments)[0], rule.evaluate(1, *arguments)[0], rtol=0)
    for bad in (
        (3, *arguments),
        (1, [0.0], *arguments[1:]),
        (1, arguments[0], [4], [0, 3], [[0.5, 0.5]]),
        (1, arguments[0], [1], [0, -1], [[0.5, 0.5]]),
        (1, arguments[0], [1], [0], [[0.5, 0.5]]),
        (1, arguments[0], [1], [], np.empty((1, 0))),
    ):
        with pytest.raises((ValueError, IndexError)):
            rule.evaluate(*bad)

"""TiedTailRanker: against slow statements, and rankings made from rounded probabilities."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB

from sklrank._rankings import strict_positions
from sklrank.label_ranking import PlackettLuceRanker
from sklrank.label_ranking._tied_tails import (
    TiedTailRanker,
    common_tail_ranks,
    last_to_first,
    tail_lengths,
    tie_tails,
)
from sklrank.metrics import kendall_tau_score

RANDOM = np.random.RandomState(0)
NAN = np.nan


def slow_tail(row, ranks):
    """Return the labels of the longest end of a ranking that is in the order of the ranks."""
    ranked = [label for label in range(len(row)) if not np.isnan(row[label])]
    ordering = sorted(ranked, key=lambda label: (row[label], ranks[label]))
    for start in range(len(ordering)):
        end = ordering[start:]
        if end == sorted(end, key=lambda label: ranks[label]):
            return end
    return []


def slow_ties(row, ranks):
    """Give the labels of a tail of three and more the position of the best of them."""
    tail = slow_tail(row, ranks)
    best = np.nanmin(row)
    tail = [label for label in tail if row[label] > best or sum(row == best) > 1]
    tied = row.copy()
    if len(tail) >= 3:
        tied[tail] = min(row[tail])
    return tied


def rankings(n_samples, n_labels, missing=0.0):
    positions = strict_positions(RANDOM.normal(size=(n_samples, n_labels)))
    positions[RANDOM.uniform(size=positions.shape) < missing] = NAN
    return positions


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("n_labels", [1, 2, 4, 7])
def test_tails_of_every_ranking(n_labels, missing):
    positions = rankings(60, n_labels, missing)
    ranks = RANDOM.permutation(n_labels)
    orders, n_ranked, _ = last_to_first(positions, ranks)
    lengths = tail_lengths(orders, n_ranked, ranks)
    assert lengths.tolist() == [len(slow_tail(row, ranks)) for row in positions]
    for row, tied in zip(positions, tie_tails(positions, ranks)):
        expected = slow_ties(row, ranks) if not np.isnan(row).all() else row
        assert_array_equal(np.sign(expected[:, None] - expected), np.sign(tied[:, None] - tied))
        assert_array_equal(np.isnan(tied), np.isnan(row))


def test_tied_labels_are_in_the_common_order():
    positions, ranks = np.array([[1.0, 2.0, 2.0, 2.0]]), np.array([0, 3, 1, 2])
    orders, n_ranked, _ = last_to_first(positions, ranks)
    assert_array_equal(orders, [[1, 3, 2, 0]])
    assert tail_lengths(orders, n_ranked, ranks) == [4]


def total_length(positions, ranks):
    return sum(len(slow_tail(row, ranks)) for row in positions)


def rounded(n_samples, n_labels, order):
    """Rankings by few probabilities; the other labels follow in the given order."""
    scores = RANDOM.normal(size=(n_samples, n_labels))
    scores[scores < 0.5] = 0.0
    return strict_positions(scores[:, order])[:, np.argsort(order)]


@pytest.mark.parametrize("n_labels", [3, 5, 6])
def test_the_common_order_is_found(n_labels):
    order = RANDOM.permutation(n_labels)
    positions = rounded(100, n_labels, order)
    ranks = common_tail_ranks(positions)
    assert_array_equal(ranks, np.argsort(order))
    best = max(total_length(positions, np.array(p)) for p in permutations(range(n_labels)))
    assert total_length(positions, ranks) == best


def test_no_swap_of_neighbors_makes_the_tails_longer():
    for n_labels in (4, 8):
        positions = rankings(40, n_labels, 0.2)
        ranks = common_tail_ranks(positions)
        assert sorted(ranks) == list(range(n_labels))
        for i in range(n_labels - 1):
            swapped = np.where(ranks == i, i + 1, np.where(ranks == i + 1, i, ranks))
            assert total_length(positions, swapped) <= total_length(positions, ranks)


X, CLASSES = make_blobs(400, n_features=4, centers=8, cluster_std=4.0, random_state=0)
PROBABILITIES = np.round(GaussianNB().fit(X, CLASSES).predict_proba(X), 3)
POSITIONS = strict_positions(PROBABILITIES)


def test_rankings_from_rounded_probabilities():
    """A plain model learns wrong scores from the order of equal probabilities."""
    squares = np.hstack([X, X**2])
    tied = TiedTailRanker().fit(squares[:200], POSITIONS[:200])
    plain = PlackettLuceRanker(alpha=0.001).fit(squares[:200], POSITIONS[:200])
    assert_array_equal(tied.tail_ranks_, np.arange(8))
    assert tied.floor_ > -np.inf
    assert tied.score(squares[200:], POSITIONS[200:]) > 0.9
    assert plain.score(squares[200:], POSITIONS[200:]) < 0.85


def test_scores_and_floor():
    model = TiedTailRanker(alpha=0.1).fit(X[:200], POSITIONS[:200])
    logs = np.log(model.model_.predict_proba(X))
    floor = model.floor_
    for row, scores in zip(logs, model.decision_function(X)):
        for label, value in enumerate(row):
            # Labels at the floor have the places after all others, in the common order.
            others = [max(other, floor) for other in np.delete(row, label)]
            expected = 1 + sum(1 / (1 + np.exp(max(value, floor) - other)) for other in others)
            if value <= floor:
                low = [k for k in range(8) if row[k] <= floor]
                earlier = sum(model.tail_ranks_[k] < model.tail_ranks_[label] for k in low)
                expected += earlier - (len(low) - 1) / 2
            assert_allclose(-scores[label], expected, rtol=1e-9)
    tau = kendall_tau_score(POSITIONS[:200], -model.decision_function(X[:200]))
    for other in (-np.inf, *np.quantile(logs[:200], [0.02, 0.5, 0.98])):
        model.floor_ = other
        assert kendall_tau_score(POSITIONS[:200], -model.decision_function(X[:200])) <= tau + 1e-12


def test_labels_can_be_permuted():
    order = RANDOM.permutation(8)
    model = TiedTailRanker().fit(X, POSITIONS)
    permuted = TiedTailRanker().fit(X, POSITIONS[:, order])
    assert_array_equal(permuted.tail_ranks_, model.tail_ranks_[order])
    assert_array_equal(permuted.predict(X), model.predict(X)[:, order])

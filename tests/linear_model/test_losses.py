"""Losses of Predtron: tables against their formulas, and invalid losses."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import ndcg_score

from sklrank.linear_model._predtron._losses import SUBSET_LOSSES, SubsetLosses, class_costs
from sklrank.linear_model._predtron._ranking_losses import (
    NDCGLoss,
    discounts_of,
    gains_of,
    make_ranking_loss,
)

CLASSES = ["bad", "fair", "good"]


def test_class_costs_by_hand():
    """Each way to define the costs."""
    assert_array_equal(class_costs("zero_one", CLASSES), [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    assert_array_equal(class_costs("absolute", CLASSES), [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert_array_equal(class_costs([1, 2, 3], CLASSES), [[0, 1, 1], [2, 0, 2], [3, 3, 0]])
    table = [[0, 0.5, 9], [0, 0, 1], [2, 1, 0]]
    assert_array_equal(class_costs(table, CLASSES), table)
    by_length = class_costs(lambda truth, guess: (truth != guess) * len(guess), CLASSES)
    assert_array_equal(by_length, [[0, 4, 4], [3, 0, 4], [3, 4, 0]])


@pytest.mark.parametrize("reject_cost", [None, 0.5])
def test_class_costs_are_a_copy(reject_cost):
    """In C order, as the loops read them, and unaffected by later changes of the table."""
    table = np.array([[0, 0.5, 9], [0, 0, 1], [2, 1, 0]])
    for given in (table, np.asfortranarray(table), table.T):
        before = given.copy()
        costs = class_costs(given, CLASSES, reject_cost=reject_cost)
        assert costs.flags.c_contiguous and not np.shares_memory(costs, given)
        assert_array_equal(costs[:, :3], before)


def test_reject_is_the_last_prediction():
    """One cost for all classes, or one for each."""
    assert_array_equal(class_costs("zero_one", CLASSES, None, 0.5)[:, 3], [0.5, 0.5, 0.5])
    assert_array_equal(class_costs("absolute", CLASSES, None, [0, 0.5, 1])[:, 3], [0, 0.5, 1])
    assert class_costs("zero_one", CLASSES).shape == (3, 3)


@pytest.mark.parametrize(
    "loss",
    [
        [1, 2],
        np.ones((3, 3)),
        [1, -1, 1],
        [1, np.nan, 1],
        [1, 1e61, 1],
        [[0, 1], [1, 0]],
        ["a"],
    ],
)
def test_class_losses_refused_by_name(loss):
    with pytest.raises(ValueError, match="^loss must"):
        class_costs(loss, CLASSES)


@pytest.mark.parametrize("reject_cost", [-0.1, np.inf, np.nan, [0.5, 0.5], "free"])
def test_reject_costs_refused_by_name(reject_cost):
    with pytest.raises(ValueError, match="^reject_cost must"):
        class_costs("zero_one", CLASSES, None, reject_cost)


def losses_by_set(name, predicted, relevant, labels):
    """The losses of two sets, as written in Section 3."""
    if name == "hamming":
        return len(predicted | relevant) - len(predicted & relevant)
    if name == "error_set_size":
        return sum(
            r not in predicted and s in predicted for r in relevant for s in labels - relevant
        )
    return float(predicted != relevant)


@pytest.mark.parametrize("name", SUBSET_LOSSES)
def test_subset_tables_are_the_losses_of_sets(name):
    """Tables by counts agree with the losses of sets with these counts."""
    m = 5
    losses = SubsetLosses(name, m)
    losses.cover([0, 2])
    losses.cover([2, 5, 3])
    losses = pickle.loads(pickle.dumps(losses))
    assert_array_equal(losses.offsets >= 0, [True, False, True, True, False, True])
    labels = set(range(m))
    for r in (0, 2, 3, 5):
        relevant = set(range(r))
        table = losses.values[losses.offsets[r] :][: (r + 1) * (m - r + 1)]
        expected = [
            losses_by_set(name, set(range(tp)) | set(range(r, r + fp)), relevant, labels)
            for tp in range(r + 1)
            for fp in range(m - r + 1)
        ]
        assert_array_equal(table, expected)


def test_each_table_is_evaluated_once():
    calls = []

    def loss(tp, fp, fn, tn):
        calls.append(int(tp.max()))
        return fp + fn

    losses = SubsetLosses(loss, 4)
    losses.cover([1, 1, 2])
    losses.cover([2, 3, 1])
    assert calls == [1, 2, 3]


@pytest.mark.parametrize(
    "loss",
    [
        lambda tp, fp, fn, tn: fp - fn,
        lambda tp, fp, fn, tn: fp / (fn * 0.0 + np.nan),
        lambda tp, fp, fn, tn: tp + fp,
        lambda tp, fp, fn, tn: 1.0,
    ],
)
def test_subset_losses_refused_by_name(loss):
    with pytest.raises(ValueError, match="^loss must"):
        SubsetLosses(loss, 3).cover([1])


@pytest.mark.parametrize("k", [None, 1, 3])
def test_ndcg_is_that_of_scikit_learn(k):
    """The loss is 1 - NDCG with the exponential gain."""
    random = np.random.RandomState(0)
    loss = make_ranking_loss("ndcg", k)
    for _ in range(20):
        y, scores = random.randint(4, size=7).astype(float), random.permutation(7)
        y[0] = 3
        gains = gains_of(loss, y, np.array([0, 7]))
        discounts = discounts_of(loss, 7)
        found = gains[np.argsort(-scores)] @ discounts / (-np.sort(-gains) @ discounts)
        assert_allclose(found, ndcg_score([np.exp2(y) - 1], [scores], k=k))


def test_gains_of_huge_grades_stay_in_range():
    """Ratios of gains are right although 2^y overflows, and lists do not affect each other."""
    y = np.array([2000.0, 1999, 0, 3, 1, 0])
    gains = gains_of(NDCGLoss(), y, np.array([0, 3, 6]))
    assert_allclose(gains[1] / gains[0], 0.5)
    assert gains[2] == 0
    assert_allclose(gains[3:] / gains[3], [1, 1 / 7, 0])


def test_gains_and_discounts_of_precision():
    loss = make_ranking_loss("precision", 2)
    starts = np.array([0, 3, 3, 7])
    gains = gains_of(loss, np.array([0, 5.0, 0, 1, 1, 0, 1]), starts)
    assert_array_equal(gains, [0, 1, 0, 1, 1, 0, 1])
    assert_array_equal(discounts_of(loss, 4), [1, 1, 0, 0])


class GradeLoss:
    """A user's loss: gains are the relevance, discounts are given."""

    def __init__(self, discounts=(1.0, 0.5, 0.5)):
        self._discounts = discounts

    def gains(self, relevance):
        return relevance

    def discounts(self, n_positions):
        return self._discounts


def test_users_losses_are_taken_as_they_are():
    """Any object with the two methods is a loss."""
    loss = GradeLoss()
    assert make_ranking_loss(loss) is loss
    assert_array_equal(gains_of(loss, np.array([2.0, 1, 0]), np.array([0, 3])), [2, 1, 0])
    assert_array_equal(discounts_of(loss, 3), [1, 0.5, 0.5])
    for unit in (2.0**1020, 2.0**-1000):
        assert_array_equal(discounts_of(GradeLoss(unit * np.array([4.0, 2, 0])), 3), [1, 0.5, 0])


@pytest.mark.parametrize(
    "discounts", [(1.0, 2.0, 0.0), (1.0, 0.5), (1.0, 0.5, -1.0), (np.inf, 1.0, 0.0), ("a", 0, 0)]
)
def test_discounts_refused_by_name(discounts):
    with pytest.raises(ValueError, match="^loss must"):
        discounts_of(GradeLoss(discounts), 3)


@pytest.mark.parametrize("grade", [-1.0, -3000.0, 1e301])
def test_gains_refused_by_name(grade):
    with pytest.raises(ValueError, match="^loss must give gains"):
        gains_of(GradeLoss(), np.array([1.0, grade]), np.array([0, 2]))
    if grade < 0:
        with pytest.raises(ValueError, match="grade items from 0"):
            gains_of(NDCGLoss(), np.array([1.0, grade]), np.array([0, 2]))


def test_small_gains():
    """They are refused unless a larger gain is in the same list."""
    starts = np.array([0, 1, 3])
    gains = gains_of(GradeLoss(), np.array([0.0, 5e-324, 1e-300]), starts)
    assert_array_equal(gains, [0, 5e-324, 1e-300])
    for tiny in (5e-324, 9e-301):
        with pytest.raises(ValueError, match=f"^loss must give gains .* got {tiny} for"):
            gains_of(GradeLoss(), np.array([1.0, 0.0, tiny]), starts)


def test_numbers_of_items_refused_by_name():
    """Values of k that do not fit the loss."""
    for loss, k in (("precision", None), (GradeLoss(), 3)):
        with pytest.raises(ValueError, match="^k must be"):
            make_ranking_loss(loss, k)

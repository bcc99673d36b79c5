"""Long rankings with ties, and tasks of chosen lists, as NumPy and tasks made anew have them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklrank.linear_model._predtron._ranking_task import RankingTask

from sklrank.linear_model._predtron._ranking_losses import discounts_of, gains_of, make_ranking_loss
from sklrank.linear_model._predtron._representations import position_values


def right_order(gains, scores, discounts):
    """Items by gain, then score, then number; where discounts are equal by score, then number."""
    order = np.lexsort((-scores, -gains))
    for discount in np.unique(discounts):
        block = order[discounts == discount]
        order[discounts == discount] = block[np.lexsort((block, -scores[block]))]
    return order


@pytest.mark.parametrize("name, k", [("ndcg", None), ("ndcg", 5), ("precision", 10)])
@pytest.mark.parametrize("m", [11, 12, 13, 14, 40, 300])
def test_long_rankings_are_sorted_with_all_their_ties(m, name, k):
    """Scores tie, and so do gains: the direction says where each item was put."""
    random = np.random.RandomState(m)
    loss, starts = make_ranking_loss(name, k), np.array([0, m])
    discounts, f = discounts_of(loss, m), position_values("linear", m)
    f_unit = f / np.linalg.norm(f)
    for values in (2, 4, 1000):
        scores = random.randint(values, size=m) - 1.0
        gains = gains_of(loss, random.randint(3, size=m), starts)
        predicted = np.lexsort((gains, -scores))
        cost, direction = RankingTask(
            gains, starts, discounts, f, True
        ).loss_and_direction_of_round(0, scores)
        lost = 1 - gains[predicted] @ discounts / (-np.sort(-gains) @ discounts)
        assert_allclose(cost, lost, atol=1e-12)
        expected = np.zeros(m)
        if cost > 0:
            expected[predicted] += f_unit
            expected[right_order(gains, scores, discounts)] -= f_unit
        assert_allclose(direction, expected, atol=1e-14)


@pytest.mark.parametrize("loss_driven", [False, True])
def test_chosen_lists_are_judged_as_by_a_task_of_their_own(loss_driven):
    """In any order, more than once, and again after another choice."""
    random = np.random.RandomState(0)
    sizes = np.array([3, 0, 20, 1, 7, 15])
    starts = np.append(0, np.cumsum(sizes))
    loss = make_ranking_loss("ndcg")
    gains = gains_of(loss, random.randint(4, size=starts[-1]), starts)
    tables = discounts_of(loss, 20), position_values("power", 20)
    task = RankingTask(gains, starts, *tables, loss_driven)
    for lists in ([4, 2, 2, 0], [], [1, 5, 3]):
        task.choose(np.array(lists))
        assert task.n_rounds == len(lists)
        for i, chosen in enumerate(lists):
            own = gains[starts[chosen] : starts[chosen + 1]]
            alone = RankingTask(own, np.array([0, len(own)]), *tables, loss_driven)
            scores = random.normal(size=len(own))
            cost, direction = task.loss_and_direction_of_round(i, scores)
            expected_cost, expected = alone.loss_and_direction_of_round(0, scores)
            assert cost == expected_cost
            assert_array_equal(direction, expected)


@pytest.mark.parametrize("lists", [[2], [-1], [[0]]])
def test_lists_that_are_not_there_cannot_be_chosen(lists):
    """The loops would read out of bounds."""
    f = position_values("linear", 2)
    task = RankingTask(np.ones(4), np.array([0, 2, 4]), np.ones(2), f)
    with pytest.raises(ValueError, match="lists must be numbers from 0 to 1"):
        task.choose(np.array(lists))


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**400])
def test_representations_have_no_unit(unit):
    """Their length divides them, also where the squares of their values vanish."""
    gains, scores = np.array([2.0, 0, 1]), np.array([0.1, 0.3, 0.2])
    starts, discounts = np.array([0, 3]), np.array([1.0, 0.5, 0.25])
    for loss_driven in (False, True):
        near, far = [
            RankingTask(gains, starts, discounts, f, loss_driven).loss_and_direction_of_round(
                0, scores
            )
            for f in (position_values("linear", 3), unit * position_values("linear", 3))
        ]
        assert near[0] == far[0]
        assert_allclose(near[1], far[1])
        assert np.any(near[1])

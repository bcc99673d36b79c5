"""Rankings that are too long to enumerate, against NumPy; the scale of representations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklrank.linear_model._predtron._ranking_task import RankingTask

from sklrank.linear_model._predtron._ranking_losses import (
    discounts_of,
    gains_of,
    make_ranking_loss,
    position_values,
)


def correct_order(gains, scores, discounts):
    """Sort items by gain, score and index; in blocks of equal discounts by score and index."""
    order = np.lexsort((-scores, -gains))
    for discount in np.unique(discounts):
        block = order[discounts == discount]
        order[discounts == discount] = block[np.lexsort((block, -scores[block]))]
    return order


@pytest.mark.parametrize("name, k", [("ndcg", None), ("ndcg", 5), ("precision", 10)])
@pytest.mark.parametrize("m", [11, 12, 13, 14, 40, 300])
def test_long_rankings_are_sorted_with_all_their_ties(m, name, k):
    """Scores tie, and so do gains; the direction shows the position of each item."""
    random = np.random.RandomState(m)
    loss, starts = make_ranking_loss(name, k), np.array([0, m])
    discounts, f = discounts_of(loss, m), position_values("linear", m)
    f_unit = f / np.linalg.norm(f)
    for values in (2, 4, 1000):
        scores = random.randint(values, size=m) - 1.0
        gains = gains_of(loss, random.randint(3, size=m), starts)
        predicted = np.lexsort((gains, -scores))
        cost, direction = RankingTask(gains, starts, discounts, f, True).evaluate(0, scores)
        lost = 1 - gains[predicted] @ discounts / (-np.sort(-gains) @ discounts)
        assert_allclose(cost, lost, atol=1e-12)
        expected = np.zeros(m)
        if cost > 0:
            expected[predicted] += f_unit
            expected[correct_order(gains, scores, discounts)] -= f_unit
        assert_allclose(direction, expected, atol=1e-14)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**400])
def test_representations_have_no_unit(unit):
    """They are divided by their length, even if the squares of their values underflow."""
    gains, scores = np.array([2.0, 0, 1]), np.array([0.1, 0.3, 0.2])
    starts, discounts = np.array([0, 3]), np.array([1.0, 0.5, 0.25])
    for loss_driven in (False, True):
        near, far = [
            RankingTask(gains, starts, discounts, f, loss_driven).evaluate(0, scores)
            for f in (position_values("linear", 3), unit * position_values("linear", 3))
        ]
        assert near[0] == far[0]
        assert_allclose(near[1], far[1])
        assert np.any(near[1])

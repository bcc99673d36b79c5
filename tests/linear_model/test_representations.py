"""Representations of rankings: values at positions, and invalid ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.linear_model._predtron._ranking_losses import REPRESENTATIONS, position_values


def test_values_by_hand():
    """The functions of the paper's experiments, f_1 to f_3, and -i."""
    assert_allclose(position_values("reciprocal", 3), [1, 1 / 2, 1 / 3])
    assert_allclose(position_values("power", 3), [-1, -(2**1.1), -(3**1.1)])
    assert_allclose(position_values("power", 3, power=2), [-1, -4, -9])
    assert_array_equal(position_values("linear", 3), [-1, -2, -3])
    assert_allclose(position_values(lambda positions: -np.log(positions), 3), -np.log([1, 2, 3]))


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_tables_are_prefixes_of_longer_ones(representation):
    """One table can be used for rankings of all lengths."""
    longest = position_values(representation, 50)
    for n in (0, 1, 7):
        assert_array_equal(position_values(representation, n), longest[:n])


@pytest.mark.parametrize(
    "representation",
    [
        lambda positions: positions,
        lambda positions: -np.minimum(positions, 3),
        lambda positions: np.where(positions > 2, np.nan, -positions),
        lambda positions: -positions * 1e200,
        lambda positions: np.where(positions > 3, -np.inf, -positions),
        lambda positions: -positions[:2],
        lambda positions: ["high", "low"],
    ],
)
def test_representations_refused_by_name(representation):
    with pytest.raises(ValueError, match="^representation must"):
        position_values(representation, 4)

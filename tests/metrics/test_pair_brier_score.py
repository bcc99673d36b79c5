"""pair_brier_score: against loops over samples and labels."""

import numpy as np
import pytest

from sklrank.metrics import pair_brier_score

RANDOM = np.random.RandomState(0)
TRUE = RANDOM.rand(40, 5).argsort(axis=1) + 1.0
HOLES = np.where(RANDOM.rand(40, 5) < 0.3, np.nan, TRUE)
TIED = np.ceil(TRUE / 2)
CHANCES, WEIGHT = RANDOM.rand(40, 5, 5), RANDOM.rand(40)


@pytest.mark.parametrize("true", [TRUE, HOLES, TIED], ids=["complete", "holes", "tied"])
def test_brier_score(true):
    upper = np.triu(CHANCES, 1)
    chances = upper + np.tril(1 - upper.transpose(0, 2, 1), -1) + 0.5 * np.eye(5)
    expected = []
    for row, p in zip(true, chances):
        squares = [
            (p[a, b] - (row[a] < row[b])) ** 2
            for a in range(5)
            for b in range(5)
            if row[a] < row[b] or row[a] > row[b]
        ]
        expected.append(np.mean(squares) if squares else 0.0)
    assert pair_brier_score(true, chances, average=False) == pytest.approx(expected)
    found = pair_brier_score(true, chances, sample_weight=WEIGHT)
    assert found == pytest.approx(np.average(expected, weights=WEIGHT))
    assert pair_brier_score(TRUE, np.full((40, 5, 5), 0.5)) == pytest.approx(0.25)


def test_brier_score_of_bad_probabilities():
    with pytest.raises(ValueError, match=r"y_proba must have the shape.*\(40, 5, 5\)"):
        pair_brier_score(TRUE, np.full((40, 5), 0.5))
    with pytest.raises(ValueError, match="from 0 to 1"):
        pair_brier_score(TRUE, np.full((40, 5, 5), np.nan))


def test_brier_score_of_probabilities_that_do_not_add_up():
    chances = np.array([[[0.5, 0.8, 0.3], [0.2, 0.5, 0.9], [0.9, 0.1, 0.5]]])
    message = "must be one minus.* the sum is 1.2 for the sample 0 and the labels 2 and 0"
    with pytest.raises(ValueError, match=message):
        pair_brier_score([[2, 3, 1]], chances)
    # Pairs that are not ordered are not used.
    for ranking in ([1, 2, 1], [1, 2, np.nan]):
        assert 0 <= pair_brier_score([ranking], chances) <= 1
    for dtype, error in ((np.float32, 1e-7), (np.float16, 1e-3)):
        rounded = chances.astype(dtype)
        assert pair_brier_score([[1, 2, np.nan]], rounded) == pytest.approx(0.04, abs=error)

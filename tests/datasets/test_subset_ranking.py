"""make_subset_ranking has the properties that its docstring states."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.datasets import make_subset_ranking


def grade(score, m):
    """Return the grade m - j of the only j whose interval contains the score."""
    thresholds = {1: np.inf, m + 1: -np.inf} | {j: 1 / j for j in range(2, m + 1)}
    (j,) = [j for j in range(1, m + 1) if thresholds[j + 1] <= score < thresholds[j]]
    return m - j


@pytest.mark.parametrize("design", ["gaussian", "uniform"])
@pytest.mark.parametrize("m", [2, 3, 12])
def test_grades_are_determined_by_the_thresholds(m, design):
    """The scores are wide enough for all grades, including the lowest and the highest."""
    X, y, qid, weights = make_subset_ranking(
        200, m, 4, design=design, scale=0.3, random_state=0, return_weights=True
    )
    assert X.shape == (200 * m, 4) and weights.shape == (4,) and X.dtype == np.float64
    assert_array_equal(qid, [query for query in range(200) for _ in range(m)])
    assert_array_equal(y, [grade(score, m) for score in X @ weights])
    assert set(y) == set(range(m)) and y.dtype.kind == "i"


@pytest.mark.parametrize("design", ["gaussian", "uniform"])
def test_scale_is_the_deviation_of_scores(design):
    """It does not depend on the number of features, or of those with a weight."""
    for n_features, n_informative in ((1, None), (30, None), (30, 3)):
        X, _, _, weights = make_subset_ranking(
            4000,
            5,
            n_features,
            n_informative=n_informative,
            design=design,
            center_spread=0.0,
            scale=0.2,
            random_state=0,
            return_weights=True,
        )
        assert (X @ weights).std() == pytest.approx(0.2, rel=0.03)
        assert np.count_nonzero(weights) == (n_informative or n_features)


def test_indices_of_weights_are_random():
    places = set()
    for seed in range(20):
        *_, weights = make_subset_ranking(
            1, 2, 9, n_informative=2, random_state=seed, return_weights=True
        )
        places.add(tuple(weights.nonzero()[0]))
    assert len(places) > 10


def test_uniform_features_fill_the_cube():
    X, _, _ = make_subset_ranking(2000, 5, 3, design="uniform", random_state=0)
    assert np.all(np.abs(X) <= 1)
    shares = np.array([np.histogram(x, 4, (-1, 1))[0] for x in X.T]) / len(X)
    assert_allclose(shares, 0.25, atol=0.02)


def test_centers_are_shared_by_queries():
    """The i-th documents of all queries have the same center, and deviation 1 about it."""
    X, _, _ = make_subset_ranking(3000, 40, 10, center_spread=2.0, random_state=0)
    of_places = X.reshape(3000, 40, 10)
    assert_allclose(of_places.std(axis=0), 1.0, atol=0.06)
    assert of_places.mean(axis=0).std() == pytest.approx(2.0, rel=0.1)
    X, _, _ = make_subset_ranking(3000, 40, 10, center_spread=0.0, random_state=0)
    assert np.abs(X.reshape(3000, 40, 10).mean(axis=0)).max() < 0.1


def test_seed():
    def make(seed):
        return make_subset_ranking(5, 6, 7, random_state=seed, return_weights=True)

    for first, second in zip(make(0), make(0)):
        assert_array_equal(first, second)
    for which in (0, 3):
        assert not np.array_equal(make(0)[which], make(1)[which])
    assert len(make_subset_ranking(5, 6, 7)) == 3


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_queries": 0},
        {"n_documents": 1},
        {"n_features": 0},
        {"n_informative": 0},
        {"n_informative": 101},
        {"design": "cube"},
        {"center_spread": -1.0},
        {"center_spread": np.inf},
        {"scale": 0.0},
        {"scale": np.nan},
    ],
)
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        make_subset_ranking(**parameters)

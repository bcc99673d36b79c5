"""LeafSizeForest: against slow statements, and its choice of leaves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor

from sklrank.label_ranking._leaf_size_forest import LeafSizeForest, OutOfBag

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(200, 4)).astype(np.float32)
PRECISE = np.sin(3 * X[:, 0]) + X[:, 1]
NOISY = 0.3 * PRECISE + 2 * RANDOM.normal(size=200)


def test_leaves_adapt_to_the_noise():
    precise = LeafSizeForest(random_state=0).fit(X, PRECISE)
    noisy = LeafSizeForest(random_state=0).fit(X, NOISY)
    assert precise.forest_.min_samples_leaf == 1
    assert noisy.forest_.min_samples_leaf == 20


@pytest.mark.parametrize("y", [PRECISE, NOISY, np.column_stack([PRECISE, NOISY])])
def test_it_is_the_forest_with_the_chosen_leaves(y):
    model = LeafSizeForest(30, random_state=3, oob_score=True).fit(X, y)
    seed = np.random.RandomState(3).randint(np.iinfo(np.int32).max)
    forest = RandomForestRegressor(
        30,
        max_features=3,  # a third, at least three
        min_samples_leaf=model.forest_.min_samples_leaf,
        random_state=seed,
        oob_score=True,
    ).fit(X, y)
    assert_array_equal(model.predict(X), forest.predict(X))
    assert_allclose(model.oob_prediction_, forest.oob_prediction_)


@pytest.mark.parametrize(("n_features", "n_considered"), [(1, 1), (2, 2), (4, 3), (9, 3), (12, 4)])
def test_splits_consider_a_third_of_the_features_and_at_least_three(n_features, n_considered):
    samples = RANDOM.normal(size=(30, n_features))
    forest = LeafSizeForest(2, random_state=0).fit(samples, samples[:, 0]).forest_
    assert {tree.max_features_ for tree in forest.estimators_} == {n_considered}


def test_error_is_that_of_many_trees():
    """Without the variance of few trees, which is larger for small leaves."""
    errors = []
    for seed in range(40):
        few = RandomForestRegressor(15, random_state=seed).fit(X, NOISY)
        held_out = OutOfBag(few.estimators_, few.estimators_samples_, X, NOISY)
        errors.append(held_out.error(NOISY))
    many = RandomForestRegressor(600, random_state=0, oob_score=True).fit(X, NOISY)
    expected = np.mean((many.oob_prediction_ - NOISY) ** 2)
    assert np.mean(errors) == pytest.approx(expected, rel=0.02)
    few = RandomForestRegressor(40, random_state=0, oob_score=True).fit(X, NOISY)
    assert np.mean((few.oob_prediction_ - NOISY) ** 2) > 1.02 * expected


def test_samples_without_out_of_bag_predictions_have_those_of_all_trees():
    model = LeafSizeForest(1, random_state=0, oob_score=True).fit(X, PRECISE)
    [samples] = model.forest_.estimators_samples_
    assert_array_equal(model.oob_prediction_[samples], model.predict(X[samples]))
    assert LeafSizeForest(random_state=0).fit(X[:1], PRECISE[:1]).predict(X[:1]) == PRECISE[:1]


def test_sparse_samples_and_missing_values():
    some = np.where(X > 0.5, X, 0)
    dense = LeafSizeForest(random_state=0).fit(some, PRECISE)
    found = LeafSizeForest(random_state=0).fit(sparse.csr_array(some), PRECISE)
    assert_allclose(found.predict(sparse.csr_array(some)), dense.predict(some))
    holes = np.where(X > 1.5, np.nan, X)
    assert np.isfinite(LeafSizeForest(random_state=0).fit(holes, PRECISE).predict(holes)).all()

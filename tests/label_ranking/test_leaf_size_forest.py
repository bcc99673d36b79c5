"""LeafSizeForest: against slow statements, and its choice of leaves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from sklrank.label_ranking._labelwise import LeafSizeExtraTrees, LeafSizeForest

few_trees = pytest.mark.usefixtures("few_trees")

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(200, 4)).astype(np.float32)
PRECISE = np.sin(3 * X[:, 0]) + X[:, 1]
NOISY = 0.3 * PRECISE + 2 * RANDOM.normal(size=200)


@few_trees
def test_leaves_adapt_to_the_noise():
    precise = LeafSizeForest(random_state=0).fit(X, PRECISE)
    noisy = LeafSizeForest(random_state=0).fit(X, NOISY)
    assert precise.min_samples_leaf == 1
    assert noisy.min_samples_leaf == 20
    assert clone(noisy).fit(X, PRECISE).min_samples_leaf == 1


KINDS = {
    "forest": (LeafSizeForest, RandomForestRegressor, {"max_features": 3}),
    "extra": (LeafSizeExtraTrees, ExtraTreesRegressor, {}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("y", [NOISY, np.column_stack([PRECISE, NOISY])])
def test_it_is_the_forest_with_the_chosen_leaves(y, kind):
    """A random forest considers a third of the features, at least three."""
    chooses, plain, options = KINDS[kind]
    oob_score = kind == "forest"
    model = chooses(random_state=3, oob_score=oob_score).fit(X, y)
    size = model.min_samples_leaf
    forest = plain(min_samples_leaf=size, oob_score=oob_score, random_state=3, **options).fit(X, y)
    assert_array_equal(model.predict(X), forest.predict(X))
    if oob_score:
        assert_allclose(model.oob_prediction_, forest.oob_prediction_)


@few_trees
@pytest.mark.parametrize(("n_features", "n_considered"), [(1, 1), (2, 2), (4, 3), (9, 3), (12, 4)])
def test_splits_consider_a_third_of_the_features_and_at_least_three(n_features, n_considered):
    samples = RANDOM.normal(size=(30, n_features))
    forest = LeafSizeForest(random_state=0).fit(samples, samples[:, 0])
    assert {tree.max_features_ for tree in forest.estimators_} == {n_considered}


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_with_the_least_error_of_the_first_trees(kind):
    """The error of the samples that a tree was fitted without; others count as 0."""
    chooses, plain, options = KINDS[kind]
    seed = np.random.RandomState(2).randint(2**31 - 1)
    errors = {}
    for size in (1, 5, 20):
        forest = plain(10, min_samples_leaf=size, bootstrap=True, random_state=seed, **options).fit(
            X, NOISY
        )
        trees = [
            (tree.predict(X), set(drawn))
            for tree, drawn in zip(forest.estimators_, forest.estimators_samples_)
        ]
        predicted = [[of[i] for of, drawn in trees if i not in drawn] for i in range(len(X))]
        errors[size] = sum(
            ((np.mean(each) if each else 0.0) - NOISY[i]) ** 2 for i, each in enumerate(predicted)
        )
    model = chooses(random_state=2).fit(X, NOISY)
    assert model.min_samples_leaf == min(errors, key=errors.get)


@few_trees
def test_a_single_sample():
    model = LeafSizeForest(random_state=0, oob_score=True).fit(X[:1], PRECISE[:1])
    assert model.predict(X[:1]) == PRECISE[:1]


@few_trees
def test_sparse_samples_and_missing_values():
    some = np.where(X > 0.5, X, 0)
    dense = LeafSizeForest(random_state=0).fit(some, PRECISE)
    found = LeafSizeForest(random_state=0).fit(sparse.csr_array(some), PRECISE)
    assert_allclose(found.predict(sparse.csr_array(some)), dense.predict(some))
    holes = np.where(X > 1.5, np.nan, X)
    assert np.isfinite(LeafSizeForest(random_state=0).fit(holes, PRECISE).predict(holes)).all()

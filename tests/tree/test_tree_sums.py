"""Sums of trees against walks from node to node, to the last bit."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklrank.tree._sums.tree_sum import TreeSum

from sklrank.boosting import HistGradientBoostingRanker, RankBoost, RankingRefiner
from sklrank.semi_supervised import MCSSBClassifier
from sklrank.tree import HistogramTreeClassifier, HonestForestClassifier, HonestForestRegressor
from sklrank.tree._histogram import encode_categories

N_FEATURES = 5


def random_tree(rng, n_inner, n_outputs=1):
    """Return the nodes of a tree, whose children do not follow each other."""
    order = np.append(0, 1 + rng.permutation(2 * n_inner))
    leaves, tree = [0], {}
    shape = 2 * n_inner + 1
    tree["children_left"], tree["children_right"] = np.full((2, shape), -1)
    for number in range(n_inner):
        node = leaves.pop(rng.randint(len(leaves)))
        children = order[[2 * number + 1, 2 * number + 2]]
        tree["children_left"][node], tree["children_right"][node] = children
        leaves.extend(children)
    tree["features"] = rng.randint(N_FEATURES, size=shape)
    tree["thresholds"] = rng.randint(4, size=shape) / 2
    tree["values"] = rng.normal(size=(shape, n_outputs))
    tree["missing_left"] = rng.randint(2, size=shape)
    tree["categorical"] = tree["features"] == 4
    tree["left_categories"] = rng.randint(2**31, size=(shape, 8)).astype(np.uint32)
    return tree


def walk(tree, x):
    """Return the values of the leaf of a sample."""
    node = 0
    while tree["children_left"][node] > 0:
        value = x[tree["features"][node]]
        if np.isnan(value):
            is_left = tree["missing_left"][node]
        elif tree["categorical"][node]:
            words = tree["left_categories"][node]
            is_left = 0 <= value < 256 and words[int(value) // 32] >> int(value) % 32 & 1
        else:
            is_left = value <= tree["thresholds"][node]
        node = tree["children_left" if is_left else "children_right"][node]
    return tree["values"][node]


def random_samples(rng, n_samples, missing):
    X = rng.randint(5, size=(n_samples, N_FEATURES)) / 2
    X[:, 4] = rng.randint(-1, 258, size=n_samples)
    X[rng.uniform(size=X.shape) < missing] = np.nan
    return X


@pytest.mark.parametrize("n_samples", [0, 1, 7, 8, 9, 64, 65])
@pytest.mark.parametrize("sizes", [[0], [3], [5, 0], [9] * 8, [4, 0, 30] * 3])
def test_sums_are_those_of_walks(n_samples, sizes):
    n_outputs = 1 + 2 * (len(sizes) % 2)
    rng = np.random.RandomState(n_samples)
    trees = [random_tree(rng, n_inner, n_outputs) for n_inner in sizes]
    if n_samples % 2:
        for tree in trees:
            del tree["left_categories"]
            tree["categorical"] = np.zeros(len(tree["features"]))
    for missing in 0, 0.2:
        X = random_samples(rng, n_samples, missing)
        for start, stop in (0, None), (len(sizes) // 2, len(sizes)):
            before = rng.normal(size=(n_samples, n_outputs))
            expected = before.copy()
            for tree in trees[start:stop]:
                for row, x in zip(expected, X):
                    row += walk(tree, x)
            for given in X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[::1, ::2], X.astype("f4"):
                sums = before.copy()
                TreeSum(trees, N_FEATURES).add(given, sums, start, stop)
                assert_array_equal(sums, expected)


def test_infinite_values_and_thresholds():
    tree = random_tree(np.random.RandomState(0), 1)
    tree["categorical"][:], tree["thresholds"][0], tree["missing_left"][0] = 0, np.inf, 0
    X = np.array([[-np.inf], [3.0], [np.inf], [np.nan]]).repeat(N_FEATURES, axis=1)
    sums = np.zeros((4, 1))
    TreeSum([tree], N_FEATURES).add(X, sums)
    assert_array_equal(sums, [walk(tree, x) for x in X])


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("children_left", 0, 10**6),
        ("children_right", 0, -1),
        ("children_left", slice(None), 1),
        ("features", slice(None), N_FEATURES),
        ("features", slice(None), -1),
        ("values", slice(None), np.nan),
        ("values", slice(None), np.inf),
    ],
)
def test_damaged_trees_are_refused(name, place, value):
    tree = random_tree(np.random.RandomState(0), 5)
    tree[name][place] = value
    with pytest.raises(ValueError, match="damaged"):
        TreeSum([tree], N_FEATURES)


@pytest.mark.parametrize("name", random_tree(np.random.RandomState(0), 5))
def test_arrays_of_other_sizes_are_refused(name):
    tree = random_tree(np.random.RandomState(0), 5)
    for damaged in tree[name][:0], np.float64(1), tree[name][..., np.newaxis]:
        with pytest.raises((ValueError, TypeError, IndexError)):
            TreeSum([tree | {name: damaged}], N_FEATURES)


def test_arguments_that_do_not_fit_are_refused():
    trees = TreeSum([random_tree(np.random.RandomState(0), 5)], N_FEATURES)
    X, out = np.zeros((3, N_FEATURES)), np.zeros((3, 1))
    for arguments in (X[:, 1:], out), (X, out[1:]), (X, np.zeros((3, 2))), (X, out, 1, 0):
        with pytest.raises(ValueError):
            trees.add(*arguments)
    with pytest.raises(ValueError):
        trees.add(X, out, 0, 2)
    with pytest.raises(ValueError, match="cannot add up 0 trees"):
        TreeSum([], N_FEATURES)


# -- Fitted models.

RNG = np.random.RandomState(0)
X = RNG.normal(size=(300, 6))
X[:, 5] = RNG.randint(4, size=300)
Y = np.digitize(X[:, 0] * X[:, 1] + (X[:, 5] == 2), [0, 1])
QID = np.repeat(np.arange(15), 20)
X[RNG.uniform(size=X.shape) < 0.1] = np.nan


def nodes_of(tree):
    nodes = tree.tree_.nodes()
    return nodes | {
        "children_left": nodes["left"],
        "children_right": nodes["left"] + 1,
        "features": nodes["feature"],
        "thresholds": nodes["threshold"],
        "values": nodes["value"],
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_leaf_nodes": 9},
        {"init": None, "categorical_features": [5], "early_stopping": True},
        {"init": None, "early_stopping": False, "max_leaf_nodes": 2},
    ],
)
def test_boosted_trees(parameters):
    ranker = HistGradientBoostingRanker(max_iter=9, random_state=0, **parameters).fit(X, Y, QID)
    expected = np.zeros(300) if ranker.init_ is None else ranker.init_.predict(X)
    codes = ranker.encode(X)
    for model, step in zip(ranker.estimators_[: ranker.n_iter_], ranker.estimator_weights_):
        nodes = nodes_of(model)
        expected += step * np.array([walk(nodes, x) for x in codes])
    for model in ranker, pickle.loads(pickle.dumps(ranker)):
        for n in 1, 8, 300:
            assert_array_equal(model.predict(X[:n]), expected[:n])
        *_, last = model.staged_predict(X)
        assert_array_equal(last, model.predict(X))
    few = ranker.predict(X[:9].astype(np.float32))
    assert_array_equal(few, ranker.predict(X[:9].astype(np.float32).astype(float)))


@pytest.mark.parametrize("response_method", ["predict", "predict_proba"])
@pytest.mark.parametrize("weighting", ["auto", "resampling"])
def test_boosted_classification_trees(response_method, weighting):
    tree = HistogramTreeClassifier(max_leaf_nodes=6, min_samples_leaf=5)
    parameters = {"weighting": weighting, "response_method": response_method, "random_state": 0}
    ranker = RankingRefiner(estimator=tree, n_estimators=8, **parameters)
    ranker.fit(X, Y, QID, base_scores=np.arange(300) % 7)
    expected = np.zeros(300)
    for model, step in zip(ranker.estimators_, ranker.estimator_weights_):
        predicted = getattr(model, response_method)(X)
        expected += step * (predicted if predicted.ndim == 1 else predicted[:, 1])
    assert_array_equal(ranker.predict(X), expected)


def test_a_classification_tree():
    tree = HistogramTreeClassifier(max_leaf_nodes=6).fit(X, Y)
    nodes = nodes_of(tree) | {"values": tree._proportions}
    expected = np.array([walk(nodes, x) for x in X])
    assert_array_equal(tree.predict_proba(X), expected)
    assert_array_equal(tree.predict(X), tree.classes_[expected.argmax(axis=1)])


@pytest.mark.parametrize("weighting", ["auto", "resampling"])
def test_boosted_classes(weighting):
    """The hypotheses are indicators of classes, also of trees that were fitted to some of them."""
    tree = HistogramTreeClassifier(max_leaf_nodes=3, min_samples_leaf=2)
    known, y = np.nan_to_num(X[:60]), np.where(np.arange(60) % 2, -1, Y[:60])
    booster = MCSSBClassifier(tree, 6, weighting=weighting, random_state=0).fit(known, y)
    expected = np.zeros((60, 3))
    for model, step in zip(booster.estimators_, booster.estimator_weights_):
        expected += step * (model.predict(known)[:, np.newaxis] == np.arange(3))
    assert_array_equal(booster.decision_function(known), expected)


@pytest.mark.parametrize("splits", ["breiman", "level"])
@pytest.mark.parametrize("honest", [True, False])
def test_forests(splits, honest):
    known = np.nan_to_num(X).astype(np.float32)
    targets = np.column_stack([Y, known[:, 0], known[:, 1]])
    options = {"splits": splits, "honest": honest, "n_estimators": 10, "random_state": 0}
    options["max_depth"] = 5
    forest = HonestForestRegressor(**options).fit(known, targets)
    expected = sum(tree.predict(known) for tree in forest.estimators_) / 10
    assert_array_equal(forest.predict(known), expected)
    assert_array_equal(pickle.loads(pickle.dumps(forest)).predict(known[:3]), expected[:3])
    forest = HonestForestClassifier(**options).fit(known, Y)
    expected = sum(tree.predict(known) for tree in forest.estimators_) / 10
    assert_array_equal(forest.predict_proba(known), expected)


def test_changes_of_a_model_change_its_sum():
    """Steps, trees and categories of later rounds; a sum is not stored with the model."""
    ranker = RankBoost(n_estimators=6, random_state=0).fit(X, Y, QID)
    size, before = len(pickle.dumps(ranker)), ranker.predict(X)
    assert len(pickle.dumps(ranker)) == size
    ranker.estimator_weights_[0] *= 2
    assert (ranker.predict(X) != before).any()
    few = deepcopy(ranker)
    del few.estimators_[3:]
    *_, third, _, _, _ = ranker.staged_predict(X)
    assert_array_equal(few.predict(X), third)
    few.estimators_[0].fit(X, Y > 0)
    assert (few.predict(X) != third).any()


def test_categories_of_warm_starts():
    ranker = HistGradientBoostingRanker(
        categorical_features=[5], max_iter=4, warm_start=True, init=None, max_leaf_nodes=8
    ).fit(X, Y, QID)
    other = X.copy()
    other[:, 5] += 1
    ranker.set_params(max_iter=8).fit(other, Y, QID)
    expected = np.zeros(300)
    for model, step in zip(ranker.estimators_, ranker.estimator_weights_):
        nodes = nodes_of(model)
        expected += step * np.array(
            [walk(nodes, x) for x in encode_categories(X, model.categories_)]
        )
    assert_array_equal(ranker.predict(X), expected)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr("sklrank.tree._sums.sums.LEAST_SAMPLES", 50)
    ranker = HistGradientBoostingRanker(max_iter=5, init=None, n_jobs=3).fit(X, Y, QID)
    several = ranker.predict(X)
    assert_array_equal(several, np.concatenate([ranker.predict(part) for part in np.split(X, 6)]))

"""Honest trees and forests: leaf values, averages of trees, and classes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import Parallel, parallel_config, register_parallel_backend
from joblib.parallel import ThreadingBackend
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.parallel import delayed

from sklrank._estimators import parallel_results
from sklrank.label_ranking import PairwiseRanker
from sklrank.metrics import kendall_tau_score
from sklrank.tree import (
    HonestForestClassifier,
    HonestForestRegressor,
    HonestTreeClassifier,
    HonestTreeRegressor,
    LevelSplitsClassifier,
    LevelSplitsRegressor,
)
from sklrank.tree._honest.base import draw_halves

X, y = make_friedman1(400, random_state=0)
Y = np.column_stack([y, y**2, -X[:, 5]])
SPLITS = ["breiman", "level"]


def slow_values(tree, X, Y, W, least):
    """Compute each node by itself: the mean of its samples, or the value of its parent."""
    inner = tree.tree_
    values = np.empty((inner.node_count, Y.shape[1]))

    def fill(node, rows, inherited):
        enough = len(rows) >= least or node == 0
        values[node] = np.average(Y[rows], axis=0, weights=W[rows]) if enough else inherited
        left, right = inner.children_left[node], inner.children_right[node]
        if left >= 0:
            goes_left = X[rows, inner.feature[node]] <= inner.threshold[node]
            fill(left, rows[goes_left], values[node])
            fill(right, rows[~goes_left], values[node])

    fill(0, np.arange(len(X)), None)
    return values


@given(
    seed=st.integers(0, 2**16),
    n_samples=st.integers(1, 60),
    n_outputs=st.integers(1, 3),
    least=st.integers(1, 4),
    max_features=st.sampled_from([None, 1, 0.5, "sqrt", 100]),
    weighted=st.booleans(),
)
def test_honest_values(seed, n_samples, n_outputs, least, max_features, weighted):
    rows, targets = X[:n_samples].astype(np.float32), Y[:n_samples, :n_outputs]
    honest = HonestTreeRegressor(
        min_samples_leaf=least, max_features=max_features, random_state=seed
    )
    W = np.random.RandomState(seed).choice([0.1, 0.5, 7.0] if weighted else [1.0], n_samples)
    honest.fit(rows, targets, sample_weight=W if weighted else None)
    structure, estimation = draw_halves(n_samples, True, np.random.RandomState(seed))
    assert abs(len(structure) - len(estimation)) <= 1
    assert_array_equal(np.sort(np.concatenate([structure, estimation])), np.arange(n_samples))
    expected = slow_values(
        honest.estimator_, rows[estimation], targets[estimation], W[estimation], least
    )
    assert_allclose(honest.values_, expected, atol=1e-10)
    predicted = honest.predict(rows).reshape(n_samples, -1)
    assert_array_equal(predicted, honest.values_[honest.apply(rows)])


def test_without_honesty_it_is_the_tree_of_scikit_learn():
    tree = HonestTreeRegressor(honest=False, max_depth=5, random_state=0).fit(X, Y)
    seed = tree.estimator_.random_state
    scale = np.abs(Y - Y.mean(axis=0)).max()
    theirs = DecisionTreeRegressor(max_depth=5, random_state=seed).fit(X, (Y - Y.mean(0)) / scale)
    assert_allclose(tree.predict(X), Y.mean(axis=0) + scale * theirs.predict(X))
    assert_allclose(tree.feature_importances_, theirs.feature_importances_)


def slow_breiman(X, y, D, V, budget):
    """A slow, direct statement of Algorithm 10 for random rows D and V.

    Cells are sets of rows, split in the order in which they were created. Each leaf is returned
    with its value: an empty side of a cut keeps the mean of the cell that was cut.
    """
    queue, leaves = [(np.arange(len(X)), None)], []
    while queue:
        A, inherited = queue.pop(0)
        in_V, in_D = np.intersect1d(A, V), np.intersect1d(A, D)
        value = y[in_V].mean(axis=0) if len(in_V) else inherited
        cut = None
        if len(in_V) > 1 and len(in_D) > 1 and len(queue) + len(leaves) + 1 < budget:  # line 14
            cut = best_cut(X, y, in_D)
        if cut is None:
            leaves.append((A, value))
        else:
            feature, threshold = cut
            right = X[A, feature] > threshold
            queue += [(A[~right], value), (A[right], value)]
    return leaves


def best_cut(X, y, rows):
    """Return the cut of least squared error of the rows (Equation 10), or None without any."""
    errors = {}
    for feature in range(X.shape[1]):
        values = np.unique(X[rows, feature])
        for threshold in (values[1:] + values[:-1]) / 2:
            right = X[rows, feature] > threshold
            errors[feature, threshold] = sum(
                ((y[side] - y[side].mean(axis=0)) ** 2).sum()
                for side in (rows[right], rows[~right])
            )
    return min(errors, key=errors.get, default=None)


@pytest.mark.parametrize("budget", [1, 2, 3, 6, 11, 1000])
@pytest.mark.parametrize("honest", [True, False])
def test_is_algorithm_10(budget, honest):
    """With one feature, no two cuts of a cell are equally good."""
    rows, targets = X[:50, :1].astype(np.float32), Y[:50, :2]
    tree = HonestTreeRegressor(max_leaf_nodes=budget, honest=honest, random_state=0)
    tree.fit(rows, targets)
    halves = draw_halves(50, honest, np.random.RandomState(0))
    leaves = slow_breiman(rows.astype(float), targets, *halves, budget)
    assert 1 < len(leaves) <= budget or budget == 1
    if honest:
        assert len(leaves) < 30  # cells that one sample of V would have to fill are not cut
    for leaf, value in leaves:
        assert len(set(tree.apply(rows[leaf]))) == 1
        assert_allclose(tree.predict(rows[leaf]), np.tile(value, (len(leaf), 1)), atol=1e-9)
    assert len(set(tree.apply(rows))) == len(leaves)
    assert_allclose(tree.feature_importances_.sum(), budget > 1)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), budget=st.integers(1, 30), least=st.integers(1, 4))
def test_leaves_of_a_budget_are_nodes_of_the_whole_tree(seed, budget, least):
    tree = HonestTreeRegressor(min_samples_leaf=least, random_state=seed).fit(X[:50], Y[:50])
    limited = clone(tree).set_params(max_leaf_nodes=budget).fit(X[:50], Y[:50])
    assert len(set(limited.apply(X))) <= budget
    if tree.estimator_.get_depth() < budget:
        assert_array_equal(limited.predict(X), tree.values_[limited.apply(X)])


@pytest.mark.parametrize("honest", [True, False])
@pytest.mark.parametrize(("offset", "scale"), [(1e9, 1.0), (-3e5, 1.0), (0.0, 1e-9), (0.0, 1e9)])
def test_origin_and_unit_of_the_targets_do_not_matter(honest, offset, scale):
    for model in (
        HonestTreeRegressor(max_depth=4, honest=honest, random_state=0),
        HonestForestRegressor(5, max_depth=4, honest=honest, random_state=0),
    ):
        expected = clone(model).fit(X, Y).score(X, Y)
        targets = offset + scale * Y
        # Rounding decides between splits of equal gain.
        assert abs(model.fit(X, targets).score(X, targets) - expected) < 0.03
        assert expected > 0.35


@pytest.mark.parametrize("model", [HonestTreeRegressor(), HonestForestRegressor(2)])
def test_targets_that_are_not_numbers(model):
    for targets in (np.array(["low", "high"] * 5), np.full(10, "2020-01-01", dtype="M8[D]")):
        with pytest.raises(ValueError, match="y must be numbers"):
            model.fit(X[:10], targets)


@pytest.mark.parametrize("seed", range(3))
def test_the_second_half_changes_the_leaf_values_only(seed):
    tree = HonestTreeRegressor(random_state=seed)
    before = clone(tree).fit(X, Y)
    structure, estimation = draw_halves(len(X), True, np.random.RandomState(seed))
    moved = Y.copy()
    moved[estimation] = moved[estimation] ** 2
    after = clone(tree).fit(X, moved)
    assert_array_equal(after.apply(X), before.apply(X))
    assert_array_equal(after.estimator_.tree_.threshold, before.estimator_.tree_.threshold)
    assert not np.allclose(after.values_, before.values_)
    # Shifting the first half changes neither the splits nor the leaf values.
    moved = Y.copy()
    moved[structure] += 64.0
    after = HonestTreeRegressor(max_depth=3, random_state=seed).fit(X, moved)
    before = HonestTreeRegressor(max_depth=3, random_state=seed).fit(X, Y)
    assert_array_equal(after.apply(X), before.apply(X))
    assert_array_equal(after.values_, before.values_)


def test_leaves_without_samples_predict_the_value_of_an_ancestor():
    """The second half has a single value of the feature that the first half is split by."""
    rng = np.random.RandomState(0)
    structure, estimation = draw_halves(8, True, rng)
    rows, targets = np.zeros((8, 1)), np.zeros(8)
    rows[structure, 0] = targets[structure] = [0, 0, 1, 1]
    targets[estimation] = [5, 6, 7, 8]  # all at x = 0
    tree = HonestTreeRegressor(random_state=0).fit(rows, targets)
    assert tree.estimator_.get_depth() == 1
    assert_array_equal(tree.predict([[0], [1]]), [6.5, 6.5])


@pytest.mark.parametrize(
    ("classifier", "regressor"),
    [
        (HonestTreeClassifier(), HonestTreeRegressor()),
        (HonestTreeClassifier(honest=False), HonestTreeRegressor(honest=False)),
        (LevelSplitsClassifier(max_depth=4), LevelSplitsRegressor(max_depth=4)),
        (LevelSplitsClassifier(honest="estimation"), LevelSplitsRegressor(honest="estimation")),
        (HonestForestClassifier(5), HonestForestRegressor(5)),
        (
            HonestForestClassifier(6, splits="level"),
            HonestForestRegressor(6, splits="level"),
        ),
    ],
)
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_classifiers_predict_proportions(classifier, regressor, n_classes):
    """The probabilities are the predictions for the indicator matrix of the classes."""
    labels = np.digitize(y, [14, 18])[:200] % n_classes
    names = np.array(["low", "middle", "top"])[labels]
    classifier.set_params(random_state=0).fit(X[:200], names)
    assert classifier.classes_.tolist() == ["low", "middle", "top"][:n_classes]
    regressor.set_params(random_state=0).fit(X[:200], np.eye(n_classes)[labels])
    expected = regressor.predict(X).reshape(-1, n_classes)
    probabilities = classifier.predict_proba(X)
    assert_array_equal(probabilities, expected)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    assert_array_equal(classifier.predict(X), classifier.classes_[expected.argmax(axis=1)])
    assert_array_equal(classifier.feature_importances_, regressor.feature_importances_)


def test_gini_impurity_without_honesty():
    labels = np.digitize(y, [14, 18])
    tree = HonestTreeClassifier(honest=False, max_depth=4, random_state=0).fit(X, labels)
    seed = tree.estimator_.random_state
    theirs = DecisionTreeClassifier(max_depth=4, random_state=seed).fit(X, labels)
    assert_allclose(tree.predict_proba(X), theirs.predict_proba(X))


@pytest.mark.parametrize("splits", SPLITS)
def test_pairs_of_labels(splits):
    """Pairwise decomposition of incomplete rankings by honest trees."""
    positions = Y[:300].argsort(axis=1).argsort(axis=1) + 1.0
    positions[::3, 0] = np.nan
    ranker = PairwiseRanker(HonestForestClassifier(10, splits=splits, random_state=0))
    ranked = ranker.fit(X[:300], positions).predict(X[300:])
    truth = Y[300:].argsort(axis=1).argsort(axis=1) + 1
    assert kendall_tau_score(truth, ranked) > 0.7


@pytest.mark.parametrize("splits", SPLITS)
def test_a_forest_is_the_mean_of_its_trees(splits):
    forest = HonestForestRegressor(7, splits=splits, random_state=0).fit(X, Y)
    kind = {"breiman": HonestTreeRegressor, "level": LevelSplitsRegressor}[splits]
    assert [type(tree) for tree in forest.estimators_] == [kind] * 7
    assert all(tree.honest for tree in forest.estimators_)
    mean = np.mean([tree.predict(X) for tree in forest.estimators_], axis=0)
    assert_allclose(forest.predict(X), mean, rtol=1e-12)
    importances = np.mean([tree.feature_importances_ for tree in forest.estimators_], axis=0)
    assert_allclose(forest.feature_importances_, importances)
    assert_allclose(forest.feature_importances_.sum(), 1)
    assert len({tree.random_state for tree in forest.estimators_}) == 7


@pytest.mark.parametrize("splits", SPLITS)
def test_subsamples_are_drawn_without_replacement(splits):
    """Fully grown trees that are not honest reproduce the targets of their samples."""
    forest = HonestForestRegressor(3, splits=splits, honest=False, max_samples=None)
    assert_allclose(forest.fit(X, y).predict(X), y, rtol=1e-6)
    forest.set_params(max_samples=0.25, n_estimators=1)
    exact = np.isclose(forest.fit(X, y).predict(X), y, rtol=1e-6)
    assert exact.sum() == 100
    assert np.isclose(forest.set_params(max_samples=30).fit(X, y).predict(X), y).sum() == 30


@pytest.mark.parametrize("splits", SPLITS)
def test_threads_seeds_and_pickles(splits):
    forest = HonestForestRegressor(
        6, splits=splits, max_features=0.5, max_depth=6, random_state=3
    ).fit(X, Y)
    threaded = clone(forest).set_params(n_jobs=2).fit(X, Y)
    assert_array_equal(threaded.predict(X), forest.predict(X))
    copy = pickle.loads(pickle.dumps(forest))
    assert_array_equal(copy.predict(X), forest.predict(X))
    generator = np.random.RandomState(3)
    drawn = clone(forest).set_params(random_state=generator)
    assert_array_equal(drawn.fit(X, Y).predict(X), forest.predict(X))
    # A RandomState instance advances, as in scikit-learn.
    assert not np.array_equal(drawn.fit(X, Y).predict(X), forest.predict(X))


def test_forests_generalise_better_than_trees():
    train, test = slice(300), slice(300, None)
    for splits, tree in [("breiman", HonestTreeRegressor), ("level", LevelSplitsRegressor)]:
        alone = tree(honest=True, random_state=0).fit(X[train], y[train])
        forest = HonestForestRegressor(20, splits=splits, max_samples=None, random_state=0)
        gained = forest.fit(X[train], y[train]).score(X[test], y[test]) - alone.score(
            X[test], y[test]
        )
        assert gained > 0.1


@pytest.mark.parametrize("splits", SPLITS)
def test_honest_leaves_are_unbiased(splits):
    """With pure noise as target, the leaf that is best on the samples that chose the splits is not
    better than others on the other half."""
    kind = {"breiman": HonestTreeRegressor, "level": LevelSplitsRegressor}[splits]
    estimates = {True: [], False: []}
    random = np.random.RandomState(0)
    for seed in range(40):
        rows, noise = random.randint(2, size=(80, 10)), random.normal(size=80)
        for honest, found in estimates.items():
            tree = kind(max_depth=2, honest=honest, random_state=seed).fit(rows, noise)
            structure, _ = draw_halves(80, honest, np.random.RandomState(seed))
            leaves = tree.apply(rows[structure])
            best = max(np.unique(leaves), key=lambda leaf: noise[structure][leaves == leaf].mean())
            found.append(tree.values_[best, 0])
    standard_error = np.std(estimates[True]) / np.sqrt(40)
    assert abs(np.mean(estimates[True])) < 3 * standard_error
    assert np.mean(estimates[False]) > 0.3


@pytest.mark.parametrize("splits", SPLITS)
def test_one_sample_and_constants(splits):
    forest = HonestForestRegressor(3, splits=splits, random_state=0)
    assert_allclose(forest.fit(X[:1], Y[:1]).predict(X[:2]), Y[[0, 0]])
    assert_array_equal(forest.feature_importances_, 0)
    assert_allclose(forest.fit(np.ones((9, 2)), np.full(9, 0.1)).predict([[1, 2]]), 0.1)


def test_bad_input_leaves_the_model_unchanged(fingerprint):
    forest = HonestForestRegressor(2, random_state=0).fit(X, Y)
    before = fingerprint(forest)
    with pytest.raises(ValueError, match="X contains NaN"):
        forest.fit(np.where(X > 0.9, np.nan, X), Y)
    with pytest.raises(ValueError, match="max_samples=401 samples cannot be drawn"):
        forest.set_params(max_samples=401).fit(X, Y)
    forest.set_params(max_samples=0.8)
    assert fingerprint(forest) == before
    # Parameters that are set after fit do not change how X is converted.
    predicted = forest.predict(X)
    assert_array_equal(forest.set_params(splits="level").predict(X), predicted)
    with pytest.raises(NotFittedError):
        HonestForestRegressor().feature_importances_  # noqa: B018


@pytest.mark.parametrize("make", [LevelSplitsRegressor, HonestTreeRegressor, HonestForestRegressor])
def test_targets_that_would_overflow(make):
    X = np.arange(8.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="y must be within 1e[+]150 of 0"):
        make().fit(X, np.full(8, 1e200))
    with pytest.raises((TypeError, ValueError), match="[Ss]parse"):
        make().fit(X, sparse.csr_array(np.eye(8)))
    assert np.isfinite(make(random_state=0).fit(X, 1e149 * (X > 3).ravel()).predict(X)).all()


class ListBackend(ThreadingBackend):
    """A backend as that of Ray: joblib raises if it is asked for a generator."""

    supports_return_generator = False


def test_backends_that_return_no_generator():
    expected = HonestForestRegressor(3, random_state=0).fit(X, Y).predict(X)
    register_parallel_backend("lists", ListBackend)
    with parallel_config(backend="lists"):
        with pytest.raises(ValueError, match="return_as"):
            Parallel(return_as="generator")
        forest = HonestForestRegressor(3, random_state=0).fit(X, Y)
        assert_array_equal(forest.predict(X), expected)
        squares = parallel_results(map(delayed(np.square), range(5)), n_jobs=2)
        assert list(squares) == [0, 1, 4, 9, 16]


def walk(tree, x):
    """Return the value of a sample in a tree of `export_shap`."""
    node = 0
    while tree["children_left"][node] >= 0:
        children = tree["children_left"][node], tree["children_right"][node]
        weights = tree["node_sample_weight"]
        assert_allclose(weights[node], weights[children[0]] + weights[children[1]])
        node = children[int(x[tree["features"][node]] > tree["thresholds"][node])]
    return tree["values"][node]


@pytest.mark.parametrize(
    "model",
    [
        HonestTreeRegressor(max_leaf_nodes=20),
        HonestTreeRegressor(min_samples_leaf=5),
        HonestTreeClassifier(),
        HonestForestRegressor(3),
        HonestForestClassifier(3, splits="level", max_depth=8),
        LevelSplitsRegressor(max_depth=9, min_samples_leaf=2),
        LevelSplitsClassifier(honest="estimation", max_depth=5),
    ],
)
def test_exported_trees_predict_as_the_model(model):
    is_classifier = hasattr(model, "predict_proba")
    model = clone(model).set_params(random_state=0).fit(X, y > 14 if is_classifier else Y)
    content = model.export_shap()
    rows = X[:40].astype(content["input_dtype"])
    expected = model.predict_proba(X[:40]) if is_classifier else model.predict(X[:40])
    found = [sum(walk(tree, row) for tree in content["trees"]) for row in rows]
    assert_allclose(found, expected)


@pytest.mark.parametrize("tree", [HonestTreeRegressor(honest=False), LevelSplitsRegressor()])
def test_rules_as_text(tree):
    samples = pd.DataFrame({"age": [1, 1, 2, 2], "size": [5.0, 7, 5, 7]})
    tree = clone(tree).fit(samples, [0, 1, 3, 5])
    assert tree.export_text() == (
        "|--- age <= 1.50\n"
        "|   |--- size <= 6.00\n"
        "|   |   |--- value: [0.00]\n"
        "|   |--- size >  6.00\n"
        "|   |   |--- value: [1.00]\n"
        "|--- age >  1.50\n"
        "|   |--- size <= 6.00\n"
        "|   |   |--- value: [3.00]\n"
        "|   |--- size >  6.00\n"
        "|   |   |--- value: [5.00]\n"
    )
    tree.fit(samples.to_numpy(), [2, 2, 2, 3])
    assert "feature_1 >  6" in tree.export_text(decimals=0)
    assert tree.fit(samples, [2, 2, 2, 2]).export_text(decimals=0) == "|--- value: [2]\n"
    assert tree.fit(X, y).export_text().count("value") == len(np.unique(tree.apply(X)))

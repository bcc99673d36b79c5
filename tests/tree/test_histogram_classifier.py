"""HistogramTreeClassifier against a slow statement of its rules, and as an estimator."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier

from sklrank.tree import HistogramTreeClassifier
from sklrank.tree._histogram import HistogramTreeRegressor


def purity(y, w, part):
    """Return the sum of the squared weights of the classes in a leaf, divided by its weight."""
    return sum(w[part & (y == name)].sum() ** 2 for name in set(y)) / w[part].sum()


def slow_tree(X, y, w, max_leaf_nodes, min_samples_leaf):
    """Return the total gain and the leaves: the best of all splits of all leaves, one by one."""
    leaves, total = [np.ones(len(y), dtype=bool)], 0.0
    while len(leaves) < max_leaf_nodes:
        best = 1e-7, None, None
        for number, part in enumerate(leaves):
            for values in X.T:
                missing = np.isnan(values)
                known = values <= np.unique(values[part & ~missing])[:, np.newaxis]
                for side in [*known, *(known | missing)]:
                    left, right = part & side, part & ~side
                    if min(left.sum(), right.sum()) < min_samples_leaf:
                        continue
                    gain = purity(y, w, left) + purity(y, w, right) - purity(y, w, part)
                    if gain > best[0] * (1 + 1e-7):
                        best = gain, number, (left, right)
        gain, number, children = best
        if children is None:
            break
        total += gain
        leaves[number] = children[0]
        leaves.append(children[1])
    return total, leaves


@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 7),
    max_leaf_nodes=st.integers(2, 6),
    min_samples_leaf=st.integers(1, 5),
)
def test_same_tree_as_a_slow_statement(seed, n_classes, max_leaf_nodes, min_samples_leaf):
    random = np.random.RandomState(seed)
    X = np.round(random.normal(size=(30, 3)) * [3, 1, 9])
    X[random.uniform(size=X.shape) < [0, 0.3, 0.1]] = np.nan
    X[0] = np.nan
    latent = np.nan_to_num(X[:, 0]) + random.normal(size=30)
    y = np.argsort(np.argsort(latent)) * n_classes // 30
    w = random.uniform(0.5, 2, size=30)
    total, leaves = slow_tree(X, y, w, max_leaf_nodes, min_samples_leaf)
    tree = HistogramTreeClassifier(
        max_leaf_nodes=max_leaf_nodes, min_samples_leaf=min_samples_leaf
    ).fit(X, y, w)
    # For two classes, the targets are 1 and -1, whose variance is twice the Gini impurity.
    gains = tree.tree_.nodes()["gain"] / (2 if n_classes == 2 else 1)
    assert_allclose(gains.sum(), total, rtol=1e-5, atol=1e-6)
    expected = np.empty((30, n_classes))
    for part in leaves:
        expected[part] = [w[part & (y == name)].sum() / w[part].sum() for name in range(n_classes)]
    probabilities = tree.predict_proba(X)
    assert_allclose(probabilities, expected, atol=1e-12)
    assert_array_equal(tree.predict(X), probabilities.argmax(axis=1))


RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(400, 10))
Y = np.digitize(X[:, 0] + np.abs(X[:, 8]) + 0.3 * RANDOM.normal(size=400), [0, 0.7, 1.5])


def test_each_class_may_be_renamed():
    names = np.array(["d", "b", "a", "c"])
    tree, renamed = HistogramTreeClassifier().fit(X, Y), HistogramTreeClassifier()
    renamed.fit(X.astype(np.float32).astype(float), names[Y])
    assert_array_equal(names[tree.predict(X)], renamed.predict(X))
    assert_allclose(tree.predict_proba(X), renamed.predict_proba(X)[:, [3, 1, 0, 2]])


def test_two_classes_are_a_regression():
    """On the targets -1 and 1."""
    rows, y = np.round(2 * X), Y > 1
    tree = HistogramTreeClassifier(max_leaf_nodes=9).fit(rows, y)
    regression = HistogramTreeRegressor(max_leaf_nodes=9).fit(rows, 2 * y - 1)
    assert_allclose(2 * tree.predict_proba(rows)[:, 1] - 1, regression.predict(rows))
    assert_allclose(tree.feature_importances_, regression.feature_importances_)


@given(seed=st.integers(0, 2**32 - 1))
def test_stumps(seed):
    """They have the split of scikit-learn's, up to ties."""
    random = np.random.RandomState(seed)
    rows = random.randint(6, size=(40, 3)) / 2
    y = np.where(rows[:, 2] + random.normal(size=40) > 1, "yes", "no")
    y[:2] = "no", "yes"
    weights = random.uniform(size=40)
    stump = HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1).fit(rows, y, weights)
    peer = DecisionTreeClassifier(max_depth=1).fit(rows, y, weights)

    def merit(tree):
        leaves = tree.predict_proba(rows)[:, 0]
        return sum(purity(y, weights, leaves == leaf) for leaf in np.unique(leaves))

    assert_allclose(merit(stump), merit(peer), rtol=1e-6)
    assert_array_equal(
        stump.predict(rows), stump.classes_[stump.predict_proba(rows).argmax(axis=1)]
    )


def test_ties_go_to_the_smaller_feature_and_threshold():
    rows = np.array([[0.0, 1, 1], [1, 1, 1], [2, 2, 2], [3, 2, 2]])
    stump = HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1)
    nodes = stump.fit(rows[:, [1, 2]], [0, 0, 1, 1]).tree_.nodes()
    assert (nodes["feature"][0], nodes["threshold"][0]) == (0, 1.5)
    assert stump.fit(rows[:, [0]], [0, 1, 0, 1]).tree_.nodes()["threshold"][0] == 0.5


def test_neighboring_and_huge_values_are_separated():
    stump = HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1)
    for dtype in (np.float32, np.float64):
        low = dtype(0.1)
        rows = np.array([[low], [np.nextafter(low, dtype(1))]])
        assert_array_equal(stump.fit(rows, [0, 1]).predict(rows), [0, 1])
        assert_array_equal(stump.predict(rows.astype(np.float64)), [0, 1])
    rows = np.array([[-1e308], [1e308], [1.5e308]])
    assert_array_equal(stump.fit(rows, [0, 0, 1]).predict(rows), [0, 0, 1])


def test_samples_of_weight_zero_are_ignored():
    weights = np.repeat([1.0, 0.0], 200)
    tree = HistogramTreeClassifier().fit(X, Y, weights)
    alone = HistogramTreeClassifier().fit(X[:200], Y[:200])
    assert_array_equal(tree.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "labels", "message"),
    [
        ({}, np.ones(400), r"one class only, \[1.0\]; .* two or more"),
        ({}, X[:, 0], "continuous"),
        ({"min_samples_leaf": 0}, Y, "min_samples_leaf"),
    ],
)
def test_bad_input_leaves_the_model_as_it_was(parameters, labels, message, fingerprint):
    tree = HistogramTreeClassifier().fit(X, Y)
    before = fingerprint(tree.set_params(**parameters))
    with pytest.raises(ValueError, match=message):
        tree.fit(X, labels)
    assert fingerprint(tree) == before

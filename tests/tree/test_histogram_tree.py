"""HistogramTreeRegressor against a slow statement of its rules."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.tree import HistogramTreeClassifier
from sklrank.tree._histogram import HistogramTreeRegressor
from sklrank.tree._histogram import trees as _histogram_tree


def score(y, w, l2):
    return (w @ y) ** 2 / (w.sum() + l2)


def left_sides(values, part, is_categorical, smoothed_mean):
    """Yield a mask of the samples on the left side for each split of `part` by one feature."""
    missing = np.isnan(values)
    known = np.unique(values[part & ~missing])
    if is_categorical:
        groups = [values == category for category in known]
        groups += [missing] if (part & missing).any() else []
        groups.sort(key=smoothed_mean)
        for n in range(1, len(groups)):
            yield np.any(groups[:n], axis=0)
    else:
        for threshold in known:
            yield values <= threshold
            yield (values <= threshold) | missing


def slow_tree(X, y, w, *, max_leaf_nodes, min_samples_leaf, l2, categorical):
    """Return the gains and the predictions: the best of all splits of all leaves, one by one."""
    w = w / w.mean()
    leaves, gains = [np.ones(len(y), dtype=bool)], []
    while len(leaves) < max_leaf_nodes:
        best = 1e-9, None, None
        for number, part in enumerate(leaves):

            def smoothed_mean(group, part=part):
                return -(w @ (y * (part & group))) / (w @ (part & group) + 10.0)

            for feature in range(X.shape[1]):
                is_categorical = feature in categorical
                for side in left_sides(X[:, feature], part, is_categorical, smoothed_mean):
                    left, right = part & side, part & ~side
                    if min(left.sum(), right.sum()) < min_samples_leaf:
                        continue
                    gain = score(y[left], w[left], l2) + score(y[right], w[right], l2)
                    gain -= score(y[part], w[part], l2)
                    if gain > best[0] * (1 + 1e-9):
                        best = gain, number, [left, right]
        gain, number, children = best
        if children is None:
            break
        gains.append(gain)
        leaves[number] = children[0]
        leaves.append(children[1])
    predicted = np.empty(len(y))
    for part in leaves:
        predicted[part] = w[part] @ y[part] / (w[part].sum() + l2)
    return gains, predicted


def draw_samples(seed):
    """Return samples with few values and missing ones, targets and weights."""
    random = np.random.RandomState(seed)
    X = np.round(random.normal(size=(40, 3)) * [3, 1, 9])
    X[random.uniform(size=X.shape) < [0, 0.3, 0.1]] = np.nan
    return X, random.normal(size=40) + np.nan_to_num(X[:, 1]), random.uniform(0.5, 2, size=40)


@given(
    seed=st.integers(0, 2**32 - 1),
    max_leaf_nodes=st.integers(2, 7),
    min_samples_leaf=st.integers(1, 6),
    l2=st.sampled_from([0.0, 0.5, 3.0]),
    categorical=st.sampled_from([[], [1], [0, 2]]),
)
def test_same_splits_as_a_slow_statement(seed, max_leaf_nodes, min_samples_leaf, l2, categorical):
    X, y, w = draw_samples(seed)
    parameters = {"max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": min_samples_leaf}
    gains, predicted = slow_tree(X, y, w, l2=l2, categorical=categorical, **parameters)
    tree = HistogramTreeRegressor(
        l2_regularization=l2, categorical_features=categorical, **parameters
    ).fit(X, y, w)
    nodes = tree.tree_.nodes()
    # Rounding to integers may change the order of splits of almost equal gains.
    assert_allclose(nodes["gain"][nodes["gain"] > 0].sum() / w.mean(), sum(gains), rtol=1e-5)
    assert_allclose(tree.predict(X), predicted, rtol=1e-9, atol=1e-12)
    assert_allclose(pickle.loads(pickle.dumps(tree)).predict(X), predicted, rtol=1e-9, atol=1e-12)


def slow_symmetric_tree(X, y, w, *, depth, min_samples_leaf, l2, categorical):
    """Return the gains and the predictions: the best of all common splits of all leaves."""
    w = w / w.mean()
    leaves, gains = [np.ones(len(y), dtype=bool)], []

    def gain_of(part, side):
        left, right = part & side, part & ~side
        if min(left.sum(), right.sum()) < min_samples_leaf:
            return 0.0
        gain = score(y[left], w[left], l2) + score(y[right], w[right], l2)
        return max(0.0, gain - score(y[part], w[part], l2))

    for _ in range(depth):
        large = [part for part in leaves if part.sum() >= 2 * min_samples_leaf]
        level = np.any([np.zeros(len(y), dtype=bool), *large], axis=0)

        def smoothed_mean(group, level=level):
            return -(w @ (y * (level & group))) / (w @ (level & group) + 10.0)

        best, best_side = 1e-9, None
        for feature in range(X.shape[1]):
            values, is_categorical = X[:, feature], feature in categorical
            for side in left_sides(values, level, is_categorical, smoothed_mean):
                gain = sum(gain_of(part, side) for part in large)
                if gain > best * (1 + 1e-9):
                    best, best_side = gain, side
        if best_side is None:
            break
        gains.append(best)
        is_split = [
            any(part is each for each in large) and gain_of(part, best_side) > 1e-9
            for part in leaves
        ]
        leaves = [
            child
            for part, split in zip(leaves, is_split)
            for child in ([part & best_side, part & ~best_side] if split else [part])
        ]
    predicted = np.empty(len(y))
    for part in leaves:
        predicted[part] = w[part] @ y[part] / (w[part].sum() + l2)
    return gains, predicted


@given(
    seed=st.integers(0, 2**32 - 1),
    depth=st.integers(1, 4),
    min_samples_leaf=st.integers(1, 6),
    l2=st.sampled_from([0.0, 0.5, 3.0]),
    categorical=st.sampled_from([[], [1], [0, 2]]),
)
def test_symmetric_trees_have_the_best_common_splits(
    seed, depth, min_samples_leaf, l2, categorical
):
    X, y, w = draw_samples(seed)
    parameters = {"min_samples_leaf": min_samples_leaf}
    gains, predicted = slow_symmetric_tree(
        X, y, w, depth=depth, l2=l2, categorical=categorical, **parameters
    )
    tree = HistogramTreeRegressor(
        symmetric=True,
        max_leaf_nodes=2**depth,
        l2_regularization=l2,
        categorical_features=categorical,
        **parameters,
    ).fit(X, y, w)
    nodes = tree.tree_.nodes()
    assert_allclose(nodes["gain"][nodes["gain"] > 0].sum() / w.mean(), sum(gains), rtol=1e-5)
    assert_allclose(tree.predict(X), predicted, rtol=1e-9, atol=1e-12)
    deeper = HistogramTreeRegressor(
        symmetric=True,
        max_leaf_nodes=2 ** (depth + 1),
        max_depth=depth,
        l2_regularization=l2,
        categorical_features=categorical,
        **parameters,
    ).fit(X, y, w)
    assert_array_equal(deeper.predict(X), tree.predict(X))


RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(600, 10))
Y = X[:, 0] + np.abs(X[:, 8]) + 0.3 * RANDOM.normal(size=600)


def test_order_of_the_samples_does_not_matter():
    order = np.random.RandomState(1).permutation(len(X))
    tree, permuted = HistogramTreeRegressor().fit(X, Y), HistogramTreeRegressor()
    permuted.fit(X[order], Y[order])
    assert_allclose(permuted.predict(X), tree.predict(X), rtol=1e-12)
    assert_array_equal(permuted.tree_.nodes()["threshold"], tree.tree_.nodes()["threshold"])


@pytest.mark.parametrize("symmetric", [False, True])
def test_too_few_samples_for_a_split(symmetric):
    tree = HistogramTreeRegressor(symmetric=symmetric, min_samples_leaf=2)
    assert_array_equal(tree.fit([[0], [1], [2]], [0, 3, 6]).predict([[0], [2]]), [3, 3])


@pytest.mark.parametrize(
    "kind",
    [
        HistogramTreeRegressor,
        partial(HistogramTreeRegressor, symmetric=True, max_leaf_nodes=16),
        HistogramTreeClassifier,
    ],
)
def test_threads_do_not_change_the_tree(kind, monkeypatch):
    """With more threads than blocks of eight features, ties between features, and few features."""
    monkeypatch.setattr(_histogram_tree, "LEAST_VALUES_FOR_THREADS", 0)
    rows = np.hstack([np.round(X), X[:, ::-1], np.round(X), X[:, :3]])
    rows[X[:, 0] > 2, 4] = np.nan
    y = np.digitize(Y, [0, 1, 2]) if kind is HistogramTreeClassifier else Y
    for max_features in None, 2:
        parameters = {"min_samples_leaf": 3, "max_features": max_features, "random_state": 0}
        one = kind(**parameters).fit(rows, y)
        for n_jobs in 2, 3, 9:
            several = kind(**parameters, n_jobs=n_jobs).fit(rows, y)
            for name, values in one.tree_.nodes().items():
                assert_array_equal(several.tree_.nodes()[name], values)
            assert_array_equal(several.predict(rows), one.predict(rows))


def test_bins_limit_the_thresholds():
    tree = HistogramTreeRegressor(max_bins=4, max_leaf_nodes=60, min_samples_leaf=1).fit(X, Y)
    nodes = tree.tree_.nodes()
    for feature in range(10):
        used = nodes["threshold"][(nodes["feature"] == feature) & (nodes["left"] > 0)]
        assert len(np.unique(used)) <= 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_training_samples_are_sent_to_their_leaves(dtype):
    """The leaf values are the means of the samples that are predicted to be in the leaf."""
    rows = X.astype(dtype)
    predicted = HistogramTreeRegressor(max_bins=32).fit(rows, Y).predict(rows)
    for value in np.unique(predicted):
        assert_allclose(Y[predicted == value].mean(), value, rtol=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_monotonic_constraints(sign):
    y = sign * (X[:, 0] + np.sin(4 * X[:, 0])) + X[:, 1] ** 2
    tree = HistogramTreeRegressor(monotonic_cst=[sign, *[0] * 9], min_samples_leaf=5).fit(X, y)
    grid = np.repeat(X[:50], 40, axis=0)
    grid[:, 0] = np.tile(np.linspace(-3, 3, 40), 50)
    changes = sign * np.diff(tree.predict(grid).reshape(50, 40))
    assert (changes >= 0).all()
    assert (changes > 0).any()
    free = HistogramTreeRegressor(min_samples_leaf=5).fit(X, y)
    assert (sign * np.diff(free.predict(grid).reshape(50, 40)) < 0).any()


def test_unknown_categories_are_treated_as_missing():
    x = np.repeat([3.0, 7.0, 9.0, np.nan], [30, 40, 50, 10])
    y = np.repeat([1.0, 2.0, 1.0, 5.0], [30, 40, 50, 10])
    tree = HistogramTreeRegressor(categorical_features=[True], min_samples_leaf=1)
    tree.fit(x[:, np.newaxis], y)
    known = tree.predict([[3.0], [7.0], [9.0], [np.nan]])
    assert_allclose(known, [1, 2, 1, 5])
    assert_allclose(tree.predict([[4.0], [-1e300], [8.0]]), 5)
    without = HistogramTreeRegressor(categorical_features=[0]).fit(x[:120, np.newaxis], y[:120])
    # The larger child.
    assert_allclose(without.predict([[np.nan], [4.0]]), 1)


def test_large_categories_of_double_precision():
    """Integers that single precision cannot distinguish are different categories."""
    categories = 2.0**24 + np.arange(4)
    x, y = np.repeat(categories, 20)[:, np.newaxis], np.repeat([1.0, 2.0, 3.0, 4.0], 20)
    tree = HistogramTreeRegressor(categorical_features=[0], min_samples_leaf=1).fit(x, y)
    assert_allclose(tree.predict(x), y)
    assert_allclose(tree.predict([[1e300]]), tree.predict([[np.nan]]))


def test_unknown_integers_between_large_categories():
    """They are missing, though in single precision they are equal to categories."""
    categories = 2e7 + 2.0 * np.arange(4)
    x, y = np.repeat(categories, 20)[:, np.newaxis], np.repeat([1.0, 2.0, 3.0, 4.0], 20)
    x, y = np.vstack([x, np.full((5, 1), np.nan)]), np.append(y, np.full(5, 9.0))
    tree = HistogramTreeRegressor(categorical_features=[0], min_samples_leaf=1).fit(x, y)
    assert_allclose(tree.predict(x), y)
    assert_allclose(tree.predict(categories[:, np.newaxis] + 1), 9)


def test_features_are_drawn():
    trees = [
        HistogramTreeRegressor(max_features=3, random_state=seed).fit(X, Y) for seed in range(8)
    ]
    used = [set(np.flatnonzero(tree.feature_importances_)) for tree in trees]
    assert all(len(features) <= 3 for features in used)
    assert len(set.union(*used)) > 3
    assert_allclose(trees[0].feature_importances_.sum(), 1)


def test_several_targets():
    """The gain is the sum of those of the targets, and the predictions are the means of leaves."""
    targets = np.column_stack([Y, X[:, 3] ** 2, 0 * Y, -2 * X[:, 8], Y])
    weights = np.random.RandomState(1).uniform(0.5, 2, size=600)
    tree = HistogramTreeRegressor(max_leaf_nodes=9, l2_regularization=2.0)
    predicted = tree.fit(X, targets, weights).predict(X)
    assert predicted.shape == (600, 5)
    _, leaves = np.unique(predicted, axis=0, return_inverse=True)
    relative = weights / weights.mean()
    assert len(np.unique(leaves)) == 9
    scores = 0.0
    for leaf in np.unique(leaves):
        part = leaves == leaf
        sums = relative[part] @ targets[part]
        assert_allclose(predicted[part] - sums / (relative[part].sum() + 2), 0, atol=1e-12)
        scores += sums @ sums / (relative[part].sum() + 2)
    sums = relative @ targets
    gain = tree.tree_.nodes()["gain"].sum() / weights.mean()
    assert_allclose(gain, scores - sums @ sums / (600 + 2), rtol=1e-6)
    # The first split is the best of all.
    first = HistogramTreeRegressor(max_leaf_nodes=2, max_bins=9, min_samples_leaf=1)
    first.fit(np.round(X), targets)
    total = targets.sum(axis=0)
    gains = [
        (left @ left) / n + ((total - left) @ (total - left)) / (600 - n) - total @ total / 600
        for values in np.round(X).T
        for threshold in np.unique(values)[:-1]
        for n, left in [((values <= threshold).sum(), targets[values <= threshold].sum(axis=0))]
    ]
    assert_allclose(first.tree_.nodes()["gain"][0], max(gains), rtol=1e-6)
    # A model that is fitted again to one target predicts one.
    assert tree.fit(X, Y).predict(X).shape == (600,)
    assert_array_equal(tree.predict(X), tree.fit(X, Y[:, np.newaxis]).predict(X))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scale_of_the_targets(scale):
    plain, scaled = HistogramTreeRegressor().fit(X, Y), HistogramTreeRegressor().fit(X, scale * Y)
    assert_allclose(scaled.predict(X) / scale, plain.predict(X), rtol=1e-9)


def test_nothing_to_split():
    for rows, y in [
        (X, np.zeros(600)),
        (np.full((600, 2), np.nan), Y),
        (np.ones((600, 2)), Y),
        (X[:1], Y[:1]),
    ]:
        tree = HistogramTreeRegressor().fit(rows, y)
        assert_allclose(tree.predict(rows), y.mean(), atol=1e-12)
        assert not tree.feature_importances_.any()


@pytest.mark.filterwarnings("ignore:the categorical feature 3 of X has 600 categories")
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"categorical_features": [10]}, "indices from 0 to 9"),
        ({"categorical_features": [0.5]}, "categorical_features must be a list"),
        ({"categorical_features": [True]}, "categorical_features must be a list"),
        ({"monotonic_cst": [1]}, "monotonic_cst must be a list of 10"),
        ({"monotonic_cst": [2] * 10}, "monotonic_cst must be a list of 10"),
        ({"monotonic_cst": [1] * 10, "categorical_features": [3]}, "have no order"),
        ({"max_bins": 256}, "max_bins"),
    ],
)
def test_bad_parameters_leave_the_model_as_it_was(parameters, message, fingerprint):
    tree = HistogramTreeRegressor().fit(X, Y)
    before = fingerprint(tree.set_params(**parameters))
    with pytest.raises(ValueError, match=message):
        tree.fit(X, Y)
    assert fingerprint(tree) == before


def test_weights_are_repetitions():
    random = np.random.RandomState(0)
    X = random.randint(6, size=(200, 3)).astype(float)
    y, weights = X[:, 0] * X[:, 1] + random.normal(size=200), random.randint(3, size=200)
    copies = np.repeat(np.arange(200), weights)
    tree = HistogramTreeRegressor(min_samples_leaf=1)
    expected = tree.fit(X[copies], y[copies]).predict(X)
    assert_allclose(tree.fit(X, y, sample_weight=weights).predict(X), expected)

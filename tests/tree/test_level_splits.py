"""LevelSplitsRegressor: comparison with an exhaustive search, and use as an estimator."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

from sklrank.label_ranking import LabelwiseRanker
from sklrank.tree import LevelSplitsClassifier, LevelSplitsRegressor
from sklrank.tree._histogram.binning import find_candidates, midpoints
from sklrank.tree._honest.base import draw_halves
from sklrank.tree._honest.level_splits import Growth

RANDOM = np.random.RandomState(0)
X = np.column_stack([RANDOM.randint(2, size=(300, 6)), RANDOM.normal(size=(300, 2))])
Y = np.column_stack([X[:, 0] + 2 * X[:, 1] * X[:, 6], X[:, 7] ** 2, X[:, 2] - X[:, 3]])
Y += 0.1 * RANDOM.normal(size=Y.shape)


def mean(Y, W, rows):
    return np.average(Y[rows], axis=0, weights=W[rows])


def squared_error(Y, W, rows):
    return (W[rows] @ (Y[rows] - mean(Y, W, rows)) ** 2).sum() if len(rows) else 0.0


class SlowTree:
    """A slow, direct statement of Algorithm 9, with both halves in all cells if it is honest.

    The samples have weights W.
    """

    def __init__(self, X, Y, W, structure, estimation, *, least=1, max_depth=None):
        self.X, self.W, self.least = X, W, least
        self.halves = structure, estimation
        self.cells = [np.arange(len(X))]
        self.splits, self.gains = [], []
        while max_depth is None or len(self.splits) < max_depth:
            gains = {
                (j, t): sum(self.gain(Y, cell, j, t) for cell in self.cells)
                for j in range(X.shape[1])
                for t in (lambda v: (v[1:] + v[:-1]) / 2)(np.unique(X[:, j]))
            }
            error = sum(squared_error(Y, W, np.intersect1d(c, structure)) for c in self.cells)
            best = max(gains.values(), default=0.0)
            if not best > 1e-9 * error:
                break
            # The first of the best splits.
            split = next(s for s, gain in gains.items() if gain >= best - 1e-9 * error)
            self.cells = [part for cell in self.cells for part in self.parts(cell, *split)]
            self.splits.append(split)
            self.gains.append(best)
        self.values = {
            row: mean(Y, W, np.intersect1d(cell, estimation)) for cell in self.cells for row in cell
        }

    def parts(self, cell, j, t):
        sides = cell[self.X[cell, j] <= t], cell[self.X[cell, j] > t]
        enough = all(
            len(np.intersect1d(side, half)) >= self.least for side in sides for half in self.halves
        )
        return sides if enough else (cell,)

    def gain(self, Y, cell, j, t):
        structure, W = self.halves[0], self.W
        after = sum(
            squared_error(Y, W, np.intersect1d(side, structure)) for side in self.parts(cell, j, t)
        )
        return squared_error(Y, W, np.intersect1d(cell, structure)) - after


@given(
    seed=st.integers(0, 2**16),
    n_samples=st.integers(1, 25),
    n_values=st.integers(1, 5),
    n_outputs=st.integers(1, 3),
    least=st.integers(1, 3),
    max_depth=st.none() | st.integers(1, 3),
    honest=st.booleans(),
    weighted=st.booleans(),
    is_class=st.booleans(),
)
def test_is_the_slow_tree(
    seed, n_samples, n_values, n_outputs, least, max_depth, honest, weighted, is_class
):
    """Targets that indicate classes have sums of their own."""
    random = np.random.RandomState(seed)
    X = random.randint(n_values, size=(n_samples, 4)).astype(float)
    Y = random.randint(4, size=(n_samples, n_outputs)).astype(float)
    if is_class:
        Y = np.eye(9)[random.randint(9, size=n_samples)]
    tree = LevelSplitsRegressor(
        max_depth=max_depth, min_samples_leaf=least, honest=honest, random_state=seed
    )
    W = random.choice([0.1, 0.5, 7.0] if weighted else [1.0], n_samples)
    tree.fit(X, Y, sample_weight=W if weighted else None)
    halves = draw_halves(n_samples, honest, np.random.RandomState(seed))
    slow = SlowTree(X, Y, W, *halves, least=least, max_depth=max_depth)
    assert tree.splits_.tolist() == slow.splits
    expected = np.array([slow.values[row] for row in range(n_samples)])
    assert_allclose(tree.predict(X).reshape(expected.shape), expected, atol=1e-12)
    importances = np.zeros(4)
    for (feature, _), gain in zip(slow.splits, slow.gains):
        importances[feature] += gain / sum(slow.gains)
    assert_allclose(tree.feature_importances_, importances, atol=1e-9)
    assert len(tree.values_) == len(slow.cells)


@pytest.mark.parametrize("honest", [False, True, "estimation"])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_are_the_columns_of_their_indicators(honest, weighted):
    """A scaled and shifted indicator has the same splits; it is not known to be one."""
    labels = RANDOM.randint(30, size=len(X)) * (X[:, 0] + X[:, 6] > 0).astype(int)
    W = RANDOM.uniform(0.5, 2, len(X)) if weighted else None
    parameters = {"min_samples_leaf": 2, "honest": honest, "random_state": 0}
    classes = LevelSplitsClassifier(**parameters).fit(X, labels, sample_weight=W)
    indicator = np.eye(30)[np.unique(labels, return_inverse=True)[1]]
    trees = [
        LevelSplitsRegressor(**parameters).fit(X, targets, sample_weight=W)
        for targets in (indicator, 3 - 2 * indicator)
    ]
    assert len(classes.splits_) > 5
    for tree in trees:
        assert_array_equal(tree.splits_, classes.splits_)
        assert_allclose(tree.feature_importances_, classes.feature_importances_, rtol=1e-9)
    assert_array_equal(trees[0].predict(X)[:, : len(classes.classes_)], classes.predict_proba(X))
    assert_allclose(trees[1].predict(X), 3 - 2 * trees[0].predict(X), atol=1e-12)


def test_sums_are_those_of_nonempty_pairs_of_a_cell_and_a_class():
    """There are as many as samples at most, for any number of classes."""
    labels = RANDOM.randint(500, size=len(X))
    growth = Growth(np.eye(500)[labels], None, [np.arange(len(X))], 1)
    for feature in range(6):
        growth.split(X[:, feature] > 0.5)
        cells = [growth.cells == cell for cell in range(growth.n_cells)]
        # The classes of open cells, which have two classes at least, and the weight of each cell.
        counts = [len(np.unique(labels[cell])) for cell in cells]
        assert growth.totals.size == sum(1 + count for count in counts if count > 1)


@given(
    seed=st.integers(0, 2**16),
    n_samples=st.integers(4, 30),
    n_values=st.integers(2, 5),
    least=st.integers(1, 3),
    max_depth=st.none() | st.integers(1, 3),
)
def test_printed_honesty(seed, n_samples, n_values, least, max_depth):
    """Algorithm 9 with h = 1: D chooses the directions, and V = D' decides which cells are split.

    V_n(S) of line 11 depends on D alone, so the directions are those of a tree on D with h = 0.
    """
    random = np.random.RandomState(seed)
    X = random.randint(n_values, size=(n_samples, 4)).astype(float)
    Y = random.randint(4, size=(n_samples, 2)).astype(float)
    parameters = {"max_depth": max_depth, "min_samples_leaf": least, "random_state": seed}
    tree = LevelSplitsRegressor(honest="estimation", **parameters).fit(X, Y)
    D, V = draw_halves(n_samples, True, np.random.RandomState(seed))
    values = [np.unique(X[:, j]) for j in range(4)]
    levels = SlowTree(X, Y, np.ones(n_samples), D, D, least=least, max_depth=max_depth).splits
    assert tree.splits_.tolist() == levels
    assert all(t in (values[j][1:] + values[j][:-1]) / 2 for j, t in levels)
    cells = [np.arange(n_samples)]
    for j, t in levels:
        parts = []
        for cell in cells:
            sides = cell[X[cell, j] <= t], cell[X[cell, j] > t]
            split = all(len(np.intersect1d(V, side)) >= least for side in sides)
            parts += sides if split else [cell]
        cells = parts
    for cell in cells:
        expected = Y[np.intersect1d(V, cell)].mean(axis=0)
        assert_allclose(tree.predict(X[cell]), np.tile(expected, (len(cell), 1)), atol=1e-12)
    assert len(tree.values_) == len(cells)


def test_unseen_combinations_belong_to_the_cell_that_was_not_split():
    """No sample has x = (0, 1), so the cell x_0 = 0 is not split by x_1, but later by x_2."""
    X = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0]] * 2)
    y = 100 * X[:, 0] + 10 * X[:, 1] + X[:, 2]
    tree = LevelSplitsRegressor().fit(X, y)
    assert tree.splits_["feature"].tolist() == [0, 1, 2]
    assert_array_equal(tree.predict([[0, 1, 0], [0, 1, 1]]), [0, 1])


def test_one_feature_is_split_as_by_any_tree():
    x, y = X[:, 6:7], Y[:, 0]
    level = LevelSplitsRegressor(max_depth=1).fit(x, y)
    assert_allclose(
        level.predict(x), DecisionTreeRegressor(max_depth=1).fit(x, y).predict(x), rtol=1e-12
    )


def test_finds_the_features_that_matter_among_many():
    random = np.random.RandomState(1)
    X = random.randint(2, size=(2000, 1000))
    y = X[:, 10] + 2.0 * X[:, 20] * X[:, 30]
    tree = LevelSplitsRegressor(max_depth=3, honest=True, random_state=0).fit(X, y)
    assert sorted(tree.splits_["feature"]) == [10, 20, 30]
    assert_allclose(tree.predict(X), y, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_honest_values_come_from_the_second_half_only(seed):
    tree = LevelSplitsRegressor(honest=True, max_depth=4, random_state=seed)
    before = clone(tree).fit(X, Y)
    structure, estimation = draw_halves(len(X), True, np.random.RandomState(seed))
    # The second half changes the leaf values only.
    moved = Y.copy()
    moved[estimation] = np.random.RandomState(1).normal(size=(len(estimation), 3))
    after = clone(tree).fit(X, moved)
    assert_array_equal(after.splits_, before.splits_)
    assert_array_equal(after.apply(X), before.apply(X))
    leaves = before.apply(X[estimation])
    for leaf, value in enumerate(after.values_):
        assert_allclose(value, moved[estimation][leaves == leaf].mean(axis=0))
    # The first half never changes the leaf values; scaling it does not change the splits.
    moved = Y.copy()
    moved[structure] = 3 * moved[structure] - 2
    after = clone(tree).fit(X, moved)
    assert_array_equal(after.splits_["feature"], before.splits_["feature"])
    assert_array_equal(after.values_, before.values_)


def test_outputs_are_summed():
    """All outputs share the splits; single trees with the same splits predict the same."""
    copies = LevelSplitsRegressor(max_depth=5).fit(X, np.column_stack([Y[:, 0]] * 3))
    alone = LevelSplitsRegressor(max_depth=5).fit(X, Y[:, 0])
    assert_array_equal(copies.splits_, alone.splits_)
    assert_array_equal(copies.predict(X), np.column_stack([alone.predict(X)] * 3))
    for output in range(3):  # the output with by far the largest error decides
        weights = np.where(np.arange(3) == output, 1.0, 1e-3)
        joint = LevelSplitsRegressor(max_depth=2).fit(X, Y * weights)
        alone = LevelSplitsRegressor(max_depth=2).fit(X, Y[:, output])
        assert_array_equal(joint.splits_, alone.splits_)
        assert_allclose(joint.predict(X)[:, output], alone.predict(X))


def test_ties_go_to_the_first_feature_and_threshold():
    x = np.array([0.0, 1.0, 2.0, 3.0])
    y = np.array([0.0, 1.0, 1.0, 0.0])
    tree = LevelSplitsRegressor(max_depth=1).fit(np.column_stack([0 * x, x, -x, x]), y)
    assert tree.splits_.tolist() == [(1, 0.5)]


def test_copies_and_complements_of_features_make_no_difference():
    random = np.random.RandomState(3)
    X, y = random.randint(2, size=(500, 5)), random.normal(size=500)
    tree = LevelSplitsRegressor().fit(X, y)
    doubled = LevelSplitsRegressor().fit(np.column_stack([X, X, 1 - X]), y)
    assert_array_equal(doubled.splits_, tree.splits_)
    assert_array_equal(doubled.values_, tree.values_)


@pytest.mark.parametrize("honest", [False, True])
def test_nothing_to_split(honest):
    for rows, y in [
        (np.ones((5, 2)), np.arange(5.0)),  # constant features
        (X, np.full(len(X), 0.1)),  # a constant target
        (X[:1], Y[:1]),  # one sample
    ]:
        tree = LevelSplitsRegressor(honest=honest, random_state=0).fit(rows, y)
        assert len(tree.splits_) == 0 and len(tree.values_) == 1
        assert not tree.feature_importances_.any()
        assert_array_equal(tree.apply(rows), 0)
    assert_allclose(tree.predict(X[:2]), Y[[0, 0]])


def test_a_fully_grown_tree_reproduces_the_targets():
    tree = LevelSplitsRegressor().fit(X, Y)
    assert_allclose(tree.predict(X), Y, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e149])
def test_scale_of_targets_does_not_matter(scale):
    tree = LevelSplitsRegressor(max_depth=5).fit(X, Y)
    scaled = LevelSplitsRegressor(max_depth=5).fit(X, Y * scale)
    assert_array_equal(scaled.splits_, tree.splits_)
    assert_allclose(scaled.predict(X), tree.predict(X) * scale, rtol=1e-9)


def test_thresholds_between_quantiles():
    values = np.repeat(np.arange(100.0), np.arange(1, 101))[:, np.newaxis]
    exact = find_candidates(values, 100)
    assert_array_equal(exact.thresholds, np.arange(99) + 0.5)
    binned = find_candidates(values, 10)
    assert len(binned.thresholds) == 9
    assert np.isin(binned.thresholds, exact.thresholds).all()
    shares = [(values > t).mean() for t in binned.thresholds]
    assert_allclose(shares, np.arange(9, 0, -1) / 10, atol=0.02)
    for candidates in exact, binned:
        for s, threshold in enumerate(candidates.thresholds):
            passed = candidates.samples[: candidates.stops[s]]
            assert_array_equal(np.sort(passed), np.flatnonzero(values[:, 0] <= threshold))


def test_rare_values_are_not_lost_in_quantiles():
    """Most samples have the same value: there is still a threshold beside it."""
    values = np.concatenate([np.zeros(10_000), np.arange(1.0, 21)])[:, np.newaxis]
    candidates = find_candidates(values, 5)
    assert_array_equal(candidates.thresholds, [0.5])


def test_midpoints_between_neighboring_floats():
    low = np.array([1.0, -1e308, 5e-324, 0.0])
    high = np.array([np.nextafter(1, 2), 1e308, 1e-323, 5e-324])
    middle = midpoints(low, high)
    assert ((low <= middle) & (middle < high)).all()


def test_drawn_features():
    tree = LevelSplitsRegressor(max_features=1, max_depth=6, random_state=0).fit(X, Y)
    again = LevelSplitsRegressor(max_features=1, max_depth=6, random_state=0).fit(X, Y)
    assert_array_equal(tree.splits_, again.splits_)
    assert len(np.unique(tree.splits_["feature"])) > 2
    # The tree does not stop if the drawn features do not reduce the error.
    useless = np.column_stack([np.zeros((300, 50)), X[:, :1]])
    tree = LevelSplitsRegressor(max_features=1, random_state=0).fit(useless, X[:, 0])
    assert tree.splits_["feature"].tolist() == [50]


@pytest.mark.parametrize("honest", [False, True])
def test_pickle_and_memory_layout(fingerprint, honest):
    tree = LevelSplitsRegressor(honest=honest, random_state=0).fit(X, Y)
    copy = pickle.loads(pickle.dumps(tree))
    assert fingerprint(copy) == fingerprint(tree)
    assert_array_equal(copy.predict(np.asfortranarray(X)), tree.predict(X))
    frozen = X.copy()
    frozen.setflags(write=False)
    assert fingerprint(clone(tree).fit(frozen, Y)) == fingerprint(tree)


def test_bad_input_leaves_the_model_unchanged(fingerprint):
    tree = LevelSplitsRegressor().fit(X, Y)
    before = fingerprint(tree)
    with pytest.raises(ValueError, match="X contains NaN"):
        tree.fit(np.where(X > 1, np.nan, X), Y)
    with pytest.raises(ValueError, match="y contains NaN"):
        tree.fit(X, np.where(Y > 1, np.nan, Y))
    assert fingerprint(tree) == before


def test_ranks_labels():
    positions = np.argsort(np.argsort(-Y, axis=1), axis=1) + 1
    ranker = LabelwiseRanker(LevelSplitsRegressor()).fit(X, positions)
    assert_array_equal(ranker.predict(X), positions)

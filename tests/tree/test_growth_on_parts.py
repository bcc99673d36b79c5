"""Trees do not depend on the order of the samples, nor on the parts in which they are."""

from fractions import Fraction

import numpy as np
import pytest

from sklrank.tree._histogram import HistogramTreeRegressor
from sklrank.tree._histogram.binning import FeatureBlocks

rng = np.random.RandomState(0)
N_SAMPLES = 700
X = rng.standard_normal((N_SAMPLES, 10))
X[:, 2] = rng.randint(9, size=N_SAMPLES)
X[rng.random_sample(X.shape) < 0.05] = np.nan
# Derivatives of very different sizes.
GRADIENTS = rng.standard_normal(N_SAMPLES) * 10.0 ** rng.randint(-9, 3, size=N_SAMPLES)
HESSIANS = np.abs(GRADIENTS) * (1 + rng.random_sample(N_SAMPLES))

TREES = {
    "default": HistogramTreeRegressor(min_samples_leaf=5),
    "categories": HistogramTreeRegressor(categorical_features=[2], max_leaf_nodes=8),
    "constraints": HistogramTreeRegressor(monotonic_cst=[1, -1] + [0] * 8, l2_regularization=3.0),
    "features": HistogramTreeRegressor(max_features=3, max_depth=3),
    "stump": HistogramTreeRegressor(max_leaf_nodes=2),
    "leaf": HistogramTreeRegressor(min_samples_leaf=400),
}


class Parts:
    """The samples of some growers."""

    def __init__(self, tree, bins, members):
        self.members = members
        self.growers = [
            tree._make_grower(take(bins, samples), n_samples=N_SAMPLES).compiled
            for samples in members
        ]
        self.derivatives = [(GRADIENTS[samples, None], HESSIANS[samples]) for samples in members]

    def __call__(self, method, *arguments):
        if method == "leaf_sums":
            self("divide", arguments[0])
            arguments = arguments[1:]
        results = []
        for grower, derivatives in zip(self.growers, self.derivatives):
            given = arguments if method == "divide" else (*derivatives, *arguments)
            results.append(getattr(grower, method)(*given))
        return None if results[0] is None else sum(results)

    def values(self, of_leaves):
        values = np.empty(N_SAMPLES)
        for grower, samples in zip(self.growers, self.members):
            of_part = np.empty(len(samples))
            grower.write_leaves(of_leaves, of_part)
            values[samples] = of_part
        return values


def take(bins, samples):
    return bins.with_codes(np.ascontiguousarray(bins.codes[:, samples]))


def grow(tree, samples):
    """Return the nodes of a tree that is grown on the samples in this order, and their values."""
    bins = FeatureBlocks(X[samples], 255, tree._categorical_mask(10), np.random.RandomState(0))
    grown, values, leaves = tree._make_grower(bins).grow(
        GRADIENTS[samples], HESSIANS[samples], np.random.RandomState(0)
    )
    return grown.nodes(), values[leaves, 0]


def assert_equal_nodes(nodes, expected):
    for name, values in expected.items():
        np.testing.assert_array_equal(nodes[name], values, err_msg=name)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("n_parts", [1, 2, 5, 40])
def test_parts_give_the_same_tree(name, n_parts):
    tree, samples = TREES[name], np.arange(N_SAMPLES)
    expected, values = grow(tree, samples)
    # One of forty parts has no sample in most leaves.
    part_of = np.random.RandomState(1).randint(n_parts, size=N_SAMPLES)
    bins = FeatureBlocks(X, 255, tree._categorical_mask(10), np.random.RandomState(0))
    parts = Parts(tree, bins, [np.flatnonzero(part_of == part) for part in range(n_parts)])
    grower = tree._make_grower(take(bins, samples[:0]), n_samples=N_SAMPLES, parts=parts)
    for _ in range(2):
        totals = parts("totals", np.array([np.abs(GRADIENTS).max(), HESSIANS.max()]), N_SAMPLES)
        grown, of_leaves = grower.grow_on_parts(totals, np.random.RandomState(0))
        assert_equal_nodes(grown.nodes(), expected)
        np.testing.assert_array_equal(parts.values(of_leaves), values)


@pytest.mark.parametrize("name", TREES)
def test_the_order_of_the_samples_does_not_matter(name):
    expected, values = grow(TREES[name], np.arange(N_SAMPLES))
    order = np.random.RandomState(2).permutation(N_SAMPLES)
    nodes, of_samples = grow(TREES[name], order)
    assert_equal_nodes(nodes, expected)
    np.testing.assert_array_equal(of_samples, values[order])


def test_values_of_leaves_are_ratios_of_sums():
    tree = TREES["default"]
    bins = FeatureBlocks(X, 255, np.zeros(10, dtype=bool), np.random.RandomState(0))
    _, values, leaves = tree._make_grower(bins).grow(GRADIENTS, HESSIANS, np.random.RandomState(0))
    assert len(set(leaves)) > 5
    for leaf in set(leaves):
        sums = [sum(map(Fraction, each[leaves == leaf])) for each in (GRADIENTS, HESSIANS)]
        # The sums are known to 2^-74 of the sum of all, and a leaf has 10^-9 of them.
        assert values[leaf, 0] == pytest.approx(float(-sums[0] / sums[1]), rel=1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e305])
def test_sums_must_be_finite(bad):
    gradients = GRADIENTS.copy()
    gradients[3] = bad
    bins = FeatureBlocks(X, 255, np.zeros(10, dtype=bool), np.random.RandomState(0))
    grower = TREES["default"]._make_grower(bins)
    with pytest.raises(ValueError, match="must be finite"):
        grower.grow(gradients, HESSIANS, np.random.RandomState(0))

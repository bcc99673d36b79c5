"""HoeffdingTreeClassifier against `SlowTree`, whose leaves keep their samples and recompute."""

import gc
import math
import pickle
import tracemalloc
from statistics import NormalDist

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklrank.tree import HoeffdingTreeClassifier


class SlowLeaf:
    """A leaf that keeps the samples it has seen and the class weights it inherited."""

    def __init__(self, depth=0, inherited=()):
        self.depth, self.inherited = depth, dict(inherited)
        self.samples = {}  # class -> [(sample, weight), ...]
        self.correct = {"mc": 0.0, "nb": 0.0}
        self.moments_of = {}
        self.last_size = None

    def counts(self):
        """Return the weight of each class, including inherited weight."""
        counts = dict(self.inherited)
        for label, samples in self.samples.items():
            counts[label] = counts.get(label, 0.0) + sum(weight for _, weight in samples)
        return {label: weight for label, weight in counts.items() if weight > 0}

    def add(self, x, label, weight):
        self.samples.setdefault(label, []).append((x, weight))
        self.moments_of = {key: m for key, m in self.moments_of.items() if key not in (label, None)}

    def moments(self, label):
        """Return weight, mean, population variance, min and max of each feature; None: pooled."""
        if label not in self.moments_of:
            chosen = [label] if label is not None else list(self.samples)
            pairs = [pair for c in chosen for pair in self.samples.get(c, [])]
            self.moments_of[label] = [
                describe([(x[f], weight) for x, weight in pairs]) for f in range(len(pairs[0][0]))
            ]
        return self.moments_of[label]


def describe(values):
    """Return weight, mean, population variance, minimum and maximum of (value, weight) pairs."""
    values = [(value, weight) for value, weight in values if not math.isnan(value)]
    total = math.fsum(weight for _, weight in values)
    if not values:
        return 0.0, 0.0, 0.0, math.inf, -math.inf
    mean = math.fsum(value * weight for value, weight in values) / total
    variance = math.fsum(weight * (value - mean) ** 2 for value, weight in values) / total
    low, high = min(value for value, _ in values), max(value for value, _ in values)
    return total, mean, variance if low < high else 0.0, low, high


def entropy(weights):
    """Return the entropy in bits of class weights."""
    total = sum(weights)
    shares = [weight / total for weight in weights if weight > 0]
    return -sum(share * math.log2(share) for share in shares)


class SlowTree:
    """A slow, direct statement of the rules of VFDT."""

    def __init__(self, n_classes, **params):
        self.n_classes = n_classes
        self.params = HoeffdingTreeClassifier(**params).get_params()
        self.root = SlowLeaf()
        self.root.last_size = 0.0
        self.n_leaves = 1

    # -- Predictions.

    def leaf_of(self, x):
        node = self.root
        while isinstance(node, dict):
            node = node[self.side(node, x)]
        return node

    def side(self, node, x):
        value = x[node["feature"]]
        if math.isnan(value):
            return "right" if node["weights"]["right"] > node["weights"]["left"] else "left"
        return "left" if value <= node["threshold"] else "right"

    def predict_proba(self, x):
        leaf = self.leaf_of(x)
        kind = self.params["leaf_prediction"]
        if kind == "nba":
            kind = "nb" if leaf.correct["nb"] >= leaf.correct["mc"] else "mc"
        votes = self.votes(leaf, x, kind)
        return [1 / self.n_classes] * self.n_classes if votes is None else votes

    def votes(self, leaf, x, kind):
        counts = leaf.counts()
        if not counts or (kind == "nb" and not leaf.samples):
            return self.votes(leaf, x, "mc") if counts else None
        logs = {label: math.log(weight) for label, weight in counts.items()}
        if kind == "nb":
            for label in logs:
                logs[label] += self.log_likelihood(leaf, x, label)
        top = max(logs.values())
        votes = [math.exp(logs[c] - top) if c in logs else 0.0 for c in range(self.n_classes)]
        return [vote / sum(votes) for vote in votes]

    @staticmethod
    def log_likelihood(leaf, x, label):
        total = 0.0
        for f, (value, pooled) in enumerate(zip(x, leaf.moments(None), strict=True)):
            if math.isnan(value) or pooled[2] == 0:
                continue
            _, mean, variance = pooled[:3]
            if label in leaf.samples and leaf.moments(label)[f][0] > 0:
                # A single value determines the mean, not the variance.
                _, mean, own = leaf.moments(label)[f][:3]
                variance = own if own >= 1e-9 * variance else variance
            total -= ((value - mean) ** 2 / variance + math.log(2 * math.pi * variance)) / 2
        return total

    # -- Growing.

    def learn(self, x, label, weight):
        if weight == 0:
            return
        parent, side, node = None, None, self.root
        while isinstance(node, dict):
            parent, side = node, self.side(node, x)
            node["weights"][side] += weight
            node = node[side]
        for kind in ("mc", "nb"):
            votes = self.votes(node, x, kind) if kind == "mc" or node.samples else None
            if votes is not None and votes.index(max(votes)) == label:
                node.correct[kind] += weight
        node.add(x, label, weight)
        if self.may_split(node):
            size = sum(node.counts().values())
            if size - node.last_size >= self.params["grace_period"]:
                node.last_size = size
                split = self.attempt(node, size)
                if split is not None and parent is None:
                    self.root = split
                elif split is not None:
                    parent[side] = split

    def may_split(self, leaf):
        depth, leaves = self.params["max_depth"], self.params["max_leaves"]
        return (depth is None or leaf.depth < depth) and (leaves is None or self.n_leaves < leaves)

    def attempt(self, leaf, size):
        n_seen = len(leaf.counts())
        if n_seen < 2:
            return None
        # "No split" competes with a gain of 0.
        best_of_feature = [(0.0, None, None)]
        for f in range(len(leaf.moments(None))):
            candidates = [split for split in self.splits(leaf, f) if split is not None]
            # A gain of exactly 0 may be 1e-16 here.
            if candidates and max(candidates)[0] > 1e-12:
                best_of_feature.append(max(candidates, key=lambda split: split[0]))
        best_of_feature.sort(key=lambda split: -split[0])
        (gain, feature, threshold), runner_up = best_of_feature[0], best_of_feature[1:2]
        bound = math.sqrt(math.log2(n_seen) ** 2 * math.log(1 / self.params["delta"]) / (2 * size))
        difference = gain - runner_up[0][0] if runner_up else 0.0
        if feature is None or not (difference > bound or bound < self.params["tau"]):
            return None
        return self.split(leaf, feature, threshold)

    def splits(self, leaf, f):
        """Yield (gain, feature, threshold) of each threshold, None if a branch is too small."""
        classes = [label for label in leaf.samples if leaf.moments(label)[f][0] > 0]
        _, _, _, low, high = leaf.moments(None)[f]
        if not classes or low == high:
            return
        for t in range(1, 11):
            threshold = low + (high - low) * (t / 11)
            whole = [leaf.moments(label)[f][0] for label in classes]
            left = [self.left_weight(leaf, label, f, threshold) for label in classes]
            right = [w - part for w, part in zip(whole, left, strict=True)]
            share = sum(left) / sum(whole)
            if min(share, 1 - share) <= 0.01:
                yield None
                continue
            before, after_left, after_right = (entropy(weights) for weights in (whole, left, right))
            yield before - share * after_left - (1 - share) * after_right, f, threshold

    @staticmethod
    def left_weight(leaf, label, f, threshold):
        """Return the weight left of a threshold, of a Gaussian truncated at its extremes."""
        total, mean, variance, low, high = leaf.moments(label)[f]
        if threshold < low:
            return 0.0
        if threshold >= high:
            return total
        return total * NormalDist(mean, math.sqrt(variance)).cdf(threshold)

    def split(self, leaf, feature, threshold):
        self.n_leaves += 1
        left = {c: self.left_weight(leaf, c, feature, threshold) for c in leaf.samples}
        right = {c: leaf.moments(c)[feature][0] - weight for c, weight in left.items()}
        # Samples with a missing value are inherited by the side that later ones go to.
        heavier = right if sum(right.values()) > sum(left.values()) else left
        for c, samples in leaf.samples.items():
            heavier[c] += sum(weight for x, weight in samples if math.isnan(x[feature]))
        node = {"feature": feature, "threshold": threshold, "weights": {}}
        for side, inherited in (("left", left), ("right", right)):
            weight = sum(inherited.values())
            child = SlowLeaf(leaf.depth + 1, inherited)
            child.last_size = sum(child.counts().values())
            node[side], node["weights"][side] = child, weight
        return node

    def structure(self, node=None):
        """Return nested tuples (feature, threshold, left, right); a leaf is its weight."""
        node = self.root if node is None else node
        if isinstance(node, SlowLeaf):
            return sum(node.counts().values())
        left, right = self.structure(node["left"]), self.structure(node["right"])
        return node["feature"], node["threshold"], left, right


def parse(tree, leaf_of=None):
    """Return nested tuples (feature, threshold, left, right); a leaf is its weight.

    If the function `leaf_of` is given, a leaf is its value for the class weights.
    """
    nodes, leaves = tree._learner.node_table, tree._learner.__reduce__()[2]["leaves"]

    def node(index):
        feature, child = int(nodes["feature"][index]), int(nodes["child"][index])
        if feature < 0:
            weight = float(nodes["weight"][index])
            return weight if leaf_of is None else leaf_of(leaves[child, 3:])
        return feature, float(nodes["threshold"][index]), node(child), node(child + 1)

    return node(0)


def leaves_of(tree):
    return leaves_of(tree[2]) + leaves_of(tree[3]) if isinstance(tree, tuple) else [tree]


def depth_of(tree):
    return 1 + max(depth_of(tree[2]), depth_of(tree[3])) if isinstance(tree, tuple) else 0


def assert_same_tree(actual, expected):
    """Compare features, thresholds up to rounding, and weights up to the error of the table."""
    assert isinstance(actual, tuple) == isinstance(expected, tuple)
    if not isinstance(actual, tuple):
        assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)
        return
    assert actual[0] == expected[0]
    assert_allclose(actual[1], expected[1], rtol=1e-9, atol=1e-12)
    assert_same_tree(actual[2], expected[2])
    assert_same_tree(actual[3], expected[3])


def stream(seed, n_samples=500, n_classes=3, missing=0.0):
    """Draw Gaussian, discrete, constant, redundant and noise features; some samples repeat."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n_samples, p=rng.dirichlet(np.full(n_classes, 3.0)))
    informative = rng.normal(rng.normal(0, 1.5, n_classes)[y], rng.uniform(0.5, 2, n_classes)[y])
    discrete = (rng.integers(0, 3, n_samples) + y) // 2
    X = np.column_stack(
        [
            informative,
            discrete,
            np.full(n_samples, 4.0),
            rng.normal(1e3, 5, n_samples),
            informative**2,
        ]
    )
    repeated = rng.random(n_samples) < 0.1
    X[1:][repeated[1:]] = X[:-1][repeated[1:]]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, rng.choice([0.0, 0.5, 1.0, 1.0, 3.0], n_samples)


def assert_agrees(X, y, weights, n_classes, *, checkpoints=5, **params):
    """Compare both trees several times along the stream, and return the compiled one."""
    tree, slow = HoeffdingTreeClassifier(**params), SlowTree(n_classes, **params)
    queries = X[:: max(1, len(X) // 40)]
    for chunk in np.array_split(np.arange(len(X)), checkpoints):
        tree.partial_fit(X[chunk], y[chunk], np.arange(n_classes), weights[chunk])
        for i in chunk:
            slow.learn(X[i].tolist(), int(y[i]), float(weights[i]))
        assert_same_tree(parse(tree), slow.structure())
        expected = [slow.predict_proba(x) for x in queries.tolist()]
        assert_allclose(tree.predict_proba(queries), expected, atol=2e-6)
    return tree


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_slow_tree(seed):
    """All rules together, on weighted streams with features of all kinds."""
    n_classes = 2 + seed % 3
    X, y, weights = stream(seed, n_samples=250, n_classes=n_classes)
    tree = assert_agrees(
        X,
        y,
        weights,
        n_classes,
        # No grace period equals a sum of weights: rounding would decide such ties.
        grace_period=[30.3, 60.7, 45.2][seed % 3],
        delta=[0.3, 0.05, 0.1][seed % 3],
        tau=[0.3, 0.15][seed // 2 % 2],
        leaf_prediction=["mc", "nb", "nba", "nba"][seed % 4],
    )
    assert tree.get_n_leaves() >= 2


@pytest.mark.parametrize("leaf_prediction", ["mc", "nb", "nba"])
def test_agrees_with_slow_tree_on_missing_values(leaf_prediction):
    """Missing values are left out of the observers and follow the heavier child."""
    X, y, weights = stream(5, n_samples=600, n_classes=3, missing=0.2)
    tree = assert_agrees(
        X, y, weights, 3, grace_period=30.3, delta=0.2, tau=0.3, leaf_prediction=leaf_prediction
    )
    assert tree.get_n_leaves() >= 3


@pytest.mark.parametrize("limits", [{"max_depth": 1}, {"max_leaves": 3}])
def test_agrees_with_slow_tree_within_limits(limits):
    """Leaves that cannot split continue to learn."""
    X, y, weights = stream(3, n_samples=300)
    assert_agrees(X, y, weights, 3, grace_period=20.3, delta=0.2, tau=0.3, **limits)


def test_tie_waits_for_tau():
    """With two equal features a leaf splits only when the bound falls below tau."""
    X = np.repeat(np.random.default_rng(0).normal(size=(400, 1)), 2, axis=1)
    y = (X[:, 0] > 0).astype(int)
    # R = 1 bit, delta = e^-2: the bound is sqrt(1 / n), below .1 after 100 samples.
    params = {"grace_period": 1, "delta": math.exp(-2), "leaf_prediction": "mc"}
    never = HoeffdingTreeClassifier(tau=0.0, **params, shuffle=False).fit(X, y)
    assert never.get_n_leaves() == 1
    tree = HoeffdingTreeClassifier(tau=0.1, max_depth=1, **params, shuffle=False).partial_fit(
        X[:100], y[:100]
    )
    assert tree.get_n_leaves() == 1
    assert tree.partial_fit(X[100:102], y[100:102]).get_n_leaves() == 2


def test_difference_must_exceed_the_bound():
    """A perfect feature gains one bit, so the bound alone decides when to split."""
    y = np.arange(60) % 2
    X = y[:, None].astype(float)
    # sqrt(ln(1 / delta) / 2n) < 1 needs n > ln(1 / delta) / 2 = 20.
    tree = HoeffdingTreeClassifier(grace_period=2, delta=math.exp(-40), tau=0.0)
    assert tree.partial_fit(X[:20], y[:20]).get_n_leaves() == 1
    assert tree.partial_fit(X[20:22], y[20:22]).get_n_leaves() == 2


def test_pure_leaf_does_not_split():
    """A leaf of a single class has nothing to gain from a split."""
    X = np.random.default_rng(0).normal(size=(500, 2))
    tree = HoeffdingTreeClassifier(grace_period=5, delta=0.5, tau=1.0)
    tree.partial_fit(X, np.zeros(500, int), classes=[0, 1])
    assert tree.get_n_leaves() == 1


def test_useless_features_do_not_split():
    """Each sample occurs with both classes: no split has a gain, however loose the bound is."""
    X = np.repeat(np.random.default_rng(0).normal(size=(300, 2)), 2, axis=0)
    y = np.arange(600) % 2
    tree = HoeffdingTreeClassifier(
        grace_period=100, tau=10.0, leaf_prediction="mc", shuffle=False
    ).fit(X, y)
    assert tree.get_n_leaves() == 1


def test_inherited_weight_does_not_hide_a_split():
    """A leaf that inherits mostly one class may gain a whole bit on its own samples.

    The observers start empty, so the gain refers to the samples since the last split. The entropy
    of the class weights, which include the inherited ones, is not a bound on it.
    """
    first = np.array([[0.0, 0.5], [1.0, 0.5]])
    second = np.column_stack([np.zeros(20), np.tile([0.0, 1.0], 10)])
    X, y = np.vstack([first, second]), np.append([0, 1], second[:, 1]).astype(int)
    weights = np.repeat([300.0, 1.0], [2, 20])
    # After twenty samples the bound is .27, the gain 1, and the entropy of (310, 10) is .20.
    params = {"grace_period": 19.5, "delta": math.exp(-46), "tau": 0.0, "leaf_prediction": "mc"}
    assert_agrees(X[:2], y[:2], weights[:2], 2, checkpoints=1, **params)
    tree = assert_agrees(X, y, weights, 2, checkpoints=1, **params)
    assert tree.get_n_leaves() == 3


def test_class_of_one_sample_has_the_pooled_variance():
    """The pooled variance is used even if that sample was the first of the leaf."""
    others = np.random.default_rng(0).normal(5, 1, (200, 1))
    X, y = np.vstack([[[0.0]], others]), np.repeat([0, 1], [1, 200])
    assert_agrees(X, y, np.ones(201), 2, grace_period=1e6, leaf_prediction="nb")


def test_class_without_values_has_the_pooled_mean_and_variance():
    """If a feature is always missing for a class, its pooled mean is used, wherever 0 is."""
    rng = np.random.default_rng(0)
    X, y = rng.normal([[1000.0, 0.0]], 1, (200, 2)), np.arange(200) % 2
    X[y == 0, 0] = np.nan
    params = {"grace_period": 1e6, "leaf_prediction": "nb"}
    assert_agrees(X, y, np.ones(200), 2, **params)
    queries = np.array([[1000.0, 0.0], [1001.0, 1.0]])
    shifted = HoeffdingTreeClassifier(**params, shuffle=False).fit(X - [1000, 0], y)
    expected = shifted.predict_proba(queries - [1000, 0])
    assert_allclose(
        HoeffdingTreeClassifier(**params, shuffle=False).fit(X, y).predict_proba(queries),
        expected,
        atol=1e-9,
    )


def test_missing_value_follows_the_heavier_child():
    """Samples with a missing value go to the heavier side, which may change."""
    X, y = np.repeat([[0.0], [1.0]], [100, 200], axis=0), np.repeat([0, 1], [100, 200])
    order = np.random.default_rng(0).permutation(300)
    tree = HoeffdingTreeClassifier(grace_period=50, max_depth=1, leaf_prediction="mc")
    tree.partial_fit(X[order], y[order])
    assert_allclose(tree.predict_proba([[0.0], [1.0], [np.nan]]), [[1, 0], [0, 1], [0, 1]])
    tree.partial_fit([[0.0]], [0], sample_weight=[101.0])
    assert_allclose(tree.predict_proba([[np.nan]]), [[1, 0]])
    # The sample is learned in the leaf that it goes to.
    tree.partial_fit([[np.nan]], [1], sample_weight=[67.0])
    assert_allclose(tree.predict_proba([[0.0], [1.0]]), [[0.75, 0.25], [0, 1]], atol=1e-12)


def test_split_keeps_the_samples_with_a_missing_value():
    """The child that later ones go to inherits their class weights."""
    X, y = np.array([[0.0], [1.0], [np.nan]] * 100), np.array([0, 1, 2] * 100)
    tree = HoeffdingTreeClassifier(
        grace_period=300, leaf_prediction="mc", tau=1.0, shuffle=False
    ).fit(X, y)
    assert tree.get_n_leaves() == 2
    assert_allclose(
        tree.predict_proba([[0.0], [1.0], [np.nan]]), [[0.5, 0, 0.5], [0, 1, 0], [0.5, 0, 0.5]]
    )


@pytest.mark.parametrize("leaf_prediction", ["mc", "nb", "nba"])
def test_feature_without_values(leaf_prediction):
    """A feature that is always missing only shifts the indices of the others."""
    X, y, weights = stream(2)
    params = {"grace_period": 20, "delta": 0.2, "tau": 0.3, "leaf_prediction": leaf_prediction}
    plain = HoeffdingTreeClassifier(**params, shuffle=False).fit(X, y, weights)
    with_empty = np.insert(X, 1, np.nan, axis=1)
    tree = HoeffdingTreeClassifier(**params, shuffle=False).fit(with_empty, y, weights)
    assert plain.get_n_leaves() > 2
    assert np.array_equal(tree.predict_proba(with_empty), plain.predict_proba(X))
    assert np.array_equal(tree.feature_importances_, np.insert(plain.feature_importances_, 1, 0.0))


def test_nothing_but_missing_values():
    """Without any value the tree predicts the class weights."""
    y = np.arange(90) % 3
    tree = HoeffdingTreeClassifier(grace_period=10, tau=1.0, shuffle=False).fit(
        np.full((90, 4), np.nan), y
    )
    assert tree.get_n_leaves() == 1
    assert_allclose(tree.predict_proba(np.zeros((2, 4))), np.full((2, 3), 1 / 3))


def test_a_value_up_to_the_threshold_goes_left():
    """A value equal to the threshold is left, for a sample and for the maximum of a class.

    The thresholds are 1, 2, ..., 10; the first one separates {0, 1} from {11} completely.
    """
    y = np.arange(400) % 2
    X = np.where(y == 1, 11.0, np.arange(400) // 2 % 2)[:, None]
    tree = HoeffdingTreeClassifier(
        grace_period=50, max_depth=1, leaf_prediction="mc", shuffle=False
    ).fit(X, y)
    feature, threshold, *weights = parse(tree)
    assert (feature, threshold) == (0, 1.0)
    assert_allclose(weights, [200, 200])
    assert_allclose(tree.predict_proba([[1.0], [np.nextafter(1.0, 2.0)]]), [[1, 0], [0, 1]])


# -- Weights.


@pytest.mark.parametrize("leaf_prediction", ["mc", "nb", "nba"])
def test_weights_are_relative_to_the_parameters(leaf_prediction):
    """Larger weights have the effect of a smaller grace period and a larger delta."""
    X, y, weights = stream(8)
    params = {"tau": 0.3, "leaf_prediction": leaf_prediction}
    tree = HoeffdingTreeClassifier(grace_period=5, delta=0.2**0.25, **params, shuffle=False).fit(
        X, y, weights
    )
    scaled = HoeffdingTreeClassifier(grace_period=20, delta=0.2, **params, shuffle=False).fit(
        X, y, 4 * weights
    )
    assert tree.get_n_leaves() == scaled.get_n_leaves() > 1
    assert_allclose(tree.predict_proba(X), scaled.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_weights_are_bounded(fingerprint):
    X, y, weights = stream(8)
    tree = HoeffdingTreeClassifier(grace_period=20, delta=0.2, tau=0.3, shuffle=False)
    tree.fit(X, y, 1e150 / weights.max() * weights)
    assert np.isfinite(tree.predict_proba(X)).all()
    before = fingerprint(tree)
    for learn in (tree.fit, tree.partial_fit, tree.progressive_fit):
        with pytest.raises(ValueError, match="sample_weight must be 1e.150 or less"):
            learn(X, y, sample_weight=1e151 * weights)
    assert fingerprint(tree) == before


def test_sum_of_weights_counts_towards_the_grace_period():
    """Ten samples of weight ten count as a hundred samples."""
    y = np.arange(20) % 2
    X = y[:, None].astype(float)
    params = {"grace_period": 100, "delta": 0.5, "tau": 1.0}
    assert HoeffdingTreeClassifier(**params, shuffle=False).fit(X, y).get_n_leaves() == 1
    assert (
        HoeffdingTreeClassifier(**params, shuffle=False).fit(X, y, np.full(20, 10.0)).get_n_leaves()
        == 2
    )


# -- Limits.


@pytest.mark.parametrize("max_depth", [1, 2, 4])
def test_max_depth(max_depth):
    """The limit is reached, since the unlimited tree is deeper, and never exceeded."""
    X, y, _ = stream(10, n_samples=3000)
    params = {"grace_period": 10, "delta": 0.5, "tau": 1.0}
    assert HoeffdingTreeClassifier(**params, shuffle=False).fit(X, y).get_depth() > 4
    tree = HoeffdingTreeClassifier(max_depth=max_depth, **params, shuffle=False).fit(X, y)
    assert tree.get_depth() == max_depth == depth_of(parse(tree))


@pytest.mark.parametrize("max_leaves", [2, 3, 9])
def test_max_leaves(max_leaves):
    """The limit is reached and never exceeded."""
    X, y, _ = stream(10, n_samples=3000)
    tree = HoeffdingTreeClassifier(grace_period=10, delta=0.5, tau=1.0, max_leaves=max_leaves)
    for chunk in np.array_split(np.arange(3000), 6):
        tree.partial_fit(X[chunk], y[chunk], classes=[0, 1, 2])
        assert tree.get_n_leaves() <= max_leaves
    assert tree.get_n_leaves() == max_leaves == len(leaves_of(parse(tree)))


@pytest.mark.parametrize(
    "leaf_prediction",
    ["nba", *(pytest.param(name, marks=pytest.mark.slow) for name in ("mc", "nb"))],
)
def test_memory_of_a_small_tree(leaf_prediction):
    """One leaf, 20 features, 6 classes: less than 10 kB in total (river: 404 kB)."""
    X = np.random.default_rng(0).normal(size=(120, 20))
    y = np.arange(120) % 6

    def grow():
        return HoeffdingTreeClassifier(
            grace_period=1e6, leaf_prediction=leaf_prediction, shuffle=False
        ).fit(X, y)

    tree = grow()
    assert tree.get_n_leaves() == 1
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    # Many trees, as Python allocates some memory once for all of them.
    trees = [grow() for _ in range(30)]
    gc.collect()
    held = (tracemalloc.get_traced_memory()[0] - before) / len(trees)
    tracemalloc.stop()
    # The means and variances alone take 2 * 20 * 6 * 8 = 1920 bytes.
    assert 1920 < tree._learner.nbytes < held < 10_000


def test_memory_is_freed():
    """A deleted tree frees all its memory."""
    X, y, _ = stream(11, n_samples=150)

    def grow_and_delete():
        tree = HoeffdingTreeClassifier(grace_period=10, delta=0.5, tau=1.0, shuffle=False).fit(X, y)
        assert tree.get_n_leaves() > 5
        pickle.loads(pickle.dumps(tree))

    grow_and_delete()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(100):
        grow_and_delete()
    gc.collect()
    left = (tracemalloc.get_traced_memory()[0] - before) / 100
    tracemalloc.stop()
    # Python itself keeps about 40 kB for later calls; a tree takes up to 30 kB.
    assert left < 1000


def test_state_of_another_tree_is_refused():
    """Otherwise its blocks would be read past their ends."""
    X, y, _ = stream(11, n_samples=500)
    tree = HoeffdingTreeClassifier(grace_period=10, delta=0.5, tau=1.0, shuffle=False).fit(X, y)
    state, cls = tree._learner.__getstate__(), type(tree._learner)
    for name in ("nodes", "leaves", "observers", "stats"):
        with pytest.raises(ValueError, match="the state of HoeffdingTree is inconsistent"):
            cls.__new__(cls).__setstate__(state | {name: state[name][:-1].repeat(3, axis=-1)})


@pytest.mark.parametrize("leaf_prediction", ["mc", "nba"])
def test_memory_does_not_depend_on_the_number_of_samples(leaf_prediction):
    """Once all leaves have seen all classes, more samples need no more memory."""
    X, y, _ = stream(11, n_samples=2000)
    tree = HoeffdingTreeClassifier(
        grace_period=10,
        delta=0.5,
        tau=1.0,
        max_leaves=8,
        leaf_prediction=leaf_prediction,
        shuffle=False,
    ).fit(X, y)
    assert tree.get_n_leaves() == 8
    # Every class into every leaf.
    for label in range(3):
        tree.partial_fit(X, np.full(2000, label))
    before = tree._learner.nbytes
    rng = np.random.default_rng(0)
    for _ in range(5):
        tree.partial_fit(rng.normal(size=(5000, 5)) * 100, rng.integers(0, 3, 5000))
    assert tree._learner.nbytes == before


# -- Inspection.


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_reports_agree_with_each_other(seed):
    """Depth, leaves, features and predictions agree with the nodes."""
    X, y, weights = stream(seed, n_samples=1500)
    tree = HoeffdingTreeClassifier(
        grace_period=20, delta=0.3, tau=0.5, leaf_prediction="mc", shuffle=False
    )
    tree.fit(X, y, weights)
    parsed = parse(tree)
    assert tree.get_n_leaves() == len(leaves_of(parsed)) > 3
    assert tree.get_depth() == depth_of(parsed)

    def features(node):
        return {node[0]} | features(node[2]) | features(node[3]) if type(node) is tuple else set()

    importances = tree.feature_importances_
    assert set(np.flatnonzero(importances)) == features(parsed)
    assert_allclose(importances.sum(), 1.0)
    assert np.all(importances >= 0)

    # Samples get the class of the largest weight of their leaf.
    def route(node, x):
        while isinstance(node, tuple):
            node = node[2] if x[node[0]] <= node[1] else node[3]
        return node

    labels = parse(tree, leaf_of=np.argmax)
    assert [route(labels, x) for x in X] == tree.predict(X).tolist()


def test_importance_is_gain_times_weight():
    """Two splits by hand: the root gains one bit on all samples, the next one on half of them.

    There are four equally frequent cells of two binary features. The first feature separates the
    classes {0, 1} from {2}; the second one separates 0 from 1 on the left only.
    """
    cells = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (3000, 1))
    y = np.select([cells[:, 0] == 1, cells[:, 1] == 1], [2, 1], 0)
    tree = HoeffdingTreeClassifier(grace_period=2000, leaf_prediction="mc", shuffle=False).fit(
        cells, y
    )
    # The root has 1.5 bits. Feature 0 gains one; feature 1 gains one on half of the samples.
    assert tree.get_n_leaves() == 3
    assert_allclose(tree.feature_importances_, [2 / 3, 1 / 3], rtol=1e-6)


def test_importances_of_a_single_leaf_are_zero():
    """Without splits there are no gains."""
    tree = HoeffdingTreeClassifier(shuffle=False).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert tree.get_depth() == 0
    assert tree.get_n_leaves() == 1
    assert tree.feature_importances_.tolist() == [0.0, 0.0]

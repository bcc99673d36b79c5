"""ProbabilisticLabelTree, compared with a tree of dictionaries that visits all nodes."""

import pickle
import tracemalloc
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklrank.tree._labels.tree import LabelTree

from sklrank.online_boosting import AdaOLMR
from sklrank.tree import ProbabilisticLabelTree


class SlowTree:
    """The equations, for a given tree: a list of (parent, label) of its nodes, the root first."""

    def __init__(self, nodes, alpha, exclusive=False):
        self.nodes, self.alpha, self.exclusive = nodes, alpha, exclusive
        self.means = [{} for _ in nodes]
        self.precisions = [{} for _ in nodes]

    @staticmethod
    def features(x):
        norm = np.linalg.norm(x)
        entries = {j: value / norm for j, value in enumerate(x) if value != 0}
        return {**entries, "constant": 1.0}

    def path(self, v):
        return [] if v == 0 else [*self.path(self.nodes[v][0]), v]

    def eta(self, v, x):
        features = self.features(x)
        return 1 / (1 + exp(-sum(self.means[v].get(j, 0) * features[j] for j in features)))

    def learn(self, x, labels, weight=1.0):
        features = self.features(x)
        relevant = {v for u in range(len(self.nodes)) if self.nodes[u][1] in labels
                    for v in [0, *self.path(u)]} | {0}  # fmt: skip
        steps = []
        for v in range(1, len(self.nodes)):
            if self.nodes[v][0] in relevant:
                p, precisions = self.eta(v, x), self.precisions[v]
                h = weight * p * (1 - p)
                variance = sum(features[j] ** 2 / precisions.get(j, self.alpha) for j in features)
                error = weight * (p - (v in relevant)) / (1 + h * variance)
                steps.append((v, error, h))
        for v, error, h in steps:
            for j, value in features.items():
                precision = self.precisions[v].get(j, self.alpha)
                self.means[v][j] = self.means[v].get(j, 0.0) - value / precision * error
                self.precisions[v][j] = precision + h * value**2

    def conditional(self, v, x):
        if not self.exclusive:
            return self.eta(v, x)
        siblings = [u for u in range(1, len(self.nodes)) if self.nodes[u][0] == self.nodes[v][0]]
        return self.eta(v, x) / sum(self.eta(u, x) for u in siblings)

    def chances(self, x, n_labels):
        out = np.zeros(n_labels)
        for u, (_, label) in enumerate(self.nodes):
            if label >= 0:
                out[label] = np.prod([self.conditional(v, x) for v in self.path(u)])
        return out


def nodes_of(model):
    return [tuple(row[:2]) for row in model._learner.__getstate__()["nodes"].tolist()]


def make_data(n_samples=150, n_labels=12, seed=0, density=0.3):
    """Sparse samples whose labels depend on single features."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(n_samples, 15)) * (rng.random((n_samples, 15)) < density)
    Y = (X[:, np.arange(n_labels) % 15] > 0.8).astype(int)
    return X, Y


def slow_copy(model, X, Y, weights=None):
    slow = SlowTree(nodes_of(model), model.alpha, exclusive=Y.ndim == 1)
    for i, x in enumerate(X):
        labels = {int(Y[i])} if Y.ndim == 1 else set(np.flatnonzero(Y[i]).tolist())
        slow.learn(x, labels, 1.0 if weights is None else weights[i])
    return slow


# -- The equations.


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("max_children", [2, 3, 5, 128])
def test_probabilities_are_those_of_the_slow_tree(method, max_children):
    """Also those of labels that joined the tree online: as if they had been in it from the start.

    In `partial_fit` the last labels are relevant only in the second half.
    """
    X, Y = make_data()
    Y[:75, 6:] = 0
    weights = np.random.default_rng(1).gamma(1.0, size=len(X))
    model = ProbabilisticLabelTree(
        max_children=max_children, alpha=0.3, random_state=0, shuffle=False
    )
    getattr(model, method)(X, Y, sample_weight=weights)
    slow = slow_copy(model, X, Y, weights)
    new, _ = make_data(20, seed=1)
    new[0] = 0.0
    expected = [slow.chances(x, 12) for x in new]
    np.testing.assert_allclose(model.predict_proba(new), expected, rtol=1e-3, atol=1e-6)
    if max_children < 12:
        assert len(nodes_of(model)) > 13  # there are nodes between root and leaves


@pytest.mark.parametrize("max_children", [2, 128])
def test_class_labels_are_normalized_at_each_node(max_children):
    X, y = make_classification(120, 6, n_informative=5, n_redundant=0, n_classes=5, random_state=0)
    model = ProbabilisticLabelTree(max_children=max_children).partial_fit(X, y)
    slow = slow_copy(model, X, y)
    expected = [slow.chances(x, 5) for x in X[:20]]
    np.testing.assert_allclose(model.predict_proba(X[:20]), expected, rtol=1e-3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))


@given(st.integers(0, 10**6), st.sampled_from([2, 3, 4, 7]), st.integers(3, 15))
def test_insertion_is_exact(seed, max_children, n_labels):
    """A tree that grew online equals, bit by bit, its final tree that learns all samples."""
    X, Y = make_data(40, n_labels, seed)
    model = ProbabilisticLabelTree(max_children=max_children).partial_fit(X, Y)
    nodes = np.array([(*node, 0) for node in nodes_of(model)])
    fixed = LabelTree(15, n_labels, max_children, model.alpha, False, nodes)
    rows, lists = sparse.csr_array(X), sparse.csr_array(Y)
    lists = lists.indptr.astype(np.intp), lists.indices.astype(np.intp)
    fixed.play_rows(rows, *lists, np.ones(40))
    scores = fixed.score_rows(rows, slice(None))
    np.testing.assert_array_equal(model.predict_proba(X), scores)


def test_a_new_label_descends_to_the_best_child():
    X, Y = make_data(200, 4)
    model = ProbabilisticLabelTree(max_children=2).partial_fit(X, Y, classes=range(4))
    for label in range(4, 9):
        slow, nodes, v = slow_copy(model, X, Y), nodes_of(model), 0
        leaves = [sum(v in slow.path(u) for u, node in enumerate(nodes) if node[1] >= 0)
                  for v in range(len(nodes))]  # fmt: skip
        while nodes[v][1] < 0 and sum(parent == v for parent, _ in nodes) == 2:
            children = [u for u, node in enumerate(nodes) if node[0] == v]
            v = max(children, key=lambda u: log(max(slow.eta(u, X[7]), 0.01)) - log(leaves[u]))
        y = np.eye(label + 1, dtype=int)[[label]]
        model.partial_fit(X[[7]], y)
        X = np.vstack([X, X[7]])
        Y = np.vstack([np.pad(Y, ((0, 0), (0, 1))), y])
        assert nodes_of(model)[-1] == (v, label)


def test_several_passes_divide_the_weights():
    X, Y = make_data()
    model = ProbabilisticLabelTree(max_iter=3, shuffle=False).fit(X, Y)
    other = ProbabilisticLabelTree(shuffle=False).fit(X, Y, sample_weight=1 / 3)
    for _ in range(2):
        other.partial_fit(X, Y, sample_weight=np.full(len(X), 1 / 3))
    assert model.n_iter_ == 3
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))


# -- The tree.


@pytest.mark.parametrize(("n_labels", "max_children"), [(60, 4), (33, 32), (50, 3), (64, 2)])
def test_clusters_are_balanced(n_labels, max_children):
    X, Y = make_data(300, n_labels, density=0.5)
    Y[:, :2] = 0
    nodes = nodes_of(ProbabilisticLabelTree(max_children=max_children, random_state=0).fit(X, Y))
    assert sorted(label for _, label in nodes if label >= 0) == list(range(2, n_labels))
    parents = np.array([parent for parent, _ in nodes])
    assert np.bincount(parents[1:]).max() <= max_children
    depths = [0]
    for parent in parents[1:]:
        depths.append(depths[parent] + 1)
    assert max(depths) <= 2 * np.ceil(np.log(n_labels) / np.log(max_children))


def test_labels_of_the_same_features_are_clustered():
    rng = np.random.default_rng(0)
    group = rng.integers(4, size=400)
    X = np.zeros((400, 12))
    for j in range(3):
        X[np.arange(400), group * 3 + j] = rng.gamma(2.0, size=400)
    Y = np.zeros((400, 16), dtype=int)
    Y[np.arange(400), group + 4 * rng.integers(4, size=400)] = 1
    nodes = nodes_of(ProbabilisticLabelTree(max_children=4, random_state=0).fit(X, Y))
    for v in range(1, 5):
        assert len({label % 4 for parent, label in nodes if parent == v}) == 1


def test_depth_is_logarithmic_if_all_samples_are_equal():
    n_labels = 600
    model = ProbabilisticLabelTree(max_children=3)
    model.partial_fit(np.ones((n_labels, 1)), np.eye(n_labels, dtype=int))
    depths = [0]
    for parent, _ in nodes_of(model)[1:]:
        depths.append(depths[parent] + 1)
    assert max(depths) <= 30


# -- Prediction.


@given(st.integers(0, 10**6), st.sampled_from([2, 3, 8]), st.booleans(), st.data())
def test_search_finds_the_best_labels(seed, max_children, exclusive, data):
    X, Y = make_data(40, 14, seed)
    Y[:, 5:8] = 0  # labels that are not in the tree
    target = np.where(Y.any(axis=1), Y.argmax(axis=1), 13) if exclusive else Y
    classes = np.arange(14)
    model = ProbabilisticLabelTree(max_children=max_children, random_state=0)
    model.partial_fit(X, target, classes=classes)
    k = data.draw(st.integers(1, 14))
    chances = model.predict_proba(X)
    order = np.argsort(-chances, axis=1, kind="stable")
    np.testing.assert_array_equal(model.predict_topk(X, k), order[:, :k])
    np.testing.assert_array_equal(model.predict_ranks(X), order.argsort(axis=1) + 1)
    some = data.draw(st.lists(st.sampled_from(list(classes)), max_size=5, min_size=1))
    np.testing.assert_array_equal(model.predict_proba(X, labels=some), chances[:, some])
    if not exclusive:
        np.testing.assert_array_equal(model.predict(X), chances >= 0.5)


def test_equal_probabilities():
    """Labels that were always relevant together have equal probabilities if they are siblings."""
    X, _ = make_data(30)
    Y = np.ones((30, 9), dtype=int)
    Y[::2, ::2] = 0
    model = ProbabilisticLabelTree(max_children=3).partial_fit(X, Y)
    order = np.argsort(-model.predict_proba(X), axis=1, kind="stable")
    np.testing.assert_array_equal(model.predict_topk(X, 9), order)


def test_sparse_targets_have_sparse_predictions():
    X, Y = make_data()
    dense = ProbabilisticLabelTree(random_state=0).fit(X, Y)
    model = ProbabilisticLabelTree(random_state=0).fit(sparse.csr_matrix(X), sparse.csc_matrix(Y))
    predicted = model.predict(sparse.csr_array(X))
    assert sparse.issparse(predicted)
    np.testing.assert_array_equal(predicted.toarray(), dense.predict(X))
    assert predicted.nnz == dense.predict(X).sum() > 0


def test_labels_of_predict_proba_are_checked():
    X, Y = make_data()
    model = ProbabilisticLabelTree().partial_fit(X, Y, classes=list("abcdefghijkl"))
    np.testing.assert_array_equal(
        model.predict_proba(X, labels=["k", "b", "k"]), model.predict_proba(X)[:, [10, 1, 10]]
    )
    with pytest.raises(ValueError, match="labels has entries that are not in classes_: .*'z'"):
        model.predict_proba(X, labels=["b", "z"])


def test_classes_that_have_not_occurred():
    model = ProbabilisticLabelTree()
    model.partial_fit([[1.0]], ["a"], classes=["a", "b"], sample_weight=[0.0])
    np.testing.assert_array_equal(model.predict_proba([[1.0]]), [[0.5, 0.5]])
    model.partial_fit([[1.0]], ["b"])
    np.testing.assert_array_equal(model.predict_proba([[1.0]]), [[0.0, 1.0]])


# -- Streams.


@given(st.integers(0, 10**6), st.lists(st.integers(1, 20), max_size=6), st.booleans())
def test_chunks_and_pickles(seed, sizes, exclusive):
    X, Y = make_data(60, 11, seed)
    target = Y @ np.arange(11) if exclusive else Y
    whole = ProbabilisticLabelTree(max_children=3, random_state=0)
    whole.partial_fit(X[:5], target[:5], classes=np.unique(target) if exclusive else None)
    model = pickle.loads(pickle.dumps(whole))
    whole.partial_fit(X[5:], target[5:])
    bounds = np.minimum(5 + np.cumsum([0, *sizes, 60]), 60)
    for start, stop in zip(bounds[:-1], bounds[1:]):
        if start < stop:
            model = pickle.loads(pickle.dumps(model))
            model.partial_fit(sparse.csr_array(X[start:stop]), target[start:stop])
    new, _ = make_data(10, seed=seed + 1)
    np.testing.assert_array_equal(model.predict_proba(new), whole.predict_proba(new))
    np.testing.assert_array_equal(
        np.vstack([model.predict_proba(x[np.newaxis]) for x in new]), whole.predict_proba(new)
    )


def test_progressive_scores_are_those_before_each_sample():
    X, Y = make_data(30)
    model, other = ProbabilisticLabelTree(), ProbabilisticLabelTree()
    scores = model.progressive_fit(X, Y)
    for i in range(30):
        if i:
            np.testing.assert_array_equal(scores[[i]], other.predict_proba(X[[i]]))
        other.partial_fit(X[[i]], Y[[i]])
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("names", [None, [f"label {i:02}" for i in range(12)]])
def test_columns_that_appear_later(names):
    """Their labels are learned as if they had been named in the first call."""
    X, Y = make_data()
    Y[:80, 8:] = 0
    first, last = (None, None) if names is None else (names[:8], names)
    model = ProbabilisticLabelTree(max_children=3).partial_fit(X[:80], Y[:80, :8], classes=first)
    model.partial_fit(X[80:], Y[80:], classes=last)
    whole = ProbabilisticLabelTree(max_children=3).partial_fit(X, Y, classes=names)
    np.testing.assert_array_equal(model.classes_, whole.classes_)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_class_labels_that_appear_later():
    X, y = make_classification(200, 6, n_informative=5, n_redundant=0, n_classes=5, random_state=0)
    y = np.array(["e", "b", "d", "a", "longer"])[y]
    early = np.isin(y, ["b", "d"])
    X, y = np.vstack([X[early], X[~early]]), np.append(y[early], y[~early])
    model = ProbabilisticLabelTree(max_children=2).partial_fit(X[: early.sum()], y[: early.sum()])
    model.partial_fit(X[early.sum() :], y[early.sum() :])
    later = list(dict.fromkeys(y[early.sum() :].tolist()))
    assert model.classes_.tolist() == ["b", "d", *later]
    whole = ProbabilisticLabelTree(max_children=2).partial_fit(X, y, classes=np.unique(y))
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    assert set(model.predict(X)) == set(y)


@pytest.mark.parametrize(
    ("target", "classes", "weight", "message"),
    [
        ([[1, 0]], None, None, "y has 2 label columns for 3 labels: it needs a column for each"),
        ([[1, 0, 1]], ["a", "c", "b"], None, "must begin with the . labels so far"),
        ([[1, 0, 1, 1]], None, None, "4 label columns for 3 labels: .*`classes` names"),
        ([[1, 0, 1, 1]], list("abcde"), None, "4 label columns for 5 labels"),
        ([[1, 0, 1, 1]], ["a", "b", "c", "b"], None, "each once"),
        ([[1, 0, 1, 1]], ["a", "b", "d", "c"], None, "must begin with the . labels so far"),
        ([[1, 0, 1, 1]], ["a", "b", "c", "d"], [1e10], "sample_weight must be 1e"),
        ([[1, 0, 1, 1]], ["a", "b", "c", "d"], [-1.0], "sample_weight must not be negative"),
        (["a"], None, None, "class labels, but the first call had an indicator matrix"),
    ],
)
def test_invalid_targets_leave_the_model_unchanged(target, classes, weight, message, fingerprint):
    X = np.eye(3)
    model = ProbabilisticLabelTree().partial_fit(X, np.eye(3, dtype=int), classes=list("abc"))
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X[:1], target, classes=classes, sample_weight=weight)
    assert fingerprint(model) == before


def test_n_rounds_counts_the_samples_learned():
    """In all passes and calls, also after pickling, but not those of weight zero."""
    X, Y = make_data(30, 8)
    weights = np.repeat([1.0, 0.0, 2.0], 10)
    tree = ProbabilisticLabelTree(max_children=3, max_iter=4, shuffle=False).fit(X, Y, weights)
    assert tree.n_rounds_ == 4 * 20
    tree = pickle.loads(pickle.dumps(tree)).partial_fit(X[:7], Y[:7])
    tree.progressive_fit(X[:2], Y[:2])
    assert pickle.loads(pickle.dumps(tree)).n_rounds_ == 89
    assert tree.fit(X[:10], Y[:10]).n_rounds_ == 40
    with pytest.raises(NotFittedError):
        ProbabilisticLabelTree(shuffle=False).n_rounds_  # noqa: B018


def test_labels_of_another_type(fingerprint):
    model = ProbabilisticLabelTree().partial_fit(np.eye(2), [3, 4])
    before = fingerprint(model)
    with pytest.raises(ValueError, match="labels of different types"):
        model.partial_fit(np.eye(2), ["3", "5"])
    assert fingerprint(model) == before


def test_empty_and_extreme_samples():
    X = np.array([[0.0, 0.0], [1e200, 1.0], [-1e-200, 0.0], [1.7e308, -1.7e308]])
    Y = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0]])
    model = ProbabilisticLabelTree(alpha=1e-9).partial_fit(X, Y, sample_weight=[1, 1e9, 1e-9, 0])
    assert np.isfinite(model.predict_proba(X)).all()
    other = ProbabilisticLabelTree(alpha=1e-9)
    other.partial_fit(X[:3] * [[1], [1e-150], [1e100]], Y[:3], sample_weight=[1, 1e9, 1e-9])
    np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), rtol=1e-4)


def test_memory_is_that_of_the_pairs_of_a_node_and_a_feature():
    X, Y = make_data(400, 20)
    X, wide = sparse.csr_array(X), sparse.csr_array((400, 10**6 - 15))
    X = sparse.hstack([X, wide], format="csr")
    model = ProbabilisticLabelTree(max_children=4)
    tracemalloc.start()
    model.partial_fit(X[:200], Y[:200])
    model.partial_fit(X[200:], Y[200:])
    size = tracemalloc.get_traced_memory()[0]
    for _ in range(3):
        model.partial_fit(X, Y)
    growth = tracemalloc.get_traced_memory()[0] - size
    tracemalloc.stop()
    state = model._learner.__getstate__()
    # Nodes of the 15 features and the constant, with two numbers for each of at most 4 columns.
    assert len(state["features"]) <= 16 * len(state["nodes"])
    assert len(state["values"]) <= 8 * len(state["features"])
    assert size < 10**6
    assert growth < 10**4


# -- Use in other estimators.


def test_weak_learner():
    X, Y = make_multilabel_classification(160, n_classes=6, random_state=1)
    alone = ProbabilisticLabelTree(random_state=0).fit(X[:100], Y[:100])
    booster = AdaOLMR([ProbabilisticLabelTree(max_children=3)], random_state=0)
    scores = booster.fit(X[:100], Y[:100]).score(X[100:], Y[100:])
    assert min(scores, alone.score(X[100:], Y[100:])) > 0.85


def test_bibtex(multilabel_data):
    """Precision of the best label in one pass over 2000 samples. By frequency it is 0.14."""
    X_train, Y_train, X_test, Y_test = (data[:2000] for data in multilabel_data("bibtex"))
    for max_children in (128, 8):
        model = ProbabilisticLabelTree(max_children=max_children, random_state=0)
        best = model.fit(X_train, Y_train).predict_topk(X_test, 1)[:, 0]
        assert Y_test[np.arange(len(best)), best].mean() > 0.5

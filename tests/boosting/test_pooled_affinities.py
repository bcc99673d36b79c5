"""The sources of similarity="auto", and their weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import log_softmax
from sklearn.datasets import load_iris, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklrank.boosting import MCSSBClassifier
from sklrank.boosting._pooled_affinities import (
    folds_of,
    forest_probabilities,
    graph_probabilities,
    pool_weights,
    pooled_affinities,
)
from sklrank.boosting._similarity import diffused_affinities, neighbor_graph

X, TRUTH = make_blobs(150, centers=3, n_features=4, cluster_std=4.0, random_state=1)
LABELS = np.where(np.random.RandomState(0).uniform(size=150) < 0.2, TRUTH, -1)


def label_spreading(graph, labels):
    """Return the proportions of the classes, by a loop over the edges."""
    counts = np.array([np.sum(labels == k) for k in range(3)])
    degrees = graph.sum(axis=1)
    source = np.array([labels == k for k in range(3)]).T.astype(float)
    spread = source
    for _ in range(100):
        after = 0.1 * source
        for i, j in zip(*np.nonzero(graph)):
            after[i] += 0.9 * graph[i, j] * spread[j] / np.sqrt(degrees[i] * degrees[j])
        spread = after
    shares = counts / counts.sum()
    variance, distance = 1 - shares @ shares, (counts.sum() - 1) * np.sum((shares - 1 / 3) ** 2)
    shrinkage = 1 if variance >= distance else variance / distance
    spread *= (shrinkage / 3 + (1 - shrinkage) * shares) / spread.sum(axis=0)
    return spread / spread.sum(axis=1, keepdims=True)


def test_labels_are_hidden_fold_by_fold():
    labels = np.array([0, 1, 2, 0, 1, 2, 2, 2, 0, 1] + 50 * [-1])
    graph = neighbor_graph(X[:60], 5)
    hidden, known = graph_probabilities(graph, labels, 3, seed=0)
    assert_allclose(known, label_spreading(graph.toarray(), labels), rtol=1e-9)
    folds = folds_of(labels, 0)
    for fold in range(5):
        expected = label_spreading(graph.toarray(), np.where(folds == fold, -1, labels))
        assert_allclose(hidden[folds == fold], expected[folds == fold], rtol=1e-9)
    strongest = diffused_affinities(graph, labels, 3)
    assert_allclose(strongest[labels < 0].max(axis=1), known[labels < 0].max(axis=1))


def test_folds_divide_each_class():
    labels = np.array([0] * 12 + [1] * 5 + [2] * 1 + [3] * 3 + [-1] * 20)
    folds = folds_of(labels, 3)
    assert (folds[labels < 0] == -1).all()
    for k in range(4):
        counts = np.bincount(folds[labels == k], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert_array_equal(np.sort(folds_of(np.array([0, -1, 1]), 0)), [-1, 0, 1])


def test_weights_maximize_the_penalized_likelihood():
    random = np.random.RandomState(0)
    logs = log_softmax(random.normal(size=(3, 40, 4)), axis=2)
    labels = logs[0].argmax(axis=1)

    def objective(weights):
        total = -0.5 * sum((weight - 1 / 3) ** 2 for weight in weights)
        for i, label in enumerate(labels):
            pool = np.prod([np.exp(logs[s, i]) ** weights[s] for s in range(3)], axis=0)
            total += np.log(pool[label] / pool.sum())
        return total

    weights, likelihood = pool_weights(logs, labels)
    assert_allclose(likelihood, objective(weights), rtol=1e-9)
    assert weights[0] > 1
    for _ in range(200):
        other = np.maximum(weights + 0.05 * random.normal(size=3), 0)
        assert objective(other) <= likelihood + 1e-6


def test_the_forest_hides_labels_from_its_trees():
    hidden, known, forest = forest_probabilities(X, LABELS, 0, None)
    rows = np.flatnonzero(LABELS >= 0)
    assert_array_equal(known, forest.predict_proba(X))
    for i, row in enumerate(rows):
        others = [
            tree.predict_proba(X[[row]])[0]
            for tree, drawn in zip(forest.estimators_, forest.estimators_samples_)
            if i not in drawn
        ]
        assert_allclose(hidden[row], np.mean(others, axis=0))


def test_affinities_are_a_weighted_geometric_mean():
    graphs = [neighbor_graph(X, 7), neighbor_graph(X[:, :2], 7)]
    affinities, weights, forest = pooled_affinities(X, graphs, LABELS, 3, seed=0)
    sources = [graph_probabilities(graph, LABELS, 3, 0)[1] for graph in graphs]
    sources.append(forest.predict_proba(X))
    assert weights.max() > 0
    for i in range(150):
        if LABELS[i] >= 0:
            assert_array_equal(affinities[i], np.eye(3)[LABELS[i]])
            continue
        pool = np.prod([(0.99 * p[i] + 0.01 / 3) ** w for p, w in zip(sources, weights)], axis=0)
        expected = np.where(pool == pool.max(), pool / pool.sum(), 0)
        assert_allclose(affinities[i], expected)


# -- MCSSBClassifier.


def misleading():
    """Return samples whose class depends on one feature, and neighbors on the others."""
    random = np.random.RandomState(0)
    X = random.normal(size=(400, 20))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=1)])
def test_neighbors_that_mislead_are_not_used(estimator):
    X, truth = misleading()
    labels = np.where(np.arange(400) % 4 == 0, truth, -1)
    model = MCSSBClassifier(estimator, n_estimators=5, random_state=0).fit(X, labels)
    weights = model.source_weights_
    assert weights["scaled graph"] == weights["unscaled graph"] == 0 < weights["forest"]
    if estimator is None:
        [forest] = model.estimators_
        assert isinstance(forest, RandomForestClassifier)
        assert forest.n_features_in_ == 20
        assert_array_equal(model.predict(X), forest.predict(X))
        grown = model.set_params(warm_start=True, n_estimators=9).fit(X, labels)
        assert len(grown.estimators_) == 1
    else:
        assert 1 <= len(model.estimators_) <= 5
    assert model.score(X, truth) > 0.9
    assert (np.diff(model.loss_curve_) <= 0).all()


def test_neighbors_that_help_are_used():
    X, y = load_iris(return_X_y=True)
    labels = np.where(np.arange(150) % 7 == 0, y, -1)
    model = MCSSBClassifier(n_estimators=20, random_state=0).fit(X, labels)
    assert max(model.source_weights_["scaled graph"], model.source_weights_["unscaled graph"]) > 0
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("similarity", ["rbf", "knn", "diffusion"])
def test_scale_divides_by_the_standard_deviations(similarity):
    X_units = X * [1, 1000, 0.01, 1]
    scaled = StandardScaler().fit_transform(X)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)

    def losses(X, scale):
        model = MCSSBClassifier(tree, 5, similarity=similarity, scale=scale)
        return model.fit(X, LABELS).loss_curve_

    expected = losses(scaled, False)
    for scale in (True, "auto"):
        assert_allclose(losses(X_units, scale), expected, rtol=1e-6)
    assert not np.allclose(losses(X_units, False)[:2], expected[:2], rtol=1e-3)


def test_scale_selects_the_graphs():
    for scale, names in (
        ("auto", ["scaled graph", "unscaled graph", "forest"]),
        (True, ["scaled graph", "forest"]),
        (False, ["unscaled graph", "forest"]),
    ):
        model = MCSSBClassifier(n_estimators=3, scale=scale, random_state=0).fit(X, LABELS)
        assert list(model.source_weights_) == names


def test_sparse_matrices_are_scaled_without_centering():
    X_sparse = sparse.csr_array(np.where(np.abs(X) > 3, X, 0))
    model = MCSSBClassifier(n_estimators=5, random_state=0).fit(X_sparse, LABELS)
    assert model.score(X_sparse, TRUTH) > 0.5


def test_few_labels_and_classes_of_one_label():
    labels = np.full(150, -1)
    labels[[0, 1]] = TRUTH[[0, 1]]
    labels[np.flatnonzero(TRUTH != TRUTH[0])[0]] = TRUTH[np.flatnonzero(TRUTH != TRUTH[0])[0]]
    model = MCSSBClassifier(n_estimators=5, random_state=0).fit(X, labels)
    assert set(model.predict(X)) <= set(TRUTH)

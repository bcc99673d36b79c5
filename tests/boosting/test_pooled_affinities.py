"""The sources of similarity="auto", and their weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_iris, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklrank.boosting import MCSSBClassifier
from sklrank.boosting import _pooled_affinities as module
from sklrank.boosting._pooled_affinities import (
    CLASSIFIERS,
    PooledClassifier,
    classifier_probabilities,
    folds_of,
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
    folds = folds_of(labels, 0)
    hidden, known = graph_probabilities(graph, labels, 3, folds)
    assert_allclose(known, label_spreading(graph.toarray(), labels), rtol=1e-9)
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

    def likelihood(weights):
        total = 0
        for i, label in enumerate(labels):
            pool = np.prod([np.exp(logs[s, i]) ** weights[s] for s in range(3)], axis=0)
            total += np.log(pool[label] / pool.sum())
        return total

    def of_single(s, weight):
        return likelihood(weight * np.eye(3)[s]) - 0.5 * (weight - 1) ** 2

    grid = np.linspace(0, 4, 401)
    values = np.array([[of_single(s, weight) for weight in grid] for s in range(3)])
    prior = np.array([0.001, 0.5, 0.499])
    center = grid[values.argmax(axis=1)] * softmax(values.max(axis=1) + np.log(prior))

    def objective(weights):
        return likelihood(weights) - 15 * sum((weights - center) ** 2)

    weights, found = pool_weights(logs, labels, prior)
    assert_allclose(found, objective(weights), atol=0.1)
    assert weights[0] > 1
    for _ in range(200):
        other = np.maximum(weights + 0.1 * random.normal(size=3), 0)
        assert objective(other) <= objective(weights) + 0.02


def test_best_source_has_all_weight_if_labels_are_few():
    logs = np.log([[[0.9, 0.1]] * 20, [[0.4, 0.6]] * 20])
    weights, _ = pool_weights(logs, np.zeros(20, dtype=int), np.array([0.5, 0.5]))
    assert weights[1] < 0.01 < 1 < weights[0]


def test_prior_decides_if_each_class_has_one_label():
    labels = np.full(150, -1)
    for k in range(3):
        labels[np.flatnonzero(TRUTH == k)[0]] = k
    graphs = [neighbor_graph(X, 7), neighbor_graph(X[:, :2], 7)]
    _, weights, _ = pooled_affinities(X, graphs, labels, 3, seed=0)
    assert_allclose(weights, [1 / 3, 1 / 3, 1 / 9, 1 / 9, 1 / 9], rtol=1e-6)


def test_classifiers_do_not_see_hidden_labels():
    """Fold 1 leaves one class only, and fold 0 lacks class 2."""
    labels = np.full(30, -1)
    labels[:5] = [0, 0, 1, 2, 0]
    folds = np.full(30, -1)
    folds[:5] = [0, 0, 1, 0, 1]
    made = []

    def make(n_trees, seed, n_jobs):
        made.append(n_trees)
        return GaussianNB(var_smoothing=0.5)

    hidden, known, classifier = classifier_probabilities(make, X[:30], labels, 3, folds, 0, None)
    assert_allclose(known, classifier.predict_proba(X[:30]))
    assert_array_equal(hidden[5:], known[5:])
    # The labels 1 and 0 are seen.
    seen = GaussianNB(var_smoothing=0.5).fit(X[[2, 4]], [1, 0])
    assert_allclose(hidden[[0, 1, 3], :2], seen.predict_proba(X[[0, 1, 3]]))
    # The labels 0, 0 and 2 are seen.
    seen = GaussianNB(var_smoothing=0.5).fit(X[[0, 1, 3]], [0, 0, 2])
    assert_allclose(hidden[[2, 4]][:, [0, 2]], seen.predict_proba(X[[2, 4]]))
    assert (hidden[[0, 1, 3], 2] == 0).all()
    assert (hidden[[2, 4], 1] == 0).all()
    assert made == [module.N_TREES] + 2 * [module.N_TREES_OF_FOLD]


def test_one_class_that_is_seen_is_certain():
    labels, folds = np.full(20, -1), np.full(20, -1)
    labels[:3], folds[:3] = [0, 1, 1], [0, 1, 1]
    for make in CLASSIFIERS.values():
        hidden, *_ = classifier_probabilities(make, X[:20], labels, 2, folds, 0, None)
        assert_array_equal(hidden[:3], [[0, 1], [1, 0], [1, 0]])


def test_pool_is_a_weighted_geometric_mean():
    seen = LABELS >= 0
    members = [
        model.fit(X[seen], LABELS[seen])
        for model in (GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0))
    ]
    classifier = PooledClassifier(members, [0.3, 1.5])
    for i in range(0, 150, 10):
        p, q = (0.99 * member.predict_proba(X[[i]])[0] + 0.01 / 3 for member in members)
        pool = p**0.3 * q**1.5
        assert_allclose(classifier.predict_proba(X[[i]])[0], pool / pool.sum())
        assert classifier.predict(X[[i]]) == pool.argmax()


def test_importances_of_a_pool():
    seen = LABELS >= 0
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[seen], LABELS[seen])
    scale = X[seen].std(axis=0)
    linear = module.logistic_regression(0, 0, None).fit(X[seen], LABELS[seen])
    expected = LogisticRegression().fit(X[seen] / scale, LABELS[seen])
    sizes = [sum(abs(row[j]) for row in expected.coef_) for j in range(4)]
    total = 3 * tree.feature_importances_ + np.array(sizes) / sum(sizes)
    assert_allclose(PooledClassifier([tree, linear], [3, 1]).feature_importances_, total / 4)


def test_affinities_are_a_weighted_geometric_mean():
    graphs = [neighbor_graph(X, 7), neighbor_graph(X[:, :2], 7)]
    affinities, weights, classifier = pooled_affinities(X, graphs, LABELS, 3, seed=0)
    sources = [graph_probabilities(graph, LABELS, 3, folds_of(LABELS, 0))[1] for graph in graphs]
    sources.extend(member.predict_proba(X) for member in classifier.classifiers)
    assert len(weights) == len(sources) == 5
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
    assert weights["scaled graph"] == weights["unscaled graph"] == 0
    assert weights["random forest"] > weights["logistic regression"]
    if estimator is None:
        [pool] = model.estimators_
        assert isinstance(pool, PooledClassifier)
        assert pool.classifiers[0].n_features_in_ == 20
        assert_array_equal(model.predict(X), pool.predict(X))
        grown = model.set_params(warm_start=True, n_estimators=9).fit(X, labels)
        assert len(grown.estimators_) == 1
    else:
        assert 1 <= len(model.estimators_) <= 5
    assert model.score(X, truth) > 0.9
    assert (np.diff(model.loss_curve_) <= 0).all()


def test_weights_of_sources_are_those_of_the_last_fit():
    X, truth = misleading()
    labels = np.where(np.arange(400) % 4 == 0, truth, -1)
    tree = DecisionTreeClassifier(max_depth=1)
    model = MCSSBClassifier(tree, 2, similarity="knn", warm_start=True, random_state=0)
    assert not hasattr(model.fit(X, labels), "source_weights_")
    model.set_params(similarity="auto", n_estimators=4).fit(X, labels)
    assert len(model.estimators_) == 4
    assert set(model.source_weights_) > set(CLASSIFIERS)
    model.set_params(similarity="knn", warm_start=False).fit(X, labels)
    assert not hasattr(model, "source_weights_")


def test_neighbors_that_help_are_used():
    X, y = load_iris(return_X_y=True)
    labels = np.where(np.arange(150) % 7 == 0, y, -1)
    model = MCSSBClassifier(n_estimators=20, random_state=0).fit(X, labels)
    assert max(model.source_weights_["scaled graph"], model.source_weights_["unscaled graph"]) > 0
    assert [isinstance(each, PooledClassifier) for each in model.estimators_] == [True] + [
        False
    ] * 19
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
        ("auto", ["scaled graph", "unscaled graph"]),
        (True, ["scaled graph"]),
        (False, ["unscaled graph"]),
    ):
        model = MCSSBClassifier(n_estimators=3, scale=scale, random_state=0).fit(X, LABELS)
        assert list(model.source_weights_) == [*names, *CLASSIFIERS]


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

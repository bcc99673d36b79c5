"""PooledLabelSpreading: its sources, their weights, and its public interface."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_classifiers_classes

from sklrank.semi_supervised import PooledLabelSpreading
from sklrank.semi_supervised import _pooled_label_spreading as module
from sklrank.semi_supervised._pooled_label_spreading import (
    classifier_probabilities,
    folds_of,
    graph_probabilities,
)
from sklrank.semi_supervised._similarity import diffused_affinities, neighbor_graph

X, TRUTH = make_blobs(150, centers=3, n_features=4, cluster_std=4.0, random_state=1)
LABELS = np.where(np.random.RandomState(0).uniform(size=150) < 0.2, TRUTH, -1)


def label_spreading(graph, labels):
    """Return the proportions of the classes, by a hundred steps of all samples."""
    counts = np.array([np.sum(labels == k) for k in range(3)])
    degrees = graph.sum(axis=1)
    source = np.array([labels == k for k in range(3)]).T.astype(float)
    spread, steps = source, graph / np.sqrt(np.outer(degrees, degrees))
    for _ in range(100):
        spread = 0.1 * source + 0.9 * steps @ spread
    shares = counts / counts.sum()
    variance, distance = 1 - shares @ shares, (counts.sum() - 1) * np.sum((shares - 1 / 3) ** 2)
    shrinkage = 1 if variance >= distance else variance / distance
    spread *= (shrinkage / 3 + (1 - shrinkage) * shares) / spread.sum(axis=0)
    return spread / spread.sum(axis=1, keepdims=True)


def pooled(**parameters):
    return PooledLabelSpreading(**{"n_estimators": 10, "random_state": 0, **parameters})


def test_labels_are_hidden_fold_by_fold():
    labels = np.array([0, 1, 2, 0, 1, 2, 2, 2, 0, 1] + 50 * [-1])
    graph = neighbor_graph(X[:60], 5)
    folds = folds_of(labels, 0)
    hidden, known = graph_probabilities(graph, labels, np.ones(60), 3, folds)
    assert_allclose(known, label_spreading(graph.toarray(), labels), rtol=1e-9)
    for fold in range(5):
        expected = label_spreading(graph.toarray(), np.where(folds == fold, -1, labels))
        assert_allclose(hidden[folds == fold], expected[folds == fold], rtol=1e-9)
    strongest = diffused_affinities(graph, labels, np.ones(60), 3)
    assert_allclose(strongest[labels < 0].max(axis=1), known[labels < 0].max(axis=1))


def test_classifiers_are_fitted_without_the_hidden_labels():
    labels = np.array([0, 1, 2, 0, 1, 0] + 144 * [-1])
    folds = folds_of(labels, 0)
    hidden, known = classifier_probabilities(GaussianNB(), X, labels, np.ones(150), 3, folds)
    expected = GaussianNB().fit(X[:6], labels[:6]).predict_proba(X)
    assert_allclose(known, expected)
    for fold in range(folds.max() + 1):
        seen = (labels >= 0) & (folds != fold)
        classes = np.unique(labels[seen])
        model = GaussianNB().fit(X[seen], labels[seen])
        assert_allclose(hidden[folds == fold][:, classes], model.predict_proba(X[folds == fold]))


def test_folds_spread_the_labels_of_a_class():
    folds = folds_of(LABELS, 0)
    assert_array_equal(folds < 0, LABELS < 0)
    for k in range(3):
        counts = np.bincount(folds[LABELS == k], minlength=5)
        assert np.ptp(counts) <= 1


def test_the_pool_by_hand(monkeypatch):
    """Weights of Hedge, and a geometric mean of probabilities mixed with equal ones."""
    sources = []

    def record(function):
        def recorded(*arguments):
            sources.append(function(*arguments))
            return sources[-1]

        return recorded

    for name in ("graph_probabilities", "classifier_probabilities"):
        monkeypatch.setattr(module, name, record(getattr(module, name)))
    model = pooled().fit(X, LABELS)
    rows = np.flatnonzero(LABELS >= 0)
    mistake = 1 / (len(rows) + 2)
    weights = []
    for hidden, _ in sources:
        likelihood = 0.0
        for row in rows:
            likelihood += np.log((1 - mistake) * hidden[row, LABELS[row]] + mistake / 3)
        weights.append(np.exp(likelihood / np.sqrt(len(rows))))
    weights = np.array(weights) / np.sum(weights)
    assert_allclose(list(model.source_weights_.values()), weights)
    for i in range(150):
        pool = np.prod(
            [((1 - mistake) * p[i] + mistake / 3) ** w for w, (_, p) in zip(weights, sources)],
            axis=0,
        )
        expected = np.eye(3)[LABELS[i]] if LABELS[i] >= 0 else pool / pool.sum()
        assert_allclose(model.label_distributions_[i], expected, atol=1e-12)
    forest = model.estimator_
    assert isinstance(forest, ExtraTreesClassifier)
    again = clone(forest).fit(X, model.label_distributions_.argmax(axis=1))
    assert_array_equal(model.predict_proba(X), again.predict_proba(X))


def misleading():
    """Return samples whose class depends on one feature, and neighbors on the others."""
    random = np.random.RandomState(0)
    X = random.normal(size=(400, 20))
    return X, (X[:, 0] > 0).astype(int)


def test_weights_of_graphs():
    """They are small if neighbors mislead, and large if they help."""
    samples, truth = misleading()
    labels = np.where(np.arange(400) % 4 == 0, truth, -1)
    model = pooled().fit(samples, labels)
    weights = model.source_weights_
    assert weights["scaled graph"] + weights["unscaled graph"] < 0.1
    assert model.score(samples, truth) > 0.9
    samples, truth = load_iris(return_X_y=True)
    model.fit(samples, np.where(np.arange(150) % 7 == 0, truth, -1))
    assert max(model.source_weights_, key=model.source_weights_.get).endswith("graph")
    assert model.score(samples, truth) > 0.9


def test_labels_of_the_training_samples_and_names_of_classes():
    names = np.array(["a", "b", "c"], dtype=object)
    model = pooled().fit(X, np.where(LABELS < 0, -1, names[LABELS]))
    labeled = LABELS >= 0
    assert_array_equal(model.transduction_[labeled], names[LABELS[labeled]])
    assert_array_equal(model.predict(X), names[pooled().fit(X, LABELS).predict(X)])
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_sparse_matrices_are_scaled_without_centering():
    X_sparse = sparse.csr_array(np.where(np.abs(X) > 3, X, 0))
    assert pooled().fit(X_sparse, LABELS).score(X_sparse, TRUTH) > 0.5


def test_few_labels_and_classes_of_one_label():
    labels = np.full(150, -1)
    chosen = [0, 1, np.flatnonzero(TRUTH != TRUTH[0])[0]]
    labels[chosen] = TRUTH[chosen]
    assert set(pooled().fit(X, labels).predict(X)) <= set(TRUTH)
    one_each = np.full(150, -1)
    for k in range(3):
        one_each[np.flatnonzero(TRUTH == k)[0]] = k
    assert_allclose(sum(pooled().fit(X, one_each).source_weights_.values()), 1)


def test_a_failed_fit_changes_nothing(fingerprint):
    model = pooled().fit(X, LABELS)
    before = fingerprint(model)
    for y, message in ((np.full(150, -1), "labels no sample"), (LABELS[:9], "inconsistent")):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
    assert fingerprint(model) == before


def test_check_of_classes_without_minus_one():
    """scikit-learn's check, with the exception for its own semi-supervised classifiers."""
    check_classifiers_classes("SelfTrainingClassifier", pooled(n_estimators=3))

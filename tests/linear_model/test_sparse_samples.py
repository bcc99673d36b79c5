"""Online linear learners of sparse samples, against slow statements and the dense case."""

import pickle

import numpy as np
import pytest
from feature_maps import features_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier, SemiBanditRanker
from sklrank.linear_model._regression import _estimators
from sklrank.online_boosting import AdaOLMR, TopKAdaptive


def samples(n=150, n_features=80, share=0.05):
    """Sparse features of several scales, of which two are dense, one is dense later, one at first.

    The dense ones are far from zero. Returns labels of four classes, too.
    """
    random = np.random.default_rng(0)
    X = np.where(random.random((n, n_features)) < share, random.normal(size=(n, n_features)), 0.0)
    X *= 10.0 ** random.integers(-3, 4, n_features)
    X[:, 5] = 1000 + random.normal(size=n)
    X[:, 9] = 7.0
    X[60:, 20] = 5 + random.normal(size=n - 60)
    X[:30, 30] = 5 + random.normal(size=30)
    X[30:, 30] = 0.0
    return X, random.integers(4, size=n)


def slow_standardized(X, clip):
    """Values of each sample, by the samples before it. Whether a column is centered follows."""
    centered, n_revised = np.zeros(X.shape[1], dtype=bool), 0
    for t, x in enumerate(X):
        before = X[:t]
        z = np.zeros(len(x))
        for j, value in enumerate(x):
            column = before[:, j]
            if centered[j] and np.ptp(column) > 0:
                z[j] = (value - column.mean()) / column.std()
            elif not centered[j] and np.any(column):
                z[j] = value / np.sqrt(np.mean(column**2))
        yield np.clip(z, -clip, clip), centered.copy()
        n_nonzero = np.count_nonzero(X[: t + 1], axis=0)
        assert n_nonzero.sum() <= (t + 1) * X.shape[1] / 8
        now = np.where(centered, 16 * n_nonzero >= t + 1, 8 * n_nonzero > t + 1)
        n_revised += np.count_nonzero(now != centered)
        centered = now
    assert n_revised > 6


def test_standardization_of_sparse_samples():
    """Columns with few nonzero entries are scaled, and the others are standardized."""
    X, y = samples()
    models = [OnlineLogisticRegression(normalize="l2") for _ in range(2)]
    for t, (z, centered) in enumerate(slow_standardized(X, 10.0)):
        for model, container in zip(models, [np.asarray, sparse.csr_array]):
            if t:
                feature = features_of(model._learner.feature_map, X[t : t + 1])[0]
                norm = np.linalg.norm(z)
                assert_allclose(feature[:-1], z / norm if norm else z, rtol=1e-7, atol=1e-8)
                assert_array_equal(model.mean_ != 0, centered & (X[:t] != 0).any(axis=0))
            model.partial_fit(container(X[t : t + 1]), y[t : t + 1], classes=range(4))


LEARNERS = [
    OnlineLogisticRegression(
        normalize="l2", intercept_scaling=0.3, learning_rate=(0.3, 1), shuffle=False
    ),
    OnlineLogisticRegression(multi_class="ovr", standardize=False, normalize="l2", shuffle=False),
    OnlineRidgeClassifier(
        normalize="l2", sketch_size=40, alpha=(1, 10), random_state=0, shuffle=False
    ),
    OnlineRidgeClassifier(standardize=False, normalize="l2", shuffle=False),
    OnlineRidgeClassifier(kernel="rbf", n_components=20, random_state=0, shuffle=False),
    AdaOLMR(random_state=0, shuffle=False),
    TopKAdaptive(k=2, random_state=0, shuffle=False),
    SemiBanditRanker(k=2, random_state=0, shuffle=False),
]


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
def test_chunks_pickles_and_containers(model, single, monkeypatch, fingerprint):
    """One call, chunks and pickles, an array and a CSR matrix: the same to the bit."""
    if single:
        monkeypatch.setattr(_estimators, "MAX_DOUBLE_WEIGHTS", 0)
    X, y = samples()
    whole = clone(model).partial_fit(X, y, classes=range(4))
    part = clone(model)
    for start in range(0, len(X), 37):
        rows = slice(start, start + 37)
        part.partial_fit(sparse.csr_array(X[rows]), y[rows], classes=range(4))
        part = pickle.loads(pickle.dumps(part))
    assert fingerprint(part) == fingerprint(whole)
    assert_array_equal(part.decision_function(sparse.csr_array(X)), whole.decision_function(X))


@pytest.mark.parametrize("model", LEARNERS[:2], ids=["multinomial", "ovr"])
def test_single_precision_rounds_the_weights(model, monkeypatch):
    X, y = samples()
    double = clone(model).fit(X, y)
    monkeypatch.setattr(_estimators, "MAX_DOUBLE_WEIGHTS", 0)
    single = clone(model).fit(X, y)
    assert single._learner.is_single
    assert not double._learner.is_single
    found, expected = single._learner.weight_table, double._learner.weight_table
    assert np.abs(expected).max() > 0.1
    assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        OnlineRidgeClassifier(standardize=False),
        OnlineRidgeClassifier(standardize=False, alpha=(0.5, 3)),
        OnlineLogisticRegression(standardize=False),
        OnlineLogisticRegression(standardize=False, multi_class="ovr"),
    ],
)
@pytest.mark.parametrize("shown", [False, True])
def test_columns_of_zeros_change_nothing(model, shown, monkeypatch):
    """With them, samples are sparse, and updates are postponed; without them, neither."""
    random = np.random.default_rng(1)
    X, y = random.normal(size=(200, 9)), random.integers(0, 5, 200)
    y[X[:, 0] > 0] = 2
    wide = np.zeros((200, 150))
    wide[:, 3:130:15] = X
    if shown:
        # Steps of relevance 1 and 0 for the labels shown.
        monkeypatch.setattr(SemiBanditRanker, "_templates", lambda _, weak=model: [weak])
        model = SemiBanditRanker(k=2, exploration=0.5, random_state=0)
    scores = [clone(model).progressive_fit(rows, y) for rows in (X, wide)]
    assert_allclose(scores[1], scores[0], atol=1e-9)
    assert np.ptp(scores[0]) > 0.1


def test_weights_are_stored_for_columns_in_use():
    """The model of 20 samples with 5 entries each does not depend on the number of columns."""
    X = sparse.random(20, 10**5, density=5e-5, format="csr", random_state=0)
    y = np.arange(20)
    model = OnlineLogisticRegression(standardize=False, normalize="l2", shuffle=False).fit(X, y)
    table = model._learner.__getstate__()["table"]
    assert table.shape == (1 + len(np.unique(X.indices)), 2, 1, 20)
    # One index per column, and no weight of columns without entries.
    assert len(pickle.dumps(model)) < 10**6

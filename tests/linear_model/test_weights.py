"""Weights of Predtron are numbers of rounds; bandits have no weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronQueryRanker,
)
from sklrank.linear_model._predtron._base import repeat_rounds, repetitions

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(60, 4))
CLASSES = RANDOM.randint(3, size=60)
LABELS = RANDOM.randint(2, size=(60, 3))
WEIGHTS = RANDOM.randint(3, size=60)
ROWS = np.repeat(np.arange(60), WEIGHTS)
QID = RANDOM.permutation(np.repeat([5, 2, 9, 4, 7, 1], 10))
QUERY_WEIGHTS = np.array([0, 2, 1, 0, 3, 1, 0, 2, 0, 0])[QID]


@pytest.mark.parametrize("max_iter", [1, 3])
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (PredtronClassifier(), CLASSES),
        (PredtronClassifier(mirror_map="entropy", average=True), CLASSES),
        (PredtronClassifier(loss="hamming", update="loss-driven"), LABELS),
        (PredtronClassifier(kernel="rbf", average=True), CLASSES),
        (PredtronLabelRanker(average=True), LABELS),
    ],
)
def test_samples(model, y, max_iter):
    model.set_params(max_iter=max_iter, random_state=0)
    expected = model.fit(X[ROWS], y[ROWS])
    scores, n_rounds = expected.decision_function(X), expected.n_rounds_
    model.fit(X, y, sample_weight=WEIGHTS)
    assert model.n_rounds_ == n_rounds == max_iter * len(ROWS)
    assert_allclose(model.decision_function(X), scores, atol=1e-9)
    assert np.ptp(scores) > 0.1


@pytest.mark.parametrize("max_iter", [1, 3])
def test_queries(max_iter):
    rows = np.concatenate(
        [
            np.flatnonzero(QID == query)
            for query in QID[np.sort(np.unique(QID, return_index=True)[1])]
            for _ in range(QUERY_WEIGHTS[QID == query][0])
        ]
    )
    copies = np.repeat(np.arange(len(rows) // 10), 10)
    y = (X[:, 0] > 0).astype(float)
    ranker = PredtronQueryRanker(max_iter=max_iter, average=True, random_state=0)
    expected = ranker.fit(X[rows], y[rows], copies).predict(X)
    ranker.fit(X, y, QID, query_weight=QUERY_WEIGHTS)
    assert ranker.n_rounds_ == 9 * max_iter
    assert_allclose(ranker.predict(X), expected, atol=1e-12)


@pytest.mark.parametrize("scale", [0.01, 1.0, 1.7])
def test_fractions_are_probabilities_of_one_more_round(scale):
    weights = scale * RANDOM.permutation(np.repeat([0.25, 0.5, 0.75, 2.5], 15))
    expected = weights * max(1.0, 60 / weights.sum())
    random = np.random.RandomState(0)
    counts = np.zeros(60)
    for _ in range(2000):
        drawn = np.bincount(repeat_rounds(repetitions(weights, "weights"), random), minlength=60)
        assert (np.abs(drawn - expected) < 1).all()
        assert (np.abs(np.cumsum(drawn - expected)) < 1).all()
        counts += drawn
    # Five standard errors.
    assert_allclose(counts / 2000, expected, atol=5 * 0.5 / np.sqrt(2000))


def test_equal_weights_are_no_weights():
    model = PredtronClassifier(max_iter=3, random_state=0).fit(X, CLASSES)
    expected = model.decision_function(X)
    same = model.fit(X, CLASSES, sample_weight=np.full(60, 1 / 60))
    assert_array_equal(same.decision_function(X), expected)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(60, 1e12), "sample_weight must have a sum of at most 1e"),
        (-WEIGHTS, "sample_weight must not be negative"),
        (0 * WEIGHTS, "sample_weight is all zeros"),
        ([1], "sample_weight must have the shape"),
    ],
)
def test_bad_weights(weights, message):
    model = PredtronClassifier().fit(X, CLASSES)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=message):
        model.fit(X, CLASSES, sample_weight=weights)
    assert_array_equal(model.decision_function(X), before)


def test_bad_weights_of_queries():
    for weights, message in [
        (WEIGHTS, "must be the same for all documents of a query"),
        (1e12 * QUERY_WEIGHTS, "query_weight must have a sum of at most 1e"),
    ]:
        with pytest.raises(ValueError, match=message):
            PredtronQueryRanker().fit(X, CLASSES, QID, query_weight=weights)
    with pytest.raises(TypeError, match="sample_weight"):
        PredtronQueryRanker().fit(X, CLASSES, QID, sample_weight=WEIGHTS)


@pytest.mark.parametrize("model", [BanditronClassifier(), LinUCBClassifier()])
def test_bandits_refuse_weights_by_name(model):
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(TypeError, match="sample_weight"):
            learn(X, CLASSES, sample_weight=WEIGHTS)

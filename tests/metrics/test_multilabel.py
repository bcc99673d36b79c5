"""Propensity-scored precision of ranked labels, and the propensities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier

from sklrank.metrics import (
    label_propensities,
    precision_at_k_score,
    propensity_scored_precision_at_k_score,
    propensity_scored_precision_at_k_scorer,
)

RNG = np.random.default_rng(0)
Y = (RNG.random((40, 7)) < RNG.uniform(0.1, 0.6, size=7)).astype(int)
Y[5] = 0
SCORES = np.round(RNG.normal(size=Y.shape) + Y, 1)
WEIGHTS = RNG.random(40)


def slow_values(Y, scores, k, propensities):
    values = []
    for y, s in zip(Y, scores, strict=True):
        first = sorted(range(len(y)), key=lambda label: (-s[label], label))[:k]
        values.append(sum(y[label] / propensities[label] for label in first) / k)
    return np.array(values)


@pytest.mark.parametrize("as_matrix", [np.asarray, csr_matrix, csr_array, np.ndarray.tolist])
def test_propensities(as_matrix):
    n = len(Y)
    for a, b in [(0.55, 1.5), (0.6, 2.6)]:
        expected = [
            1 / (1 + (np.log(n) - 1) * (b + 1) ** a * np.exp(-a * np.log(frequency + b)))
            for frequency in Y.sum(axis=0)
        ]
        assert_allclose(label_propensities(as_matrix(Y), a=a, b=b), expected)


def test_propensities_of_few_samples():
    assert_allclose(label_propensities(Y[:2]), 1.0)
    p = label_propensities(np.array([[1, 1, 0]] * 50 + [[1, 0, 0]] * 50))
    assert 1 > p[0] > p[1] > p[2] > 0


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("value", [0.0, -2, np.nan, np.inf, "x", None])
def test_parameters_of_propensities(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a positive number"):
        label_propensities(Y, **{name: value})


@pytest.mark.parametrize("k", [1, 3, 7])
def test_values(k):
    p = label_propensities(Y)
    values = slow_values(Y, SCORES, k, p)
    options = {"k": k, "average": False}
    for y in (Y, csr_array(Y)):
        assert_allclose(propensity_scored_precision_at_k_score(y, SCORES, **options), values)
    best = slow_values(Y, Y / p, k, p)
    for w in (None, WEIGHTS):
        mean = np.average(values, weights=w)
        options = {"k": k, "sample_weight": w, "propensities": p}
        found = propensity_scored_precision_at_k_score(Y, SCORES, **options)
        assert_allclose(found, mean / np.average(best, weights=w))
    assert propensity_scored_precision_at_k_score(Y, Y / p, k=k) == pytest.approx(1.0)


def test_equal_propensities_give_precision():
    found = propensity_scored_precision_at_k_score(
        Y, SCORES, k=3, propensities=np.ones(7), average=False
    )
    expected = precision_at_k_score(Y, SCORES, k=3, empty="zero", ties="stable", average=False)
    assert_allclose(found, expected)


def test_class_labels():
    y = np.arange(40) % 3
    scores = SCORES[:, :3]
    found = propensity_scored_precision_at_k_score(np.array(["a", "b", "c"])[y], scores, k=2)
    assert_allclose(found, propensity_scored_precision_at_k_score(np.eye(3)[y], scores, k=2))


def test_no_relevant_label_is_zero():
    assert propensity_scored_precision_at_k_score(np.zeros((3, 4)), np.ones((3, 4)), k=2) == 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k must be an integer from 1 to the number of labels, 7"),
        ({"k": 8}, "k must be an integer from 1 to"),
        ({"propensities": np.ones(6)}, r"propensities must be 7 numbers in \(0, 1\]"),
        ({"propensities": np.zeros(7)}, r"propensities must be 7 numbers in \(0, 1\]"),
        ({"propensities": np.full(7, np.nan)}, "propensities"),
        ({"y_score": SCORES[:, :3]}, "y_score must have the shape"),
        ({"sample_weight": np.ones(40), "average": False}, "sample_weight only affects"),
    ],
)
def test_errors(change, message):
    with pytest.raises(ValueError, match=message):
        propensity_scored_precision_at_k_score(**{"y_true": Y, "y_score": SCORES, **change})


@pytest.mark.parametrize("y", [[0, 1], np.empty((0, 3)), [[0, 2]]])
def test_invalid_indicators(y):
    with pytest.raises(ValueError, match="y must be a 0/1|y_true must hold 0 or 1"):
        label_propensities(y)


def test_scorer():
    X, y = make_multilabel_classification(120, n_classes=4, allow_unlabeled=False, random_state=0)
    model = OneVsRestClassifier(LogisticRegression())
    scorer = clone(propensity_scored_precision_at_k_scorer).set_params(k=2)
    found = cross_val_score(model, X, y, scoring=scorer, cv=2)
    model.fit(X[60:], y[60:])
    expected = propensity_scored_precision_at_k_score(y[:60], model.decision_function(X[:60]), k=2)
    assert found[0] == pytest.approx(expected)

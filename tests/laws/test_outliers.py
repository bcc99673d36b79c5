"""Gross errors in a few rows: what learns running means, variances and ranges forgets them."""

from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from sklrank.linear_model import (
    LinUCBClassifier,
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    SemiBanditRanker,
)
from sklrank.online_boosting import AdaOLMR, OnlineBMR

N_SAMPLES = 4000
MODELS = [
    OnlineLogisticRegression(random_state=0),
    OnlineRidgeClassifier(random_state=0),
    LinUCBClassifier(random_state=0),
    SemiBanditRanker(k=1, random_state=0),
    OnlineBMR(random_state=0),
    AdaOLMR(random_state=0),
]


def make_stream():
    random = np.random.RandomState(0)
    X = random.normal(size=(N_SAMPLES, 6)) * [1, 10, 0.1, 1, 1, 1] + [0, 5, 0, 0, 0, 0]
    return X, (X @ [1, 0.1, 10, 0, 0, 0] + 0.3 * random.normal(size=N_SAMPLES) > 0.5).astype(int)


def accuracy_of_the_second_half(model, X, y):
    half = N_SAMPLES // 2
    model.partial_fit(X[:half], y[:half], classes=[0, 1])
    scores = model.progressive_fit(X[half:], y[half:])
    predicted = scores.argmax(axis=1) if scores.ndim == 2 else scores > 0
    return np.mean(predicted == y[half:])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [-9999.0, 1e12])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_row_of_gross_errors_costs_little(model, value, container):
    X, y = make_stream()
    clean = accuracy_of_the_second_half(deepcopy(model), container(X), y)
    X[500] = value
    found = accuracy_of_the_second_half(deepcopy(model), container(X), y)
    assert clean > 0.85
    assert found > clean - 0.03


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_statistics_count_a_gross_error_as_a_value_at_thirty_deviations(container):
    """From the 31st value on, each is compared with the mean and the deviation before it."""
    random = np.random.RandomState(1)
    X = random.normal(size=(300, 2)) + 3
    X[20, 0], X[100], X[200, 1], X[250, 0] = 1e3, 1e6, -1e9, 40
    y = random.randint(2, size=300)
    expected = []
    for column in X.T:
        known = []
        for value in column:
            mean, deviation = (np.mean(known), np.std(known)) if known else (0, 0)
            if len(known) >= 30 and abs(value - mean) > 30 * deviation:
                value = mean + 30 * deviation * np.sign(value - mean)
            known.append(value)
        expected.append((np.mean(known), np.var(known) * 300))
    for kind in (OnlineLogisticRegression, OnlineRidgeClassifier):
        model = kind().partial_fit(container(X), y, classes=[0, 1])
        state = model._learner.feature_map.__getstate__()
        assert_allclose(state["mean"], [mean for mean, _ in expected], rtol=1e-9)
        assert_allclose(state["m2"], [m2 for _, m2 in expected], rtol=1e-9)

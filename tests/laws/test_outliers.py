"""Gross errors in a few rows: what learns running means, variances and ranges forgets them."""

from copy import deepcopy
from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from sklrank.linear_model import (
    BanditronClassifier,
    LinUCBClassifier,
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronQueryRanker,
    SemiBanditRanker,
)
from sklrank.online_boosting import AdaOLMR, OnlineBMR
from sklrank.tree import HoeffdingTreeClassifier, ProbabilisticLabelTree

N_SAMPLES = 4000
MODELS = [
    OnlineLogisticRegression(random_state=0),
    OnlineRidgeClassifier(random_state=0),
    LinUCBClassifier(random_state=0),
    SemiBanditRanker(k=1, random_state=0),
    OnlineBMR(random_state=0),
    AdaOLMR(random_state=0),
    AdaOLMR("trees", n_estimators=10, random_state=0),
    HoeffdingTreeClassifier(),
]
# In the root, a class has some 250 values then: one at 30 deviations doubles their deviation.
LOSSES = {"HoeffdingTreeClassifier": 0.08}


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
    assert found > clean - LOSSES.get(type(model).__name__, 0.03)


@pytest.mark.parametrize("value", [-9999.0, 1e12])
@pytest.mark.parametrize("row", [0, 20, 40])
@pytest.mark.parametrize(
    "model",
    [OnlineLogisticRegression(), OnlineRidgeClassifier(), HoeffdingTreeClassifier()],
    ids=lambda model: type(model).__name__,
)
def test_an_error_in_an_early_row_costs_little_or_is_said(model, row, value):
    """The first values of a class in a tree tell no range: a moderate error costs little."""
    X, y = make_stream()
    clean = accuracy_of_the_second_half(deepcopy(model), X, y)
    X[row] = value if row else min(value, 1e6)
    if row < 30 and hasattr(model, "standardize"):
        with pytest.warns(UserWarning, match=f"row {row} of X has the value .*first"):
            clone(model).partial_fit(X, y)
        return
    assert accuracy_of_the_second_half(deepcopy(model), X, y) > clean - 0.08


STANDARDIZING = [OnlineLogisticRegression(), OnlineRidgeClassifier()]


@pytest.mark.parametrize("model", STANDARDIZING)
def test_errors_in_the_rows_that_fit_learns_first_are_said(model):
    X, y = make_stream()
    order = next(clone(model).fit(X, y)._passes(len(X)))
    last, early = order[-1], order[5]
    X[last] = -9999
    model.fit(X, y)
    X[early] = -9999
    with pytest.warns(UserWarning, match=f"row {early} of X has the value -9999"):
        model.fit(X, y)


@pytest.mark.parametrize("model", STANDARDIZING)
def test_rare_and_heavy_tailed_features_are_no_errors(model):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(1000) % 990 == 5, rng.lognormal(sigma=3, size=(1000, 8))])
    clone(model).partial_fit(X.astype(float), np.arange(1000) % 2)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_rows_that_undo_the_others_are_said(container):
    """By models whose steps have the sizes of the rows, also in a later batch."""
    X, y = make_stream()
    rows, y = X[:300] + 0.0, y[:300]
    rows[100] = -9999
    for model, target in (
        (PredtronClassifier(), y),
        (BanditronClassifier(random_state=0), y),
        (OnlineLogisticRegression(standardize=False), y),
        (PredtronLabelRanker(), np.column_stack([y, 1 - y])),
        (PredtronQueryRanker(), y),
    ):
        others = {"qid": np.arange(300) // 10} if "qid" in signature(model.fit).parameters else {}
        model.partial_fit(container(X[:300]), target, **others)
        with pytest.warns(UserWarning, match="row 100 of X is .* times as large as the usual row"):
            model.partial_fit(container(rows), target, **others)
        getattr(model, "decision_function", model.predict)(container(rows))
    for model in (PredtronClassifier(kernel="rbf"), LinUCBClassifier(random_state=0)):
        model.partial_fit(container(rows), y)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_features_beside_which_the_others_hardly_count_are_said(container):
    """By models whose steps are multiples of rows; others scale each feature."""
    X, y = make_stream()
    X, y = container(X[:300] * [1, 1, -1e4, *[1] * (X.shape[1] - 3)]), y[:300]
    qid = np.arange(300) // 10
    message = "feature 2 of X is .* times as large as the usual feature"
    for model in (PredtronClassifier(), BanditronClassifier(random_state=0)):
        with pytest.warns(UserWarning, match=message):
            model.fit(X, y)
    with pytest.warns(UserWarning, match="feature 2 of X is inf times as large"):
        PredtronClassifier().fit(X * ([1e-310] * 2 + [1.0] + [1e-310] * (X.shape[1] - 3)), y)
    with pytest.warns(UserWarning, match=message):
        PredtronLabelRanker().fit(X, np.column_stack([y, 1 - y]))
    with pytest.warns(UserWarning, match=message):
        PredtronQueryRanker().fit(X, y, qid=qid)
    for model in (OnlineLogisticRegression(standardize=False), LinUCBClassifier(random_state=0)):
        model.fit(X, y)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_rows_far_from_zero_are_said(container):
    """By models that step along the rows: the steps along their mean undo each other."""
    X, y = make_stream()
    X, y = X[:300] / X[:300].std(axis=0), y[:300]
    labels = np.column_stack([y, 1 - y])
    for model, target in (
        (PredtronClassifier(), y),
        (PredtronClassifier(loss="hamming"), labels),
        (PredtronLabelRanker(), labels),
        (BanditronClassifier(random_state=0), y),
        (ProbabilisticLabelTree(random_state=0), y),
    ):
        fitted = clone(model).fit(container(X + 1), target)
        fitted.partial_fit(container(X + 100), target)  # Means of parts may move.
        fitted.fit(container(np.ones_like(X)), target)
        with pytest.warns(UserWarning, match="mean of the rows of X is 1.. times as large as thei"):
            fitted.fit(container(X + 100), target)
    # Differences of documents, or of samples, have no mean.
    PredtronQueryRanker().fit(container(X + 100), y, qid=np.arange(300) // 10)
    for kernel in ("rbf", "laplacian"):
        PredtronClassifier(kernel=kernel).fit(container(X + 100), y)


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


@pytest.mark.parametrize("unit", [1e-3, 1.0, 50.0])
def test_observers_of_a_leaf_count_a_gross_error_as_a_value_at_thirty_deviations(unit):
    """Of the values of its class, whatever the unit of the weights."""
    X, y = make_stream()
    first, second = X.copy(), X.copy()
    known = X[:500][y[:500] == y[500]]
    first[500] = 1e6
    second[500] = known.mean(axis=0) + 30 * known.std(axis=0)
    weights, found = np.full(N_SAMPLES, unit), []
    for rows in (first, second):
        model = HoeffdingTreeClassifier(grace_period=1e9, leaf_prediction="mc")
        state = model.partial_fit(rows, y, sample_weight=weights)._learner.__getstate__()
        of_classes = state["stats"][state["observers"][0, :2], :-1].reshape(2, -1, X.shape[1])
        found.append(of_classes[:, :3])  # weights, means, squared deviations
    assert_allclose(found[0], found[1], rtol=1e-9)

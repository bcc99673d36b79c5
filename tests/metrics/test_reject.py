"""Metrics of classifiers with a reject option: labels of rejections."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from sklrank.linear_model import PredtronClassifier
from sklrank.metrics import coverage_score, reject_loss, selective_accuracy_score

X, KIND = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
# The value of each metric if two of three samples are not rejected, one of them correct.
METRICS = {
    "reject_loss": (0.5, partial(reject_loss, reject_cost=0.5)),
    "coverage_score": (2 / 3, lambda y_true, y_pred, **label: coverage_score(y_pred, **label)),
    "selective_accuracy_score": (0.5, selective_accuracy_score),
}
every_metric = pytest.mark.parametrize(("expected", "metric"), METRICS.values(), ids=METRICS)


@pytest.mark.parametrize("names", [["a", "b", "c"], [0, 1, 2]])
def test_default_is_that_of_the_classifier(names):
    y = np.array(names)[KIND]
    model = PredtronClassifier(reject_cost=0.1, mirror_map="positive").fit(X, y)
    found = model.predict(X)
    rejected = np.array([label == model.reject_label_ for label in found.tolist()])
    assert 0 < rejected.mean() < 1
    assert coverage_score(found) == pytest.approx(1 - rejected.mean())
    right = (found == y)[~rejected].mean()
    assert selective_accuracy_score(y, found) == pytest.approx(right)
    loss = 0.1 * rejected.mean() + (1 - right) * (1 - rejected.mean())
    assert reject_loss(y, found, reject_cost=0.1) == pytest.approx(loss)


@every_metric
@pytest.mark.parametrize(
    ("true", "found", "label"),
    [
        ([0, 1, 2], [0, 2, -1], {}),
        (["a", "b", "c"], ["a", "c", "reject"], {}),
        (np.array(["a", "b", "c"]), np.array(["a", "c", "?"]), {"reject_label": "?"}),
        ([-1, 1, 2], [-1, 2, -2], {"reject_label": -2}),
        ([0, 1, 2], [0, 2, np.nan], {"reject_label": np.nan}),
        (["a", "b", "c"], ["a", "c", np.nan], {"reject_label": np.nan}),
        (pd.Series(["a", "b", "c"]), pd.Series(["a", "c", None]), {"reject_label": np.nan}),
        (["a", "b", "c"], ["a", "c", -1], {"reject_label": -1}),
        (["a", "b", "c"], pd.Series(["a", pd.NA, "reject"], dtype="string"), {}),
        (["a", "b", "c"], pd.Series(["a", "c", pd.NA], dtype="string"), {"reject_label": np.nan}),
    ],
)
def test_rejections_are_found(expected, metric, true, found, label):
    assert metric(true, found, **label) == pytest.approx(expected)


@every_metric
@pytest.mark.parametrize(
    ("found", "label", "problem"),
    [
        (["cat", "dog", -1], {}, "y_pred holds strings and numbers: pass reject_label"),
        (["cat", "dog", "cat"], {"reject_label": -1}, "-1 must be a string, as y_pred holds 'cat'"),
        ([0, 1, 1], {"reject_label": "reject"}, "'reject' must be a number, as y_pred holds 0"),
        ([0, np.nan, 1], {"reject_label": "reject"}, "reject_label='reject' must be a number"),
    ],
)
def test_labels_of_another_type_are_rejected(expected, metric, found, label, problem):
    with pytest.raises(ValueError, match=problem):
        metric(found[:1] * 3, found, **label)


@pytest.mark.parametrize("label", [-1, np.nan])
def test_y_true_must_not_hold_the_label(label):
    with pytest.raises(ValueError, match="y_true holds reject_label="):
        selective_accuracy_score([0, label], [0, 1], reject_label=label)

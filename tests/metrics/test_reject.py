"""The metric of classifiers with a reject option: labels of rejections."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from sklrank.linear_model import PredtronClassifier
from sklrank.metrics import reject_loss

X, KIND = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)


@pytest.mark.parametrize("names", [["a", "b", "c"], [0, 1, 2]])
def test_default_is_that_of_the_classifier(names):
    y = np.array(names)[KIND]
    model = PredtronClassifier(reject_cost=0.1, mirror_map="positive").fit(X, y)
    found = model.predict(X)
    rejected = np.array([label == model.reject_label_ for label in found.tolist()])
    assert 0 < rejected.mean() < 1
    right = (found == y)[~rejected].mean()
    loss = 0.1 * rejected.mean() + (1 - right) * (1 - rejected.mean())
    assert reject_loss(y, found, reject_cost=0.1) == pytest.approx(loss)


@pytest.mark.parametrize(
    ("true", "found", "label"),
    [
        ([0, 1, 2], [0, 2, -1], {}),
        (["a", "b", "c"], ["a", "c", "reject"], {}),
        (np.array(["a", "b", "c"]), np.array(["a", "c", "?"]), {"reject_label": "?"}),
        ([-1, 1, 2], [-1, 2, -2], {"reject_label": -2}),
        (["a", "b", "c"], ["a", "c", -1], {"reject_label": -1}),
        (["a", "b", "c"], pd.Series(["a", "c", "reject"], dtype="string"), {}),
    ],
)
def test_rejections_are_found(true, found, label):
    """One of three samples is rejected, and one of the others is wrong."""
    assert reject_loss(true, found, reject_cost=0.5, **label) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("found", "label", "problem"),
    [
        (["cat", "dog", -1], {}, "y_pred holds strings and numbers: pass reject_label"),
        (["cat", "dog", "cat"], {"reject_label": -1}, "-1 must be a string, as y_pred holds 'cat'"),
        ([0, 1, 1], {"reject_label": "reject"}, "'reject' must be a number, as y_pred holds 0"),
    ],
)
def test_labels_of_another_type_are_rejected(found, label, problem):
    with pytest.raises(ValueError, match=problem):
        reject_loss(found[:1] * 3, found, reject_cost=0.5, **label)


def test_y_true_must_not_hold_the_label():
    with pytest.raises(ValueError, match="y_true holds reject_label="):
        reject_loss([0, -1], [0, 1], reject_cost=0.5)

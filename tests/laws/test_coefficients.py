"""`coef_` and `intercept_` are those of the features in their original units, or do not exist."""

import numpy as np
import pytest
from fitted_models import make_data
from numpy.testing import assert_allclose
from sklearn.base import clone
from test_common import KINDS

from sklrank.label_ranking import PlackettLuceRanker
from sklrank.linear_model import (
    LinUCBClassifier,
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    PredtronClassifier,
)

UNITS, MEANS = np.array([1.0, 1e-3, 1e4, 20.0]), np.array([0.0, 5.0, -1e5, 300.0])
MODELS = {
    # A refiner adds base scores to the linear ones.
    **{name: one for name, one in KINDS.items() if name != "ResidualRefiner"},
    "LinUCB, linear": LinUCBClassifier(kernel="linear"),
    "LinUCB, diagonal": LinUCBClassifier(covariance="diagonal"),
    "logistic, ovr": OnlineLogisticRegression(multi_class="ovr", learning_rate=(0.3, 1)),
    "logistic, l2": OnlineLogisticRegression(normalize="l2"),
    "logistic, raw": OnlineLogisticRegression(standardize=False),
    "ridge, raw": OnlineRidgeClassifier(standardize=False),
    "ridge, l2": OnlineRidgeClassifier(standardize=False, normalize="l2"),
    "ridge, rbf": OnlineRidgeClassifier(kernel="rbf"),
    "Predtron, rbf": PredtronClassifier(kernel="rbf"),
    "Plackett-Luce, rbf": PlackettLuceRanker(kernel="rbf", alpha=1.0),
}
WITHOUT = {"logistic, l2", "OnlineRidgeClassifier", "ridge, l2", "ridge, rbf", "Plackett-Luce, rbf"}


@pytest.mark.parametrize("two_classes", [False, True])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_scores_are_affine(name, two_classes):
    model = clone(MODELS[name])
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    X, y, *others = make_data(model)
    X = X * UNITS + MEANS if X.shape[1] == 4 else X
    if two_classes and np.ndim(y) == 1:
        y = np.asarray(y) > np.min(y)
    model.fit(X, y, *others)
    scores = getattr(model, "decision_function", model.predict)
    if not hasattr(model, "coef_"):
        with pytest.raises(AttributeError):
            model.intercept_  # noqa: B018
        return
    assert name not in WITHOUT
    found = X @ np.transpose(model.coef_) + model.intercept_
    expected = scores(X)
    assert_allclose(found.reshape(expected.shape), expected, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("name", sorted(WITHOUT))
@pytest.mark.filterwarnings("ignore")
def test_where_scores_are_not_affine(name):
    """The message names the parameter."""
    model = clone(MODELS[name])
    X, y, *others = make_data(model)
    model.fit(X, y, *others)
    for attribute in ("coef_", "intercept_"):
        with pytest.raises(AttributeError, match=f"{attribute} does not exist with .*=.* linear"):
            getattr(model, attribute)

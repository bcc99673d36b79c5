"""RejectOptionClassifier: the threshold of the margin, labels and scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import scale

from sklrank.linear_model import PredtronClassifier
from sklrank.metrics import coverage_score, reject_loss, selective_accuracy_score
from sklrank.model_selection import RejectOptionClassifier

IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = scale(IRIS)


def margins_of(scores):
    if scores.ndim == 1:
        return np.abs(scores)
    ranked = np.sort(scores, axis=1)
    return ranked[:, -1] - ranked[:, -2]


@pytest.mark.parametrize("cost", [0.0, 0.05, 0.2, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (LogisticRegression(C=0.01), "decision_function"),
        (RandomForestClassifier(5, random_state=0), "predict_proba"),
        (PredtronClassifier(), "decision_function"),
    ],
)
def test_threshold(estimator, method, n_classes, cost):
    """No other threshold costs less on cross-validated scores."""
    X, y = IRIS[SPECIES >= 3 - n_classes], SPECIES[SPECIES >= 3 - n_classes]
    model = RejectOptionClassifier(estimator, reject_cost=cost, cv=3).fit(X, y)
    scores = cross_val_predict(estimator, X, y, cv=3, method=method)
    margins = margins_of(scores)
    best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    thresholds = np.append(np.unique(margins), np.inf)
    rejected = margins < thresholds[:, np.newaxis]
    totals = np.where(rejected, cost, model.classes_[best] != y).sum(axis=1)
    assert_allclose(totals[thresholds == model.threshold_], [totals.min()])
    fitted = margins_of(getattr(model.estimator_, method)(X))
    expected = np.where(fitted < model.threshold_, -1, model.estimator_.predict(X))
    assert_array_equal(model.predict(X), expected)
    assert_allclose(model.score(X, y), 1 - reject_loss(y, expected, reject_cost=cost))


def test_rejections_cost_less_than_mistakes():
    """On new samples, the mean cost is less than that of the classifier, and than the cost."""
    X, y = load_digits(return_X_y=True)
    always = PredtronClassifier(average=True).fit(X[:1200], y[:1200])
    coverages = []
    for cost in (0.02, 0.05, 0.1):
        model = RejectOptionClassifier(always, reject_cost=cost).fit(X[:1200], y[:1200])
        found = model.predict(X[1200:])
        error = 1 - always.score(X[1200:], y[1200:])
        assert 1 - model.score(X[1200:], y[1200:]) < min(error, cost)
        assert selective_accuracy_score(y[1200:], found) > 1 - error
        coverages.append(coverage_score(found))
    assert coverages == sorted(coverages)


def test_labels():
    names = np.array(["a", "b", "reject"])[SPECIES]
    model = RejectOptionClassifier(LogisticRegression(C=0.01), reject_cost=0.05).fit(IRIS, names)
    assert model.reject_label_ == "reject_"
    assert set(model.predict(IRIS)) == {"a", "b", "reject", "reject_"}
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="y holds classes of the type datetime64"):
        model.fit(IRIS, np.array(["2020", "2021", "2022"], dtype="M8[D]")[SPECIES])
    assert model.reject_label_ == "reject_"

"""Several values in one pass of progressive validation, and measures of label sets."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, jaccard_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils import shuffle

from sklrank.metrics import (
    label_propensities,
    ndcg_score,
    precision_at_k_score,
    propensity_scored_precision_at_k_score,
    rank_loss,
)
from sklrank.model_selection import ProgressiveValidationDisplay, progressive_val_score
from sklrank.online_boosting import AdaOLMR

SET_MEASURES = {
    "f1_micro": lambda y, sets: f1_score(y, sets, average="micro", zero_division=0.0),
    "f1_macro": lambda y, sets: f1_score(y, sets, average="macro", zero_division=0.0),
    "f1_samples": lambda y, sets: f1_score(y, sets, average="samples", zero_division=0.0),
    "jaccard_samples": lambda y, sets: jaccard_score(y, sets, average="samples", zero_division=0.0),
    "hamming_loss": hamming_loss,
    "subset_accuracy": accuracy_score,
}
RANK_MEASURES = {
    "rank_loss": rank_loss,
    "precision@2": partial(precision_at_k_score, k=2, empty="zero"),
    "ndcg@3": partial(ndcg_score, k=3, empty="zero"),
}


@pytest.fixture
def iris():
    return shuffle(*load_iris(return_X_y=True), random_state=0)


@pytest.fixture
def multilabel():
    return make_multilabel_classification(90, n_classes=5, n_labels=2, random_state=0)


@pytest.mark.parametrize("sparse_y", [False, True])
def test_several_values_in_one_pass(multilabel, sparse_y):
    """The mean of the first t values is the measure of scikit-learn of the first t samples."""
    X, Y = multilabel
    scoring = [*SET_MEASURES, *RANK_MEASURES, "psp@2", zeros]
    y = csr_array(Y) if sparse_y else Y
    values = progressive_val_score(AdaOLMR(random_state=0), X, y, scoring=scoring)
    assert list(values) == [*scoring[:-1], "zeros"]
    scores, sets = AdaOLMR(random_state=0).progressive_fit(
        X, Y, method=["decision_function", "predict"]
    )
    p = label_propensities(Y)
    for t in (1, 2, 50, 90):
        for name, measure in SET_MEASURES.items():
            assert_allclose(values[name][:t].mean(), measure(Y[:t], sets[:t]), atol=1e-12)
        for name, measure in RANK_MEASURES.items():
            assert_allclose(values[name][:t].mean(), measure(Y[:t], scores[:t]), atol=1e-12)
        expected = propensity_scored_precision_at_k_score(Y[:t], scores[:t], k=2, propensities=p)
        assert_allclose(values["psp@2"][:t].mean(), expected)


def zeros(y_true, y_score):
    return np.zeros(len(y_score))


def test_sets_of_other_estimators(multilabel):
    """Each chunk is predicted before it is learned; the first sets are empty."""
    X, Y = multilabel
    model = MultiOutputClassifier(SGDClassifier(loss="log_loss", random_state=0))
    other, sets = clone(model), np.zeros_like(Y)
    options = {"scoring": ["f1_micro", "rank_loss"], "chunk_size": 10, "classes": [[0, 1]] * 5}
    values = progressive_val_score(model, X, Y, **options)
    other.partial_fit(X[:10], Y[:10], classes=[[0, 1]] * 5)
    for start in range(10, 90, 10):
        rows = slice(start, start + 10)
        sets[rows] = other.predict(X[rows])
        other.partial_fit(X[rows], Y[rows])
    assert_allclose(values["f1_micro"].mean(), f1_score(Y, sets, average="micro"))


def test_class_labels_in_one_pass(iris):
    X, y = iris
    scoring = ["accuracy", "rank_loss", "precision@1", "ndcg@2", "psp@1"]
    values = progressive_val_score(AdaOLMR(random_state=0), X, y, scoring=scoring)
    assert values["accuracy"].mean() > 0.6
    assert_allclose(values["accuracy"][10:], values["precision@1"][10:], atol=0.5)
    alone = progressive_val_score(AdaOLMR(random_state=0), X, y, scoring="rank_loss")
    assert_array_equal(alone, values["rank_loss"])


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ([], "scoring must name each value once, and at least one"),
        (["rank_loss", "rank_loss"], "scoring must name each value once"),
        ("precision@0", "scoring must be callable or one of"),
        ("recall@2", "scoring must be callable or one of"),
        ("precision@6", "k must be an integer from 1 to the number of labels, 5; got 6"),
        ("accuracy", "needs class labels .* 'subset_accuracy'"),
    ],
)
def test_invalid_measures(multilabel, scoring, message):
    model = AdaOLMR()
    with pytest.raises(ValueError, match=message):
        progressive_val_score(model, *multilabel, scoring=scoring)
    assert not hasattr(model, "classes_")


def test_sets_of_class_labels_are_refused(iris):
    with pytest.raises(ValueError, match="'f1_micro' needs an indicator matrix"):
        progressive_val_score(AdaOLMR(), *iris, scoring="f1_micro")


def test_display_of_f1(multilabel):
    """The running mean is the F1 so far."""
    X, Y = multilabel
    display = ProgressiveValidationDisplay.from_estimators(
        {"ada": AdaOLMR()}, X, Y, scoring="f1_micro", random_state=0
    )
    assert display.ax_.get_ylabel() == "Mean f1 micro so far"
    sets = AdaOLMR(random_state=0).progressive_fit(X, Y, method="predict")
    other = ProgressiveValidationDisplay.from_predictions(Y, {"sets": sets}, scoring="f1_micro")
    assert_allclose(other.mean_so_far("sets")[0, -1], f1_score(Y, sets, average="micro"))


class ScoresOnly(BaseEstimator):
    def progressive_fit(self, X, y):
        return np.zeros(y.shape)

    def decision_function(self, X):
        return np.zeros((len(X), 5))


def test_scores_without_sets_are_refused(multilabel):
    with pytest.raises(TypeError, match="returns no label sets"):
        progressive_val_score(ScoresOnly(), *multilabel, scoring=["rank_loss", "f1_micro"])

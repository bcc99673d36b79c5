"""Learners: how weak learners are given labels and weights, and their hypotheses."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklrank._boosters.rounds import (
    BinnedLearner,
    ClassifierLearner,
    draw_samples,
    hypothesis_of,
    make_classifier_learner,
)
from sklrank.boosting import NDCGBoost, RankingRefiner
from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker
from sklrank.semi_supervised import AssembleClassifier, MCSSBClassifier
from sklrank.tree import HistogramTreeClassifier

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(60, 3))
LABELS = (X[:, 1] + 0.5 * RANDOM.normal(size=60) > 0).astype(int)
WEIGHTS = RANDOM.exponential(size=60) * RANDOM.randint(2, size=60)
OBJECTIVE = SimpleNamespace(labels=LABELS, weights=WEIGHTS)


def fit(learner, objective=OBJECTIVE, seed=0):
    return learner.fit(objective, np.random.RandomState(seed))


def test_samples_are_drawn_in_proportion_to_their_weights():
    drawn = draw_samples(LABELS, WEIGHTS, 50_000, np.random.RandomState(0))
    expected = WEIGHTS / WEIGHTS.sum()
    found = np.bincount(drawn, minlength=60) / 50_000
    deviation = np.sqrt(expected * (1 - expected) / 50_000)
    assert (np.abs(found - expected) <= 5 * deviation).all()
    assert not found[WEIGHTS == 0].any()


def test_two_labels_are_drawn_if_possible():
    """However rare the second one is, and in proportion to the weights of its samples."""
    labels = np.array([0, 0, 1, 1, 1])
    weights = np.array([1e9, 1e9, 1.0, 3.0, 0.0])
    random = np.random.RandomState(0)
    draws = [draw_samples(labels, weights, 4, random) for _ in range(400)]
    rare = [drawn[labels[drawn] == 1] for drawn in draws]
    assert all(len(drawn) == 1 for drawn in rare)
    share = np.mean(np.concatenate(rare) == 3)
    assert abs(share - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 400)
    alone = draw_samples(labels, np.array([1.0, 1.0, 0.0, 0.0, 0.0]), 4, random)
    assert not labels[alone].any()


@pytest.mark.parametrize(("n_samples", "size"), [(60, 20), (1000, 200)])
def test_sample_size(n_samples, size):
    learner = ClassifierLearner(KNeighborsClassifier(), np.zeros((n_samples, 1)))
    assert learner.n_drawn == size


@pytest.mark.parametrize(
    ("estimator", "weighting", "resampled"),
    [
        (LogisticRegression(), "auto", False),
        (LogisticRegression(), "sample_weight", False),
        (LogisticRegression(), "resampling", True),
        (KNeighborsClassifier(), "auto", True),
        (KNeighborsClassifier(), "resampling", True),
        (make_pipeline(StandardScaler(with_mean=False), LogisticRegression()), "auto", True),
    ],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_weights_or_draws(estimator, weighting, resampled, container):
    samples = container(X)
    learner = ClassifierLearner(estimator, samples, weighting=weighting)
    assert learner.resampling == resampled
    model, hypothesis = fit(learner)
    assert type(model) is type(estimator) and model is not estimator
    assert_array_equal(hypothesis, model.predict(samples))
    assert hypothesis.dtype == np.float64


@pytest.mark.parametrize("weighting", ["auto", "resampling"])
@pytest.mark.parametrize("label", [0, 1])
def test_weights_of_one_class_only(weighting, label):
    """Many classifiers refuse it."""
    objective = SimpleNamespace(labels=LABELS, weights=WEIGHTS * (LABELS == label))
    learner = ClassifierLearner(LogisticRegression(), X, weighting=weighting)
    model, hypothesis = fit(learner, objective)
    assert isinstance(model, DummyClassifier)
    assert_array_equal(hypothesis, np.full(60, label))
    assert_array_equal(hypothesis_of(model, X, response_method="predict_proba"), np.full(60, label))


def test_weak_learners_are_seeded():
    learner = ClassifierLearner(DecisionTreeClassifier(max_features=1), X)
    first, again, other = (fit(learner, seed=seed)[0].random_state for seed in (0, 0, 1))
    assert first == again != other
    assert learner.estimator.random_state is None


BINNED = [
    HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1),
    HistogramTreeClassifier(max_leaf_nodes=6, min_samples_leaf=2),
]


def learner_for(estimator, samples, **arguments):
    random_state = np.random.RandomState(0)
    arguments = {"weighting": "auto"} | arguments
    return make_classifier_learner(estimator, samples, random_state=random_state, **arguments)


@pytest.mark.parametrize("tree", BINNED, ids=repr)
@pytest.mark.parametrize("response_method", ["predict", "predict_proba"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_trees_on_features_that_are_binned_once(tree, response_method, dtype):
    """They are those of `fit`."""
    samples = (8 * X).astype(dtype)
    objective = SimpleNamespace(labels=LABELS, weights=WEIGHTS + 0.1)
    learner = learner_for(tree, samples, response_method=response_method)
    assert isinstance(learner, BinnedLearner)
    model, hypothesis = fit(learner, objective)
    every_round = ClassifierLearner(tree, samples, response_method=response_method)
    classifier, expected = fit(every_round, objective)
    assert_allclose(hypothesis, expected, rtol=1e-12)
    assert_array_equal(model.predict(samples), classifier.predict(samples))
    assert_array_equal(hypothesis_of(model, samples, None, response_method), hypothesis)


def test_classes_on_features_that_are_binned_once():
    tree, labels = BINNED[-1], np.digitize(X[:, 0], [-0.5, 0.5, 2])
    objective = SimpleNamespace(labels=labels, weights=WEIGHTS + 0.1)
    learner = learner_for(tree, X, n_labels=5, n_classes=5)
    model, hypothesis = fit(learner, objective)
    _, expected = fit(ClassifierLearner(tree, X, n_classes=5), objective)
    assert_array_equal(hypothesis, expected)
    assert_array_equal(hypothesis_of(model, X, 5), expected)


def test_binned_trees_of_one_class_only():
    for tree in BINNED:
        objective = SimpleNamespace(labels=LABELS, weights=WEIGHTS * (LABELS == 1))
        model, hypothesis = fit(learner_for(tree, X), objective)
        assert_array_equal(hypothesis, np.ones(60))
        assert_array_equal(hypothesis_of(model, X), np.ones(60))


def test_features_of_binned_trees_are_drawn_anew_in_each_round():
    learner = learner_for(HistogramTreeClassifier(max_features=1, min_samples_leaf=2), X)
    used = {int(fit(learner, seed=seed)[0].feature_importances_.argmax()) for seed in range(9)}
    assert len(used) > 1


@pytest.mark.parametrize("weighting", ["auto", "resampling"])
def test_probabilities_as_hypothesis(weighting):
    learner = ClassifierLearner(
        LogisticRegression(), X, weighting=weighting, response_method="predict_proba"
    )
    model, hypothesis = fit(learner)
    assert_allclose(hypothesis, model.predict_proba(X)[:, 1])
    assert 0 < hypothesis.min() < hypothesis.max() < 1


def test_hypotheses_of_several_classes_are_indicator_matrices():
    model = DecisionTreeClassifier().fit(X, np.arange(60) % 3)
    indicator = hypothesis_of(model, X, 4)
    assert indicator.shape == (60, 4)
    assert_array_equal(indicator.argmax(axis=1), np.arange(60) % 3)
    assert_allclose(indicator.sum(axis=1), 1)


class Constant(ClassifierMixin, BaseEstimator):
    def __init__(self, value=np.nan):
        self.value = value

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308, -1, 0.5])
@pytest.mark.parametrize("booster", [MCSSBClassifier, AssembleClassifier])
def test_predictions_that_are_no_classes_are_refused(booster, value):
    X = np.random.RandomState(0).normal(size=(30, 3))
    y = np.where(np.arange(30) % 2, np.arange(30) % 3, -1)
    with pytest.raises(ValueError, match="Constant predicts labels that it was not fitted to"):
        booster(Constant(value), n_estimators=3, random_state=0).fit(X, y)


STACK = StackingClassifier([("tree", DecisionTreeClassifier(max_depth=2))], cv=2)
STACKED_RIDGES = StackingRegressor([("ridge", Ridge())], cv=2)
TWO_LABELS = np.column_stack([LABELS, 1 - LABELS])


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (AssembleClassifier(STACK, 2), LABELS),
        (NDCGBoost(STACK, 2), LABELS),
        (RankingRefiner(0, STACK, 2, response_method="predict_proba"), LABELS),
        (PairwiseRanker(STACK), TWO_LABELS),
        (LabelwiseRanker(STACKED_RIDGES), TWO_LABELS),
    ],
)
def test_stacks_have_predict_once_they_are_fitted(model, y):
    assert not hasattr(STACK, "predict")
    model.set_params(random_state=0).fit(X, y)
    assert {type(one) for one in model.estimators_} <= {StackingClassifier, StackingRegressor}
    assert len(np.unique(np.asarray(model.predict(X)), axis=0)) > 1

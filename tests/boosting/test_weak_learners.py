"""How weak learners take labels and weights, and what comes of their predictions."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklrank.boosting._weak_learners import (
    ClassifierLearner,
    StumpLearner,
    draw_rows,
    hypothesis_of,
    sample_size,
)
from sklrank.tree import StumpClassifier

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(60, 3))
LABELS = (X[:, 1] + 0.5 * RANDOM.normal(size=60) > 0).astype(int)
WEIGHTS = RANDOM.exponential(size=60) * RANDOM.randint(2, size=60)
DEMAND = SimpleNamespace(labels=LABELS, weights=WEIGHTS)


def learn(learner, demand=DEMAND, seed=0):
    return learner.learn(demand, np.random.RandomState(seed))


def test_rows_are_drawn_in_proportion_to_their_weights():
    rows = draw_rows(LABELS, WEIGHTS, 50_000, np.random.RandomState(0))
    shares = WEIGHTS / WEIGHTS.sum()
    found = np.bincount(rows, minlength=60) / 50_000
    deviation = np.sqrt(shares * (1 - shares) / 50_000)
    assert (np.abs(found - shares) <= 5 * deviation).all()
    assert not found[WEIGHTS == 0].any()


def test_two_labels_are_drawn_if_there_are():
    """However rare the second one is; within it by weight."""
    labels = np.array([0, 0, 1, 1, 1])
    weights = np.array([1e9, 1e9, 1.0, 3.0, 0.0])
    random = np.random.RandomState(0)
    draws = [draw_rows(labels, weights, 4, random) for _ in range(400)]
    rare = [rows[labels[rows] == 1] for rows in draws]
    assert all(len(rows) == 1 for rows in rare)
    share = np.mean(np.concatenate(rare) == 3)
    assert abs(share - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 400)
    alone = draw_rows(labels, np.array([1.0, 1.0, 0.0, 0.0, 0.0]), 4, random)
    assert not labels[alone].any()


@pytest.mark.parametrize(
    ("max_samples", "n_samples", "size"),
    [
        (None, 60, 20),
        (None, 1000, 200),
        (7, 60, 7),
        (100, 60, 100),
        (0.25, 60, 15),
        (1.0, 60, 60),
        (0.001, 60, 1),
    ],
)
def test_sample_size(max_samples, n_samples, size):
    assert sample_size(max_samples, n_samples) == size


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
    rows = container(X)
    learner = ClassifierLearner(estimator, rows, weighting=weighting)
    assert learner.resampled == resampled
    assert (learner.n_tries > 1) == resampled
    model, hypothesis = learn(learner)
    assert type(model) is type(estimator) and model is not estimator
    assert_array_equal(hypothesis, model.predict(rows))
    assert hypothesis.dtype == np.float64


def test_a_classifier_that_takes_no_weights_cannot_be_given_any():
    with pytest.raises(ValueError, match="takes no sample_weight; use weighting='resampling'"):
        ClassifierLearner(KNeighborsClassifier(), X, weighting="sample_weight")


@pytest.mark.parametrize("weighting", ["sample_weight", "resampling"])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_that_has_weight(weighting, label):
    """Classifiers refuse it."""
    demand = SimpleNamespace(labels=LABELS, weights=WEIGHTS * (LABELS == label))
    learner = ClassifierLearner(LogisticRegression(), X, weighting=weighting)
    model, hypothesis = learn(learner, demand)
    assert isinstance(model, DummyClassifier)
    assert_array_equal(hypothesis, np.full(60, label))
    assert_array_equal(hypothesis_of(model, X, response="predict_proba"), np.full(60, label))


def test_seeds_of_weak_learners_come_of_ours():
    learner = ClassifierLearner(DecisionTreeClassifier(max_features=1), X)
    first, again, other = (learn(learner, seed=seed)[0].random_state for seed in (0, 0, 1))
    assert first == again != other
    assert learner.estimator.random_state is None


@pytest.mark.parametrize("criterion", ["gini", "gain"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_stumps_are_stumps(criterion, dtype):
    """Binned once, they learn and tell what the classifier does by itself."""
    rows, stump = X.astype(dtype), StumpClassifier(criterion=criterion)
    demand = SimpleNamespace(labels=LABELS, weights=WEIGHTS + 0.1)
    model, hypothesis = learn(StumpLearner(stump, rows), demand)
    by_itself, expected = learn(ClassifierLearner(stump, rows), demand)
    assert_array_equal(hypothesis, expected)
    assert_array_equal(model.predict(rows), by_itself.predict(rows))
    assert_array_equal(hypothesis_of(model, rows), expected)


@pytest.mark.parametrize("weighting", ["sample_weight", "resampling"])
def test_probabilities_of_rising(weighting):
    learner = ClassifierLearner(
        LogisticRegression(), X, weighting=weighting, response="predict_proba"
    )
    model, hypothesis = learn(learner)
    assert_allclose(hypothesis, model.predict_proba(X)[:, 1])
    assert 0 < hypothesis.min() < hypothesis.max() < 1


def test_hypotheses_of_more_classes_are_indicators():
    model = DecisionTreeClassifier().fit(X, np.arange(60) % 3)
    indicator = hypothesis_of(model, X, 4)
    assert indicator.shape == (60, 4)
    assert_array_equal(indicator.argmax(axis=1), np.arange(60) % 3)
    assert_allclose(indicator.sum(axis=1), 1)

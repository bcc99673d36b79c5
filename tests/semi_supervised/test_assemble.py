"""AssembleClassifier against Algorithm ASSEMBLE.AdaBoost in loops, and its public interface."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_classifiers_classes

from sklrank.semi_supervised import AssembleClassifier
from sklrank.semi_supervised._assemble import AssembleObjective

X, TRUTH = make_blobs(100, centers=4, n_features=3, cluster_std=4.0, random_state=3)
Y = np.full(100, -1)
for k in range(4):
    Y[np.flatnonzero(TRUTH == k)[:5]] = k


def assemble(**parameters):
    tree = DecisionTreeClassifier(max_depth=2)
    return AssembleClassifier(
        **{"estimator": tree, "n_estimators": 10, "random_state": 0, **parameters}
    )


def assert_same(one, other):
    assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert_array_equal(one.loss_curve_, other.loss_curve_)
    assert_array_equal(one.transduction_, other.transduction_)
    assert_array_equal(one._random_state.get_state()[1], other._random_state.get_state()[1])


def slow_assemble(X, y, n_rounds, n_classes, share, step_rule="samme"):
    """Return votes and steps of Bennett et al. (2002), Figure 2."""
    labeled = [i for i in range(len(y)) if y[i] >= 0]
    unlabeled = [i for i in range(len(y)) if y[i] < 0]
    shares = {True: share / len(labeled), False: (1 - share) / len(unlabeled)}
    base = np.array([shares[y[i] >= 0] for i in range(len(y))])
    labels = np.array(y)
    for i in unlabeled:
        labels[i] = y[min(labeled, key=lambda j: np.sum((X[i] - X[j]) ** 2))]
    votes, steps = np.zeros((len(y), n_classes)), []
    weights = base / base.sum()
    seeds = np.random.RandomState(0)
    for _ in range(n_rounds):
        tree = DecisionTreeClassifier(max_depth=2, random_state=seeds.randint(2**31 - 1))
        tree.fit(X, labels, sample_weight=weights)
        predicted = tree.predict(X)
        error = sum(weights[i] for i in range(len(y)) if predicted[i] != labels[i])
        samme = np.log((1 - error) / error) + np.log(n_classes - 1)
        step = samme if step_rule == "samme" else 0.5 * np.log((1 - error) / error)
        if step <= 0:
            break
        steps.append(step)
        votes[np.arange(len(y)), predicted] += steps[-1]
        labels[unlabeled] = votes[unlabeled].argmax(axis=1)
        weights = base * np.exp(-votes[np.arange(len(y)), labels])
        weights /= weights.sum()
    return votes, steps


@pytest.mark.parametrize("share", [0.9, 0.5, 1.0])
def test_follows_the_algorithm_of_the_paper(share):
    votes, steps = slow_assemble(X, Y, 6, 4, share)
    model = assemble(n_estimators=6, labeled_share=share).fit(X, Y)
    assert_allclose(model.estimator_weights_, steps, rtol=1e-10)
    assert_allclose(model.decision_function(X), votes, rtol=1e-10)


@pytest.mark.parametrize("share", [0.9, 1.0])
def test_the_printed_step(share):
    """Algorithm 2 of the dissertation, with the weights of unlabeled samples 0 if share is 1."""
    votes, steps = slow_assemble(X, Y, 6, 4, share, "printed")
    model = assemble(n_estimators=6, labeled_share=share, step_rule="printed").fit(X, Y)
    assert len(steps) > 1
    assert_allclose(model.estimator_weights_, steps, rtol=1e-10)
    assert_allclose(model.decision_function(X), votes, rtol=1e-10)
    errors = 1 / (1 + np.exp(2 * np.array(steps)))
    assert (errors < 0.5).all()


def test_boosting_ends_if_a_weak_learner_is_no_better_than_chance():
    """As printed: no samples are drawn again."""
    two = np.where(Y < 0, -1, Y // 2)
    stump = DecisionTreeClassifier(max_depth=1)
    model = assemble(
        estimator=stump, step_rule="printed", weighting="resampling", n_estimators=200
    ).fit(X, two)
    assert 0 < len(model.estimators_) < 200
    assert "no better than chance" in model.stop_reason_


def test_equals_adaboost_when_all_samples_are_labeled():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    ada = AdaBoostClassifier(tree, n_estimators=10, random_state=0).fit(X, TRUTH)
    model = assemble().fit(X, TRUTH)
    assert_allclose(model.estimator_weights_, ada.estimator_weights_, rtol=1e-10)
    assert_array_equal(model.predict(X), ada.predict(X))


def test_value_labels_weights_and_step_weights():
    labels = np.array([0, 2, -1, -1])
    sample_weight = np.array([1.0, 3.0, 1.0, 1.0])
    objective = AssembleObjective(labels, sample_weight, np.array([0, 2, 1, 1]), 3, 0.8)
    objective.set_scores(np.zeros((4, 3)))
    assert_array_equal(objective.labels, [0, 2, 1, 1])
    assert_allclose(objective.weights, [0.2, 0.6, 0.1, 0.1])
    scores = np.array([[2.0, 0, 1], [1, 0, 0.5], [0, 0, 3], [1, 0, 0]])
    objective.set_scores(scores)
    assert_array_equal(objective.labels, [0, 2, 2, 0])
    samples = enumerate(zip([0.2, 0.6, 0.1, 0.1], [0, 2, 2, 0]))
    losses = np.array([d * np.exp(scores[i].mean() - scores[i, k]) for i, (d, k) in samples])
    assert_allclose(objective.weights, losses, rtol=1e-10)
    assert_allclose(objective.value, losses.sum(), rtol=1e-10)
    hypothesis = np.eye(3)[[0, 0, 2, 0]]
    incorrect = losses[1]
    correct = 2 * (losses.sum() - incorrect)
    assert_allclose(objective.step_weights(hypothesis), (correct, incorrect), rtol=1e-10)
    steps = np.linspace(0, 5, 5001)
    is_correct = np.array([1, 0, 1, 1])
    after = [np.sum(losses * np.exp(step * (1 / 3 - is_correct))) for step in steps]
    assert_allclose(objective.step(hypothesis), steps[np.argmin(after)], atol=1e-3)


@pytest.mark.parametrize("learning_rate", [0.5, 1.0, 2.0])
def test_the_objective_never_rises(learning_rate):
    model = assemble(learning_rate=learning_rate, n_estimators=30).fit(X, Y)
    assert len(model.estimators_) > 1
    assert (np.diff(model.loss_curve_) <= 1e-9).all()


@pytest.mark.parametrize("weighting", ["auto", "resampling"])
def test_seeds_and_pickles(weighting):
    model = assemble(weighting=weighting).fit(X, Y)
    assert_same(clone(model).fit(X, Y), model)
    assert_same(pickle.loads(pickle.dumps(model)), model)


def test_labeled_samples_keep_their_label_and_classes_their_names():
    names = np.array(["a", "b", "c", "d"], dtype=object)
    model = assemble().fit(X, np.where(Y < 0, -1, names[Y]))
    assert_array_equal(model.transduction_[Y >= 0], names[Y[Y >= 0]])
    assert set(model.predict(X)) <= set(names)
    assert_array_equal(model.predict(X), names[assemble().fit(X, Y).predict(X)])


def test_scores_far_apart_do_not_overflow():
    labels, pseudo_labels = np.array([0, 1, -1]), np.array([0, 1, 1])
    objective = AssembleObjective(labels, np.ones(3), pseudo_labels, 2, 0.9)
    objective.set_scores(np.array([[0, 1e6], [1e6, 0], [0, 0]]))
    assert np.isfinite(objective.value)


def test_refuses_malformed_targets():
    with pytest.raises(ValueError, match="labels no sample"):
        assemble().fit(X, np.full(100, -1))
    with pytest.raises(ValueError, match="one class only"):
        assemble().fit(X, np.where(Y == 2, 2, -1))


def test_refuses_weak_learners_other_than_classifiers():
    with pytest.raises(ValueError, match=r"must be a classifier, got Ridge\(\)"):
        assemble(estimator=Ridge()).fit(X, Y)


def test_weak_learners_for_two_classes():
    """They are accepted only if there are two classes."""

    class Binary(DecisionTreeClassifier):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.classifier_tags.multi_class = False
            return tags

    model = assemble(estimator=Binary(max_depth=1), n_estimators=3)
    with pytest.raises(ValueError, match=r"must distinguish 4 classes, got Binary\(max_depth=1\)"):
        model.fit(X, Y)
    two = np.where(Y < 0, -1, Y // 2)
    assert_array_equal(model.fit(X, two).classes_, [0, 1])
    assert model.score(X, two) > 0.7


def test_check_of_classes_without_minus_one():
    """scikit-learn's check, with the exception for its own semi-supervised classifiers."""
    check_classifiers_classes("SelfTrainingClassifier", assemble())

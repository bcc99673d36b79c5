"""BanditronClassifier: expected steps, mirror maps, and the mistake bound."""

import pickle

import numpy as np
import pytest
from _keyword_documents import make_keyword_documents
from class_streams import stream
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import LinearSVC

from sklrank.feedback import Exploration
from sklrank.feedback._protocol import SCHEDULES
from sklrank.linear_model import BanditronClassifier
from sklrank.linear_model._mirror import MIRROR_MAPS


@pytest.mark.parametrize("exploration", [0.2, "ag2", "ag3"])
def test_update_is_unbiased(exploration):
    """The expected step of the dual weights over all draws is that of the perceptron (Eq. 5.6)."""
    n_classes = 4
    X, y = stream(seed=3)
    model = BanditronClassifier(exploration=exploration, random_state=0).partial_fit(
        X[:100], y[:100]
    )
    best = model.predict(X[100:])
    rate = model.exploration_
    for i, greedy in zip(range(100, 112), best):
        expected = np.zeros_like(model.coef_)
        for action in range(n_classes):
            p = (1 - rate) * (action == greedy) + rate / n_classes
            copy = pickle.loads(pickle.dumps(model))
            shown = Exploration([action], [p])
            copy.partial_fit_feedback(X[i : i + 1], shown, [int(action == y[i])])
            expected += p * (copy.coef_ - model.coef_)
        tau = (np.arange(n_classes) == greedy) - 1.0 * (np.arange(n_classes) == y[i])
        assert_allclose(expected, -np.outer(tau, X[i]), atol=1e-9)


def test_entropy_learns_if_every_round_explores():
    """Eq. 5.12 itself would give a step of 0."""
    X, y = stream(n_rows=600)
    model = BanditronClassifier(mirror_map="entropy", exploration=1.0, random_state=0)
    assert model.partial_fit(X, y).score(X, y) > 0.5


def test_small_steps_of_the_entropic_map_are_those_of_banditron_on_centered_samples():
    """To first order, d W = 1 + Theta - mean(Theta): the scores of a row are those of its residual.

    The first-order scores differ by O(Theta^2), and only orders that are close could change.
    """
    X, y = stream(n_classes=5, n_rows=300, n_features=8)
    model = BanditronClassifier(mirror_map="entropy", fit_intercept=False, random_state=0)
    model.partial_fit(X, y)
    theta, weights = model._rounds.model.mirror_map.dual_weights, model.coef_
    assert 0 < np.abs(theta).max() < 0.01
    centered = X - X.mean(axis=1, keepdims=True)
    scores = X.mean(axis=1, keepdims=True) + centered @ theta.T / 8
    bound = 2 * np.abs(theta).max() ** 2 * np.abs(X).max() * 8
    assert_allclose(X @ weights.T, scores, atol=bound, rtol=0)


@pytest.mark.parametrize("name", sorted(set(MIRROR_MAPS) - {"entropy"}))
def test_maps_scale_with_the_learning_rate(name):
    """Predictions do not depend on it."""
    X, y = stream(n_classes=12, n_rows=200, n_features=20)
    models = [
        BanditronClassifier(mirror_map=name, learning_rate=rate, random_state=0).fit(X, y)
        for rate in (1.0, 1024.0)
    ]
    assert models[0].error_rate_ == models[1].error_rate_
    assert_array_equal(models[0].predict(X), models[1].predict(X))
    assert_allclose(1024 * models[0].coef_, models[1].coef_, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("exploration", [0.05, 0.3, *SCHEDULES])
def test_mistake_bound(exploration):
    """Theorem 14 in the form of Eq. 6.2, with a linear classifier U that has no loss.

    E[M] <= E[sum of rates] + |U|_F sqrt(2 E[sum of rates of hits + sum of K / rate of misses])

    with M the number of rounds in which the greedy class was wrong (misses); in the other rounds
    (hits) it was right. M varies by about a hundred from run to run, and the bounds are several
    times as large.
    """
    n_classes = 9
    X, y = make_keyword_documents(1500, random_state=0)
    X = X.toarray() / np.sqrt(X.sum(axis=1))[:, np.newaxis]
    assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    teacher = LinearSVC(C=1e4, fit_intercept=False, random_state=0).fit(X, y).coef_
    scores = X @ teacher.T
    true = scores[np.arange(len(y)), y]
    scores[np.arange(len(y)), y] = -np.inf
    margin = np.min(true - scores.max(axis=1))
    assert margin > 0
    length = np.linalg.norm(teacher / margin)
    model = BanditronClassifier(exploration=exploration, fit_intercept=False, random_state=0)
    model.explore(X[:1], classes=range(n_classes))
    hits, rates = np.empty(len(y), dtype=bool), np.empty(len(y))
    for i in range(len(y)):
        row = X[i : i + 1]
        hits[i], rates[i] = model.predict(row)[0] == y[i], model.exploration_
        shown = model.explore(row)
        model.partial_fit_feedback(row, shown, shown.actions == y[i])
    under_root = np.where(hits, rates, n_classes / rates).sum()
    bound = rates.sum() + length * np.sqrt(2 * under_root)
    assert np.sum(~hits) <= bound


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel, gamma", [("rbf", 0.3), ("poly", None)])
@pytest.mark.parametrize("exploration", [0.2, "ag1"])
def test_kernel_is_the_dual_of_algorithm_7(kernel, gamma, fit_intercept, exploration):
    """Scores are sums over all earlier rounds; samples that repeat share a support vector."""
    rng, K = np.random.RandomState(0), 4
    X = np.repeat(rng.normal(size=(60, 3)), rng.choice([1, 2], 60), axis=0)
    y = np.abs(X @ rng.normal(size=(3, K))).argmax(axis=1)
    parameters = {"gamma": gamma or 1 / 3} | ({"degree": 3} if kernel == "poly" else {})
    gram = pairwise_kernels(X, metric=kernel, **parameters) + fit_intercept
    model = BanditronClassifier(
        kernel=kernel,
        gamma=gamma,
        fit_intercept=fit_intercept,
        exploration=exploration,
        random_state=0,
    )
    dual = np.zeros((len(X), K))
    for t in range(len(X)):
        shown = model.explore(X[[t]], classes=range(K))
        scores = gram[t] @ dual
        assert_allclose(model.decision_function(X[[t]])[0], scores, rtol=1e-9, atol=1e-9)
        best, (action,) = scores.argmax(), shown.actions
        dual[t, best] -= 1
        dual[t, action] += (action == y[t]) / shown.propensities[0]
        model.partial_fit_feedback(X[[t]], shown, [action == y[t]])
    whole = BanditronClassifier(**model.get_params()).partial_fit(X, y, classes=range(K))
    assert_array_equal(whole.decision_function(X), model.decision_function(X))
    parts = BanditronClassifier(**model.get_params()).partial_fit(X[:30], y[:30], classes=range(K))
    parts = pickle.loads(pickle.dumps(parts)).partial_fit(sparse.csr_array(X[30:]), y[30:])
    assert_array_equal(parts.decision_function(X), model.decision_function(X))
    with pytest.raises(AttributeError, match="not available for models with a kernel"):
        _ = model.coef_
    with pytest.raises(ValueError, match="does not go with kernel"):
        model.set_params(mirror_map="entropy").fit(X, y)

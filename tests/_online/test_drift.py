"""Concept drift: its detection, and what models do then, by slow statements of both."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklrank._online.drift import DriftTest

from sklrank.linear_model import LinUCBClassifier, OnlineRidgeClassifier, SemiBanditRanker
from sklrank.online_boosting import AdaOLMR

N, N_CLASSES = 1200, 4


def drifting_stream(seed=0):
    """Samples of norm one. In the second half, each class has the name of the next one."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(N, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.argmax(X @ rng.normal(size=(5, N_CLASSES)), axis=1)
    y[N // 2 :] = (y[N // 2 :] + 1) % N_CLASSES
    return X, y


X, Y = drifting_stream()


def detections(losses, threshold):
    """The Page-Hinkley test, with all means computed anew for each loss."""
    found, start, excess = [], 0, 0.0
    for t, loss in enumerate(losses):
        before, drift = np.array(losses[start:t]), False
        if len(before) >= 30:
            position = np.arange(1, len(before) + 1)
            weights = position * (position + 1)
            mean = np.average(before, weights=weights)
            deviation = max(0.2, np.average((before - mean) ** 2, weights=weights) ** 0.5)
            excess = max(0.0, excess + loss - mean - deviation / 2)
            drift = excess > threshold * deviation
        if drift:
            # The loss at which a drift is detected is not used again.
            start, excess = t + 1, 0.0
        found.append(drift)
    return found


@pytest.mark.parametrize("threshold", [1.0, 5.0, 25.0])
def test_detection(threshold):
    rng = np.random.RandomState(0)
    levels = np.repeat([0.1, 0.9, 0.1, 0.6, 0.3], 120)
    for losses in (rng.uniform(size=600) < levels, rng.beta(5 * levels, 5 - 5 * levels)):
        found = DriftTest(threshold).record_losses(losses)
        assert found == detections(losses.astype(float), threshold)
        assert 0 < sum(found) < 60
        assert DriftTest(None).record_losses(losses) == [False] * 600


def test_no_detection_without_drift():
    """With a constant mean, and in the course of learning, in 40,000 losses each."""
    rng = np.random.RandomState(0)
    for mean in (0.001, 0.1, 0.5, 0.02 + 0.9 / np.sqrt(np.arange(1, 40_001))):
        assert not any(DriftTest(25.0).record_losses(rng.uniform(size=40_000) < mean))


@pytest.mark.parametrize("n_zeros", [0, 60])
def test_ridge_starts_from_its_weights(n_zeros):
    """The drift is detected by the rank losses; then W minimizes errors + alpha |W - W_0|^2.

    With columns of zeros, the samples are sparse, and some steps are postponed.
    """
    samples = np.hstack([X, np.zeros((N, n_zeros))])
    model = OnlineRidgeClassifier(alpha=3.0, standardize=False, drift_threshold=12.0)
    targets, losses, base = np.eye(N_CLASSES)[Y], [0.5], None
    model.partial_fit(samples[:1], Y[:1], classes=range(N_CLASSES))
    for t in range(1, N):
        scores = model.decision_function(samples[t : t + 1])[0]
        losses.append(np.sum(scores > scores[Y[t]]) / (N_CLASSES - 1))
        before = model._learner.weight_table
        model.partial_fit(samples[t : t + 1], Y[t : t + 1])
        if model.n_drifts_ == 1 and base is None:
            base, first = before, t
    assert N // 2 < first < N // 2 + 50
    assert np.flatnonzero(detections(losses, 12.0)).tolist() == [first]
    F = np.column_stack([samples, np.ones(N)])[first:]
    penalty = np.diag([3.0] * (5 + n_zeros) + [1.0])
    errors = targets[first:] - 1 / N_CLASSES - F @ base
    expected = base + np.linalg.solve(F.T @ F + penalty, F.T @ errors)
    assert_allclose(model._learner.weight_table, expected, atol=1e-9)


def test_models_are_compared_anew():
    """The shares depend only on samples since the drift, also if a model was dropped before it.

    The penalty 1e5 is much too large before the drift. After the drift, both models start from the
    weights of the other one.
    """
    alphas = np.array([1.0, 1e5])
    model = OnlineRidgeClassifier(
        alpha=alphas, standardize=False, drift_threshold=12.0, shuffle=False
    )
    before = np.arange(N) % (N // 2)
    model.fit(X[before], Y[before])
    assert model.model_shares_[1] == 0.0
    first, errors = None, np.zeros(2)
    for t in range(N // 2, N // 2 + 100):
        base = model._learner.weight_table
        model.partial_fit(X[t : t + 1], Y[t : t + 1])
        if first is None and model.n_drifts_ == 0:
            continue
        if first is None:
            first, start, weights = t, base, [base, base]
        F = np.column_stack([X, np.ones(N)])[first : t + 1]
        targets = np.eye(N_CLASSES)[Y[first : t + 1]] - 1 / N_CLASSES
        errors += [np.sum((targets[-1] - F[-1] @ W) ** 2) for W in weights]
        shares = errors ** (-len(F) / 2)
        shares /= shares.sum()
        weights = [
            start
            + np.linalg.solve(F.T @ F + np.diag([alpha] * 5 + [1.0]), F.T @ (targets - F @ start))
            for alpha in alphas
        ]
        assert_allclose(model.model_shares_, shares, rtol=1e-6)
        assert_allclose(model._learner.weight_table, np.tensordot(shares, weights, 1), atol=1e-8)
    # Until the models have been compared for 1000 samples, none is dropped.
    assert len(F) > 50
    assert 0.0 < model.model_shares_.min() < 1e-12


def test_linucb_starts_from_its_weights():
    """The drift is detected by the squared errors of the rewards; then as for the ridge."""
    model = LinUCBClassifier(
        kernel="linear", alpha=0.5, clip=None, fit_intercept=False, drift_threshold=8.0
    )
    squares, shown, rewards, base, first = [], [], [], None, 0
    for t in range(N):
        x = X[t : t + 1]
        exploration = model.explore(x, classes=range(N_CLASSES))
        action = exploration.actions[0]
        reward = float(Y[t] == action)
        squares.append((reward - model.decision_function(x)[0, action]) ** 2)
        before = model.coef_
        model.partial_fit_feedback(x, exploration, [reward])
        shown.append(action)
        rewards.append(reward)
        if model.n_drifts_ == 1 and base is None:
            base, first = before, t
    assert N // 2 < first < N // 2 + 50
    assert np.flatnonzero(detections(np.minimum(squares, 1.0), 8.0)).tolist() == [first]
    shown, rewards = np.array(shown[first:]), np.array(rewards[first:])
    for k in range(N_CLASSES):
        F, r = X[first:][shown == k], rewards[shown == k]
        A = 0.5 * np.eye(5) + F.T @ F
        assert_allclose(
            model.coef_[k], base[k] + np.linalg.solve(A, F.T @ (r - F @ base[k])), atol=1e-9
        )


MODELS = {
    "ridge": OnlineRidgeClassifier(shuffle=False),
    "two penalties": OnlineRidgeClassifier(alpha=(1.0, 10.0), shuffle=False),
    "LinUCB": LinUCBClassifier(kernel="linear", random_state=0, shuffle=False),
    "LinUCB, rbf": LinUCBClassifier(n_components=20, random_state=0, shuffle=False),
    "LinUCB, diagonal": LinUCBClassifier(covariance="diagonal", random_state=0, shuffle=False),
}


def errors(scores, part):
    return np.mean(np.argmax(scores[part], axis=1) != Y[part])


@pytest.mark.parametrize("name", MODELS)
def test_models_recover(name, fingerprint):
    """With the default threshold; also if they are pickled between calls."""
    model, without = clone(MODELS[name]), clone(MODELS[name]).set_params(drift_threshold=None)
    scores = model.progressive_fit(X, Y, classes=range(N_CLASSES))
    others = without.progressive_fit(X, Y, classes=range(N_CLASSES))
    # No sample of the first half counts as a drift.
    assert_array_equal(scores[: N // 2], others[: N // 2])
    last = slice(N - 300, N)
    assert model.n_drifts_ == 1 and without.n_drifts_ == 0
    assert errors(scores, last) < 0.3 < 0.5 < errors(others, last)
    chunked = clone(MODELS[name])
    for start in range(0, N, 100):
        rows = slice(start, start + 100)
        chunked.partial_fit(X[rows], Y[rows], classes=range(N_CLASSES))
        chunked = pickle.loads(pickle.dumps(chunked))
    assert fingerprint(chunked) == fingerprint(model)


def test_costs_of_a_booster_are_not_tested():
    """They depend on the other learners. The relevance of labels is tested."""
    ridge, Y_rows = (
        OnlineRidgeClassifier(shuffle=False),
        np.eye(Y.max() + 1, dtype=int)[Y] if Y.ndim == 1 else Y,
    )
    model = AdaOLMR(ridge, n_estimators=1, random_state=0, shuffle=False).fit(X, Y_rows)
    assert model.estimators_[0].n_drifts_ == 0
    ranker = SemiBanditRanker(k=Y_rows.shape[1], random_state=0, shuffle=False)
    ranker._templates = lambda: [ridge]
    assert ranker.fit(X, Y_rows).estimators_[0].n_drifts_ == 1

"""Updates of weak learners by samples of which only the labels shown are known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from sklrank.feedback import Exploration
from sklrank.linear_model import (
    OnlineLogisticRegression,
    OnlineRidgeClassifier,
    SemiBanditRanker,
)
from sklrank.online_boosting import TopKBBM

RANDOM = np.random.RandomState(0)
N, M, K = 80, 5, 2
X = RANDOM.normal(size=(N, 3)) * [1, 5, 0.1] + [0, 2, -1]
Y = (RANDOM.uniform(size=(N, M)) < 0.4).astype(int)
# Labels 0 and 1 are shown far more often than the others, as by a greedy policy.
ACTIONS = np.array(
    [RANDOM.choice(M, K, replace=False, p=[0.4, 0.4, 0.1, 0.07, 0.03]) for _ in range(N)]
)
REWARDS = np.take_along_axis(Y, ACTIONS, axis=1)
PROPENSITIES = RANDOM.uniform(0.01, 1, (N, 1, 1)) * np.ones((N, K, K))
WEIGHT = RANDOM.choice([0.0, 0.5, 1.0, 3.0], N)


def semi_bandit(learner, k=K):
    """Return a ranker whose vote has a single learner."""
    model = SemiBanditRanker(k=k, random_state=0)
    model._templates = lambda: [learner]
    return model


def booster(learner):
    return TopKBBM(learner, n_estimators=1, k=K, max_features=None, random_state=0)


def fitted_weights(learner, model=semi_bandit):
    """Return the weights of the single learner of a model, fitted on all samples."""
    model = model(learner)
    model.partial_fit_feedback(
        X, Exploration(ACTIONS, PROPENSITIES), REWARDS, classes=range(M), sample_weight=WEIGHT
    )
    return model.estimators_[0]._learner.weight_table


def features(clip):
    """Yield the index of each learned sample, and its standardized features with a 1 appended."""
    rows = np.flatnonzero(WEIGHT > 0)
    for n, t in enumerate(rows):
        seen = X[rows[:n]]
        deviation = seen.std(axis=0) if n > 1 else np.zeros(3)
        safe = np.where(deviation > 0, deviation, np.inf)
        mean = seen.mean(axis=0) if n else 0.0
        yield t, np.append(np.clip((X[t] - mean) / safe, -clip, clip), 1.0)


@pytest.mark.parametrize("model", [semi_bandit, booster])
def test_one_versus_rest_learns_the_labels_shown(model):
    """With the sample weight, for any propensities and relevance of the other labels."""
    logistic = OnlineLogisticRegression(multi_class="ovr", learning_rate=0.7)
    W, squares = np.zeros((4, M)), np.ones((4, M))
    for t, f in features(10.0):
        f[:3] /= np.sqrt(3)
        for l in ACTIONS[t]:
            g = WEIGHT[t] * f * (expit(f @ W[:, l]) - Y[t, l])
            squares[:, l] += g**2
            W[:, l] -= 0.7 * g / np.sqrt(squares[:, l])
    assert_allclose(fitted_weights(logistic, model), W, atol=1e-10)


def test_shares_of_learning_rates_follow_the_rank_losses_of_the_labels_shown():
    """exp of minus the sum of the rank losses, each before the sample is learned."""

    def logistic(rate):
        learner = OnlineLogisticRegression(multi_class="ovr", learning_rate=rate)
        return TopKBBM(learner, n_estimators=1, k=K, random_state=0)

    rates = (0.1, 0.5, 2.0)
    models, losses = [logistic(rate) for rate in rates], np.zeros(3)
    for t in range(N):
        row, record = X[t : t + 1], Exploration(ACTIONS[t : t + 1], PROPENSITIES[t : t + 1])
        a, b = ACTIONS[t]
        for i, model in enumerate(models):
            if REWARDS[t].sum() == 1 and WEIGHT[t] > 0:
                score = model.decision_function(row)[0] if t else np.zeros(M)
                wrong = (score[b] - score[a]) * (REWARDS[t, 0] - REWARDS[t, 1])
                losses[i] += WEIGHT[t] * (1.0 if wrong > 0 else 0.5 if wrong == 0 else 0.0)
            model.partial_fit_feedback(
                row, record, REWARDS[t : t + 1], range(M), sample_weight=WEIGHT[t : t + 1]
            )
    model = logistic(rates).partial_fit_feedback(
        X, Exploration(ACTIONS, PROPENSITIES), REWARDS, range(M), sample_weight=WEIGHT
    )
    shares = np.exp(losses.min() - losses)
    assert np.ptp(losses) > 0.5
    assert_allclose(model.estimators_[0].model_shares_, shares / shares.sum(), rtol=1e-9)


def test_ridge_regresses_on_the_relevance_of_the_labels_shown():
    """P weights a sample by its fraction of labels shown; labels shown more often step less."""
    ridge = OnlineRidgeClassifier(alpha=2.0)
    P, W = np.diag([0.5, 0.5, 0.5, 1.0]), np.zeros((4, M))
    shown, share, total = np.zeros(M), K / M, 0.0
    for t, f in features(3.0):
        total += WEIGHT[t]
        for l in ACTIONS[t]:
            shown[l] += WEIGHT[t]
            v = WEIGHT[t] * min(1, total * share / shown[l])
            error = Y[t, l] - 0.5 - f @ W[:, l]
            W[:, l] += v / (1 + v * f @ P @ f) * (P @ f) * error
        q = share * WEIGHT[t]
        P = P - q / (1 + q * f @ P @ f) * np.outer(P @ f, P @ f)
    assert shown.max() > 3 * shown.min()
    assert_allclose(fitted_weights(ridge), W, atol=1e-9)


def test_ridge_on_relevance_where_all_labels_are_known():
    """Ridge regression on the relevance minus 1/2, in closed form."""
    model = semi_bandit(OnlineRidgeClassifier(alpha=2.0, shuffle=False), k=M)
    model.set_params(shuffle=False).fit(X, Y, sample_weight=WEIGHT)
    played = WEIGHT > 0
    rows = X[played]
    F = np.ones((len(rows), 4))
    for t, row in enumerate(rows):
        deviation = rows[:t].std(axis=0) if t > 1 else np.zeros(3)
        safe = np.where(deviation > 0, deviation, np.inf)
        F[t, :3] = np.clip((row - (rows[:t].mean(axis=0) if t else 0.0)) / safe, -3, 3)
    w = WEIGHT[played]
    gram = (F.T * w) @ F + np.diag([2.0, 2.0, 2.0, 1.0])
    expected = np.linalg.solve(gram, (F.T * w) @ (Y[played] - 0.5))
    assert_allclose(model.estimators_[0]._learner.weight_table, expected, atol=1e-9)

"""Updates of the compiled linear learners by the costs of a booster.

The costs of the first learner are those at the score 0, where each pair has the slope 1/2. They are
-1 / (2 |Y|) for a relevant label and 1 / (2 |Y^c|) for an irrelevant one.
"""

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import expit

from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.online_boosting import AdaOLMR

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(60, 3)) * [1, 5, 0.1] + [0, 2, -1]
Y = (RANDOM.uniform(size=(60, 4)) < 0.4).astype(int)
SIZE = Y.sum(axis=1, keepdims=True)
LEARNED = ((SIZE > 0) & (SIZE < 4)).ravel()


def first_costs():
    with np.errstate(divide="ignore"):
        return np.where(Y, -0.5 / SIZE, 0.5 / (4 - SIZE))


def standardized(clip):
    """Standardize each sample by the samples learned before it; append 1 for the intercept."""
    rows = []
    for t in range(len(X)):
        seen = X[:t][LEARNED[:t]]
        deviation = seen.std(axis=0) if len(seen) > 1 else np.zeros(3)
        safe = np.where(deviation > 0, deviation, np.inf)
        mean = seen.mean(axis=0) if len(seen) else 0.0
        rows.append(np.append(np.clip((X[t] - mean) / safe, -clip, clip), 1.0))
    return np.array(rows)


def test_ridge_regresses_on_the_negative_costs():
    """Ridge regression in closed form; votes are clipped at zero."""
    ridge = OnlineRidgeClassifier(alpha=2.0, shuffle=False)
    model = AdaOLMR(ridge, n_estimators=1, max_features=None, random_state=0, shuffle=False).fit(
        X, Y
    )
    F, target = standardized(3.0)[LEARNED], -first_costs()[LEARNED]
    penalty = np.diag([2.0, 2.0, 2.0, 1.0])
    weights = np.linalg.solve(F.T @ F + penalty, F.T @ target)
    learner = model.estimators_[0]
    assert_allclose(learner._learner.weight_table, weights, atol=1e-9)
    f = np.append(np.clip((X[0] - X[LEARNED].mean(axis=0)) / X[LEARNED].std(axis=0), -3, 3), 1.0)
    votes = np.maximum(0.25 + f @ weights, 0)
    assert_allclose(learner.predict_proba(X[:1])[0], votes / votes.sum(), atol=1e-9)


def test_one_versus_rest_learns_all_labels_with_one_weight():
    """Twice Eq. 9, for relevant and irrelevant labels, times the sample weight."""
    logistic = OnlineLogisticRegression(multi_class="ovr", learning_rate=0.7, shuffle=False)
    sample_weight = np.random.RandomState(1).choice([0.5, 1.0, 3.0], len(X))
    model = AdaOLMR(logistic, n_estimators=1, max_features=None, random_state=0, shuffle=False)
    model.fit(X, Y, sample_weight=sample_weight)
    W, squares = np.zeros((4, 4)), np.ones((4, 4))
    F = standardized(10.0)
    F[:, :3] /= np.sqrt(3)
    for t in np.flatnonzero(LEARNED):
        slopes = sample_weight[t] * (expit(F[t] @ W) - Y[t])
        g = np.outer(F[t], slopes)
        squares += g**2
        W -= 0.7 * g / np.sqrt(squares)
    assert_allclose(model.estimators_[0]._learner.weight_table, W, atol=1e-10)


def test_multinomial_learns_the_relevant_labels_by_their_importance():
    """sum over l in Y of (max(c) - c[l]) (p - e_l)."""
    logistic = OnlineLogisticRegression(learning_rate=0.7, shuffle=False)
    model = AdaOLMR(logistic, n_estimators=1, max_features=None, random_state=0, shuffle=False).fit(
        X, Y
    )
    W, squares = np.zeros((4, 4)), np.ones((4, 4))
    costs, F = first_costs(), standardized(10.0)
    F[:, :3] /= np.sqrt(3)
    for t in np.flatnonzero(LEARNED):
        p = np.exp(F[t] @ W) / np.exp(F[t] @ W).sum()
        importance = (costs[t].max() - costs[t]) * Y[t]
        g = np.outer(F[t], importance.sum() * p - importance)
        squares += g**2
        W -= 0.7 * g / np.sqrt(squares)
    assert_allclose(model.estimators_[0]._learner.weight_table, W, atol=1e-10)

"""The algorithms over their default weak learners, replayed in plain Python.

The replay takes only the features of a sample from the model, before the sample is learned.
"""

from itertools import product

import numpy as np
import pytest
from feature_maps import features_of
from numpy.testing import assert_allclose
from scipy.special import expit

from sklrank.linear_model import OnlineRidgeClassifier
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM

M, N_ROWS, K = 4, 25, 3
RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(N_ROWS, 3)) * [1, 5, 0.1] + [0, 2, -1]
Y = (X @ RANDOM.normal(size=(3, M)) + RANDOM.normal(size=(N_ROWS, M)) > 0).astype(int)
Y[3], Y[7] = 0, 1


class Ridge:
    """Ridge regression of mean(c) - c by its normal equations, for each penalty."""

    def __init__(self, estimator, n_features):
        penalties = np.atleast_1d(estimator.alpha).astype(float)
        self.grams = [np.diag([*[a] * (n_features - 1), min(a, 1.0)]) for a in penalties]
        self.moments, self.errors, self.n = np.zeros((n_features, M)), np.zeros(len(penalties)), 0

    def predictions(self, f):
        return np.array([f @ np.linalg.solve(gram, self.moments) for gram in self.grams])

    def vote(self, f):
        shares = (self.errors / self.errors.min()) ** (-self.n / 2) if self.n else self.errors + 1
        v = 1 / M + 4 * shares @ self.predictions(f) / shares.sum()
        votes = (v + np.sqrt(v**2 + 1 / M**2)) / 2
        return votes / votes.sum()

    def learn(self, f, costs, relevant):
        target = costs.mean() - costs
        self.errors += ((target - self.predictions(f)) ** 2).sum(axis=1)
        self.n += 1
        self.moments += np.outer(f, target)
        for gram in self.grams:
            gram += np.outer(f, f)


class Logistic:
    """Softmax regression by AdaGrad: the relevant labels have the weights max(c) - c[l]."""

    def __init__(self, n_features):
        self.W, self.squares = np.zeros((n_features, M)), np.ones((n_features, M))

    def vote(self, f):
        votes = np.exp(f @ self.W)
        return votes / votes.sum()

    def learn(self, f, costs, relevant):
        weights = np.zeros(M)
        weights[relevant] = costs.max() - costs[relevant]
        self.step(np.outer(f, weights.sum() * self.vote(f) - weights))

    def step(self, gradient):
        self.squares += gradient**2
        self.W -= gradient / np.sqrt(self.squares)


class OneVersusRest:
    """Logistic regression of each label by AdaGrad, with the weight sum |c - mean(c)|.

    There is a model for each learning rate. Its share is proportional to exp of minus its losses.
    """

    def __init__(self, estimator, n_features):
        self.rates = np.array(estimator.learning_rate)[:, None, None]
        self.W = np.zeros((len(self.rates), n_features, M))
        self.squares, self.losses = np.ones(self.W.shape), np.zeros(len(self.rates))

    def vote(self, f):
        votes = expit(np.average(f @ self.W, axis=0, weights=np.exp(-self.losses)))
        return votes / votes.sum()

    def learn(self, f, costs, relevant):
        weight = np.abs(costs - costs.mean()).sum()
        y = np.isin(np.arange(M), relevant)
        p = expit(f @ self.W)
        self.losses -= weight * np.log(np.where(y, p, 1 - p)).sum(axis=1)
        gradient = weight * f[:, None] * (p - y)[:, None]
        self.squares += gradient**2
        self.W -= self.rates * gradient / np.sqrt(self.squares)


def learner_of(estimator, feature_map):
    """Return the slow statement of a recommended learner."""
    n_features = features_of(feature_map, X[:1]).shape[1]
    if isinstance(estimator, OnlineRidgeClassifier):
        return Ridge(estimator, n_features)
    if estimator.multi_class == "ovr":
        return OneVersusRest(estimator, n_features)
    return Logistic(n_features)


def gradients(i, scores, pairs):
    """Return Eq. 8 of Jung & Tewari, Eq. 4 of Raman et al."""
    c = np.zeros(M)
    for (a, b), weight in pairs.items():
        c[b] += weight * expit(scores[b] - scores[a])
        c[a] -= weight * expit(scores[b] - scores[a])
    return c


def potentials(n_learners, edge, size):
    """Return Eq. 2 of Jung & Tewari, Eq. 3 of Raman et al., by the law of the remaining votes."""

    def costs(i, scores, pairs):
        gamma = min(edge, 1 / size(pairs))
        up = (1 - size(pairs) * gamma) / M
        law = np.ones(1)
        for _ in range(n_learners - 1 - i):
            law = np.convolve(law, [up + gamma, 1 - 2 * up - gamma, up])
        walk = np.arange(len(law)) - len(law) // 2
        c = np.zeros(M)
        for (a, b), weight in pairs.items():
            for l in range(M):
                z = scores[b] - scores[a] + (l == b) - (l == a)
                c[l] += weight * law @ np.maximum(1 + z + walk, 0)
        return c

    return costs


def rank_loss(scores, pairs, tie):
    """Return the rank loss, and the weight of pairs about which rounding errors decide."""
    gaps = {(a, b): scores[b] - scores[a] for a, b in pairs}
    loss = sum(w * ((gaps[p] > 0) + tie * (gaps[p] == 0)) for p, w in pairs.items())
    return loss, sum(abs(w) for p, w in pairs.items() if scores.any() and abs(gaps[p]) < 1e-9)


def replay(model, reveal, cost_of, rate=None, clip=np.inf, tie=0.5):
    """Play the rounds beside `model`; compare the votes, alpha and Hedge's weights.

    `reveal(t)` lets the model learn sample t. It returns the weights of the known pairs, and the
    labels that are known to be relevant, or None if there is nothing to learn.
    """
    maps = [e._learner.feature_map for e in model.estimators_]
    learners = [learner_of(e, each) for e, each in zip(model.estimators_, maps)]
    alpha = np.full(len(learners), 0.0 if rate else 1.0)
    log_v, slack = np.zeros((2, len(learners)))
    for t in range(N_ROWS):
        features = [features_of(each, X[t : t + 1])[0] for each in maps]
        h = np.array([learner.vote(f) for learner, f in zip(learners, features)])
        s = np.vstack([np.zeros(M), np.cumsum(alpha[:, None] * h, axis=0)])
        votes = [e.predict_proba(X[t : t + 1])[0] for e in model.estimators_]
        assert_allclose(votes, h, atol=1e-8)
        pairs, relevant = reveal(t)
        if pairs is None:
            continue
        for i, (learner, f) in enumerate(zip(learners, features)):
            learner.learn(f, cost_of(i, s[i], pairs), relevant)
            if rate:
                slope = np.clip(cost_of(i, s[i + 1], pairs) @ h[i], -clip, clip)
                alpha[i] = np.clip(alpha[i] - rate / np.sqrt(t + 1) * slope, -2, 2)
                loss, unclear = rank_loss(s[i + 1], pairs, tie)
                log_v[i] -= loss
                slack[i] += unclear
        assert_allclose(model.estimator_weights_, alpha, atol=1e-7)
    if rate:
        assert np.all(np.abs(model._log_expert_weights - log_v) <= slack + 1e-6)
        assert np.all(slack < 0.5 * np.abs(log_v))
    else:
        assert_allclose(
            model.decision_function(X[-1:])[0],
            sum(
                learner.vote(features_of(each, X[-1:])[0]) for learner, each in zip(learners, maps)
            ),
            atol=1e-7,
        )


@pytest.mark.parametrize("make", [OnlineBMR, AdaOLMR])
def test_full_information(make):
    """Algorithms 2 and 3 of Jung & Tewari (2018)."""
    model = make(random_state=0)
    model.partial_fit(X[:1], Y[:1], classes=range(M), sample_weight=[0.0])

    def reveal(t):
        model.partial_fit(X[t : t + 1], Y[t : t + 1])
        relevant, irrelevant = np.flatnonzero(Y[t]), np.flatnonzero(1 - Y[t])
        pairs = list(product(relevant, irrelevant))
        return (dict.fromkeys(pairs, 1 / len(pairs)), relevant) if pairs else (None, None)

    if make is AdaOLMR:
        replay(model, reveal, gradients, rate=1.0)
    else:
        replay(model, reveal, potentials(7, 0.1, lambda pairs: len({a for a, b in pairs})))


@pytest.mark.parametrize("make", [TopKBBM, TopKAdaptive])
def test_top_k_feedback(make):
    """Algorithms 2 and 3 of Raman et al. (2020), with doubly robust estimates of the costs."""
    model = make(k=K, exploration=0.4, random_state=0)
    model.explore(X[:1], classes=range(M))
    direct_map = model._direct_model.feature_map
    direct = Logistic(features_of(direct_map, X[:1]).shape[1])

    def reveal(t):
        x, f = X[t : t + 1], features_of(direct_map, X[t : t + 1])[0]
        shown = model.explore(x)
        labels, p = shown.actions[0], np.clip(shown.propensities[0], 0.2, 0.8)
        y = Y[t, labels]
        q = expit(f @ direct.W)
        pairs = {(a, b): q[a] * (1 - q[b]) for a, b in product(range(M), repeat=2) if a != b}
        for (i, a), (j, b) in product(enumerate(labels), repeat=2):
            if a != b:
                pairs[a, b] += (y[i] * (1 - y[j]) - q[a] * (1 - q[b])) / p[i, j]
        slopes = np.zeros(M)
        slopes[labels] = q[labels] - y
        direct.step(np.outer(f, slopes))
        model.partial_fit_feedback(x, shown, y[None])
        return pairs, labels[y == 1]

    if make is TopKAdaptive:
        replay(model, reveal, gradients, rate=1.0, clip=1.0, tie=1.0)
    else:
        replay(model, reveal, potentials(7, 0.1, lambda pairs: 1))

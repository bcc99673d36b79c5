"""SemiBanditRanker: labels shown, what is learned from them, and the vote of the learners."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.utils import shuffle

from sklrank.feedback import Exploration
from sklrank.feedback._protocol import make_sampler
from sklrank.linear_model import SemiBanditRanker
from sklrank.metrics import rank_loss

N, M, K = 90, 5, 2
RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(N, 3)) * [1, 5, 0.1] + [0, 2, -1]
Y = (X @ RANDOM.normal(size=(3, M)) + RANDOM.normal(size=(N, M)) > 1).astype(int)
WEIGHT = RANDOM.choice([0.0, 0.5, 1.0, 3.0], N)


def rewards_of(shown, Y):
    return np.take_along_axis(Y, shown.actions, axis=1)


def shown_rank_loss(scores, actions, rewards):
    """Proportion of pairs of labels shown in the wrong order; equal scores count one half."""
    pairs = [
        1.0 if scores[b] > scores[a] else 0.5 if scores[b] == scores[a] else 0.0
        for a, of_a in zip(actions, rewards)
        for b, of_b in zip(actions, rewards)
        if of_a and not of_b
    ]
    return np.mean(pairs) if pairs else 0.0


class SlowLogistic:
    """A logistic regression for each label, with AdaGrad and three learning rates."""

    rates = (0.3, 1.0, 3.0)

    def __init__(self, n_outputs):
        self.models = [(np.zeros((n_outputs, M)), np.ones((n_outputs, M))) for _ in self.rates]
        self.losses = np.zeros(3)

    def votes(self, f):
        shares = np.exp(self.losses.min() - self.losses)
        margins = shares / shares.sum() @ [f @ W for W, _ in self.models]
        return expit(margins) / expit(margins).sum()

    def learn(self, f, actions, rewards, weight):
        for i, (W, squares) in enumerate(self.models):
            margins = f @ W
            self.losses[i] += weight * shown_rank_loss(margins, actions, rewards)
            for label, reward in zip(actions, rewards):
                g = weight * f * (expit(margins[label]) - reward)
                squares[:, label] += g**2
                W[:, label] -= self.rates[i] * g / np.sqrt(squares[:, label])


class SlowRidge:
    """Recursive least squares on the relevance of the labels shown, with two penalties."""

    alphas = (1.0, 10.0)

    def __init__(self, n_outputs):
        self.P = [np.diag([1 / a] * (n_outputs - 1) + [1 / min(a, 1)]) for a in self.alphas]
        self.W = np.zeros((2, n_outputs, M))
        self.errors, self.shown, self.total = np.zeros(2), np.zeros(M), 0.0

    def votes(self, f):
        shares = np.full(2, 0.5)
        if self.errors.all():
            shares = (self.errors / self.errors.min()) ** (-self.total / 2)
        v = 0.5 + shares / shares.sum() @ (f @ self.W)
        v = (v + np.sqrt(v**2 + 1 / M**2)) / 2
        return v / v.sum()

    def learn(self, f, actions, rewards, weight):
        share = len(actions) / M
        self.total += weight
        self.shown[actions] += weight
        for i, P in enumerate(self.P):
            for label, reward in zip(actions, rewards):
                error = reward - 0.5 - f @ self.W[i, :, label]
                self.errors[i] += weight * error**2
                v = weight * min(1, self.total * share / self.shown[label])
                self.W[i, :, label] += v / (1 + v * f @ P @ f) * (P @ f) * error
            q = share * weight
            self.P[i] = P - q / (1 + q * f @ P @ f) * np.outer(P @ f, P @ f)


def slow_features(seen, x, clip, intercept):
    """Standardize by the samples before, scale to the norm one, and append the intercept."""
    deviation = seen.std(axis=0) if len(seen) > 1 else np.zeros(3)
    z = x - (seen.mean(axis=0) if len(seen) else 0.0)
    z = np.clip(z / np.where(deviation > 0, deviation, np.inf), -clip, clip)
    return np.append(z / (np.linalg.norm(z) or 1.0), intercept)


def test_replay_of_the_default_learners():
    """The vote, the labels shown and the learners, by slow statements of each of them."""
    model = SemiBanditRanker(k=K, exploration=0.3, random_state=0)
    learners, losses = [SlowLogistic(4), SlowLogistic(4), SlowRidge(4)], np.zeros(3)
    rows = [t for t in range(N) if WEIGHT[t] > 0]
    for n, t in enumerate(rows):
        seen = X[rows[:n]]
        raw = np.append(X[t] / np.linalg.norm(X[t]), 0.3)
        features = slow_features(seen, X[t], 10.0, 1.0), raw, slow_features(seen, X[t], 3.0, 1.0)
        votes = [learner.votes(f) for learner, f in zip(learners, features)]
        hedge = np.exp(-2.0 * (losses - losses.min()))
        scores = hedge / hedge.sum() @ votes
        shown = model.explore(X[[t]], classes=range(M))
        assert_allclose(model.decision_function(X[[t]])[0], scores, atol=1e-9)
        # The propensities are those of the policy at these scores.
        law = make_sampler("uniform", M, K, 0.3).propensities(scores[np.newaxis])[0]
        a = shown.actions[0]
        assert_allclose(shown.propensities[0], law[np.ix_(a, a)], rtol=1e-12)
        rewards = rewards_of(shown, Y[[t]])
        losses += [WEIGHT[t] * shown_rank_loss(v, a, rewards[0]) for v in votes]
        for learner, f in zip(learners, features):
            learner.learn(f, a, rewards[0], WEIGHT[t])
        model.partial_fit_feedback(X[[t]], shown, rewards, sample_weight=WEIGHT[[t]])
    hedge = np.exp(-2.0 * (losses - losses.min()))
    assert_allclose(model.estimator_weights_, hedge / hedge.sum(), rtol=1e-7, atol=1e-12)
    assert np.ptp(losses) > 0.5
    assert model.n_rounds_ == len(rows)


@pytest.fixture(
    params=[
        SemiBanditRanker(k=2, exploration=0.3, random_state=0),
        SemiBanditRanker(k=3, exploration="decay", randomization="plackett-luce", random_state=0),
        SemiBanditRanker(k=1, random_state=0),
    ],
    ids=["uniform", "plackett-luce", "one label"],
)
def model(request):
    return clone(request.param)


def test_fit_simulates_the_protocol(model, fingerprint):
    """partial_fit is explore and partial_fit_feedback, sample by sample, in any chunks."""
    simulated, chunks, played = clone(model).partial_fit(X, Y), clone(model), clone(model)
    before = np.empty((N, M))
    for i in range(N):
        shown = played.explore(X[[i]], classes=range(M))
        before[i] = played.decision_function(X[[i]])[0]
        played.partial_fit_feedback(X[[i]], shown, rewards_of(shown, Y[[i]]))
    for rows in np.split(np.arange(N), [1, 7, 40]):
        chunks = pickle.loads(pickle.dumps(chunks)).partial_fit(X[rows], Y[rows])
    assert fingerprint(played) == fingerprint(simulated) == fingerprint(chunks)
    assert_array_equal(clone(model).progressive_fit(X, Y), before)
    fitted = clone(model).set_params(shuffle=False).fit(X, Y)
    assert_array_equal(fitted.predict_ranks(X), simulated.predict_ranks(X))


def test_only_the_relevance_of_labels_shown_is_used(model, fingerprint):
    watcher, garbled = clone(model), 1 - Y
    for i in range(N):
        shown = watcher.explore(X[[i]], classes=range(M))
        a = shown.actions[0]
        garbled[i, a] = Y[i, a]
        watcher.partial_fit_feedback(X[[i]], shown, Y[[i]][:, a])
    assert fingerprint(watcher) == fingerprint(clone(model).partial_fit(X, garbled))


def test_rounds_in_passes_with_weights():
    """A sample of weight zero is no round."""
    model = SemiBanditRanker(
        k=2, max_iter=3, exploration=lambda t: 1 / t, random_state=0, shuffle=False
    )
    model.fit(X, Y, sample_weight=WEIGHT)
    assert model.n_rounds_ == 3 * np.count_nonzero(WEIGHT) and model.n_iter_ == 3


def test_learns_to_rank():
    X, Y = make_multilabel_classification(1000, n_classes=8, random_state=1)
    model = SemiBanditRanker(exploration=0.2, random_state=0).fit(X[:800], Y[:800])
    loss = rank_loss(Y[800:], model.decision_function(X[800:]))
    assert loss < 0.12 and model.score(X[800:], Y[800:]) == 1 - loss
    assert (model.predict(X[800:]) == Y[800:]).mean() > 0.75


def test_class_labels():
    """Fewer classes than k: all of them are shown."""
    X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    names = np.array(["a", "b", "c"])[y]
    model = SemiBanditRanker(k=7, max_iter=3, random_state=0).fit(X, names)
    assert model.explore(X).actions.shape == (150, 3)
    assert model.score(X, names) > 0.8
    assert_array_equal(model.predict_topk(X, 1)[:, 0], model.predict(X))


@pytest.mark.parametrize(
    "parameters, error, message",
    [
        ({"k": M + 1}, ValueError, "cannot be shown"),
        ({"exploration": 0.0}, ValueError, "exploration"),
        ({"exploration": lambda t: 2.0}, ValueError, "exploration must return"),
        ({"randomization": "greedy"}, ValueError, "'randomization'"),
    ],
)
def test_invalid_parameters(parameters, error, message):
    for method in ("fit", "partial_fit", "progressive_fit"):
        model = SemiBanditRanker(**parameters)
        with pytest.raises(error, match=message):
            getattr(model, method)(X, Y)
        assert not hasattr(model, "classes_")


def test_invalid_feedback_leaves_the_model_as_it_was(fingerprint):
    model = SemiBanditRanker(k=2, random_state=0).fit(X, Y)
    shown, before = Exploration([[0, 1]], [[[0.5, 0.2], [0.2, 0.5]]]), fingerprint(model)
    for record, rewards, message in [
        (Exploration([[0, M]], shown.propensities), [[0, 1]], "integers from 0 to 4"),
        (Exploration([[1, 1]], shown.propensities), [[0, 1]], "twice"),
        (shown, [[0, 2]], "rewards must be numbers from 0 to 1"),
        (shown, [[0, 1, 1]], "rewards must have the shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit_feedback(X[:1], record, rewards)
    assert fingerprint(model) == before

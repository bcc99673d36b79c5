"""The loop of boosting: played with scripted parts, and against the algorithms written out."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin

from sklrank.boosting import AdaRank, NDCGBoost, RankBoost
from sklrank.boosting._objective import Objective
from sklrank.boosting._rounds import play_rounds
from sklrank.metrics import ndcg_score

# -- Scripted parts.


class Hill(Objective):
    """Its masses are given; it notes the scores to which it is moved."""

    def __init__(self, won=4.0, lost=1.0, scale=1.0):
        self.mass, self.scale = (won, lost), scale
        self.weights = np.ones(3)
        self.visited = []

    def move_to(self, scores):
        self.visited.append(scores.copy())

    def masses(self, hypothesis):
        return self.mass


RISES = np.array([1.0, 0.0, 1.0])


def play(objective, n_rounds=3, *, learnt=("model", RISES), learning_rate=1.0, reasons=()):
    """Reason, the arguments of each call of after_round, and the scores."""
    reasons, calls, scores = iter(reasons), [], np.zeros(3)

    def after_round(model, step):
        calls.append((model, step))
        return next(reasons, None)

    reason = play_rounds(
        objective,
        SimpleNamespace(learn=lambda objective, random_state: learnt, n_tries=1),
        scores,
        n_rounds,
        learning_rate=learning_rate,
        random_state=None,
        after_round=after_round,
    )
    return reason, calls, scores


@pytest.mark.parametrize(("learning_rate", "scale"), [(1.0, 1.0), (0.5, 1.0), (1.0, 2.0)])
def test_all_rounds(learning_rate, scale):
    objective = Hill(scale=scale)
    reason, calls, scores = play(objective, learning_rate=learning_rate)
    step = learning_rate * np.log(4) / 2 / scale
    assert reason == "n_estimators rounds were played"
    assert calls == [("model", pytest.approx(step))] * 3
    assert_allclose(scores, 3 * step * RISES)
    # The objective knows the scores when the round is reported.
    assert_allclose(objective.visited, [n * step * RISES for n in (1, 2, 3)])


@pytest.mark.parametrize(
    ("objective", "arguments", "n_played", "reason"),
    [
        (Hill(), {"n_rounds": 0}, 0, "rounds were played"),
        (Hill(won=1.0), {}, 0, "no better than chance"),
        (Hill(won=1.0 + 1e-15), {}, 0, "no better than chance"),
        (Hill(won=0.0, lost=0.0), {}, 0, "no better than chance"),
        (Hill(won=np.nan), {}, 0, "no better than chance"),
        (Hill(), {"learnt": None}, 0, "no weak learner"),
        (Hill(), {"reasons": [None, "enough"]}, 2, "enough"),
    ],
)
def test_reasons_to_stop(objective, arguments, n_played, reason):
    found, calls, scores = play(objective, **arguments)
    assert reason in found
    assert len(calls) == len(objective.visited) == n_played
    assert scores.any() == (n_played > 0)


@pytest.mark.parametrize(("n_tries", "n_played"), [(1, 0), (2, 0), (3, 2), (4, 2)])
def test_whoever_draws_may_try_again(n_tries, n_played):
    """Each third model is better than chance; the others are forgotten."""
    objective, learnt, kept = Hill(), [], []

    def learn(objective, random_state):
        learnt.append(len(learnt))
        objective.mass = (4.0, 1.0) if len(learnt) % 3 == 0 else (1.0, 1.0)
        return learnt[-1], RISES

    reason = play_rounds(
        objective,
        SimpleNamespace(learn=learn, n_tries=n_tries),
        np.zeros(3),
        2,
        learning_rate=1.0,
        random_state=None,
        after_round=lambda model, step: kept.append(model),
    )
    assert kept == [2, 5][:n_played]
    assert len(learnt) == (6 if n_played else n_tries)
    expected = {1: "the last weak learner", 2: "none of 2 weak learners"}
    assert reason.startswith(expected.get(n_tries, "n_estimators rounds"))


def test_without_weights_nothing_is_learnt():
    objective = Hill()
    objective.weights[:] = 0.0
    assert "nothing left to gain" in play(objective)[0]


@pytest.mark.parametrize("lost", [0.0, 1e-300])
def test_steps_are_capped(lost):
    assert Hill(lost=lost).step(RISES) == pytest.approx(np.log(1e6) / 2)


# -- The algorithms, written out.

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(40, 3))
QID = RANDOM.randint(5, size=40)
Y = np.digitize(X[:, 0] + RANDOM.normal(size=40), [0, 1]) * (QID != 2)


def pairs():
    return [(i, j) for i in range(40) for j in range(40) if i != j and QID[i] == QID[j]]


def ndcg_boost(F):
    """Labels, weights and masses of Algorithm 5."""
    gain = np.zeros(40)
    for q in set(QID) - {2}:
        ideal = np.sort(2.0 ** Y[QID == q] - 1)[::-1]
        Z = sum(ideal / np.log2(2 + np.arange(len(ideal))))
        gain[QID == q] = (2.0 ** Y[QID == q] - 1) / Z / 4
    theta = {(i, j): 1 / (2 + 2 * np.cosh(F[i] - F[j])) for i, j in pairs()}
    w = np.zeros(40)
    for (i, j), closeness in theta.items():
        w[i] += (gain[i] - gain[j]) * closeness

    def masses(f):
        won = sum(gain[i] * theta[i, j] for i, j in theta if f[j] < f[i])
        return won, sum(gain[i] * theta[i, j] for i, j in theta if f[j] > f[i])

    return w > 0, np.abs(w), masses


def rank_boost(F):
    """Labels, weights and masses by pairs."""
    loss = {(i, j): np.exp(F[j] - F[i]) for i, j in pairs() if Y[i] > Y[j]}
    w = np.zeros(40)
    for (i, j), part in loss.items():
        w[i] += part
        w[j] -= part

    def masses(f):
        won = sum(part for (i, j), part in loss.items() if f[j] < f[i])
        return won, sum(part for (i, j), part in loss.items() if f[j] > f[i])

    return w > 0, np.abs(w), masses


def ada_rank(F):
    """Labels, weights and masses of Algorithm 4, with Xu & Li's step."""

    def performance(scores):
        return {q: ndcg_score(Y[QID == q], scores[QID == q]) for q in set(QID) - {2}}

    losses = {q: np.exp(-E) for q, E in performance(F).items()}
    p = {q: loss / sum(losses.values()) for q, loss in losses.items()}

    def masses(f):
        E = performance(f)
        return sum(p[q] * (1 + E[q]) for q in p), sum(p[q] * (1 - E[q]) for q in p)

    return Y, np.array([p.get(q, 0) / sum(QID == q) for q in QID]), masses


ALGORITHMS = [(NDCGBoost, ndcg_boost), (RankBoost, rank_boost), (AdaRank, ada_rank)]


@pytest.fixture
def recorder():
    """A classifier that is right by the sign of one feature a round, and a list of what it saw."""
    seen = []

    class Recorder(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None):
            self.classes_ = np.unique(y)
            self.feature_ = len(seen) % 2
            seen.append((X.copy(), np.array(y), sample_weight))
            return self

        def predict(self, X):
            return (X[:, self.feature_] > 0).astype(int)

    return Recorder(), seen


@pytest.mark.parametrize(("ranker", "algorithm"), ALGORITHMS)
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_weak_learners_see_what_the_algorithm_says(recorder, ranker, algorithm, learning_rate):
    classifier, seen = recorder
    fitted = ranker(classifier, 4, learning_rate=learning_rate, weighting="sample_weight").fit(
        X, Y, qid=QID
    )
    assert len(seen) in (4, len(fitted.estimators_) + 1)
    F = np.zeros(40)
    steps = []
    for n, (rows, labels, weights) in enumerate(seen):
        expected_labels, expected, masses = algorithm(F)
        counted = expected > 1e-14
        assert_array_equal(rows, X[counted])
        assert_array_equal(labels, expected_labels[counted])
        assert_allclose(weights, expected[counted] / expected[counted].mean(), rtol=1e-8)
        f = (X[:, n % 2] > 0).astype(float)
        won, lost = masses(f)
        if won > lost:
            steps.append(learning_rate * np.log(won / lost) / 2)
            F += steps[-1] * f
    assert_allclose(fitted.estimator_weights_, steps)
    assert_allclose(fitted.predict(X), F, atol=1e-10)
    assert len(fitted.objective_) == 1 + len(steps) == 1 + len(fitted.estimators_)

"""The loop of boosting, with scripted parts and against direct statements of the algorithms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin

from sklrank._boosters.rounds import Booster, Learner, Objective
from sklrank.boosting import (
    AdaRank,
    NDCGBoost,
    RankBoost,
)
from sklrank.metrics import ndcg_score
from sklrank.semi_supervised import AssembleClassifier, MCSSBClassifier
from sklrank.tree import HistogramTreeClassifier

# -- Scripted parts.


class ScriptedObjective(Objective):
    """Objective with given step weights that records the scores to which it is set."""

    value = 1.0

    def __init__(self, correct=4.0, incorrect=1.0, scale=1.0):
        self.given, self.scale = (correct, incorrect), scale
        self.weights = np.ones(3)
        self.visited = []

    def set_scores(self, scores):
        self.visited.append(scores.copy())

    def step_weights(self, hypothesis):
        return self.given


class ScriptedLearner(Learner):
    """Learner with a given method `fit`, for three samples."""

    def __init__(self, fit):
        self.fit = fit


class RaisingModel:
    """Weak learner that raises the first and the last of three samples."""

    def predict(self, X):
        return np.array([1.0, 0.0, 1.0])


NO_ROUND = pytest.mark.filterwarnings("ignore:ScriptedBooster gives all samples the score 0")


class ScriptedBooster(Booster):
    """Booster that is given the objective and the learner."""

    def __init__(self, n_estimators=3, learning_rate=1.0, random_state=None):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state


MODEL = RaisingModel()
RAISED = MODEL.predict(None)


def boost(objective, n_rounds=3, *, fitted=(MODEL, RAISED), learning_rate=1.0, reasons=()):
    """Return the reason to stop, the arguments of each call of after_round, and the scores."""
    reasons, calls = iter(reasons), []

    def after_round(model, step):
        calls.append((model, step))
        return next(reasons, None)

    booster = ScriptedBooster(n_rounds, learning_rate)
    booster._start_rounds()
    learner = ScriptedLearner(lambda objective, random_state: fitted)
    scores = np.zeros(3)
    booster._boost(objective, learner, scores, after_round)
    assert_allclose(booster._scores(np.zeros((3, 1))), scores)
    return booster.stop_reason_, calls, scores


@pytest.mark.parametrize(("learning_rate", "scale"), [(1.0, 1.0), (0.5, 1.0), (1.0, 2.0)])
def test_all_rounds(learning_rate, scale):
    objective = ScriptedObjective(scale=scale)
    reason, calls, scores = boost(objective, learning_rate=learning_rate)
    step = learning_rate * np.log(4) / 2 / scale
    assert reason == "n_estimators rounds were fitted"
    assert calls == [(MODEL, pytest.approx(step))] * 3
    assert_allclose(scores, 3 * step * RAISED)
    # The objective is set to the scores before after_round is called.
    assert_allclose(objective.visited, [n * step * RAISED for n in range(4)])


@pytest.mark.parametrize(
    ("objective", "arguments", "n_rounds", "reason"),
    [
        (ScriptedObjective(), {"n_rounds": 0}, 0, "n_estimators rounds"),
        (ScriptedObjective(correct=1.0), {}, 0, "no better than chance"),
        (ScriptedObjective(correct=1.0 + 1e-15), {}, 0, "no better than chance"),
        (ScriptedObjective(correct=0.0, incorrect=0.0), {}, 0, "no better than chance"),
        (ScriptedObjective(correct=np.nan), {}, 0, "no better than chance"),
        (ScriptedObjective(), {"fitted": None}, 0, "no weak learner"),
        (ScriptedObjective(), {"reasons": [None, "enough"]}, 2, "enough"),
    ],
)
@NO_ROUND
def test_reasons_to_stop(objective, arguments, n_rounds, reason):
    found, calls, scores = boost(objective, **arguments)
    assert reason in found
    assert len(calls) == len(objective.visited) - 1 == n_rounds
    assert scores.any() == (n_rounds > 0)


@NO_ROUND
def test_rounds_end_when_all_weights_are_zero():
    objective = ScriptedObjective()
    objective.weights[:] = 0.0
    assert "all weights are zero" in boost(objective)[0]


@pytest.mark.parametrize("incorrect", [0.0, 1e-300])
def test_steps_are_capped(incorrect):
    assert ScriptedObjective(incorrect=incorrect).step(RAISED) == pytest.approx(np.log(1e6) / 2)


# -- Direct statements of the algorithms.

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(40, 3))
QID = RANDOM.randint(5, size=40)
Y = np.digitize(X[:, 0] + RANDOM.normal(size=40), [0, 1]) * (QID != 2)


def pairs():
    return [(i, j) for i in range(40) for j in range(40) if i != j and QID[i] == QID[j]]


def ndcg_boost(F):
    """Return the labels, weights and step weights of Algorithm 5."""
    gain = np.zeros(40)
    for q in set(QID) - {2}:
        ideal = np.sort(2.0 ** Y[QID == q] - 1)[::-1]
        Z = sum(ideal / np.log2(2 + np.arange(len(ideal))))
        gain[QID == q] = (2.0 ** Y[QID == q] - 1) / Z / 4
    theta = {(i, j): 1 / (2 + 2 * np.cosh(F[i] - F[j])) for i, j in pairs()}
    w = np.zeros(40)
    for (i, j), gamma in theta.items():
        w[i] += (gain[i] - gain[j]) * gamma

    def step_weights(f):
        correct = sum(gain[i] * theta[i, j] for i, j in theta if f[j] < f[i])
        return correct, sum(gain[i] * theta[i, j] for i, j in theta if f[j] > f[i])

    return w > 0, np.abs(w), step_weights


def rank_boost(F):
    """Return the labels, weights and step weights of RankBoost, by pairs."""
    loss = {(i, j): np.exp(F[j] - F[i]) for i, j in pairs() if Y[i] > Y[j]}
    w = np.zeros(40)
    for (i, j), part in loss.items():
        w[i] += part
        w[j] -= part

    def step_weights(f):
        correct = sum(part for (i, j), part in loss.items() if f[j] < f[i])
        return correct, sum(part for (i, j), part in loss.items() if f[j] > f[i])

    return w > 0, np.abs(w), step_weights


def ada_rank(F):
    """Return the labels, weights and step weights of Algorithm 4, with Xu & Li's step.

    Its first line is p_1(q) = 1/n: the weights do not depend on the order of tied documents.
    """

    def performance(scores):
        return {q: ndcg_score(Y[QID == q], scores[QID == q]) for q in set(QID) - {2}}

    losses = {q: np.exp(-E) if F.any() else 1.0 for q, E in performance(F).items()}
    p = {q: loss / sum(losses.values()) for q, loss in losses.items()}

    def step_weights(f):
        E = performance(f)
        return sum(p[q] * (1 + E[q]) for q in p), sum(p[q] * (1 - E[q]) for q in p)

    return Y, np.array([p.get(q, 0) / sum(QID == q) for q in QID]), step_weights


ALGORITHMS = [(NDCGBoost, ndcg_boost), (RankBoost, rank_boost), (AdaRank, ada_rank)]


@pytest.fixture
def recorder():
    """Return a classifier by the sign of one feature a round, and a list of its training data."""
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
def test_weak_learners_get_the_labels_and_weights_of_the_algorithm(
    recorder, ranker, algorithm, learning_rate
):
    classifier, seen = recorder
    if ranker is AdaRank and learning_rate != 1.0:
        pytest.skip("AdaRank has no learning rate")
    rate = {} if ranker is AdaRank else {"learning_rate": learning_rate}
    fitted = ranker(classifier, 4, weighting="auto", **rate).fit(X, Y, qid=QID)
    assert len(seen) in (4, len(fitted.estimators_) + 1)
    F = np.zeros(40)
    steps = []
    for n, (samples, labels, weights) in enumerate(seen):
        expected_labels, expected, step_weights = algorithm(F)
        counted = expected > 1e-14
        assert_array_equal(samples, X[counted])
        assert_array_equal(labels, expected_labels[counted])
        assert_allclose(weights, expected[counted] / expected[counted].mean(), rtol=1e-8)
        f = (X[:, n % 2] > 0).astype(float)
        correct, incorrect = step_weights(f)
        if correct > incorrect:
            steps.append(learning_rate * np.log(correct / incorrect) / 2)
            F += steps[-1] * f
    assert_allclose(fitted.estimator_weights_, steps)
    assert_allclose(fitted.predict(X), F, atol=1e-10)
    assert len(fitted.loss_curve_) == 1 + len(steps) == 1 + len(fitted.estimators_)


@pytest.mark.parametrize("rule", ["printed", "xu-li"])
def test_features_and_steps_of_adarank(rule):
    """Algorithm 4 line by line: the first features and their steps on 5 data sets."""
    for seed in range(5):
        random = np.random.RandomState(seed)
        X, y, qid = random.rand(30, 4), random.randint(3, size=30), random.randint(4, size=30)
        queries = [qid == q for q in np.unique(qid) if y[qid == q].any()]

        def performance(scores, y=y, queries=queries):
            return np.array([ndcg_score(y[rows], scores[rows]) for rows in queries])

        ranker = AdaRank(rule=rule, n_estimators=3).fit(X, y, qid=qid)
        p, F = np.full(len(queries), 1 / len(queries)), np.zeros(30)
        for weak, step in zip(ranker.estimators_, ranker.estimator_weights_, strict=True):
            candidates = [sign * column for column in X.T for sign in (1, -1)]
            f = max(candidates, key=lambda f, p=p, E=performance: p @ E(f))
            assert_allclose(weak.predict(X), f)
            eta = p @ performance(f)
            ratio = eta / (1 - eta) if rule == "printed" else (1 + eta) / (1 - eta)
            assert_allclose(step, np.log(ratio) / 2)
            F += step * f
            p = np.exp(-performance(F)) / np.exp(-performance(F)).sum()


@pytest.mark.parametrize("booster", [AssembleClassifier, MCSSBClassifier])
def test_histogram_trees_refuse_sparse_matrices(booster):
    X = np.random.RandomState(0).normal(size=(60, 4))
    model = booster(
        HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1), n_estimators=3
    ).fit(X, np.sign(X[:, 0]).clip(0))
    for method in ("predict", "decision_function", "predict_proba", "staged_predict"):
        with pytest.raises(TypeError, match="Sparse data was passed"):
            getattr(model, method)(csr_array(X))


def test_the_default_weak_learner_of_ndcg_boost():
    """Algorithm 5 with the public tree, fitted to Equations 3.14 to 3.17 in loops."""
    kept = QID != 2
    fitted = NDCGBoost(n_estimators=6).fit(X[kept], Y[kept], qid=QID[kept])
    assert len(fitted.estimators_) == 6
    F = np.zeros(40)
    for scores in fitted.staged_predict(X):
        labels, weights, step_weights = ndcg_boost(F)
        assert (weights[kept] > 1e-9).all()
        tree = HistogramTreeClassifier(max_leaf_nodes=8, min_samples_leaf=5)
        f = tree.fit(X[kept], labels[kept], weights[kept]).predict(X).astype(float)
        correct, incorrect = step_weights(f)
        F += np.log(correct / incorrect) / 2 * f
        assert_allclose(scores, F, atol=1e-9)

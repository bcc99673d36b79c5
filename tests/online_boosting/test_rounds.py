"""Rounds against a slow implementation of Algorithms 1 to 3 of Jung & Tewari (2018)."""

from threading import Thread

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from recording_learners import Recorder, check_calls, make_rows
from scipy.sparse import csr_array
from sklrank.online_boosting._adapter import EstimatorLearner
from sklrank.online_boosting._costs import LogisticCosts, PotentialCosts
from sklrank.online_boosting._pair_feedback import FullInformation
from sklrank.online_boosting._rounds import RoundCounter, Rounds

from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR, OnlineBMR


class Stubborn(Recorder):
    """A weak learner of single labels, without predict_proba."""

    predict_proba = property()

    def predict(self, X):
        return self.classes_[[np.argmax(Recorder.predict_proba(self, X)[0])]]


def slow_rounds(X, Y, tilts, cost_of, learns_weights, hedge, one_hot=False, weight=None):
    """Return the learners' calls, alpha, log weights of experts, and scores of all experts."""
    n_learners, m = len(tilts), Y.shape[1]
    totals = [None] * n_learners
    alpha = np.full(n_learners, 0.0 if learns_weights else 1.0)
    log_v = np.zeros(n_learners)
    calls = [[] for _ in tilts]
    experts = []
    weight = np.ones(len(X)) if weight is None else weight
    t = 0
    for x, y, w in zip(X, Y, weight):
        h = np.full((n_learners, m), 1 / m)
        for i, tilt in enumerate(tilts):
            if totals[i] is not None:
                votes = totals[i] * np.exp(tilt * np.cos(np.arange(m) * x[0]))
                h[i] = votes / votes.sum()
            if one_hot:
                h[i] = np.eye(m)[np.argmax(h[i])]
        s = np.vstack([np.zeros(m), np.cumsum(alpha[:, None] * h, axis=0)])
        experts.append(s[1:])
        t += w > 0
        relevant, irrelevant = np.flatnonzero(y), np.flatnonzero(1 - y)
        if w == 0 or not len(relevant) or not len(irrelevant):
            continue
        for i in range(n_learners):
            c = w * cost_of(i, s[i], relevant, irrelevant)
            weights = c.max() - c[relevant]
            calls[i].append((x, relevant, weights))
            totals[i] = np.ones(m) if totals[i] is None else totals[i]
            np.add.at(totals[i], relevant, weights)
        for i in range(n_learners):
            if learns_weights:
                # The costs sum to 0; a uniform vote must not move alpha by a rounding error.
                votes = h[i] - h[i, 0]
                slope = w * cost_of(i, s[i + 1], relevant, irrelevant) @ votes
                alpha[i] = np.clip(alpha[i] - slope / np.sqrt(t), -2, 2)
            if hedge:
                log_v[i] -= w * rank_loss(y[None], s[i + 1][None])
    return calls, alpha, log_v, np.array(experts)


def slow_logistic(i, s, relevant, irrelevant):
    c = np.zeros(len(s))
    for a in relevant:
        for b in irrelevant:
            slope = 1 / (1 + np.exp(s[a] - s[b])) / (len(relevant) * len(irrelevant))
            c[a] -= slope
            c[b] += slope
    return c


def slow_potential(n_learners, edge, loss):
    """Return the potential of Eq. 1 by recursion over all votes."""

    def phi(n, s, relevant, irrelevant):
        if n == 0:
            gaps = s[irrelevant][None] - s[relevant][:, None]
            if loss == "hinge":
                return np.maximum(1 + gaps, 0).mean()
            return ((gaps > 0) + 0.5 * (gaps == 0)).mean()
        gamma = min(edge, 1 / len(relevant))
        u = np.full(len(s), (1 - len(relevant) * gamma) / len(s))
        u[relevant] += gamma
        step = np.eye(len(s))
        return sum(
            u[l] * phi(n - 1, s + step[l], relevant, irrelevant) for l in range(len(s)) if u[l]
        )

    def cost_of(i, s, relevant, irrelevant):
        n, step = n_learners - 1 - i, np.eye(len(s))
        return np.array([phi(n, s + step[l], relevant, irrelevant) for l in range(len(s))])

    return cost_of


def test_ada_olmr_is_algorithm_3():
    """Calls, alpha and Hedge's weights; nothing is learned if no or all labels are relevant."""
    X, Y = make_rows()
    tilts = [0.5, -0.5, 1.0]
    model = AdaOLMR([Recorder(t) for t in tilts], n_estimators=3, random_state=0)
    scores = model.progressive_fit(X, Y)
    calls, alpha, log_v, experts = slow_rounds(X, Y, tilts, slow_logistic, True, True)
    check_calls(model, calls)
    assert len(calls[0]) == len(Y) - np.isin(Y.sum(axis=1), (0, Y.shape[1])).sum()
    assert_allclose(model.estimator_weights_, alpha, atol=1e-10)
    expected = np.exp(log_v) / np.exp(log_v).sum()
    assert_allclose(model.expert_weights_, expected, atol=1e-10)
    assert model.n_rounds_ == len(Y)
    # Each sample was scored by one of the experts before it was learned.
    assert_allclose(np.abs(experts - scores[:, None]).max(axis=2).min(axis=1), 0, atol=1e-10)


@pytest.mark.parametrize("n_labels", range(3, 9))
def test_untrained_learners_keep_the_weight_zero(n_labels):
    """Uniform votes rank no label: alpha stays 0, and each expert loses 1/2 in the next round."""
    for n_relevant in range(1, n_labels):
        Y = np.tile(np.arange(n_labels) < n_relevant, (2, 1)).astype(int)
        model = AdaOLMR([Recorder(0.0)] * 2, n_estimators=2, random_state=0)
        model.partial_fit(np.ones((1, 2)), Y[:1], classes=np.arange(n_labels))
        assert_array_equal(model.estimator_weights_, 0)
        assert_array_equal(model.decision_function(np.ones((1, 2))), 0)


@pytest.mark.parametrize("loss", ["hinge", "rank"])
@pytest.mark.parametrize("edge", [0.1, 0.6])
def test_online_bmr_is_algorithm_2(loss, edge):
    """The rank loss has votes for single labels; an edge above 1 / |Y| is reduced to that."""
    X, Y = make_rows(25)
    tilts = [0.5, -0.5, 1.0]
    model = OnlineBMR(
        [Recorder(t) for t in tilts], n_estimators=3, edge=edge, loss=loss, random_state=0
    )
    scores = model.progressive_fit(X, Y)
    calls, alpha, _, experts = slow_rounds(
        X, Y, tilts, slow_potential(3, edge, loss), False, False, one_hot=loss == "rank"
    )
    check_calls(model, calls)
    assert_allclose(scores, experts[:, -1], atol=1e-10)
    assert_array_equal(model.estimator_weights_, alpha)
    assert_array_equal(model.expert_weights_, [0, 0, 1])


def test_learners_without_predict_proba_vote_for_one_label():
    """The vote is for the predicted label."""
    X, Y = make_rows(30)
    model = OnlineBMR([Stubborn()], n_estimators=2, random_state=0).fit(X, Y)
    votes = model.decision_function(X)
    assert_array_equal(votes, np.round(votes))
    expected = [
        sum(np.eye(4)[learner.predict(x[None])[0]] for learner in model.estimators_) for x in X
    ]
    assert_array_equal(votes, expected)


@pytest.mark.parametrize("votes", [np.ones((1, 3)), np.ones(4), np.ones((4, 1, 2)), 0.5])
def test_votes_of_another_shape_are_refused(votes):
    weak = Recorder()
    weak.predict_proba = lambda X: votes
    with pytest.raises(ValueError, match=r"predict_proba of .* has the shape .*, not \(1, 4\)"):
        EstimatorLearner(weak, 2, 4, is_fitted=True).predict_votes(np.zeros((1, 2)))


class LabelSets(Recorder):
    """A weak learner of label sets: of the labels with at least their mean weight, or of none."""

    predict_proba = property()

    def __init__(self, tilt=1.0, container=np.asarray):
        super().__init__(tilt)
        self.container = container

    def predict(self, X):
        votes = Recorder.predict_proba(self, X)
        return self.container((votes >= max(votes.mean(), X[0, 1])).astype(int))


@pytest.mark.parametrize("container", [np.asarray, np.ndarray.tolist, csr_array])
@pytest.mark.parametrize("booster", [OnlineBMR, AdaOLMR])
def test_a_label_set_divides_the_vote_equally(booster, container):
    """Section 2.1 of Jung & Tewari: 1/n for each of n labels; uniform votes for the empty set."""
    X, Y = make_rows(30)
    X[:, 1] /= 4
    X[::5, 1] = 2.0
    template = LabelSets(container=container)
    model = booster([template], n_estimators=3, random_state=0).fit(X, Y)
    sizes = set()
    for x in X:
        expected = np.zeros(4)
        chosen = np.argmax(model.expert_weights_)
        for learner, alpha in zip(model.estimators_[: chosen + 1], model.estimator_weights_):
            votes = Recorder.predict_proba(learner, x[None])[0]
            labels = [label for label in range(4) if votes[label] >= max(votes.mean(), x[1])]
            sizes.add(len(labels))
            for label in labels or range(4):
                expected[label] += alpha / len(labels or range(4))
        assert_allclose(model.decision_function(x[None])[0], expected, atol=1e-12)
    assert {0, 1, 2} <= sizes


@pytest.mark.parametrize("predicted", [[2], [2.0], np.array([2], dtype=object), [np.int8(2)]])
def test_a_label_is_a_vote_for_it(predicted):
    weak = Stubborn()
    weak.predict = lambda X: predicted
    votes = EstimatorLearner(weak, 2, 4, is_fitted=True).predict_votes(np.zeros((1, 2)))
    assert_array_equal(votes, [0, 0, 1, 0])


@pytest.mark.parametrize(
    "predicted",
    [
        [4],
        [-1],
        [1.5],
        [np.nan],
        ["2"],
        [None],
        [{0, 2}],
        [[2]],
        [[0, 2]],
        [[0, 2], [1]],
        [[0, 1, 0, 2]],
        [[0, 0.5, 0.5, 0]],
        [[0, 1, np.nan, 0]],
        [["0", "1", "0", "0"]],
        [[0, 1, 0, 0, 0]],
        [0, 1, 0, 0],
        [[0, 1, 0, 0]] * 2,
        2,
        [],
        pytest.param(csr_array([[0, 2, 0, 0]]), id="sparse"),
    ],
    ids=repr,
)
def test_predictions_of_another_form_are_refused(predicted):
    """At the first sample that is predicted, in an error that names the weak learner."""
    weak = Stubborn(tilt=0.25)
    weak.predict = lambda X: predicted
    with pytest.raises(ValueError, match=r"predict of Stubborn\(tilt=0.25\) returned .*0 to 3"):
        EstimatorLearner(weak, 2, 4, is_fitted=True).predict_votes(np.zeros((1, 2)))


class Positions(Stubborn):
    """A weak learner that predicts positions of labels, which are no votes."""

    def predict(self, X):
        return Recorder.predict_proba(self, X).argsort(axis=1) + 1


@pytest.mark.parametrize("method", ["fit", "partial_fit", "progressive_fit"])
def test_boosters_refuse_predictions_of_another_form(method, fingerprint):
    """They refuse the first sample that follows the first learned one, and stay as they were."""
    X, Y = make_rows(30)
    Y[0] = [1, 0, 1, 0]
    model = AdaOLMR([Positions()], n_estimators=2, random_state=0)
    with pytest.raises(ValueError, match=r"predict of Positions\(\) returned .*\[\["):
        getattr(model, method)(X, Y)
    assert not hasattr(model, "classes_")
    model.partial_fit(X[:1], Y[:1])
    before = fingerprint(model.estimator_weights_), model.n_rounds_
    with pytest.raises(ValueError, match=r"predict of Positions\(\) returned"):
        model.predict_topk(X, 2)
    with pytest.raises(ValueError, match=r"predict of Positions\(\) returned"):
        model.partial_fit(X[1:], Y[1:])
    assert (fingerprint(model.estimator_weights_), model.n_rounds_) == before


def test_sample_weights_multiply_the_pairs():
    """Sample weights multiply costs, steps and losses; weight zero is not a round."""
    X, Y = make_rows(30)
    weight = np.random.RandomState(1).choice([0.0, 0.5, 2.0], 30)
    tilts = [0.5, -0.5]
    model = AdaOLMR([Recorder(t) for t in tilts], n_estimators=2, random_state=0, shuffle=False)
    model.fit(X, Y, sample_weight=weight)
    calls, alpha, log_v, _ = slow_rounds(X, Y, tilts, slow_logistic, True, True, weight=weight)
    check_calls(model, calls)
    assert model.n_rounds_ == np.count_nonzero(weight)
    assert_allclose(model.estimator_weights_, alpha, atol=1e-10)
    assert_allclose(model.expert_weights_, np.exp(log_v) / np.exp(log_v).sum(), atol=1e-10)


def test_experts_are_drawn_by_their_weights():
    """Line 6 of Algorithm 3, by inversion of the distribution function."""
    log_weights = np.log([0.2, 0.0001, 0.5, 0.2999])
    draws = {0.0: 0, 0.1999: 0, 0.20005: 1, 0.3: 2, 0.7: 2, 0.71: 3, 1 - 1e-12: 3}
    for draw, expert in draws.items():
        m, n = 3, 4
        learners = [EstimatorLearner(Recorder(), 1, m) for _ in range(n)]
        rounds = Rounds(learners, [np.array([0])] * n, LogisticCosts(m, n), RoundCounter())
        out = np.empty((1, m))
        alpha = np.array([1.0, 2.0, 4.0, 8.0])
        rounds.play(
            np.zeros((1, 1)),
            FullInformation(np.array([0, 0]), np.array([], dtype=np.intp), m),
            np.ones(1),
            alpha,
            log_weights + 700.0,
            np.array([draw]),
            out,
            np.zeros((2, n)),
            np.empty((1, m)),
            lambda n_samples: None,
        )
        assert_allclose(out[0], np.cumsum(alpha)[expert] / m)


def test_hedge_does_not_underflow():
    """The weights sum to one if losses are very large."""
    model = AdaOLMR("trees", n_estimators=3, random_state=0).fit(*make_rows())
    model._log_expert_weights -= 1e6
    model._log_expert_weights[1] += 5e5
    assert_array_equal(model.expert_weights_, [0, 1, 0])
    assert np.isfinite(model.progressive_fit(*make_rows())).all()


class Broken(Recorder):
    """A weak learner that fails in its fifth call."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        super().partial_fit(X, y, classes, sample_weight)
        if len(self.calls_) == 5:
            raise RuntimeError("five is enough")
        return self


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("place", [0, 2])
def test_errors_of_learners_come_through(n_jobs, place):
    """In whichever thread they occur; all threads end."""
    learners = [Recorder(), Recorder(), Recorder()]
    learners[place] = Broken()
    model = AdaOLMR(learners, n_estimators=3, n_jobs=n_jobs, random_state=0)
    X, Y = make_rows()
    learned = np.flatnonzero(~np.isin(Y.sum(axis=1), (0, Y.shape[1])))
    for call in (model.fit, model.partial_fit, model.progressive_fit):
        with pytest.raises(RuntimeError, match="five is enough"):
            call(X, Y)
        # A first call that fails leaves no model.
        assert not hasattr(model, "classes_")
    first, rest = np.split(np.arange(len(X)), [learned[2] + 1])
    model.partial_fit(X[first], Y[first])
    with pytest.raises(RuntimeError, match="five is enough"):
        model.partial_fit(X[rest], Y[rest])
    assert len(model.estimators_[place].calls_) == 5
    # The round that failed is counted, and the other learners keep their updates.
    assert model.n_rounds_ == learned[4] + 1
    estimators = model.estimators_
    with pytest.raises(RuntimeError, match="five is enough"):
        model.fit(X, Y)
    assert model.estimators_ is estimators
    assert model.n_rounds_ == learned[4] + 1


@pytest.mark.parametrize("last", [1, 2])
def test_threads_that_cannot_start_do_not_hang(monkeypatch, last):
    """The threads that did start end."""
    start, started = Thread.start, []

    def fail(thread):
        if len(started) == last:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(Thread, "start", fail)
    with pytest.raises(RuntimeError, match="can't start"):
        AdaOLMR([Recorder()], n_estimators=4, n_jobs=4, random_state=0).fit(*make_rows())
    assert len(started) == last
    assert not any(thread.is_alive() for thread in started)


def test_rounds_refuse_what_would_lead_out_of_bounds():
    """Indices are checked before the compiled loop starts."""
    m, n = 3, 2
    rule = PotentialCosts(m, n, 0.1, "hinge")
    learners = [EstimatorLearner(Recorder(), 1, m) for _ in range(n)]
    columns = [np.array([1])] * n

    def play(rounds, X, indptr, labels, weights=None, alpha=None):
        rounds.play(
            X,
            FullInformation(np.array(indptr), np.array(labels, dtype=np.intp), m),
            np.ones(len(X)) if weights is None else weights,
            np.ones(n) if alpha is None else alpha,
            None,
            None,
            None,
            np.zeros((2, n)),
            np.empty((len(X), m)),
            lambda n_samples: None,
        )

    rounds = Rounds(learners, columns, rule, RoundCounter())
    X = np.zeros((2, 2))
    play(rounds, X, [0, 1, 2], [0, 2])
    for bad in (
        (np.zeros((2, 1)), [0, 1, 2], [0, 2]),
        (X, [0, 1, 2], [0, 3]),
        (X, [0, 1, 2], [-1, 0]),
        (X, [0, 3, 2], [0, 1]),
        (X, [0, 1], [0]),
        (X, [0, 1, 2], [0, 2], np.ones(1)),
        (X, [0, 1, 2], [0, 2], np.ones(2), np.ones(1)),
    ):
        with pytest.raises(ValueError):
            play(rounds, *bad)
    with pytest.raises(ValueError):
        rounds.predict(X, np.ones(n), n + 1)
    for bad in (
        (learners[:1], columns, rule),
        (learners, columns, PotentialCosts(m + 1, n, 0.1, "hinge")),
        (learners, [np.array([0, 1])] * n, rule),
        (learners, [np.array([-1])] * n, rule),
    ):
        with pytest.raises(ValueError):
            Rounds(*bad, RoundCounter())
    with pytest.raises(TypeError):
        Rounds([Recorder(), Recorder()], columns, rule, RoundCounter())

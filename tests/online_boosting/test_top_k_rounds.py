"""Rounds with top-k feedback against a slow implementation of Raman et al. (2020)."""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from recording_learners import Recorder, check_calls, make_rows
from sklearn.base import clone
from sklrank.online_boosting._costs import LogisticCosts

from sklrank.feedback import Exploration, explore
from sklrank.feedback._protocol import LIST_RANDOMIZATIONS, make_sampler
from sklrank.linear_model import OnlineRidgeClassifier
from sklrank.online_boosting import AdaOLMR, TopKAdaptive, TopKBBM
from sklrank.tree import HoeffdingTreeClassifier

EXACT = {"cost_estimate": "pairs", "propensity_clip": 0}


# -- The rules of the paper, for each pair.


def slow_potential(n, scores, a, b, m, edge):
    """Return phi_{u_a}^n of the hinge loss of a pair, by recursion over all votes."""
    if n == 0:
        return max(0.0, 1 + scores[b] - scores[a])
    u = np.full(m, (1 - edge) / m)
    u[a] += edge
    step = np.eye(m)
    return sum(u[l] * slow_potential(n - 1, scores + step[l], a, b, m, edge) for l in range(m))


def potential_costs(n_learners, edge):
    """Return the function of Eq. 3 for one pair."""

    def of_pair(i, scores, a, b):
        m, n = len(scores), n_learners - 1 - i
        step = np.eye(m)
        return np.array(
            [slow_potential(n, scores + step[l], a, b, m, edge) for l in range(m)], dtype=float
        )

    return of_pair


def logistic_costs(i, scores, a, b):
    """Return the gradient of log(1 + exp(s[b] - s[a]))."""
    c = np.zeros(len(scores))
    c[b] = 1 / (1 + np.exp(scores[a] - scores[b]))
    c[a] = -c[b]
    return c


def estimate(of_pair, i, scores, shown, propensities, rewards):
    """Return Eq. 1: the sum over the pairs shown, each divided by its propensity."""
    total = 0.0
    for (p, a), (q, b) in product(enumerate(shown), repeat=2):
        if rewards[p] and not rewards[q]:
            total = total + of_pair(i, scores, a, b) / propensities[p, q]
    return total


def wrong(i, scores, a, b):
    """Return the unweighted rank loss of a pair; a tie has the loss 1."""
    return float(scores[b] >= scores[a])


def slow_rounds(X, record, rewards, tilts, m, of_pair, rate=None, clip=np.inf, start=1.0):
    """Return the learners' calls, alpha, and log weights of experts of Algorithms 1 to 3."""
    totals = [None] * len(tilts)
    alpha = np.full(len(tilts), start)
    log_v, calls = np.zeros(len(tilts)), [[] for _ in tilts]
    for t, x in enumerate(X):
        shown = record.actions[t], record.propensities[t], rewards[t]
        h = np.full((len(tilts), m), 1 / m)
        for i, tilt in enumerate(tilts):
            if totals[i] is not None:
                votes = totals[i] * np.exp(tilt * np.cos(np.arange(m) * x[0]))
                h[i] = votes / votes.sum()
        s = np.vstack([np.zeros(m), np.cumsum(alpha[:, None] * h, axis=0)])
        if not 0 < rewards[t].sum() < len(rewards[t]):
            continue
        for i in range(len(tilts)):
            c = estimate(of_pair, i, s[i], *shown)
            relevant = [a for a, r in zip(shown[0], rewards[t]) if r]
            calls[i].append((x, relevant, c.max() - c[relevant]))
            totals[i] = np.ones(m) if totals[i] is None else totals[i]
            np.add.at(totals[i], relevant, c.max() - c[relevant])
            if rate is not None:
                slope = np.clip(estimate(of_pair, i, s[i + 1], *shown) @ h[i], -clip, clip)
                alpha[i] = np.clip(alpha[i] - rate / np.sqrt(t + 1) * slope, -2, 2)
                log_v[i] -= estimate(wrong, i, s[i + 1], *shown)
    return calls, alpha, log_v


def shown_and_clicked(Y, k, scheme="uniform", rho=0.5):
    record = explore(np.random.RandomState(0).normal(size=Y.shape), k, scheme, rho, random_state=0)
    return record, np.take_along_axis(Y, record.actions, axis=1)


@pytest.mark.parametrize("scheme", sorted(LIST_RANDOMIZATIONS))
@pytest.mark.parametrize("k", [2, 3])
def test_top_k_bbm_is_algorithm_2(scheme, k):
    X, Y = make_rows(30)
    record, rewards = shown_and_clicked(Y, k, scheme)
    tilts = [0.5, -0.5, 1.0]
    model = TopKBBM([Recorder(t) for t in tilts], n_estimators=3, edge=0.3, random_state=0, **EXACT)
    model.partial_fit_feedback(X, record, rewards, classes=range(4))
    calls, alpha, _ = slow_rounds(X, record, rewards, tilts, 4, potential_costs(3, 0.3))
    check_calls(model, calls)
    assert_array_equal(model.estimator_weights_, alpha)
    assert_array_equal(model.expert_weights_, [0, 0, 1])


@pytest.mark.parametrize("rate, clip", [("theory", None), (0.3, None), (0.3, 1.0)])
def test_top_k_adaptive_is_algorithm_3(rate, clip):
    """With the step of line 13 or another one, and with gradients clipped at 1 (Appendix C.2)."""
    X, Y = make_rows(60)
    record, rewards = shown_and_clicked(Y, 3, rho=0.4)
    tilts = [0.5, -0.5, 1.0]
    model = TopKAdaptive(
        [Recorder(t) for t in tilts],
        n_estimators=3,
        exploration=0.4,
        learning_rate=rate,
        gradient_clip=clip,
        random_state=0,
        **EXACT,
    )
    model.partial_fit_feedback(X, record, rewards, classes=range(4))
    calls, alpha, log_v = slow_rounds(
        X,
        record,
        rewards,
        tilts,
        4,
        logistic_costs,
        8 * 0.4 * np.sqrt(2) / 4**2 if rate == "theory" else rate,
        np.inf if clip is None else clip,
        0.0,
    )
    check_calls(model, calls)
    assert_allclose(model.estimator_weights_, alpha, atol=1e-10)
    assert_allclose(model._log_expert_weights, log_v, atol=1e-9)
    assert model.n_rounds_ == len(X)


def test_propensities_are_clipped_at_the_bounds():
    """For the weights, not in the record (Appendix C.2)."""
    X, Y = make_rows(30)
    record, rewards = shown_and_clicked(Y, 2, rho=0.2)
    cut = Exploration(record.actions, np.clip(record.propensities, 0.3, 0.7))
    assert not np.array_equal(cut.propensities, record.propensities)
    of = TopKBBM([Recorder()], n_estimators=2, cost_estimate="pairs", random_state=0)
    model = clone(of).set_params(propensity_clip=0.3)
    model.partial_fit_feedback(X, record, rewards, classes=range(4))
    expected = of.set_params(**EXACT).partial_fit_feedback(X, cut, rewards, classes=range(4))
    for a, b in zip(model.estimators_, expected.estimators_):
        for (_, labels, weights), (_, same_labels, same_weights) in zip(a.calls_, b.calls_):
            assert_array_equal(labels, same_labels)
            assert_allclose(weights, same_weights, rtol=1e-12)


# -- Estimates are unbiased.


def state(model):
    """Return the state that changes linearly in the costs, gradients and losses of a round."""
    return (
        *(estimator._learner.weight_table for estimator in model.estimators_),
        model.estimator_weights_,
        np.zeros(1) if model._log_expert_weights is None else model._log_expert_weights,
    )


@pytest.mark.parametrize("scheme", sorted(LIST_RANDOMIZATIONS))
@pytest.mark.parametrize(
    "m, k, rho",
    [
        (3, 2, 0.4),
        (4, 2, 0.05),
        pytest.param(4, 3, 1.0, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("adaptive", [True, False])
def test_estimates_are_unbiased(scheme, m, k, rho, adaptive, law):
    """The mean change of the model, over all outcomes of a round, is that of full information.

    A ridge regression moves its weights in proportion to the costs, the booster its alpha to the
    slope, and Hedge its logarithms to the loss: their means show those of the estimates.
    """
    X, Y = make_rows(25, m)
    ridge = OnlineRidgeClassifier(alpha=2.0)
    if adaptive:
        model = TopKAdaptive(ridge, n_estimators=3, k=k, learning_rate=0.01, gradient_clip=None)
    else:
        model = TopKBBM(ridge, n_estimators=3, k=k, edge=0.2)
    model.set_params(exploration=rho, random_state=0, max_features=None, **EXACT)
    # Fit first, so that weights and votes are not trivial.
    model.fit(X, Y)
    sampler = make_sampler(scheme, m, k, rho)
    everything = Exploration([np.arange(m)], np.ones((1, m, m)))
    moved = set()
    for row in np.flatnonzero(Y.any(axis=1) & ~Y.all(axis=1))[2:4]:
        x, y = X[row : row + 1], Y[row]
        scores = model.decision_function(x)
        both = sampler.propensities(scores)[0]
        means = [np.zeros_like(part) for part in state(model)]
        for shown, probability in law(scheme, scores[0], k, rho).items():
            record = Exploration([shown], both[np.ix_(shown, shown)][None])
            after = deepcopy(model).partial_fit_feedback(x, record, y[list(shown)][None])
            for mean, part in zip(means, state(after)):
                mean += probability * part
        full = deepcopy(model).partial_fit_feedback(x, everything, y[None])
        for i, (mean, part, before) in enumerate(zip(means, state(full), state(model))):
            assert_allclose(mean, part, atol=1e-10, rtol=0)
            moved |= {i} if np.abs(part - before).max() > 1e-6 else set()
    # The weights of the three learners, alpha and the log weights of experts have all changed.
    assert moved == (set(range(5)) if adaptive else set(range(3)))


# -- All labels shown: full information.


class HalfTies(TopKAdaptive):
    """Hedge counts half of a tie, as that of Jung & Tewari."""

    def _make_cost_rule(self, n_labels, n_learners):
        return LogisticCosts(n_labels, n_learners, self.learning_rate, tie_loss=0.5)


@pytest.mark.parametrize("randomization", sorted(LIST_RANDOMIZATIONS))
@pytest.mark.parametrize(
    "weak", [OnlineRidgeClassifier(), HoeffdingTreeClassifier(grace_period=5, delta=0.5, tau=0.5)]
)
def test_with_all_labels_shown_top_k_adaptive_is_ada_olmr(weak, randomization):
    """With equal steps; the weights |Y| |Y^c| undo the normalization of Ada.OLMR's losses."""
    X, Y = make_rows(100, 5)
    n_pairs = Y.sum(axis=1) * (1 - Y).sum(axis=1)
    full = AdaOLMR(weak, n_estimators=4, max_features=None, random_state=0)
    full.fit(X, Y, sample_weight=np.maximum(n_pairs, 1))
    shown = HalfTies(
        weak,
        n_estimators=4,
        max_features=None,
        k=5,
        randomization=randomization,
        learning_rate=1.0,
        gradient_clip=None,
        random_state=0,
        **EXACT,
    ).fit(X, Y)
    assert_allclose(shown.estimator_weights_, full.estimator_weights_, atol=1e-12, rtol=1e-12)
    assert_allclose(shown._log_expert_weights, full._log_expert_weights, rtol=1e-12)
    assert_allclose(shown.decision_function(X), full.decision_function(X), atol=1e-12)


def test_with_all_labels_shown_the_costs_are_those_of_full_information():
    """A ridge regression shows the costs of Top-k BBM: unnormalized potentials with |Y| = 1."""
    m = 4
    X, Y = np.zeros((1, 3)), np.array([[0, 1, 1, 0]])
    model = TopKBBM(OnlineRidgeClassifier(), n_estimators=3, k=m, edge=0.2, random_state=0)
    model.set_params(**EXACT).fit(X, Y)
    of_pair, scores = potential_costs(3, 0.2), np.zeros(m)
    for i, estimator in enumerate(model.estimators_):
        costs = sum(of_pair(i, scores, a, b) for a in (1, 2) for b in (0, 3))
        # One sample, with a penalty that weighs as one sample: half of the target.
        target = costs.mean() - costs
        assert_allclose(estimator._learner.weight_table[-1], target / 2, atol=1e-12)
        scores = scores + 1 / m

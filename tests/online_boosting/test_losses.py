"""Losses of pairs, weights of pairs and empirical edges, against slow statements of them."""

import pickle
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from recording_learners import make_rows
from sklearn.base import BaseEstimator, ClassifierMixin
from sklrank.online_boosting._costs import (
    LogisticCosts,
    PotentialCosts,
    TabulatedGradients,
    gradient_costs,
)

from sklrank.feedback import Exploration
from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM
from sklrank.online_boosting._losses import loss_pieces

LOSSES = {
    "hinge": lambda z: np.maximum(1 + z, 0.0),
    "squared hinge": lambda z: np.maximum(1 + z, 0.0) ** 2,
    "logistic": lambda z: np.logaddexp(0.0, z),
    "exponential": np.exp,
    "rank": lambda z: (z > 0) + 0.5 * (z == 0),
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "quarters": lambda z: np.maximum(z + 0.25, 0.0) + np.maximum(z - 1.5, 0.0),
}
CONVEX = {"hinge", "squared hinge", "logistic", "exponential", "quarters"}


def baseline(m, relevant, edge):
    """Return u_gamma^Y; the edge is at most 1 / |Y|, so that it is a distribution."""
    edge = min(edge, 1 / len(relevant))
    a = (1 - len(relevant) * edge) / m
    return np.array([a + edge * (label in relevant) for label in range(m)])


def potential(loss, scores, relevant, irrelevant, weights, edge, n):
    """Return phi_n of Eq. 1: the mean loss over all n-tuples of labels."""
    u = baseline(len(scores), relevant, edge)
    total = 0.0
    for draws in product(range(len(scores)), repeat=n):
        reached = np.array(scores)
        for label in draws:
            reached[label] += 1
        gaps = reached[irrelevant][None] - reached[relevant][:, None]
        total += np.prod(u[list(draws)]) * (weights * loss(gaps)).sum()
    return total


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("edge", [0.02, 0.4])
def test_tabulated_potentials_are_exact(name, edge):
    """To 1e-9, over all tuples of votes."""
    loss, random, n_learners = LOSSES[name], np.random.RandomState(0), 4
    m = 4
    rule = PotentialCosts(m, n_learners, edge, loss)
    assert rule.single_label == (name not in CONVEX)
    for i in range(n_learners):
        for relevant, irrelevant in [([1], [0, 2, 3]), ([0, 3], [1, 2]), ([0, 1, 2], [3])]:
            # Votes of the i learners before: distributions, or single labels.
            votes = random.dirichlet(np.full(m, 0.3), size=i)
            scores = (np.round(votes) if rule.single_label else votes).sum(axis=0)
            weights = random.uniform(0, 2, (len(relevant), len(irrelevant)))
            costs = rule.evaluate(i, scores, relevant, irrelevant, weights)[0]
            for label in range(m):
                expected = potential(
                    loss,
                    scores + np.eye(m)[label],
                    relevant,
                    irrelevant,
                    weights,
                    edge,
                    n_learners - 1 - i,
                )
                assert_allclose(costs[label], expected, rtol=1e-9, atol=1e-9)


def sum_over_law(loss, z, n, up, down):
    """Return E loss(z + D_n), by the law of the walk after n steps."""
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, [down, 1 - up - down, up])
    return law @ loss(z + np.arange(-n, n + 1))


@pytest.mark.parametrize("name", sorted(CONVEX))
@pytest.mark.parametrize("n_learners", [1, 40, 150])
def test_tabulated_potentials_of_many_learners(name, n_learners):
    """Each entry against the sum over the law of the walk, at scores of the whole range."""
    m, edge, random = 6, 0.1, np.random.RandomState(1)
    loss = LOSSES[name]
    rule = PotentialCosts(m, n_learners, edge, loss)
    stay = (1 - edge) / m
    for i in {0, n_learners // 2, n_learners - 1}:
        for z in [*random.uniform(-i, i, 8), i, -i, 0, 0.25 * (i > 0)]:
            scores = np.array([0.0, z, 0, 0, 0, 0])
            costs = rule.evaluate(i, scores, [0], [1], [[1.0]])[0]
            n = n_learners - 1 - i
            now, up, down = (
                sum_over_law(loss, z + step, n, stay, stay + edge) for step in (0, 1, -1)
            )
            assert_allclose(costs, [down, up, now, now, now, now], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda z: -z, "not decrease"),
        (lambda z: z * np.nan, "finite numbers"),
        (lambda z: np.exp(1e3 * z), "finite numbers"),
        (lambda z: 1.0, "of the same shape"),
        (lambda z: np.maximum(z - 1 / 3, 0), "has a kink"),
    ],
)
@pytest.mark.parametrize("make", [OnlineBMR, TopKBBM])
@pytest.mark.filterwarnings("ignore:overflow")
def test_bad_losses_are_refused(make, loss, message, fingerprint):
    X, Y = make_rows(m=5)
    model = make("trees", n_estimators=4, random_state=0).fit(X, Y)
    before = fingerprint(model)
    for method in (model.fit, make("trees", n_estimators=4, loss=loss).partial_fit):
        model.set_params(loss=loss)
        with pytest.raises(ValueError, match=f"^loss must.*{message}"):
            method(X, Y)
        assert fingerprint(model.set_params(loss="hinge")) == before
    with pytest.raises(ValueError, match="'loss'"):
        make(loss="zero-one").fit(X, Y)


def test_pieces_cover_the_range():
    """Constants at integers, lines if the kinks are integers, or else polynomials."""
    pieces, per_unit = loss_pieces(LOSSES["rank"], 3, or_integers=True)
    assert per_unit == 1
    assert_array_equal(pieces, np.transpose([[0, 0, 0, 0.5, 1, 1, 1]]))
    pieces, per_unit = loss_pieces(LOSSES["hinge"], 2)
    assert per_unit == 1
    assert_allclose(pieces, [[0, 0], [0, 1], [1, 1], [2, 1], [3, 1]], atol=1e-15)
    pieces, per_unit = loss_pieces(LOSSES["logistic"], 3)
    for z in np.linspace(-3, 3, 100):
        row = int(np.floor((z + 3) * per_unit))
        t = (z + 3) * per_unit - row
        assert_allclose(np.polyval(pieces[row][::-1], t), np.log1p(np.exp(z)), rtol=0, atol=1e-10)


def test_tabulated_rules_pickle():
    """The tables are saved, not the function."""
    rule = PotentialCosts(4, 3, 0.1, lambda z: np.exp(z))
    arguments = (1, [0.0, 0.1, 0.2, 0.3], [1], [0, 3], [[0.5, 0.5]])
    again = pickle.loads(pickle.dumps(rule))
    assert_array_equal(again.evaluate(*arguments)[0], rule.evaluate(*arguments)[0])


# -- Gradients.


@pytest.mark.parametrize("name", sorted(set(LOSSES) - {"rank"}))
def test_gradients_of_any_loss(name):
    """Finite differences of the weighted sum over the pairs; and the loss of an expert."""
    random, loss, n_learners = np.random.RandomState(0), LOSSES[name], 3
    rule = TabulatedGradients(6, n_learners, 1.0, np.inf, 0.5, loss, True)
    assert rule.learns_weights
    relevant, irrelevant = [1, 4], [0, 2, 3, 5]

    def total(scores, weights):
        return (weights * loss(scores[irrelevant][None] - scores[relevant][:, None])).sum()

    for scale in (0.1, 1.0, 3.0):
        scores = np.clip(scale * random.normal(size=6), -2.9, 2.9)
        weights = random.uniform(size=(2, 4))
        costs = rule.evaluate(0, scores, relevant, irrelevant, weights)[0]
        steps = 1e-6 * np.eye(6)
        expected = [(total(scores + e, weights) - total(scores - e, weights)) / 2e-6 for e in steps]
        assert_allclose(costs, expected, rtol=1e-6, atol=1e-7)
        found = rule.evaluate(0, scores, relevant, irrelevant, weights)[1]
        half = 2 * loss(np.zeros(1))[0]
        assert_allclose(found, total(scores, weights) / half, rtol=1e-8, atol=1e-9)


def test_tabulated_gradients_of_the_logistic_loss():
    """Two implementations of the same gradient; names and callables give the same rule."""
    random = np.random.RandomState(0)
    rules = [gradient_costs(5, 4, loss, 1.0, 1.0, 0.5) for loss in ("logistic", LOSSES["logistic"])]
    assert [type(rule) for rule in rules] == [LogisticCosts, TabulatedGradients]
    for _ in range(10):
        scores, weights = random.uniform(-4, 4, 5), random.uniform(size=(2, 3))
        costs = [rule.evaluate(0, scores, [0, 2], [1, 3, 4], weights)[0] for rule in rules]
        assert_allclose(*costs, atol=1e-8)


@pytest.mark.parametrize("loss", ["exponential", "hinge", LOSSES["squared hinge"]])
def test_ada_olmr_with_any_loss(loss):
    """Costs, weights and Hedge of Algorithm 3 with another loss, by its definition."""
    X, Y = make_rows(m=4)
    model = AdaOLMR(LEARNERS, loss=loss, expert_loss="loss", random_state=0, shuffle=False).fit(
        X, Y
    )
    function = LOSSES[loss] if isinstance(loss, str) else loss
    slope = {
        "exponential": np.exp,
        "hinge": lambda z: (z >= -1.0) * 1.0,
    }.get(loss, lambda z: 2 * np.maximum(1 + z, 0))
    alpha, log_v, turn = np.zeros(3), np.zeros(3), 0
    for t, y in enumerate(Y):
        a, b = np.flatnonzero(y), np.flatnonzero(1 - y)
        if not len(a) or not len(b):
            continue
        h = np.array([each.calls_[turn][1] for each in model.estimators_])
        s = np.vstack([np.zeros(4), np.cumsum(alpha[:, None] * h, axis=0)])
        for i, each in enumerate(model.estimators_):
            costs = []
            for scores in (s[i], s[i + 1]):
                slopes = slope(scores[b][None] - scores[a][:, None]) / (len(a) * len(b))
                costs.append(np.zeros(4))
                costs[-1][a], costs[-1][b] = -slopes.sum(axis=1), slopes.sum(axis=0)
            assert_allclose(each.calls_[turn][0], costs[0], atol=1e-7)
            alpha[i] = np.clip(alpha[i] - np.clip(costs[1] @ h[i], -1, 1) / np.sqrt(t + 1), -2, 2)
            gaps = s[i + 1][b][None] - s[i + 1][a][:, None]
            log_v[i] -= function(gaps).mean() / (2 * function(np.zeros(1))[0])
        turn += 1
    assert_allclose(model.estimator_weights_, alpha, atol=1e-6)
    assert_allclose(model._log_expert_weights, log_v, atol=1e-6)


def test_losses_without_a_slope_have_no_gradient():
    X, Y = make_rows(m=5)
    for make in (AdaOLMR, TopKAdaptive):
        with pytest.raises(ValueError, match="loss must have a slope"):
            make(loss=LOSSES["rank"]).fit(X, Y)


# -- Rounds.


class Recorder(ClassifierMixin, BaseEstimator):
    """A learner of costs, which records the costs and its votes. It learns slowly."""

    def __init__(self, tilt=1.0):
        self.tilt = tilt

    def partial_fit_costs(self, X, costs):
        if not hasattr(self, "calls_"):
            self.calls_, self.sums_ = [], np.zeros(costs.shape[1])
            votes = np.full(len(self.sums_), 1 / len(self.sums_))
        else:
            votes = self.predict_proba(X)[0]
        self.calls_.append((costs[0].copy(), votes))
        self.sums_ -= 0.1 * costs[0]
        return self

    def predict_proba(self, X):
        votes = np.exp(self.sums_ + self.tilt * np.cos(np.arange(len(self.sums_)) * X[0, 0]))
        return votes[np.newaxis] / votes.sum()


LEARNERS = [Recorder(tilt) for tilt in (0.5, -0.5, 1.0)]


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (AdaOLMR, {}),
        (AdaOLMR, {"loss": "exponential"}),
        (TopKAdaptive, {"exploration": 0.5, "cost_estimate": "pairs"}),
    ],
    ids=str,
)
def test_empirical_edges_of_gradients(make, parameters):
    """Eq. 10 of Jung & Tewari and Eq. 5 of Raman et al.: - sum c . h / sum w, w = |c|_1 / 2."""
    X, Y = make_rows(m=5)
    model = make(LEARNERS, random_state=0, **parameters).fit(X, Y)
    for learner, edge in zip(model.estimators_, model.empirical_edges_):
        gain = -sum(c @ h for c, h in learner.calls_)
        weight = sum(np.abs(c).sum() / 2 for c, h in learner.calls_)
        assert edge == pytest.approx(gain / weight, abs=1e-12)
    assert np.ptp(model.empirical_edges_) > 1e-3


class Baseline(Recorder):
    """A learner with an edge: its votes are u_gamma^Y, where the sample is the relevance."""

    def predict_proba(self, X):
        return baseline(X.shape[1], np.flatnonzero(X[0]).tolist(), self.tilt)[np.newaxis]


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("make", [OnlineBMR, AdaOLMR])
def test_learners_of_known_edge(make, loss):
    """Their empirical edge is this edge, after a first sample with uniform votes."""
    _, Y = make_rows(m=5)
    Y = Y[Y.any(axis=1) & ~Y.all(axis=1)]
    model = make([Baseline(0.1), Baseline(0.2), Baseline(-0.1)], random_state=0)
    if make is OnlineBMR:
        model.set_params(loss=loss)
    model.partial_fit(Y[:1], Y[:1])
    assert_allclose(model.empirical_edges_, 0, atol=1e-12)
    model._edge_sums[:] = 0
    model.partial_fit(Y[1:], Y[1:])
    assert_allclose(model.empirical_edges_, [0.1, 0.2, -0.1], atol=1e-12)


def test_empirical_edges_are_kept(fingerprint):
    """In chunks, with pickles, and before any pair is known."""
    X, Y = make_rows(m=5)
    at_once = AdaOLMR("trees", n_estimators=4, random_state=0, shuffle=False).fit(X, Y)
    pieces = AdaOLMR("trees", n_estimators=4, random_state=0, shuffle=False).partial_fit(
        X[3:4], Y[3:4]
    )
    assert_array_equal(pieces.empirical_edges_, np.zeros(4))
    pieces = AdaOLMR("trees", n_estimators=4, random_state=0, shuffle=False)
    for rows in np.array_split(np.arange(len(X)), 4):
        pieces = pickle.loads(pickle.dumps(pieces.partial_fit(X[rows], Y[rows])))
    assert fingerprint(pieces.empirical_edges_) == fingerprint(at_once.empirical_edges_)


# -- Theorems.


# Convex losses whose slope f' is from 1/2 to 1 for z >= 0, and f'' <= f', so that
# f(z + a) - f(z) <= f'(z) (exp(a) - 1).
ADAPTIVE = {
    "logistic": LOSSES["logistic"],
    "flat logistic": lambda z: 2 * np.logaddexp(0.0, z / 2),
    "square root": lambda z: 0.5 * (z + np.sqrt(z**2 + 4)),
}


@pytest.mark.parametrize("name", ADAPTIVE)
def test_conditions_of_the_edge_bound(name):
    """On a grid: of the slopes, and of the loss after a step a."""
    z, h = np.linspace(-12, 12, 481)[:, None], 1e-5
    loss, a = ADAPTIVE[name], np.linspace(-2, 2, 41)
    slope = (loss(z + h) - loss(z - h)) / (2 * h)
    assert np.all(np.diff(slope, axis=0) > -1e-9)
    assert slope[z >= 0].min() > 0.5 - 1e-9
    assert slope.max() < 1 + 1e-9
    assert np.all(loss(z + a) - loss(z) <= slope * np.expm1(a) + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "learners", "seed"),
    [
        *(("logistic", learners, seed) for learners in ("trees", None) for seed in range(3)),
        ("flat logistic", "trees", 0),
        ("square root", "trees", 0),
    ],
)
def test_theorem_5_of_jung_and_tewari(name, learners, seed):
    """The steps of the proof of Theorem 5, with the measured edges, for any such loss f.

    The cumulative loss of expert i is below that of expert i - 1 by |gamma_i| M_(i-1) / 4, up to
    9 sqrt(T). Therefore min_i M_i <= (4 f(0) T + 36 N sqrt(T)) / sum |gamma_i|. Hedge's loss is at
    most 2 min_i M_i + 2 log N + O(sqrt(T)).
    """
    random, f = np.random.RandomState(seed), ADAPTIVE[name]
    T, m = 4000, 5
    X = random.normal(size=(T, 6))
    Y = (X @ random.normal(size=(6, m)) + 0.5 * random.normal(size=(T, m)) > 0.5).astype(int)
    model = AdaOLMR(learners, 12, max_features=3, loss=f, random_state=seed)
    if name == "logistic":
        model.set_params(loss=name)
    scores = model.progressive_fit(X, Y)
    pairs = Y[:, :, None] > Y[:, None]
    weight = 1 / np.maximum(pairs.sum(axis=(1, 2)), 1)
    gaps = scores[:, None] - scores[:, :, None]
    loss = (weight[:, None, None] * pairs * ((gaps > 0) + 0.5 * (gaps == 0))).sum()
    edges = np.abs(model.empirical_edges_).sum()
    best = -model._log_expert_weights.max()
    N = model.n_estimators_
    assert edges > 0.5
    assert best <= (4 * f(0.0) * T + 36 * N * np.sqrt(T)) / edges
    assert loss <= 2 * best + 2 * np.log(N) + 4 * np.sqrt(T)


class EdgeVoter(ClassifierMixin, BaseEstimator):
    """A learner that votes for the label in feature `index` of the sample."""

    def __init__(self, index=0):
        self.index = index

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.classes_ = classes
        return self

    def predict(self, X):
        return X[:, self.index].astype(int)


def votes_with_an_edge(Y, n_learners, edge, random):
    """Return labels (n_samples, n_learners), drawn from u_gamma^Y for each sample."""
    n_relevant = Y.sum(axis=1, keepdims=True)
    u = (1 - n_relevant * edge) / Y.shape[1] + edge * Y
    draws = random.uniform(size=(len(Y), n_learners))
    return (draws[:, :, None] > u.cumsum(axis=1)[:, None, :-1]).sum(axis=2)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "rank"])
def test_theorem_2_of_jung_and_tewari(loss):
    """With learners that have the edge, the mean loss stays below phi_N(0) (S = 0, Table 1)."""
    random = np.random.RandomState(0)
    n_learners, m, edge, n = 40, 4, 0.3, 500
    Y = np.eye(m, dtype=int)[random.randint(m, size=n)]
    votes = votes_with_an_edge(Y, n_learners, edge, random)
    model = OnlineBMR(
        [EdgeVoter(i) for i in range(n_learners)],
        n_learners,
        edge=edge,
        loss=loss,
        max_features=None,
    )
    # An untrained learner has uniform votes: learn one sample first.
    scores = model.partial_fit(votes[:1], Y[:1]).progressive_fit(votes, Y)
    bound = np.exp(-(edge**2) * n_learners / 2)
    gaps = (scores - scores[Y == 1][:, None])[Y == 0].reshape(n, m - 1)
    if loss == "hinge":
        assert np.maximum(1 + gaps, 0).mean() < (n_learners + 1) * bound
    else:
        assert ((gaps > 0) + 0.5 * (gaps == 0)).mean() < bound


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "rank", "logistic"])
def test_theorem_2_of_raman_and_others(loss):
    """With votes from u_gamma, the mean loss is the potential of the untrained scores.

    The term of the excess loss S is 0, and for single-label votes the inequality is an equality.
    """
    random = np.random.RandomState(0)
    n_learners, m, edge, n = 15, 4, 0.2, 1000
    Y = np.eye(m, dtype=int)[random.randint(m, size=n)]
    votes = votes_with_an_edge(Y, n_learners, edge, random)
    model = TopKBBM(
        [EdgeVoter(i) for i in range(n_learners)],
        edge=edge,
        loss=loss,
        exploration=0.5,
        random_state=0,
    )
    # An untrained learner has uniform votes. A sample teaches it only if its vote has an effect.
    shown = Exploration(np.tile(np.arange(m), (50, 1)), np.ones((50, m, m)))
    model.partial_fit_feedback(votes[:50], shown, Y[:50], classes=range(m))
    scores = model.decision_function(votes)
    gaps = (scores - scores[Y == 1][:, None])[Y == 0].reshape(n, m - 1)
    losses = LOSSES[loss](gaps).sum(axis=1)
    stay = (1 - edge) / m
    expected = (m - 1) * sum_over_law(LOSSES[loss], 0.0, n_learners, stay, stay + edge)
    assert abs(losses.mean() - expected) < 5 * losses.std() / np.sqrt(n)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_theorem_4_of_raman_and_others(seed):
    """The bound with the measured edges, of rank losses that are not normalized."""
    random = np.random.RandomState(seed)
    n_learners, m, edge, n, rho = 20, 4, 0.6, 1500, 0.2
    Y = np.eye(m, dtype=int)[random.randint(m, size=n)]
    votes = votes_with_an_edge(Y, n_learners, edge, random)
    model = TopKAdaptive(
        [EdgeVoter(i) for i in range(n_learners)],
        exploration=rho,
        learning_rate="theory",
        gradient_clip=None,
        cost_estimate="pairs",
        propensity_clip=0,
        random_state=seed,
    )
    scores = model.progressive_fit(votes, Y, classes=range(m))
    gaps = (scores - scores[Y == 1][:, None])[Y == 0].reshape(n, m - 1)
    edges = np.abs(model.empirical_edges_).sum()
    assert edges == pytest.approx(n_learners * edge, rel=0.15)
    total = (gaps >= 0).sum()
    assert total <= 2 * m**2 / edges * n + rho * m**2 * n
    # A bound that a ranking at random would exceed: (m - 1) / 2 pairs are in the wrong order.
    assert total < 0.5 * (m - 1) / 2 * n


@pytest.mark.slow
@pytest.mark.parametrize("n_learners", [10, 40])
def test_theorem_4_of_jung_and_tewari(n_learners):
    """The lower bound: votes from u_2gamma leave a rank loss of order exp(-4 N k^2 gamma^2).

    The optimal weights of such learners are equal, which are those of OnlineBMR.
    """
    random = np.random.RandomState(0)
    m, gamma, n = 3, 0.05, 1000
    sets = np.array(list(product([0, 1], repeat=m)))[1:-1]
    Y = sets[random.randint(len(sets), size=n)]
    votes = votes_with_an_edge(Y, n_learners, 2 * gamma, random)
    learners = [EdgeVoter(i) for i in range(n_learners)]
    model = OnlineBMR(learners, edge=gamma, loss="rank", random_state=0)
    scores = model.partial_fit(votes[:1], Y[:1]).progressive_fit(votes, Y)
    loss = rank_loss(Y, scores)
    assert np.exp(-4 * n_learners * m**2 * gamma**2) / 4 < loss < 0.5
    # The upper bound of Corollary 3 for the edge of the votes.
    assert loss <= np.exp(-((2 * gamma) ** 2) * n_learners / 2)

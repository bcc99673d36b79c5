"""PlackettLuceRanker: against slow statements of the likelihood, enumerations, and choix."""

import tracemalloc
import warnings
from copy import deepcopy
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime, minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklrank.datasets import make_sparse_label_ranking, sample_plackett_luce
from sklrank.label_ranking import LabelwiseRanker, PlackettLuceRanker
from sklrank.label_ranking._plackett_luce import likelihood as _plackett_luce_likelihood
from sklrank.label_ranking._plackett_luce.likelihood import (
    PenalizedLikelihood,
    RankingLikelihood,
    principal_axes,
    topk_probabilities,
)

RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(90, 3))
UTILITY = X @ RANDOM.normal(size=(3, 4)) + RANDOM.gumbel(size=(90, 4))
Y = np.argsort(np.argsort(-UTILITY, axis=1), axis=1) + 1.0
INCOMPLETE = np.where(RANDOM.uniform(size=Y.shape) < 0.3, np.nan, Y)
TIED = np.ceil(Y / 2)
TARGETS = {"complete": Y, "incomplete": INCOMPLETE, "tied": TIED, "both": np.ceil(INCOMPLETE / 2)}
each_target = pytest.mark.parametrize("Y", TARGETS.values(), ids=TARGETS)
each_rule = pytest.mark.parametrize("ties", ["exclude", "breslow"])
every_rule = pytest.mark.parametrize("ties", ["exclude", "breslow", "davidson"])


def slow_log_likelihood(scores, positions, counted, ties):
    """Choose the labels one after the other among those that are left."""
    value = 0.0
    for label, position in enumerate(positions):
        if np.isnan(position) or not np.broadcast_to(counted, len(positions))[label]:
            continue
        left = [
            m
            for m, other in enumerate(positions)
            if m == label or other > position or (ties == "breslow" and other == position)
        ]
        value += scores[label] - np.logaddexp.reduce([scores[m] for m in left])
    return value


def slow_davidson(scores, positions, log_prevalences, choices="all"):
    """Choose a set of labels among all sets of those that are left."""
    ranked = [label for label, position in enumerate(positions) if not np.isnan(position)]
    value = 0.0

    def weight(labels):
        return np.exp(np.mean(scores[labels]) + {1: 0.0, **log_prevalences}[len(labels)])

    for choice, position in enumerate(sorted({positions[label] for label in ranked})):
        left = [label for label in ranked if positions[label] >= position]
        sizes = [size for size in {1, *log_prevalences} if size <= len(left)]
        every = [list(labels) for size in sizes for labels in combinations(left, size)]
        chosen = [label for label in left if positions[label] == position]
        if choices == "all" or (choices == "first") == (choice == 0):
            value += np.log(weight(chosen) / sum(map(weight, every)))
    return value


def probabilities(scores):
    """Return the probability of each ranking, as a dict from orderings."""
    found = {}
    for ordering in permutations(range(len(scores))):
        weights = [np.exp(scores[label]) for label in ordering]
        found[ordering] = np.prod([w / sum(weights[i:]) for i, w in enumerate(weights)])
    return found


# -- The likelihood.


@pytest.mark.parametrize("choices", ["all", "first", "later"])
@every_rule
@each_target
def test_likelihood_and_gradient(Y, ties, choices):
    """Also if all rankings of the data have ties, or no label after them, or scores span much."""
    scores = RANDOM.normal(size=Y.shape) * 3
    if ties != "davidson":
        scores[::3] *= 200
    likelihood = RankingLikelihood(Y, ties, choices=choices)
    prevalences = np.log(np.arange(1.0, 1.0 + len(likelihood.orders)))
    if ties == "davidson":
        given = dict(zip(likelihood.orders, prevalences))
        expected = [slow_davidson(s, row, given, choices) for s, row in zip(scores, Y)]
    else:
        firsts = np.nanmin(np.append(Y, np.full((len(Y), 1), 9.0), axis=1), axis=1, keepdims=True)
        counted = {"all": Y == Y, "first": firsts == Y, "later": firsts < Y}[choices]
        expected = [slow_log_likelihood(s, *rows, ties) for s, *rows in zip(scores, Y, counted)]
    assert_allclose(likelihood.log_likelihoods(scores, prevalences), expected, 1e-13, 1e-12)
    values, gradient, by_order = likelihood.with_gradient(scores, prevalences)
    assert_allclose(values, expected, 1e-13, 1e-12)
    for label in range(4):
        step = np.where(np.arange(4) == label, 1e-5, 0.0)
        above, below = (
            likelihood.log_likelihoods(scores + sign * step, prevalences) for sign in (1, -1)
        )
        assert_allclose(gradient[:, label], (above - below) / 2e-5, atol=1e-7)
    for order, step in enumerate(np.eye(len(prevalences)) * 1e-5):
        above, below = (
            likelihood.log_likelihoods(scores, prevalences + sign * step) for sign in (1, -1)
        )
        assert_allclose(by_order[:, order], (above - below) / 2e-5, atol=1e-7)


@given(st.lists(st.sampled_from([1.0, 2.0, 3.0, np.nan]), min_size=1, max_size=6), st.data())
def test_likelihood_of_any_ranking(positions, data):
    scores = data.draw(st.lists(st.floats(-5, 5), min_size=len(positions), max_size=len(positions)))
    for ties in ("exclude", "breslow"):
        likelihood = RankingLikelihood(np.array([positions]), ties)
        expected = slow_log_likelihood(scores, positions, True, ties)
        value, gradient, _ = likelihood.with_gradient(np.array([scores]))
        assert value[0] == pytest.approx(expected, abs=1e-9)
        # Only differences between scores count.
        assert gradient.sum() == pytest.approx(0.0, abs=1e-9)


def test_incomplete_rankings_have_the_probability_of_all_complete_ones():
    scores = RANDOM.normal(size=4)
    chances = probabilities(scores)
    assert sum(chances.values()) == pytest.approx(1.0)
    expected = sum(p for ordering, p in chances.items() if ordering.index(3) < ordering.index(1))
    found = RankingLikelihood(np.array([[np.nan, 2.0, np.nan, 1.0]]), "exclude")
    assert np.exp(found.log_likelihoods(scores[np.newaxis])) == pytest.approx(expected)
    # The best label is known and the others are tied.
    expected = sum(p for ordering, p in chances.items() if ordering[0] == 2)
    found = RankingLikelihood(np.array([[2.0, 2.0, 1.0, 2.0]]), "exclude")
    assert np.exp(found.log_likelihoods(scores[np.newaxis])) == pytest.approx(expected)


@every_rule
def test_no_overflow(ties):
    scores = np.array([[0.0, 1e6, -1e6, 3.0]])
    for target in (Y[:1], TIED[:1], INCOMPLETE[:1]):
        likelihood = RankingLikelihood(target, ties)
        prevalences = np.zeros(len(likelihood.orders))
        values, gradient, _ = likelihood.with_gradient(scores, prevalences)
        assert np.isfinite(values).all() and np.isfinite(gradient).all()


# -- The fit.


@each_rule
@each_target
def test_fit_minimizes_the_penalized_loss(Y, ties):
    """Found by another method from the slow likelihood, with finite differences."""
    rows = slice(0, 12)
    weight = RANDOM.uniform(0.5, 2.0, size=12)
    mean = np.average(X[rows], axis=0, weights=weight)
    deviation = np.sqrt(np.average((X[rows] - mean) ** 2, axis=0, weights=weight))
    standard = (X[rows] - mean) / deviation

    def loss(flat):
        coef, intercept = flat[:12].reshape(4, 3), flat[12:]
        scores = standard @ coef.T + intercept
        values = [slow_log_likelihood(s, row, True, ties) for s, row in zip(scores, Y[rows])]
        return 0.7 / 2 * np.sum(coef**2) - weight @ values

    ranker = PlackettLuceRanker(alpha=0.7, ties=ties, tol=1e-6)
    ranker.fit(X[rows], Y[rows], sample_weight=weight)
    at_mean = ranker.intercept_ + ranker.coef_ @ mean
    found = np.append((ranker.coef_ * deviation).ravel(), at_mean)
    best = minimize(loss, np.zeros(16))
    assert loss(found) <= best.fun + 1e-7
    assert_allclose(found[:12], best.x[:12], atol=1e-3)
    assert_allclose(found[12:], best.x[12:] - best.x[12:].mean(), atol=1e-3)
    expected = X[rows] @ ranker.coef_.T + ranker.intercept_
    assert_allclose(ranker.decision_function(X[rows]), expected)


@pytest.mark.parametrize("design", [None, np.linalg.qr(RANDOM.normal(size=(4, 2)))[0]])
@every_rule
@each_target
def test_gradient_of_the_loss(Y, ties, design):
    weights = RANDOM.uniform(size=90)
    problem = PenalizedLikelihood(X, Y, weights, ties, design)
    parameters = RANDOM.normal(size=problem.n_parameters)
    _, gradient = problem.loss_and_gradient(parameters, 2.0)
    slope = approx_fprime(parameters, lambda moved: problem.loss_and_gradient(moved, 2.0)[0])
    assert_allclose(gradient, slope, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(5, 8), (8, 5)])
def test_principal_axes(shape):
    """They are orthogonal eigenvectors of X'X, and they span the rows of X."""
    samples = np.random.RandomState(0).normal(size=shape)
    samples[-1] = samples[0] - samples[1]
    axes = principal_axes(samples)
    assert axes.shape == (shape[1], np.linalg.matrix_rank(samples))
    assert_allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=1e-10)
    assert_allclose(samples @ axes @ axes.T, samples, atol=1e-10)
    products = axes.T @ samples.T @ samples @ axes
    assert_allclose(products, np.diag(products.diagonal()), atol=1e-10)


def test_more_features_than_samples():
    """Weights w / c of c copies of the features have the scores and 1 / c of the penalty of w."""
    ranker = PlackettLuceRanker(alpha=0.5, tol=1e-8).fit(X[:20], Y[:20])
    copies = PlackettLuceRanker(alpha=5.0, tol=1e-8).fit(np.tile(X[:20], 10), Y[:20])
    scores = copies.decision_function(np.tile(X, 10))
    assert_allclose(scores, ranker.decision_function(X), atol=1e-4)


def test_kernel_features_of_all_samples_are_kernel_regression():
    """The scores are w . phi(x) + b with phi(x) . phi(z) = exp(-gamma |x - z|^2)."""
    ranker = PlackettLuceRanker(kernel="rbf", gamma=0.2, alpha=0.5, tol=1e-6, random_state=0)
    ranker.fit(X[:30], Y[:30])
    standard = (X[:30] - X[:30].mean(axis=0)) / X[:30].std(axis=0)
    kernel = np.exp(-0.2 * ((standard[:, np.newaxis] - standard) ** 2).sum(axis=2))

    def loss(flat):
        dual, intercept = flat[:120].reshape(30, 4), flat[120:]
        scores = kernel @ dual + intercept
        values, gradient, _ = RankingLikelihood(Y[:30], "exclude").with_gradient(scores)
        by_dual = kernel @ (0.5 * dual - gradient)
        total = 0.25 * np.sum(dual * (kernel @ dual)) - values.sum()
        return total, np.append(by_dual.ravel(), -gradient.sum(axis=0))

    options = {"gtol": 1e-9, "maxiter": 5000}
    best = minimize(loss, np.zeros(124), jac=True, options=options).x
    scores = kernel @ best[:120].reshape(30, 4) + best[120:]
    scores -= scores.mean(axis=1, keepdims=True)
    found = ranker.decision_function(X[:30])
    assert_allclose(found - found.mean(axis=1, keepdims=True), scores, atol=1e-3)


def test_without_features_it_estimates_the_parameters_of_choix():
    choix = pytest.importorskip("choix")
    orderings = [[l for l in np.argsort(row) if not np.isnan(row[l])] for row in INCOMPLETE]
    expected = choix.opt_rankings(4, [row for row in orderings if len(row) > 1], tol=1e-10)
    ranker = PlackettLuceRanker(alpha=1.0, tol=1e-8).fit(np.ones((90, 1)), INCOMPLETE)
    assert_allclose(ranker.intercept_, expected - expected.mean(), atol=1e-4)


def test_recovers_the_weights():
    random = np.random.RandomState(1)
    more = random.normal(size=(6000, 3))
    coef = random.normal(size=(4, 3))
    coef -= coef.mean(axis=0)
    drawn = np.argsort(np.argsort(-(more @ coef.T) - random.gumbel(size=(6000, 4)))) + 1.0
    drawn[random.uniform(size=drawn.shape) < 0.3] = np.nan
    ranker = PlackettLuceRanker(random_state=0).fit(more, drawn)
    assert_allclose(ranker.coef_, coef, atol=0.08)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_are_repetitions(kernel):
    counts = np.random.RandomState(0).randint(3, size=90)
    ranker = PlackettLuceRanker(kernel=kernel, alpha=1.0, tol=1e-8, random_state=0)
    weighted = clone(ranker).fit(X, INCOMPLETE, sample_weight=counts)
    rows = np.repeat(np.arange(90), counts)
    repeated = clone(ranker).fit(X[rows], INCOMPLETE[rows])
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_samples_without_weight_change_nothing(kernel):
    weights = np.repeat([0.0, 1.0], [20, 70])
    far = np.where(weights[:, np.newaxis], X, 100 * X)
    ranker = PlackettLuceRanker(kernel=kernel, alpha=1.0, n_components=30, tol=1e-8, random_state=0)
    found = clone(ranker).fit(far, Y, sample_weight=weights)
    expected = clone(ranker).fit(X[20:], Y[20:], sample_weight=weights[20:])
    assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-6)


def test_too_few_iterations(monkeypatch):
    monkeypatch.setattr(_plackett_luce_likelihood, "_MAX_ITER", 1)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations: increase tol"):
        PlackettLuceRanker(alpha=0.001).fit(X, Y)
    monkeypatch.undo()
    ranker = PlackettLuceRanker(alpha=1.0).fit(X, Y)
    monkeypatch.setattr(_plackett_luce_likelihood, "_MAX_ITER", ranker.n_iter_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = PlackettLuceRanker(alpha=1.0).fit(X, Y)
    assert_array_equal(exact.coef_, ranker.coef_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_penalty_adapts_to_the_noise(kernel):
    alphas = []
    for scale in (0.001, 1.0):
        data = make_sparse_label_ranking(
            300, 20, 4, noise="plackett-luce", scale=scale, random_state=0
        )
        ranker = PlackettLuceRanker(kernel=kernel, random_state=0).fit(*data)
        alphas.append(ranker.alpha_)
        best = max(ranker.validation_scores_.values())
        assert ranker.validation_scores_[ranker.alpha_] == best
        assert np.isfinite(best)
    assert alphas[0] < alphas[1] / 30


def held_out_log_likelihood(ranker, X, Y, weight, alpha):
    """Fit the samples of each fold from scratch, and average over the held-out samples."""
    features = ranker.features_.transform(X)
    values = np.empty(len(X))
    for fold in range(5):
        test = np.arange(len(X)) % 5 == fold
        train = ~test
        problem = PenalizedLikelihood(features[train], Y[train], weight[train], "exclude")
        solution, _ = problem.unpack(problem.solve(alpha, tol=1e-6)[0])
        coef, intercept = problem.coefficients(solution)
        scores = features[test] @ coef.T + intercept
        values[test] = [
            slow_log_likelihood(s, row, True, "exclude") for s, row in zip(scores, Y[test])
        ]
    return np.average(values, weights=weight)


def test_validation_scores_are_means_over_held_out_samples():
    weight = np.random.RandomState(0).uniform(size=90)
    ranker = PlackettLuceRanker(random_state=0).fit(X, INCOMPLETE, sample_weight=weight)
    for alpha, found in ranker.validation_scores_.items():
        expected = held_out_log_likelihood(ranker, X, INCOMPLETE, weight, alpha)
        assert found == pytest.approx(expected, rel=0.01)


def test_the_penalty_does_not_depend_on_the_seed():
    few = slice(None, None, 3)
    found = [PlackettLuceRanker(random_state=seed).fit(X[few], Y[few]) for seed in range(2)]
    assert len({ranker.alpha_ for ranker in found}) == 1
    for ranker in found:
        assert_array_equal(ranker.coef_, found[0].coef_)


def test_the_search_is_as_good_as_all_penalties():
    """With strong penalties the likelihood of few samples is flat, and falls by chance."""
    random = np.random.RandomState(9)
    few, weights = random.normal(size=(60, 3)), random.normal(size=(3, 6))
    scores = 3 * np.sin(few @ weights) + random.gumbel(size=(60, 6))
    ranks = np.argsort(np.argsort(-scores)) + 1.0
    ranks[random.uniform(size=ranks.shape) < 0.5] = np.nan
    ranker = PlackettLuceRanker(kernel="rbf", random_state=0).fit(few, ranks)
    every = [
        held_out_log_likelihood(ranker, few, ranks, np.ones(60), alpha)
        for alpha in np.logspace(4, -2, 7)
    ]
    assert max(every) > every[0] + 0.1  # a constant model is not good enough
    assert max(ranker.validation_scores_.values()) > max(every) - 0.01


def test_the_search_ends_after_two_penalties_without_a_gain():
    """Weak penalties of the weights of many samples do not matter."""
    random = np.random.RandomState(0)
    X = random.normal(size=(400, 2))
    scores = X @ [[1.0, 0.0, -1.0], [0.0, 1.0, 1.0]] + random.gumbel(size=(400, 3))
    Y = np.argsort(np.argsort(scores)) + 1.0
    tried = [*PlackettLuceRanker().fit(X, Y).validation_scores_.items()][:-2]
    penalties, values = zip(*tried)
    assert np.argmax(values) == len(values) - 3
    assert penalties == tuple(10.0**power for power in range(4, 4 - len(values), -1))


# -- Sparse rankings.


def as_sparse(Y):
    """Return a CSR matrix that stores the labels that are ranked, in any order of the columns."""
    at = np.nonzero(~np.isnan(Y))
    matrix = sparse.csr_matrix((Y[at] - 1, at), shape=Y.shape)  # 0 is stored
    for start, end in zip(matrix.indptr, matrix.indptr[1:]):
        for part in (matrix.indices, matrix.data):
            part[start:end] = part[start:end][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def many_labels(n_samples, n_labels, seed=0):
    """Rankings with ties of 0 to 7 labels, and one of all."""
    random = np.random.RandomState(seed)
    Y = np.ceil(np.argsort(random.uniform(size=(n_samples, n_labels)), axis=1) / 2) + 1
    ranked = np.argsort(random.uniform(size=Y.shape), axis=1) < random.randint(8, size=(len(Y), 1))
    return np.where(ranked | (np.arange(n_samples) == 3)[:, np.newaxis], Y, np.nan)


@pytest.mark.filterwarnings("ignore:y_true has the position 0")
@every_rule
@pytest.mark.parametrize("Y", [TARGETS["incomplete"], TARGETS["both"]], ids=["incomplete", "both"])
def test_sparse_rankings_are_those_of_an_array(Y, ties):
    weights = RANDOM.uniform(size=90).round(1)
    ranker = PlackettLuceRanker(ties=ties)
    dense, found = (clone(ranker).fit(X, y, weights) for y in (Y, as_sparse(Y)))
    assert_allclose(found.coef_, dense.coef_, atol=1e-12)
    assert_allclose(found.intercept_, dense.intercept_, atol=1e-12)
    assert found.validation_scores_ == dense.validation_scores_
    assert_allclose(found.score_samples(X, as_sparse(Y)), dense.score_samples(X, Y))
    assert found.score(X, as_sparse(Y), weights) == pytest.approx(dense.score(X, Y, weights))


@every_rule
def test_lists_of_any_length(ties, monkeypatch):
    """Short lists are in tables without the other labels, in blocks; slow sums have all."""
    Y = many_labels(60, 20)
    features = RANDOM.normal(size=(60, 2))
    problem = PenalizedLikelihood(features, Y, np.ones(60), ties)
    parameters = RANDOM.normal(size=problem.n_parameters)
    solution, prevalences = problem.unpack(parameters)
    scores = (features - features.mean(axis=0)) @ problem.axes @ solution[:-1] + solution[-1]
    given = dict(zip(problem.orders, prevalences))
    expected = sum(
        slow_davidson(s, row, given) if ties == "davidson" else slow_log_likelihood(s, row, 1, ties)
        for s, row in zip(scores, np.where(np.arange(60)[:, np.newaxis] == 3, np.nan, Y))
    )
    all_labels = RankingLikelihood(Y[3:4], ties, problem.orders)
    expected += all_labels.log_likelihoods(scores[3:4], prevalences)[0]
    assert problem.log_likelihood(parameters) == pytest.approx(expected)
    loss, gradient = problem.loss_and_gradient(parameters, 0.0)
    assert loss == pytest.approx(-expected)
    slope = approx_fprime(parameters, lambda moved: problem.loss_and_gradient(moved, 0.0)[0])
    assert_allclose(gradient, slope, rtol=1e-4, atol=1e-4)
    monkeypatch.setattr(_plackett_luce_likelihood, "_TABLE", 30)
    in_blocks = PenalizedLikelihood(features, as_sparse(Y), np.ones(60), ties)
    assert len(in_blocks.tables) > len(problem.tables)
    assert_allclose(in_blocks.loss_and_gradient(parameters, 0.0)[1], gradient, atol=1e-9)


def test_sparse_rankings_take_the_memory_of_their_entries():
    """5,000 games between 1000 players; an array has 40 MB."""
    players = np.add(np.random.RandomState(0).randint(500, size=(5000, 2)), [0, 500])
    parts = np.tile([1.0, 2.0], 5000), players.ravel(), np.arange(0, 10_001, 2)
    games = sparse.csr_matrix(parts, shape=(5000, 1000))
    tracemalloc.start()
    PlackettLuceRanker().fit(np.ones((5000, 1)), games)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


def test_malformed_sparse_rankings():
    games, ranker = as_sparse(Y), PlackettLuceRanker(alpha=1.0)
    twice = sparse.csr_matrix(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 4))
    for wrong, message in (
        (games.tobsr(), "CSR matrix, got BSR"),
        (sparse.csr_matrix(np.where(Y == 1, np.inf, Y)), "must be finite"),
        (twice, "two entries for a label"),
        (sparse.csr_matrix((90, 4)), "ranks no label of any sample"),
        (games[:5], "5 rows and X has 90"),
    ):
        with pytest.raises(ValueError, match=message):
            ranker.fit(X[: 1 if wrong is twice else 90], wrong)
    with pytest.raises(ValueError, match="which PlackettLuceRanker takes"):
        LabelwiseRanker().fit(X, games)
    games.data[::3] = np.nan  # not ranked, as in an array
    missing = np.full(Y.shape, np.nan)
    missing[games.tocoo().coords] = games.data
    for each in (games, games.tocsc(), games.tocoo()):
        assert_allclose(ranker.fit(X, each).coef_, clone(ranker).fit(X, missing).coef_, atol=1e-12)


# -- Predictions.


@pytest.fixture(scope="module")
def fitted():
    return PlackettLuceRanker(alpha=0.1, random_state=0).fit(X, Y)


def test_probabilities_are_those_of_all_rankings(fitted):
    scores = fitted.decision_function(X[:5])
    first, pairs = fitted.predict_proba(X[:5]), fitted.predict_pair_proba(X[:5])
    for row, chances in enumerate(map(probabilities, scores)):
        places = [(p, [ordering.index(l) for l in range(4)]) for ordering, p in chances.items()]
        for a in range(4):
            assert first[row, a] == pytest.approx(sum(p for p, at in places if at[a] == 0))
            for b in range(4):
                expected = 0.5 if a == b else sum(p for p, at in places if at[a] < at[b])
                assert pairs[row, a, b] == pytest.approx(expected)
            mean = sum(p * (at[a] + 1) for p, at in places)
            assert fitted.expected_positions(X[:5])[row, a] == pytest.approx(mean)
            for k in range(1, 5):
                expected = sum(p for p, at in places if at[a] < k)
                found = fitted.predict_topk_proba(X[:5], k)[row, a]
                assert found == pytest.approx(expected, abs=1e-9)
        for ordering, p in chances.items():
            positions = [[ordering.index(l) + 1 for l in range(4)]]
            assert np.exp(fitted.score_samples(X[row : row + 1], positions)) == pytest.approx(p)


def test_likelihood_of_the_predicted_rankings_is_the_largest(fitted):
    likelihoods = [max(probabilities(s).values()) for s in fitted.decision_function(X[:5])]
    assert_allclose(np.exp(fitted.score_samples(X[:5])), likelihoods)
    expected = fitted.score_samples(X, fitted.predict(X))
    assert_array_equal(fitted.score_samples(X), expected)


def test_probabilities_are_computed_in_blocks(fitted, monkeypatch):
    topk, positions = fitted.predict_topk_proba(X, 2), fitted.expected_positions(X)
    before = fitted.predict_pair_proba(X)
    assert_allclose(positions, [[0.5 + sum(row[:, l]) for l in range(4)] for row in before])
    monkeypatch.setattr(_plackett_luce_likelihood, "_BLOCK", 7)
    monkeypatch.setattr(_plackett_luce_likelihood, "_TABLE", 1000)
    assert_array_equal(fitted.predict_topk_proba(X, 2), topk)
    assert_array_equal(fitted.expected_positions(X), positions)


def test_topk_probabilities_of_distant_scores():
    found = topk_probabilities(np.array([[0.0, 1000.0, -1000.0, 0.0]]), 2)
    assert_allclose(found, [[0.5, 1.0, 0.0, 0.5]], atol=1e-9)


def test_drawn_rankings_have_the_probabilities(fitted):
    drawn = fitted.sample_rankings(X[:2], 20_000, random_state=0)
    assert drawn.shape == (20_000, 2, 4)
    for row, scores in enumerate(fitted.decision_function(X[:2])):
        for ordering, p in probabilities(scores).items():
            positions = [ordering.index(l) + 1 for l in range(4)]
            share = np.mean((drawn[:, row] == positions).all(axis=1))
            assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / 20_000) + 1e-9
    again = fitted.sample_rankings(X[:2], 20_000, random_state=0)
    assert_array_equal(drawn, again)


def test_more_noise_lowers_the_likelihood_of_the_predicted_ranking():
    clean = sample_plackett_luce(np.exp(3 * UTILITY), random_state=0)
    likelihoods = [
        PlackettLuceRanker(random_state=0).fit(X, target).score_samples(X, target).mean()
        for target in (clean, [RANDOM.permutation(row) for row in clean])
    ]
    assert likelihoods[0] > likelihoods[1] + 0.5


# -- Unusual data.


def test_all_rankings_equal():
    """The likelihood has no maximum: the intercepts stop when the gradient is small."""
    ranker = PlackettLuceRanker(random_state=0).fit(X, np.tile([3, 1, 2, 4], (90, 1)))
    assert_array_equal(ranker.predict(X), np.tile([3, 1, 2, 4], (90, 1)))
    assert np.abs(ranker.intercept_).max() < 50


def test_few_samples_and_labels():
    assert_array_equal(PlackettLuceRanker().fit(X[:1], Y[:1]).predict(X[:1]), Y[:1])
    assert_array_equal(PlackettLuceRanker().fit(X, Y[:, :1]).predict_proba(X), np.ones((90, 1)))
    never = np.where(np.arange(4) == 1, np.nan, Y)
    with pytest.warns(UserWarning, match=r"the labels \[1\] are not compared"):
        scores = PlackettLuceRanker(random_state=0).fit(X, never).decision_function(X)
    assert np.isfinite(scores).all()


def test_labels_can_be_permuted():
    order = np.array([2, 0, 3, 1])
    ranker = PlackettLuceRanker(random_state=0, tol=1e-6)
    chances = clone(ranker).fit(X, Y).predict_proba(X)
    permuted = clone(ranker).fit(X, Y[:, order]).predict_proba(X)
    assert_allclose(permuted, chances[:, order], atol=1e-4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": "best"}, "alpha"),
        ({"kernel": "poly"}, "kernel"),
        ({"ties": "efron"}, "ties"),
        ({"gamma": -1.0}, "gamma"),
        ({"n_components": 0}, "n_components"),
    ],
)
def test_bad_parameters(parameters, message, fitted, fingerprint):
    ranker = deepcopy(fitted).set_params(**parameters)
    before = fingerprint(ranker)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, Y)
    assert fingerprint(ranker) == before


def test_later_parameters_do_not_change_the_likelihood(fitted):
    tied = np.ceil(Y / 2)
    expected = fitted.score_samples(X, tied)
    found = deepcopy(fitted).set_params(ties="breslow").score_samples(X, tied)
    assert_allclose(found, expected)


@pytest.mark.parametrize(("n_labels", "k"), [(10, 3), (40, 20), (30, 29), (200, 8)])
def test_equal_scores_are_equally_likely_to_be_among_the_best(n_labels, k):
    assert_allclose(topk_probabilities(np.zeros((2, n_labels)), k), k / n_labels, rtol=1e-12)
    scores = np.random.RandomState(0).normal(size=(1, n_labels))
    assert topk_probabilities(scores, k).sum() == pytest.approx(k, rel=1e-12)


def test_bad_arguments(fitted):
    with pytest.raises(ValueError, match="k must be an integer from 1 to the number of labels, 4"):
        fitted.predict_topk_proba(X, 5)
    with pytest.raises(ValueError, match="n_draws must be an integer of 1 or more, got 0"):
        fitted.sample_rankings(X, 0)
    with pytest.raises(ValueError, match=r"y must hold a position for each.*got \(90, 3\)"):
        fitted.score_samples(X, Y[:, :3])
    with pytest.raises(ValueError, match="all zeros"):
        clone(fitted).fit(X, Y, sample_weight=np.zeros(90))

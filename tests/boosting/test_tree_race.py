"""Linear scores, and the choice of the start, the trees and the number of rounds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from sklrank._checks.queries import Queries
from sklrank.boosting import HistGradientBoostingRanker
from sklrank.boosting._base import DocumentTarget
from sklrank.boosting._hist_gradient_boosting import race
from sklrank.boosting._hist_gradient_boosting.race import Fold, LinearScorer, fit_linear, run_race
from sklrank.boosting._objectives import LogisticObjective
from sklrank.metrics import ndcg_score
from sklrank.tree._histogram import HistogramTreeRegressor


def make_data(seed, n_queries=30, size=8, n_features=4):
    random = np.random.RandomState(seed)
    X = random.normal(size=(n_queries * size, n_features)) * [1e3, 1, 1e-3, 1]
    y = np.digitize(X[:, 0] / 1e3 - X[:, 1] + random.normal(size=len(X)), [1, 2])
    return X, y, np.repeat(np.arange(n_queries), size)


def slow_objective(y, qid, scores):
    """The logistic objective in loops."""
    losses = []
    for query in np.unique(qid):
        gains, F = 2.0 ** y[qid == query] - 1, scores[qid == query]
        ideal = (np.sort(gains)[::-1] / np.log2(2 + np.arange(len(gains)))).sum()
        if ideal:
            pairs = [(i, j) for i in range(len(F)) for j in range(len(F)) if gains[i] > gains[j]]
            losses.append(
                sum((gains[i] - gains[j]) * np.logaddexp(0, F[j] - F[i]) for i, j in pairs) / ideal
            )
    return np.mean(losses)


def make_objective(y, qid):
    return LogisticObjective(np.exp2(y) - 1.0, DocumentTarget.of(y, Queries.from_qid(qid, len(y))))


@pytest.mark.parametrize("penalty", [0.1, 0.01])
def test_linear_scores_minimize_the_penalized_objective(penalty, monkeypatch):
    monkeypatch.setattr(race, "PENALTY", penalty)
    X, y, qid = make_data(0, n_queries=8)
    scorer = fit_linear(X, make_objective(y, qid))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    start = slow_objective(y, qid, np.zeros(len(y)))

    def slow(weights):
        return slow_objective(y, qid, Z @ weights) + penalty * start * weights @ weights

    best = minimize(slow, np.zeros(4))
    assert_allclose(scorer.coef * X.std(axis=0), best.x, atol=2e-3)
    assert_allclose(scorer.predict(X), Z @ best.x, atol=1e-2)
    decrease = start - slow_objective(y, qid, scorer.predict(X))
    assert_allclose(scorer.gain.sum(), 2 * decrease)


def test_values_outside_the_range_and_missing_values():
    low, high, mean, coef = np.array([[0.0, -1.0], [2.0, 1.0], [1.5, 0.0], [2.0, 3.0]])
    scorer = LinearScorer(low, high, mean, coef, None)
    X = [[1, 0.5], [-9, 0], [1e300, 0], [np.nan, 7], [np.nan, np.nan]]
    assert_allclose(scorer.predict(np.array(X)), [0.5, -3, 1, 3, 0])


@pytest.mark.parametrize(
    "column", [np.nan, 3.0, [0.0, 1e308, -1e308], [0.0, 5e-324], [0.0, np.nan]]
)
def test_features_without_usable_values_have_no_weight(column):
    X, y, qid = make_data(0)
    X[:, 2] = np.resize(column, len(X))
    scorer = fit_linear(X, make_objective(y, qid))
    assert scorer.coef[2] == 0
    assert np.isfinite(scorer.predict(X)).all()
    assert all(np.isfinite(values).all() for values in vars(scorer).values())


def test_scores_do_not_depend_on_the_layout_or_on_other_samples():
    X, y, qid = make_data(0)
    scorer = fit_linear(X, make_objective(y, qid))
    other = fit_linear(np.asfortranarray(X), make_objective(y, qid))
    assert_array_equal(scorer.coef, other.coef)
    scores = scorer.predict(X)
    assert_array_equal(scorer.predict(np.asfortranarray(X)), scores)
    assert_array_equal(np.concatenate([scorer.predict(X[[i]]) for i in range(9)]), scores[:9])


class Case:
    """Two folds, with the linear scores of a rule."""

    def __init__(self, linear, relevance):
        tree = HistogramTreeRegressor(min_samples_leaf=5)
        self.folds = []
        for seed in (0, 2):
            parts = [make_data(seed), make_data(seed + 1)]
            bins = tree._bin(parts[0][0], np.random.RandomState(0))
            objectives = [make_objective(relevance(X), qid) for X, _, qid in parts]
            scores = {None: [np.zeros(240)] * 2, "linear": [linear(X) for X, _, _ in parts]}
            coded = [bins, bins.encode(parts[1][0])]
            self.folds.append(Fold(coded, objectives, scores, objectives[1].value_at))

    def choose(self, *sizes, n_rounds=20):
        trees = [HistogramTreeRegressor(max_leaf_nodes=n, min_samples_leaf=5) for n in sizes]
        random_state = np.random.RandomState(0)
        return trees, run_race(trees, (None, "linear"), self.folds, n_rounds, 0.5, random_state)


def test_a_good_start_is_chosen():
    """The linear scores rank perfectly."""
    case = Case(lambda X: 50 * X[:, 1], lambda X: X[:, 1] > 1)
    _, choice = case.choose(2, 8)
    assert choice.start == "linear"
    assert choice.tree.max_leaf_nodes == 2


def test_a_bad_start_is_not_chosen():
    _, choice = Case(lambda X: -3 * X[:, 1], lambda X: X[:, 1] > 1).choose(2, 8)
    assert choice.start is None


def test_large_trees_are_chosen_for_interactions_only():
    for relevance, size in (lambda X: X[:, 1] > 1, 2), (lambda X: X[:, 1] * X[:, 3] > 0.5, 8):
        case = Case(lambda X: np.zeros(len(X)), relevance)
        trees, choice = case.choose(2, 8)
        assert choice.tree is trees[[2, 8].index(size)]


def test_number_of_rounds_has_the_smallest_loss_of_held_out_queries():
    """A slow statement, for one size and one start."""
    random = np.random.RandomState(0)

    def two_of_each_query(X):
        noisy = (X[:, 1] + random.normal(size=len(X))).reshape(-1, 8)
        return (noisy >= np.sort(noisy)[:, -2:-1]).ravel()

    case = Case(lambda X: np.zeros(len(X)), two_of_each_query)
    [tree], choice = case.choose(8)
    totals = np.zeros(21)
    for fold in case.folds:
        train, held_out = fold.objectives
        F, G = np.zeros((2, 240))
        for n_fitted in range(21):
            held_out.set_scores(G)
            totals[n_fitted] += held_out.value
            train.set_scores(F)
            model = Grown(tree, fold.bins[0], train)
            F, G = F + 0.25 * model.predict(fold.bins[0]), G + 0.25 * model.predict(fold.bins[1])
    assert 1 < totals.argmin() < 10
    assert choice.n_trees == totals.argmin()
    # The objective decreases up to this round, and for less than ten rounds after it.
    _, cut = case.choose(8, n_rounds=int(totals.argmin()))
    assert cut.n_trees is None


def test_the_lambda_loss_is_not_compared():
    """It increases when documents of large gains move up, which would end the fit at once."""
    random = np.random.RandomState(0)
    X, qid = random.normal(size=(12_000, 12)), np.repeat(np.arange(8), 1500)
    quality = np.sin(X).sum(axis=1) + random.normal(size=len(X))
    y = np.digitize(quality, np.quantile(quality, [0.5, 0.8, 0.94, 0.99]))
    ranker = HistGradientBoostingRanker(
        "lambda", max_iter=5, max_leaf_nodes=8, init=None, random_state=0
    ).fit(X, y, qid)
    assert len(ranker.estimators_) == 5
    assert ranker.loss_curve_[-1] > 1.5 * ranker.loss_curve_[0]
    assert ndcg_score(y, ranker.predict(X), qid=qid) > ndcg_score(y, X @ np.ones(12), qid=qid) - 0.2


def test_the_lambda_loss_has_the_start_and_the_held_out_loss_of_the_logistic_loss():
    X, y, qid = make_data(0)
    held_out = dict(zip(("X_val", "y_val", "qid_val"), make_data(1)))
    options = {"max_iter": 3, "max_leaf_nodes": 4, "init": "linear", "random_state": 0}
    rankers = [
        HistGradientBoostingRanker(loss, **options).fit(X, y, qid, **held_out)
        for loss in ("lambda", "logistic")
    ]
    assert_array_equal(rankers[0].linear_.coef, rankers[1].linear_.coef)
    scores = rankers[0].predict(held_out["X_val"])
    expected = slow_objective(held_out["y_val"], held_out["qid_val"], scores)
    assert_allclose(rankers[0].validation_loss_curve_[-1], expected)


class Grown:
    """A tree whose leaves predict the sum of the gradients divided by that of the hessians."""

    def __init__(self, tree, bins, objective):
        codes = np.concatenate(list(bins.codes), axis=1)[:, :4].astype(float)
        self.model = HistogramTreeRegressor(
            max_leaf_nodes=tree.max_leaf_nodes, min_samples_leaf=tree.min_samples_leaf
        ).fit(codes, objective.negative_gradient / objective.hessians, objective.hessians)

    def predict(self, bins):
        return self.model.predict(np.concatenate(list(bins.codes), axis=1)[:, :4].astype(float))

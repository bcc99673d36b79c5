"""The losses of HistGradientBoostingRanker against slow definitions and finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata

from sklrank._checks.queries import Queries
from sklrank.boosting import HistGradientBoostingRanker, _objectives
from sklrank.boosting._base import DocumentTarget
from sklrank.boosting._objectives import (
    LOSSES,
    CrossEntropyObjective,
    FunctionObjective,
    GainObjective,
    LambdaObjective,
    NDCGObjective,
    RankObjective,
    loss_gains,
)

RANDOM = np.random.RandomState(0)
# Four queries with different grades, one without relevant documents, one of a single document.
QID = RANDOM.permutation(np.repeat([9, 3, 5, 4, 8, 1], [12, 7, 6, 4, 5, 1]))
Y = RANDOM.randint(4, size=len(QID)) * (QID != 4).astype(float)
SCORES = 2 * RANDOM.normal(size=len(QID))
QUERIES = [np.flatnonzero(QID == q) for q in (9, 3, 5, 8, 1) if Y[QID == q].any()]
OF_GAINS = [kind for kind in LOSSES.values() if issubclass(kind, GainObjective)]


def make(kind, y=Y, qid=QID, weights=None, query_weights=None, k=None):
    target = DocumentTarget.of(y, Queries.from_qid(qid, len(y)), weights, query_weights)
    return kind(np.exp2(y) - 1, target, k) if kind.uses_gains else kind(target)


def discounts_of(scores, k=None):
    ranks = 1 + np.argsort(np.argsort(-scores))
    return np.where(ranks <= (k or np.inf), 1 / np.log2(1 + ranks), 0)


def slow_lambda(k):
    total = 0
    for documents in QUERIES:
        gains, F = 2 ** Y[documents] - 1, SCORES[documents]
        D, ideal = discounts_of(F, k), np.sort(gains)[::-1] @ discounts_of(-np.arange(len(F)), k)
        for i in range(len(F)):
            for j in range(len(F)):
                if gains[i] > gains[j]:
                    change = (gains[i] - gains[j]) * abs(D[i] - D[j])
                    total += change * np.logaddexp(0, F[j] - F[i]) / ideal / len(QUERIES)
    return total


def slow_cross_entropy():
    total = 0
    for documents in QUERIES:
        gains, F = 2 ** Y[documents] - 1, SCORES[documents]
        rho = np.exp(F) / np.exp(F).sum()
        total -= gains / gains.sum() @ np.log(rho) / len(QUERIES)
    return total


def slow_rank_loss():
    losses = []
    for q in (9, 3, 5, 8):
        t, F = rankdata(Y[QID == q]), SCORES[QID == q]
        t = (t - t.mean()) / len(t)
        if t.any():
            losses.append(((F - F.mean() - t) ** 2).sum() / (t**2).sum())
    return np.mean(losses)


@pytest.mark.parametrize("k", [None, 3])
def test_values(k):
    assert_allclose(make(LambdaObjective, k=k).value_at(SCORES), slow_lambda(k))
    assert_allclose(make(CrossEntropyObjective, k=k).value_at(SCORES), slow_cross_entropy())
    assert_allclose(make(RankObjective, k=k).value_at(SCORES), slow_rank_loss())


@pytest.mark.parametrize("kind", LOSSES.values())
@pytest.mark.parametrize("n_exact", [300, 1])
def test_gradients_are_finite_differences(kind, n_exact, monkeypatch):
    """With weights; in short queries, and in long queries with a fine grid."""
    monkeypatch.setattr(_objectives, "N_EXACT", n_exact)
    monkeypatch.setattr(_objectives, "GRID_STEP", 1e-3)
    weights, query_weights = RANDOM.uniform(0.5, 2, len(QID)), np.arange(1.0, 7)
    objective = make(kind, weights=weights, query_weights=query_weights, k=4)
    objective.set_scores(SCORES)
    gradient, hessians = -objective.negative_gradient, objective.hessians
    assert (hessians >= 0).all()
    step = 1e-5
    for i in range(len(QID)):
        low, high = SCORES.copy(), SCORES.copy()
        low[i] -= step
        high[i] += step
        expected = (objective.value_at(high) - objective.value_at(low)) / (2 * step)
        assert_allclose(gradient[i], expected, rtol=1e-4, atol=1e-7 if n_exact > 1 else 5e-5)


# The pairs of copies, which have a part in `NDCGObjective`, are left out.
@pytest.mark.parametrize("kind", [kind for kind in LOSSES.values() if kind is not NDCGObjective])
def test_weights_are_repetitions(kind):
    weights = RANDOM.randint(1, 4, len(QID))
    rows = np.repeat(np.arange(len(QID)), weights)
    weighted, copies = make(kind, weights=weights.astype(float)), make(kind, Y[rows], QID[rows])
    weighted.set_scores(SCORES)
    copies.set_scores(SCORES[rows])
    sums = [np.bincount(rows, values) for values in (copies.negative_gradient, copies.hessians)]
    if kind is LambdaObjective:
        # The sum over copies does not depend on which of them is ranked first in the pairs that
        # the document wins or loses against one that is far away.
        assert np.corrcoef(weighted.negative_gradient, sums[0])[0, 1] > 0.99
        return
    assert_allclose(weighted.value, copies.value)
    assert_allclose(weighted.negative_gradient, sums[0], atol=1e-12)
    assert_allclose(weighted.hessians, sums[1], atol=1e-12)


@pytest.mark.parametrize("real", [True, False], ids=["all different", "five grades"])
@pytest.mark.parametrize("kind", OF_GAINS)
def test_long_queries(kind, real, monkeypatch):
    """Values and gradients of long queries, in which scores are rounded, are almost exact."""
    random = np.random.RandomState(0)
    y = random.normal(size=1000) ** 2
    y = y if real else np.floor(y).clip(0, 4)
    scores, weights = y + 2 * random.normal(size=len(y)), random.randint(1, 3, len(y))
    hypothesis = (random.uniform(size=len(y)) < 0.5).astype(float)
    qid = np.repeat([0, 1], [990, 10])
    found = []
    for n_exact in (300, 1000):
        monkeypatch.setattr(_objectives, "N_EXACT", n_exact)
        objective = make(kind, y, qid, weights.astype(float))
        objective.set_scores(scores)
        values = [objective.value, objective.negative_gradient, objective.hessians]
        if kind is NDCGObjective:
            values.append(objective.step_weights(hypothesis))
        found.append(values)
    for rounded, exact in zip(*found):
        largest = np.abs(exact).max()
        assert_allclose(rounded, exact, atol=(0.02 if kind is LambdaObjective else 0.006) * largest)
        assert abs(np.sum(rounded) - np.sum(exact)) < 4e-3 * np.abs(exact).sum()


def test_real_valued_relevance():
    y = RANDOM.normal(size=len(QID))
    X = np.column_stack([y + 0.1 * RANDOM.normal(size=len(y)), RANDOM.normal(size=len(y))])
    target = DocumentTarget.of(y, Queries.from_qid(QID, len(y)))
    gains = loss_gains("linear", target)
    for q in np.unique(QID):
        assert_allclose(gains[QID == q], y[QID == q] - min(0, y[QID == q].min()))
    for loss in LOSSES:
        ranker = HistGradientBoostingRanker(
            loss, gain="linear", max_iter=30, max_leaf_nodes=4, early_stopping=False
        )
        scores = ranker.fit(X, y, QID).predict(X)
        assert np.corrcoef(scores, y)[0, 1] > 0.7
    for bad, message in (
        (y, "y has negative relevance.*loss='spearman' or gain='linear'"),
        (
            1e4 * np.abs(y),
            "gain must be from 0 to",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            HistGradientBoostingRanker().fit(X, bad, QID)


def squared_error(y, scores, query):
    """A loss that users might write, and spoil the arguments."""
    gradient = scores - y
    y[:] = scores[:] = query[:] = 0
    return gradient, np.ones(len(y))


def test_function_as_loss():
    X = RANDOM.normal(size=(len(QID), 3)) + Y[:, np.newaxis]
    settings = {"max_iter": 40, "max_leaf_nodes": 4, "min_samples_leaf": 2}
    ranker = HistGradientBoostingRanker(squared_error, **settings).fit(X, Y, QID)
    assert np.corrcoef(ranker.predict(X), Y)[0, 1] > 0.9
    assert np.isnan(ranker.loss_curve_).all()
    doubled = HistGradientBoostingRanker(squared_error, **settings)
    query_weight = np.where(QID == 9, 2.0, 0.0)
    alone = HistGradientBoostingRanker(squared_error, **settings)
    doubled.fit(X, Y, QID, query_weight=query_weight)
    alone.fit(X[QID == 9], Y[QID == 9], QID[QID == 9])
    assert_array_equal(doubled.predict(X), alone.predict(X))
    with pytest.raises(ValueError, match="sample_weight has no meaning for a function as loss"):
        ranker.fit(X, Y, QID, 1 + Y)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.ones(3), "loss must return the gradient and the hessian"),
        ((np.ones(3), np.ones(len(Y))), r"loss must return a gradient of shape \(35,\)"),
        ((np.ones(len(Y)), np.zeros(len(Y))), "loss must return a hessian that is positive"),
        ((np.full(len(Y), np.nan), np.ones(len(Y))), "loss must return a finite gradient"),
        ((np.ones(len(Y)), np.full(len(Y), "a")), "the hessian of loss must"),
    ],
)
def test_bad_functions(result, message):
    objective = FunctionObjective(
        lambda *_: result, DocumentTarget.of(Y, Queries.from_qid(QID, len(Y)))
    )
    with pytest.raises(ValueError, match=message):
        objective.set_scores(SCORES)

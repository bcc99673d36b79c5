"""Weights of documents and of queries stand for repetitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from sklrank._checks.queries import Queries
from sklrank.boosting import (
    AdaRank,
    HistGradientBoostingRanker,
    NDCGBoost,
    RankBoost,
    RankingRefiner,
    ResidualRefiner,
)
from sklrank.boosting._base import DocumentTarget
from sklrank.boosting._objectives import (
    LOSSES,
    LogisticObjective,
    NDCGObjective,
    ideal_dcg_of_copies,
    sum_of_discounts,
)
from sklrank.boosting._rank_boost import PairObjective

RANDOM = np.random.RandomState(0)
QID = RANDOM.permutation(np.repeat([7, 5, 2, 11, 3, 4, 6], [6, 4, 1, 9, 5, 7, 8]))
Y = RANDOM.randint(3, size=len(QID)) * (QID != 5).astype(float)
# Few distinct values: the bins do not depend on repetitions.
X = RANDOM.randint(5, size=(len(QID), 3)) + Y[:, np.newaxis] * [1, 0, 0.5]
WEIGHTS = RANDOM.randint(3, size=len(QID))
QUERY_WEIGHTS = np.array([0, 0, 1, 2, 3, 1, 2, 2, 0, 0, 0, 1])[QID]


def repeat(*arrays):
    """Repeat documents and queries; copies of a query get ids of their own."""
    rows = np.concatenate(
        [np.repeat(np.arange(len(QID)), WEIGHTS * (copy < QUERY_WEIGHTS)) for copy in range(3)]
    )
    copies = np.concatenate(
        [np.repeat(copy, (WEIGHTS * (copy < QUERY_WEIGHTS)).sum()) for copy in range(3)]
    )
    return rows, [array[rows] for array in arrays], 100 * copies + QID[rows]


def gain_objective(kind):
    return lambda target: kind(2**target.y - 1, target, 4)


@pytest.mark.parametrize(
    "make", [gain_objective(LogisticObjective), gain_objective(NDCGObjective), PairObjective]
)
def test_objectives(make):
    """The gradient of a weighted document is the sum of those of its copies, and so on."""
    queries = Queries.from_qid(QID, len(QID))
    target, seen = DocumentTarget.check(Y, queries, WEIGHTS, QUERY_WEIGHTS)
    rows, (y,), qid = repeat(Y)
    copies = make(DocumentTarget.of(y, Queries.from_qid(qid, len(y))))
    weighted = make(target)
    changes = []
    for seed in range(2):
        scores = np.random.RandomState(seed).normal(size=len(QID))
        weighted.set_scores(scores[seen])
        copies.set_scores(scores[rows])
        gradient = np.bincount(rows, copies.negative_gradient, len(QID))[seen]
        # Equal gradients that are divided by the number of pairs.
        unit = gradient[0] / weighted.negative_gradient[0]
        assert_allclose(weighted.negative_gradient * unit, gradient, atol=1e-12)
        assert unit == pytest.approx(1) or make is PairObjective
        if make is not PairObjective and not isinstance(weighted, NDCGObjective):
            hessians = np.bincount(rows, copies.hessians, len(QID))[seen]
            assert_allclose(weighted.hessians, hessians)
            assert_allclose(weighted.value_at(scores[seen]), copies.value_at(scores[rows]))
        changes.append([weighted.value, copies.value])
        hypothesis = (scores > 0).astype(float)
        if not isinstance(weighted, LogisticObjective):
            assert_allclose(
                weighted.step_weights(hypothesis[seen]), copies.step_weights(hypothesis[rows])
            )
    # Pairs of copies add a constant to the bound of NDCG_Boost.
    assert_allclose(*np.diff(changes, axis=0)[0])


@pytest.mark.parametrize(
    "ranker",
    [
        NDCGBoost(n_estimators=5),
        RankBoost(n_estimators=5),
        HistGradientBoostingRanker(
            max_iter=5,
            max_leaf_nodes=4,
            min_samples_leaf=1,
            early_stopping=False,
            init="linear",
        ),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_rankers(ranker):
    _, (X_copies, y), qid = repeat(X, Y)
    if isinstance(ranker, NDCGBoost):
        # Its own weak learner counts the samples of a leaf.
        ranker.set_params(estimator=RankBoost()._weak_learner())
    expected = ranker.fit(X_copies, y, qid).predict(X)
    weighted = ranker.fit(X, Y, QID, WEIGHTS, query_weight=QUERY_WEIGHTS)
    assert_allclose(weighted.predict(X), expected, atol=1e-8)
    assert np.ptp(expected) > 0.1


def test_ada_rank_has_weights_of_queries():
    X_copies, y, qid = (
        np.concatenate([array[QUERY_WEIGHTS > copy] for copy in range(3)]) for array in (X, Y, QID)
    )
    qid = qid + 100 * np.repeat(np.arange(3), [(QUERY_WEIGHTS > copy).sum() for copy in range(3)])
    expected = AdaRank(n_estimators=5).fit(X_copies, y, qid)
    weighted = AdaRank(n_estimators=5).fit(X, Y, QID, query_weight=QUERY_WEIGHTS)
    assert_allclose(weighted.loss_curve_, expected.loss_curve_)
    assert_allclose(weighted.predict(X), expected.predict(X))
    with pytest.raises(TypeError, match="sample_weight"):
        AdaRank().fit(X, Y, QID, sample_weight=WEIGHTS)


@pytest.mark.parametrize(
    "refiner",
    [
        RankingRefiner(0, n_estimators=4, weighting="auto", response_method="predict"),
        RankingRefiner(
            0,
            n_estimators=4,
            weighting="auto",
            response_method="predict",
            combination="sum",
            noise=0.5,
        ),
        ResidualRefiner(0),
    ],
    ids=["product", "sum", "residual"],
)
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_refiners(refiner, sparse_rows):
    judged = np.where(np.arange(len(Y)) % 3 == 0, np.nan, Y)
    _, (X_copies, y), qid = repeat(X, judged)
    if sparse_rows:
        if isinstance(refiner, RankingRefiner):
            pytest.skip("its trees are for dense rows")
        X_copies, X_given = sparse.csr_matrix(X_copies), sparse.csr_matrix(X)
    else:
        X_given = X
    expected = refiner.fit(X_copies, y, qid).predict(X_given)
    weighted = (
        refiner.fit(X_given, judged, QID, None, None, WEIGHTS, query_weight=QUERY_WEIGHTS)
        if (isinstance(refiner, RankingRefiner))
        else refiner.fit(X_given, judged, QID, None, WEIGHTS, query_weight=QUERY_WEIGHTS)
    )
    assert_allclose(weighted.predict(X_given), expected, atol=1e-8)
    assert np.ptp(expected) > 0.1


def test_pairs_of_a_refiner_have_weights():
    pairs = np.array([[0, 1], [2, 3]])
    qid = np.arange(len(Y)) // 8
    weights = np.where(np.arange(len(Y)) == 0, 2.0, 1.0)
    refiner = RankingRefiner(0, n_estimators=4, weighting="auto", response_method="predict")
    weighted = refiner.fit(X, None, qid, None, pairs, weights)
    expected = weighted.predict(X)
    rows = np.append(np.arange(len(Y)), 0)
    copies = refiner.fit(X[rows], None, qid[rows], None, np.vstack([pairs, [[len(Y), 1]]]))
    assert_allclose(copies.predict(X), expected, atol=1e-8)
    with pytest.raises(ValueError, match="must be positive if pairs are given"):
        refiner.fit(X, None, qid, None, pairs, weights - 1)


def test_ideal_dcg_of_copies():
    gains, weights = np.array([3.0, 1, 1, 0.5]), np.array([2, 1, 3, 2])
    listed = np.repeat(gains, weights)
    discounts = 1 / np.log2(2 + np.arange(8.0))
    queries = Queries.from_qid(None, 4)
    weights = weights.astype(float)
    assert_allclose(ideal_dcg_of_copies(gains, weights, queries), listed @ discounts)
    assert_allclose(ideal_dcg_of_copies(gains, weights, queries, 3), listed[:3] @ discounts[:3])
    ranks = np.array([70_000.0, 1e6])
    exact = np.cumsum(1 / np.log2(2 + np.arange(1e6)))
    assert_allclose(sum_of_discounts(ranks), exact[ranks.astype(int) - 1], rtol=1e-11)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"query_weight": np.arange(len(QID))}, "query_weight must be the same for all documents"),
        ({"query_weight": -QUERY_WEIGHTS}, "query_weight must not be negative"),
        ({"query_weight": [1, 2]}, "query_weight must have the shape"),
        ({"query_weight": ["a"] * len(QID)}, "query_weight must be numbers"),
        ({"sample_weight": WEIGHTS - 1}, "sample_weight must not be negative"),
        ({"sample_weight": 0 * WEIGHTS}, "sample_weight is all zeros"),
        ({"sample_weight": QID == 7, "query_weight": QID != 7}, "leave no document"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        RankBoost().fit(X, Y, QID, **weights)


@pytest.mark.parametrize("init", ["linear", None])
@pytest.mark.parametrize("scale", [2.0**-6, 2.0**-200])
def test_equal_weights_below_one_are_no_weights(init, scale):
    """With weights of 1/64, the share of a document would be above 1, and its hessian negative."""
    ranker = HistGradientBoostingRanker("xe-ndcg", init=init, max_iter=3, random_state=0)
    scores = clone(ranker).fit(X, Y, QID).predict(X)
    weighted = ranker.fit(X, Y, QID, sample_weight=np.full(len(X), scale))
    assert_allclose(weighted.predict(X), scores, rtol=1e-6)
    assert weighted.loss_curve_.min() >= 0


@pytest.mark.parametrize("name", ["sample_weight", "query_weight"])
def test_weights_whose_products_are_zero_are_refused(name):
    X, y = np.arange(6.0)[:, np.newaxis], [0, 1, 2, 0, 1, 2]
    with pytest.raises(ValueError, match=f"{name} must be 0, or at least 1e-90"):
        RankBoost(n_estimators=2).fit(X, y, **{name: np.full(6, 1e-310)})


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("factor", [1e-3, 1e-10])
def test_the_scale_of_small_weights_does_not_matter(loss, factor):
    """As in scikit-learn's HistGradientBoosting, up to its least hessian of a split."""
    random = np.random.RandomState(0)
    X, qid = random.normal(size=(200, 3)), np.repeat(np.arange(10), 20)
    y, weights = (X[:, 0] + random.normal(size=200) > 0.5) * 1.0, random.uniform(0.1, 1, 200)
    ranker = HistGradientBoostingRanker(
        loss, max_iter=5, max_leaf_nodes=4, init=None, early_stopping=False
    )
    expected = ranker.fit(X, y, qid, sample_weight=weights).predict(X)
    assert np.ptp(expected) > 0.1
    found = ranker.fit(X, y, qid, sample_weight=factor * weights).predict(X)
    assert_allclose(found, expected, rtol=1e-5, atol=1e-9)


def test_weights_that_are_given_for_each_query_are_refused():
    X, qid = np.arange(40.0).reshape(-1, 1), np.repeat(np.arange(4), 10)
    with pytest.raises(ValueError, match="an entry for each query: pass one for each document"):
        RankBoost().fit(X, np.arange(40) % 3, qid=qid, query_weight=[1, 2, 1, 1])

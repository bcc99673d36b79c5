"""Metrics of relevant documents: loops over all orders, and values of other programs."""

from math import isclose
from statistics import mean

import numpy as np
import pytest
from document_orders import TIES, by_query
from numpy.testing import assert_allclose, assert_array_equal

from sklrank import metrics
from sklrank.metrics import (
    average_precision_score,
    dcg_score,
    hit_rate_score,
    ndcg_score,
    precision_at_k_score,
    recall_at_k_score,
    reciprocal_rank_score,
)


def slow_precision(grades, k):
    return sum(y > 0 for y in grades[:k]) / (k or len(grades))


def slow_recall(grades, k):
    return sum(y > 0 for y in grades[:k]) / max(1, sum(y > 0 for y in grades))


def slow_hit_rate(grades, k):
    return float(any(y > 0 for y in grades[:k]))


def slow_reciprocal_rank(grades, k):
    return next((1 / i for i, y in enumerate(grades[:k], start=1) if y > 0), 0.0)


METRICS = {
    "precision": (precision_at_k_score, slow_precision),
    "recall": (recall_at_k_score, slow_recall),
    "hit rate": (hit_rate_score, slow_hit_rate),
    "reciprocal rank": (reciprocal_rank_score, slow_reciprocal_rank),
}
every_metric = pytest.mark.parametrize(("metric", "slow"), METRICS.values(), ids=METRICS)


@every_metric
@pytest.mark.parametrize("k", [None, 1, 3, 100])
@pytest.mark.parametrize("ties", TIES)
def test_all_orders_of_ties(documents, metric, slow, ties, k):
    y, scores, qid = documents
    # The worst order of the definition is in ascending order of the grades, the minimum.
    expected = by_query(lambda grades: slow(grades, k), documents, ties)
    values = metric(y, scores, qid=qid, k=k, ties=ties, average=False, empty="zero")
    assert_allclose(values, expected, atol=1e-14)
    assert metric(y, scores, qid=qid, k=k, ties=ties, empty="zero") == pytest.approx(mean(expected))


@every_metric
def test_empty_queries(documents, metric, slow):
    y, scores, qid = documents
    values = metric(y, scores, qid=qid, k=2, average=False)
    empty = [not y[qid == query].any() for query in range(12)]
    assert empty[4]
    assert_array_equal(np.isnan(values), empty)
    assert metric(y, scores, qid=qid, k=2) == pytest.approx(np.nanmean(values))
    for option, value in (("zero", 0), ("one", 1)):
        assert metric(y, scores, qid=qid, k=2, empty=option, average=False)[4] == value
    assert metric(y, scores, qid=qid, convention="letor", average=False)[4] == 0
    with pytest.raises(ValueError, match="no relevant document"):
        metric([0, 0], [0.1, 0.2])


@every_metric
def test_order_of_samples_and_names_of_queries(documents, metric, slow):
    y, scores, qid = documents
    order = np.random.RandomState(1).permutation(50)
    names = np.array([f"query {q:02d}" for q in qid])
    expected = metric(y, scores, qid=qid, k=3, average=False)
    found = metric(y[order], scores[order], qid=names[order], k=3, average=False)
    assert_allclose(found, expected, rtol=1e-12)


@every_metric
def test_rows_are_queries(metric, slow):
    rng = np.random.RandomState(0)
    Y, scores = rng.randint(3, size=(2, 6, 5))
    values = metric(Y, scores, k=2, average=False)
    rows = np.repeat(np.arange(6), 5)
    assert_array_equal(metric(Y.ravel(), scores.ravel(), qid=rows, k=2, average=False), values)
    weights = rng.uniform(size=6)
    kept = ~np.isnan(values)
    expected = np.average(values[kept], weights=weights[kept])
    assert metric(Y, scores, k=2, sample_weight=weights) == pytest.approx(expected)


@every_metric
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be a positive integer"),
        ({"k": 2**63}, "k must be a positive integer"),
        ({"empty": "maybe"}, "empty must be one of"),
        ({"ties": "random"}, "ties must be one of"),
        ({"y_score": [0.1, 0.2]}, "shape of y_true"),
        ({"y_true": [0, np.nan, 1]}, "y_true must be finite"),
        ({"qid": [1, 2]}, "qid must be of shape"),
    ],
)
def test_bad_input(metric, slow, arguments, message):
    good = {"y_true": [0, 1, 2], "y_score": [0.3, 0.1, 0.2]}
    with pytest.raises(ValueError, match=message):
        metric(**good | arguments)


def test_many_ties():
    """The number of orders is far too large to enumerate, but its terms have closed forms."""
    y = np.r_[np.ones(3), np.zeros(2997)]
    scores = np.zeros(3000)
    at_least_one = 1 - np.prod([(2997 - i) / (3000 - i) for i in range(50)])
    assert hit_rate_score(y, scores, k=50) == pytest.approx(at_least_one, rel=1e-12)
    # The first of three relevant documents is at rank i if the other two are behind it.
    n_orders = 3000 * 2999 * 2998 / 6
    expected = sum((3000 - i) * (2999 - i) / 2 / i for i in range(1, 2999)) / n_orders
    assert reciprocal_rank_score(y, scores) == pytest.approx(expected, rel=1e-12)


# -- Other programs.

# Values of trec_eval (pytrec_eval-terrier 0.5.11) and ranx 0.3.21 for `shared_documents`.
LINEAR = {"gain": "linear"}
OF_OTHERS = [
    (ndcg_score, LINEAR, "ndcg", [0.4753423007260101, 0.8271724871683548, 0.4306765580733931,
                                  0.4372666890489928]),
    (ndcg_score, LINEAR | {"k": 5}, "ndcg_cut_5",
     [0.11884759419488326, 0.5572267702991202, 0.4306765580733931, 0.3273949503887395]),
    (ndcg_score, {"k": 5}, "ndcg_burges@5",
     [0.09613899768741478, 0.5095820122017312, 0.43067655807339306, 0.35583989829307827]),
    (dcg_score, LINEAR | {"k": 5}, "dcg@5",
     [0.7737056144690833, 4.017782560805999, 1.2920296742201793, 0.8613531161467861]),
    (average_precision_score, {}, "map", [0.32, 0.7592857142857143, 0.25, 0.225]),
    (average_precision_score, {"k": 5}, "map@5", [0.04, 0.52, 0.25, 0.125]),
    (precision_at_k_score, {"k": 5}, "P_5", [0.2, 0.6, 0.2, 0.2]),
    (recall_at_k_score, {"k": 5}, "recall_5", [0.2, 0.6, 1.0, 0.5]),
    (hit_rate_score, {"k": 5}, "success_5", [1.0, 1.0, 1.0, 1.0]),
    (reciprocal_rank_score, {}, "recip_rank", [0.2, 1.0, 0.25, 0.25]),
    (reciprocal_rank_score, {"k": 2}, "mrr@2", [0.0, 1.0, 0.0, 0.0]),
]  # fmt: skip


def shared_documents():
    rng = np.random.RandomState(7)
    qid = rng.randint(4, size=60)
    y = rng.randint(4, size=60) * (rng.uniform(size=60) < 0.4)
    return y, rng.permutation(60) / 64, qid


@pytest.mark.parametrize(
    ("metric", "options", "name", "expected"), OF_OTHERS, ids=lambda part: str(part)[:20]
)
def test_values_of_other_programs(metric, options, name, expected):
    y, scores, qid = shared_documents()
    assert_allclose(metric(y, scores, qid=qid, average=False, **options), expected, rtol=1e-12)


OF_TREC = {
    "map": (average_precision_score, {}),
    "ndcg": (ndcg_score, LINEAR),
    "ndcg_cut_10": (ndcg_score, LINEAR | {"k": 10}),
    "P_10": (precision_at_k_score, {"k": 10}),
    "recall_10": (recall_at_k_score, {"k": 10}),
    "success_10": (hit_rate_score, {"k": 10}),
    "recip_rank": (reciprocal_rank_score, {}),
}


def test_trec_eval_itself():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.RandomState(0)
    qid, y = rng.randint(30, size=2000), rng.randint(3, size=2000)
    scores = rng.permutation(2000) / 2048
    judged, ranked = {}, {}
    for i in range(2000):
        judged.setdefault(str(qid[i]), {})[f"d{i}"] = int(y[i])
        ranked.setdefault(str(qid[i]), {})[f"d{i}"] = float(scores[i])
    measures = {name.replace("_10", ".10") for name in OF_TREC}
    results = pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(ranked)
    for name, (metric, options) in OF_TREC.items():
        values = metric(y, scores, qid=qid, average=False, **options)
        for query in range(30):
            assert isclose(values[query], results[str(query)][name], rel_tol=1e-12), name


@pytest.mark.parametrize("name", ["average_precision", "precision_at_k", "reciprocal_rank"])
def test_ratings_without_0_are_all_relevant(name):
    """The value of any ranking is 1, which is said; equal grades may mean relevance."""
    metric = getattr(metrics, f"{name}_score")
    with pytest.warns(UserWarning, match="all documents are relevant, since the lowest grade.* 1:"):
        assert metric([1, 3, 5, 4], [4, 3, 2, 1]) == 1
    assert metric([1, 1, 1], [3, 2, 1]) == 1

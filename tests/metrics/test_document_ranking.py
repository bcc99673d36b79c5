"""NDCG, DCG and average precision: comparison with loops over queries and orders of ties."""

from functools import partial
from math import log2
from statistics import mean

import numpy as np
import pytest
import sklearn.metrics
from document_orders import TIES, by_query
from numpy.testing import assert_allclose, assert_array_equal

from sklrank.metrics import average_precision_score, dcg_score, ndcg_score

METRICS = {"ndcg": ndcg_score, "dcg": dcg_score, "ap": average_precision_score}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


def slow_dcg(grades, k=None, gain=lambda y: 2**y - 1, discount=lambda rank: 1 / log2(1 + rank)):
    """Compute the DCG of documents in the order of `grades`."""
    return sum(gain(y) * discount(i) for i, y in enumerate(grades[:k], start=1))


def slow_ap(grades, k=None):
    terms = [
        mean(y > 0 for y in grades[:i]) for i in range(1, len(grades) + 1) if grades[i - 1] > 0
    ]
    n_relevant = len(terms)
    within = sum(y > 0 for y in grades[:k])
    return sum(terms[:within]) / min(n_relevant, k or n_relevant)


@pytest.mark.parametrize("k", [None, 1, 3, 100])
@pytest.mark.parametrize("ties", TIES)
def test_dcg_of_all_orders(documents, ties, k):
    expected = by_query(partial(slow_dcg, k=k), documents, ties)
    y, scores, qid = documents
    got = dcg_score(y, scores, qid=qid, k=k, ties=ties, average=False)
    assert_allclose(got, expected)
    assert dcg_score(y, scores, qid=qid, k=k, ties=ties) == pytest.approx(mean(expected))


@pytest.mark.parametrize("k", [None, 1, 3, 100])
@pytest.mark.parametrize("ties", TIES)
def test_ndcg_of_all_orders(documents, ties, k):
    def ndcg(grades):
        best = slow_dcg(sorted(grades, reverse=True), k)
        return slow_dcg(grades, k) / best if best else np.nan

    expected = by_query(ndcg, documents, ties)
    y, scores, qid = documents
    got = ndcg_score(y, scores, qid=qid, k=k, ties=ties, average=False)
    assert_allclose(got, expected)
    assert np.isnan(got).any()
    assert ndcg_score(y, scores, qid=qid, k=k, ties=ties) == pytest.approx(np.nanmean(expected))


@pytest.mark.parametrize("k", [None, 1, 3, 100])
@pytest.mark.parametrize("ties", TIES)
def test_average_precision_of_all_orders(documents, ties, k):
    def ap(grades):
        return slow_ap(grades, k) if any(grades) else np.nan

    y, scores, qid = documents
    got = average_precision_score(y, scores, qid=qid, k=k, ties=ties, average=False)
    assert_allclose(got, by_query(ap, documents, ties))


@pytest.mark.parametrize("k", range(1, 9))
def test_letor_follows_its_script(documents, k):
    def ndcg(grades):
        if k > len(grades):  # the script leaves a hole there, and divides by all queries
            return 0.0
        discount = [0, 1, 1, *(1 / log2(rank) for rank in range(3, k + 1))].__getitem__
        best = slow_dcg(sorted(grades, reverse=True), k, discount=discount)
        return slow_dcg(grades, k, discount=discount) / best if best else 0.0

    def ap(grades):
        return slow_ap(grades) if any(grades) else 0.0

    y, scores, qid = documents
    letor = {"qid": qid, "convention": "letor"}
    expected = by_query(ndcg, documents, "stable")
    assert_allclose(ndcg_score(y, scores, k=k, average=False, **letor), expected)
    assert ndcg_score(y, scores, k=k, **letor) == pytest.approx(mean(expected))
    expected = mean(by_query(ap, documents, "stable"))
    assert average_precision_score(y, scores, **letor) == pytest.approx(expected)


def test_an_option_overrides_the_convention(documents):
    y, scores, qid = documents
    letor = {"discount": "letor", "empty": "zero", "short": "zero", "ties": "stable"}
    preset = partial(ndcg_score, y, scores, qid=qid, k=4)
    assert preset(**letor) == preset(convention="letor")
    assert preset(convention="letor", ties="worst") == preset(**letor | {"ties": "worst"})
    standard = {"discount": "log2", "empty": "drop", "short": "end", "ties": "average"}
    assert preset(convention="letor", **standard) == preset()


@pytest.mark.parametrize("metric", [ndcg_score, average_precision_score])
def test_queries_without_relevant_documents(metric):
    y, scores, qid = [1, 0, 0, 0], [2.0, 1.0, 2.0, 1.0], [1, 1, 2, 2]
    values = {empty: metric(y, scores, qid=qid, empty=empty) for empty in ("drop", "zero", "one")}
    assert values == {"drop": 1.0, "zero": 0.5, "one": 1.0}
    assert_array_equal(metric(y, scores, qid=qid, average=False), [1, np.nan])
    assert_array_equal(metric([0, 0], [2, 1], empty="one", average=False), [1])
    with pytest.raises(ValueError, match="y_true has no relevant document .* empty='zero'"):
        metric([0, 0], [2, 1])


def test_short_and_empty_query():
    """A dropped query stays dropped if it is short."""
    short = partial(ndcg_score, [1, 0, 0], [2, 1, 0], qid=[1, 1, 2], k=3, short="zero")
    assert_array_equal(short(average=False), [0, np.nan])
    assert_array_equal(short(average=False, empty="one"), [0, 1])


def test_custom_gains_and_discounts(documents):
    y, scores, qid = documents
    own = partial(dcg_score, y, scores, qid=qid, average=False)
    slow = partial(slow_dcg, gain=lambda y: y + 0.5, discount=lambda rank: 1 / rank)
    got = own(gain=lambda y: y + 0.5, discount=lambda ranks: 1 / ranks)
    assert_allclose(got, by_query(slow, documents, "average"))
    linear = by_query(partial(slow_dcg, gain=lambda y: y), documents, "average")
    assert_allclose(own(gain="linear"), linear)


@pytest.mark.parametrize("k", [None, 3])
def test_2d_arrays_as_in_scikit_learn(k):
    rng = np.random.RandomState(1)
    Y, scores = rng.randint(4, size=(30, 6)), rng.randint(5, size=(30, 6))
    Y[3] = 0
    assert ndcg_score(Y, scores, gain="linear", empty="zero", k=k) == pytest.approx(
        sklearn.metrics.ndcg_score(Y, scores, k=k)
    )
    assert dcg_score(Y, scores, gain="linear", k=k) == pytest.approx(
        sklearn.metrics.dcg_score(Y, scores, k=k)
    )
    relevant, untied = Y > 1, rng.permutation(180).reshape(30, 6)
    assert average_precision_score(relevant, untied, empty="one") == pytest.approx(
        sklearn.metrics.label_ranking_average_precision_score(relevant, untied)
    )


@every_metric
def test_rows_of_2d_arrays_are_queries(metric):
    rng = np.random.RandomState(1)
    Y, scores = rng.randint(3, size=(8, 5)), rng.randint(3, size=(8, 5))
    qid = np.repeat(np.arange(8), 5)
    expected = metric(Y.ravel(), scores.ravel(), qid=qid, average=False)
    assert_allclose(metric(Y, scores, average=False), expected)
    weight = rng.uniform(size=8)
    assert metric(Y, scores, sample_weight=weight) == pytest.approx(
        metric(Y.ravel(), scores.ravel(), qid=qid, sample_weight=weight[qid])
    )


@every_metric
def test_samples_may_be_shuffled_and_ids_renamed(metric, documents):
    y, scores, qid = documents
    expected = metric(y, scores, qid=qid, k=3, average=False)
    shuffled = np.random.RandomState(2).permutation(len(y))
    names = np.array([f"query {q:03}" for q in qid])
    got = metric(y[shuffled], scores[shuffled], qid=names[shuffled], k=3, average=False)
    assert_allclose(got, expected)


@every_metric
def test_without_ids_there_is_one_query(metric, documents):
    y, scores, _ = documents
    assert metric(y, scores) == metric(y, scores, qid=np.full(50, "all"))
    assert metric(y, scores, average=False).shape == (1,)


@every_metric
def test_weights_of_queries_are_the_means_of_their_samples(metric, documents):
    y, scores, qid = documents
    weight = np.random.RandomState(3).uniform(size=50)
    values = metric(y, scores, qid=qid, average=False)
    weights = np.array([weight[qid == q].mean() for q in sorted(set(qid))])
    kept = ~np.isnan(values)
    assert metric(y, scores, qid=qid, sample_weight=weight) == pytest.approx(
        np.average(values[kept], weights=weights[kept])
    )


@every_metric
def test_best_and_worst_order(metric):
    rng = np.random.RandomState(4)
    y, qid = rng.randint(3, size=100), rng.randint(9, size=100)
    best = metric(y, y, qid=qid)
    if metric is not dcg_score:
        assert best == pytest.approx(1)
    for scores in (rng.normal(size=100), np.zeros(100), -y):
        assert metric(y, scores, qid=qid) <= best + 1e-12
    assert metric(y, np.zeros(100), qid=qid, ties="worst") == pytest.approx(metric(y, -y, qid=qid))


@every_metric
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": [1, np.nan, 0]}, r"y_true must be finite, got nan at \(1,\)"),
        ({"y_true": [1, 0]}, r"y_score must have the shape of y_true, \(2,\), got \(3,\)"),
        ({"y_true": [[[1]]]}, r"y_true must hold relevance of shape"),
        ({"y_true": [], "y_score": []}, "0 sample"),
        ({"y_score": [1, np.inf, 0]}, r"y_score must be finite, got inf at \(1,\)"),
        ({"qid": [1, 2]}, r"qid must be of shape \(3,\), got \(2,\)"),
        ({"y_true": [[1, 0]], "y_score": [[1, 0]], "qid": [1]}, "leave qid out, or pass 1-d"),
        ({"y_true": [[1], [0]], "y_score": [[1], [0]]}, r"of shape \(2, 1\) has a query in each"),
        ({"k": 0}, "k must be a positive integer, .* or None for all documents, got 0"),
        ({"k": 2**63}, "k must be a positive integer, at most 9223372036854775807"),
        ({"k": 2.0}, "k must be a positive integer"),
        ({"k": True}, "k must be a positive integer"),
        ({"ties": "best"}, r"ties must be one of \['average', 'stable', 'worst'\], got 'best'"),
        ({"convention": "trec"}, r"convention must be one of \['letor', 'standard'\], got 'trec'"),
        ({"sample_weight": [1, 2]}, "sample_weight must have the shape"),
        ({"sample_weight": [1, 2, 1], "average": False}, "sample_weight only affects the mean"),
    ],
)
def test_bad_input(metric, arguments, message):
    arguments = {"y_true": [1, 0, 2], "y_score": [1.0, 2.0, 3.0]} | arguments
    with pytest.raises(ValueError, match=message):
        metric(arguments.pop("y_true"), arguments.pop("y_score"), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gain": None}, r"gain must be callable or one of .*, got None"),
        ({"gain": "log"}, r"gain must be callable or one of \['exponential', 'linear'\]"),
        ({"discount": ["log2"]}, "discount must be callable or one of"),
        ({"empty": 0}, r"empty must be one of \['drop', 'one', 'zero'\], got 0"),
        ({"short": "drop"}, "short must be one of"),
        ({"gain": lambda y: y - 1}, r"gain must be from 0 to 1e\+300, got -1.0 for the grade"),
        ({"gain": lambda y: y[:1]}, "gain must return a number for each entry"),
        ({"discount": lambda ranks: ranks}, "discount must return finite factors"),
    ],
)
def test_bad_options(arguments, message):
    with pytest.raises(ValueError, match=message):
        ndcg_score([1, 0, 2], [1.0, 2.0, 3.0], **arguments)


@pytest.mark.parametrize("grade", [-1, 1023, 5000])
@pytest.mark.parametrize("metric", [ndcg_score, dcg_score])
def test_grades_without_a_gain(metric, grade):
    with pytest.raises(ValueError, match=f"gain must be from 0 .* for the grade {grade}.0"):
        metric([1, 0, grade], [1.0, 2.0, 3.0])


def test_results_on_mq2008(letor_data):
    """Ridge on fold 1, with four conventions; the values were computed by other programs."""
    from sklearn.linear_model import Ridge

    X, y, _ = letor_data(1, 2, 3)
    X_test, y_test, qid = letor_data(5)
    ndcg = partial(ndcg_score, y_test, Ridge().fit(X, y).predict(X_test), qid=qid, k=10)
    figures = [ndcg(convention="letor"), ndcg(empty="zero"), ndcg(), ndcg(empty="one")]
    assert_allclose(figures, [0.213, 0.474, 0.704, 0.801], atol=0.001)


def test_letor_decreases_beyond_the_ends_of_queries(letor_data):
    """As do the official results of MQ2008 at 8 to 10: short queries have score 0 there."""
    X, y, qid = letor_data(1, 2, 3, 4, 5)
    ndcg = partial(ndcg_score, y, X[:, 39], qid=qid)
    letor = [ndcg(k=k, convention="letor") for k in (7, 8, 9)]
    assert letor[0] > letor[1] > 1.5 * letor[2]
    ended = [ndcg(k=k, convention="letor", short="end") for k in (7, 8, 9)]
    assert ended == sorted(ended)

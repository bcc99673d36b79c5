"""Samples grouped by query, against a loop over the ids."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklrank._checks.queries import Queries, check_qid
from sklrank.boosting import (
    AdaRank,
    HistGradientBoostingRanker,
    NDCGBoost,
    RankBoost,
    RankingRefiner,
    ResidualRefiner,
)
from sklrank.linear_model import PredtronQueryRanker
from sklrank.metrics import ndcg_scorer
from sklrank.metrics._document_values.values import TIES, list_documents
from sklrank.model_selection import QueryKFold


@pytest.mark.parametrize("n_queries", [2**16, 2**16 + 1])
def test_samples_of_more_queries_than_16_bit_integers(n_queries):
    random = np.random.RandomState(0)
    qid = random.permutation(np.append(np.arange(n_queries), random.randint(n_queries, size=9)))
    queries = Queries.from_qid(qid, n_samples=len(qid))
    assert_array_equal(queries.order, sorted(range(len(qid)), key=qid.tolist().__getitem__))
    scores = random.randint(3, size=len(qid))
    for ties in TIES:
        order = list_documents(queries, scores, scores, ties).order
        assert_array_equal(qid[order], np.sort(qid))
        same = np.diff(qid[order]) == 0
        assert (np.diff(scores[order])[same] <= 0).all()


@pytest.mark.parametrize(
    "qid",
    [
        [3, 1, 3, 3, 1, 2],
        ["b", "a", "b", "cc", "a", "b"],
        np.array(["b", "a", "b", "cc", "a", "b"], dtype=object),
        np.array([7.5, 7.5, -1.0, 2.0, -1.0, 7.5]),
        [True, False, True, True, False, False],
        np.array(["2020-01-02", "2020-01-01"] * 3, dtype="M8[D]"),
    ],
    ids=["int", "string", "object", "float", "bool", "date"],
)
def test_samples_of_each_query(qid):
    queries = Queries.from_qid(qid, n_samples=6)
    ids = np.asarray(qid).tolist()
    assert queries.names.tolist() == sorted(set(ids))
    assert queries.n_queries == len(set(ids))
    for i, name in enumerate(queries.names.tolist()):
        expected = [sample for sample in range(6) if ids[sample] == name]
        assert_array_equal(queries.order[queries.starts[i] : queries.starts[i + 1]], expected)
        assert_array_equal(queries.codes[expected], i)
        assert queries.sizes[i] == len(expected)
    for indices in (queries.codes, queries.order, queries.starts):
        assert indices.dtype == np.intp


def test_one_query_without_ids():
    queries = Queries.from_qid(None, n_samples=4)
    assert_array_equal(queries.order, range(4))
    assert_array_equal(queries.starts, [0, 4])
    assert queries.n_queries == 1


def test_no_query_without_samples():
    for qid in (None, []):
        queries = Queries.from_qid(qid, n_samples=0)
        assert queries.n_queries == 0
        assert_array_equal(queries.starts, [0])


def test_series_of_categories():
    pd = pytest.importorskip("pandas")
    codes, names = check_qid(pd.Series(["b", "a", "b"], dtype="category", index=[5, 5, 9]), 3)
    assert_array_equal(codes, [1, 0, 1])
    assert names.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([1, 2], r"qid must be of shape \(3,\), got \(2,\)"),
        ([[1], [2], [3]], r"qid must be of shape \(3,\), got \(3, 1\)"),
        ("abc", r"qid must be of shape \(3,\), got \(\)"),
        ([1.0, np.nan, 2.0], "qid must be known for every sample, got nan for sample 1"),
        ([1.0, np.inf, 2.0], "qid must be known for every sample, got inf for sample 1"),
        (np.array(["a", "a", None], dtype=object), "qid must "),
        (["a", "a", np.nan], "qid must hold ids of one kind"),  # NumPy makes it "nan".
        ([1, "1", 2], "qid must hold ids of one kind"),
        (np.array([None] * 3), "qid must "),
        (np.array([1, "a", 2], dtype=object), "qid must hold ids of one kind"),
        (np.array(["2020-01-01", "NaT", "NaT"], dtype="M8[D]"), "got NaT for sample 1"),
    ],
)
def test_refuses_malformed_ids(qid, message):
    with pytest.raises(ValueError, match=message):
        check_qid(qid, 3)


def test_refuses_missing_values_of_pandas():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="qid must "):
        check_qid(pd.Series([1, pd.NA, 2], dtype="Int64"), 3)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("span", [1, 50, 1000])
def test_integers_are_encoded_as_by_numpy(dtype, end, span):
    limits = np.iinfo(dtype)
    offsets = np.random.RandomState(0).randint(min(span, 127), size=60)
    qid = [limits.min + i if end == "low" else limits.max - i for i in offsets.tolist()]
    qid = np.array(qid, dtype=dtype)
    codes, names = check_qid(qid, 60)
    expected_names, expected = np.unique(qid, return_inverse=True)
    assert_array_equal(codes, expected)
    assert_array_equal(names, expected_names)
    assert names.dtype == dtype
    assert codes.dtype == np.intp


# -- The warning of rankers without qid.

RANKERS = {
    "HistGradientBoostingRanker": HistGradientBoostingRanker(max_iter=1),
    "NDCGBoost": NDCGBoost(n_estimators=1),
    "RankBoost": RankBoost(n_estimators=1),
    "AdaRank": AdaRank(n_estimators=1),
    "RankingRefiner": RankingRefiner(0, n_estimators=1, random_state=0),
    "ResidualRefiner": ResidualRefiner(0),
    "PredtronQueryRanker": PredtronQueryRanker(),
}


@pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
def test_rankers_without_qid_warn_of_many_samples(ranker):
    """Warnings are errors in these tests: all other calls must not warn."""
    random = np.random.RandomState(0)
    X = random.normal(size=(500, 2))
    y = (X[:, 0] > 0).astype(float)
    message = "all 500 samples count as .* one query.* qid=.*pass qid=np.zeros\\(len\\(X\\)\\)"
    with pytest.warns(UserWarning, match=message):
        forgotten = ranker.fit(X, y).predict(X)
    with pytest.warns(UserWarning, match=message):
        ranker.score(X, y)
    assert 0 < ranker.score(X[:499], y[:499]) <= 1
    ranker.fit(X[:499], y[:499])
    on_purpose = ranker.fit(X, y, qid=np.zeros(500))
    assert_array_equal(on_purpose.predict(X), forgotten)
    assert 0 < on_purpose.score(X, y, qid=np.zeros(500)) <= 1


# -- The error of rankers whose scorers do not get qid.


QID = np.repeat(np.arange(20), 5)
ROUTED = {"params": {"qid": QID}}
PIPELINE = make_pipeline(StandardScaler(), RankBoost(n_estimators=1))
CALLS = {
    "score": lambda ranker, X, y, **error: cross_val_score(ranker, X, y, **ROUTED, **error),
    "scorer": lambda ranker, X, y, **error: cross_val_score(
        ranker, X, y, scoring=ndcg_scorer, **ROUTED, **error
    ),
    "several": lambda ranker, X, y, **error: cross_validate(
        ranker, X, y, scoring={"ndcg": ndcg_scorer, "r2": "r2"}, **ROUTED, **error
    ),
    "search": lambda ranker, X, y, **error: GridSearchCV(ranker, {}, **error).fit(X, y, qid=QID),
    "pipeline": lambda ranker, X, y, **error: cross_val_score(
        PIPELINE, X, y, params={"rankboost__qid": QID}, **error
    ),
}


@pytest.mark.parametrize(
    ("ranker", "name"),
    [
        *(("RankBoost", name) for name in CALLS),
        ("ResidualRefiner", "score"),
        ("PredtronQueryRanker", "score"),
    ],
)
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_cross_validation_without_routing(name, ranker):
    """Without metadata routing, `fit` gets qid, but `score` does not.

    scikit-learn replaces errors of scorers by NaN, with a warning that has their text.
    """
    X = np.random.RandomState(0).normal(size=(100, 2))
    y = (X[:, 0] > 0).astype(float)
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        CALLS[name](RANKERS[ranker], X, y, error_score="raise")
    with pytest.warns(UserWarning, match="(?s)Scoring failed.*enable_metadata_routing=True"):
        CALLS[name](RANKERS[ranker], X, y)
    # Other scorers may know the queries.
    scores = cross_val_score(RANKERS[ranker], X, y, scoring=lambda *given: 0.5, **ROUTED)
    assert_array_equal(scores, [0.5] * 5)
    assert np.isfinite(cross_val_score(RANKERS[ranker], X, y)).all()
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            RANKERS[ranker], X, y, scoring=ndcg_scorer, cv=QueryKFold(3), **ROUTED
        )
    assert np.isfinite(scores).all()

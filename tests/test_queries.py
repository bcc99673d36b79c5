"""Samples grouped by query: comparison with a loop over the ids."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklrank._queries import Queries, check_qid


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
        expected = [j for j in range(6) if ids[j] == name]
        assert_array_equal(queries.order[queries.starts[i] : queries.starts[i + 1]], expected)
        assert_array_equal(queries.codes[expected], i)
        assert queries.sizes[i] == len(expected)
    for indices in (queries.codes, queries.order, queries.starts):
        assert indices.dtype == np.intp


def test_without_ids_there_is_one_query():
    queries = Queries.from_qid(None, n_samples=4)
    assert_array_equal(queries.order, range(4))
    assert_array_equal(queries.starts, [0, 4])
    assert queries.n_queries == 1


def test_without_samples_there_is_no_query():
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
        ([1.0, np.nan, 2.0], "qid must be known for every row, got .*nan.* in row 1"),
        (np.array(["a", "a", None], dtype=object), "qid must "),
        (np.array([None] * 3), "qid must "),
        (np.array([1, "a", 2], dtype=object), "qid must hold ids of one kind"),
        (np.array(["2020-01-01", "NaT", "NaT"], dtype="M8[D]"), "got .*NaT.* in row 1"),
    ],
)
def test_bad_ids(qid, message):
    with pytest.raises(ValueError, match=message):
        check_qid(qid, 3)


def test_missing_of_pandas():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="qid must "):
        check_qid(pd.Series([1, pd.NA, 2], dtype="Int64"), 3)

"""load_letor: reading of files in LETOR's format."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from sklrank.datasets import load_letor

TEXT = """\
2 qid:10 1:0.5 3:0.25 #docid = GX000-00 inc = 1 prob = 0.2
0 qid:10 1:0.1 2:1 #docid = GX000-01 inc = 1 prob = 0.3
# a comment

1 qid:7 2:-0.75
"""
DATA = [[0.5, 0, 0.25], [0.1, 1, 0], [0, -0.75, 0]]


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        return path

    return write


@pytest.mark.parametrize("name", ["train.txt", "train.txt.gz"])
@pytest.mark.parametrize("as_path", [str, lambda path: path])
def test_one_file(write, name, as_path):
    bunch = load_letor(as_path(write(name, TEXT)))
    assert_array_equal(bunch.data, DATA)
    assert_array_equal(bunch.target, [2, 0, 1])
    assert_array_equal(bunch.qid, [10, 10, 7])
    assert (bunch.data.dtype, bunch.target.dtype, bunch.qid.dtype) == (float, float, np.int64)


def test_files_of_a_fold_have_the_same_features(write):
    paths = [write("train.txt", TEXT), write("test.txt", "1 qid:3 1:4\n")]
    train, test = load_letor(paths)
    assert_array_equal(train.data, DATA)
    assert_array_equal(test.data, [[4, 0, 0]])
    assert_array_equal(load_letor(paths[1]).data, [[4]])
    assert_array_equal(load_letor(paths[1], n_features=3).data, [[4, 0, 0]])
    (X, y, qid), _ = load_letor(paths, return_X_y_qid=True, sparse=True)
    assert sparse.issparse(X)
    assert_array_equal(X.toarray(), DATA)
    assert_array_equal(y, train.target)
    assert_array_equal(qid, train.qid)


@pytest.mark.parametrize("zero_based", [False, True])
def test_round_trip(tmp_path, zero_based):
    rng = np.random.RandomState(0)
    X, y, qid = rng.normal(size=(30, 4)), rng.randint(3, size=30), rng.randint(9, size=30)
    path = str(tmp_path / "data.txt")
    dump_svmlight_file(X, y, path, query_id=qid, zero_based=zero_based)
    read = load_letor(path, zero_based=zero_based, return_X_y_qid=True)
    for got, expected in zip(read, (X, y, qid)):
        assert_allclose(got, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("1 1:3\n", {}, "train.txt has 1 lines, but 0 query ids"),
        ("1 qid:3 1:3\n1 1:2\n", {}, "train.txt has 2 lines, but 1 query ids"),
        (TEXT, {"n_features": 2}, "n_features was set to 2"),
        ("1 qid:3 0:3\n", {}, "Invalid index 0"),
        ("1 qid:3 1:a\n", {}, "could not convert string to float"),
    ],
)
def test_bad_files(write, text, arguments, message):
    with pytest.raises(ValueError, match=message):
        load_letor(write("train.txt", text), **arguments)


def test_no_file():
    with pytest.raises(ValueError, match="path must name a file"):
        load_letor([])

"""load_letor: reading of files in LETOR's format."""

import bz2
import gzip

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from sklrank.datasets import _text_files, load_letor

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
        compress = {"gz": gzip.compress, "bz2": bz2.compress}.get(name.rpartition(".")[2], bytes)
        path.write_bytes(compress(text.encode("latin-1")))
        return path

    return write


@pytest.mark.parametrize("name", ["train.txt", "train.txt.gz", "train.bz2"])
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


def test_leading_zeros_of_ids_do_not_matter_beside_names(write):
    path = write("names.txt", "1 qid:007 1:1\n0 qid:WT1 1:2\n2 qid:007 1:3\n")
    assert_array_equal(load_letor(path).qid, ["7", "WT1", "7"])


def test_names_of_queries_in_letor_3(write):
    text = "1 qid:WT04-170 1:0.25 2:5 # G00-01\n0 qid:12 1:0.1\n0 qid:WT_04 2:1\n"
    found = load_letor(write("np.txt", text))
    assert found.qid.tolist() == ["WT04-170", "12", "WT_04"]
    assert_array_equal(found.data, [[0.25, 5], [0.1, 0], [0, 1]])


def test_hashes_and_other_alphabets_as_ids(write):
    ids = [str(2**63 - 1), str(2**64), "na\xefve"]
    for n in (1, 2, 3):
        text = "".join(f"1 qid:{each} 1:1\n" for each in ids[:n]).encode().decode("latin-1")
        assert load_letor(write("hashes.txt", text)).qid.astype(str).tolist() == ids[:n]


@pytest.mark.parametrize("missing", ["NULL", "1.79769313486e+308"])
def test_missing_values_in_letor_4_and_istella(write, missing):
    text = f"2 qid:10 1:0.3 2:{missing} 3:1\n0 qid:10 1:{missing} 2:-4.5\n"
    found = load_letor(write("train.txt", text))
    assert_array_equal(found.data, [[0.3, np.nan, 1], [np.nan, -4.5, 0]])


@pytest.mark.parametrize("zero_based", [False, True])
def test_round_trip(tmp_path, zero_based):
    rng = np.random.RandomState(0)
    X, y, qid = rng.normal(size=(30, 4)), rng.randint(3, size=30), rng.randint(9, size=30)
    path = str(tmp_path / "data.txt")
    dump_svmlight_file(X, y, path, query_id=qid, zero_based=zero_based)
    read = load_letor(path, zero_based=zero_based, return_X_y_qid=True)
    for got, expected in zip(read, (X, y, qid)):
        assert_allclose(got, expected, rtol=1e-14)


def test_agrees_with_scikit_learn(tmp_path):
    """Documents without features, explicit zeros and missing values among them."""
    rng = np.random.RandomState(0)
    lines = []
    for _ in range(200):
        indices = np.flatnonzero(rng.uniform(size=30) < rng.uniform()) + 1
        values = rng.choice([0.0, 1.0, np.nan, -2.5e-7, 3e200, rng.normal()], len(indices))
        features = " ".join(f"{index}:{value!r}" for index, value in zip(indices, values.tolist()))
        lines.append(f"{rng.randint(5)} qid:{rng.randint(-3, 99)}  {features} # qid:5 1:2")
    path = tmp_path / "data.txt"
    path.write_text("\n".join(lines))
    for got, expected in zip(
        load_letor(path, return_X_y_qid=True, sparse=True),
        load_svmlight_file(str(path), query_id=True, zero_based=False),
    ):
        if sparse.issparse(got):
            assert_array_equal(got.indptr, expected.indptr)
            assert_array_equal(got.indices, expected.indices)
            got, expected = got.data, expected.data
        assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 1:3", "there is no query id after the grade.* as in '2 qid:10"),
        ("1", "there is no query id"),
        ("1 1:3 qid:3", "there is no query id"),
        ("1 1:3 # qid:3", "there is no query id"),
        ("1 qid:3.5 1:3", "A line has a grade, a query id"),
        ("1 qid:3 qid:4 1:3", "A line has a grade, a query id"),
        ("1 qid:3 1", "pairs of a feature index and a value"),
        ("1 qid:3 1:2:3 4", "pairs of a feature index and a value"),
        ("1 qid:3 1:a", "could not convert string to float"),
        ("1 qid:3 a:1", "invalid literal for int"),
        ("1 qid:3 1:1_0", "numbers cannot have underscores"),
        ("1 qid:1_0 1:1", "numbers cannot have underscores"),
        ("1 qid:3\xff 1:2", "A line has a grade"),
        ("one qid:3 1:2", "could not convert string to float"),
        ("1,2 qid:3 1:2", "A line has a grade"),
        ("nan qid:3 1:2", "grade must be a finite number of 0 or more.* got nan"),
        ("inf qid:3 1:2", "got inf"),
        ("1e999 qid:3 1:2", "got inf"),
        ("-1 qid:3 1:2", "remove documents that were not judged .*got -1"),
        ("1 qid:3 0:3", "Invalid index 0"),
        ("1 qid:3 2:1 1:1", "should be sorted and unique"),
        ("1 qid:3 2:1 2:1", "should be sorted and unique"),
        ("1 qid:3 9223372036854775808:1", "A line has a grade"),
    ],
)
def test_bad_lines(write, line, message):
    """The error names the line, and of several files the right one."""
    good = "# head\n\n1 qid:1 1:1\n2 qid:2\n"
    for name in ("train.txt", "train.txt.gz", "train.bz2"):
        paths = [write("vali.txt", good), write(name, f"{good}{line}\n1 qid:9 1:3\n")]
        with pytest.raises(ValueError, match=rf"{name}, line 5: .*{message}"):
            load_letor(paths)


@pytest.mark.parametrize(
    ("line", "arguments", "message"),
    [
        ("1 qid:3 2:inf", {}, "train.txt: a feature of document 2 .* is infinite"),
        ("1 qid:3 1:1 2:-1e999", {}, "train.txt: a feature of document 2 .* is infinite"),
        ("1 qid:3 -1:3", {"zero_based": True}, "train.txt, line 5: Invalid index -1"),
        ("1 qid:3 2:1 3:1 4:1", {"n_features": 3}, "n_features=3, but .*train.txt has 4 feat"),
        ("1 qid:3 3:1", {"n_features": 3, "zero_based": True}, "train.txt has 4 features"),
        ("1 qid:3 2147483647:1", {}, r"array of 2147483647 features .* pass sparse=True, or n_f"),
        ("1 qid:3 2147483648:1", {}, "train.txt, line 5: value too large"),
    ],
)
def test_bad_features(write, line, arguments, message):
    good = "# head\n\n1 qid:1 1:1\n2 qid:2\n"
    paths = [write("vali.txt", good), write("train.txt", f"{good}{line}\n1 qid:9 1:3\n")]
    with pytest.raises(ValueError, match=message):
        load_letor(paths, **arguments)


@pytest.mark.parametrize("n_features", [0, -1])
def test_numbers_of_features_out_of_range(write, n_features):
    with pytest.raises(ValueError, match="n_features == "):
        load_letor(write("train.txt", TEXT), n_features=n_features)
    for other in (2.5, "3", True):
        with pytest.raises(TypeError, match="n_features must be"):
            load_letor(write("train.txt", TEXT), n_features=other)


def test_large_indices_are_sparse(write):
    path = write("train.txt", "1 qid:3 1:2 2147483647:5\n")
    X = load_letor(path, sparse=True).data
    assert X.shape == (1, 2147483647)
    assert X[0, 0] == 2 and X[0, 2147483646] == 5
    assert load_letor(path, sparse=True, n_features=2147483647).data.shape == X.shape
    assert load_letor(write("small.txt", "1 qid:3 9999999:2\n")).data.shape == (1, 9999999)


def test_number_of_features_allows_large_arrays(write, monkeypatch):
    monkeypatch.setattr(_text_files, "MAX_ENTRIES", 1000)
    path = write("train.txt", "1 qid:3 1:2\n1 qid:3 600:5\n")
    with pytest.raises(ValueError, match="an array of 600 features and 1200 entries"):
        load_letor(path)
    assert load_letor(path, n_features=600).data.shape == (2, 600)
    # A hundredth of the entries is in the file.
    features = " ".join(f"{index}:1" for index in range(1, 12))
    path = write("train.txt", f"1 qid:3 {features}\n1 qid:3 600:5\n")
    assert load_letor(path).data.shape == (2, 600)


def test_byte_order_mark_and_comments_of_any_encoding(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(b"\xef\xbb\xbf1 qid:3 2:4 # na\xefve\n# \xff\r\n2 qid:3 1:nan\r\n")
    X, y, qid = load_letor(path, return_X_y_qid=True)
    assert_array_equal(X, [[0, 4], [np.nan, 0]])
    assert_array_equal(y, [1, 2])
    assert_array_equal(qid, [3, 3])


def test_files_without_documents(write):
    with pytest.raises(ValueError, match="empty.txt has no document"):
        load_letor(write("empty.txt", "# nothing\n"))


@pytest.mark.parametrize("name", ["train.gz", "train.bz2"])
def test_truncated_files(write, name):
    path = write(name, TEXT * 20)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=f"{name} is damaged: "):
        load_letor(path)


def test_no_file():
    with pytest.raises(ValueError, match="path must name a file"):
        load_letor([])

"""load_label_ranking: the formats in which the benchmark files circulate."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklrank.datasets import load_label_ranking

X = [[0.5, -1], [np.nan, 2.5], [3, 4]]
POSITIONS = [[3, 1, 2], [1, 2, 3], [2, 3, 1]]
AS_ORDERINGS = [[2, 3, 1], [1, 2, 3], [3, 1, 2]]
"""The same numbers as orderings of labels, best first."""

NAMES = "A1,A2,L1,L2,L3\n0.5,-1,3,1,2\n?,2.5,1,2,3\n3,4,2,3,1\n"
LAYOUTS = {
    "names": NAMES,
    "tabs": NAMES.replace(",", "\t"),
    "semicolons": NAMES.replace(",", ";").replace("\n", "\r\n"),
    "quoted": NAMES.replace("A1", '"A1"').replace("-1", '"-1"'),
    "counted from 0": "A1,A2,L1,L2,L3\n0.5,-1,2,0,1\n,2.5,0,1,2\n\n3,4,1,2,0\n",
    "texts": "A1,A2,ranking\n0.5,-1,L2>L3>L1\n?,2.5,L1>L2>L3\n3,4,L3>L1>L2\n",
    "texts and numbers": (
        "A1,A2,ranking,L1,L2,L3\n0.5,-1,L2>L3>L1,2.0,0.0,1.0\n"
        "?,2.5,L1>L2>L3,0.0,1.0,2.0\n3,4,L3>L1>L2,1.0,2.0,0.0\n"
    ),
}


@pytest.fixture
def write(tmp_path):
    def write_file(text):
        path = tmp_path / "data.txt"
        path.write_bytes(text.encode())
        return path

    return write_file


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("orderings", [False, True])
def test_all_formats_give_the_same_data(write, layout, orderings):
    bunch = load_label_ranking(write(LAYOUTS[layout]), orderings=orderings)
    assert_array_equal(bunch.data, X)
    assert_array_equal(bunch.target, AS_ORDERINGS if orderings else POSITIONS)
    assert bunch.data.dtype == bunch.target.dtype == np.float64
    assert bunch.feature_names == ["A1", "A2"]
    assert bunch.target_names == ["L1", "L2", "L3"]


@pytest.mark.parametrize("labels", [-3, ["L1", "L2", "L3"]])
def test_labels_given(write, labels):
    data, target = load_label_ranking(write(NAMES), labels=labels, return_X_y=True)
    assert_array_equal(data, X)
    assert_array_equal(target, POSITIONS)


def test_labels_in_front_or_in_another_order(write):
    path = write("a,b,x\n2,1,0.5\n1,2,0.7\n")
    bunch = load_label_ranking(path, labels=2)
    assert_array_equal(bunch.target, [[2, 1], [1, 2]])
    assert_array_equal(bunch.data, [[0.5], [0.7]])
    assert_array_equal(load_label_ranking(path, labels=["b", "a"]).target, [[1, 2], [2, 1]])


def test_given_labels_override_rankings_as_strings(write):
    bunch = load_label_ranking(write("A1,ranking,a,b\n1,9,1,0\n"), labels=["a", "b"])
    assert_array_equal(bunch.target, [[2, 1]])
    assert bunch.feature_names == ["A1", "ranking"]


def test_incomplete_and_partial_rankings(write):
    expected = [[3, 1, 1], [np.nan, 1, 2], [np.nan, np.nan, np.nan]]
    numbers = load_label_ranking(write("A1,L1,L2,L3\n0,9,4,4\n0,?,1,3\n0,,,\n"))
    assert_array_equal(numbers.target, expected)
    texts = load_label_ranking(write("A1,ranking\n0,b=c>a\n0,b>c\n0,?\n"))
    assert_array_equal(texts.target, expected)
    assert texts.target_names == ["a", "b", "c"]


def test_rankings_beside_given_labels_are_not_a_feature(write):
    path = write("A1,ranking,a,b\n1,b>a,1,0\n")
    with pytest.raises(ValueError, match="column 'ranking' must be a finite number, got 'b>a'"):
        load_label_ranking(path, labels=["a", "b"])
    bunch = load_label_ranking(path)
    assert bunch.feature_names == ["A1"]
    assert_array_equal(bunch.target, [[2, 1]])


def test_separators_in_quotes(write):
    bunch = load_label_ranking(write('A1,"height, cm",L1,L2\n1,"7",1,2\n'))
    assert bunch.feature_names == ["A1", "height, cm"]
    assert_array_equal(bunch.data, [[1, 7]])


@pytest.mark.parametrize("head", ["A1,a,b,ranking", "a,A1,b,ranking", "a,b,A1,ranking"])
def test_columns_of_labels_before_rankings_are_not_features(write, head):
    """They would reveal the target."""
    values = {"A1": "5", "a": "2", "b": "1", "ranking": "b>a"}
    row = ",".join(values[name] for name in head.split(","))
    bunch = load_label_ranking(write(f"{head}\n{row}\n"))
    assert bunch.feature_names == ["A1"]
    assert_array_equal(bunch.data, [[5]])
    assert_array_equal(bunch.target, [[2, 1]])


@pytest.mark.parametrize("head", ["A1,ranking,a,b,A2", "ranking,A2,a,b,A1"])
def test_features_after_rankings_are_not_labels(write, head):
    with pytest.raises(ValueError, match=r"no ranking contains \['A.*put features before it"):
        load_label_ranking(write(head + "\n" + head.replace("ranking", "b>a").replace("A", "")))


def test_incomplete_orderings(write):
    bunch = load_label_ranking(write("x,L1,L2,L3\n0,3,1,\n0,2,3,1\n"), orderings=True)
    assert_array_equal(bunch.target, [[2, np.nan, 1], [3, 1, 2]])


def test_gzip_and_encoding(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(gzip.compress(NAMES.encode()))
    assert_array_equal(load_label_ranking(str(path)).target, POSITIONS)
    path.write_bytes("Größe,L1,L2\n1,1,2\n".encode("latin-1"))
    assert load_label_ranking(path, encoding="latin-1").feature_names == ["Größe"]
    with pytest.raises(ValueError, match="not encoded in 'utf-8'"):
        load_label_ranking(path)


@pytest.mark.parametrize(
    "text, parameters, problem",
    [
        ("", {}, "is empty"),
        ("A,B,C,D\n1,2,3,4\n", {}, "labels is None, and .* has neither columns L1"),
        (NAMES, {"labels": 5}, "labels must be a number from 1 to 4"),
        (NAMES, {"labels": 0}, "labels must be a number"),
        (NAMES, {"labels": 1}, "labels must be two columns or more"),
        (NAMES, {"labels": "L1"}, "labels must be an integer or a list of names"),
        (NAMES, {"labels": ["L1", "L9"]}, "labels names 1 column.* does not have, such as 'L9'"),
        (NAMES, {"labels": [["L1", "L2"]]}, "labels must be an integer or a list of names"),
        (NAMES, {"labels": 1.5}, "labels must be an integer or a list of names, got 1.5"),
        (NAMES, {"labels": ["L1", "L1"]}, "labels must be two columns or more, each once"),
        (NAMES, {"labels": {"L1", "L2"}}, "labels must be an integer or a list of names"),
        (NAMES + "1_0,2,1,2,3\n", {}, "line 5: column 'A1' must be a finite number, got '1_0'"),
        (NAMES + "1,inf,1,2,3\n", {}, "line 5: column 'A2' must be a finite number, got 'inf'"),
        (NAMES + "1,2,1,1e999,3\n", {}, "line 5: column 'L2' must be a finite number"),
        ("2,²,3\n1,2,3\n", {}, r"neither columns L1.*, but \['2', '²', '3'\]"),
        (NAMES, {"encoding": "nope"}, "encoding must be the name of a text encoding"),
        (NAMES + "1,2,3\n", {}, "data.txt, line 5: 3 values for 5 columns"),
        (NAMES + "1,red,1,2,3\n", {}, "line 5: column 'A2' must be a finite number, got 'red'"),
        (NAMES + "1,2,1,first,3\n", {}, "line 5: column 'L2' must be a finite number, got 'first'"),
        (
            NAMES + "1,2,1,1,3\n",
            {"orderings": True},
            "orderings=True, the file lists a label twice",
        ),
        (NAMES + "1,2,1,?,3\n", {"orderings": True}, "the file must list the ranked labels first"),
        (NAMES + "1,2,1,9,3\n", {"orderings": True}, "lists 9.0 in row 3, which is not in"),
        ("A;L1;L2\n0,5;1;2\n1,5;2;1\n", {}, "column 'A' must be a finite number, got '0,5'"),
        ("A,A,L1,L2\n", {}, "first line must name each column once"),
        ("A1,ranking,a,b\n1,a>c,1,2\n", {}, "line 2: 'a>c' is not a ranking of the labels"),
        ("A1,ranking,a,b\n1,a>a,1,2\n", {}, "line 2: 'a>a' is not a ranking of the labels"),
        ("A1,ranking,a,b\n1,a=b,1,2\n", {"orderings": True}, "lists a label twice in row 0"),
        ("@relation r\n@attribute A1 real\n", {}, "has neither columns L1"),
    ],
)
def test_files_that_cannot_be_read(write, text, parameters, problem):
    with pytest.raises(ValueError, match=problem):
        load_label_ranking(write(text), **parameters)

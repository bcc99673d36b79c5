"""fetch_multilabel without a network: a fake of fetch_openml."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.utils import Bunch

from sklrank.datasets import _fetch as module
from sklrank.datasets import fetch_multilabel


@pytest.fixture
def openml(monkeypatch):
    """Replace fetch_openml; the dict holds its return value and receives its arguments."""
    state = {}

    def fake(**arguments):
        state["asked"] = arguments
        return state["bunch"]

    monkeypatch.setattr(module, "fetch_openml", fake)
    return state


def make_bunch(name, data, target):
    return Bunch(
        data=data,
        target=np.where(target, "TRUE", "FALSE").astype(object),
        feature_names=[f"x{i}" for i in range(data.shape[1])],
        target_names=[f"y{i}" for i in range(target.shape[1])],
        categories={},
        DESCR="fake",
        url="https://www.openml.org/d/0",
        details={"name": name},
    )


def test_bunch(openml, tmp_path):
    data, target = np.arange(6.0).reshape(3, 2), np.array([[0, 1], [1, 1], [0, 0]])
    openml["bunch"] = make_bunch("langLog", data, target)
    bunch = fetch_multilabel("langlog", data_home=tmp_path, cache=False)
    assert_array_equal(bunch.data, data)
    assert_array_equal(bunch.target, target)
    assert bunch.target.dtype == np.int64
    assert bunch.feature_names == ["x0", "x1"] and bunch.target_names == ["y0", "y1"]
    assert bunch.DESCR == "fake"
    asked = openml["asked"]
    assert (asked["data_id"], asked["data_home"], asked["cache"]) == (41469, tmp_path, False)

    X, Y = fetch_multilabel("langlog", return_X_y=True)
    assert_array_equal(X, data)
    assert_array_equal(Y, target)


def test_sparse_data_become_csr(openml):
    openml["bunch"] = make_bunch("enron", sparse.coo_matrix(np.eye(3)), np.eye(3, dtype=int))
    assert fetch_multilabel("enron").data.format == "csr"


@pytest.mark.parametrize("values", [("0", "1"), (b"FALSE", b"TRUE"), (0.0, 1.0), (False, True)])
def test_label_spellings(openml, values):
    target = np.array([[0, 1], [1, 0]])
    bunch = make_bunch("birds", np.eye(2), target)
    if isinstance(values[0], bytes):
        values = tuple(value.decode() for value in values)
    bunch.target = np.array(values)[target]
    openml["bunch"] = bunch
    assert_array_equal(fetch_multilabel("birds").target, target)


def test_wrong_parameters(openml):
    with pytest.raises(ValueError, match="name must be one of .*'yeast'.*got 'yaest'"):
        fetch_multilabel("yaest")
    assert "asked" not in openml


def test_openml_returns_something_else(openml):
    openml["bunch"] = make_bunch("iris", np.eye(2), np.eye(2, dtype=int))
    with pytest.raises(ValueError, match="should be 'yeast' but is 'iris'"):
        fetch_multilabel("yeast")
    openml["bunch"] = bunch = make_bunch("yeast", np.eye(2), np.eye(2, dtype=int))
    bunch.target = np.array([["a", "b"], ["c", "d"]])
    with pytest.raises(ValueError, match="columns of TRUE and FALSE.*'a', 'b'"):
        fetch_multilabel("yeast")

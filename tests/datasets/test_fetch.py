"""fetch_multilabel without a network: a fake of fetch_openml, and real connection errors."""

import socket
import time
import warnings

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
        state["timeout"] = socket.getdefaulttimeout()
        warnings.warn("Version 3 of dataset is inactive", UserWarning, stacklevel=2)
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
    bunch = fetch_multilabel("langlog", data_home=tmp_path, cache=False, timeout=3)
    assert_array_equal(bunch.data, data)
    assert_array_equal(bunch.target, target)
    assert bunch.target.dtype == np.int64
    assert bunch.feature_names == ["x0", "x1"] and bunch.target_names == ["y0", "y1"]
    assert bunch.DESCR == "fake"
    asked = openml["asked"]
    assert (asked["data_id"], asked["data_home"], asked["cache"]) == (41469, tmp_path, False)
    assert openml["timeout"] == 3 and socket.getdefaulttimeout() is None

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
    with pytest.raises(ValueError, match="timeout"):
        fetch_multilabel("birds", timeout=0)
    for too_long in (1e300, 1e9, np.inf):
        with pytest.raises(ValueError, match="timeout == .* must be <= 604800"):
            fetch_multilabel("birds", timeout=too_long)
    assert "asked" not in openml


def test_openml_returns_something_else(openml):
    openml["bunch"] = make_bunch("iris", np.eye(2), np.eye(2, dtype=int))
    with pytest.raises(ValueError, match="should be 'yeast' but is 'iris'"):
        fetch_multilabel("yeast")
    openml["bunch"] = bunch = make_bunch("yeast", np.eye(2), np.eye(2, dtype=int))
    bunch.target = np.array([["a", "b"], ["c", "d"]])
    with pytest.raises(ValueError, match="columns of TRUE and FALSE.*'a', 'b'"):
        fetch_multilabel("yeast")


@pytest.fixture
def silent_proxy(monkeypatch):
    """Send all requests to a server that accepts connections but never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(variable, url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        yield server


@pytest.mark.parametrize("cache", [True, False])
def test_server_that_never_answers(silent_proxy, tmp_path, recwarn, cache):
    start = time.perf_counter()
    with pytest.raises(ConnectionError, match="'yeast' .*within 0.2 s.*load_arff") as info:
        fetch_multilabel("yeast", data_home=tmp_path, cache=cache, timeout=0.2)
    assert time.perf_counter() - start < 2
    assert str(tmp_path) in str(info.value)
    assert isinstance(info.value.__cause__, OSError)
    assert socket.getdefaulttimeout() is None
    assert not recwarn.list


def test_refused_connection(silent_proxy, tmp_path, recwarn):
    silent_proxy.close()
    with pytest.raises(ConnectionError, match="there is no network.*data_home"):
        fetch_multilabel("yeast", data_home=tmp_path)
    assert not recwarn.list

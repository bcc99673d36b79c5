"""Tests of the code that the example scripts share; `.ci/run` runs the scripts."""

import _multilabel
import numpy as np
import pytest
from _keyword_documents import make_keyword_documents
from numpy.testing import assert_array_equal


@pytest.fixture
def multilabel(monkeypatch):
    """The examples' loader of multilabel data, without a folder of benchmark data."""
    monkeypatch.delenv("SKLRANK_DATA", raising=False)
    return _multilabel


@pytest.mark.parametrize("train_first", [True, False])
def test_the_training_samples_are_at_an_end_of_the_file(multilabel, monkeypatch, train_first):
    random = np.random.RandomState(0)
    X, Y = random.normal(size=(30, 4)), random.randint(2, size=(30, 3))
    order = np.arange(30) if train_first else np.roll(np.arange(30), 10)
    counts = tuple(sorted(Y[:20].sum(axis=0)))
    monkeypatch.setitem(multilabel.ON_OPENML, "scene", (20, counts))
    monkeypatch.setattr(
        multilabel, "fetch_multilabel", lambda name, return_X_y: (X[order], Y[order])
    )
    for part, expected in zip(multilabel.load("scene"), (X[:20], Y[:20], X[20:], Y[20:])):
        np.testing.assert_array_equal(part, expected)
    monkeypatch.setitem(multilabel.ON_OPENML, "scene", (20, (0, 0, 0)))
    with pytest.raises(SystemExit, match="at neither end"):
        multilabel.load("scene")
    names = ["scene", "emotions", "mediamill_reduced"]
    assert multilabel.available(names) == ["scene", "emotions"]
    with pytest.raises(SystemExit, match="mediamill_reduced is not on OpenML: set SKLRANK_DATA"):
        multilabel.load("mediamill_reduced")


@pytest.mark.parametrize("name", ["emotions", "scene", "yeast"])
def test_numbers_of_labels_are_those_of_the_training_samples(benchmark_folder, multilabel, name):
    arrays = np.load(benchmark_folder / "multilabel" / f"{name}.npz")
    Y = arrays["Y_train"]
    assert (len(Y), tuple(sorted(Y.sum(axis=0).tolist()))) == multilabel.ON_OPENML[name]


def test_data_come_from_the_folder_if_there_is_one(multilabel, monkeypatch, tmp_path):
    arrays = {"X_train": [[1]], "Y_train": [[2]], "X_test": [[3]], "Y_test": [[4]]}
    (tmp_path / "multilabel").mkdir()
    np.savez(tmp_path / "multilabel" / "any.npz", **arrays)
    monkeypatch.setenv("SKLRANK_DATA", str(tmp_path))
    assert multilabel.available(["any", "scene"]) == ["any", "scene"]
    assert [part.tolist() for part in multilabel.load("any")] == [[[1]], [[2]], [[3]], [[4]]]


def test_keyword_documents_are_separable_without_noise():
    """The score 2 v'x - |v|, of the 0/1 vector v of the keywords of a class, finds the class."""
    X, y = make_keyword_documents(9000, random_state=0)
    heads, others = X[:, :120], X[:, 120:]
    v = np.array([np.asarray(heads[y == k].sum(axis=0)) > 0 for k in range(9)]).astype(float)
    assert np.all((20 <= v.sum(axis=1)) & (v.sum(axis=1) <= 40))
    assert_array_equal(np.asarray(heads.sum(axis=1)).ravel(), v.sum(axis=1)[y] - 5)
    assert_array_equal(np.asarray(others.sum(axis=1)).ravel(), 20)
    assert_array_equal((2 * heads @ v.T - v.sum(axis=1)).argmax(axis=1), y)
    noisy_X, noisy_y = make_keyword_documents(9000, label_noise=0.3, random_state=0)
    assert (X != noisy_X).nnz == 0
    assert np.mean(y != noisy_y) == pytest.approx(0.3 * 8 / 9, abs=0.02)

"""Tests of the code that the example scripts share; `.ci/run` runs the scripts."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sklrank.datasets import _fetch

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def multilabel(monkeypatch):
    """The examples' loader of multilabel data, without a folder of benchmark data."""
    monkeypatch.delenv("SKLRANK_DATA", raising=False)
    spec = importlib.util.spec_from_file_location("_multilabel", EXAMPLES / "_multilabel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_data_with_a_known_split_come_from_openml(multilabel, monkeypatch):
    def fetch_multilabel(name, *, split, return_X_y):
        assert name in _fetch._SPLITS and split == "original" and return_X_y
        return tuple(f"{part} of {name}" for part in ("X_train", "X_test", "Y_train", "Y_test"))

    monkeypatch.setattr(multilabel, "fetch_multilabel", fetch_multilabel)
    names = ["scene", "emotions", "mediamill_reduced"]
    assert multilabel.available(names) == ["scene", "emotions"]
    assert multilabel.load("scene") == tuple(
        f"{part} of scene" for part in ("X_train", "Y_train", "X_test", "Y_test")
    )
    assert set(multilabel.ON_OPENML) == set(_fetch._SPLITS)
    with pytest.raises(SystemExit, match="mediamill_reduced is not on OpenML: set SKLRANK_DATA"):
        multilabel.load("mediamill_reduced")


def test_data_come_from_the_folder_if_there_is_one(multilabel, monkeypatch, tmp_path):
    arrays = {"X_train": [[1]], "Y_train": [[2]], "X_test": [[3]], "Y_test": [[4]]}
    (tmp_path / "multilabel").mkdir()
    np.savez(tmp_path / "multilabel" / "any.npz", **arrays)
    monkeypatch.setenv("SKLRANK_DATA", str(tmp_path))
    assert multilabel.available(["any", "scene"]) == ["any", "scene"]
    assert [part.tolist() for part in multilabel.load("any")] == [[[1]], [[2]], [[3]], [[4]]]

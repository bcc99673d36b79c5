"""Load the multilabel data sets of the papers, in MULAN's original split."""

import os
import sys
from pathlib import Path

import numpy as np

from sklrank.datasets import fetch_multilabel

ON_OPENML = ("emotions", "scene", "yeast")


def available(names):
    """Return the available data sets: all if `SKLRANK_DATA` is set, else those on OpenML."""
    return [name for name in names if os.environ.get("SKLRANK_DATA") or name in ON_OPENML]


def load(name):
    """Return `X_train, Y_train, X_test, Y_test`."""
    folder = os.environ.get("SKLRANK_DATA")
    if folder:
        with np.load(Path(folder) / "multilabel" / f"{name}.npz", allow_pickle=True) as data:
            return [data[key] for key in ("X_train", "Y_train", "X_test", "Y_test")]
    if name not in ON_OPENML:
        sys.exit(f"{name} is not on OpenML: set SKLRANK_DATA to the folder of the benchmark data")
    X_train, X_test, Y_train, Y_test = fetch_multilabel(name, split="original", return_X_y=True)
    return X_train, Y_train, X_test, Y_test

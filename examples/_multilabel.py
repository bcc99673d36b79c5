"""The multilabel sets of the papers, in MULAN's original split, for the scripts beside it."""

import os
import sys
from pathlib import Path

import numpy as np

from sklrank.datasets import fetch_multilabel

ON_OPENML = ("emotions", "scene", "yeast")


def at_hand(names):
    """Those that the folder of the benchmark data holds or, where none is named, OpenML."""
    return [name for name in names if os.environ.get("SKLRANK_DATA") or name in ON_OPENML]


def load(name):
    """`X_train, Y_train, X_test, Y_test`."""
    folder = os.environ.get("SKLRANK_DATA")
    if folder:
        with np.load(Path(folder) / "multilabel" / f"{name}.npz", allow_pickle=True) as data:
            return [data[key] for key in ("X_train", "Y_train", "X_test", "Y_test")]
    if name not in ON_OPENML:
        sys.exit(f"SKLRANK_DATA must name the folder of the benchmark data: OpenML has no {name}")
    X_train, X_test, Y_train, Y_test = fetch_multilabel(name, split="original", return_X_y=True)
    return X_train, Y_train, X_test, Y_test

"""Load the multilabel data sets of the papers, in MULAN's original split."""

import os
import sys
from pathlib import Path

import numpy as np

from sklrank.datasets import fetch_multilabel

# Sets on OpenML, with the numbers of training samples with each label, in increasing order. They
# tell at which end of OpenML's file the training samples are.
ON_OPENML = {
    "emotions": (391, (89, 95, 107, 119, 131, 168)),
    "scene": (1211, (165, 196, 197, 224, 227, 277)),
    "yeast": (1500, (21, 98, 161, 198, 261, 289, 378, 441, 476, 532, 598, 645, 1116, 1128)),
}


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
    return original_split(name, *fetch_multilabel(name, return_X_y=True))


def original_split(name, X, Y):
    """Return the training and the test samples of MULAN's split."""
    n_train, counts = ON_OPENML[name]
    for train in (slice(n_train), slice(len(Y) - n_train, None)):
        if sorted(Y[train].sum(axis=0)) == list(counts):
            test = slice(n_train, None) if train.start is None else slice(train.start)
            return X[train], Y[train], X[test], Y[test]
    sys.exit(f"the training samples of {name} are at neither end of OpenML's file")

"""Load the parts of MQ2008, a data set of LETOR 4.0."""

import os
from pathlib import Path

import numpy as np


def has_mq2008():
    """Return whether the folder `SKLRANK_DATA` contains the data set."""
    folder = os.environ.get("SKLRANK_DATA")
    return bool(folder) and (Path(folder) / "letor").is_dir()


def load_mq2008(*numbers):
    """Return the documents `X, y, qid` of some of the five parts together."""
    parts = []
    for number in numbers:
        with np.load(Path(os.environ["SKLRANK_DATA"]) / "letor" / f"MQ2008_S{number}.npz") as part:
            parts.append([part[name] for name in ("X", "y", "qid")])
    X, y, qid = map(np.concatenate, zip(*parts))
    return X.astype(np.float64), y.astype(np.float64), qid

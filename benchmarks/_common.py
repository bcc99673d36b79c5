"""What the benchmarks share: one thread, CPU time, data, and aligned tables."""

import os
import platform
from importlib import metadata
from pathlib import Path
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

import sklrank

MULTILABEL = ("emotions", "scene", "yeast", "mediamill_reduced", "bibtex", "delicious")


class Stopwatch:
    """Adds up the CPU seconds that this process spends inside its `with` blocks."""

    def __init__(self):
        self.seconds = 0.0

    def __enter__(self):
        self._start = process_time()
        return self

    def __exit__(self, *exception):
        self.seconds += process_time() - self._start


def print_header(*notes, peers=("river",)):
    """Print versions, peers among them, and the machine's size, then `notes`; use one thread."""
    threadpool_limits(1)
    versions = [f"Python {platform.python_version()}", f"sklrank {sklrank.__version__}"]
    for name in ("numpy", "scikit-learn", *peers):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{name} not installed")
    print(", ".join(versions))
    print(f"{os.cpu_count()} cores ({platform.machine()}); one thread; times are CPU times")
    for note in notes:
        print(note)


def print_table(title, columns, rows):
    """Print rows of strings under their titles, the first column to the left."""
    cells = [list(columns), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(f"\n{title}")
    for number, row in enumerate(cells):
        first, *others = (
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        )
        print("  ".join([first, *others]))
        if number == 0:
            print("  ".join("-" * width for width in widths))


def load_multilabel(name):
    """The original split of a multilabel set: `X_train, Y_train, X_test, Y_test`."""
    with np.load(data_file("multilabel", name)) as arrays:
        X_train, X_test = (arrays[key].astype(np.float64) for key in ("X_train", "X_test"))
        Y_train, Y_test = (arrays[key].astype(np.intp) for key in ("Y_train", "Y_test"))
    return X_train, Y_train, X_test, Y_test


def load_multiclass(name):
    """All rows of a multiclass set, those of its test part last: `X, y`."""
    with np.load(data_file("multiclass", name)) as arrays:
        parts = ("",) if "X" in arrays else ("_train", "_test")
        X, y = (np.concatenate([arrays[key + part] for part in parts]) for key in "Xy")
    return X.astype(np.float64), y


def data_file(kind, name):
    """Path of a set's arrays.

    Raises
    ------
    SystemExit
        If the folder is not named, or does not hold the set.
    """
    folder = os.environ.get("SKLRANK_DATA")
    if not folder:
        raise SystemExit(
            f"Set SKLRANK_DATA to the folder of the benchmark data: it must hold {kind}/{name}.npz."
        )
    path = Path(folder) / kind / f"{name}.npz"
    if not path.is_file():
        raise SystemExit(f"The folder that SKLRANK_DATA names has no {kind}/{name}.npz.")
    return path

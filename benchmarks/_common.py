"""Helpers of the benchmarks: one thread, CPU time, data, and aligned tables."""

import argparse
import os
import platform
import resource
from importlib import metadata
from pathlib import Path
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

import sklrank

MULTILABEL = ("emotions", "scene", "yeast", "mediamill_reduced", "bibtex", "delicious")


class Stopwatch:
    """Context manager that sums the CPU seconds of this process in its `with` blocks."""

    def __init__(self):
        self.seconds = 0.0

    def __enter__(self):
        self._start = process_time()
        return self

    def __exit__(self, *exception):
        self.seconds += process_time() - self._start


def least_seconds(action, *arguments, repetitions=3):
    """Return the least CPU seconds of several runs of ``action(*arguments)``."""
    found = []
    for _ in range(repetitions):
        with Stopwatch() as watch:
            action(*arguments)
        found.append(watch.seconds)
    return min(found)


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def megabytes_now():
    """Return the resident memory of this process, or its peak if the system has no figure."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        return peak_megabytes()


def print_header(*notes, peers=("river",), times="CPU times"):
    """Limit BLAS to one thread; print the versions of libraries, the machine, and `notes`."""
    threadpool_limits(1)
    versions = [f"Python {platform.python_version()}", f"sklrank {sklrank.__version__}"]
    for name in ("numpy", "scikit-learn", *peers):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{name} not installed")
    print(", ".join(versions))
    print(f"{os.cpu_count()} cores ({platform.machine()}); BLAS with one thread; times are {times}")
    for note in notes:
        print(note)


def run_parts(parts, description, *notes):
    """Run all parts of a script, or those that the command line names by their numbers.

    A part is a function of `quick`, which is True if small data suffice.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data, to check that it runs")
    parser.add_argument("--only", type=int, nargs="+", choices=parts, default=list(parts))
    arguments = parser.parse_args()
    print_header(*notes)
    for number in arguments.only:
        parts[number](arguments.quick)


def print_table(title, columns, rows):
    """Print rows of strings under column titles; the first column is left-aligned."""
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
    """Load the original split of a multilabel data set: `X_train, Y_train, X_test, Y_test`."""
    with np.load(data_file("multilabel", name)) as arrays:
        X_train, X_test = (arrays[key].astype(np.float64) for key in ("X_train", "X_test"))
        Y_train, Y_test = (arrays[key].astype(np.intp) for key in ("Y_train", "Y_test"))
    return X_train, Y_train, X_test, Y_test


def load_multiclass(name):
    """Load all samples `X, y` of a multiclass data set, those of the test part last."""
    with np.load(data_file("multiclass", name)) as arrays:
        parts = ("",) if "X" in arrays else ("_train", "_test")
        X, y = (np.concatenate([arrays[key + part] for part in parts]) for key in "Xy")
    return X.astype(np.float64), y


def load_mq2008(*numbers):
    """Load the documents `X, y, qid` of some of the five parts of MQ2008, sorted by query."""
    parts = []
    for number in numbers:
        with np.load(data_file("letor", f"MQ2008_S{number}")) as arrays:
            parts.append([arrays[key] for key in ("X", "y", "qid")])
    X, y, qid = map(np.concatenate, zip(*parts))
    order = np.argsort(qid, kind="stable")
    return X[order].astype(np.float64), y[order].astype(np.intp), qid[order]


def data_file(kind, name):
    """Return the path of the arrays of a data set.

    Raises
    ------
    SystemExit
        If `SKLRANK_DATA` is not set, or the folder does not contain the data set.
    """
    folder = os.environ.get("SKLRANK_DATA")
    if not folder:
        raise SystemExit(
            f"Set SKLRANK_DATA to the folder of the benchmark data, which has {kind}/{name}.npz."
        )
    path = Path(folder) / kind / f"{name}.npz"
    if not path.is_file():
        raise SystemExit(f"The folder SKLRANK_DATA={folder} has no file {kind}/{name}.npz.")
    return path

"""The parts of `scale.py` that train document rankers: blocks from disk, and workers of dask.

Each measurement runs in a process of its own, so that its peak memory is that of the operating
system: ``python benchmarks/_scale_trees.py memory|blocks|dask ROWS ...``.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import partial
from time import perf_counter, process_time

import numpy as np

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.streaming import fit_blocks

# As the documents of MSLR-WEB30K: 136 features, about 120 documents a query, grades from 0 to 4.
N_FEATURES, QUERY_SIZE, BLOCK = 136, 120, 120_000


@contextmanager
def timed_rounds(ranker, figures, run):
    """Write into `figures` what a round of the ranker takes.

    ``run(function)`` returns the results of a function in all processes that compute.
    """
    boost = ranker._boost

    def timed(*args):
        start, before = perf_counter(), run(process_time)
        scores = boost(*args)
        n_rounds, after = len(ranker.estimators_), run(process_time)
        figures["seconds a round"] = (perf_counter() - start) / n_rounds
        figures["processor seconds a round"] = [
            (after[each] - before[each]) / n_rounds for each in after
        ]
        return scores

    ranker._boost = timed
    yield
    del ranker._boost


def peak():
    """Return the peak memory of this process in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def make_block(number, n_rows):
    """Return a block of documents; the last one of `n_rows` may be smaller."""
    rng = np.random.default_rng(number)
    start = number * BLOCK
    size = min(BLOCK, n_rows - start)
    X = rng.standard_normal((size, N_FEATURES), dtype=np.float32)
    signal = X[:, :8].sum(axis=1) + 2 * X[:, 0] * X[:, 1] + 3 * rng.standard_normal(size)
    y = np.digitize(signal, [1, 3, 5, 8]).astype(np.int8)
    return X, y, (start + np.arange(size)) // QUERY_SIZE


def blocks(n_rows):
    """Return an iterator over the blocks."""
    return (make_block(number, n_rows) for number in range(-(-n_rows // BLOCK)))


def make_array(n_rows):
    """Return all documents as arrays."""
    X, y = np.empty((n_rows, N_FEATURES), dtype=np.float32), np.empty(n_rows, dtype=np.int8)
    for number, (block, of_block, _) in enumerate(blocks(n_rows)):
        rows = slice(number * BLOCK, number * BLOCK + len(block))
        X[rows], y[rows] = block, of_block
    return X, y, np.arange(n_rows) // QUERY_SIZE


# No race; all rounds grow 31 leaves.
PARAMETERS = {"max_leaf_nodes": 31, "early_stopping": False, "init": None, "random_state": 0}


def checksum(ranker):
    """Return a number that depends on all trees."""
    return float(ranker.predict(make_block(0, BLOCK)[0]).astype(np.longdouble).sum())


def fit(kind, n_rows, n_rounds, folder, n_workers):
    """Fit a ranker, and return the figures of this process, and of the workers, if any."""
    figures = {"kind": kind, "rows": n_rows}
    if kind == "dask":
        ranker = fit_on_workers(n_rows, n_rounds, n_workers, figures)
    else:
        ranker = HistGradientBoostingRanker(max_iter=n_rounds, **PARAMETERS)
        data = make_array(n_rows) if kind == "memory" else None
        start = perf_counter()
        with timed_rounds(ranker, figures, lambda function: {"": function()}):
            if data is None:
                fit_blocks(ranker, partial(blocks, n_rows), folder=folder)
            else:
                ranker.fit(*data)
        figures["seconds"] = perf_counter() - start
    return figures | {"peak GB": peak(), "checksum": checksum(ranker)}


def fit_on_workers(n_rows, n_rounds, n_workers, figures):
    """Fit a ranker on workers of dask, and return it."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    from sklrank.dask import fit_ranker

    make = dask.delayed(make_block)
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster, direct_to_workers=True) as client:
        sizes = np.diff([*range(0, n_rows, BLOCK), n_rows])
        chunks = [
            da.from_delayed(make(number, n_rows)[0], (size, N_FEATURES), np.float32)
            for number, size in enumerate(sizes)
        ]
        y = np.concatenate([of_block for _, of_block, _ in blocks(n_rows)])
        ranker = HistGradientBoostingRanker(max_iter=n_rounds, **PARAMETERS)
        start = perf_counter()

        def run(function):
            return {"client": function(), **client.run(function)}

        with timed_rounds(ranker, figures, run):
            fit_ranker(ranker, da.concatenate(chunks), y, np.arange(n_rows) // QUERY_SIZE)
        figures["seconds"] = perf_counter() - start
        figures["workers"] = n_workers
        figures["peak GB of workers"] = list(client.run(peak).values())
    return ranker


def run(kind, n_rows, n_rounds, folder=None, n_workers=0):
    """Run `fit` in a new process, and return its figures."""
    arguments = [kind, str(n_rows), "--rounds", str(n_rounds), "--workers", str(n_workers)]
    arguments += ["--folder", folder or tempfile.gettempdir()]
    command = [sys.executable, __file__, *arguments]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(printed.splitlines()[-1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["memory", "blocks", "dask"])
    parser.add_argument("rows", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print(json.dumps(fit(given.kind, given.rows, given.rounds, given.folder, given.workers)))

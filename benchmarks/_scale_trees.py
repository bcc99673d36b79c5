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
from functools import partial
from time import perf_counter, process_time

import numpy as np

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.streaming import fit_blocks

# As the documents of MSLR-WEB30K: 136 features, about 120 documents a query, grades from 0 to 4.
N_FEATURES, QUERY_SIZE, BLOCK = 136, 120, 120_000


class TimedRanker(HistGradientBoostingRanker):
    """A ranker that measures its rounds."""

    def _boost(self, *args):
        start, of_process = perf_counter(), process_time()
        scores = super()._boost(*args)
        n_rounds = len(self.estimators_)
        self.seconds_a_round = (perf_counter() - start) / n_rounds
        self.processor_seconds_a_round = (process_time() - of_process) / n_rounds
        return scores


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


def make_ranker(n_rounds):
    """Return a ranker without a race, all of whose rounds grow 31 leaves."""
    return TimedRanker(
        max_iter=n_rounds, max_leaf_nodes=31, early_stopping=False, init=None, random_state=0
    )


def checksum(ranker):
    """Return a number that depends on all trees."""
    return float(ranker.predict(make_block(0, BLOCK)[0]).astype(np.longdouble).sum())


def fit(kind, n_rows, n_rounds, folder, n_workers):
    """Fit a ranker, and return the figures of this process."""
    ranker = make_ranker(n_rounds)
    start = perf_counter()
    if kind == "memory":
        X, y, qid = make_array(n_rows)
        start = perf_counter()
        ranker.fit(X, y, qid=qid)
    else:
        fit_blocks(ranker, partial(blocks, n_rows), folder=folder)
    return {
        "kind": kind,
        "rows": n_rows,
        "seconds": perf_counter() - start,
        "seconds a round": ranker.seconds_a_round,
        "processor seconds a round": ranker.processor_seconds_a_round,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "checksum": checksum(ranker),
    }


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

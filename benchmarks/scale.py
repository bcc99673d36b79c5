"""More rows than memory, and more work than one process: memory, seconds, bytes and losses.

    python benchmarks/scale.py stream --rows 100000000     # memory and speed of one pass
    python benchmarks/scale.py merge                       # two workers of dask, merged
    python benchmarks/scale.py fits                        # bytes of many fits by joblib
    python benchmarks/scale.py threads                     # two threads beside one
    python benchmarks/scale.py trees --rows 2000000        # blocks on disk, two workers
    python benchmarks/scale.py model                       # seconds a tree on more machines

Times are wall-clock times, and ratios of them are the best of `--repetitions`: run it on two idle
processors. Peak memory is what the operating system reports for a process of its own.
"""

import argparse
import os
import resource
import subprocess
import sys
import warnings
from time import perf_counter

import numpy as np
from _common import print_header, print_table
from _cost_model import CRITEO, bytes_a_tree, check, seconds_a_tree

from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR
from sklrank.streaming import fit_batches

N_FEATURES, N_LABELS, BATCH = 20, 5, 10_000


def make_batch(number, labels=False, n_rows=BATCH):
    """Return generated samples, with a class of two or with labels that depend on them."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n_rows, N_FEATURES))
    weights = np.random.default_rng(0).standard_normal((N_FEATURES, N_LABELS))
    Y = (X @ weights + 2 * rng.standard_normal((n_rows, N_LABELS)) > 2).astype(np.intp)
    return X, Y if labels else Y[:, 0]


# -- One pass over a stream.

STREAMED = {"OnlineLogisticRegression": OnlineLogisticRegression, "AdaOLMR": AdaOLMR}


def stream(arguments):
    """Train each model in a process of its own."""
    for name, n_rows in zip(STREAMED, (arguments.rows, arguments.rows // 10)):
        command = [sys.executable, __file__, "child", name, str(n_rows), str(arguments.minutes)]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        rows = [line.split() for line in printed.splitlines()]
        print_table(
            f"{name}: one pass over {n_rows} generated rows of {N_FEATURES} features",
            ["of the pass", "rows", "seconds", "rows a second", "peak MB"],
            rows,
        )


def child(name, n_rows, minutes):
    """Train a model on batches that are generated when they are needed."""
    start, n_batches = perf_counter(), max(10, n_rows // BATCH)
    reports = {n_batches // 10: "10 %", n_batches // 2: "50 %", n_batches: "100 %"}

    def report(number, share):
        seconds = perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        learned = number * BATCH
        print(share.replace(" ", ""), learned, f"{seconds:.0f}", f"{learned / seconds:.0f}",
              f"{peak:.0f}")  # fmt: skip

    def batches():
        for number in range(n_batches):
            if number in reports:
                report(number, reports[number])
            if perf_counter() - start > 60 * minutes:
                report(number, "time")
                return
            yield make_batch(number, name == "AdaOLMR")
        report(n_batches, "100 %")

    classes = range(N_LABELS if name == "AdaOLMR" else 2)
    fit_batches(STREAMED[name](), batches(), classes=classes)


# -- Workers that are merged.


def local_cluster(n_workers):
    import distributed

    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=None
    )


def merge(arguments):
    """Train two copies on two workers, and one model on one worker."""
    import dask
    from distributed import Client

    from sklrank.dask import fit_partitions

    n_partitions, size = 20, arguments.rows // 20
    models = {
        "OnlineRidgeClassifier(alpha=1, standardize=False)": (
            OnlineRidgeClassifier(alpha=1.0, standardize=False),
            False,
        ),
        "OnlineRidgeClassifier()": (OnlineRidgeClassifier(), False),
        "OnlineLogisticRegression()": (OnlineLogisticRegression(), False),
        "AdaOLMR()": (AdaOLMR(random_state=0), True),
    }
    X, Y = make_batch(10**6, True, 20_000)
    rows = []
    with local_cluster(2) as cluster, Client(cluster):
        for name, (model, labels) in models.items():
            n_rows = size // 10 if labels else size
            make = dask.delayed(make_batch)
            parts = [make(number, labels, n_rows) for number in range(1, n_partitions + 1)]
            parts = list(dask.persist(*parts))
            dask.compute([dask.delayed(len)(part) for part in parts])
            found = {}
            for kind, n_models, every in (
                ("one", 1, None),
                ("merged at the end", 2, None),
                ("merged five times", 2, 2),
            ):
                seconds = []
                for _ in range(arguments.repetitions):
                    start, trained = perf_counter(), type(model)(**model.get_params(deep=False))
                    fit_partitions(
                        trained,
                        parts,
                        classes=range(N_LABELS if labels else 2),
                        n_models=n_models,
                        merge_every=every,
                    )
                    seconds.append(perf_counter() - start)
                scores = trained.decision_function(X)
                if labels:
                    loss = rank_loss(Y, scores)
                else:
                    loss = np.mean(trained.predict(X) != Y[:, 0])
                found[kind] = scores
                difference = np.abs(scores - found["one"]).max()
                rows.append(
                    (
                        f"{name}, {kind}",
                        n_rows * n_partitions,
                        f"{min(seconds):.2f}",
                        f"{loss:.5f}",
                        f"{difference:.1e}",
                    )
                )
    print_table(
        "Rows that are on two workers: loss of 20,000 new rows (rank loss of AdaOLMR, else error), "
        "and greatest difference of a score from one model",
        ["model", "rows", "seconds", "loss", "difference"],
        rows,
    )


# -- Many fits.


def fits(arguments):
    """Count what dask sends for fits by joblib, with and without samples that are scattered."""
    import joblib
    from _traffic import traffic
    from distributed import Client
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import GridSearchCV, cross_val_score

    from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker, StackedRanker
    from sklrank.tree import HonestForestRegressor

    rng = np.random.default_rng(0)
    X = rng.standard_normal((arguments.rows, 50))
    Y = np.argsort(np.argsort(X @ rng.standard_normal((50, 6)), axis=1), axis=1) + 1.0
    pairwise, labelwise = PairwiseRanker(LogisticRegression()), LabelwiseRanker(Ridge())
    forest = HonestForestRegressor(20, max_depth=6, random_state=0)
    stack = StackedRanker([("labels", labelwise), ("pairs", pairwise)], random_state=0)
    jobs = {
        "LabelwiseRanker": lambda: labelwise.fit(X, Y),
        "PairwiseRanker": lambda: pairwise.fit(X, Y),
        "StackedRanker of both": lambda: stack.fit(X, Y),
        "GridSearchCV of a PairwiseRanker": lambda: GridSearchCV(
            pairwise, {"estimator__C": [0.1, 1.0, 10.0]}, cv=3
        ).fit(X, Y),
        "HonestForestRegressor": lambda: forest.fit(X, Y[:, 0]),
        "cross_val_score of the forest": lambda: cross_val_score(forest, X, Y[:, 0], cv=4),
    }
    # joblib warns of fits that are short, and dask of graphs that have the samples.
    warnings.simplefilter("ignore")
    rows = []
    with local_cluster(2) as cluster, Client(cluster) as client:
        for name, job in jobs.items():
            start = perf_counter()
            job()
            here = perf_counter() - start
            row = [name, f"{here:.1f}"]
            for scatter in ([], [X, Y]):
                with (
                    traffic(client) as sent,
                    joblib.parallel_config(backend="dask", scatter=scatter),
                ):
                    start = perf_counter()
                    job()
                    seconds = perf_counter() - start
                row += [f"{seconds:.1f}", f"{sum(sent.values()) / X.nbytes:.2f}"]
            rows.append(row)
    print_table(
        f"Fits on two workers of dask, {arguments.rows} rows of {X.shape[1]} features: bytes that "
        "processes send, as multiples of X; once to the scheduler and to each worker is 3",
        ["fit", "one process", "dask", "sent", "dask, scatter=[X, Y]", "sent"],
        rows,
    )
    on_ray(jobs["PairwiseRanker"])


def on_ray(job):
    """Run a fit on two processes of ray, if it is installed."""
    import joblib

    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        print("\nray is not installed")
        return
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
    register_ray()
    with joblib.parallel_config(backend="ray"):
        job()  # starts the processes
        start = perf_counter()
        job()
        print(f"\nPairwiseRanker on two processes of ray: {perf_counter() - start:.1f} seconds")
    ray.shutdown()


# -- Threads.


def threads(arguments):
    """Compare two threads with one."""
    from sklrank.boosting import HistGradientBoostingRanker
    from sklrank.metrics import ndcg_score
    from sklrank.tree import HonestForestRegressor

    rng = np.random.default_rng(0)
    X = rng.standard_normal((arguments.rows, 136), dtype=np.float32)
    qid, y = np.arange(len(X)) // 100, np.clip(X[:, 0] + X[:, 1] * X[:, 2], 0, 4).astype(np.intp)
    options = {"max_iter": 10, "early_stopping": False, "init": None, "random_state": 0}
    fitted = HistGradientBoostingRanker(**options).fit(X[:5000], y[:5000], qid[:5000])
    labels = np.random.default_rng(1).integers(2, size=(3000, 150))
    booster = AdaOLMR(random_state=0).partial_fit(X[:20, :20].astype(float), labels[:20])
    forest = HonestForestRegressor(20, max_depth=8, random_state=0)
    small, dense = X[: len(X) // 10, :20].astype(np.float64), X[:3000, :20].astype(np.float64)
    trees = HonestForestRegressor(40, max_depth=12, random_state=0).fit(small, small[:, 0])

    def set_jobs(model, n_jobs):
        return model.set_params(n_jobs=n_jobs)

    jobs = {
        "HistGradientBoostingRanker.fit": lambda n: HistGradientBoostingRanker(
            n_jobs=n, **options
        ).fit(X, y, qid),
        "HistGradientBoostingRanker.predict": lambda n: set_jobs(fitted, n).predict(X),
        "ndcg_score (one thread)": lambda n: ndcg_score(y, X[:, 0], qid=qid),
        "AdaOLMR.partial_fit, 150 labels": lambda n: set_jobs(
            AdaOLMR(random_state=0), n
        ).partial_fit(dense[:300], labels[:300]),
        "AdaOLMR.decision_function": lambda n: set_jobs(booster, n).decision_function(dense),
        "HonestForestRegressor.fit": lambda n: set_jobs(forest, n).fit(small, small[:, 0]),
        "HonestForestRegressor.predict": lambda n: set_jobs(trees, n).predict(small),
    }
    rows = []
    for name, job in jobs.items():
        seconds = {1: np.inf, 2: np.inf}
        for _ in range(arguments.repetitions):
            for n_jobs in seconds:
                start = perf_counter()
                job(n_jobs)
                seconds[n_jobs] = min(seconds[n_jobs], perf_counter() - start)
        ratio = seconds[1] / seconds[2]
        rows.append((name, f"{seconds[1]:.2f}", f"{seconds[2]:.2f}", f"{ratio:.2f}"))
    print_table(
        f"Wall-clock seconds, {arguments.rows} documents of 136 features",
        ["call", "one thread", "two threads", "ratio"],
        rows,
    )


# -- Document rankers.


def trees(arguments):
    """Train the same trees in memory, from blocks on disk, and on workers of dask."""
    from _scale_trees import run

    kinds = [("memory", 0), ("blocks", 0), ("dask", 1), ("dask", 2)]
    rows = []
    for kind, n_workers in kinds:
        if kind == "memory" and arguments.no_memory:
            continue
        n_rows = min(arguments.rows, arguments.dask_rows) if kind == "dask" else arguments.rows
        found = run(kind, n_rows, arguments.rounds, arguments.folder, n_workers)
        rows.append(
            (
                f"{kind}, {n_workers} workers" if n_workers else kind,
                n_rows,
                f"{found['seconds a round']:.2f}",
                f"{1e6 * found['seconds a round'] / n_rows:.3f}",
                f"{found['peak GB']:.2f}",
                f"{max(found.get('peak GB of workers', [0])):.2f}",
                f"{found['checksum']:.10g}",
            )
        )
    print_table(
        f"HistGradientBoostingRanker, 31 leaves, {arguments.rounds} rounds, 136 features",
        ["", "documents", "s a round", "s a round and million", "peak GB", "a worker", "checksum"],
        rows,
    )


# -- The cost model.


def model(arguments):
    """Print the cost model beside LightGBM's figures, and what it says of more machines."""
    print_table(
        "Seconds a tree: LightGBM's figures for 1.7 billion rows of 67 columns, 255 leaves, and "
        "the cost model, to which those of 1 and 16 machines are fitted",
        ["machines", "LightGBM", "model"],
        [(n, printed, f"{seconds:.1f}") for n, printed, seconds in check()],
    )
    settings = {
        "the same data, sums by all workers (LightGBM)": (CRITEO, {}),
        "the same data, sums by one process (sklrank.dask)": (CRITEO, {"sums": "one process"}),
        "20 million rows of 136 columns, 31 leaves, 10 Gbit/s, sums by one process": (
            {"rows": 20_000_000, "columns": 136},
            {"sums": "one process", "bytes_a_second": 10e9 / 8},
        ),
    }
    for title, (sizes, options) in settings.items():
        rows = []
        one = sum(seconds_a_tree(workers=1, **sizes, **options))
        for workers in (1, 2, 16, 256):
            parts = seconds_a_tree(workers=workers, **sizes, **options)
            rows.append(
                (workers, *(f"{part:.2f}" for part in (*parts, sum(parts), one / sum(parts))))
            )
        print_table(
            f"Model: {title}", ["workers", "rows", "traffic", "waiting", "sum", "speed-up"], rows
        )
    print(f"\nA worker sends {bytes_a_tree(136, 31, 256) / 1e6:.1f} MB a tree of 31 leaves")


PARTS = {each.__name__: each for each in (stream, merge, fits, threads, trees, model)}
DEFAULT_ROWS = {
    "stream": 100_000_000,
    "merge": 2_000_000,
    "fits": 100_000,
    "threads": 200_000,
    "trees": 2_000_000,
    "model": 0,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--rows", type=int, help=f"defaults: {DEFAULT_ROWS}")
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=20, help="of a stream")
    parser.add_argument("--rounds", type=int, default=5, help="of trees")
    parser.add_argument("--folder", help="of blocks on disk")
    parser.add_argument("--dask-rows", type=int, default=2_000_000, help="of trees on dask")
    parser.add_argument("--no-memory", action="store_true", help="leave out trees in memory")
    arguments = parser.parse_args()
    arguments.rows = arguments.rows or DEFAULT_ROWS[arguments.part]
    # The workers, too.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    print_header(peers=("dask", "ray", "joblib"), times="wall-clock times")
    PARTS[arguments.part](arguments)


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    else:
        main()

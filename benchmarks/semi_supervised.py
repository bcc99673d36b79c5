"""MCSSB: what a round costs beside one pass over the similarity, and how much memory a fit takes.

1. Memory: the peak of a process that fits two rounds, for 50,000 rows with "knn", where the
   similarity is a sparse graph, and 10,000 with "rbf", where it is 800 MB of pairs.
2. Time: a pass over the similarity and the weak learner, a tree of depth 2, are what no round can
   do without; what a round takes beyond the tree is told in passes. "set up" is the similarity, the
   labeled term, and the objective before the first round.

    python benchmarks/semi_supervised.py [--quick]
"""

import argparse
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from _common import Stopwatch, print_header, print_table
from scipy.special import softmax
from sklearn.datasets import make_blobs
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklrank.boosting import MCSSBClassifier
from sklrank.boosting._similarity import make_similarity

N_CLASSES = 10
SETTINGS = {
    "rbf": {},
    "uniform": {"similarity": "uniform"},
    "knn": {"similarity": "knn"},
    "identity": {"similarity": "identity"},
    "diffusion, cost": {"similarity": "diffusion", "weighting": "cost", "learning_rate": 2.0},
}


def partly_labeled(n_samples, n_features=16, share=0.02):
    X, y = make_blobs(n_samples, n_features, centers=N_CLASSES, cluster_std=6.0, random_state=0)
    return X, np.where(np.random.RandomState(0).uniform(size=n_samples) < share, y, -1)


def peak(name, n_samples, n_rounds):
    """Gibibytes and seconds of a fit in this process, which must be a new one."""
    X, y = partly_labeled(n_samples)
    start = time.perf_counter()
    MCSSBClassifier(n_estimators=n_rounds, random_state=0, **SETTINGS[name]).fit(X, y)
    seconds = time.perf_counter() - start
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, seconds


def memory(quick):
    rows = []
    sizes = {"knn": 50_000, "diffusion, cost": 50_000, "rbf": 10_000, "uniform": 10_000}
    for name, n_samples in sizes.items():
        n_samples = 1000 if quick else n_samples
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            gibibytes, seconds = pool.submit(peak, name, n_samples, 2).result()
        rows.append([name, n_samples, f"{gibibytes:.2f}", f"{seconds:.1f}"])
    columns = ["similarity", "rows", "peak, GiB", "seconds"]
    print_table("1. Two rounds in a process of their own", columns, rows)


def seconds_to_fit(setting, n_rounds, X, y):
    model = MCSSBClassifier(n_estimators=n_rounds, random_state=0, **setting)
    model.fit(X[::10], y[::10])
    watch = Stopwatch()
    with watch:
        model.fit(X, y)
    assert len(model.estimators_) == n_rounds, model.stop_reason_
    return watch.seconds


def seconds_of(call, *arguments):
    """Mean of ten calls."""
    watch = Stopwatch()
    with watch:
        for _ in range(10):
            call(*arguments)
    return watch.seconds / 10


def fit_tree(setting, X, shares):
    """What a round asks of its tree, to learn and to predict."""
    if setting.get("weighting") == "cost":
        return DecisionTreeRegressor(max_depth=2).fit(X, shares).predict(X)
    labels, weights = shares.argmax(axis=1), shares.max(axis=1)
    return DecisionTreeClassifier(max_depth=2).fit(X, labels, sample_weight=weights).predict(X)


def speed(quick):
    rows = []
    for name, setting in SETTINGS.items():
        sizes = (2000, 4000) if name in ("rbf", "uniform") else (2000, 4000, 8000, 16_000)
        for n_samples in sizes[:1] if quick else sizes:
            X, y = partly_labeled(n_samples)
            kind = setting.get("similarity", "rbf").replace("diffusion", "knn")
            similar = make_similarity(X, kind)
            shares = softmax(np.random.RandomState(0).normal(size=(n_samples, N_CLASSES)), axis=1)
            a_pass = seconds_of(similar.negative_gradient, shares)
            a_tree = seconds_of(fit_tree, setting, X, shares)
            few, many = (seconds_to_fit(setting, n_rounds, X, y) for n_rounds in (2, 22))
            a_round = (many - few) / 20
            times = [f"{1e3 * seconds:.1f}" for seconds in (a_pass, a_tree, a_round)]
            beyond = f"{(a_round - a_tree) / a_pass:.1f}"
            rows.append([name, n_samples, f"{few - 2 * a_round:.2f}", *times, beyond])
    columns = ["setting", "rows", "set up, s", "a pass, ms", "a tree, ms", "a round, ms", "beyond"]
    print_table(f"2. CPU time, {N_CLASSES} classes", columns, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    arguments = parser.parse_args()
    print_header()
    memory(arguments.quick)
    speed(arguments.quick)


if __name__ == "__main__":
    main()

"""Fit the models of a label ranker on the workers of a dask cluster.

A ranker fits its models, one for each label or pair of labels, by joblib. Within
``joblib.parallel_config(backend="dask")`` the workers of a dask cluster fit them. The samples are
sent to each worker once, and each model is sent back. The cluster here has two processes on this
machine; `Client("address:port")` connects to another cluster. The fitted ranker does not depend on
where its models were fitted.

Run:  pip install "dask[distributed]" && python examples/label_ranking_on_dask.py [--rows 200000]
"""

import argparse
import time

import joblib
import numpy as np
from sklearn.ensemble import RandomForestRegressor

from sklrank.datasets import make_sparse_label_ranking
from sklrank.label_ranking import LabelwiseRanker


def timed_fit(X, Y):
    forest = RandomForestRegressor(100, max_features=1 / 3, min_samples_leaf=20, random_state=0)
    start = time.perf_counter()
    return LabelwiseRanker(forest).fit(X, Y), time.perf_counter() - start


def main():
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=3000, help="training samples")
    n_rows = parser.parse_args().rows
    X, Y, Y_clean, _ = make_sparse_label_ranking(
        n_rows + 1000, 50, 10, noise="mallows", theta=2.0, random_state=0, return_clean=True
    )
    X, Y, X_new, Y_new = X[:n_rows], Y[:n_rows], X[n_rows:], Y_clean[n_rows:]
    here, seconds_here = timed_fit(X, Y)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask", wait_for_workers_timeout=60),
    ):
        there, seconds_there = timed_fit(X, Y)
    print(f"{len(here.estimators_)} labels with a forest each, {n_rows} samples")
    print(f"{'':<20}{'seconds':>10}{'tau, held out':>18}")
    print(f"{'one process':<20}{seconds_here:>10.2f}{here.score(X_new, Y_new):>18.3f}")
    print(f"{'two dask workers':<20}{seconds_there:>10.2f}{there.score(X_new, Y_new):>18.3f}")
    same = np.array_equal(here.decision_function(X_new), there.decision_function(X_new))
    print("equal scores:", same)


if __name__ == "__main__":
    main()

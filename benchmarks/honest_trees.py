"""Level splits, honest trees and forests compared with scikit-learn's: seconds and error.

The target depends on three of many 0/1 features, as in the theory of these trees, or on two of ten
numeric ones. The error is the RMSE on test samples, relative to the target without noise.

    python benchmarks/honest_trees.py [--quick]
"""

import argparse

import numpy as np
from _common import Stopwatch, print_header, print_table
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from sklrank.tree import HonestForestRegressor, HonestTreeRegressor, LevelSplitsRegressor

NOISE = 0.3


def problems(n_samples, n_features):
    random = np.random.RandomState(0)
    binary = random.randint(2, size=(2 * n_samples, n_features)).astype(np.float64)
    sparse = binary[:, 0] + 2 * binary[:, 1] * binary[:, 2]
    yield "0/1 features", binary, sparse
    yield "0/1 features, 5 outputs", binary, sparse[:, np.newaxis] + binary[:, 3:8]
    numeric = random.normal(size=(2 * n_samples, 10))
    yield "numeric features", numeric, np.sin(2 * numeric[:, 0]) + np.abs(numeric[:, 1])


def models(depth, n_trees):
    yield f"level splits, {depth} levels", LevelSplitsRegressor(max_depth=depth)
    yield "the same, honest", LevelSplitsRegressor(max_depth=depth, honest=True, random_state=0)
    printed = LevelSplitsRegressor(max_depth=depth, honest="estimation", random_state=0)
    yield "the same, honest as printed in Algorithm 9", printed
    yield "level splits, fully grown", LevelSplitsRegressor()
    yield f"DecisionTreeRegressor, depth {depth}", DecisionTreeRegressor(max_depth=depth)
    yield "honest tree, fully grown", HonestTreeRegressor(random_state=0)
    for splits in "level", "breiman":
        forest = HonestForestRegressor(n_trees, splits=splits, random_state=0)
        yield f"honest forest of {n_trees}, {splits}", forest
    yield f"RandomForestRegressor of {n_trees}", RandomForestRegressor(n_trees, random_state=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the script")
    arguments = parser.parse_args()
    print_header()
    n_samples, n_features = (500, 50) if arguments.quick else (10_000, 1000)
    for title, X, truth in problems(n_samples, n_features):
        y = truth + NOISE * np.random.RandomState(1).normal(size=truth.shape)
        rows = []
        for name, model in models(10, 2 if arguments.quick else 20):
            fit, predict = Stopwatch(), Stopwatch()
            with fit:
                model = clone(model).fit(X[:n_samples], y[:n_samples])
            with predict:
                predicted = model.predict(X[n_samples:])
            error = np.sqrt(np.mean((predicted - truth[n_samples:]) ** 2))
            rows.append([name, f"{fit.seconds:.2f}", f"{predict.seconds:.3f}", f"{error:.3f}"])
        print_table(
            f"{title}: {n_samples} x {X.shape[1]}",
            ["", "seconds to fit", "to predict", "RMSE"],
            rows,
        )


if __name__ == "__main__":
    main()

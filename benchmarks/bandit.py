"""Learning from right or wrong: speed, and played error beside rivals.

1. Rounds per CPU second on 64 features and 10 classes: `BanditronClassifier`, rows in one call of
   `partial_fit`; the same Banditron as a loop in NumPy; and river's LinUCB, for a few rows.
2. The same on rows of which few entries are not zero, dense and as CSR matrices.
3. One row at a time: `explore` and `partial_fit_feedback`, microseconds of both together.
4. Played error, the share of rounds in which what was shown was wrong, after one pass over digits
   and, where `SKLRANK_DATA` names the folder of the benchmark data, other sets. River's LinUCB
   knows the scale of the rows beforehand, and its parameters are picked for each set by the error
   of one order of the rows, which is the one printed: its figure is a bar to aim at.

A rival that is not installed is left out.

    python benchmarks/bandit.py [--quick] [--only 1 3]
"""

import argparse
import os
from itertools import product
from pathlib import Path

import numpy as np
from _common import Stopwatch, print_header, print_table
from scipy import sparse
from sklearn.datasets import load_digits

from sklrank.linear_model import BanditronClassifier

N_FEATURES, N_CLASSES = 64, 10
MODELS = {
    "Banditron, rate 0.1": {"exploration": 0.1},
    "Banditron, recommended rate": {},
    "exponential gradient": {"mirror_map": "entropy"},
    "second order, diagonal": {"second_order": "diagonal"},
    "second order, full": {"second_order": "full"},
}
REPETITIONS = 3
FILES = ("optdigits", "pendigits", "letter")


def clusters(n_rows, density=1.0):
    """Gaussian clusters, one a class, of which a share of the entries is kept."""
    random = np.random.RandomState(0)
    y = random.randint(N_CLASSES, size=n_rows)
    X = random.normal(0, 0.5, (N_CLASSES, N_FEATURES))[y] + random.normal(size=(n_rows, N_FEATURES))
    if density < 1:
        X *= random.rand(*X.shape) < density
    return X, y


class NumpyBanditron:
    """Algorithm 7 as one would write it."""

    def __init__(self, exploration, seed=0):
        self.exploration, self.random = exploration, np.random.default_rng(seed)
        self.weights = np.zeros((N_CLASSES, N_FEATURES))

    def play(self, X, y):
        """The share of rounds in which what was shown was wrong."""
        wrong, weights = 0, self.weights
        draws = self.random.random(len(X))
        classes = self.random.integers(N_CLASSES, size=len(X))
        for x, label, draw, drawn in zip(X, y.tolist(), draws.tolist(), classes.tolist()):
            best = int((weights @ x).argmax())
            shown = drawn if draw < self.exploration else best
            weights[best] -= x
            if shown == label:
                p = self.exploration / N_CLASSES + (1 - self.exploration) * (shown == best)
                weights[shown] += x / p
            else:
                wrong += 1
        return wrong / len(X)


def river_played_error(X, y, alpha, beta):
    """Play river's LinUCB; None where river is not installed."""
    try:
        from river.bandit import LinUCBDisjoint
    except ImportError:
        return None
    arms = np.unique(y).tolist()
    policy, wrong = LinUCBDisjoint(alpha=alpha, beta=beta, seed=0), 0
    for x, label in zip(X.tolist(), y.tolist()):
        context = dict(enumerate(x))
        shown = policy.pull(arms, context=context)
        policy.update(shown, context, float(shown == label))
        wrong += shown != label
    return wrong / len(y)


def seconds(action, *arguments):
    """The least CPU seconds of several runs."""
    times = []
    for _ in range(REPETITIONS):
        with Stopwatch() as watch:
            action(*arguments)
        times.append(watch.seconds)
    return min(times)


def started(parameters, X, y):
    model = BanditronClassifier(random_state=0, **parameters)
    return model.partial_fit(X[:10], y[:10], classes=range(N_CLASSES))


def speed(quick):
    n_rows = 20_000 if quick else 500_000
    X, y = clusters(n_rows)
    n_loop, n_river = min(n_rows, 50_000), 200 if quick else 2000
    loop = n_loop / seconds(lambda: NumpyBanditron(0.1).play(X[:n_loop], y[:n_loop]))
    rows = [["NumPy loop, rate 0.1", f"{loop:,.0f}", "1"]]
    for name, parameters in MODELS.items():
        n_used = n_rows // 10 if parameters.get("second_order") == "full" else n_rows
        model = started(parameters, X, y)
        rate = n_used / seconds(model.partial_fit, X[:n_used], y[:n_used])
        rows.append([name, f"{rate:,.0f}", f"{rate / loop:.1f}"])
    with Stopwatch() as watch:
        found = river_played_error(X[:n_river], y[:n_river], 0.1, 10.0)
    if found is not None:
        rate = n_river / watch.seconds
        rows.append(["river LinUCB", f"{rate:,.0f}", f"{rate / loop:.3f}"])
    columns = ["", "rounds a second", "of the loop's"]
    print_table(f"1. {n_rows} rows, {N_FEATURES} features, {N_CLASSES} classes", columns, rows)


def sparse_speed(quick):
    n_rows = 10_000 if quick else 100_000
    table = []
    for name, parameters in MODELS.items():
        if parameters.get("second_order") == "full":
            continue
        row = [name]
        for density in (0.3, 0.1, 0.03):
            X, y = clusters(n_rows, density)
            for rows in (X, sparse.csr_array(X)):
                model = started(parameters, rows, y)
                rate = n_rows / seconds(model.partial_fit, rows, y)
                row.append(f"{rate / 1e6:.2f}")
        table.append(row)
    columns = ["million rounds a second"]
    columns += [f"{kind} {density}" for density in (0.3, 0.1, 0.03) for kind in ("dense", "CSR")]
    print_table("2. Rows of which a share is not zero", columns, table)


def play_one(model, x, label, n_calls):
    for _ in range(n_calls):
        shown = model.explore(x)
        model.partial_fit_feedback(x, shown, shown.actions == label)


def one_by_one(quick):
    X, y = clusters(1000)
    n_calls, rows = 200 if quick else 2000, []
    for name, parameters in MODELS.items():
        time = seconds(play_one, started(parameters, X, y), X[:1], y[:1], n_calls)
        rows.append([name, f"{1e6 * time / n_calls:.0f}"])
    print_table("3. One row: explore, partial_fit_feedback", ["", "microseconds"], rows)


def load_sets(quick):
    sets = {"digits": load_digits(return_X_y=True)}
    folder = os.environ.get("SKLRANK_DATA")
    for name in FILES if folder and not quick else ():
        with np.load(Path(folder) / "multiclass" / f"{name}.npz") as data:
            X = np.vstack([data["X_train"], data["X_test"]]).astype(float)
            sets[name] = X, np.concatenate([data["y_train"], data["y_test"]])
    return sets


def best_river_error(X, y, quick):
    X = X / np.sqrt(np.mean(np.sum(X**2, axis=1)))
    grid = [(1.0, 10.0)] if quick else product((0.1, 0.5, 2.0), (3.0, 10.0, 30.0))
    found = [river_played_error(X, y, alpha, beta) for alpha, beta in grid]
    return "" if None in found else f"{min(found):.3f}"


def errors(quick):
    sets, n_seeds = load_sets(quick), 1 if quick else 5
    orders = {
        name: [np.random.RandomState(seed).permutation(len(y)) for seed in range(n_seeds)]
        for name, (_, y) in sets.items()
    }
    rows = []
    for title, parameters in MODELS.items():
        row = [title]
        for name, (X, y) in sets.items():
            found = [
                BanditronClassifier(random_state=seed, **parameters)
                .partial_fit(X[order], y[order], classes=np.unique(y))
                .error_rate_
                for seed, order in enumerate(orders[name])
            ]
            row.append(f"{np.mean(found):.3f}")
        rows.append(row)
    rows.append(["river LinUCB, best of a grid"])
    for name, (X, y) in sets.items():
        rows[-1].append(best_river_error(X[orders[name][0]], y[orders[name][0]], quick))
    print_table("4. Played error, one pass", ["", *sets], rows)


PARTS = {1: speed, 2: sparse_speed, 3: one_by_one, 4: errors}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small and fast, to see it work")
    parser.add_argument("--only", type=int, nargs="+", choices=PARTS, default=list(PARTS))
    arguments = parser.parse_args()
    print_header("A round shows one class and learns whether it was right.")
    for part in arguments.only:
        PARTS[part](arguments.quick)


if __name__ == "__main__":
    main()

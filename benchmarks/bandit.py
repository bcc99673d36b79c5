"""Learning from right or wrong: speed.

1. Rounds per CPU second on 64 features and 10 classes: `BanditronClassifier`, rows in one call of
   `partial_fit`; river's LinUCB, for a few rows; and Banditron as a bare loop, without checks: in
   NumPy as one would write it, in NumPy with what can be drawn and converted beforehand, and in C,
   where there is a compiler, with the instructions of any machine and with those of this one.
2. The same on rows of which few entries are not zero, dense and as CSR matrices.
3. One row at a time: `explore` and `partial_fit_feedback`, microseconds of both together.

A rival that is not installed is left out.

    python benchmarks/bandit.py [--quick] [--only 1 3]
"""

import argparse

import numpy as np
from _bandit_peers import play_river
from _bare_banditron import compiled, play_plain, play_tuned
from _common import Stopwatch, print_header, print_table
from scipy import sparse

from sklrank.linear_model import BanditronClassifier

N_FEATURES, N_CLASSES = 64, 10
MODELS = {
    "Banditron, rate 0.1": {"exploration": 0.1},
    "Banditron, recommended rate": {"exploration": "ag3-forgetting"},
    "exponential gradient": {"mirror_map": "entropy"},
    "second order, diagonal": {"second_order": "diagonal", "exploration": 0},
    "second order, full": {"second_order": "full", "exploration": 0},
}
REPETITIONS = 3
# Sums in any order, as the package has them.
FLAGS = {"any machine": ["-O3", "-ffast-math"], "this one": ["-O3", "-ffast-math", "-march=native"]}


def clusters(n_rows, density=1.0):
    """Gaussian clusters, one a class, of which a share of the entries is kept."""
    random = np.random.RandomState(0)
    y = random.randint(N_CLASSES, size=n_rows)
    X = random.normal(0, 0.5, (N_CLASSES, N_FEATURES))[y] + random.normal(size=(n_rows, N_FEATURES))
    if density < 1:
        X *= random.rand(*X.shape) < density
    return X, y


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
    n_few, n_river = min(n_rows, 50_000), 200 if quick else 2000
    rates = {}
    for name, loop in (("as written", play_plain), ("tuned", play_tuned)):
        rates[f"NumPy loop, {name}"] = n_few / seconds(loop, X[:n_few], y[:n_few], N_CLASSES)
    for name, flags in FLAGS.items():
        loop = compiled(flags)
        if loop is not None:
            rates[f"C loop, {name}"] = n_rows / seconds(loop, X, y, N_CLASSES)
    for name, parameters in MODELS.items():
        n_used = n_rows // 10 if parameters.get("second_order") == "full" else n_rows
        model = started(parameters, X, y)
        rates[name] = n_used / seconds(model.partial_fit, X[:n_used], y[:n_used])
    try:
        with Stopwatch() as watch:
            play_river(X[:n_river], y[:n_river], N_CLASSES, 0, alpha=0.1, beta=10.0)
        rates["river LinUCB"] = n_river / watch.seconds
    except ImportError:
        pass
    names = [name for name in rates if "loop" in name]
    rows = [
        [name, f"{rate:,.0f}", *(f"{rate / rates[loop]:.2g}" for loop in names)]
        for name, rate in rates.items()
    ]
    columns = ["", "rounds a second", *(f"/ {name}" for name in names)]
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


PARTS = {1: speed, 2: sparse_speed, 3: one_by_one}


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

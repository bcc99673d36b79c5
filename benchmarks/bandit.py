"""Speed of learning from bandit feedback.

1. Rounds per CPU second for 64 features and 10 classes: `BanditronClassifier` and
   `LinUCBClassifier`, all samples in one call of `partial_fit`; river's LinUCB, for a few samples;
   and Banditron as a bare loop without checks: in straightforward NumPy, in NumPy with all draws
   and conversions before the loop, and in C, if there is a compiler, with the instructions of any
   machine and of this machine.
2. Rounds per CPU second on samples with few nonzero features, dense and as CSR matrices.
3. One sample at a time: microseconds of `explore` and `partial_fit_feedback` together.
4. Latency of one visitor, the same two calls: median and 99th percentile for 10, 200 and 10,000
   items and 20 features. Of 10,000 items, 100 are available, if the release knows `available`. To
   compare with another checkout, run it with the other one in PYTHONPATH.

Libraries that are not installed are left out.

    python benchmarks/bandit.py [--quick] [--only 1 3]
"""

from inspect import signature

import numpy as np
from _bandit_peers import play_river
from _bare_banditron import compiled, play_plain, play_tuned
from _common import Stopwatch, least_seconds, print_table, run_parts
from scipy import sparse
from sklearn.base import clone

from sklrank.linear_model import BanditronClassifier, LinUCBClassifier, SemiBanditRanker
from sklrank.online_boosting import TopKBBM

N_FEATURES, N_CLASSES = 64, 10
MODELS = {
    "Banditron, rate 0.1": BanditronClassifier(),
    "Banditron, ag3": BanditronClassifier(exploration="ag3"),
    "exponential gradient": BanditronClassifier(mirror_map="entropy"),
    "LinUCB, diagonal": LinUCBClassifier(covariance="diagonal"),
    "LinUCB, full": LinUCBClassifier(kernel="linear"),
    "LinUCB, random features": LinUCBClassifier(),
}
SLOWEST = ("LinUCB, full", "LinUCB, random features")
# Sums may be reordered, as in the compiled modules of the package.
FLAGS = {
    "any machine": ["-O3", "-ffast-math"],
    "this machine": ["-O3", "-ffast-math", "-march=native"],
}


def clusters(n_samples, density=1.0):
    """Return Gaussian clusters, one for each class; about `density` of the entries are nonzero."""
    random = np.random.RandomState(0)
    y = random.randint(N_CLASSES, size=n_samples)
    X = random.normal(0, 0.5, (N_CLASSES, N_FEATURES))[y] + random.normal(
        size=(n_samples, N_FEATURES)
    )
    if density < 1:
        X *= random.rand(*X.shape) < density
    return X, y


def started(model, X, y):
    """Return a copy of the model that has learned from ten samples."""
    model = clone(model).set_params(random_state=0)
    return model.partial_fit(X[:10], y[:10], classes=range(N_CLASSES))


def speed(quick):
    n_samples = 20_000 if quick else 500_000
    X, y = clusters(n_samples)
    n_few, n_river = min(n_samples, 50_000), 200 if quick else 2000
    rates = {}
    for name, loop in (("plain", play_plain), ("tuned", play_tuned)):
        rates[f"NumPy loop, {name}"] = n_few / least_seconds(loop, X[:n_few], y[:n_few], N_CLASSES)
    for name, flags in FLAGS.items():
        loop = compiled(flags)
        if loop is not None:
            rates[f"C loop, {name}"] = n_samples / least_seconds(loop, X, y, N_CLASSES)
    for name, model in MODELS.items():
        n_used = n_samples // 10 if name in SLOWEST else n_samples
        model = started(model, X, y)
        rates[name] = n_used / least_seconds(model.partial_fit, X[:n_used], y[:n_used])
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
    print_table(
        f"1. {n_samples} samples, {N_FEATURES} features, {N_CLASSES} classes", columns, rows
    )


def sparse_speed(quick):
    n_samples = 10_000 if quick else 100_000
    table = []
    for name, model in MODELS.items():
        if name in SLOWEST:
            continue
        row = [name]
        for density in (0.3, 0.1, 0.03):
            X, y = clusters(n_samples, density)
            for samples in (X, sparse.csr_array(X)):
                rate = n_samples / least_seconds(started(model, samples, y).partial_fit, samples, y)
                row.append(f"{rate / 1e6:.2f}")
        table.append(row)
    columns = ["million rounds a second"]
    columns += [f"{kind} {density}" for density in (0.3, 0.1, 0.03) for kind in ("dense", "CSR")]
    print_table("2. By share of nonzero features", columns, table)


def play_one(model, x, label, n_calls):
    for _ in range(n_calls):
        shown = model.explore(x)
        model.partial_fit_feedback(x, shown, shown.actions == label)


def one_by_one(quick):
    X, y = clusters(1000)
    n_calls, rows = 200 if quick else 2000, []
    for name, model in MODELS.items():
        time = least_seconds(play_one, started(model, X, y), X[:1], y[:1], n_calls)
        rows.append([name, f"{1e6 * time / n_calls:.0f}"])
    print_table("3. One sample: explore, partial_fit_feedback", ["", "microseconds"], rows)


def latencies(model, n_items, n_visitors):
    """Return the CPU microseconds of each visitor, after the first tenth of them."""
    random, found = np.random.RandomState(0), []
    model = clone(model).set_params(random_state=0)
    available = {}
    if n_items > 1000 and "available" in signature(model.explore).parameters:
        available = {"available": np.arange(n_items) % (n_items // 100) == 0}
    X = random.normal(size=(n_visitors, 20))
    model.explore(X[:1], classes=range(n_items))
    for i in range(n_visitors):
        with Stopwatch() as watch:
            shown = model.explore(X[i : i + 1], **available)
            model.partial_fit_feedback(X[i : i + 1], shown, (shown.actions % 7 == i % 7) * 1)
        found.append(1e6 * watch.seconds)
    return found[n_visitors // 10 :]


def latency(quick):
    models = {
        "Banditron": (BanditronClassifier(), 10_000),
        "LinUCB": (LinUCBClassifier(), 10_000),
        "LinUCB, linear": (LinUCBClassifier(kernel="linear"), 10_000),
        "LinUCB, diagonal": (LinUCBClassifier(covariance="diagonal"), 10_000),
        "SemiBanditRanker": (SemiBanditRanker(), 10_000),
        "TopKBBM": (TopKBBM(), 200),
        'TopKBBM, "labels"': (TopKBBM(cost_estimate="labels"), 200),
    }
    rows = []
    for name, (model, most) in models.items():
        row = [name]
        for n_items in (10, 200, 10_000):
            try:
                times = latencies(model, n_items, 200 if quick else 2000) if n_items <= most else []
            except (ValueError, MemoryError):  # The matrices do not fit into memory.
                times = []
            row += [f"{q:.0f}" for q in np.percentile(times, [50, 99])] if times else ["-", "-"]
        rows.append(row)
    columns = ["microseconds"]
    columns += [f"{n} items, {name}" for n in (10, 200, "10,000") for name in ("median", "99 %")]
    print_table("4. One visitor", columns, rows)


PARTS = {1: speed, 2: sparse_speed, 3: one_by_one, 4: latency}


if __name__ == "__main__":
    run_parts(PARTS, __doc__, "A round shows one class and learns whether it was right.")

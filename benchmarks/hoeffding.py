"""HoeffdingTreeClassifier compared with river's: speed, accuracy and memory on five streams.

Both trees have the same settings and the same samples; each sample is predicted, then learned.

The samples for river are converted to dicts in advance and passed one by one; sklrank gets them in
one call of `progressive_fit`. Speed and accuracy are compared on the same prefix of the stream;
sklrank is then also run on the whole stream.

    python benchmarks/hoeffding.py [--quick]
"""

import argparse
import gc
import pickle
import tracemalloc
from statistics import median

import numpy as np
from _common import Stopwatch, print_header, print_table

from sklrank.tree import HoeffdingTreeClassifier

SETTINGS = {
    "mc": {"leaf_prediction": "mc"},
    "nba": {"leaf_prediction": "nba"},
    "mc, grace 12": {"leaf_prediction": "mc", "grace_period": 12},
    # The loose settings of trees in a booster, which grow early.
    "mc, loose": {"leaf_prediction": "mc", "grace_period": 12, "delta": 0.1, "tau": 0.3},
}
REPETITIONS = 3
TOLERANCE = 1.0
COPIES = 20


# -- Streams: samples `(n, n_features)` and classes 0, 1, ... `(n,)`.


def clusters(n, rng, n_features=20, n_classes=6, n_clusters=4):
    """Draw each class from a mixture of spherical Gaussians."""
    centers = 1.5 * rng.normal(size=(n_classes, n_clusters, n_features))
    y = rng.integers(n_classes, size=n)
    X = centers[y, rng.integers(n_clusters, size=n)] + 2.0 * rng.normal(size=(n, n_features))
    return X, y


def random_tree(n, rng, n_features=20, n_classes=4, depth=6):
    """Draw uniform samples, with classes by a complete tree of random splits."""
    X = rng.uniform(size=(n, n_features))
    node = np.zeros(n, dtype=np.intp)
    low, high = np.zeros((1, n_features)), np.ones((1, n_features))
    for _ in range(depth):
        feature = rng.integers(n_features, size=len(low))
        nodes = np.arange(len(low))
        # Split in the middle part of the remaining range, so that no branch is tiny.
        left, right = low[nodes, feature], high[nodes, feature]
        threshold = left + (right - left) * rng.uniform(0.3, 0.7, size=len(low))
        node = 2 * node + (X[np.arange(n), feature[node]] > threshold[node])
        low, high = np.repeat(low, 2, axis=0), np.repeat(high, 2, axis=0)
        high[2 * nodes, feature] = low[2 * nodes + 1, feature] = threshold
    return X, rng.integers(n_classes, size=len(low))[node]


def led(n, rng, n_irrelevant=17, noise=0.1):
    """Draw digits on a noisy seven-segment display, with irrelevant bits."""
    lit = ["1110111", "0010010", "1011101", "1011011", "0111010"]
    lit += ["1101011", "1101111", "1010010", "1111111", "1111011"]
    segments = np.array([[int(bit) for bit in digit] for digit in lit])
    y = rng.integers(10, size=n)
    shown = segments[y] ^ (rng.uniform(size=(n, 7)) < noise)
    return np.hstack([shown, rng.integers(2, size=(n, n_irrelevant))]).astype(float), y


def waveform(n, rng):
    """Draw three classes: random mixtures of two of three triangular waves, with noise."""
    times = np.arange(21)
    waves = np.stack([np.maximum(6.0 - np.abs(times - peak), 0.0) for peak in (6, 14, 10)])
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    y = rng.integers(3, size=n)
    share = rng.uniform(size=(n, 1))
    X = share * waves[first[y]] + (1.0 - share) * waves[second[y]]
    return X + rng.normal(size=X.shape), y


def drifting_hyperplane(n, rng, n_features=10, noise=0.05):
    """Draw two classes, separated by a plane that rotates by a right angle along the stream."""
    start, _ = np.linalg.qr(rng.normal(size=(n_features, 2)))
    angle = np.linspace(0.0, np.pi / 2, n)
    normal = np.cos(angle)[:, None] * start[:, 0] + np.sin(angle)[:, None] * start[:, 1]
    X = rng.normal(size=(n, n_features))
    y = (X * normal).sum(axis=1) > 0
    return X, (y ^ (rng.uniform(size=n) < noise)).astype(np.intp)


STREAMS = {
    "clusters": clusters,
    "random tree": random_tree,
    "LED": led,
    "waveform": waveform,
    "drifting plane": drifting_hyperplane,
}


# -- The two trees.


def as_dicts(X):
    names = [f"x{i}" for i in range(X.shape[1])]
    return [dict(zip(names, row)) for row in X.tolist()]


def river_run(settings, samples, y):
    """Return the tree, its accuracy, and its CPU seconds."""
    from river.tree import HoeffdingTreeClassifier as RiverTree

    tree, correct, watch = RiverTree(**settings), 0, Stopwatch()
    with watch:
        for x, label in zip(samples, y.tolist()):
            correct += tree.predict_one(x) == label
            tree.learn_one(x, label)
    return tree, correct / len(samples), watch.seconds


def sklrank_run(settings, X, y, n_classes):
    """Return the tree, its accuracy, and its CPU seconds."""
    tree, watch = HoeffdingTreeClassifier(**settings), Stopwatch()
    with watch:
        votes = tree.progressive_fit(X, y, classes=range(n_classes))
        correct = np.mean(votes.argmax(axis=1) == y)
    return tree, correct, watch.seconds


def compare(settings, X, y, n_river):
    """Return CPU seconds, accuracies and numbers of leaves of both trees on one stream."""
    n_classes = int(y.max()) + 1
    X_prefix, y_prefix = X[:n_river], y[:n_river]
    river_tree, river_accuracy, river_seconds = river_run(settings, as_dicts(X_prefix), y_prefix)
    runs = [sklrank_run(settings, X_prefix, y_prefix, n_classes) for _ in range(REPETITIONS)]
    tree, accuracy, _ = runs[0]
    return {
        "all_seconds": sklrank_run(settings, X, y, n_classes)[-1],
        "seconds": median(seconds for _, _, seconds in runs),
        "river_seconds": river_seconds,
        "accuracy": 100 * accuracy,
        "river_accuracy": 100 * river_accuracy,
        "leaves": tree.get_n_leaves(),
        "river_leaves": river_tree.n_leaves,
    }


def comparison_row(runs, n_samples, n_river):
    """Return the cells of a table row, averaged over seeds, and the difference in accuracy."""
    mean = {key: np.mean([run[key] for run in runs]) for key in runs[0]}
    differences = np.array([run["accuracy"] - run["river_accuracy"] for run in runs])
    difference = differences.mean()
    cells = [
        f"{n_samples / mean['all_seconds']:,.0f}",
        f"{n_river / mean['seconds']:,.0f}",
        f"{n_river / mean['river_seconds']:,.0f}",
        f"{mean['river_seconds'] / mean['seconds']:.1f}",
        f"{mean['accuracy']:.2f}",
        f"{mean['river_accuracy']:.2f}",
        f"{difference:+.2f}" + (" *" if abs(difference) > TOLERANCE else "  "),
        f"{differences.std(ddof=1):.2f}" if len(runs) > 1 else "",
        f"{mean['leaves']:.0f}/{mean['river_leaves']:.0f}",
    ]
    return cells, difference


# -- Memory.


def bytes_of(build):
    """Return the bytes that an object from `build()` occupies, and the size of its pickle."""
    build()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    # Several copies, as Python allocates some memory once for all of them.
    copies = [build() for _ in range(COPIES)]
    gc.collect()
    held = (tracemalloc.get_traced_memory()[0] - before) / COPIES
    tracemalloc.stop()
    return held, len(pickle.dumps(copies[0]))


def memory_row(leaf_prediction, X, y):
    settings, classes = {"leaf_prediction": leaf_prediction}, range(y.max() + 1)
    samples = as_dicts(X)
    ours, our_pickle = bytes_of(
        lambda: HoeffdingTreeClassifier(**settings).partial_fit(X, y, classes=classes)
    )
    river, river_pickle = bytes_of(lambda: river_run(settings, samples, y)[0])
    held = [f"{ours / 1000:.1f}", f"{river / 1000:.1f}", f"{river / ours:.0f}"]
    return [leaf_prediction, *held, f"{our_pickle / 1000:.1f}", f"{river_pickle / 1000:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=500_000, help="length of a stream")
    parser.add_argument("--river-samples", type=int, default=20_000, help="length of the prefix")
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--seeds", type=int, default=3, help="streams of each kind")
    parser.add_argument("--quick", action="store_true", help="one short stream of each kind")
    args = parser.parse_args()
    if args.quick:
        args.samples, args.river_samples, args.seeds = 20_000, 3_000, 1
    args.river_samples = min(args.samples, args.river_samples)

    print_header(
        "Each sample is predicted, then learned.",
        f"Speed: samples per CPU second. sklrank in one call, on all {args.samples:,} samples,\n"
        f"  then on the first {args.river_samples:,}; river one by one on those (dicts made in "
        "advance). Ratio: on the same samples.",
        f"Accuracy: % of the first {args.river_samples:,} samples; difference in points, * = more "
        f"than {TOLERANCE:g}.",
        f"All figures are means over {args.seeds} stream(s); sd is that of the difference.",
    )
    table, differences = [], []
    for name in args.streams:
        rngs = [np.random.default_rng(seed) for seed in range(args.seeds)]
        streams = [STREAMS[name](args.samples, rng) for rng in rngs]
        for setting, settings in SETTINGS.items():
            runs = [compare(settings, X, y, args.river_samples) for X, y in streams]
            cells, difference = comparison_row(runs, args.samples, args.river_samples)
            table.append([name, setting, *cells])
            differences.append(abs(difference))
    speeds = ["sklrank, all", "sklrank", "river", "ratio"]
    columns = ["stream", "leaf", *speeds, "sklrank %", "river %", "points  ", "sd", "leaves"]
    print_table("Speed and accuracy", columns, table)
    print(f"Largest difference in accuracy: {max(differences):.2f} points")

    # One sample less than the grace period: the tree cannot have split.
    X, y = clusters(199, np.random.default_rng(0))
    columns = ["leaf", "sklrank kB", "river kB", "ratio", "pickle: sklrank kB", "river kB"]
    print_table(
        "Memory of a tree of one leaf (20 features, 6 classes, 199 samples), by tracemalloc",
        columns,
        [memory_row(leaf_prediction, X, y) for leaf_prediction in ("mc", "nba")],
    )


if __name__ == "__main__":
    main()

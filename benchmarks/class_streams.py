"""Streams of classes: AdaOLMR beside adaptive random forests, and LightGBM on the last samples.

Each sample is predicted before it is learned. Three streams are data sets that river has, in the
order of their files; the others are drawn by its generators, and most change their concept once or
twice, or steadily. LightGBM is fitted to the last 1000 samples, again after each 250.

    python benchmarks/class_streams.py [--samples 9000] [--only agrawal led] [--no-peers]
"""

import argparse
from itertools import islice

import numpy as np
from _common import Stopwatch, print_header, print_table

from sklrank.linear_model import OnlineLogisticRegression, OnlineRidgeClassifier
from sklrank.online_boosting import AdaOLMR
from sklrank.tree import HoeffdingTreeClassifier

# The trees of AdaOLMR, and drift_threshold=25, were chosen on these streams.
CHOSEN_ON = ("agrawal", "sea", "led", "rbf", "random tree", "bananas", "segments")


def parts(generators, n):
    """Return the samples of several generators, the same number of each."""
    return [row for each in generators for row in islice(each, n // len(generators))]


def led(n):
    """Return digits shown by seven segments, whose columns change places twice."""
    from river.datasets.synth import LED

    rows = []
    for seed in range(3):
        drawn = list(islice(LED(seed=seed, noise_percentage=0.1, irrelevant_features=True), n // 3))
        names = list(drawn[0][0])
        order = np.random.RandomState(seed).permutation(len(names)) if seed else range(len(names))
        rows += [({a: x[names[j]] for a, j in zip(names, order)}, y) for x, y in drawn]
    return rows


def streams(n):
    """Return functions that draw streams, by name."""
    from river import datasets
    from river.datasets import synth

    def agrawal(functions, **options):
        return [synth.Agrawal(f, seed=f, **options) for f in functions]

    def tree(seed):
        return synth.RandomTree(seed, seed, 3, 8, 3, 4, max_tree_depth=6)

    return {
        "agrawal": lambda: parts(agrawal((0, 3, 6)), n),
        "sea": lambda: parts([synth.SEA(v, seed=v, noise=0.1) for v in (0, 2, 3)], n),
        "led": lambda: led(n),
        "rbf": lambda: parts([synth.RandomRBFDrift(1, 2, 4, 10, 20, 0.001, 20)], n),
        "random tree": lambda: parts([tree(1), tree(2)], n),
        "bananas": lambda: list(datasets.Bananas()),
        "segments": lambda: list(datasets.ImageSegments()),
        "hyperplane": lambda: parts([synth.Hyperplane(3, 10, 5, 0.002)], n),
        "stagger": lambda: parts([synth.STAGGER(f, seed=f) for f in range(3)], n),
        "phishing": lambda: list(datasets.Phishing()),
        "agrawal, noise": lambda: parts(agrawal((1, 4, 8), perturbation=0.1), n),
        "mixed": lambda: parts([synth.Mixed(f, seed=f) for f in range(2)], n),
        "waveform": lambda: parts([synth.Waveform(seed=1, has_noise=True)], n),
    }


def as_arrays(rows):
    """Return the samples as numbers, strings by their codes, and the classes as codes."""
    columns = [[x[name] for x, _ in rows] for name in rows[0][0]]
    columns = [
        np.unique(each, return_inverse=True)[1] if isinstance(each[0], str) else each
        for each in columns
    ]
    X = np.column_stack(columns).astype(float)
    return X, np.unique([str(y) for _, y in rows], return_inverse=True)[1]


def by_progressive_fit(model):
    def predict(X, y):
        scores = model().progressive_fit(X, y, classes=np.unique(y))
        return scores.argmax(axis=1)

    return predict


def adaptive_forest(X, y):
    from river.forest import ARFClassifier

    model, predicted = ARFClassifier(n_models=10, seed=0), []
    for row, label in zip(X.tolist(), y.tolist()):
        sample = dict(enumerate(row))
        predicted.append(model.predict_one(sample))
        model.learn_one(sample, label)
    return np.array([-1 if each is None else each for each in predicted])


def lightgbm(X, y):
    from lightgbm import LGBMClassifier

    predicted, model = np.full(len(y), -1), None
    for start in range(0, len(y), 250):
        rows = slice(start, start + 250)
        if model is not None:
            predicted[rows] = model.predict(X[rows])
        last = slice(max(0, start - 750), start + 250)
        if len(np.unique(y[last])) > 1:
            model = LGBMClassifier(n_jobs=1, verbose=-1).fit(X[last], y[last])
    return predicted


OWN = {
    "AdaOLMR": by_progressive_fit(lambda: AdaOLMR(random_state=0)),
    "logistic": by_progressive_fit(OnlineLogisticRegression),
    "ridge": by_progressive_fit(OnlineRidgeClassifier),
    "Hoeffding tree": by_progressive_fit(HoeffdingTreeClassifier),
    "Hoeffding tree, drift": by_progressive_fit(
        lambda: HoeffdingTreeClassifier(drift_threshold=25)
    ),
}
PEERS = {"river, forest of 10": adaptive_forest, "LightGBM": lightgbm}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--samples", type=int, default=9000)
    parser.add_argument("--only", nargs="+", help="names of streams")
    parser.add_argument("--no-peers", action="store_true")
    arguments = parser.parse_args()
    print_header("streams of classes", peers=("river", "lightgbm"))
    models = OWN | ({} if arguments.no_peers else PEERS)
    rows, shares, seconds = [], [], dict.fromkeys(models, 0.0)
    for name, draw in streams(arguments.samples).items():
        if arguments.only and name not in arguments.only:
            continue
        X, y = as_arrays(draw())
        shares.append([])
        for model, predict in models.items():
            with Stopwatch() as watch:
                predicted = predict(X, y)
            seconds[model] += watch.seconds
            shares[-1].append(100 * np.mean(predicted == y))
        rows.append([name, *(f"{share:.1f}" for share in shares[-1])])
        print(*rows[-1], sep=" | ", flush=True)
    gaps = np.array(shares)[:, :1] - shares
    errors = gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else gaps[0] * np.nan
    rows.append(["mean", *(f"{share:.1f}" for share in np.mean(shares, axis=0))])
    ahead = [f"{gap:+.1f} +- {error:.1f}" for gap, error in zip(gaps.mean(axis=0), errors)]
    rows.append(["AdaOLMR is ahead by", "", *ahead[1:]])
    rows.append(["CPU seconds", *(f"{each:.1f}" for each in seconds.values())])
    print_table("Per cent right", ["stream", *models], rows)


if __name__ == "__main__":
    main()

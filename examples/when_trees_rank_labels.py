"""When do trees learn label rankings from few samples? Theory and data sets side by side.

Fotakis et al. (2022) bound the error of trees whose targets depend on r of d binary features, for
level splits (Algorithm 9) if Condition 3 holds, and for Breiman's criterion (Algorithm 10) under
Condition 4: informative features must not become more useful when others are known. The first
table has the mean squared error of honest trees against the number of samples n, r and d, and its
exponent: b if the error is proportional to n ** b. For independent features, the theorems bound it
by 2 ** (r / 2) * log(d) ** (1 / 2) * n ** (-1 / 2) for level splits, and by
2 ** (2 r / 3) * log(d) ** (1 / 3) * n ** (-1 / 3) for Breiman's criterion. With "parity", each
target is 1 if two of its features are equal: it violates both conditions.

The second table has a diagnostic for data sets of your own. V(S) is the variance of a target that
the features S explain, and C is the largest ratio

    (V({i, j}) - V({j})) / V({i})

of all pairs of features and all labels, where the numerator is at least 2 % of the variance.
Condition 3 holds with C at best: level splits suit the data if C is near 1. Features are split at
their medians. Next to C are the shares of the variance that trees explain on new samples, and their
difference: where C is larger, trees whose cells have splits of their own gain more. (Of the real
data sets below 0.3, little can be learned; their C is small, and level splits overfit less.)

Run:  python examples/when_trees_rank_labels.py [--samples 16384] [--seeds 5] [--plot FILE]
Data: if the environment variable `SKLRANK_DATA` names a folder with `labelranking/NAME.npz`, the
      second table has real data sets, too.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeRegressor

from sklrank.datasets import make_sparse_label_ranking
from sklrank.tree import HonestTreeRegressor, LevelSplitsRegressor

N_LABELS = 4
MAX_FEATURES, MAX_SAMPLES = 30, 1500  # of the real data sets; the number of pairs is quadratic
# Shares of the variance of a target below this one are noise in some hundred samples.
LEAST_SHARE = 0.02


def draw(kind, n_samples, r, d, seed):
    """Return binary features and the targets without noise."""
    X, *_, scores = make_sparse_label_ranking(
        n_samples, d, N_LABELS, n_informative=r, random_state=seed, return_clean=True
    )
    if kind == "parity":
        features = np.random.RandomState(seed).permutation(d)[: 2 * N_LABELS].reshape(N_LABELS, 2)
        scores = 0.25 + 0.5 * (X[:, features[:, 0]] == X[:, features[:, 1]])
    return X, scores


def trees(r, seed):
    """Return the trees of both algorithms, with the budgets of the theorems."""
    return {
        "level splits": LevelSplitsRegressor(max_depth=r, honest="estimation", random_state=seed),
        "Breiman": HonestTreeRegressor(max_leaf_nodes=2**r, random_state=seed),
    }


def error(kind, n_samples, r, d, seed):
    """Return the mean squared error of each tree, one tree for each label."""
    X, scores = draw(kind, 2 * n_samples, r, d, seed)
    noisy = scores + np.random.RandomState(seed).uniform(-0.25, 0.25, size=scores.shape)
    squares = {name: [] for name in trees(r, seed)}
    for label in range(N_LABELS):
        for name, tree in trees(r, seed).items():
            tree.fit(X[:n_samples], noisy[:n_samples, label])
            predicted = tree.predict(X[n_samples:]).ravel()
            squares[name].append(np.mean((predicted - scores[n_samples:, label]) ** 2))
    return {name: np.mean(values) for name, values in squares.items()}


def exponent(sizes, errors):
    """Return the slope of a line through the logarithms."""
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


def first_table(sizes, n_seeds):
    """Print errors and exponents; return the curves."""
    print(f"Mean squared error x 1000 of {n_seeds} seeds, and its exponent\n")
    print(
        f"{'target':<10}{'r':>3}{'d':>5}  {'tree':<14}" + "".join(f"{n:>8}" for n in sizes), "   b"
    )
    curves = {}
    for kind, r, d in [
        ("additive", 2, 30),
        ("additive", 4, 30),
        ("additive", 6, 30),
        ("additive", 4, 300),
        ("parity", 4, 30),
    ]:
        found = [[error(kind, n, r, d, seed) for seed in range(n_seeds)] for n in sizes]
        for name in trees(r, 0):
            errors = np.array([np.mean([one[name] for one in of_size]) for of_size in found])
            curves[kind, r, d, name] = errors
            cells = "".join(f"{value:>8.2f}" for value in 1000 * errors)
            print(f"{kind:<10}{r:>3}{d:>5}  {name:<14}{cells}{exponent(sizes, errors):>8.2f}")
    return curves


def explained(codes, halves, y):
    """Return an unbiased estimate of V, from the means of cells in two halves of the samples."""
    n_cells = codes.max() + 1
    counts = [np.bincount(codes[half], minlength=n_cells) for half in halves]
    sums = [np.bincount(codes[half], y[half], n_cells) for half in halves]
    known = (counts[0] > 0) & (counts[1] > 0)
    products = (sums[0] / np.maximum(counts[0], 1)) * (sums[1] / np.maximum(counts[1], 1))
    return np.sum(products * known * (counts[0] + counts[1])) / len(y)


def largest_ratio(X, Y, seed=0, n_divisions=10):
    """Return C of Condition 3, as far as pairs of features show it."""
    bits = (X > np.median(X, axis=0)) | (X == X.max(axis=0)) & (np.ptp(X, axis=0) <= 1)
    bits = bits.astype(np.int64)
    random, d, largest = np.random.RandomState(seed), X.shape[1], 1.0
    halves = [np.array_split(random.permutation(len(X)), 2) for _ in range(n_divisions)]
    for y in (Y - Y.mean(axis=0)).T:

        def share(codes, y=y):
            return np.mean([explained(codes, half, y) for half in halves]) / y.var()

        alone = np.array([share(bits[:, i]) for i in range(d)])
        for i in range(d):
            for j in range(i):
                both = share(2 * bits[:, i] + bits[:, j])
                # The feature that is worse alone gains more from the other one.
                gain, before = both - max(alone[i], alone[j]), min(alone[i], alone[j])
                if gain >= LEAST_SHARE:
                    largest = max(largest, gain / max(before, LEAST_SHARE / 4))
    return largest


def explained_by(model, X, Y, n_seeds):
    """Return the mean share of the variance of all targets that a model explains on new samples."""
    shares = []
    for seed in range(n_seeds):
        X_train, X_test, Y_train, Y_test = train_test_split(X, Y, test_size=0.3, random_state=seed)
        rest = np.sum((model.fit(X_train, Y_train).predict(X_test) - Y_test) ** 2)
        shares.append(1 - rest / np.sum((Y_test - Y_train.mean(axis=0)) ** 2))
    return np.mean(shares)


def data_sets():
    for kind in ("additive", "parity"):
        X, scores = draw(kind, 1000, 4, 12, 0)
        yield kind, X, scores + np.random.RandomState(0).uniform(-0.25, 0.25, size=scores.shape)
    folder = Path(os.environ.get("SKLRANK_DATA", "")) / "labelranking"
    for file in sorted(folder.glob("*.npz")):
        X, Y = (np.load(file)[name] for name in "XY")
        if X.shape[1] <= MAX_FEATURES:
            kept = np.random.RandomState(0).permutation(len(X))[:MAX_SAMPLES]
            yield file.stem, X[kept], Y[kept] / Y.shape[1]


def second_table(n_seeds):
    print("\nSubmodularity of data sets, and the share of the variance that one tree explains\n")
    print(f"{'':<12}{'C':>7}{'level splits':>14}{'Breiman':>9}{'difference':>12}")
    found = []
    for name, X, Y in data_sets():
        ratio = largest_ratio(X, Y)
        level, other = (
            explained_by(model, X, Y, n_seeds)
            for model in (
                LevelSplitsRegressor(min_samples_leaf=5, max_depth=10),
                DecisionTreeRegressor(min_samples_leaf=5, random_state=0),
            )
        )
        print(
            f"{name:<12}{ratio:>7.1f}{level:>14.2f}{other:>9.2f}{other - level:>12.2f}", flush=True
        )
        found.append((ratio, other - level))
    if len(found) > 2:
        correlation = spearmanr(*np.array(found[2:]).T).statistic
        print(f"\nRank correlation of C and the difference, real data sets: {correlation:.2f}")


def plot(sizes, curves, file):
    """Plot the errors on logarithmic axes, beside the exponents of the theorems."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    bounds = {"level splits": -1 / 2, "Breiman": -1 / 3}
    for axis, (name, bound) in zip(axes, bounds.items()):
        for (kind, r, d, tree), errors in curves.items():
            if tree == name:
                axis.loglog(sizes, errors, "o-", label=f"{kind}, r = {r}, d = {d}")
        line = 0.02 * (np.array(sizes) / sizes[0]) ** bound
        axis.loglog(sizes, line, "k--", label=f"exponent of the bound, {bound:.2f}")
        axis.set(title=name, xlabel="samples")
        axis.legend(fontsize=8)
    axes[0].set_ylabel("mean squared error")
    figure.tight_layout()
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=16_384)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--plot", metavar="FILE", help="write a plot of the errors")
    arguments = parser.parse_args()
    sizes = [arguments.samples // 2**k for k in range(10, -1, -2) if arguments.samples >> k >= 64]
    curves = first_table(sizes, arguments.seeds)
    second_table(arguments.seeds)
    if arguments.plot:
        plot(sizes, curves, arguments.plot)


if __name__ == "__main__":
    main()

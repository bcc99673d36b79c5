"""Learn rankings of which labels are missing or tied: tau against the share that is not told.

For each share, labels of the training rankings are hidden at random (incomplete rankings), or
neighbours in them are tied (partial rankings). Rankers learn from what is left and are judged on
complete rankings of other rows:

- pairwise: a forest for each pair of labels, from the rows that compare them;
- labelwise, relative: a forest for each label, on its place among the labels that are ranked;
- labelwise, complete rows: one forest, from the rows of which nothing is missing, or tied.

The data: two benchmark sets where `SKLRANK_DATA` names a folder with `labelranking/NAME.npz`, else
rankings made of the classes of scikit-learn's wine and digits.

Run:  python examples/incomplete_rankings.py [--folds 5] [--plot FILE]
      Eight minutes without the benchmark data.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.model_selection import KFold

from sklrank.datasets import hide_labels, label_ranking_from_classification, tie_labels
from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
BENCHMARKS = ("housing", "stock")
RANKERS = {
    "pairwise": PairwiseRanker(RandomForestClassifier(50, random_state=0)),
    "labelwise, relative": LabelwiseRanker(
        ExtraTreesRegressor(50, random_state=0), multi_output=False, incomplete="relative"
    ),
    "labelwise, complete rows": LabelwiseRanker(ExtraTreesRegressor(50, random_state=0)),
}


def data_sets():
    folder = os.environ.get("SKLRANK_DATA")
    if folder:
        for name in BENCHMARKS:
            with np.load(Path(folder) / "labelranking" / f"{name}.npz") as data:
                yield name, data["X"], data["Y"]
    else:
        for load in (load_wine, load_digits):
            name = load.__name__.removeprefix("load_")
            yield name, *label_ranking_from_classification(*load(return_X_y=True))


def less_told(Y, share, kind, seed):
    if kind == "missing":
        return hide_labels(Y, survival=1.0 - share, random_state=seed)
    return tie_labels(Y, probability=share, random_state=seed)


def untouched(Y):
    """Which rows rank every label, without ties."""
    return [len(np.unique(row)) == len(row) and not np.isnan(row).any() for row in Y]


def taus(X, Y, kind, folds):
    """Ranker -> mean tau `(n_shares, n_folds)`; NaN where too few complete rows are left."""
    found = {name: np.full((len(SHARES), folds), np.nan) for name in RANKERS}
    for fold, (train, test) in enumerate(KFold(folds, shuffle=True, random_state=0).split(X)):
        for i, share in enumerate(SHARES):
            Y_train = less_told(Y[train], share, kind, seed=fold)
            for name, ranker in RANKERS.items():
                rows = np.ones(len(train), dtype=bool)
                if name == "labelwise, complete rows":
                    rows = np.array(untouched(Y_train))
                if rows.sum() >= 5:
                    model = clone(ranker).fit(X[train][rows], Y_train[rows])
                    found[name][i, fold] = model.score(X[test], Y[test])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--plot", metavar="FILE", help="draw the curves")
    arguments = parser.parse_args()
    curves = {}
    for name, X, Y in data_sets():
        for kind in ("missing", "tied"):
            print(f"\n{name}: {len(X)} rows, {Y.shape[1]} labels; tau by the share {kind}")
            print(f"  {'':<26}" + "".join(f"{share:>7.1f}" for share in SHARES))
            curves[name, kind] = taus(X, Y, kind, arguments.folds)
            for ranker, found in curves[name, kind].items():
                means = ["-" if np.isnan(row).any() else f"{row.mean():.3f}" for row in found]
                print(f"  {ranker:<26}" + "".join(f"{mean:>7}" for mean in means), flush=True)

    if arguments.plot:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharey="row", layout="constrained")
        for ax, ((name, kind), of_ranker) in zip(axes.flat, curves.items()):
            for ranker, found in of_ranker.items():
                mean, deviation = found.mean(axis=1), found.std(axis=1)
                (line,) = ax.plot(SHARES, mean, marker="o", markersize=3, label=ranker)
                ax.fill_between(
                    SHARES, mean - deviation, mean + deviation, alpha=0.2, color=line.get_color()
                )
            ax.set(title=name, xlabel=f"share of labels {kind}", ylabel="Kendall tau")
        axes[0, 0].legend(fontsize="small", loc="lower left")
        figure.savefig(arguments.plot, dpi=120)
        print(f"\nThe curves are drawn in {arguments.plot}")


if __name__ == "__main__":
    main()

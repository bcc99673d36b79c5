"""Kendall's tau of label rankers against the share of missing or tied labels.

For each share, labels of the training rankings are hidden at random (incomplete rankings), or
labels at neighboring places are tied (partial rankings). The rankers are scored on complete
rankings of held-out samples:

- pairwise: a forest for each pair of labels, fitted to the samples that compare them;
- pairwise, honest: the same with honest forests, grown by Algorithm 10 of the paper of Fotakis,
  Kalavasis and Psaroudaki (ICML 2022), which leaves pairwise decomposition by such trees open;
- pairwise, level: the same with level splits, Algorithm 9;
- labelwise, relative: a forest for each label, fitted to its position among the ranked labels;
- labelwise, complete: the same, fitted only to the samples without missing or tied labels.

Data: if the environment variable `SKLRANK_DATA` names a folder with `labelranking/NAME.npz`, two
benchmark sets; otherwise rankings made from the classes of scikit-learn's wine and digits.

Run:  python examples/incomplete_rankings.py [--folds 2] [--samples 300] [--plot FILE]
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
from sklrank.tree import HonestForestClassifier

SHARES = (0.0, 0.2, 0.4, 0.6)
BENCHMARKS = ("housing", "stock")
RANKERS = {
    "pairwise": PairwiseRanker(RandomForestClassifier(50, random_state=0)),
    "pairwise, honest": PairwiseRanker(HonestForestClassifier(50, random_state=0)),
    "pairwise, level": PairwiseRanker(
        HonestForestClassifier(50, splits="level", max_features="sqrt", random_state=0)
    ),
    "labelwise, relative": LabelwiseRanker(
        ExtraTreesRegressor(50, random_state=0), incomplete="relative"
    ),
    "labelwise, complete": LabelwiseRanker(ExtraTreesRegressor(50, random_state=0)),
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


def remove_information(Y, share, kind, seed):
    """Hide or tie this share of the labels."""
    if kind == "missing":
        return hide_labels(Y, survival=1.0 - share, random_state=seed)
    return tie_labels(Y, probability=share, random_state=seed)


def is_complete(Y):
    """Return a mask of the rankings of all labels without ties."""
    return np.array([len(np.unique(row)) == len(row) and not np.isnan(row).any() for row in Y])


def taus(X, Y, kind, folds):
    """Return the mean tau `(n_shares, n_folds)` of each ranker; NaN without enough samples."""
    found = {name: np.full((len(SHARES), folds), np.nan) for name in RANKERS}
    for fold, (train, test) in enumerate(KFold(folds, shuffle=True, random_state=0).split(X)):
        for i, share in enumerate(SHARES):
            Y_train = remove_information(Y[train], share, kind, seed=fold)
            for name, ranker in RANKERS.items():
                chosen = np.ones(len(train), dtype=bool)
                if name == "labelwise, complete":
                    chosen = is_complete(Y_train)
                if chosen.sum() >= 5:
                    model = clone(ranker).fit(X[train][chosen], Y_train[chosen])
                    found[name][i, fold] = model.score(X[test], Y[test])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--samples", type=int, default=300, help="at most, drawn from each set")
    parser.add_argument("--plot", metavar="FILE", help="draw the curves")
    arguments = parser.parse_args()
    curves = {}
    for name, X, Y in data_sets():
        drawn = np.random.RandomState(0).permutation(len(X))[: arguments.samples]
        X, Y = X[drawn], Y[drawn]
        for kind in ("missing", "tied"):
            print(f"\n{name}: {len(X)} samples, {Y.shape[1]} labels; tau by the share {kind}")
            print(f"  {'':<26}" + "".join(f"{share:>7.1f}" for share in SHARES))
            curves[name, kind] = taus(X, Y, kind, arguments.folds)
            for ranker, found in curves[name, kind].items():
                means = ["-" if np.isnan(row).any() else f"{row.mean():.3f}" for row in found]
                print(f"  {ranker:<26}" + "".join(f"{mean:>7}" for mean in means), flush=True)

    if arguments.plot:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharey="row", layout="constrained")
        for ax, ((name, kind), taus_by_ranker) in zip(axes.flat, curves.items()):
            for ranker, found in taus_by_ranker.items():
                mean, deviation = found.mean(axis=1), found.std(axis=1)
                (line,) = ax.plot(SHARES, mean, marker="o", markersize=3, label=ranker)
                ax.fill_between(
                    SHARES, mean - deviation, mean + deviation, alpha=0.2, color=line.get_color()
                )
            ax.set(title=name, xlabel=f"share of labels {kind}", ylabel="Kendall tau")
        axes[0, 0].legend(fontsize="small", loc="lower left")
        figure.savefig(arguments.plot, dpi=120)
        print(f"\nSaved the curves to {arguments.plot}")


if __name__ == "__main__":
    main()

"""Tables 4 to 7 of Fotakis et al. (2022): label rankers on 21 data sets, and the paper's figures.

The first table has the mean Kendall tau of held-out samples in shuffled ten-fold cross-validation,
as mean and standard deviation over folds and repetitions, in per cent. Its columns are

- the paper's models: random forests (RF), trees (DT) and shallow trees (SDT; depth 5, which the
  paper does not state), one for each label (labelwise) or for each pair of labels (one-versus-one);
- `StackedRanker()`, the recommended configuration, with the same parameters on all sets;
- "tails": the same with one more member, which models how most of these rankings were made: from
  scores with ties, whose labels were left in the order of the columns (`_tied_tails.py`);
- the best figure of any method in the paper's Tables 6 and 7. A set counts as reached if the mean
  of the recommended ranker, rounded to the two decimals of the tables, is not below that figure.

The paper's own columns are on another scale: they hold Kendall's tau of the two *orderings* (the
labels listed best first), not of the positions. The second table uses that formula, for the same
models and folds, beside the paper's columns.

The default rankers of `StackedRanker` were chosen on authorship, bodyfat, glass, housing, iris,
pendigits, stock, vehicle, vowel, wine, wisconsin, cold, diau, dtt and spo, among other data, its
correction of pairs also on heat and segment, and its forest also on calhousing and cpu_small.

Data: the environment variable `SKLRANK_DATA` names a folder with `labelranking/NAME.npz`, which
holds X and the positions Y.

Run:  python examples/paper_label_ranking.py [--repetitions 5] [--sets iris wine] [--folds 10]
      Three hours; --first-folds 1 takes a tenth of it.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
from _tied_tails import with_tied_tails
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklrank.label_ranking import (
    LabelwiseRanker,
    PairwiseRanker,
    StackedRanker,
    orderings_from_positions,
)
from sklrank.metrics import kendall_tau_score

# RF, DT and SDT of Tables 4 and 5; the best of the other methods in Tables 6 and 7.
PAPER = {
    "authorship": (0.85, 0.78, 0.81, 0.94),
    "bodyfat": (0.12, 0.05, 0.09, 0.28),
    "calhousing": (0.32, 0.24, 0.17, 0.44),
    "cpu_small": (0.29, 0.21, 0.28, 0.52),
    "elevators": (0.60, 0.47, 0.50, 0.77),
    "fried": (0.96, 0.90, 0.65, 1.00),
    "glass": (0.88, 0.80, 0.79, 0.89),
    "housing": (0.44, 0.40, 0.39, 0.83),
    "iris": (0.95, 0.91, 0.92, 0.97),
    "pendigits": (0.86, 0.77, 0.63, 0.94),
    "segment": (0.90, 0.87, 0.82, 0.96),
    "stock": (0.80, 0.76, 0.76, 0.93),
    "vehicle": (0.84, 0.78, 0.79, 0.87),
    "vowel": (0.67, 0.63, 0.55, 0.97),
    "wine": (0.90, 0.84, 0.86, 0.95),
    "wisconsin": (0.14, 0.08, 0.10, 0.63),
    "spo": (0.05, 0.05, 0.04, 0.14),
    "heat": (0.07, 0.05, 0.05, 0.13),
    "dtt": (0.13, 0.10, 0.09, 0.17),
    "cold": (0.10, 0.06, 0.07, 0.22),
    "diau": (0.15, 0.12, 0.12, 0.33),
}
LABELWISE = {
    "RF": LabelwiseRanker(RandomForestRegressor(random_state=0)),
    "DT": LabelwiseRanker(DecisionTreeRegressor(random_state=0)),
    "SDT": LabelwiseRanker(DecisionTreeRegressor(max_depth=5, random_state=0)),
}
ONE_VERSUS_ONE = {
    title: PairwiseRanker(classifier)
    for title, classifier in {
        "RF 1v1": RandomForestClassifier(random_state=0),
        "DT 1v1": DecisionTreeClassifier(random_state=0),
        "SDT 1v1": DecisionTreeClassifier(max_depth=5, random_state=0),
    }.items()
}
RECOMMENDED, WITH_TAILS = "stacked", "tails"


def load(name):
    folder = os.environ.get("SKLRANK_DATA")
    if not folder:
        sys.exit("SKLRANK_DATA must name the folder of the benchmark data, see the docstring")
    with np.load(Path(folder) / "labelranking" / f"{name}.npz") as data:
        return data["X"], data["Y"]


def models(chosen, n_features):
    known = {
        **LABELWISE,
        **ONE_VERSUS_ONE,
        WITH_TAILS: with_tied_tails(n_features),
        RECOMMENDED: StackedRanker(random_state=0),
    }
    return {title: known[title] for title in known if title in chosen}


def tau_of_orderings(Y, predicted):
    """Compute tau by the paper's formula, which compares orderings as if they were positions."""
    return kendall_tau_score(orderings_from_positions(Y), orderings_from_positions(predicted))


def evaluate(model, X, Y, train, test):
    """Return the tau of positions, the tau of orderings, and CPU seconds."""
    start = time.process_time()
    predicted = model.fit(X[train], Y[train]).predict(X[test])
    seconds = time.process_time() - start
    return kendall_tau_score(Y[test], predicted), tau_of_orderings(Y[test], predicted), seconds


def run(name, chosen, arguments):
    """Return tau of positions, tau of orderings and CPU seconds, each `(n_folds, n_models)`."""
    X, Y = load(name)
    chosen = models(chosen, X.shape[1])
    folds = [
        fold
        for repetition in range(arguments.repetitions)
        for fold in KFold(arguments.folds, shuffle=True, random_state=repetition).split(X)
    ]
    folds = folds[: arguments.first_folds]
    calls = (delayed(evaluate)(model, X, Y, *fold) for fold in folds for model in chosen.values())
    results = np.array(Parallel(n_jobs=arguments.jobs)(calls))
    return results.reshape(len(folds), len(chosen), 3).transpose(2, 0, 1)


def cells(taus):
    columns = zip(100 * taus.mean(axis=0), 100 * taus.std(axis=0))
    return "".join(f"{mean:>8.2f}{deviation:>6.2f}" for mean, deviation in columns)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1, help="the paper has 5")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--first-folds", type=int, help="evaluate only these, to save time")
    parser.add_argument("--sets", nargs="+", default=list(PAPER), choices=PAPER, metavar="SET")
    known = [*LABELWISE, *ONE_VERSUS_ONE, WITH_TAILS, RECOMMENDED]
    parser.add_argument("--models", nargs="+", default=known, choices=known, metavar="MODEL")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the folds")
    arguments = parser.parse_args()
    chosen = [title for title in known if title in arguments.models]

    n_folds = min(arguments.folds * arguments.repetitions, arguments.first_folds or np.inf)
    print(
        f"Tau of positions, per cent: mean and deviation of {n_folds} folds (of "
        f"{arguments.repetitions} x {arguments.folds}); best published figure; seconds per fold of "
        "the last model"
    )
    print(f"{'':<11}" + "".join(f"{title:>8}{'+-':>6}" for title in chosen) + "    best    sec.")
    means, of_orderings, reached = {}, {}, []
    for name in arguments.sets:
        taus, of_orderings[name], seconds = run(name, chosen, arguments)
        means[name] = taus.mean(axis=0)
        best = PAPER[name][-1]
        line = f"{name:<11}{cells(taus)}{100 * best:>8.0f}{seconds[:, -1].mean():>8.1f}"
        if round(means[name][-1], 2) >= best:
            reached.append(name)
            line += "  reached"
        print(line, flush=True)
    averages = np.mean([*means.values()], axis=0)
    best = np.mean([PAPER[name][-1] for name in means])
    line = "".join(f"{100 * average:>8.2f}{'':>6}" for average in averages)
    print(f"{'average':<11}{line}{100 * best:>8.2f}")
    print(f"{chosen[-1]}: at least the best published on {len(reached)} of {len(means)} sets")

    shown = [title for title in chosen if title in LABELWISE]
    if shown:
        paper = [[*LABELWISE].index(title) for title in shown]
        print("\nTau of orderings, per cent, the formula of the paper's tables; its figures")
        ours = "".join(f"{title:>8}{'+-':>6}" for title in shown)
        print(f"{'':<11}{ours}" + "".join(f"{title:>7}" for title in shown))
        columns = [chosen.index(title) for title in shown]
        for name, taus in of_orderings.items():
            figures = "".join(f"{100 * PAPER[name][column]:>7.0f}" for column in paper)
            print(f"{name:<11}{cells(taus[:, columns])}{figures}")


if __name__ == "__main__":
    main()

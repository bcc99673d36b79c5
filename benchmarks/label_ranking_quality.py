"""Quality and time of the label rankers on data that their defaults were not selected on.

Five tables:

- sets: Kendall's tau on rankings made from classes and from regressions, by naive Bayes and by
  standardized features; folder `multiclass` of SKLRANK_DATA, and sets of scikit-learn;
- missing: the same with 30 % and 60 % of the labels missing in the training rankings; "imputed" are
  trees for all labels, whose missing relative positions are replaced by the mean of the label;
- noise: SFN (100 features) and LFN (1000), clean, with Gaussian and with Mallows noise, scored on
  clean rankings;
- items: Kendall's tau of the pairs of labels that contain one label, mean over the labels, by
  `PlackettLuceRanker` with item features. The label is in the training rankings ("seen"), or in
  none of them ("held out"); "own" has parameters for each label instead. The features of simulated
  labels determine the rankings. No set of SKLRANK_DATA has features of its labels, but those of
  heat, diau and spo are consecutive times of an experiment: their features are the time and its
  square. With its cube, the ends of diau are extrapolated badly;
- times: CPU seconds of `StackedRanker().fit`.

Rows are shuffled; figures are means over seeds, and +- is the standard error of the difference from
the first model.

    python benchmarks/label_ranking_quality.py [--tables sets noise] [--seeds 3] [--rows 600]
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
from _common import print_header, print_table
from scipy.stats import rankdata
from sklearn import datasets as bundled
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from sklrank.datasets import (
    hide_labels,
    label_ranking_from_classification,
    label_ranking_from_regression,
    make_sparse_label_ranking,
)
from sklrank.label_ranking import LabelwiseRanker, PlackettLuceRanker, StackedRanker
from sklrank.metrics import kendall_tau_score
from sklrank.tree import HonestForestRegressor, LevelSplitsRegressor

CLASSES = ("satimage", "pendigits", "optdigits", "letter")
REGRESSIONS = {"satimage": 8, "pendigits": 6, "letter": 6, "mice_protein": 10}


class ImputedTrees(BaseEstimator):
    """Extremely randomized trees of all labels, with missing positions imputed by their means."""

    def fit(self, X, y):
        ranks, n_ranked = rankdata(y, axis=1, nan_policy="omit"), (~np.isnan(y)).sum(axis=1)
        relative = ranks / (n_ranked[:, np.newaxis] + 1)
        imputed = np.where(np.isnan(relative), np.nanmean(relative, axis=0), relative)
        self.trees_ = ExtraTreesRegressor(random_state=0).fit(X, imputed)
        return self

    def score(self, X, y):
        return kendall_tau_score(y, self.trees_.predict(X))


RANKERS = {
    "stacked": StackedRanker(random_state=0),
    "PL linear": PlackettLuceRanker(random_state=0),
    "PL rbf": PlackettLuceRanker(kernel="rbf", random_state=0),
    "labelwise": LabelwiseRanker(incomplete="relative", random_state=0),
    "joint trees": LabelwiseRanker(
        ExtraTreesRegressor(random_state=0), multi_output="auto", incomplete="relative"
    ),
}
IMPUTED = {**RANKERS, "imputed": ImputedTrees()}
FORESTS = {
    "labelwise": LabelwiseRanker(random_state=0),
    "stacked": StackedRanker(random_state=0),
    "forest": LabelwiseRanker(RandomForestRegressor(max_features=1 / 3, random_state=0)),
    "joint forest": LabelwiseRanker(
        RandomForestRegressor(max_features=1 / 3, random_state=0), multi_output=True
    ),
    "extra trees": LabelwiseRanker(ExtraTreesRegressor(random_state=0)),
    "level splits": LabelwiseRanker(LevelSplitsRegressor()),
    "honest": LabelwiseRanker(HonestForestRegressor(random_state=0)),
}
NOISES = {
    "clean": {},
    "gaussian": {"noise": "gaussian", "scale": 0.05},
    "mallows": {"noise": "mallows", "theta": 1.4},
}
FAMILIES = {"SFN": 100, "LFN": 1000}
TIMES = {"80 x 5, incomplete": (80, 5, 0.7), "300 x 10, incomplete": (300, 10, 0.7)}
TIMES |= {"1000 x 10, complete": (1000, 10, 1.0)}


def load(name):
    with np.load(Path(os.environ["SKLRANK_DATA"]) / "multiclass" / f"{name}.npz") as data:
        names = ("X", "y") if "X" in data else ("X_train", "y_train")
        X, y = (data[name] for name in names)
    X = X.astype(np.float64)
    return X[:, np.isfinite(X).all(axis=0)], y


def ranking_sets():
    """Yield the name, the samples and the positions of each data set."""
    yield "digits", *label_ranking_from_classification(*bundled.load_digits(return_X_y=True))
    cancer = bundled.load_breast_cancer().data
    yield "cancer, regression", *label_ranking_from_regression(cancer, 10, random_state=0)
    if "SKLRANK_DATA" not in os.environ:
        print("SKLRANK_DATA is not set: only sets of scikit-learn")
        return
    for name in CLASSES:
        yield name, *label_ranking_from_classification(*load(name))
    for name, n_labels in REGRESSIONS.items():
        yield (
            f"{name}, regression",
            *label_ranking_from_regression(load(name)[0], n_labels, random_state=0),
        )


def taus(rankers, X, Y, n_rows, seeds, survival=1.0):
    """Return the tau of each ranker and seed, `(n_rankers, n_seeds)`."""
    found = []
    for seed in range(seeds):
        order = np.random.RandomState(seed).permutation(len(X))
        train, test = order[: min(n_rows, 3 * len(X) // 4)], order[-min(1500, len(X) // 4) :]
        known = hide_labels(Y[train], survival, random_state=seed) if survival < 1 else Y[train]
        models = [clone(ranker).fit(X[train], known) for ranker in rankers.values()]
        found.append([model.score(X[test], Y[test]) for model in models])
    return np.transpose(found)


def cells(values):
    """Return the mean of each ranker, with the standard error of its difference to the first."""
    errors = (values - values[0]).std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    first, *others = values.mean(axis=1)
    return [f"{first:.3f}"] + [f"{mean:.3f} +- {e:.3f}" for mean, e in zip(others, errors[1:])]


def print_sets(arguments):
    rows = [
        [name, *cells(taus(RANKERS, X, Y, arguments.rows, arguments.seeds))]
        for name, X, Y in ranking_sets()
    ]
    print_table(f"tau, {arguments.rows} training rows", ["", *RANKERS], rows)


def print_missing(arguments):
    rows = [
        [
            f"{name}, {1 - survival:.0%}",
            *cells(taus(IMPUTED, X, Y, arguments.rows, arguments.seeds, survival)),
        ]
        for name, X, Y in ranking_sets()
        for survival in (0.7, 0.4)
    ]
    print_table("tau, labels missing in training", ["", *IMPUTED], rows)


def print_noise(arguments):
    rows = []
    for family in arguments.families:
        for noise, options in NOISES.items():
            values = []
            for seed in range(arguments.seeds):
                X, Y, clean, _ = make_sparse_label_ranking(
                    arguments.rows + 1000,
                    FAMILIES[family],
                    random_state=seed,
                    return_clean=True,
                    **options,
                )
                train, test = slice(arguments.rows), slice(arguments.rows, None)
                models = [clone(ranker).fit(X[train], Y[train]) for ranker in FORESTS.values()]
                values.append([kendall_tau_score(clean[test], m.predict(X[test])) for m in models])
            rows.append([f"{family}, {noise}", *cells(np.transpose(values))])
    print_table(f"tau of clean rankings, {arguments.rows} training rows", ["", *FORESTS], rows)


def item_sets(seed):
    """Yield a name, samples, positions, and features of the labels, fewer than labels."""
    random = np.random.RandomState(seed)
    X, items = random.normal(size=(3000, 4)), random.normal(size=(8, 3))
    scores = (X @ random.normal(size=(4, 3)) + random.normal(size=3)) @ items.T
    yield "simulated", X, rankdata(-scores - random.gumbel(size=scores.shape), axis=1), items
    for name in ("heat", "diau", "spo") if "SKLRANK_DATA" in os.environ else ():
        with np.load(Path(os.environ["SKLRANK_DATA"]) / "labelranking" / f"{name}.npz") as data:
            X, Y = data["X"], data["Y"]
        times = np.linspace(-1, 1, Y.shape[1])
        yield name, X, Y, times[:, np.newaxis] ** [1, 2]


def pair_tau(Y, scores, label):
    """Return the mean tau of the pairs of labels that contain a label."""
    others = np.arange(Y.shape[1]) != label
    agree = np.sign(Y[:, others] - Y[:, [label]]) * np.sign(scores[:, [label]] - scores[:, others])
    return agree.mean()


def print_items(arguments):
    ways, found = ("seen", "held out", "own"), {}
    for seed in range(arguments.seeds):
        for name, X, Y, items in item_sets(seed):
            order = np.random.RandomState(seed).permutation(len(X))
            train, test = order[: arguments.rows], order[arguments.rows :][:1500]
            ranker = PlackettLuceRanker(alpha=1.0)
            seen = clone(ranker).fit(X[train], Y[train], item_features=items)
            scores = [seen.decision_function(X[test]), None]
            scores.append(clone(ranker).fit(X[train], Y[train]).decision_function(X[test]))
            values = np.empty((len(ways), Y.shape[1]))
            for label in range(Y.shape[1]):
                rest = np.arange(Y.shape[1]) != label
                few = clone(ranker).fit(X[train], Y[train][:, rest], item_features=items[rest])
                scores[1] = few.with_item_features(items).decision_function(X[test])
                values[:, label] = [pair_tau(Y[test], each, label) for each in scores]
            found.setdefault(name, []).append(values.mean(axis=1))
    rows = [[name, *cells(np.transpose(values))] for name, values in found.items()]
    print_table(f"tau of pairs with a label, {arguments.rows} training rows", ["", *ways], rows)


def print_times(arguments):
    rows = []
    for name, (n_samples, n_labels, survival) in TIMES.items():
        random = np.random.RandomState(0)
        X = random.normal(size=(n_samples, 10))
        utility = X @ random.normal(size=(10, n_labels)) + random.gumbel(size=(n_samples, n_labels))
        Y = np.argsort(np.argsort(-utility, axis=1), axis=1) + 1.0
        Y = hide_labels(Y, survival, random_state=0)
        start = time.process_time()
        StackedRanker(random_state=0).fit(X, Y)
        rows.append([name, f"{time.process_time() - start:.2f}"])
    print_table("StackedRanker, CPU seconds of fit", ["", "seconds"], rows)


TABLES = {
    "sets": print_sets,
    "missing": print_missing,
    "noise": print_noise,
    "items": print_items,
    "times": print_times,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--seeds", type=int, default=3, help="at least 2")
    parser.add_argument(
        "--families", nargs="+", default=list(FAMILIES), choices=FAMILIES, help="of table noise"
    )
    parser.add_argument("--rows", type=int, default=600, help="training rows")
    parser.add_argument("--quick", action="store_true", help="few rows, to see that it works")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rows, arguments.seeds = 60, 2
    print_header()
    for table in arguments.tables:
        TABLES[table](arguments)


if __name__ == "__main__":
    main()

"""Quality and speed of default settings, compared with another checkout of the package.

Each class is fitted with its defaults to at most `--rows` rows of each data set of SKLRANK_DATA:

- multilabel, label_ranking, classes: rank loss, Kendall's tau, accuracy on a third of the rows;
- few_labels: accuracy, where one in ten of the other rows is labeled;
- documents: NDCG@10 on each part of MQ2008, trained on the next one;
- bandits: share of the rows of one pass for which the class shown was right.

Missing entries are replaced by means. Printed are the mean over data sets, the difference to the
other checkout, which must be compiled, with its standard error over data sets, the number of data
sets on which the installed package is worse, and the ratio of CPU times (geometric mean). With
`--sets`, each of these is a row. Both checkouts run alternately, `--repetitions` times, of which
the shortest time of each seed counts.

    SKLRANK_DATA=folder python benchmarks/defaults.py CHECKOUT [--tasks documents] [--rows 1000]
    ... CHECKOUT --tasks multilabel --sets emotions yeast --repetitions 5
"""

import argparse
import json
import os
import subprocess
import sys
from functools import lru_cache
from importlib import import_module
from pathlib import Path

import numpy as np
from _common import Stopwatch, data_file, print_header, print_table
from sklearn.model_selection import train_test_split

from sklrank.metrics import kendall_tau_score, ndcg_score, rank_loss


@lru_cache(maxsize=2)
def load(path, *names):
    """Return X and other arrays, with the rows of the training and of the test part."""
    arrays, ends = np.load(path), ("", "_train", "_test")
    X, *others = (
        np.concatenate([arrays[name + end] for end in ends if name + end in arrays])
        for name in ("X", *names)
    )
    X = X.astype(np.float64)
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X), *others


def split(path, target, rows, seed):
    X, X_test, y, y_test = train_test_split(*load(path, target), test_size=1 / 3, random_state=seed)
    return X[:rows], X_test, y[:rows], y_test


def multilabel(model, path, rows, seed):
    X, X_test, Y, Y_test = split(path, "Y", rows, seed)
    return rank_loss(Y_test, model.fit(X, Y).decision_function(X_test))


def label_ranking(model, path, rows, seed):
    X, X_test, Y, Y_test = split(path, "Y", rows, seed)
    return kendall_tau_score(Y_test, model.fit(X, Y).predict(X_test))


def documents(model, path, rows, seed):
    paths = sorted(path.parent.glob("*.npz"))
    X, y, qid = load(paths[(paths.index(path) + 1) % len(paths)], "y", "qid")
    few = np.isin(qid, qid[:rows])
    X_test, y_test, qid_test = load(path, "y", "qid")
    scores = model.fit(X[few], y[few], qid[few]).predict(X_test)
    return ndcg_score(y_test, scores, qid=qid_test, k=10)


def classes(model, path, rows, seed):
    X, X_test, y, y_test = split(path, "y", rows, seed)
    return np.mean(model.fit(X, y).predict(X_test) == y_test)


def few_labels(model, path, rows, seed):
    X, X_test, y, y_test = split(path, "y", rows, seed)
    hidden = np.random.RandomState(seed).uniform(size=len(y)) > 0.1
    return np.mean(model.fit(X, np.where(hidden, -1, y)).predict(X_test) == y_test)


def bandits(model, path, rows, seed):
    X, _, y, _ = split(path, "y", rows, seed)
    names, n_right = np.unique(y), 0.0
    for x, label in zip(X[:, np.newaxis], y):
        shown = model.explore(x, classes=names)
        reward = (names[shown.actions] == label).astype(float)
        model.partial_fit_feedback(x, shown, reward)
        n_right += reward[0]
    return n_right / len(y)


RANKERS = "LabelwiseRanker", "PairwiseRanker", "PlackettLuceRanker", "StackedRanker"
# The folder of the data, the sign of an improvement, and classes of a subpackage.
TASKS = {
    multilabel: ("multilabel", -1, ("online_boosting", ["AdaOLMR", "OnlineBMR"])),
    label_ranking: ("labelranking", 1, ("label_ranking", RANKERS)),
    documents: ("letor", 1, ("boosting", ["HistGradientBoostingRanker", "NDCGBoost"])),
    classes: ("multiclass", 1, ("tree", ["HoeffdingTreeClassifier", "HonestForestClassifier"])),
    few_labels: ("multiclass", 1, ("semi_supervised", ["PooledLabelSpreading", "MCSSBClassifier"])),
    bandits: ("multiclass", 1, ("linear_model", ["LinUCBClassifier", "BanditronClassifier"])),
}
BY_NAME = {task.__name__: task for task in TASKS}


def evaluate(tasks, sets, rows, seeds):
    """Return values and seconds of the seeds, by class and data set."""
    values = {}
    for task in map(BY_NAME.get, tasks):
        folder, _, (room, names) = TASKS[task]
        kinds = [getattr(import_module(f"sklrank.{room}"), name, None) for name in names]
        for path in sorted((Path(os.environ["SKLRANK_DATA"]) / folder).glob("*.npz")):
            for kind in filter(None, kinds if not sets or path.stem in sets else ()):
                of_class = values.setdefault(f"{task.__name__} {kind.__name__}", {})
                of_class[path.stem] = of_set = []
                for seed in range(seeds):
                    with Stopwatch() as watch:
                        value = float(task(seeded(kind(), seed), path, rows, seed))
                    of_set.append((value, watch.seconds))
    return values


def run(checkout):
    """Return what `evaluate` returns in a process that imports the package from a checkout."""
    paths = {**os.environ, "PYTHONPATH": str(Path(checkout).resolve())}
    command = [sys.executable, *sys.argv, "--json"]
    done = subprocess.run(command, env=paths, stdout=subprocess.PIPE, text=True, check=True)
    return {
        name: {key: np.array(pairs) for key, pairs in of_class.items()}
        for name, of_class in json.loads(done.stdout).items()
    }


def compare(name, sets, here, there):
    """Return a row of the table for some sets, given the results of the repetitions."""
    means, others = (
        np.array([of_sets[0][name][key][:, 0].mean() for key in sets]) for of_sets in (here, there)
    )
    seconds, other_seconds = (
        np.array([np.min([each[name][key][:, 1] for each in of_sets], 0).sum() for key in sets])
        for of_sets in (here, there)
    )
    added, sign = means - others, TASKS[BY_NAME[name.split()[0]]][1]
    error = f" +- {added.std(ddof=1) / len(added) ** 0.5:.4f}" if len(added) > 1 else ""
    ratio = np.exp(np.mean(np.log(seconds / other_seconds)))
    return [f"{means.mean():.4f}", f"{added.mean():+.4f}{error}", np.sum(sign * added < 0), ratio]


def seeded(model, seed):
    return model.set_params(**{"random_state": seed} if hasattr(model, "random_state") else {})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", help="folder of the other checkout")
    parser.add_argument("--tasks", nargs="+", choices=BY_NAME, default=list(BY_NAME))
    parser.add_argument("--sets", nargs="+", default=[])
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.json:
        print(json.dumps(evaluate(options.tasks, options.sets, options.rows, options.seeds)))
        return
    data_file("multilabel", "birds")  # It says how to get the data.
    print_header(peers=())
    own, here, there = Path(import_module("sklrank").__file__).parents[1], [], []
    for _ in range(options.repetitions):
        there.append(run(options.checkout))
        here.append(run(own))
    rows = []
    for name in (name for name in here[0] if name in there[0]):
        sets = list(here[0][name])
        for of_row in [[key] for key in sets] if options.sets else [sets]:
            title = of_row[0] if options.sets else len(sets)
            *cells, ratio = compare(name, of_row, here, there)
            rows.append([name, title, *cells, f"{ratio:.3f}"])
    columns = ("task and class", "sets", "mean", "difference", "worse", "CPU time")
    print_table("Defaults of the installed package", columns, rows)


if __name__ == "__main__":
    main()

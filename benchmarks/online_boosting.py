"""Speed and memory of the boosters: the cost of a round, and how it grows.

1. Data of mediamill's size: 43,907 samples drawn with replacement from mediamill_reduced, with
   noise of one per cent of the standard deviation of each feature; 100 trees of 20 features, 101
   labels. In the paper, Ada.OLMR took 69,565 s, and OnlineBMR was stopped after a week.
2. CPU time of 1000 rounds on each data set, and the ratios of OnlineBMR and Ada.OLMR, and of
   OnlineBMR's logistic and hinge loss. On emotions, the authors' program takes 215 to 306 s for
   Ada.OLMR and 373 to 464 s for OnlineBMR.
3. Growth with the number of learners and with the number of labels. The learners of the second
   table only count labels, so that it shows the cost of the label pairs.
4. Wall time with one and with two threads.
5. Time and memory in a long stream.

    SKLRANK_DATA=folder python benchmarks/online_boosting.py [--quick] [--only 1 3]
"""

import resource
import time

import numpy as np
from _common import MULTILABEL, Stopwatch, load_multilabel, print_table, run_parts

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.linear_model import OnlineRidgeClassifier
from sklrank.online_boosting import AdaOLMR, OnlineBMR

AUTHORS = {"Ada.OLMR": (215, 306), "OnlineBMR": (373, 464)}


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def megabytes_now():
    """Return the resident memory of this process, or its peak if the system has no figure."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        return peak_megabytes()


def boosters(n_labels):
    edge = 0.1 if n_labels < 50 else 0.01
    return {
        "Ada.OLMR": AdaOLMR("trees", random_state=0),
        "OnlineBMR": OnlineBMR("trees", edge=edge, random_state=0),
    }


def stand_in(n_samples):
    X_train, Y_train, X_test, Y_test = load_multilabel("mediamill_reduced")
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    random = np.random.RandomState(0)
    drawn = random.randint(len(X), size=n_samples)
    return X[drawn] + 0.01 * X.std(axis=0) * random.normal(size=(n_samples, X.shape[1])), Y[drawn]


def cpu_seconds(model, X, Y):
    with Stopwatch() as watch:
        model.fit(X, Y)
    return watch.seconds


def mediamill(quick):
    n_samples = 2000 if quick else 43_907
    X, Y = stand_in(n_samples)
    rows = []
    models = {**boosters(Y.shape[1]), "Ada.OLMR, default": AdaOLMR(random_state=0)}
    for name, model in models.items():
        seconds = cpu_seconds(model, X, Y)
        rows.append(
            [name, f"{seconds:.1f}", f"{1e6 * seconds / n_samples:.0f}", f"{peak_megabytes():.0f}"]
        )
    columns = ["", "CPU seconds", "microseconds a round", "peak MB so far"]
    print_table(f"1. Data of mediamill's size, {n_samples} samples", columns, rows)


def every_set(quick):
    rows = []
    for name in MULTILABEL[:4] if quick else MULTILABEL:
        X_train, Y_train, X_test, Y_test = load_multilabel(name)
        X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
        X, Y = (X[:500], Y[:500]) if quick else (X[:3000], Y[:3000])
        seconds = {
            model: 1000 / len(X) * cpu_seconds(booster, X, Y)
            for model, booster in boosters(Y.shape[1]).items()
        }
        row = [name, *(f"{value:.3f}" for value in seconds.values())]
        row.append(f"{seconds['OnlineBMR'] / seconds['Ada.OLMR']:.2f}")
        logistic = boosters(Y.shape[1])["OnlineBMR"].set_params(loss="logistic")
        row.append(f"{cpu_seconds(logistic, X, Y) * 1000 / len(X) / seconds['OnlineBMR']:.2f}")
        if name == "emotions":
            for model, (least, most) in AUTHORS.items():
                row.append(f"{least / seconds[model]:.0f} to {most / seconds[model]:.0f}")
        else:
            row += ["", ""]
        rows.append(row)
    columns = ["CPU s for 1000 rounds", *AUTHORS, "ratio", "logistic/hinge"]
    columns += ["authors/Ada.OLMR", "authors/OnlineBMR"]
    print_table("2. All data sets", columns, rows)


def growth(quick):
    n_samples = 200 if quick else 2000
    X, Y = stand_in(n_samples)
    rows = []
    for n_estimators in (25, 50, 100, 200):
        row = [n_estimators]
        for model in boosters(Y.shape[1]).values():
            seconds = cpu_seconds(model.set_params(n_estimators=n_estimators), X, Y)
            row.append(f"{1e6 * seconds / n_samples / n_estimators:.2f}")
        rows.append(row)
    columns = ["learners", *(f"{name}, us a learner" for name in AUTHORS)]
    print_table("3a. Growth with the learners", columns, rows)

    rows = []
    counting = OnlineRidgeClassifier()
    for n_labels, n_relevant in [(25, 5), (50, 5), (100, 5), (200, 5), (100, 10), (100, 20)]:
        random = np.random.RandomState(0)
        Y = np.zeros((n_samples, n_labels), dtype=int)
        for row in Y:
            row[random.choice(n_labels, n_relevant, replace=False)] = 1
        row = [n_labels, n_relevant, n_relevant * (n_labels - n_relevant)]
        for model in boosters(n_labels).values():
            model.set_params(estimator=counting, max_features=1)
            seconds = cpu_seconds(model, X, Y)
            row.append(f"{1e6 * seconds / n_samples:.0f}")
        rows.append(row)
    columns = ["labels", "relevant", "pairs", *(f"{name}, us a round" for name in AUTHORS)]
    print_table("3b. Growth with the pairs, 100 learners", columns, rows)


def threads(quick):
    n_samples = 500 if quick else 5000
    X, Y = stand_in(n_samples)
    rows = []
    for name, model in boosters(Y.shape[1]).items():
        walls = []
        for n_jobs in (1, 2):
            start = time.perf_counter()
            model.set_params(n_jobs=n_jobs).fit(X, Y)
            walls.append(time.perf_counter() - start)
        rows.append([name, *(f"{wall:.2f}" for wall in walls), f"{walls[0] / walls[1]:.2f}"])
    print_table("4. Wall seconds", ["", "one thread", "two threads", "gain"], rows)


def long_stream(quick):
    n_samples, n_blocks = (20_000 if quick else 1_000_000), 10
    X, Y = make_multilabel_ranking_stream(n_samples, drift="gradual", random_state=0)
    models = {
        "Ada.OLMR, 100 trees": AdaOLMR("trees", random_state=0),
        "Ada.OLMR, default": AdaOLMR(random_state=0),
    }
    for name, model in models.items():
        rows = []
        for part in np.array_split(np.arange(n_samples), n_blocks):
            with Stopwatch() as watch:
                model.partial_fit(X[part], Y[part])
            depth = [e.get_depth() for e in model.estimators_ if hasattr(e, "get_depth")]
            leaves = [e.get_n_leaves() for e in model.estimators_ if hasattr(e, "get_n_leaves")]
            rows.append(
                [
                    part[-1] + 1,
                    f"{1e6 * watch.seconds / len(part):.0f}",
                    f"{megabytes_now():.0f}",
                    f"{np.mean(depth):.1f}" if depth else "",
                    f"{np.mean(leaves):.0f}" if leaves else "",
                ]
            )
        columns = ["samples", "us a round", "MB resident", "mean depth", "mean leaves"]
        print_table(f"5. A long stream: {name}", columns, rows)


PARTS = {1: mediamill, 2: every_set, 3: growth, 4: threads, 5: long_stream}


if __name__ == "__main__":
    run_parts(PARTS, __doc__, "Only part 4 uses threads, and prints wall times.")

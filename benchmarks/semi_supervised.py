"""MCSSB: the time of a round compared to one pass over the similarity, and the memory of a fit.

1. Memory: the peak of a process that fits two rounds, for 50,000 samples by default, where the
   similarity is a sparse graph, and for 10,000 with "rbf", where it stores 800 MB of pairs.
2. Time: a round needs at least one pass over the similarity and the fit of the weak learner, a tree
   of depth 2, or by default one of depth 8 with random splits. "beyond" is the time of a round
   without the tree, in passes. "set up" computes the similarity, the labeled term, and the
   objective before the first round.

3. Accuracy (--quality): `PooledLabelSpreading` and MCSSB, compared with a forest of the labeled
   samples, label spreading, and a forest of the labels that it predicts, both for unscaled and
   scaled features. A tenth of at most 1500 training samples is labeled. In brackets: standard error
   of the paired difference.

    python benchmarks/semi_supervised.py [--quick]
    SKLRANK_DATA=folder python benchmarks/semi_supervised.py --quality [satimage mice_protein]
"""

import argparse
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from _common import Stopwatch, load_multiclass, print_header, print_table
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from sklrank.semi_supervised import MCSSBClassifier, PooledLabelSpreading
from sklrank.semi_supervised._similarity import make_similarity, negative_gradient

N_CLASSES = 10
N_SPLITS = 4
BUNDLED = {"digits": load_digits, "wine": load_wine, "breast_cancer": load_breast_cancer}
SETTINGS = {
    **{
        name: {"estimator": DecisionTreeClassifier(max_depth=2), "similarity": name}
        for name in ("rbf", "identity")
    },
    "default": {},
}


def partly_labeled(n_samples, n_features=16, share=0.02):
    X, y = make_blobs(n_samples, n_features, centers=N_CLASSES, cluster_std=6.0, random_state=0)
    return X, np.where(np.random.RandomState(0).uniform(size=n_samples) < share, y, -1)


def peak(name, n_samples, n_rounds):
    """Return gibibytes and seconds of a fit in this process, which must be a new one."""
    X, y = partly_labeled(n_samples)
    start = time.perf_counter()
    MCSSBClassifier(n_estimators=n_rounds, random_state=0, **SETTINGS[name]).fit(X, y)
    seconds = time.perf_counter() - start
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, seconds


def memory(quick):
    rows = []
    sizes = {"default": 50_000, "rbf": 10_000}
    for name, n_samples in sizes.items():
        n_samples = 1000 if quick else n_samples
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            gibibytes, seconds = pool.submit(peak, name, n_samples, 2).result()
        rows.append([name, n_samples, f"{gibibytes:.2f}", f"{seconds:.1f}"])
    columns = ["setting", "samples", "peak, GiB", "seconds"]
    print_table("1. Two rounds in a process of their own", columns, rows)


def seconds_to_fit(setting, n_rounds, X, y):
    model = MCSSBClassifier(n_estimators=n_rounds, random_state=0, **setting)
    model.fit(X[::10], y[::10])
    watch = Stopwatch()
    with watch:
        model.fit(X, y)
    assert len(model.estimators_) == n_rounds, model.stop_reason_
    return watch.seconds


def seconds_of(call, *arguments):
    """Return the mean time of ten calls."""
    watch = Stopwatch()
    with watch:
        for _ in range(10):
            call(*arguments)
    return watch.seconds / 10


def fit_tree(setting, X, proba):
    """Fit and predict as in a round."""
    if not setting:
        tree = ExtraTreeClassifier(max_depth=8, max_features=0.5)
    else:
        tree = setting["estimator"]
    labels, weights = proba.argmax(axis=1), proba.max(axis=1)
    return tree.fit(X, labels, sample_weight=weights).predict(X)


def speed(quick):
    rows = []
    for name, setting in SETTINGS.items():
        sizes = (2000, 4000) if name == "rbf" else (2000, 4000, 8000, 16_000)
        for n_samples in sizes[:1] if quick else sizes:
            X, y = partly_labeled(n_samples)
            similarity = make_similarity(X, setting.get("similarity", "diffusion"))
            proba = softmax(np.random.RandomState(0).normal(size=(n_samples, N_CLASSES)), axis=1)
            one_pass = seconds_of(negative_gradient, similarity, proba)
            one_tree = seconds_of(fit_tree, setting, X, proba)
            few, many = (seconds_to_fit(setting, n_rounds, X, y) for n_rounds in (2, 22))
            one_round = (many - few) / 20
            times = [f"{1e3 * seconds:.1f}" for seconds in (one_pass, one_tree, one_round)]
            beyond = f"{(one_round - one_tree) / one_pass:.1f}"
            rows.append([name, n_samples, f"{few - 2 * one_round:.2f}", *times, beyond])
    columns = ["setting", "samples", "set up, s", "pass, ms", "tree, ms", "round, ms", "beyond"]
    print_table(f"2. CPU time, {N_CLASSES} classes", columns, rows)


def split(name, seed, share=0.1):
    """Return training samples, their labels or -1, test samples, and their classes."""
    X, y = BUNDLED[name](return_X_y=True) if name in BUNDLED else load_multiclass(name)
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    kept = np.bincount(y)[y] >= 25
    X, y = X[kept], y[kept]
    random = np.random.RandomState(seed)
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=min(1500, int(0.7 * len(y))), stratify=y, random_state=random
    )
    order = random.permutation(len(y))
    _, first = np.unique(y[order], return_index=True)
    order = np.concatenate([order[first], np.delete(order, first)])
    labeled = order[: max(len(first), round(share * len(y)))]
    partial = np.full(len(y), -1)
    partial[labeled] = y[labeled]
    return X, partial, X_test[:2000], y_test[:2000]


def accuracies(X, y, X_test, y_test, seed):
    """Return the accuracy of each method."""
    labeled = y >= 0
    forest = RandomForestClassifier(random_state=seed)
    found = {"pooled": PooledLabelSpreading(random_state=seed).fit(X, y).score(X_test, y_test)}
    found["MCSSB"] = MCSSBClassifier(random_state=seed).fit(X, y).score(X_test, y_test)
    found["forest"] = forest.fit(X[labeled], y[labeled]).score(X_test, y_test)
    scaler = StandardScaler().fit(X)
    for scaling, Z, Z_test in (
        ("unscaled", X, X_test),
        ("scaled", scaler.transform(X), scaler.transform(X_test)),
    ):
        # Label spreading divides by zero where no label reaches a sample.
        with np.errstate(invalid="ignore"):
            spreading = LabelSpreading(kernel="knn").fit(Z, y)
        found[f"spreading, {scaling}"] = spreading.score(Z_test, y_test)
        forest.fit(X, spreading.transduction_)
        found[f"-> forest, {scaling}"] = forest.score(X_test, y_test)
    return found


def quality(names):
    rows = []
    for name in names:
        found = [accuracies(*split(name, seed), seed) for seed in range(N_SPLITS)]
        row = [name]
        for method in found[0]:
            values = np.array([100 * each[method] for each in found])
            differences = values - [100 * each["pooled"] for each in found]
            error = differences.std(ddof=1) / np.sqrt(N_SPLITS)
            row.append(f"{values.mean():.1f} ({error:.1f})")
        rows.append(row)
    print_table("3. Accuracy on new samples, %", ["data", *found[0]], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, as a smoke test")
    parser.add_argument("--quality", nargs="*", metavar="SET", help="compare accuracies only")
    arguments = parser.parse_args()
    print_header(peers=())
    if arguments.quality is not None:
        quality(arguments.quality or BUNDLED)
        return
    memory(arguments.quick)
    speed(arguments.quick)


if __name__ == "__main__":
    main()

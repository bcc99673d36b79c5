"""Time and memory of 100 rounds of NDCGBoost, beside LightGBM and XGBoost with 100 stumps.

Another table is the time of RankBoost with trees of 8 leaves: `HistogramTreeClassifier`, whose
features are binned once, and scikit-learn's `DecisionTreeClassifier`.

Two data sets: the training part of the first fold of MQ2008 (SKLRANK_DATA, else synthetic documents
of its size), and 100 queries of 500 documents with 46 features. The second table shows the time of
a round for queries of growing size: the number of pairs is (relevant) x (all), the search for a
stump is linear in the number of documents.

With ``--quality`` other tables are printed: the NDCG@10 of HistGradientBoostingRanker and NDCGBoost
beside those of LightGBM (learning rates .1, .2 and .3), XGBoost and CatBoost, on new queries
of generated documents with 136 features and an interaction, and, with SKLRANK_DATA, on the test
folds of MQ2008 (without queries that have no relevant document). With ``--memory`` the memory of
these rankers is printed. With ``--picture FILE`` the loss of boosted trees and the NDCG@10 of new
queries are plotted by round, for ours and for LightGBM, on the first number of queries. With
``--threads`` the time of a round by the clock is printed, for one and two threads. With
``--predict`` the time of predictions by 100 trees of 31 leaves is printed, and their memory.

Times are the minimum of several fits. Memory is the increase of the peak memory of a separate
process while it fits the second data set, or the generated documents.
"""

import argparse
import os
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from _common import Stopwatch, least_seconds, load_mq2008, print_header, print_table
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from sklrank._checks.queries import Queries
from sklrank.boosting import HistGradientBoostingRanker, NDCGBoost, RankBoost
from sklrank.boosting._objectives import LogisticObjective
from sklrank.metrics import ndcg_score
from sklrank.tree import HistogramTreeClassifier

N_FEATURES = 46


def synthetic(n_queries, n_documents, share_relevant=0.4):
    """Generate documents whose relevance, 0 to 2, depends on five features."""
    random_state = np.random.RandomState(0)
    X = random_state.uniform(size=(n_queries * n_documents, N_FEATURES))
    quality = X[:, :5].sum(axis=1) + random_state.normal(0, 0.7, len(X))
    bounds = np.quantile(quality, [1 - share_relevant, 1 - share_relevant / 4])
    return X, np.digitize(quality, bounds), np.repeat(np.arange(n_queries), n_documents)


def mq2008():
    """Return the training part of the first fold."""
    if not os.environ.get("SKLRANK_DATA"):
        return synthetic(471, 20)
    return load_mq2008(1, 2, 3)


def rankers():
    """Return functions that fit the rankers, by name."""

    def lightgbm(X, y, qid):
        from lightgbm import LGBMRanker

        sizes = np.unique(qid, return_counts=True)[1]
        LGBMRanker(n_estimators=100, num_leaves=2, n_jobs=1, verbose=-1).fit(X, y, group=sizes)

    def xgboost(X, y, qid):
        from xgboost import XGBRanker

        XGBRanker(n_estimators=100, max_depth=1, n_jobs=1).fit(X, y, qid=qid)

    stump = HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1)
    return {
        "NDCGBoost": lambda X, y, qid: NDCGBoost(stump).fit(X, y, qid=qid),
        "HistGradientBoosting": lambda X, y, qid: HistGradientBoostingRanker(random_state=0).fit(
            X, y, qid=qid
        ),
        "RankBoost": lambda X, y, qid: RankBoost().fit(X, y, qid=qid),
        "LightGBM": lightgbm,
        "XGBoost": xgboost,
    }


def megabytes(makers, name, data):
    """Return the peak memory of a fit in a separate process, which reads the data from files."""
    with TemporaryDirectory() as folder:
        for number, array in enumerate(data):
            np.save(Path(folder) / f"{number}.npy", array)
        with get_context("spawn").Pool(1) as pool:
            return pool.apply(_megabytes, (makers, name, folder))


def _megabytes(makers, name, folder):
    fit = makers()[name]
    fit(*synthetic(5, 20))  # import all modules first
    data = [np.load(Path(folder) / f"{number}.npy") for number in range(3)]
    before = peak()
    fit(*data)
    return peak() - before


def peak():
    """Return the peak memory of this process in MB; that of `getrusage` includes its parent's."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return np.nan


def compare(repetitions):
    sets = {"MQ2008": mq2008(), "100 x 500": synthetic(100, 500)}
    rows = []
    reference = {}
    for name, fit in rankers().items():
        row = [name]
        try:
            for title, data in sets.items():
                seconds = least_seconds(fit, *data, repetitions=repetitions)
                reference.setdefault(title, seconds)
                row += [f"{seconds:.3f}", f"{seconds / reference[title]:.2f}"]
            rows.append([*row, f"{megabytes(rankers, name, data):.0f}"])
        except ImportError:
            rows.append([f"{name}: not installed", *[""] * 5])
    columns = ["100 rounds"]
    for title in sets:
        columns += [f"{title}, s", "ratio"]
    print_table("CPU seconds of a fit", [*columns, "MB"], rows)


def compare_trees(repetitions):
    rows = []
    for kind in HistogramTreeClassifier, DecisionTreeClassifier:
        ranker = RankBoost(kind(max_leaf_nodes=8, min_samples_leaf=20), 10)
        seconds = least_seconds(ranker.fit, *mq2008(), repetitions=repetitions)
        rows.append([kind.__name__, f"{100 * seconds:.1f}"])
    print_table("RankBoost with 8 leaves, 10 rounds", ["weak learner", "ms a round"], rows)


def grow(repetitions):
    rows = []
    for n_documents in (50, 100, 200, 400, 800, 1600):
        row = [f"{40_000 // n_documents} x {n_documents}"]
        for share in (0.05, 0.4):
            data = synthetic(40_000 // n_documents, n_documents, share)
            seconds = least_seconds(rankers()["NDCGBoost"], *data, repetitions=repetitions)
            row.append(f"{10 * seconds:.2f}")
        rows.append(row)
    print_table(
        "Milliseconds of a round, 40,000 documents in total",
        ["queries x documents", "5 % relevant", "40 % relevant"],
        rows,
    )


N_RICH_FEATURES = 136
# Weights of the features.
WEIGHTS = np.random.default_rng(0).normal(size=N_RICH_FEATURES) / np.sqrt(N_RICH_FEATURES)


def rich(n_queries, seed, n_documents=120):
    """Generate documents whose relevance, 0 to 4, depends on all features and an interaction."""
    rng = np.random.default_rng(seed)
    n_samples = n_queries * n_documents
    X = rng.normal(size=(n_samples, N_RICH_FEATURES)).astype(np.float32).astype(float)
    interaction = np.maximum(X[:, 0], X[:, 1]) * np.sign(X[:, 2])
    quality = X @ WEIGHTS + 0.7 * interaction + 0.7 * rng.normal(size=n_samples)
    y = np.digitize(quality, np.quantile(quality, [0.52, 0.84, 0.965, 0.992]))
    return X, y, np.repeat(np.arange(n_queries), n_documents)


def tree_rankers():
    """Return functions that fit boosted trees and return them, by name."""

    def lightgbm(learning_rate):
        def fit(X, y, qid):
            from lightgbm import LGBMRanker

            sizes = np.unique(qid, return_counts=True)[1]
            ranker = LGBMRanker(learning_rate=learning_rate, n_jobs=1, verbose=-1)
            return ranker.fit(X, y, group=sizes)

        return fit

    def xgboost(X, y, qid):
        from xgboost import XGBRanker

        ranker = XGBRanker(objective="rank:ndcg", n_jobs=1, enable_categorical=True)
        return ranker.fit(X, y, qid=qid)

    def catboost(loss):
        def fit(X, y, qid):
            from catboost import CatBoostRanker

            named = hasattr(X, "columns")
            categories = list(X.select_dtypes("category").columns) if named else None
            ranker = CatBoostRanker(
                loss_function=loss, thread_count=1, verbose=0, allow_writing_files=False
            )
            return ranker.fit(X, y, group_id=qid, cat_features=categories)

        return fit

    return {
        "HistGradientBoosting": lambda X, y, qid: HistGradientBoostingRanker(random_state=0).fit(
            X, y, qid=qid
        ),
        "NDCGBoost": lambda X, y, qid: NDCGBoost().fit(X, y, qid=qid),
        "LightGBM .1 (default)": lightgbm(0.1),
        "LightGBM .2": lightgbm(0.2),
        "LightGBM .3": lightgbm(0.3),
        "XGBoost": xgboost,
        "CatBoost, QueryRMSE": catboost("QueryRMSE"),
        "CatBoost, YetiRank": catboost("YetiRank"),
    }


def evaluate(title, folds):
    """Print the mean NDCG@10 and the CPU seconds of each ranker over pairs of training and test."""
    rows, reference = [], None
    for name, fit in tree_rankers().items():
        scores, seconds = [], []
        try:
            for train, (X, y, qid) in folds:
                with Stopwatch() as watch:
                    ranker = fit(*train)
                seconds.append(watch.seconds)
                score = ndcg_score(y, ranker.predict(X), qid=qid, k=10)
                scores.append(score)
        except ImportError:
            rows.append([f"{name}: not installed", "", "", ""])
            continue
        reference = scores if reference is None else reference
        gaps = np.subtract(reference, scores)
        error = f" +- {gaps.std(ddof=1) / np.sqrt(len(gaps)):.4f}" if len(gaps) > 1 else ""
        rows.append(
            [
                name,
                f"{np.mean(scores):.4f}",
                f"{gaps.mean():+.4f}{error}",
                f"{np.mean(seconds):.2f}",
            ]
        )
    columns = ["100 rounds, CatBoost 1000", "NDCG@10", "the first is ahead by", "CPU s"]
    print_table(title, columns, rows)


def quality(n_queries, n_seeds):
    for number in n_queries:
        folds = [(rich(number, seed), rich(200, 1000 + seed)) for seed in range(n_seeds)]
        evaluate(f"{number} generated queries of 120 documents", folds)
    if os.environ.get("SKLRANK_DATA"):
        parts = [[(first + k) % 5 + 1 for k in range(5)] for first in range(5)]
        folds = [(load_mq2008(*part[:3]), load_mq2008(part[4])) for part in parts]
        evaluate("MQ2008, five folds", folds)


# Sets of generated documents: the numbers of queries and of documents of a query, and the standard
# deviation of the noise. The rules of the default were chosen on those of the first line.
CHOSEN_ON = ("linear", "products", "saturating", "noisy", "long")
SETS = {
    "linear": (150, 60, 0.5),
    "products": (150, 60, 0.5),
    "saturating": (150, 60, 0.5),
    "noisy": (150, 60, 2.0),
    "long": (8, 1500, 0.5),
    "absolute": (150, 60, 0.5),
    "trees": (150, 60, 0.5),
    "steps": (150, 60, 0.5),
    "categories": (150, 60, 0.5),
    "rare categories": (150, 60, 0.5),
    "slopes by category": (150, 60, 0.5),
    "short": (2000, 5, 0.5),
    "small": (30, 40, 1.0),
    "real": (150, 60, 0.5),
    "one real query": (1, 10_000, 0.5),
}
N_FEATURES_OF_SETS = 24
# Numbers of categories of the last features.
CATEGORIES = {"categories": [200], "rare categories": [200, 200], "slopes by category": [60]}


def random_function(kind, rng):
    """Return a function of the features; that of a kind differs from seed to seed."""
    used = rng.permutation(N_FEATURES_OF_SETS)[:12]
    weights = rng.normal(size=12)
    if kind == "linear":
        return lambda X: X[:, used] @ weights
    if kind == "products":
        return lambda X: (X[:, used[:6]] * X[:, used[6:]]) @ weights[:6]
    if kind == "saturating":
        return lambda X: np.tanh(3 * X[:, used] + weights) @ np.abs(weights)
    if kind == "noisy":
        return lambda X: np.exp(X[:, used[:6]]) @ np.abs(weights[:6])
    if kind in CATEGORIES:
        n_columns = len(CATEGORIES[kind])
        effects = [rng.normal(size=n) for n in CATEGORIES[kind]]

        def of_categories(X):
            codes = X[:, -n_columns:].astype(int).T
            factors = X[:, 6] if kind == "slopes by category" else 1
            of_numbers = X[:, :4] @ weights[:4] / 2 + X[:, 4] * X[:, 5] / 2
            return of_numbers + factors * sum(e[code] for e, code in zip(effects, codes))

        return of_categories
    if kind == "steps":
        effects = rng.normal(size=(3, 30))
        codes = [lambda X, j=j: (X[:, j] * 8).astype(int) % 30 for j in used[:3]]
        return lambda X: sum(e[code(X)] for e, code in zip(effects, codes)) + X[:, used[3]]
    if kind == "trees":
        features = rng.randint(N_FEATURES_OF_SETS, size=(30, 3))
        bounds, leaves = rng.normal(size=(30, 3)), rng.normal(size=(30, 8))
        return lambda X: sum(
            leaf[(X[:, j] > bound) @ [1, 2, 4]] for j, bound, leaf in zip(features, bounds, leaves)
        )
    if kind == "absolute":
        return lambda X: np.abs(X[:, used[:6]]) @ weights[:6]
    # The others mix a slope, a product and a hinge.
    return lambda X: (
        X[:, used[:4]] @ weights[:4]
        + 1.5 * X[:, used[4]] * X[:, used[5]]
        + 2 * np.maximum(X[:, used[6]], X[:, used[7]])
    )


def make_set(kind, seed):
    """Return training and test documents of a kind."""
    rng = np.random.RandomState(1000 * list(SETS).index(kind) + seed)
    n_queries, size, noise = SETS[kind]
    function, parts = random_function(kind, rng), []
    for number in n_queries, (1 if n_queries == 1 else max(8, min(200, n_queries))):
        X = rng.normal(size=(number * size, N_FEATURES_OF_SETS))
        # Queries differ in two features.
        X[:, :2] += np.repeat(rng.normal(size=(number, 2)), size, axis=0)
        if kind == "steps":
            X = np.abs(X)
        levels = CATEGORIES.get(kind, [])
        for column, n in enumerate(levels, N_FEATURES_OF_SETS - len(levels)):
            shares = 1 / np.arange(1, n + 1) if kind == "rare categories" else np.ones(n)
            X[:, column] = rng.choice(n, len(X), p=shares / shares.sum())
        clean = function(X)
        quality = clean / clean.std() + noise * rng.normal(size=len(X))
        if "real" not in kind:
            quality = np.digitize(quality, np.quantile(quality, [0.5, 0.8, 0.94, 0.99]))
        if levels:
            import pandas as pd

            X = pd.DataFrame(X, columns=[f"x{j}" for j in range(N_FEATURES_OF_SETS)])
            types = {f"x{N_FEATURES_OF_SETS - 1 - j}": "category" for j in range(len(levels))}
            X = X.astype(dict.fromkeys(types, int)).astype(types)
        parts.append((X, quality, np.repeat(np.arange(number), size)))
    return parts


def mean_spearman(y, scores, qid):
    from scipy.stats import spearmanr

    return np.mean([spearmanr(y[qid == q], scores[qid == q])[0] for q in np.unique(qid)])


def default_rankers(is_real):
    """Return functions that fit rankers with default settings, by name."""
    rankers = tree_rankers()
    del rankers["NDCGBoost"]
    loss = "spearman" if is_real else "logistic"
    own = HistGradientBoostingRanker(loss, random_state=0)

    def regressor(X, y, qid):
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(random_state=0).fit(X, y)

    def on_grades(fit):
        """Fit to deciles of relevance, as LightGBM and XGBoost take no real numbers."""

        def fit_grades(X, y, qid):
            grades = np.digitize(y, np.quantile(y, np.arange(0.1, 1, 0.1)))
            return fit(X, grades, qid)

        return fit_grades if is_real else fit

    _, *peers = rankers.items()
    return {
        "HistGradientBoosting": lambda X, y, qid: clone(own).fit(X, y, qid),
        **{name: fit if "CatBoost" in name else on_grades(fit) for name, fit in peers},
        "regression": regressor,
    }


COMPARED = (
    "LightGBM .1 (default)",
    "LightGBM, best",
    "XGBoost",
    "CatBoost, QueryRMSE",
    "CatBoost, YetiRank",
    "regression",
)


def compare_sets(names, n_seeds):
    """Print how far the default is ahead of the others, by set."""
    rows, seconds, gains = [], {}, {}
    for kind in names:
        scores = {}
        for seed in range(n_seeds):
            if kind == "MQ2008":
                parts = [(seed + k) % 5 + 1 for k in range(5)]
                train, test = load_mq2008(*parts[:3]), load_mq2008(parts[4])
            else:
                train, test = make_set(kind, seed)
            is_real = "real" in kind
            for name, fit in default_rankers(is_real).items():
                try:
                    with Stopwatch() as watch:
                        ranker = fit(*train)
                except Exception as error:  # a peer that refuses the data has no score
                    print(f"{kind}: {name}: {error}"[:100])
                    scores.setdefault(name, []).append(np.nan)
                    continue
                seconds.setdefault(name, []).append(watch.seconds)
                X, y, qid = test
                found = ranker.predict(X)
                value = (
                    mean_spearman(y, found, qid) if is_real else ndcg_score(y, found, qid=qid, k=10)
                )
                scores.setdefault(name, []).append(value)
        own, *peers = scores
        lightgbm = np.nanmax([scores[name] for name in peers if "LightGBM" in name], axis=0)
        scores["LightGBM, best"] = lightgbm
        row = [kind, f"{np.mean(scores[own]):.3f}"]
        for name in COMPARED:
            gaps = np.subtract(scores[own], scores[name])
            gains.setdefault(name, []).append(gaps)
            error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
            row.append(f"{gaps.mean():+.3f} +- {error:.3f}")
        rows.append(row)
        print(*row, sep=" | ", flush=True)
    row = ["mean", ""]
    for gaps in gains.values():
        means = np.nanmean(gaps, axis=1)
        error = np.nanstd(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
        row.append(f"{np.nanmean(means):+.4f} +- {error:.4f}")
    rows.append(row)
    columns = ["set", "default", *(f"- {name}" for name in COMPARED)]
    print_table("NDCG@10, of real relevance Spearman's correlation, of new queries", columns, rows)
    rows = [[name, f"{np.sum(values):.1f}"] for name, values in seconds.items()]
    print_table("CPU seconds of all fits", ["100 rounds", "s"], rows)


def memory(n_queries):
    for number in n_queries:
        rows = []
        for name in "HistGradientBoosting", "LightGBM .1 (default)", "XGBoost":
            try:
                rows.append([name, f"{megabytes(tree_rankers, name, rich(number, 0)):.0f}"])
            except ImportError:
                rows.append([f"{name}: not installed", ""])
        title = f"Peak memory of a fit to {number} generated queries of 120 documents"
        print_table(title, ["100 rounds", "MB"], rows)


def seconds_of_round(make, data):
    """Return the wall-clock seconds of a round: those of 30 rounds less those of 10, over 20."""
    needed = []
    for n_rounds in 10, 30:
        ranker, start = make(n_rounds), perf_counter()
        fit_by_query(ranker, *data)
        needed.append(perf_counter() - start)
    return (needed[1] - needed[0]) / 20


def fit_by_query(ranker, X, y, qid):
    if isinstance(ranker, HistGradientBoostingRanker):
        return ranker.fit(X, y, qid)
    return ranker.fit(X, y, group=np.unique(qid, return_counts=True)[1])


def threads(repetitions):
    """Compare a round with one and two threads, trees of 31 leaves and 255 bins each."""
    from lightgbm import LGBMRanker

    kinds = {
        "HistGradientBoosting": lambda n_rounds, n_jobs: HistGradientBoostingRanker(
            max_iter=n_rounds,
            max_leaf_nodes=31,
            learning_rate=0.1,
            init=None,
            early_stopping=False,
            n_jobs=n_jobs,
        ),
        "LightGBM": lambda n_rounds, n_jobs: LGBMRanker(
            n_estimators=n_rounds, n_jobs=n_jobs, verbose=-1
        ),
    }
    data = rich(500, 0)
    # In turn, so that other work on the machine meets all of them.
    needed = {(name, n_jobs): [] for name in kinds for n_jobs in (1, 2)}
    for _ in range(repetitions):
        for (name, n_jobs), found in needed.items():
            make = partial(kinds[name], n_jobs=n_jobs)
            found.append(seconds_of_round(make, data))
    rows = []
    for name in kinds:
        one, two = (1000 * min(needed[name, n_jobs]) for n_jobs in (1, 2))
        rows.append([name, f"{one:.0f}", f"{two:.0f}", f"{one / two:.2f}"])
    print_table(
        f"Milliseconds of a round by the clock, {len(data[0])} documents of {N_RICH_FEATURES} "
        f"features; the minimum of {repetitions}",
        ["31 leaves", "one thread", "two threads", "ratio"],
        rows,
    )


def predictors():
    """Return functions that fit 100 trees of 31 leaves to documents, by name."""
    size = {"learning_rate": 0.1, "random_state": 0}

    def own(X, y, qid):
        kept = {"max_leaf_nodes": 31, "init": None, "early_stopping": False}
        return HistGradientBoostingRanker(**size, **kept).fit(X, y, qid)

    def xgboost(X, y, qid):
        from xgboost import XGBRanker

        leaves = {"max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide"}
        return XGBRanker(n_estimators=100, n_jobs=1, **size, **leaves).fit(X, y, qid=qid)

    def lightgbm(X, y, qid):
        from lightgbm import LGBMRanker

        ranker = LGBMRanker(n_estimators=100, num_leaves=31, n_jobs=1, verbose=-1, **size)
        return fit_by_query(ranker, X, y, qid)

    def scikit_learn(X, y, qid):
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(early_stopping=False, **size).fit(X, y)

    return {
        "HistGradientBoosting": own,
        "XGBoost": xgboost,
        "LightGBM": lightgbm,
        "scikit-learn": scikit_learn,
    }


def added_megabytes(action, *arguments):
    """Return the peak memory of a call above the memory before it; NaN if it cannot be measured."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # The peak is now the current memory.
    except OSError:
        return np.nan
    before = peak()
    action(*arguments)
    return peak() - before


def predict(repetitions):
    """Compare the time of predictions for few and for many documents."""
    numbers, rows = (1, 10, 100, 1000, 20_000), []
    X, y, qid = rich(167, 0)
    for name, fit in predictors().items():
        try:
            ranker, row = fit(X, y, qid), [name]
        except ImportError:
            rows.append([f"{name}: not installed", *[""] * (len(numbers) + 1)])
            continue
        memory = added_megabytes(ranker.predict, X[:20_000])
        for number in numbers:
            # Small times need more repetitions, as the first calls fill the caches.
            calls = repetitions * max(1, 2000 // number)
            seconds = least_seconds(ranker.predict, X[:number], repetitions=calls)
            row.append(f"{1000 * seconds:.2f}")
        rows.append([*row, f"{memory:.0f}"])
    columns = ["100 trees of 31 leaves", *(f"{number:,}" for number in numbers), "MB of the last"]
    print_table(
        f"CPU milliseconds of predictions for documents of {N_RICH_FEATURES} features",
        columns,
        rows,
    )


def picture(n_queries, path):
    """Plot the logistic objective and the NDCG@10 of new queries by round."""
    import matplotlib.pyplot as plt

    X, y, qid = rich(n_queries, seed=0)
    X_new, y_new, qid_new = rich(200, seed=1000)
    ranker = HistGradientBoostingRanker(random_state=0).fit(X, y, qid)
    curves = {"HistGradientBoosting": list(ranker.staged_predict(X_new))}
    try:
        from lightgbm import LGBMRanker

        sizes = np.unique(qid, return_counts=True)[1]
        for learning_rate in (0.1, 0.3):
            ranker = LGBMRanker(learning_rate=learning_rate, n_jobs=1, verbose=-1)
            ranker.fit(X, y, group=sizes)
            curves[f"LightGBM, learning rate {learning_rate}"] = [
                ranker.predict(X_new, num_iteration=n) for n in range(1, 101)
            ]
    except ImportError:
        print("LightGBM: not installed")
    objective = LogisticObjective(np.exp2(y_new) - 1, Queries.from_qid(qid_new, len(y_new)))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, scores in curves.items():
        rounds = np.arange(1, 1 + len(scores))
        left.plot(rounds, [objective.value_at(F) for F in scores], label=name)
        right.plot(rounds, [ndcg_score(y_new, F, qid=qid_new, k=10) for F in scores], label=name)
    left.set(xlabel="round", ylabel="logistic objective of new queries")
    right.set(xlabel="round", ylabel="NDCG@10 of new queries")
    left.legend()
    figure.suptitle(f"{n_queries} generated queries of 120 documents")
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one repetition")
    parser.add_argument("--quality", action="store_true", help="tables of NDCG@10, see above")
    parser.add_argument("--memory", action="store_true", help="peak memory of the same rankers")
    parser.add_argument("--threads", action="store_true", help="a round with one and two threads")
    parser.add_argument("--predict", action="store_true", help="times of predictions")
    parser.add_argument("--sets", nargs="*", help="the defaults on sets of documents, see above")
    parser.add_argument("--picture", metavar="FILE", help="plot by round, see above")
    parser.add_argument("--queries", type=int, nargs="+", default=[100, 500, 1500])
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.picture:
        picture(arguments.queries[0], arguments.picture)
        return
    if arguments.quality:
        print_header("boosted trees", peers=("lightgbm", "xgboost", "catboost"))
        quality(arguments.queries, arguments.seeds)
        return
    if arguments.sets is not None:
        names = arguments.sets or [*SETS, *(["MQ2008"] * bool(os.environ.get("SKLRANK_DATA")))]
        print_header("defaults", peers=("lightgbm", "xgboost", "catboost"))
        compare_sets(names, arguments.seeds)
        return
    if arguments.memory:
        print_header("boosted trees", peers=("lightgbm", "xgboost", "catboost"))
        memory(arguments.queries)
        return
    repetitions = 1 if arguments.quick else arguments.repetitions
    if arguments.threads:
        print_header("boosted trees", peers=("lightgbm",), times="wall-clock times")
        threads(repetitions)
        return
    if arguments.predict:
        print_header("one thread", peers=("lightgbm", "xgboost"))
        predict(repetitions)
        return
    print_header(
        "100 stumps each; the minimum of the repetitions", peers=("lightgbm", "xgboost", "catboost")
    )
    compare(repetitions)
    compare_trees(repetitions)
    grow(repetitions)


if __name__ == "__main__":
    main()

"""Rank the documents of MQ2008 by NDCG_Boost, AdaRank, RankBoost and common alternatives.

Figure 3.1 of Valizadegan (2010) on a data set of LETOR 4.0: NDCG at 1 to 10 on the five official
folds (three parts for training, one for validation, which is not used here, one for testing).

NDCG is printed by two conventions: that of LETOR's own script, which published figures follow (such
as the line of ListNet), and the standard one, which leaves out queries without a relevant document.
The last table compares each model with HistGradientBoostingRanker by query.

LightGBM and XGBoost are included if they are installed. No model is tuned. "100 stumps" are trees
of two leaves; "default" are the default parameters of a package.

The data: the folder named by `SKLRANK_DATA` must contain `letor/MQ2008_S1.npz` to `S5.npz`, with
the arrays `X`, `y` and `qid`. Without it five sets of synthetic queries are used.

Run:  python examples/paper_ndcg_boost.py [--models NAME ...] [--plot FILE]
"""

import argparse
from importlib.util import find_spec
from time import process_time

import numpy as np
from _letor import has_mq2008, load_mq2008
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from sklrank.boosting import AdaRank, HistGradientBoostingRanker, NDCGBoost, RankBoost
from sklrank.metrics import ndcg_score
from sklrank.tree import HistogramTreeClassifier

RANKS = range(1, 11)
# From the table of baselines of LETOR 4.0, by LETOR's convention.
LISTNET = (0.3754, 0.4112, 0.4324, 0.4568, 0.4747, 0.4894, 0.4978, 0.4630, 0.2265, 0.2303)
REFERENCE = "HistGradientBoosting"


class RankSVM:
    """A linear support vector machine on the differences of all pairs of a query."""

    def fit(self, X, y, qid):
        differences = []
        for query in np.unique(qid):
            documents, grades = X[qid == query], y[qid == query]
            better, worse = np.nonzero(grades[:, np.newaxis] > grades)
            differences.append(documents[better] - documents[worse])
        differences = np.concatenate(differences)
        signs = np.where(np.arange(len(differences)) % 2, 1, -1)
        self.svm = LinearSVC(C=0.01, fit_intercept=False).fit(differences * signs[:, None], signs)
        return self

    def predict(self, X):
        return X @ self.svm.coef_[0]


class Pointwise:
    """A regressor of relevance that ignores the queries."""

    def __init__(self, regressor):
        self.regressor = regressor

    def fit(self, X, y, qid):
        self.regressor.fit(X, y)
        return self

    def predict(self, X):
        return self.regressor.predict(X)


class Grouped:
    """A ranker that needs the documents of a query to be contiguous."""

    def __init__(self, ranker, by_sizes):
        self.ranker, self.by_sizes = ranker, by_sizes

    def fit(self, X, y, qid):
        order = np.argsort(qid, kind="stable")
        X, y, qid = X[order], y[order].astype(int), qid[order]
        if self.by_sizes:
            self.ranker.fit(X, y, group=np.unique(qid, return_counts=True)[1])
        else:
            self.ranker.fit(X, y, qid=qid)
        return self

    def predict(self, X):
        return self.ranker.predict(X)


def models():
    """Return functions that make the models, by name."""
    stump = HistogramTreeClassifier(max_leaf_nodes=2, min_samples_leaf=1)
    makers = {
        REFERENCE: lambda: HistGradientBoostingRanker(random_state=0),
        "HistGB, linear gain": lambda: HistGradientBoostingRanker(gain="linear", random_state=0),
        "HistGB, expected NDCG": lambda: HistGradientBoostingRanker(
            "expected-ndcg", random_state=0
        ),
        "NDCG_Boost": lambda: NDCGBoost(),
        "NDCG_Boost, stumps": lambda: NDCGBoost(stump),
        "NDCG_Boost, as printed": lambda: NDCGBoost(stump, weighting="resampling", random_state=0),
        "AdaRank, NDCG": lambda: AdaRank(),
        "AdaRank, MAP": lambda: AdaRank(metric="map"),
        "AdaRank, as printed": lambda: AdaRank(rule="xu-li"),
        "RankBoost": lambda: RankBoost(),
        "RankSVM": RankSVM,
        "ridge": lambda: Pointwise(Ridge()),
        "HistGBR, 100 stumps": lambda: Pointwise(HistGradientBoostingRegressor(max_leaf_nodes=2)),
    }
    if find_spec("lightgbm"):
        from lightgbm import LGBMRanker

        makers["LightGBM, 100 stumps"] = lambda: Grouped(
            LGBMRanker(n_estimators=100, num_leaves=2, n_jobs=1, verbose=-1), by_sizes=True
        )
        makers["LightGBM, default"] = lambda: Grouped(
            LGBMRanker(n_jobs=1, verbose=-1), by_sizes=True
        )
    if find_spec("xgboost"):
        from xgboost import XGBRanker

        makers["XGBoost, 100 stumps"] = lambda: Grouped(
            XGBRanker(n_estimators=100, max_depth=1, n_jobs=1), by_sizes=False
        )
        makers["XGBoost, default"] = lambda: Grouped(XGBRanker(n_jobs=1), by_sizes=False)
    return makers


def load_parts():
    """Return the name of the data, and five parts `(X, y, qid)`."""
    if has_mq2008():
        return "MQ2008", [load_mq2008(number) for number in range(1, 6)]
    return "synthetic queries (SKLRANK_DATA names no folder with MQ2008)", [
        synthetic_part(np.random.RandomState(seed), seed) for seed in range(5)
    ]


def synthetic_part(random_state, number, n_queries=60, n_documents=20, n_features=12):
    """Generate queries whose relevance depends on a few features, one of them by a threshold."""
    X = random_state.uniform(size=(n_queries * n_documents, n_features))
    quality = X[:, 0] + (X[:, 1] > 0.6) + X[:, 2] * X[:, 3] + random_state.normal(0, 0.4, len(X))
    qid = number * n_queries + np.repeat(np.arange(n_queries), n_documents)
    return X, np.digitize(quality, np.quantile(quality, [0.7, 0.92])).astype(float), qid


def evaluate(make, parts):
    """Return the NDCG of each test query at each rank, by convention, and CPU seconds per fold."""
    by_convention = {"letor": [], "standard": []}
    started = process_time()
    predictions = []
    for fold in range(5):
        train = [parts[(fold + i) % 5] for i in range(3)]
        X_test, y_test, qid_test = parts[(fold + 4) % 5]
        model = make().fit(*map(np.concatenate, zip(*train)))
        predictions.append((y_test, model.predict(X_test), qid_test))
    seconds = (process_time() - started) / 5
    for convention, values in by_convention.items():
        values += [
            np.column_stack(
                [ndcg_score(y, s, qid=q, k=k, convention=convention, average=False) for k in RANKS]
            )
            for y, s, q in predictions
        ]
    return by_convention, seconds


def mean_of_folds(values):
    """Return the mean over folds of the means over queries, at each rank."""
    return np.mean([np.nanmean(fold, axis=0) for fold in values], axis=0)


def print_curves(title, curves):
    print(f"\n{title}\n{'NDCG@':28s}" + "".join(f"{k:>7d}" for k in RANKS))
    for name, curve in curves.items():
        print(f"{name:28s}" + "".join(f"{value:7.4f}" for value in curve))


def differences(results):
    """Yield NDCG@10 minus that of the reference: the mean over queries, half its 95 % interval."""
    last = {
        name: np.concatenate([fold[:, -1] for fold in by_convention["standard"]])
        for name, by_convention in results.items()
    }
    for name, values in last.items():
        difference = values - last[REFERENCE]
        difference = difference[~np.isnan(difference)]
        yield name, difference.mean(), 1.96 * difference.std() / np.sqrt(len(difference))


def print_differences(results, seconds):
    print(f"\nNDCG@10 minus that of {REFERENCE}, over queries")
    print(f"{'':28s}  mean   95 %    CPU s per fold")
    for name, mean, error in differences(results):
        print(f"{name:28s}{mean:7.4f} +-{error:6.4f} {seconds[name]:10.2f}")


def draw(results, data, path):
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(14, 4.6), constrained_layout=True)
    colors = {name: f"C{number % 10}" for number, name in enumerate(results)}
    colors[REFERENCE] = "black"
    styles = {name: "-" if number <= 10 else "--" for number, name in enumerate(results)}
    titles = {"standard": "standard NDCG", "letor": "NDCG by LETOR's script"}
    for panel, (convention, title) in zip(panels, titles.items()):
        for name, by_convention in results.items():
            ours = name == REFERENCE
            panel.plot(
                RANKS,
                mean_of_folds(by_convention[convention]),
                color=colors[name],
                linestyle=styles[name],
                linewidth=2.5 if ours else 1.2,
                marker="o" if ours else None,
                zorder=3 if ours else 2,
            )
        if convention == "letor" and data == "MQ2008":
            panel.plot(RANKS, LISTNET, "k:", label="ListNet (official)")
            panel.legend(frameon=False, loc="lower left")
        panel.set(title=title, xlabel="k of NDCG@k", xticks=RANKS)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("mean NDCG@k of test queries")
    for place, (name, mean, error) in enumerate(differences(results)):
        panels[2].errorbar(
            mean, -place, xerr=error, fmt="o", color=colors[name], linestyle=styles[name]
        )
    panels[2].axvline(0.0, color="black", linewidth=0.8)
    panels[2].set(title=f"NDCG@10 minus that of {REFERENCE}, 95 %", yticks=-np.arange(len(results)))
    panels[2].set_yticklabels(list(results))
    for label, name in zip(panels[2].get_yticklabels(), results):
        label.set_color(colors[name])
    panels[2].grid(alpha=0.3, axis="x")
    figure.suptitle(data)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main():
    makers = models()
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=list(makers), metavar="NAME")
    parser.add_argument("--plot", metavar="FILE")
    arguments = parser.parse_args()
    chosen = [REFERENCE, *(n for n in arguments.models or makers if n != REFERENCE)]

    data, parts = load_parts()
    print(f"{data}: five folds, {sum(len(y) for _, y, _ in parts)} documents")
    results, seconds = {}, {}
    for name in chosen:
        results[name], seconds[name] = evaluate(makers[name], parts)
    for convention, title in (("letor", "By LETOR's script"), ("standard", "Standard")):
        curves = {name: mean_of_folds(values[convention]) for name, values in results.items()}
        if convention == "letor" and data == "MQ2008":
            curves["ListNet (official)"] = LISTNET
        print_curves(title, curves)
    print_differences(results, seconds)
    if arguments.plot:
        draw(results, data, arguments.plot)
        print(f"\nCurves saved to {arguments.plot}")


if __name__ == "__main__":
    main()

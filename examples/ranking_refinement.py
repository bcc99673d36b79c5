"""Figures 4.2 to 4.5 of Valizadegan (2010): a base ranker refined by few judgements.

Relevance feedback: the queries of MQ2008 with 30 documents or more. The base ranker is the single
feature that ranks best (mean NDCG@10 of all queries). Its top documents are judged, and one model
is fitted for each query. Recommender: users of `make_recommender`, each of whom rated a few items
at random; the base ranker is a collaborative filter.

The script prints the mean NDCG of the documents that are NOT judged, over queries with a relevant
one among them, and the paired difference to MRR (above 0: better than MRR) with its 95 % interval.
The band in the figures is the interval of the difference between MRR and the base ranker.

- base: the base ranker;
- Rocchio: alpha times the mean of the relevant documents minus beta times that of the others; as in
  the dissertation alpha and beta (1 to 10) are those that rank the other documents best;
- RankSVM: a linear SVM of the judged pairs, C = 1;
- LRR: linear ranking refinement, the best and the worst of a grid of balances, by the same measure;
- MRR: multiplicative ranking refinement, which has no balance;
- corrected: `ResidualRefiner`, which adds a linear correction to the scores of the base ranker, and
  is not in the dissertation.

All methods have the score of the base ranker as a feature. MRR and LRR have the defaults of
`RankingRefiner`; "as printed" has the setting of the dissertation: stumps, noise 0.5, full steps.

The data: `SKLRANK_DATA` names a folder with `letor/MQ2008_S1.npz` to `S5`, which contain the five
parts as X, y and qid. Without it only the recommenders are run.

Run:  python examples/ranking_refinement.py [--plot FILE]
      Three to four minutes without the benchmark data.
"""

import argparse
import time
from itertools import product
from math import gcd

import numpy as np
from _letor import has_mq2008, load_mq2008
from joblib import Parallel, delayed
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklrank.boosting import RankingRefiner, ResidualRefiner
from sklrank.datasets import make_recommender
from sklrank.metrics import ndcg_score

KS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 25)
PRINTED = (1, 3, 5, 10, 25)
AT_10 = KS.index(10)
BALANCES = (0.03, 0.1, 0.3, 1, 3, 10)
IN_CURVES = ("base", "RankSVM", "corrected", "MRR", "MRR as printed")
AS_PRINTED = {
    "noise": 0.5,
    "learning_rate": 1.0,
    "response_method": "predict",
}


def features_by_ndcg(X, y, qid):
    """Return the features, the best single ranker first."""
    scores = [ndcg_score(y, feature, qid=qid, k=10) for feature in X.T]
    return np.argsort(scores, kind="stable")[::-1]


def feedback_tasks(data, base, n_judged, arguments):
    """Return features, base scores, relevance and judgements of each query."""
    X, y, qid = data
    tasks = []
    for query in np.unique(qid):
        documents = np.flatnonzero(qid == query)
        if len(documents) < arguments.documents:
            continue
        relevance, scores = y[documents], X[documents, base]
        top = np.argsort(-scores, kind="stable")[:n_judged]
        judged = np.full(len(documents), np.nan)
        judged[top] = relevance[top]
        tasks.append((X[documents], scores, relevance, judged))
    return with_unjudged_relevance(tasks)


def recommender_tasks(n_rated, arguments):
    """Return features, base scores, relevance and ratings of each user."""
    tasks = []
    for seed in range(arguments.seeds):
        X, ratings, relevance, qid, scores = make_recommender(n_rated=n_rated, random_state=seed)
        X = np.column_stack([X, scores])
        tasks += [
            tuple(values[qid == user] for values in (X, scores, relevance, ratings))
            for user in np.unique(qid)
        ]
    return with_unjudged_relevance(tasks)


def with_unjudged_relevance(tasks):
    """Return the tasks with a relevant document that is not judged."""
    return [task for task in tasks if task[2][np.isnan(task[3])].any()]


def ndcg_of_rest(task, scores):
    """Return the NDCG at all of `KS` of the documents that are not judged."""
    _, _, relevance, judged = task
    rest = np.isnan(judged)
    return [ndcg_score(relevance[rest], scores[rest], k=k) for k in KS]


def refine(task, **parameters):
    X, base_scores, _, judged = task
    model = RankingRefiner(random_state=0, **parameters)
    return model.fit(X, judged, base_scores=base_scores).predict(X)


def correct(task):
    X, base_scores, _, judged = task
    return ResidualRefiner().fit(X, judged, base_scores=base_scores).predict(X, base_scores)


def rocchio(task, alpha, beta):
    X, _, _, judged = task
    relevant, other = judged > 0, judged == 0
    query = np.zeros(X.shape[1])
    if relevant.any():
        query += alpha * X[relevant].mean(axis=0)
    if other.any():
        query -= beta * X[other].mean(axis=0)
    return X @ query


def rank_svm(task):
    X, base_scores, _, judged = task
    X = StandardScaler().fit_transform(X)
    better, worse = np.nonzero(judged[:, np.newaxis] > judged)
    if not len(better):
        return base_scores
    pairs = X[better] - X[worse]
    labels = np.repeat([1, -1], len(pairs))
    svm = LinearSVC(fit_intercept=False, dual=False).fit(np.vstack([pairs, -pairs]), labels)
    return X @ svm.coef_[0]


METHODS = {
    "base": lambda task: task[1],
    "RankSVM": rank_svm,
    "corrected": correct,
    "MRR": refine,
    "MRR as printed": lambda task: refine(task, **AS_PRINTED),
    **{
        f"Rocchio {a} {b}": lambda task, a=a, b=b: rocchio(task, a, b)
        for a, b in product(range(1, 11), repeat=2)
        if gcd(a, b) == 1  # only their ratio matters
    },
    **{
        f"LRR {balance:g}": lambda task, balance=balance: refine(
            task, combination="sum", balance=balance
        )
        for balance in BALANCES
    },
}


def compare(tasks, arguments, names=METHODS):
    """Return the NDCG `(n_tasks, n_ks)` by method; for Rocchio the best, for LRR best and worst."""

    def run(task):
        return [ndcg_of_rest(task, METHODS[name](task)) for name in names]

    runs = Parallel(n_jobs=arguments.jobs)(delayed(run)(task) for task in tasks)
    found = dict(zip(names, np.swapaxes(runs, 0, 1)))

    def ranked(family):
        members = [name for name in found if name.startswith(family)]
        return sorted(members, key=lambda name: found[name][:, AT_10].mean())

    chosen = {name: found[name] for name in found if name.split()[0] not in ("Rocchio", "LRR")}
    if ranked("Rocchio"):
        chosen["Rocchio"] = found[ranked("Rocchio")[-1]]
    if ranked("LRR"):
        for which, name in (("best", ranked("LRR")[-1]), ("worst", ranked("LRR")[0])):
            chosen[f"LRR {which}: {name.split()[1]}"] = found[name]
    return chosen


def difference(values, reference):
    """Return the mean of the paired difference, and half of its 95 % interval."""
    gaps = values - reference
    return gaps.mean(), 1.96 * gaps.std(ddof=1) / np.sqrt(len(gaps))


def print_comparison(title, chosen):
    n_queries = len(chosen["MRR"])
    print(f"\n{title}: {n_queries} queries")
    print(f"  {'':<18}" + "".join(f"{f'@{k}':>8}" for k in PRINTED) + "   @10 minus MRR")
    for name, values in chosen.items():
        means = values.mean(axis=0)
        line = "".join(f"{means[KS.index(k)]:>8.4f}" for k in PRINTED)
        gap, half = difference(values[:, AT_10], chosen["MRR"][:, AT_10])
        note = "" if name == "MRR" else f"{gap:>+10.4f} +- {half:.4f}"
        print(f"  {name:<18}{line}{note}", flush=True)


def print_curves(title, counts, curves):
    print(f"\n{title}: NDCG@10, and that of the base ranker minus that of MRR")
    for count, chosen in zip(counts, curves):
        figures = "".join(f"  {name} {v[:, AT_10].mean():.4f}" for name, v in chosen.items())
        gap, half = difference(chosen["base"][:, AT_10], chosen["MRR"][:, AT_10])
        print(f"  {count:>3}{figures}{gap:>+10.4f} +- {half:.4f}", flush=True)


def print_times(tasks):
    print("\nSeconds to fit one query, 100 trees")
    sizes = np.array([len(task[1]) for task in tasks])
    for low, high in ((30, 60), (60, 90), (90, 120), (120, 1000)):
        group = [task for task, size in zip(tasks, sizes) if low <= size < high]
        if group:
            start = time.process_time()
            for task in group:
                refine(task)
            seconds = (time.process_time() - start) / len(group)
            print(f"  {low} to {high - 1} documents: {seconds:.4f}")


STYLES = {
    "MRR": {"color": "k", "linewidth": 2.5},
    "MRR as printed": {"color": "k", "linestyle": ":"},
    "base": {"color": "tab:gray", "linestyle": "--"},
    "corrected": {"color": "tab:green", "linewidth": 2.5},
    "RankSVM": {"color": "tab:orange"},
    "Rocchio": {"color": "tab:red"},
    "LRR best": {"color": "tab:blue"},
    "LRR worst": {"color": "tab:cyan"},
}


def draw(figures, path):
    """Draw a panel for each figure: title, label of x, and by name the values of x and y."""
    import matplotlib.pyplot as plt

    n_rows = len(figures) // 2
    figure, axes = plt.subplots(
        n_rows, 2, figsize=(11, 4 * n_rows), layout="constrained", squeeze=False
    )
    for ax, (title, label, lines) in zip(axes.ravel(), figures):
        for name, (x, values, halves) in lines.items():
            name, _, _ = name.partition(":")
            ax.plot(x, values, marker="o", markersize=3, label=name, **STYLES[name])
            if name == "MRR":
                ax.fill_between(x, values - halves, values + halves, color="k", alpha=0.1, lw=0)
        ax.set(title=title, xlabel=label, ylabel="NDCG of documents not judged")
        ax.set_xticks(x)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    figure.savefig(path, dpi=120)
    print(f"\nFigures saved to {path}")


def by_k(chosen):
    return {
        name: (KS[:-1], values.mean(axis=0)[:-1], halves_of_intervals(values, chosen)[:-1])
        for name, values in chosen.items()
    }


def by_count(counts, curves):
    return {
        name: (
            counts,
            np.array([curve[name][:, AT_10].mean() for curve in curves]),
            np.array([halves_of_intervals(curve[name], curve)[AT_10] for curve in curves]),
        )
        for name in curves[0]
    }


def halves_of_intervals(values, chosen):
    """Return half of the interval of the difference to the base ranker, at each k."""
    return np.array([difference(*pair)[1] for pair in zip(values.T, chosen["base"].T)])


def run_feedback(arguments):
    """Print the results on MQ2008; return two figures."""
    data = load_mq2008(1, 2, 3, 4, 5)
    ranked = features_by_ndcg(*data)
    print(f"Features by NDCG@10, indices: best {ranked[:3]}, worst {ranked[-1]}")

    counts, tables = (5, 10, 15, 20), {}
    for n_judged in counts:
        tasks = feedback_tasks(data, ranked[0], n_judged, arguments)
        tables[n_judged] = compare(tasks, arguments)
        print_comparison(f"MQ2008, {n_judged} judged", tables[n_judged])
    print_times(tasks)

    curves = [{name: tables[count][name] for name in IN_CURVES} for count in counts]
    print_curves("MQ2008 by the number judged", counts, curves)

    others = {}
    for place in (1, len(ranked) // 4, len(ranked) // 2, len(ranked) - 1):
        tasks = feedback_tasks(data, ranked[place], 10, arguments)
        others[f"{ranked[place]}"] = compare(tasks, arguments, ("base", "MRR"))
    print_curves("MQ2008, 10 judged, by base ranker", others, others.values())
    return [
        ("MQ2008, 10 documents judged", "k of NDCG@k", by_k(tables[10])),
        ("MQ2008, NDCG@10", "documents judged", by_count(counts, curves)),
    ]


def run_recommender(arguments):
    """Print the results on generated recommenders; return two figures."""
    rated = (5, 10, 15, 20, 25)
    table = compare(recommender_tasks(10, arguments), arguments)
    print_comparison("Recommender, 10 items rated", table)
    curves = [compare(recommender_tasks(n, arguments), arguments, IN_CURVES) for n in rated]
    print_curves("Recommender by the number of items rated", rated, curves)
    return [
        ("Recommender, 10 items rated", "k of NDCG@k", by_k(table)),
        ("Recommender, NDCG@10", "items rated", by_count(rated, curves)),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--documents", type=int, default=30, help="minimum number of documents of a query"
    )
    parser.add_argument(
        "--seeds", type=int, default=5, help="number of recommenders, of 20 users each"
    )
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel jobs")
    parser.add_argument("--plot", metavar="FILE", help="draw the figures")
    arguments = parser.parse_args()
    figures = []
    if has_mq2008():
        figures += run_feedback(arguments)
    figures += run_recommender(arguments)
    if arguments.plot:
        draw(figures, arguments.plot)


if __name__ == "__main__":
    main()

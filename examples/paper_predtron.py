"""Figure 1 of Jain, Natarajan and Tewari (2015): effect of representation and margin on Predtron.

The script prints and draws the mean NDCG loss on the documents of 100 test queries, with the 95 %
interval of its mean over seeds. The learner is the basic version: steps of size 1 from weights of
zero, in one pass over the queries of `make_subset_ranking`, which some weights rank without a loss.

- (a) Loss by the number of training queries, for three representations f of the position i. -i^1.1
  and -i^2 come close to 0 after 60 queries; 1/i does not after 100.
- (b) Loss by the number of documents in a query, with 30 training queries. The loss first rises
  with the share of queries that have a relevant document: almost none with 5 documents, a third
  with 10, nearly all with 20. Then it falls, slowly for 1/i. With more documents, a step of the
  other two representations averages over more of them, while a step of 1/i moves a few documents at
  the top. In the paper all three losses rise, up to a number of documents that it does not state.
  No spread of scores and centers that we tried reproduces both that and (a).
- (c) Loss by the number of features, 5 of which have a weight, on the cube [-1, 1]^p. Irrelevant
  features hardly affect the map of the p-norm (l1 margin, Corollary 6). They do affect the
  Euclidean map (l2 margin, Corollary 5).

The paper states neither the numbers of features and documents nor the spread of the scores; here
they are the defaults of `make_subset_ranking`.

Run:  python examples/paper_predtron.py [--seeds 20] [--jobs 1] [--plot FILE]
"""

import argparse

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from sklrank.datasets import make_subset_ranking
from sklrank.linear_model import PredtronQueryRanker
from sklrank.metrics import ndcg_score

N_TEST = 100
QUERIES = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
DOCUMENTS = (5, 8, 10, 12, 15, 20, 25, 30, 40, 50)
FEATURES = (10, 20, 50, 100, 200, 500, 1000)
# Training queries in (b) and (c).
N_TRAIN = 30
CUBE = {"design": "uniform", "n_informative": 5}

REPRESENTATIONS = {
    "$-i^{1.1}$": PredtronQueryRanker(representation="power", power=1.1),
    "$-i^2$": PredtronQueryRanker(representation="power", power=2),
    "$1/i$": PredtronQueryRanker(representation="reciprocal"),
}
MARGINS = {
    "p-norm ($l_1$ margin)": PredtronQueryRanker(mirror_map="p-norm"),
    "Euclidean ($l_2$ margin)": PredtronQueryRanker(mirror_map="euclidean"),
}


# -- Runs.


def losses(model, seed, numbers, **shape):
    """Return the loss on the test queries after each of the numbers of training queries."""
    X, y, qid = make_subset_ranking(max(numbers) + N_TEST, **shape, random_state=seed)
    test = qid >= max(numbers)
    model, n_trained, values = clone(model), 0, []
    for number in numbers:
        new = (n_trained <= qid) & (qid < number)
        model.partial_fit(X[new], y[new], qid[new])
        n_trained = number
        # No ranking of a query without a relevant document has a loss.
        ndcg = ndcg_score(y[test], model.predict(X[test]), qid=qid[test], empty="one")
        values.append(1 - ndcg)
    return values


def by_queries(model, seed):
    return losses(model, seed, QUERIES)


def by_documents(model, seed):
    return [losses(model, seed, [N_TRAIN], n_documents=m)[0] for m in DOCUMENTS]


def by_features(model, seed):
    return [losses(model, seed, [N_TRAIN], n_features=p, **CUBE)[0] for p in FEATURES]


def with_relevant(seed):
    """Return the share of queries with a relevant document for each number of documents."""
    shares = []
    for m in DOCUMENTS:
        _, y, _ = make_subset_ranking(n_documents=m, random_state=seed)
        shares.append(y.reshape(-1, m).any(axis=1).mean())
    return shares


PANELS = {
    "(a) representations": ("training queries, n", QUERIES, REPRESENTATIONS, by_queries),
    f"(b) representations, n = {N_TRAIN}": (
        "documents per query, m",
        DOCUMENTS,
        REPRESENTATIONS,
        by_documents,
    ),
    f"(c) margins, n = {N_TRAIN}": ("features, p", FEATURES, MARGINS, by_features),
}


def run(models, play, arguments):
    """Return the losses `(seeds, points)` of each model, by its name."""
    jobs = [(name, seed) for name in models for seed in range(arguments.seeds)]
    runs = Parallel(n_jobs=arguments.jobs)(delayed(play)(models[name], seed) for name, seed in jobs)
    return dict(zip(models, np.reshape(runs, (len(models), arguments.seeds, -1))))


# -- Tables and figures.


def mean_and_error(values):
    """Return the mean over seeds, and half the width of its 95 % interval."""
    return values.mean(axis=0), 1.96 * values.std(axis=0) / np.sqrt(len(values))


def print_table(title, label, x, curves):
    print(f"\n{title}\n{label:<26}" + "".join(f"{value:8d}" for value in x))
    for name, values in curves.items():
        mean, error = mean_and_error(values)
        name = name.translate(str.maketrans("", "", "${}_"))
        print(f"{name:<26}" + "".join(f"{value:8.3f}" for value in mean))
        print(f"{'+-':>26}" + "".join(f"{value:8.3f}" for value in error))


def draw(results, shares, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    for ax, (title, curves) in zip(axes, results.items()):
        label, x, models, _ = PANELS[title]
        colors = ("C0", "C1", "C2") if models is REPRESENTATIONS else ("C3", "C4")
        for (name, values), color, marker in zip(curves.items(), colors, "osD"):
            mean, error = mean_and_error(values)
            ax.plot(x, mean, label=name, color=color, marker=marker, markersize=4)
            ax.fill_between(x, mean - error, mean + error, alpha=0.2, color=color, linewidth=0)
        ax.set(title=title, xlabel=label, ylim=(0, None))
        ax.grid(alpha=0.3)
        if x is FEATURES:
            ax.set_xscale("log")
        if x is DOCUMENTS:
            share = ax.twinx()
            share.plot(x, shares, color="gray", linestyle=":")
            share.set(ylim=(0, 1.05), ylabel="dotted: queries with a relevant document")
        else:
            ax.legend(frameon=False)
    axes[0].set_ylabel("mean NDCG loss of test queries")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"\nThe figure is drawn in {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="seeds of each setting (20: 20 s)")
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel processes")
    parser.add_argument("--plot", metavar="FILE", help="draw the figure")
    arguments = parser.parse_args()
    if arguments.seeds < 2:
        parser.error("--seeds must be 2 or more")
    print(f"NDCG loss of {N_TEST} test queries, means over {arguments.seeds} seeds, +- 95 %")
    results = {}
    for title, (label, x, models, play) in PANELS.items():
        results[title] = run(models, play, arguments)
        print_table(title, label, x, results[title])
        if x is DOCUMENTS:
            shares = np.mean([with_relevant(seed) for seed in range(arguments.seeds)], axis=0)
            cells = "".join(f"{share:8.2f}" for share in shares)
            print(f"{'with a relevant document':<26}{cells}")
    if arguments.plot:
        draw(results, shares, arguments.plot)


if __name__ == "__main__":
    main()

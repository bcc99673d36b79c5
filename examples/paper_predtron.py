"""Figure 1 of Jain, Natarajan and Tewari (2015): what representation and margin do to Predtron.

Printed and drawn is the mean NDCG loss of the documents of 100 test queries, with the 95 % interval
of its mean over seeds. The learner is the basic version: steps of size 1 from weights of zero, one
pass over the queries of `make_subset_ranking`, whose weights make no mistake.

- (a) By the queries learnt, for three representations f of the position i. -i^1.1 and -i^2 come
  close to 0 by 60 queries, 1/i is far from it at 100.
- (b) By the documents of a query, 30 of which are learnt. The loss rises with the share of queries
  that have a relevant document: hardly any has one among 5, a third among 10, nearly all among 20.
  From then on it falls, slowly for 1/i: the more documents there are, the more of them a step of
  the others averages over, while one of 1/i moves a few at the top. The paper has all three rise,
  and does not say up to how many documents; no spread of scores and centres that we tried gives
  both that and (a).
- (c) By the features, 5 of which have a weight, on the cube [-1, 1]^p. The map of the p-norm (l1
  margin, Corollary 6) hardly minds the others; the Euclidean one (l2 margin, Corollary 5) does.

The paper says neither how many features and documents there are nor how far scores spread; ours are
the defaults of `make_subset_ranking`.

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
# Queries learnt in (b) and (c).
N_LEARNT = 30
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
    """Loss of the test queries after each of the numbers of queries learnt."""
    X, y, qid = make_subset_ranking(max(numbers) + N_TEST, **shape, random_state=seed)
    test = qid >= max(numbers)
    model, learnt, values = clone(model), 0, []
    for number in numbers:
        new = (learnt <= qid) & (qid < number)
        model.partial_fit(X[new], y[new], qid[new])
        learnt = number
        # Every ranking of a query without a relevant document is right.
        right = ndcg_score(y[test], model.predict(X[test]), qid=qid[test], empty="one")
        values.append(1 - right)
    return values


def by_queries(model, seed):
    return losses(model, seed, QUERIES)


def by_documents(model, seed):
    return [losses(model, seed, [N_LEARNT], n_documents=m)[0] for m in DOCUMENTS]


def by_features(model, seed):
    return [losses(model, seed, [N_LEARNT], n_features=p, **CUBE)[0] for p in FEATURES]


def with_relevant(seed):
    """Share of queries that have a relevant document, by the documents of a query."""
    shares = []
    for m in DOCUMENTS:
        _, y, _ = make_subset_ranking(n_documents=m, random_state=seed)
        shares.append(y.reshape(-1, m).any(axis=1).mean())
    return shares


PANELS = {
    "(a) representations": ("queries learnt, n", QUERIES, REPRESENTATIONS, by_queries),
    f"(b) representations, n = {N_LEARNT}": (
        "documents of a query, m",
        DOCUMENTS,
        REPRESENTATIONS,
        by_documents,
    ),
    f"(c) margins, n = {N_LEARNT}": ("features, p", FEATURES, MARGINS, by_features),
}


def run(models, play, arguments):
    """For each model, by its name, the losses `(seeds, points)`."""
    jobs = [(name, seed) for name in models for seed in range(arguments.seeds)]
    runs = Parallel(n_jobs=arguments.jobs)(delayed(play)(models[name], seed) for name, seed in jobs)
    return dict(zip(models, np.reshape(runs, (len(models), arguments.seeds, -1))))


# -- Tables and figures.


def mean_and_error(values):
    """The mean over seeds, and half its 95 % interval."""
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
        colours = ("C0", "C1", "C2") if models is REPRESENTATIONS else ("C3", "C4")
        for (name, values), colour, marker in zip(curves.items(), colours, "osD"):
            mean, error = mean_and_error(values)
            ax.plot(x, mean, label=name, color=colour, marker=marker, markersize=4)
            ax.fill_between(x, mean - error, mean + error, alpha=0.2, color=colour, linewidth=0)
        ax.set(title=title, xlabel=label, ylim=(0, None))
        ax.grid(alpha=0.3)
        if x is FEATURES:
            ax.set_xscale("log")
        if x is DOCUMENTS:
            share = ax.twinx()
            share.plot(x, shares, color="grey", linestyle=":")
            share.set(ylim=(0, 1.05), ylabel="dotted: queries with a relevant document")
        else:
            ax.legend(frameon=False)
    axes[0].set_ylabel("mean NDCG loss of test queries")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"\nThe figure is drawn in {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="draws of each setting (20: 20 s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the runs")
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

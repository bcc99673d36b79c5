"""Losses, pair weights, cost estimates and exploration schemes on six multilabel sets, one pass.

1. Full information: `OnlineBMR` and `AdaOLMR` with each loss and each weight of pairs, over the
   default learners and over 20 Hoeffding trees: rank loss, and NDCG@3 in brackets.
2. Top-k feedback (k = 3): `TopKBBM` over the default learners, which do not use costs, and over ten
   Hoeffding trees with each estimate of the costs, for each exploration scheme, at rho = .05 and
   .2: rank loss, and the relevant labels shown per round in brackets.

The samples are shuffled, and at most --samples of them are used. A model scores each sample, then
learns from it. Rank loss and NDCG are those of the second half. Of bibtex and delicious, the 60
most frequent labels and 300 features are used. Means over --orders orders.

    SKLRANK_DATA=folder python benchmarks/multilabel_options.py [--sets emotions yeast] [--only 1]
"""

import argparse

import numpy as np
from _common import MULTILABEL, load_multilabel, print_header, print_table

from sklrank.feedback import (
    PlackettLuceRandomization,
    SingleSwapRandomization,
    SoftmaxRandomization,
    UniformRandomization,
)
from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKBBM

K = 3
SCHEMES = {
    "uniform": UniformRandomization,
    "single-swap": SingleSwapRandomization,
    "plackett-luce": PlackettLuceRandomization,
    "softmax": SoftmaxRandomization,
}


def load(name, seed, n_samples):
    X_train, Y_train, X_test, Y_test = load_multilabel(name)
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    if Y.shape[1] > 120:
        Y = Y[:, np.argsort(-Y.sum(axis=0), kind="stable")[:60]]
    if X.shape[1] > 300:
        X = X[:, np.argsort(-X.sum(axis=0), kind="stable")[:300]]
    relevant = np.flatnonzero(Y.any(axis=1))
    order = np.random.RandomState(seed).permutation(relevant)[:n_samples]
    return X[order], Y[order]


def ndcg_of_top(Y, scores):
    discounts = 1 / np.log2(np.arange(2, K + 2))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :K]
    ideal = np.cumsum(discounts)[np.minimum(Y.sum(axis=1), K) - 1]
    return np.mean(np.take_along_axis(Y, best, axis=1) @ discounts / ideal)


def over(learners, n_trees):
    return {"estimator": "trees", "n_estimators": n_trees} if learners == "trees" else {}


def full_information(X, Y, seed):
    """Yield the name of each setting, its rank loss and its NDCG."""
    half = len(X) // 2
    settings = [(OnlineBMR, loss) for loss in ("hinge", "rank", "logistic")]
    for learners in ("default", "trees"):
        for make, loss in [*settings, (AdaOLMR, "logistic")]:
            for weights in ("uniform", "dcg"):
                parameters = over(learners, 20) | {"loss": loss, "pair_weights": weights}
                model = make(random_state=seed, **parameters)
                scores = model.progressive_fit(X, Y, classes=range(Y.shape[1]))[half:]
                name = f"{make.__name__} {learners} {loss} {weights}"
                yield name, rank_loss(Y[half:], scores), ndcg_of_top(Y[half:], scores)


def top_k(X, Y, seed, exploration):
    """Yield the name of each setting, its rank loss and its reward per round."""
    half = len(X) // 2
    estimates = [
        ("default", "pairs"),
        *(("trees", c) for c in ("pairs", "labels", "doubly-robust")),
    ]
    for learners, estimate in estimates:
        for scheme, make in SCHEMES.items():
            model = TopKBBM(
                k=K,
                exploration=exploration,
                randomization=scheme,
                cost_estimate=estimate,
                random_state=seed,
                **over(learners, 10),
            )
            scores = model.progressive_fit(X, Y, classes=range(Y.shape[1]))
            shown = make(exploration).explore(scores, K, random_state=seed).actions
            reward = np.take_along_axis(Y, shown, axis=1).sum(axis=1).mean()
            yield f"{learners} {estimate} {scheme}", rank_loss(Y[half:], scores[half:]), reward


def print_results(title, arguments, run):
    columns, cells = ["setting"], {}
    for name in arguments.sets:
        results = {}
        for seed in range(arguments.orders):
            for setting, *numbers in run(*load(name, seed, arguments.samples), seed):
                results.setdefault(setting, []).append(numbers)
        columns.append(name)
        for setting, numbers in results.items():
            loss, other = np.mean(numbers, axis=0)
            cells.setdefault(setting, []).append(f"{loss:.3f} ({other:.3f})")
    print_table(title, columns, [[setting, *row] for setting, row in cells.items()])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=MULTILABEL)
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--only", type=int, choices=[1, 2])
    arguments = parser.parse_args()
    print_header(peers=())
    if arguments.only != 2:
        title = "1. Full information: rank loss (NDCG@3)"
        print_results(title, arguments, full_information)
    if arguments.only != 1:
        for rho in (0.05, 0.2):

            def run(X, Y, seed, rho=rho):
                return top_k(X, Y, seed, rho)

            print_results(f"2. Top-k feedback, rho = {rho}: rank loss (reward)", arguments, run)


if __name__ == "__main__":
    main()

"""Losses, cost estimates and exploration schemes on six multilabel sets, one pass.

1. Full information: `OnlineBMR` and `AdaOLMR` with each loss, over the default learners and over 20
   Hoeffding trees: rank loss, and NDCG@3 and precision@3 in brackets.
2. Top-k feedback (k = 3): `TopKBBM` over the default learners and over ten Hoeffding trees, with
   each estimate of the costs and three exploration schemes, at rho = .05 and .2: rank loss, and the
   relevant labels shown per round in brackets.

The samples are shuffled, and at most --samples of them are used, of bibtex and delicious at most
the numbers given. A model scores each sample, then learns from it. The losses and the precision are
those of the second half. Means over --orders orders.

The settings of one booster and its learners are a group, whose first setting has the default
values. The last columns show the differences from it: means and standard errors over all data sets
and orders.

    SKLRANK_DATA=folder python benchmarks/multilabel_options.py [--sets emotions yeast] [--only 1]
"""

import argparse
import sys
from itertools import product

import numpy as np
from _common import MULTILABEL, load_multilabel, print_header, print_table

from sklrank.feedback import explore
from sklrank.metrics import ndcg_score, precision_at_k_score, rank_loss
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKBBM

K = 3
ESTIMATES = ("doubly-robust", "pairs", "labels")
SCHEMES = ("uniform", "single-swap", "plackett-luce")


def load(name, seed, n_samples):
    X_train, Y_train, X_test, Y_test = load_multilabel(name)
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    relevant = np.flatnonzero(Y.any(axis=1))
    order = np.random.RandomState(seed).permutation(relevant)[:n_samples]
    return X[order], Y[order]


def over(learners, n_trees):
    return {"estimator": "trees", "n_estimators": n_trees} if learners == "trees" else {}


def full_information(X, Y, seed):
    """Yield the group and the name of each setting, and its measures."""
    half = len(X) // 2
    settings = [(OnlineBMR, loss) for loss in ("hinge", "rank", "logistic")]
    for learners in ("default", "trees"):
        for make, loss in [*settings, (AdaOLMR, "logistic"), (AdaOLMR, "exponential")]:
            model = make(loss=loss, random_state=seed, **over(learners, 20))
            scores = model.progressive_fit(X, Y, classes=range(Y.shape[1]))[half:]
            yield (
                f"{make.__name__}, {learners}",
                loss,
                rank_loss(Y[half:], scores),
                ndcg_score(Y[half:], scores, k=K, gain="linear"),
                precision_at_k_score(Y[half:], scores, k=K),
            )


def top_k(X, Y, seed, exploration):
    """Yield the group and the name of each setting, its rank loss and its reward per round."""
    half = len(X) // 2
    for learners, estimate in product(("default", "trees"), ESTIMATES):
        for scheme in SCHEMES:
            model = TopKBBM(
                k=K,
                exploration=exploration,
                randomization=scheme,
                cost_estimate=estimate,
                random_state=seed,
                **over(learners, 10),
            )
            scores = model.progressive_fit(X, Y, classes=range(Y.shape[1]))
            shown = explore(scores, K, scheme, exploration, random_state=seed).actions
            reward = np.take_along_axis(Y, shown, axis=1).sum(axis=1).mean()
            yield (
                f"TopKBBM, {learners}",
                f"{estimate}, {scheme}",
                rank_loss(Y[half:], scores[half:]),
                reward,
            )


def summary(numbers):
    first, *others = (f"{number:.4f}" for number in numbers)
    return f"{first} ({', '.join(others)})"


def print_results(title, arguments, measures, run):
    # group, setting -> data set -> measures of the orders
    results, limits = {}, dict(zip(("bibtex", "delicious"), arguments.large_samples))
    for name in arguments.sets:
        for seed in range(arguments.orders):
            print(f"{title}: {name}, order {seed} ...", file=sys.stderr, flush=True)
            n_samples = limits.get(name, arguments.samples)
            for group, setting, *numbers in run(*load(name, seed, n_samples), seed):
                of_setting = results.setdefault((group, setting), {})
                of_setting.setdefault(name, []).append(numbers)
    rows, references = [], {}
    for (group, setting), of_setting in results.items():
        cells = [summary(np.mean(of_setting[name], axis=0)) for name in arguments.sets]
        numbers = np.concatenate([of_setting[name] for name in arguments.sets])
        differences = numbers - references.setdefault(group, numbers)
        errors = differences.std(axis=0, ddof=1) / len(differences) ** 0.5
        cells += [
            f"{mean:+.4f} +- {error:.4f}" if np.any(differences) else ""
            for mean, error in zip(differences.mean(axis=0), errors)
        ]
        rows.append([group, setting, *cells])
    print_table(title, ["booster", "setting", *arguments.sets, *measures], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=MULTILABEL)
    parser.add_argument("--samples", type=int, default=2500)
    parser.add_argument(
        "--large-samples", nargs=2, type=int, default=[2000, 1000], metavar=("BIBTEX", "DELICIOUS")
    )
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--only", type=int, choices=[1, 2])
    arguments = parser.parse_args()
    print_header(peers=())
    if arguments.only != 2:
        title = "1. Full information: rank loss (NDCG@3, precision@3)"
        measures = ["rank loss", "NDCG@3", "precision@3"]
        print_results(title, arguments, measures, full_information)
    if arguments.only != 1:
        for rho in (0.05, 0.2):

            def run(X, Y, seed, rho=rho):
                return top_k(X, Y, seed, rho)

            title = f"2. Top-k feedback, rho = {rho}: rank loss (reward)"
            print_results(title, arguments, ["rank loss", "reward"], run)


if __name__ == "__main__":
    main()

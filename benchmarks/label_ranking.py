"""Overhead of the label rankers over the time of their inner estimators.

10,000 samples with rankings of 10 labels; forests of 100 trees. The time of `fit` and `predict` of
each ranker is compared with that of the same estimators fitted by hand to the same targets. The
overhead is the time to decompose rankings and to combine predictions.

    python benchmarks/label_ranking.py [--quick]
"""

import argparse
from itertools import combinations

import numpy as np
from _common import least_seconds, print_header, print_table
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from sklrank.datasets import make_sparse_label_ranking
from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker


def positions_by_hand(estimator, X, Y):
    return [clone(estimator).fit(X, target).predict(X) for target in Y.T / Y.shape[1]]


def joint_positions_by_hand(estimator, X, Y):
    return estimator.fit(X, Y / Y.shape[1]).predict(X)


def joint_pairs_by_hand(estimator, X, Y):
    first, second = np.array(list(combinations(range(Y.shape[1]), 2))).T
    return estimator.fit(X, Y[:, first] < Y[:, second]).predict_proba(X)


def pairs_by_hand(estimator, X, Y):
    return [
        clone(estimator).fit(X, Y[:, a] < Y[:, b]).predict_proba(X)
        for a, b in combinations(range(Y.shape[1]), 2)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few samples, to see that it works")
    parser.add_argument("--repetitions", type=int, default=3, help="the least time counts")
    arguments = parser.parse_args()
    n_samples, n_trees = (500, 10) if arguments.quick else (10_000, 100)
    X, Y = make_sparse_label_ranking(
        n_samples, 30, 10, noise="gaussian", scale=0.02, random_state=0
    )
    forest = RandomForestClassifier(n_trees, random_state=0)
    trees = ExtraTreesRegressor(n_trees, random_state=0)
    logistic = LogisticRegression()
    cases = {
        "labelwise, 10 forests": (LabelwiseRanker(trees), positions_by_hand, trees),
        "labelwise, one forest": (
            LabelwiseRanker(trees, multi_output=True),
            joint_positions_by_hand,
            trees,
        ),
        "pairwise, one forest": (
            PairwiseRanker(forest, multi_output=True),
            joint_pairs_by_hand,
            forest,
        ),
        "pairwise, 45 logistic": (PairwiseRanker(logistic), pairs_by_hand, logistic),
    }
    print_header()
    rows, n = [], arguments.repetitions
    for name, (ranker, by_hand, estimator) in cases.items():
        alone = least_seconds(by_hand, estimator, X, Y, repetitions=n)
        ranked = least_seconds(lambda r=ranker: r.fit(X, Y).predict(X), repetitions=n)
        rows.append([name, f"{alone:.2f}", f"{ranked:.2f}", f"{100 * (ranked / alone - 1):+.1f} %"])
    columns = ["CPU seconds, fit and predict", "by hand", "ranker", "overhead"]
    print_table(f"{n_samples} samples, 30 features, 10 labels, {n_trees} trees", columns, rows)


if __name__ == "__main__":
    main()

"""Bias and variance of the estimated costs from top-k feedback (k = 3), per round.

The bias is the distance of the mean estimate from the costs of all pairs, and the deviation is the
mean distance of an estimate from the mean estimate. Both are divided by the norm of the costs of
all pairs. Each row has the mean over 30 rounds of a shuffled stream, in each of which the labels
are drawn 2000 times, and the standard error of the seeds. The direct model of the doubly robust
estimate has learned from the labels shown in the stream.

    SKLRANK_DATA=folder python benchmarks/cost_estimates.py [--quick] [--sets mediamill_reduced]
"""

import argparse

import numpy as np
from _common import MULTILABEL, load_multilabel, print_header, print_table

from sklrank.feedback import explore
from sklrank.feedback._protocol import LIST_RANDOMIZATIONS
from sklrank.online_boosting import TopKAdaptive


def load(name, seed, n_samples):
    X_train, Y_train, X_test, Y_test = load_multilabel(name)
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    order = np.random.RandomState(seed).permutation(len(X))[:n_samples]
    return X[order], Y[order]


def summary(values):
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():.2f} ({error:.2f})"


def bias_and_variance(sets, seeds, n_samples):
    for name in sets:
        rows = []
        for randomization in sorted(LIST_RANDOMIZATIONS):
            for rho in (0.02, 0.2):
                for estimate in ("pairs", "doubly-robust"):
                    found = [
                        errors_of_estimate(name, seed, n_samples, randomization, rho, estimate)
                        for seed in range(seeds)
                    ]
                    rows.append([randomization, rho, estimate, *(summary(e) for e in zip(*found))])
        columns = ["exploration", "rho", "estimate", "bias", "deviation", "root mean square error"]
        title = f"{name}, k = 3, propensities clipped at .005, {seeds} seeds"
        print_table(title, columns, rows)


def errors_of_estimate(name, seed, n_samples, randomization, rho, estimate):
    """Return the mean bias, deviation and error of the logistic costs of the first learner."""
    X, Y = load(name, seed, n_samples)
    # The default learners rank the labels. The estimates are computed here, for many draws.
    model = TopKAdaptive(
        k=3,
        exploration=rho,
        randomization=randomization,
        cost_estimate=estimate,
        random_state=seed,
    )
    model.partial_fit(X, Y)
    rounds = np.random.RandomState(seed).choice(len(X), 30, replace=False)
    scores = model.decision_function(X[rounds])
    q = None
    if estimate == "doubly-robust":
        q = 1.0 / (1.0 + np.exp(-direct_margins(model, X[rounds])))
    errors = []
    for i, t in enumerate(rounds):
        y, s = Y[t], scores[i]
        if not 0 < y.sum() < len(y):
            continue
        # With equal scores before the first learner, each pair moves its labels by w / 2.
        full = costs_of(np.outer(y, 1 - y))
        size = np.linalg.norm(full)
        n_draws = 2000
        record = explore(np.tile(s, (n_draws, 1)), 3, randomization, rho, random_state=seed)
        base = np.zeros((len(y), len(y))) if q is None else np.outer(q[i], 1 - q[i])
        np.fill_diagonal(base, 0.0)
        direct = costs_of(base)
        estimates = np.tile(direct, (n_draws, 1))
        p = np.clip(record.propensities, 0.005, 0.995)
        a = record.actions
        for j in range(3):
            for k in range(3):
                if j != k:
                    first, second = a[:, j], a[:, k]
                    weight = (y[first] * (1 - y[second]) - base[first, second]) / p[:, j, k] / 2
                    estimates[np.arange(n_draws), first] -= weight
                    estimates[np.arange(n_draws), second] += weight
        mean = estimates.mean(axis=0)
        errors.append(
            [
                np.linalg.norm(mean - full) / size,
                np.sqrt(((estimates - mean) ** 2).sum(axis=1).mean()) / size,
                np.sqrt(((estimates - full) ** 2).sum(axis=1).mean()) / size,
            ]
        )
    return np.mean(errors, axis=0)


def costs_of(weights):
    """Return the gradient of the logistic loss of weighted pairs at equal scores."""
    return (weights.sum(axis=0) - weights.sum(axis=1)) / 2


def direct_margins(model, X):
    learner = model._direct_model
    return learner.score_rows(np.ascontiguousarray(X))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, as a smoke test")
    parser.add_argument("--sets", nargs="+", choices=MULTILABEL, default=list(MULTILABEL))
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    print_header()
    if arguments.quick:
        bias_and_variance(["emotions"], 1, 200)
    else:
        bias_and_variance(arguments.sets, arguments.seeds, arguments.samples)


if __name__ == "__main__":
    main()

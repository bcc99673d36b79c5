"""Losses of online boosting, and estimates of costs from top-k feedback.

1. Losses and weights of pairs with the relevance of all labels: rank loss, NDCG@3 and precision@3
   of samples that are scored before they are learned.
2. Bias and variance of the estimated costs, per round: the distance of the mean estimate from the
   costs of all pairs, and the mean distance of an estimate from the mean estimate, both divided by
   the norm of the costs of all pairs without their mean. Means over the rounds of a stream, with
   the draws of each round repeated. The direct model of the doubly robust estimate learns from the
   labels shown in the stream.
3. Learners of costs (ridge regressions) with the estimates of costs, and the default learners,
   which use the relevance of the labels shown: rank loss, and relevant labels shown per round.

All sets are shuffled, and learned in one pass. Each row has the mean and the standard error of the
seeds; a seed determines the order of the samples too.

    SKLRANK_DATA=folder python benchmarks/cost_estimates.py [--quick] [--only 1 3] [--sets yeast]
"""

import argparse

import numpy as np
from _common import MULTILABEL, Stopwatch, load_multilabel, print_header, print_table
from sklrank.online_boosting._pair_feedback import ESTIMATES

from sklrank.feedback._randomization import RANDOMIZATIONS
from sklrank.linear_model import OnlineRidgeClassifier
from sklrank.metrics import ndcg_score, rank_loss
from sklrank.online_boosting import AdaOLMR, OnlineBMR, TopKAdaptive, TopKBBM

SEEDS, N_SAMPLES = 3, 2000
RIDGE = OnlineRidgeClassifier(
    alpha=(1, 10, 100), normalize="l2", sketch_size=512, vote_scale=4, vote_smoothing=1
)


def load(name, seed, n_samples):
    X_train, Y_train, X_test, Y_test = load_multilabel(name)
    X, Y = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test])
    order = np.random.RandomState(seed).permutation(len(X))[:n_samples]
    return X[order], Y[order]


def summary(values, digits=4):
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():.{digits}f} ({error:.{digits}f})"


def precision(Y, scores, k):
    best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(Y, best, axis=1).mean()


def losses(sets, seeds, n_samples):
    edges = {name: 0.1 for name in ("emotions", "scene", "yeast")}
    models = {
        "OnlineBMR, hinge": lambda edge: OnlineBMR("trees", edge=edge),
        "OnlineBMR, rank": lambda edge: OnlineBMR("trees", edge=edge, loss="rank"),
        "OnlineBMR, logistic": lambda edge: OnlineBMR("trees", edge=edge, loss="logistic"),
        "AdaOLMR, trees": lambda edge: AdaOLMR("trees"),
        "AdaOLMR, trees, exponential": lambda edge: AdaOLMR("trees", loss="exponential"),
        "AdaOLMR": lambda edge: AdaOLMR(),
        "AdaOLMR, exponential": lambda edge: AdaOLMR(loss="exponential"),
    }
    for name in sets:
        rows = []
        for title, make in models.items():
            for weights in ("uniform", "dcg"):
                found, watch = [], Stopwatch()
                for seed in range(seeds):
                    X, Y = load(name, seed, n_samples)
                    model = make(edges.get(name, 0.01))
                    model.set_params(pair_weights=weights, random_state=seed)
                    with watch:
                        scores = model.progressive_fit(X, Y)
                    found.append(
                        (
                            rank_loss(Y, scores),
                            ndcg_score(Y, scores, k=3, gain="linear"),
                            precision(Y, scores, 3),
                        )
                    )
                per_round = 1e6 * watch.seconds / seeds / len(X)
                rows.append([title, weights, *map(summary, zip(*found)), f"{per_round:.0f}"])
        columns = ["", "pairs", "rank loss", "NDCG@3", "precision@3", "us a round"]
        print_table(f"1. {name}, {len(X)} samples, {seeds} seeds", columns, rows)


def bias_and_variance(sets, seeds, n_samples):
    for name in sets:
        rows = []
        for randomization in RANDOMIZATIONS:
            for rho in (0.02, 0.2):
                for estimate in ("pairs", "doubly-robust"):
                    found = [
                        errors_of_estimate(name, seed, n_samples, randomization, rho, estimate)
                        for seed in range(seeds)
                    ]
                    rows.append(
                        [randomization, rho, estimate, *(summary(e, 2) for e in zip(*found))]
                    )
        columns = ["exploration", "rho", "estimate", "bias", "deviation", "root mean square error"]
        title = f"2. {name}, k = 3, propensities clipped at .005, {seeds} seeds"
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
    scheme = RANDOMIZATIONS[randomization](rho)
    errors = []
    for i, t in enumerate(rounds):
        y, s = Y[t], scores[i]
        if not 0 < y.sum() < len(y):
            continue
        # With equal scores before the first learner, each pair moves its labels by w / 2.
        full = costs_of(np.outer(y, 1 - y))
        size = np.linalg.norm(full)
        n_draws = 2000
        record = scheme.explore(np.tile(s, (n_draws, 1)), 3, random_state=seed)
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
    return learner.feature_map.transform_rows(np.ascontiguousarray(X)) @ learner.weight_table


def estimates(sets, seeds, n_samples):
    for name in sets:
        rows = []
        for rho in (0.05, 0.2):
            for randomization in RANDOMIZATIONS:
                for title in (*ESTIMATES, "default learners"):
                    found = [
                        learn(name, seed, n_samples, rho, randomization, title)
                        for seed in range(seeds)
                    ]
                    rows.append([rho, randomization, title, *map(summary, zip(*found))])
        columns = ["rho", "exploration", "costs", "rank loss", "relevant labels shown"]
        print_table(f"3. {name}, k = 3, {n_samples} samples, {seeds} seeds", columns, rows)


def learn(name, seed, n_samples, rho, randomization, title):
    """Return the rank loss of the second half, and the relevant labels shown per round."""
    X, Y = load(name, seed, n_samples)
    if title == "default learners":
        model = TopKBBM()
    else:
        model = TopKBBM([RIDGE] * 3, edge=0.1, cost_estimate=title)
    model.set_params(exploration=rho, randomization=randomization, random_state=seed)
    collected, scores = 0, []
    for batch in np.array_split(np.arange(len(X)), max(len(X) // 20, 1)):
        shown = model.explore(X[batch], classes=range(Y.shape[1]))
        rewards = np.take_along_axis(Y[batch], shown.actions, axis=1)
        scores.append(model.decision_function(X[batch]))
        model.partial_fit_feedback(X[batch], shown, rewards)
        collected += rewards.sum()
    half = len(X) // 2
    return rank_loss(Y[half:], np.vstack(scores)[half:]), collected / len(X)


PARTS = {1: losses, 2: bias_and_variance, 3: estimates}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, as a smoke test")
    parser.add_argument("--only", type=int, nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sets", nargs="+", choices=MULTILABEL, default=list(MULTILABEL))
    parser.add_argument("--samples", type=int, default=N_SAMPLES)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    arguments = parser.parse_args()
    print_header()
    for number in arguments.only:
        if arguments.quick:
            PARTS[number](["emotions"], 1, 200)
        else:
            PARTS[number](arguments.sets, arguments.seeds, arguments.samples)


if __name__ == "__main__":
    main()

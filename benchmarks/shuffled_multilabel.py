"""Default settings on shuffled multilabel streams, compared with simple models.

The samples of both parts are shuffled. A model scores each sample, then learns from it. The loss is
the mean rank loss of the last samples, as many as the test part has. The tables show means and
standard errors over several orders. The last line of each model counts the data sets on which the
default settings are at least as good, and shows the largest loss (reward) of the default settings
relative to it.

1. Full information: AdaOLMR, and one model per label of these kinds: AdaGrad logistic regression of
   standardized and of unit-length samples, ridge regression of both, the nearest neighbors among
   the last 1000 samples, and Vowpal Wabbit (`pip install vowpalwabbit`).
2. Top-k feedback (k = 3): reward per round, and rank loss in brackets. SemiBanditRanker, the
   boosters, and AdaGrad and LinUCB for the labels shown.
3. AdaOLMR with full information, after one pass over the training part: rank loss and precision at
   1, 3 and 5 (in %) on the test part of the ranking by `decision_function`, and what is added by
   ranking by the calibrated probabilities of `predict_proba` instead. It uses all samples.

The step size of AdaGrad and the bonus of LinUCB are the best ones of each data set, by the loss (1)
or the reward (2). These models' samples are standardized by the training part beforehand. An online
model has neither of these advantages.

    SKLRANK_DATA=folder python benchmarks/shuffled_multilabel.py [--sets birds emotions] [--only 1]
"""

import argparse
import sys
from importlib.util import find_spec

import numpy as np
from _common import load_multilabel, print_header, print_table
from _multilabel_peers import UniformExploration, adagrad, linucb, neighbors, ridge, vowpal_wabbit
from scipy import sparse

from sklrank.linear_model import SemiBanditRanker
from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR, TopKAdaptive, TopKBBM

SETS = (
    *("medical", "genbase", "birds", "cal500", "foodtruck"),
    *("emotions", "scene", "yeast", "mediamill_reduced", "bibtex", "delicious"),
)
LARGE_SETS = ("bibtex", "delicious")
STEPS = (0.1, 0.3, 1.0, 3.0)
BONUSES = (0.1, 0.3, 1.0)
K, WINDOW, NEIGHBORS = 3, 1000, 10


def unit_length(X):
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0.0, norms, 1.0)


def standardized(X, n_train):
    mean, deviation = X[:n_train].mean(axis=0), X[:n_train].std(axis=0)
    return (X - mean) / np.where(deviation > 0.0, deviation, 1.0) / np.sqrt(X.shape[1])


def full_information(X, Y, n_train, seed):
    """Name -> rank loss of the last samples, for each setting of the model."""
    Z, U = standardized(X, n_train), unit_length(X)

    def loss(scores):
        return rank_loss(Y[n_train:], scores[n_train:])

    labels = range(Y.shape[1])
    losses = {
        "AdaOLMR": [loss(AdaOLMR(random_state=seed).progressive_fit(X, Y, classes=labels))],
        "AdaGrad, standardized": [loss(adagrad(Z, Y, step)) for step in STEPS],
        "AdaGrad, unit length": [loss(adagrad(U, Y, step)) for step in STEPS],
        "ridge, standardized": [loss(ridge(Z, Y))],
        "ridge, unit length": [loss(ridge(U, Y))],
        "nearest neighbors": [loss(neighbors(Z, Y, NEIGHBORS, WINDOW))],
    }
    if find_spec("vowpalwabbit"):
        losses["Vowpal Wabbit"] = [loss(vowpal_wabbit(X, Y))]
    return losses


def top_k(X, Y, n_train, seed, exploration, defaults_only):
    """Name -> reward per round and rank loss, for each setting of the model."""

    def results_of(scores, shown_by=None):
        # Without exploration, the labels shown are those of the largest scores.
        shown_by = scores if shown_by is None else shown_by
        best = np.argsort(-shown_by, axis=1, kind="stable")[:, :K]
        greedy = np.take_along_axis(Y, best, axis=1).sum(axis=1).mean()
        # The expected reward of rounds, of which a proportion `exploration` shows random labels.
        reward = (1.0 - exploration) * greedy + exploration * K * Y.mean()
        return reward, rank_loss(Y[n_train:], scores[n_train:])

    results = {}
    for model in (SemiBanditRanker, TopKBBM, TopKAdaptive):
        ranker = model(k=K, exploration=exploration, random_state=seed)
        scores = ranker.progressive_fit(X, Y, classes=range(Y.shape[1]))
        results[model.__name__] = [results_of(scores)]
    if defaults_only:
        return results
    for view, Z in (("standardized", standardized(X, n_train)), ("unit length", unit_length(X))):
        results[f"AdaGrad, {view}"] = [
            results_of(adagrad(Z, Y, step, UniformExploration(K, exploration, seed)))
            for step in STEPS
        ]
        runs = [linucb(Z, Y, bonus, UniformExploration(K, exploration, seed)) for bonus in BONUSES]
        results[f"LinUCB, {view}"] = [results_of(scores, bounds) for bounds, scores in runs]
    return results


def orders_of(name, args):
    X_train, Y_train, X_test, Y_test = load_multilabel(name)
    X, Y, n_train = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test]), len(X_train)
    n_rows = min(args.large_rows if name in LARGE_SETS else args.rows, len(X))
    for seed in range(args.orders):
        order = np.random.default_rng(seed).permutation(len(X))[:n_rows]
        yield X[order], Y[order], n_train * n_rows // len(X), seed


def collect(function, args, *arguments):
    """Data set -> name of the model -> measures of the shape (orders, settings, measures)."""
    results = {}
    for name in args.sets:
        print(f"{name} ...", file=sys.stderr, flush=True)
        runs = [function(*data, *arguments) for data in orders_of(name, args)]
        results[name] = {
            model: np.array([np.reshape(run[model], (len(run[model]), -1)) for run in runs])
            for model in runs[0]
        }
    return results


def best_setting(values, sign):
    """Return the measures `(orders, measures)` of the setting with the best first measure."""
    return values[:, np.argmin(sign * values[:, :, 0].mean(axis=0))]


def print_results(title, results, sign, defaults):
    """Print the mean results of the models, the best of which is the smallest `sign * result`."""
    rows = []
    for model in next(iter(results.values())):
        cells = []
        ratios = {default: [] for default in defaults}
        for of_models in results.values():
            values = best_setting(of_models[model], sign)
            mean = values.mean(axis=0)
            error = values[:, 0].std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
            digits = 4 if len(mean) == 1 else 3
            cell = f"{mean[0]:.{digits}f} +- {error:.{digits}f}"
            cells.append(cell if len(mean) == 1 else f"{cell} ({mean[1]:.3f})")
            for default in defaults:
                own = best_setting(of_models[default], sign).mean(axis=0)
                ratios[default].append(own / np.where(mean > 0.0, mean, np.nan))
        summaries = []
        for default in defaults:
            if model in defaults:
                summaries.append("")
                continue
            ratio = np.array(ratios[default])
            # The second measure is always a loss.
            wins = [f"{np.sum(sign * ratio[:, 0] <= sign)}"]
            wins += [f"{np.sum(ratio[:, 1] <= 1.0)}"] if ratio.shape[1] > 1 else []
            worst = sign * np.nanmax(sign * ratio[:, 0])
            summaries.append(f"{' / '.join(wins)} of {len(ratio)} ({worst:.2f})")
        rows.append([model, *cells, *summaries])
    print_table(title, ["model", *results, *(f"vs {name}" for name in defaults)], rows)


def print_losses(args):
    title = f"1. Rank loss, {args.orders} orders"
    print_results(title, collect(full_information, args), 1, ["AdaOLMR"])


def print_rewards(args, exploration):
    title = (
        f"2. Reward per round (rank loss), k = {K}, exploration {exploration:g}, {args.orders} "
        f"orders"
    )
    results = collect(top_k, args, exploration, args.defaults_only)
    # The columns of defaults compare other models with them.
    defaults = [] if args.defaults_only else ["SemiBanditRanker", "TopKBBM", "TopKAdaptive"]
    print_results(title, results, -1, defaults)


def print_rankings(args):
    args.large_rows = args.rows
    rows = []
    for name in args.sets:
        print(f"{name} ...", file=sys.stderr, flush=True)
        runs = []
        for X, Y, n_train, seed in orders_of(name, args):
            X = sparse.csr_array(X) if np.mean(X != 0.0) < 0.2 else X
            booster = AdaOLMR(random_state=seed).fit(X[:n_train], Y[:n_train])
            both = booster.decision_function(X[n_train:]), booster.predict_proba(X[n_train:])
            runs.append([ranking_measures(Y[n_train:], scores) for scores in both])
        by_scores, by_probabilities = np.moveaxis(np.array(runs), 1, 0)
        added = by_probabilities - by_scores
        errors = added.std(axis=0, ddof=1) / len(added) ** 0.5
        cells = [f"{mean:.{4 if i == 0 else 1}f}" for i, mean in enumerate(by_scores.mean(axis=0))]
        for i, (mean, error) in enumerate(zip(added.mean(axis=0), errors)):
            digits = 4 if i == 0 else 2
            cells.append(f"{mean:+.{digits}f} +- {error:.{digits}f}")
        rows.append([name, *cells])
    measures = ["rank loss", *(f"P@{k}" for k in (1, 3, 5))]
    columns = ["data set", *measures, *(f"{name} added" for name in measures)]
    print_table(f"3. By scores, and by probabilities, {args.orders} orders", columns, rows)


def ranking_measures(Y, scores):
    """Return the rank loss, and the precision at 1, 3 and 5 in per cent."""
    hits = np.take_along_axis(Y, np.argsort(-scores, axis=1, kind="stable")[:, :5], axis=1)
    return [rank_loss(Y, scores), *(100.0 * hits[:, :k].mean() for k in (1, 3, 5))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument(
        "--rows", type=int, default=10**9, help="use at most this number of samples of each order"
    )
    parser.add_argument(
        "--large-rows", type=int, default=3000, help=f"the same for {' and '.join(LARGE_SETS)}"
    )
    parser.add_argument("--exploration", type=float, nargs="+", default=[0.05, 0.5])
    parser.add_argument(
        "--defaults-only",
        action="store_true",
        help="leave out the simple models of part 2, which take almost all of its time",
    )
    parser.add_argument("--only", type=int, nargs="+", choices=(1, 2, 3), default=[1, 2, 3])
    args = parser.parse_args()
    print_header(peers=("vowpalwabbit",))
    if 1 in args.only:
        print_losses(args)
    if 2 in args.only:
        for exploration in args.exploration:
            print_rewards(args, exploration)
    if 3 in args.only:
        print_rankings(args)


if __name__ == "__main__":
    main()

"""Default settings on shuffled multilabel streams, compared with simple models.

The samples of both parts are shuffled. A model scores each sample, then learns from it. The loss is
the mean rank loss of the last samples, as many as the test part has. The table shows means and
standard errors over several orders.

1. Full information: AdaOLMR, and one model per label of these kinds: AdaGrad logistic regression of
   standardized and of unit-length samples, ridge regression of both, and the nearest neighbors
   among the last 1000 samples. The step size of AdaGrad is chosen by the test loss, and its rivals'
   samples are standardized by the training part beforehand: advantages that an online model cannot
   have.
2. Top-k feedback (k = 3): reward per round, and rank loss in brackets.

    SKLRANK_DATA=folder python benchmarks/shuffled_multilabel.py [--sets birds emotions] [--only 1]
"""

import argparse

import numpy as np
from _common import load_multilabel, print_header, print_table

from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR, TopKAdaptive, TopKBBM

SETS = ("medical", "genbase", "birds", "cal500", "foodtruck", "emotions", "scene", "yeast")
LARGE_SETS = ("mediamill_reduced", "bibtex", "delicious")
STEPS = (0.1, 0.3, 1.0, 3.0)
K, WINDOW, NEIGHBORS = 3, 1000, 10


def unit_length(X):
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0.0, norms, 1.0)


def standardized(X, n_train):
    mean, deviation = X[:n_train].mean(axis=0), X[:n_train].std(axis=0)
    return (X - mean) / np.where(deviation > 0.0, deviation, 1.0) / np.sqrt(X.shape[1])


def adagrad(X, Y, step, shown=None):
    """Return the scores of each sample before it is learned.

    `shown` chooses the labels that are learned, given the scores. If None, all labels are learned.
    """
    X = np.hstack([X, np.ones((len(X), 1))])
    shape = (Y.shape[1], X.shape[1])
    weights, squares, scores = np.zeros(shape), np.ones(shape), np.empty(Y.shape)
    for x, y, score in zip(X, Y, scores):
        np.dot(weights, x, out=score)
        used = np.flatnonzero(x)
        labels = np.arange(len(y)) if shown is None else shown(score)
        error = 1.0 / (1.0 + np.exp(-np.clip(score[labels], -500.0, 500.0))) - y[labels]
        gradient = np.outer(error, x[used])
        cells = np.ix_(labels, used)
        squares[cells] += gradient**2
        weights[cells] -= step * gradient / np.sqrt(squares[cells])
    return scores


def ridge(X, Y):
    X = np.hstack([X, np.ones((len(X), 1))])
    inverse, weights = np.eye(X.shape[1]), np.zeros((X.shape[1], Y.shape[1]))
    scores = np.empty(Y.shape)
    for x, y, score in zip(X, Y, scores):
        np.dot(x, weights, out=score)
        direction = inverse @ x
        gain = direction / (1.0 + x @ direction)
        weights += np.outer(gain, y - score)
        inverse -= np.outer(gain, direction)
    return scores


def neighbors(X, Y):
    scores = np.zeros(Y.shape)
    for i in range(1, len(X)):
        start = max(0, i - WINDOW)
        distances = ((X[start:i] - X[i]) ** 2).sum(axis=1)
        nearest = start + np.argsort(distances, kind="stable")[:NEIGHBORS]
        # Frequencies in the window break ties.
        scores[i] = Y[nearest].mean(axis=0) + 1e-3 * Y[start:i].mean(axis=0)
    return scores


def full_information(X, Y, n_train, seed):
    """Name -> rank loss of the last samples."""
    Z, U = standardized(X, n_train), unit_length(X)

    def loss(scores):
        return rank_loss(Y[n_train:], scores[n_train:])

    labels = range(Y.shape[1])
    return {
        "AdaOLMR": loss(AdaOLMR(random_state=seed).progressive_fit(X, Y, classes=labels)),
        "AdaGrad, standardized": [loss(adagrad(Z, Y, step)) for step in STEPS],
        "AdaGrad, unit length": [loss(adagrad(U, Y, step)) for step in STEPS],
        "ridge, standardized": loss(ridge(Z, Y)),
        "ridge, unit length": loss(ridge(U, Y)),
        "nearest neighbors": loss(neighbors(Z, Y)),
    }


def top_k(X, Y, n_train, seed, exploration):
    """Name -> reward per round and rank loss."""
    results = {}

    def results_of(scores):
        best = np.argsort(-scores, axis=1, kind="stable")[:, :K]
        greedy = np.take_along_axis(Y, best, axis=1).sum(axis=1).mean()
        # The expected reward of rounds, of which a proportion `exploration` shows random labels.
        reward = (1.0 - exploration) * greedy + exploration * K * Y.mean()
        return reward, rank_loss(Y[n_train:], scores[n_train:])

    for model in (TopKBBM, TopKAdaptive):
        booster = model(exploration=exploration, random_state=seed)
        scores = booster.progressive_fit(X, Y, classes=range(Y.shape[1]))
        results[model.__name__] = results_of(scores)
    views = {"standardized": standardized(X, n_train), "unit length": unit_length(X)}
    for name, view in views.items():
        results[f"AdaGrad of labels shown, {name}"] = []
        for step in STEPS:
            random = np.random.RandomState(seed)

            def shown(score, random=random):
                if random.uniform() < exploration:
                    return random.permutation(len(score))[:K]
                return np.argsort(-score, kind="stable")[:K]

            scores = adagrad(view, Y, step, shown)
            results[f"AdaGrad of labels shown, {name}"].append(results_of(scores))
    return results


def mean_and_error(values):
    values = np.asarray(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0 * values[0]
    return values.mean(axis=0), error


def orders_of(name, n_orders, n_rows):
    X_train, Y_train, X_test, Y_test = load_multilabel(name)
    X, Y, n_train = np.vstack([X_train, X_test]), np.vstack([Y_train, Y_test]), len(X_train)
    for seed in range(n_orders):
        order = np.random.default_rng(seed).permutation(len(X))[:n_rows]
        yield X[order], Y[order], min(n_train, len(order) // 2) if n_rows else n_train, seed


def print_losses(args):
    rows = {}
    for name in args.sets:
        runs = [full_information(*data) for data in orders_of(name, args.orders, args.rows)]
        for model in runs[0]:
            mean, error = mean_and_error([run[model] for run in runs])
            best = int(np.argmin(mean)) if np.ndim(mean) else ()
            rows.setdefault(model, [model]).append(f"{mean[best]:.4f} +- {error[best]:.4f}")
    title = f"1. Rank loss, {args.orders} orders; AdaGrad: best of the steps {STEPS} by test loss"
    print_table(title, ["model", *args.sets], rows.values())


def print_rewards(args, exploration):
    rows = {}
    for name in args.sets:
        runs = [top_k(*data, exploration) for data in orders_of(name, args.orders, args.rows)]
        for model in runs[0]:
            mean, error = (
                np.reshape(values, (-1, 2)) for values in mean_and_error([r[model] for r in runs])
            )
            best = int(np.argmax(mean[:, 0]))
            cell = f"{mean[best, 0]:.3f} +- {error[best, 0]:.3f} ({mean[best, 1]:.3f})"
            rows.setdefault(model, [model]).append(cell)
    title = (
        f"2. Reward per round (rank loss), k = {K}, exploration {exploration:g}, {args.orders} "
        f"orders; AdaGrad: best of the steps {STEPS} by reward"
    )
    print_table(title, ["model", *args.sets], rows.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS + LARGE_SETS, default=list(SETS))
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("--rows", type=int, help="use only this number of samples of each order")
    parser.add_argument("--exploration", type=float, nargs="+", default=[0.05, 0.5])
    parser.add_argument("--only", type=int, nargs="+", choices=(1, 2), default=[1, 2])
    args = parser.parse_args()
    print_header(peers=())
    if 1 in args.only:
        print_losses(args)
    if 2 in args.only:
        for exploration in args.exploration:
            print_rewards(args, exploration)


if __name__ == "__main__":
    main()

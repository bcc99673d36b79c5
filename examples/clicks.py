"""Learn to rank from simulated clicks, whose positions matter.

A ranker that was fitted to a few judged queries shows ten documents of each query. Users click on
them, as one of three models describes: each position is examined with its own probability; users
also trust the ranker and click on documents at the top by mistake; or they read from the top and
leave when they are satisfied. New rankers are fitted

- to the clicks as if they were relevance ("clicks"),
- to the clicks and their positions ("positions"),
- to the true relevance of all documents ("relevance").

The table shows their NDCG@10 on new queries, the mean and the standard error over seeds, and the
part of the gap between the first and the last one that positions close. The plot compares the
estimated propensities of the positions with the examination by the users.

Run:  python examples/clicks.py [--plot FILE]
"""

import argparse

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Ridge

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.datasets import make_clicks
from sklrank.metrics import ndcg_score

SIZE = 15  # documents of a query


def draw_queries(random, n_queries):
    """Draw documents whose relevance, 0 to 3, is not linear in the features."""
    X = random.uniform(-1, 1, size=(n_queries * SIZE, 8))
    quality = np.abs(X[:, 0]) + 2 * X[:, 1] * X[:, 2] + ((X[:, 3] > 0) & (X[:, 4] > 0.2))
    quality += 0.3 * random.normal(size=len(X))
    return X, np.digitize(quality, [1.0, 1.5, 2.0]), np.repeat(np.arange(n_queries), SIZE)


def compare(model, n_queries, n_sessions, seed):
    """Return NDCG@10 of the three rankers, and the ranker that knows the positions."""
    random = np.random.RandomState(seed)
    X, y, qid = draw_queries(random, n_queries)
    X_new, y_new, qid_new = draw_queries(random, 300)
    judged = qid < max(5, n_queries // 20)
    shown_by = Ridge().fit(X[judged], y[judged]).predict(X)
    log = make_clicks(X, y, qid, shown_by, model=model, n_sessions=n_sessions, random_state=seed)
    ranker = HistGradientBoostingRanker(random_state=seed)
    rankers = [
        clone(ranker).fit(log.X, log.y, qid=log.qid),
        clone(ranker).fit(log.X, log.y, qid=log.qid, position=log.position),
        clone(ranker).fit(X, y, qid=qid),
    ]
    scores = [ndcg_score(y_new, one.predict(X_new), qid=qid_new, k=10) for one in rankers]
    return scores, rankers[1]


def plot(rankers, file):
    """Plot the propensities of the last seed."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(rankers), figsize=(10, 3), sharey=True)
    for axis, (model, ranker) in zip(axes, rankers.items()):
        propensities, position = ranker.position_propensities_, np.arange(1, 11)
        axis.plot(position, propensities, "o-", label="estimate")
        if model != "cascade":
            axis.plot(position, 1 / position, "k--", label="users")
        axis.set(title=f'users: "{model}"', xlabel="position", xticks=position, ylim=(0, 1.05))
        axis.legend()
    axes[0].set_ylabel("propensity")
    figure.tight_layout()
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--sessions", type=int, default=100, help="sessions of each query")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--plot", metavar="FILE", help="write a plot of the propensities")
    args = parser.parse_args()
    columns = "clicks", "positions", "relevance"
    print("users     " + "".join(f"{name:>17}" for name in columns) + "   gap closed")
    rankers = {}
    for model in ("position", "trust", "cascade"):
        scores = []
        for seed in range(args.seeds):
            values, rankers[model] = compare(model, args.queries, args.sessions, seed)
            scores.append(values)
        mean = np.mean(scores, axis=0)
        error = np.std(scores, axis=0, ddof=min(1, args.seeds - 1)) / np.sqrt(args.seeds)
        cells = "".join(f"    {m:.3f} +- {e:.3f}" for m, e in zip(mean, error))
        print(f"{model:10}{cells}{(mean[1] - mean[0]) / (mean[2] - mean[0]):13.2f}", flush=True)
    if args.plot:
        plot(rankers, args.plot)


if __name__ == "__main__":
    main()

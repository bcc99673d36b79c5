"""Refiners with few judgements of one query, against the base ranker and ridge regression.

Printed is the NDCG@10 of the base ranker for the documents that are not judged, and the mean
differences to it with their standard errors, over queries with a relevant document among these:

- ridge: ridge regression of the difference between standardized judgements and base scores on the
  standardized features, divided by the root of their number, with a penalty of 10;
- residual: `ResidualRefiner()`;
- boosting: `RankingRefiner()`, the rule of the dissertation.

The data: queries of MQ2008 with 30 documents or more, whose top documents by the best single
feature are judged (SKLRANK_DATA names the folder); `make_recommender`; and a simulation of users
who rate films, of which they see those that they like. Its base ranker is the shrunken mean rating,
and its features are genres, year and popularity ("plain") or factors of the ratings of others.

    python benchmarks/ranking_refinement.py [--quick]
"""

import argparse
import os

import numpy as np
from _common import load_mq2008, print_header, print_table

from sklrank.boosting import RankingRefiner, ResidualRefiner
from sklrank.datasets import make_recommender
from sklrank.metrics import ndcg_score


def with_unjudged_relevance(tasks):
    """Return the tasks (X, base scores, relevance, judgements) that can be evaluated."""
    return [task for task in tasks if task[2][np.isnan(task[3])].any()]


def mq2008(n_judged):
    X, y, qid = load_mq2008(1, 2, 3, 4, 5)
    base = max(range(X.shape[1]), key=lambda j: ndcg_score(y, X[:, j], qid=qid, k=10))
    tasks = []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        if len(rows) >= 30:
            scores = X[rows, base]
            judged = np.full(len(rows), np.nan)
            top = np.argsort(-scores, kind="stable")[:n_judged]
            judged[top] = y[rows[top]]
            tasks.append((X[rows], scores, y[rows], judged))
    return with_unjudged_relevance(tasks)


def recommender(n_judged):
    tasks = []
    for seed in range(5):
        X, y, relevance, qid, base = make_recommender(n_rated=n_judged, random_state=seed)
        X = np.column_stack([X, base])
        parts = (X, base, relevance, y)
        tasks += [tuple(part[qid == user] for part in parts) for user in np.unique(qid)]
    return with_unjudged_relevance(tasks)


def films(n_judged, plain, seed=0, n_users=150, n_others=450, n_films=800):
    random = np.random.default_rng(seed)
    factors = random.normal(size=(n_films, 10))
    tastes = random.normal(size=(n_users + n_others, 10)) * 0.5 / np.sqrt(np.arange(1, 11))
    affinity = factors @ random.normal(size=(10, 18)) * 0.6 + random.normal(size=(n_films, 18))
    n_genres = random.integers(1, 4, size=(n_films, 1))
    genres = (affinity.argsort(axis=1).argsort(axis=1) >= 18 - n_genres).astype(float)
    quality = 0.45 * random.normal(size=n_films)
    year = random.normal(size=n_films)
    utility = 3.5 + 0.4 * random.normal(size=(len(tastes), 1)) + quality + tastes @ factors.T
    utility += 0.25 * random.normal(size=(len(tastes), 18)) @ (genres - genres.mean(axis=0)).T
    popularity = 1.2 * random.normal(size=n_films) + 0.8 * quality
    chance = popularity + 0.6 * (utility - utility.mean(axis=1, keepdims=True))
    order = np.argsort(-(chance + random.gumbel(size=utility.shape)), axis=1).argsort(axis=1)
    n_seen = np.clip(np.exp(random.normal(4.3, 0.7, size=(len(tastes), 1))), 40, 400)
    ratings = np.clip(np.round(utility + 0.8 * random.normal(size=utility.shape)), 1, 5) - 1
    ratings[order >= n_seen] = np.nan

    others = ratings[n_users:]
    known = ~np.isnan(others)
    counts, mean = known.sum(axis=0), np.nanmean(others)
    base = mean + np.where(known, others - mean, 0).sum(axis=0) / (counts + 5)
    residuals = np.where(known, others - base, 0)
    residuals -= known * residuals.sum(axis=1, keepdims=True) / (known.sum(axis=1)[:, None] + 5)
    _, values, vectors = np.linalg.svd(residuals, full_matrices=False)
    learned = vectors[:8].T * values[:8] / np.sqrt(counts + 5)[:, None]
    columns = (genres, year, np.log1p(counts), base) if plain else (learned, np.log1p(counts), base)
    X = np.column_stack(columns)

    tasks = []
    for user in range(n_users):
        seen = np.flatnonzero(~np.isnan(ratings[user]))
        judged = np.full(len(seen), np.nan)
        drawn = random.permutation(len(seen))[:n_judged]
        judged[drawn] = ratings[user, seen[drawn]]
        tasks.append((X[seen], base[seen], ratings[user, seen], judged))
    return with_unjudged_relevance(tasks)


def standardized(values):
    deviations = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(deviations > 0, deviations, 1)


def ridge(X, base, y, penalty=10.0):
    judged = np.flatnonzero(~np.isnan(y))
    y = y[judged]
    if np.ptp(y) == 0:
        return base
    X, base = standardized(X) / np.sqrt(X.shape[1]), standardized(base)
    residuals = standardized(y) - (base[judged] - base[judged].mean())
    A = X[judged] - X[judged].mean(axis=0)
    return base + X @ (A.T @ np.linalg.solve(A @ A.T + penalty * np.eye(len(A)), residuals))


METHODS = {
    "ridge": ridge,
    "residual": lambda X, base, y: ResidualRefiner().fit(X, y, base_scores=base).predict(X, base),
    "boosting": lambda X, base, y: RankingRefiner().fit(X, y, base_scores=base).predict(X),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few queries, as a smoke test")
    n_tasks = 5 if parser.parse_args().quick else None
    sets = {}
    if os.environ.get("SKLRANK_DATA"):
        sets |= {f"MQ2008, {n} judged": lambda n=n: mq2008(n) for n in (5, 10, 15, 20)}
    sets |= {f"recommender, {n} judged": lambda n=n: recommender(n) for n in (5, 10, 20)}
    for n in (10, 20):
        sets[f"films, plain features, {n}"] = lambda n=n: films(n, plain=True)
        sets[f"films, factors, {n}"] = lambda n=n: films(n, plain=False)
    print_header()
    rows = []
    for title, make in sets.items():
        tasks = make()[:n_tasks]

        def ndcg(score, tasks=tasks):
            values = []
            for X, base, relevance, y in tasks:
                rest = np.isnan(y)
                values.append(ndcg_score(relevance[rest], score(X, base, y)[rest], k=10))
            return np.array(values)

        before = ndcg(lambda X, base, y: base)
        row = [title, len(tasks), f"{before.mean():.4f}"]
        for method in METHODS.values():
            gains = ndcg(method) - before
            row.append(f"{gains.mean():+.4f} +- {gains.std(ddof=1) / np.sqrt(len(gains)):.4f}")
        rows.append(row)
    print_table("NDCG@10 of documents not judged", ["data", "queries", "base", *METHODS], rows)


if __name__ == "__main__":
    main()

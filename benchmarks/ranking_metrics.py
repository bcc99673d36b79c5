"""Metrics of document rankings: CPU time for one million documents, against ranx.

The samples of a query are adjacent or shuffled; "tied" has adjacent samples and few distinct
scores. ranx reads its own data structures, which take seconds to fill; only its metric is timed,
after a first call that compiles it.

    python benchmarks/ranking_metrics.py [--quick]
"""

import argparse

import numpy as np
from _common import Stopwatch, print_header, print_table

from sklrank import metrics

METRICS = {
    "NDCG@10": (metrics.ndcg_score, {"k": 10}, "ndcg_burges@10"),
    "MAP": (metrics.average_precision_score, {}, "map"),
    "MRR": (metrics.reciprocal_rank_score, {}, "mrr"),
    "precision@10": (metrics.precision_at_k_score, {"k": 10}, "precision@10"),
    "recall@10": (metrics.recall_at_k_score, {"k": 10}, "recall@10"),
    "hit rate@10": (metrics.hit_rate_score, {"k": 10}, "hit_rate@10"),
}


def seconds_of(call, *arguments, **options):
    """Return the CPU time of the second of two calls."""
    call(*arguments, **options)
    watch = Stopwatch()
    with watch:
        call(*arguments, **options)
    return watch.seconds


def ranx_seconds(y, scores, qid):
    """Return the CPU time of each metric of ranx; none if it is not installed."""
    try:
        from ranx import Qrels, Run, evaluate
    except ImportError:
        return {}
    judged, ranked = {}, {}
    for i, query in enumerate(qid.tolist()):
        judged.setdefault(str(query), {})[str(i)] = int(y[i])
        ranked.setdefault(str(query), {})[str(i)] = float(scores[i])
    judged, ranked = Qrels(judged), Run(ranked)
    names = [name for _, _, name in METRICS.values()]
    return {name: seconds_of(evaluate, judged, ranked, name) for name in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, as a smoke test")
    n_samples = 10_000 if parser.parse_args().quick else 1_000_000
    print_header()
    random = np.random.default_rng(0)
    y = random.integers(0, 5, n_samples)
    scores = random.normal(size=n_samples)
    adjacent = np.repeat(np.arange(n_samples // 100), 100)
    shuffled = random.permutation(adjacent)
    of_ranx = ranx_seconds(y, scores, adjacent)
    rows = []
    for title, (metric, options, name) in METRICS.items():
        times = [
            seconds_of(metric, y, of_scores, qid=qid, **options)
            for qid, of_scores in (
                (adjacent, scores),
                (shuffled, scores),
                (adjacent, scores.round(1)),
            )
        ]
        rows.append([title, *(f"{t:.3f}" for t in times), f"{of_ranx.get(name, np.nan):.3f}"])
    columns = ["metric", "adjacent", "shuffled", "tied", "ranx"]
    print_table(f"CPU seconds, {n_samples} documents in queries of 100", columns, rows)


if __name__ == "__main__":
    main()

"""Orders of documents with tied scores, and values of metrics by a loop over queries."""

from itertools import groupby, permutations, product
from statistics import mean


def orders(grades, scores):
    """Return all orders of the documents in which no score increases."""
    ranked = sorted(zip(scores, grades), key=lambda pair: -pair[0])
    groups = [[y for _, y in group] for _, group in groupby(ranked, key=lambda pair: pair[0])]
    for parts in product(*map(permutations, groups)):
        yield [y for part in parts for y in part]


def stable_order(grades, scores):
    return [y for _, y in sorted(zip(scores, grades), key=lambda pair: -pair[0])]


TIES = {
    "average": lambda value, grades, scores: mean(map(value, orders(grades, scores))),
    "stable": lambda value, grades, scores: value(stable_order(grades, scores)),
    "worst": lambda value, grades, scores: min(map(value, orders(grades, scores))),
}


def by_query(value, documents, ties):
    """Apply `value(ordered grades)` to each query, in the order of the ids."""
    y, scores, qid = documents
    return [
        TIES[ties](value, y[qid == q].tolist(), scores[qid == q].tolist()) for q in sorted(set(qid))
    ]

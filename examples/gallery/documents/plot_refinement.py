"""
======================================
A few judgements refine a base ranking
======================================

A collaborative filter ranks items for a user. The user has rated some items, and
:class:`~sklrank.boosting.ResidualRefiner` combines both sources, as does the boosting of
:class:`~sklrank.boosting.RankingRefiner`. The figure shows NDCG of the items
that were *not* rated, by the number of ratings: the mean over 20 users.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.boosting import RankingRefiner, ResidualRefiner
from sklrank.datasets import make_recommender
from sklrank.metrics import ndcg_score

numbers = (5, 10, 20, 40)


def corrected(X, ratings, base):
    """Return the base scores plus a linear correction."""
    return ResidualRefiner().fit(X, ratings, base_scores=base).predict(X, base_scores=base)


def boosted(X, ratings, base):
    """Return scores boosted by the product of both losses; the base scores are a feature."""
    X = np.column_stack([X, base])
    return RankingRefiner(X.shape[1] - 1, random_state=0).fit(X, ratings).predict(X)


methods = {
    "base ranking": lambda X, ratings, base: base,
    "refined by a correction": corrected,
    "refined by boosting (MRR)": boosted,
}
ndcg = {name: [] for name in methods}
for n_rated in numbers:
    X, ratings, relevance, user, base = make_recommender(20, 100, n_rated=n_rated, random_state=0)
    for name, method in methods.items():
        values = []
        for one in np.unique(user):
            rows = user == one
            scores = method(X[rows], ratings[rows], base[rows])
            rest = np.isnan(ratings[rows])
            truth = relevance[rows][rest]
            if truth.any():
                values.append(ndcg_score(truth, scores[rest], k=10))
        ndcg[name].append(values)

# %%
# Intervals are 95 % intervals of the difference to the base ranking.
figure, ax = plt.subplots(figsize=(6.5, 4))
for place, (name, values) in enumerate(ndcg.items()):
    means = np.array([np.mean(each) for each in values])
    print(f"{name:<34}", *means.round(3))
    if name == "base ranking":
        ax.plot(numbers, means, "s--", color="0.45", label=name)
        continue
    differences = [np.subtract(*pair) for pair in zip(values, ndcg["base ranking"])]
    errors = [1.96 * each.std() / np.sqrt(len(each)) for each in differences]
    places = np.multiply(numbers, 1 + 0.03 * place)
    ax.errorbar(places, means, errors, fmt="o-", capsize=4, label=name)
ax.set(xscale="log", xlabel="ratings of the user", ylabel="NDCG@10 of the other items")
ax.set_xticks(numbers, numbers)
ax.minorticks_off()
ax.legend()

"""
======================================
A few judgements refine a base ranking
======================================

A collaborative filter ranks items for a user. The user has rated some items, and
:class:`~sklrank.boosting.RankingRefiner` combines both sources. The figure shows NDCG of the items
that were *not* rated, by the number of ratings: the mean over 20 users, with 95 % intervals of the
difference to the base ranking.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from sklrank.boosting import RankingRefiner
from sklrank.datasets import make_recommender
from sklrank.metrics import ndcg_score

numbers = (5, 10, 20, 40)
means, intervals, bases = [], [], []
for n_rated in numbers:
    X, ratings, relevance, user, base_scores = make_recommender(
        20, 100, n_rated=n_rated, random_state=0
    )
    X = np.column_stack([X, base_scores])
    values = []
    for one in np.unique(user):
        rows = user == one
        refiner = RankingRefiner(
            X.shape[1] - 1,
            DecisionTreeClassifier(max_depth=1),
            50,
            noise="auto",
            learning_rate=0.2,
            response_method="predict_proba",
            weighting="resampling",
            max_samples=10,
            random_state=0,
        )
        scores = refiner.fit(X[rows], ratings[rows]).predict(X[rows])
        rest = np.isnan(ratings[rows])
        truth = relevance[rows][rest]
        if not truth.any():
            continue
        values.append([ndcg_score(truth, each[rest], k=10) for each in (base_scores[rows], scores)])
    base, refined = np.transpose(values)
    difference = refined - base
    bases.append(base.mean())
    means.append(refined.mean())
    intervals.append(1.96 * difference.std() / np.sqrt(len(difference)))
    print(f"{n_rated} ratings: {base.mean():.3f} -> {refined.mean():.3f}")

# %%
figure, ax = plt.subplots(figsize=(6.5, 4))
ax.plot(numbers, bases, "s--", color="0.45", label="base ranking")
ax.errorbar(numbers, means, intervals, fmt="o-", capsize=4, label="refined")
ax.set(xscale="log", xlabel="ratings of the user", ylabel="NDCG@10 of the other items")
ax.set_xticks(numbers, numbers)
ax.minorticks_off()
ax.legend()

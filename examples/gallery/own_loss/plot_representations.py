"""
============================
Representations of a ranking
============================

Predtron represents a ranking by the vector of the values f(position). The function f determines how
far the scores must be apart: a position at which f decreases fast needs little. The figure shows
the NDCG loss of new queries by the number of training queries, as Figure 1(a) of the paper (Jain,
Natarajan and Tewari, 2015), for data that some weights rank without error.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.datasets import make_subset_ranking
from sklrank.linear_model import PredtronQueryRanker
from sklrank.metrics import ndcg_score

numbers = (1, 5, 10, 20, 40, 80)
representations = {
    "-i^1.1": {"representation": "power", "power": 1.1},
    "-i^2": {"representation": "power", "power": 2.0},
    "1/i": {"representation": "reciprocal"},
}
losses = np.zeros((len(representations), len(numbers), 4))
for seed in range(4):
    X, y, qid = make_subset_ranking(130, random_state=seed)
    test = qid >= 80
    for i, options in enumerate(representations.values()):
        for j, number in enumerate(numbers):
            rows = qid < number
            ranker = PredtronQueryRanker(**options, shuffle=False).fit(
                X[rows], y[rows], qid=qid[rows]
            )
            losses[i, j, seed] = 1 - ndcg_score(y[test], ranker.predict(X[test]), qid=qid[test])

# %%
# Bars are standard errors over four seeds.
figure, ax = plt.subplots(figsize=(6.5, 4))
for name, values in zip(representations, losses):
    ax.errorbar(
        numbers,
        values.mean(axis=1),
        values.std(axis=1, ddof=1) / 2,
        fmt="o-",
        capsize=3,
        label=name,
    )
ax.set(xlabel="training queries", ylabel="NDCG loss of 50 new queries", ylim=(0, None))
ax.legend(title="f(i)")

"""
===================
Incomplete rankings
===================

Users rarely rank everything. Here labels are removed from the training rankings at random, and the
rankers are scored on complete rankings of held-out samples.
:class:`~sklrank.label_ranking.PairwiseRanker` uses each comparison that is left.
:class:`~sklrank.label_ranking.LabelwiseRanker` with ``incomplete="relative"`` learns the position
among the labels that are ranked.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from sklrank.datasets import hide_labels, make_sparse_label_ranking
from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker
from sklrank.metrics import kendall_tau_score

X, Y, Y_clean, _ = make_sparse_label_ranking(
    2000, 20, 6, n_informative=6, noise="mallows", theta=1.5, random_state=0, return_clean=True
)
train, test = slice(0, 600), slice(600, None)
shares = np.array([1.0, 0.8, 0.6, 0.5, 0.4])
rankers = {
    "pairwise, logistic regression": PairwiseRanker(LogisticRegression()),
    'labelwise, incomplete="relative"': LabelwiseRanker(Ridge(), incomplete="relative"),
}
scores = np.zeros((len(rankers), len(shares), 3))
for j, share in enumerate(shares):
    for seed in range(3):
        known = hide_labels(Y[train], share, random_state=seed)
        for i, ranker in enumerate(rankers.values()):
            predicted = ranker.fit(X[train], known).predict(X[test])
            scores[i, j, seed] = kendall_tau_score(Y_clean[test], predicted)

# %%
# Bands are one standard deviation over three random choices of the hidden labels.
figure, ax = plt.subplots(figsize=(6.5, 4))
for name, values in zip(rankers, scores):
    mean, spread = values.mean(axis=1), values.std(axis=1)
    line = ax.plot(100 * (1 - shares), mean, "o-", label=name)[0]
    ax.fill_between(
        100 * (1 - shares), mean - spread, mean + spread, color=line.get_color(), alpha=0.2
    )
ax.set(xlabel="labels that are not ranked (%)", ylabel="Kendall's tau on complete rankings")
ax.legend()

"""
======================
Label rankers compared
======================

The target of each sample is a ranking of four labels. The rankers learn positions
(:class:`~sklrank.label_ranking.LabelwiseRanker`), comparisons of two labels
(:class:`~sklrank.label_ranking.PairwiseRanker`) or both
(:class:`~sklrank.label_ranking.StackedRanker`). Kendall's tau on held-out samples is 1 for the
right order and 0 on average for random orders.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklrank.datasets import label_ranking_from_regression
from sklrank.label_ranking import LabelwiseRanker, PairwiseRanker, StackedRanker
from sklrank.metrics import kendall_tau_scorer

X, Y = label_ranking_from_regression(load_diabetes().data, labels=4, random_state=0)
print(f"{X.shape[0]} samples, {X.shape[1]} features; first ranking (positions): {Y[0]}")
members = {
    "labelwise\nridge": LabelwiseRanker(make_pipeline(StandardScaler(), Ridge())),
    "labelwise\nforest": LabelwiseRanker(RandomForestRegressor(20, random_state=0)),
    "pairwise\nlogistic": PairwiseRanker(make_pipeline(StandardScaler(), LogisticRegression())),
    "pairwise\nforest": PairwiseRanker(RandomForestClassifier(20, random_state=0)),
}
stacked = StackedRanker([(name.replace("\n", " "), m) for name, m in members.items()], cv=2)
folds = KFold(3, shuffle=True, random_state=0)
scores = {
    name: cross_val_score(model, X, Y, cv=folds, scoring=kendall_tau_scorer)
    for name, model in {**members, "stacked\nall four": stacked}.items()
}

# %%
# Each dot is a fold; the line is the mean. The weights of the stack are estimated, too: with few
# samples, the best member alone may rank better.
figure, ax = plt.subplots(figsize=(7.5, 3.8))
for place, values in enumerate(scores.values()):
    ax.plot(np.full(len(values), place), values, "o", alpha=0.7)
    ax.hlines(values.mean(), place - 0.25, place + 0.25, color="black")
    ax.annotate(f"{values.mean():.3f}", (place + 0.28, values.mean()), va="center", fontsize=9)
ax.set_xticks(range(len(scores)), scores)
ax.set(ylabel="Kendall's tau of a fold", xlim=(-0.5, len(scores) - 0.3))
ax.grid(axis="x", visible=False)

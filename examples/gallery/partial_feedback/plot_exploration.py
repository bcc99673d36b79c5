"""
========================
What does exploring cost
========================

A sample that explores shows random labels: fewer of them are relevant, but the ranker learns about
labels that it would not have shown. The left figure shows the click rate, including the random
lists. The right figure shows the rank loss of the learned scores, for all labels. Too little
exploration hurts the ranking of labels that are rarely shown; too much hurts the visitors.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.linear_model import SemiBanditRanker
from sklrank.metrics import rank_loss

X, Y = make_multilabel_ranking_stream(3000, n_labels=15, cardinality=3.0, random_state=0)
rates = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
schemes = ("uniform", "single-swap")
clicks = np.zeros((len(schemes), len(rates), 2))
losses = np.zeros_like(clicks)
for i, scheme in enumerate(schemes):
    for j, rate in enumerate(rates):
        for seed in range(2):
            options = {"exploration": rate, "randomization": scheme, "random_state": seed}
            ranker = SemiBanditRanker(k=3, **options)
            rewards = []
            for batch in np.array_split(np.arange(2500), 100):
                shown = ranker.explore(X[batch], classes=range(15))
                clicked = np.take_along_axis(Y[batch], shown.actions, axis=1)
                ranker.partial_fit_feedback(X[batch], shown, clicked)
                rewards.append(clicked.mean())
            clicks[i, j, seed] = np.mean(rewards)
            losses[i, j, seed] = rank_loss(Y[2500:], ranker.decision_function(X[2500:]))

# %%
# Points are two seeds, lines their means.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
for ax, values, name in zip(axes, (clicks, losses), ("click rate", "rank loss of new samples")):
    for i, scheme in enumerate(schemes):
        line = ax.plot(rates, values[i].mean(axis=1), label=scheme)[0]
        ax.plot(rates, values[i], "o", color=line.get_color(), markersize=3)
    ax.set(xscale="log", xlabel="exploration", title=name)
axes[0].legend(title="randomization")

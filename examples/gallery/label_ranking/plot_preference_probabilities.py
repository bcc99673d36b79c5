"""
============================
Probabilities of preferences
============================

:class:`~sklrank.label_ranking.PlackettLuceRanker` is a model of probabilities: rankings are drawn
from best to worst, and a label is drawn in proportion to the exponential of its score. The figure
shows how the probability that a label is the best one changes with a feature, beside the shares of
the rankings in which it is.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import softmax

from sklrank.datasets import sample_plackett_luce
from sklrank.label_ranking import PlackettLuceRanker

rng = np.random.RandomState(0)
x = rng.uniform(-2, 2, size=3000)
truth = np.column_stack([2 * x, -2 * x, np.cos(2 * x), np.full_like(x, 0.5)])
Y = sample_plackett_luce(truth, random_state=0)
names = ("hot tea", "ice cream", "apple", "bread")
models = {
    "linear": PlackettLuceRanker(),
    "rbf": PlackettLuceRanker(kernel="rbf", gamma=1.0, random_state=0),
}

# %%
# Dots are shares in bins of the feature; dotted lines are the true probabilities. The linear model
# cannot follow the label whose score is a cosine.
place = np.linspace(-2, 2, 100)
bins = np.digitize(x, np.linspace(-2, 2, 13)[1:-1])
middles = np.linspace(-2, 2, 13)[:-1] + 1 / 6
true_scores = np.column_stack([2 * place, -2 * place, np.cos(2 * place), np.full_like(place, 0.5)])
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), sharey=True)
for ax, (kernel, model) in zip(axes, models.items()):
    model.fit(x[:, np.newaxis], Y)
    scores = model.decision_function(place[:, np.newaxis])
    for label, name in enumerate(names):
        best = Y[:, label] == 1
        shares = [best[bins == each].mean() for each in range(12)]
        line = ax.plot(place, softmax(scores, axis=1)[:, label], label=name)[0]
        ax.plot(middles, shares, "o", color=line.get_color(), markersize=4)
        ax.plot(place, softmax(true_scores, axis=1)[:, label], ":", color=line.get_color())
    ax.set(title=f'kernel="{kernel}"', xlabel="feature")
axes[0].set(ylabel="probability of the first place", ylim=(0, 1))
axes[1].legend(loc="upper center")

"""
=======================================
Propensities of the exploration schemes
=======================================

A propensity is the probability that a label is shown. Losses of the labels shown, divided by their
propensities, are unbiased estimates of the losses of all labels: hence propensities must be exact,
and no label may have a propensity of zero. The figure shows those of eight labels, in the order of
their scores, of which three are shown.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.feedback import explore

scores, exact = np.tile(-np.arange(8.0), (4000, 1)), np.zeros(8)
figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.6), sharey=True)
for ax, name in zip(axes, ("uniform", "single-swap")):
    shown = explore(scores, 3, name, exploration=0.3, random_state=0)
    observed = np.bincount(shown.actions.ravel(), minlength=8) / 4000
    # The record has the exact propensities of the labels that were shown, here each of them.
    exact[shown.actions] = np.diagonal(shown.propensities, axis1=1, axis2=2)
    ax.bar(np.arange(1, 9), exact, width=0.7, label="exact")
    ax.plot(np.arange(1, 9), observed, "D", color="black", markersize=4, label="4000 draws")
    ax.set(title=f'"{name}", exploration=0.3', xlabel="label, by score")
axes[0].set(ylabel="propensity")
axes[1].legend()

# %%
# `explore` also returns the probability that two labels are shown together, which estimates of
# losses of pairs are divided by. Its diagonal contains the probabilities of single labels.
print(shown.propensities[0].round(3))

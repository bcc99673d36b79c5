"""
=============================
Which positions are confused?
=============================

A single number such as Kendall's tau hides where a ranker errs. The matrix counts, for the labels
at each true position, the positions that the ranker gives them. Ends of rankings are usually easier
than their middle.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import cross_val_predict

from sklrank.datasets import label_ranking_from_classification
from sklrank.label_ranking import LabelwiseRanker
from sklrank.metrics import kendall_tau_score

X, y = load_digits(n_class=8, return_X_y=True)
X, Y = label_ranking_from_classification(X[:800], y[:800])
ranker = LabelwiseRanker(ExtraTreesRegressor(40, random_state=0))
predicted = cross_val_predict(ranker, X, Y, cv=3)
print(f"Kendall's tau: {kendall_tau_score(Y, predicted):.3f}")

# %%
# Rows are true positions and sum to 100 %.
n_labels = Y.shape[1]
counts = np.zeros((n_labels, n_labels))
np.add.at(counts, (Y.astype(int).ravel() - 1, predicted.ravel() - 1), 1)
shares = 100 * counts / counts.sum(axis=1, keepdims=True)
figure, ax = plt.subplots(figsize=(5.6, 4.8))
image = ax.imshow(shares, cmap="cividis", vmin=0, vmax=100)
for (true, guess), share in np.ndenumerate(shares):
    if share >= 0.5:
        color = "black" if share > 55 else "white"
        ax.text(guess, true, f"{share:.0f}", ha="center", va="center", color=color, fontsize=9)
ax.set_xticks(range(n_labels), range(1, n_labels + 1))
ax.set_yticks(range(n_labels), range(1, n_labels + 1))
ax.grid(False)
ax.set(xlabel="predicted position", ylabel="true position", title="share of labels (%)")
figure.colorbar(image, ax=ax)

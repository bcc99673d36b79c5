"""
=================================
Six labels and six hundred points
=================================

Only three points of each moon have labels (large symbols). A classifier of the labeled points alone
cannot see the moons. :class:`~sklrank.semi_supervised.MCSSBClassifier` uses the similarity of
neighbors, :class:`~sklrank.semi_supervised.AssembleClassifier` the margins of its own predictions.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from sklrank.semi_supervised import AssembleClassifier, MCSSBClassifier

X, truth = make_moons(600, noise=0.09, random_state=0)
labeled = np.concatenate([np.flatnonzero(truth == c)[[0, 40, 80]] for c in (0, 1)])
y = np.full(len(X), -1)
y[labeled] = truth[labeled]
tree = DecisionTreeClassifier(max_depth=2, random_state=0)
models = {
    "AdaBoost, labeled points only": AdaBoostClassifier(tree, random_state=0).fit(
        X[labeled], y[labeled]
    ),
    "ASSEMBLE": AssembleClassifier(tree, random_state=0).fit(X, y),
    "MCSSB": MCSSBClassifier(random_state=0).fit(X, y),
}

# %%
grid = np.stack(np.meshgrid(np.linspace(-1.6, 2.6, 160), np.linspace(-1.2, 1.7, 120)), axis=-1)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True)
for ax, (name, model) in zip(axes, models.items()):
    probability = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(grid.shape[:2])
    ax.contourf(
        grid[..., 0], grid[..., 1], probability > 0.5, levels=1, colors=["#cfe3f1", "#f8dcc8"]
    )
    for c, (color, marker) in enumerate((("#0072B2", "o"), ("#D55E00", "^"))):
        ax.plot(*X[truth == c].T, ".", color=color, markersize=3)
        ax.plot(*X[labeled[truth[labeled] == c]].T, marker, color=color, markersize=11, mec="black")
    error = np.mean(model.predict(X) != truth)
    ax.set(title=f"{name}\nerror {error:.1%}", xticks=[], yticks=[])
    ax.grid(False)

"""
==================
Honest leaf values
==================

A tree that chooses its splits and its leaf values with the same samples adapts to their noise. An
honest tree chooses the splits with one half of the samples and the leaf values with the other half,
so that each value is an unbiased estimate of the mean of its leaf. It pays for that with fewer
samples; a forest of honest trees gets them back.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.tree import HonestForestRegressor, HonestTreeRegressor

rng = np.random.RandomState(0)
X = rng.uniform(size=(400, 1))
y = np.sin(6 * X[:, 0]) + rng.normal(scale=0.5, size=len(X))
models = {
    "tree": HonestTreeRegressor(honest=False, min_samples_leaf=5, random_state=0),
    "honest tree": HonestTreeRegressor(min_samples_leaf=5, random_state=0),
    "honest forest": HonestForestRegressor(100, min_samples_leaf=5, random_state=0),
}
place = np.linspace(0, 1, 500)[:, np.newaxis]
truth = np.sin(6 * place[:, 0])
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True)
for ax, (name, model) in zip(axes, models.items()):
    predicted = model.fit(X, y).predict(place)
    rmse = np.sqrt(np.mean((predicted - truth) ** 2))
    ax.plot(X, y, ".", color="0.75", markersize=4)
    ax.plot(place, truth, "k--", linewidth=1, label="mean of y")
    ax.plot(place, predicted, color="#D55E00", label="prediction")
    ax.set(title=f"{name}\nroot mean squared error {rmse:.3f}", xlabel="x")
axes[0].set(ylabel="y")
axes[0].legend(fontsize="small")

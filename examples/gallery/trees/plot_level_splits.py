"""
============================
Few features among thousands
============================

The target depends on three of many 0/1 features. A tree with level splits uses all samples to
choose the split of a whole level, while other trees choose the split of each cell with the samples
of that cell only. So it finds the relevant features when there are many others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from sklrank.tree import LevelSplitsRegressor

numbers = (10, 100, 1000, 3000)
models = {
    "level splits": LevelSplitsRegressor(max_depth=3),
    "tree of depth 3": DecisionTreeRegressor(max_depth=3, random_state=0),
    "forest of 20 trees": RandomForestRegressor(20, max_features=1 / 3, random_state=0),
}
errors = np.zeros((len(models), len(numbers), 5))
for j, number in enumerate(numbers):
    for seed in range(5):
        rng = np.random.RandomState(seed)
        X = rng.randint(2, size=(600, number)).astype(float)
        truth = X[:, 0] + X[:, 1] * X[:, 2]
        y = truth + rng.normal(scale=1.0, size=len(X))
        for i, model in enumerate(models.values()):
            if i == 2 and number > 1000:
                errors[i, j, seed] = np.nan
                continue
            predicted = model.fit(X[:300], y[:300]).predict(X[300:])
            errors[i, j, seed] = np.sqrt(np.mean((predicted - truth[300:]) ** 2))

# %%
# The error is that of the predicted mean: with the noise of the targets removed. Bars are standard
# errors over five data sets. The forest is left out for 3000 features, to save time.
figure, ax = plt.subplots(figsize=(6.5, 4))
for name, values in zip(models, errors):
    ax.errorbar(
        numbers,
        values.mean(axis=1),
        values.std(axis=1, ddof=1) / np.sqrt(5),
        fmt="o-",
        capsize=3,
        label=name,
    )
ax.set(xscale="log", xlabel="features, of which three are relevant", ylim=(0, None))
ax.set(ylabel="root mean squared error of 300 new samples")
ax.legend()

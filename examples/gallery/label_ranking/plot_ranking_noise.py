"""
==========================
Noise of training rankings
==========================

Rankings of a Mallows model are permutations around a center: with a small `theta` they are nearly
random. The rankers learn from such noisy rankings and are scored on the clean ones. Fully grown
trees learn the noise; a forest averages it out; a linear model has the fewest degrees of freedom,
and is the best one here because the clean scores are linear.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from sklrank.datasets import make_sparse_label_ranking
from sklrank.label_ranking import LabelwiseRanker
from sklrank.metrics import kendall_tau_score

thetas = (0.1, 0.25, 0.5, 1.0, 2.0)
models = {
    "ridge regression": Ridge(),
    "forest of 50 trees": RandomForestRegressor(50, random_state=0),
    "tree": DecisionTreeRegressor(random_state=0),
}
scores, quality = {name: [] for name in models}, []
for theta in thetas:
    X, Y, Y_clean, _ = make_sparse_label_ranking(
        1500, 20, 5, n_informative=5, noise="mallows", theta=theta, random_state=0,
        return_clean=True,
    )  # fmt: skip
    quality.append(kendall_tau_score(Y_clean, Y))
    for name, model in models.items():
        predicted = LabelwiseRanker(model).fit(X[:1000], Y[:1000]).predict(X[1000:])
        scores[name].append(kendall_tau_score(Y_clean[1000:], predicted))

# %%
# The dotted line is the agreement of the training rankings with the clean ones: models above it
# have removed noise.
figure, ax = plt.subplots(figsize=(6.5, 4))
for name, values in scores.items():
    ax.plot(thetas, values, "o-", label=name)
ax.plot(thetas, quality, "k:", label="training rankings")
ax.set(
    xscale="log", xlabel="theta of the Mallows noise", ylabel="Kendall's tau with clean rankings"
)
ax.set_xticks(thetas, thetas)
ax.minorticks_off()
ax.legend()
print("training rankings:", np.round(quality, 2))

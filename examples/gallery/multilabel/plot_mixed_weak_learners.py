"""
====================================
Weights of weak learners that differ
====================================

Weak learners of different kinds vote together in one booster. Each one receives the costs in the
form that it understands: a tree and naive Bayes learn single labels with importance weights, while
scikit-learn's `MultiOutputClassifier` learns rows of the indicator matrix. The empirical edge of a
weak learner (Jung & Tewari, 2018, Equation 10) measures how much better than random guessing its
votes are on the costs that it received. The booster learns the weights.

All samples are scored before they are learned. For comparison, each weak learner is also the only
one of a booster.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR
from sklrank.tree import HoeffdingTreeClassifier

X, Y = make_multilabel_ranking_stream(400, n_features=8, n_labels=4, noise=0.3, random_state=0)
learners = {
    "MultiOutputClassifier of SGD": MultiOutputClassifier(SGDClassifier(loss="log_loss")),
    "Hoeffding tree": HoeffdingTreeClassifier(grace_period=25, delta=1e-2),
    "Gaussian naive Bayes": GaussianNB(var_smoothing=1e-2),
}
mixture = AdaOLMR(list(learners.values()), random_state=0)
losses = {"all together": rank_loss(Y, mixture.progressive_fit(X, Y), average=False)}
for name, learner in learners.items():
    alone = AdaOLMR([learner], random_state=0)
    losses[name] = rank_loss(Y, alone.progressive_fit(X, Y), average=False)

print(f"{'weak learner':30} weight   edge  rank loss alone")
for name, weight, edge in zip(learners, mixture.estimator_weights_, mixture.empirical_edges_):
    print(f"{name:30} {weight:6.2f} {edge:6.3f} {losses[name].mean():16.3f}")
print(f"{'all together':30} {'':6} {'':6} {losses['all together'].mean():16.3f}")

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.8), width_ratios=(1, 1.3), layout="constrained"
)
places = np.arange(len(learners))
for offset, label, values in (
    (-0.2, "weight", mixture.estimator_weights_),
    (0.2, "empirical edge", mixture.empirical_edges_),
):
    bars = left.barh(places + offset, values, height=0.38, label=label)
    left.bar_label(bars, fmt="%.2f", padding=2, fontsize="small")
left.set_yticks(places, [name.replace(" of", "\nof") for name in learners])
left.invert_yaxis()
left.margins(x=0.2)
left.grid(axis="y", visible=False)
left.legend(loc="lower right", fontsize="small")
rounds = np.arange(1, len(X) + 1)
for name, of_samples in losses.items():
    style = {"color": "black", "linewidth": 2} if name == "all together" else {}
    right.plot(rounds[30:], (np.cumsum(of_samples) / rounds)[30:], label=name, **style)
right.set(xlabel="samples", ylabel="mean rank loss so far")
right.legend(fontsize="small")

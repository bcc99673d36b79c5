"""
===========================
Mistakes of bandit learners
===========================

In each round, a bandit classifier shows one class and observes only whether it is right. After a
mistake it does not know which class would have been right. The figure counts mistakes along one
pass over the digits: a flat line has stopped erring. The classifier with full information, which
sees the class of each sample, is for comparison. Banditron takes first-order steps and explores at
random: it needs many more rounds than there are here.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

from sklrank.linear_model import BanditronClassifier, LinUCBClassifier, PredtronClassifier

X, y = shuffle(*load_digits(return_X_y=True), random_state=0)
models = {
    "LinUCB, random features": LinUCBClassifier(random_state=0),
    "LinUCB, linear": LinUCBClassifier(kernel="linear", random_state=0),
    "Banditron, exploration=0.1": BanditronClassifier(random_state=0),
    'Banditron, "decay"': BanditronClassifier(exploration="decay", random_state=0),
}


def mistakes(model):
    """Return for each round whether the class shown was wrong."""
    wrong = np.zeros(len(X), dtype=bool)
    for i in range(len(X)):
        shown = model.explore(X[i : i + 1], classes=range(10))
        right = shown.actions == y[i : i + 1]
        model.partial_fit_feedback(X[i : i + 1], shown, right)
        wrong[i] = not right[0]
    return wrong


wrong = {name: mistakes(model) for name, model in models.items()}
perceptron = PredtronClassifier()
wrong["perceptron, full information"] = perceptron.progressive_fit(X, y).argmax(axis=1) != y

# %%
figure, ax = plt.subplots(figsize=(7.5, 4.2))
for name, mistake in wrong.items():
    style = "--" if "full" in name else "-"
    ax.plot(np.arange(1, len(X) + 1), mistake.cumsum(), style, label=name)
ax.plot([0, len(X)], [0, 0.9 * len(X)], color="0.7", linestyle=":", label="random classes")
ax.set(xlabel="rounds", ylabel="mistakes so far", ylim=(0, 1600))
ax.legend(fontsize="small")
for name, mistake in wrong.items():
    print(f"{name:<30} all rounds {mistake.mean():.3f}, last 500 {mistake[-500:].mean():.3f}")

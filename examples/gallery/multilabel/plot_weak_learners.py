"""
==================================
Boosting classifiers of many kinds
==================================

Any classifier whose `partial_fit` accepts classes and weights can be a weak learner: trees and
linear models of this package, which run compiled, or scikit-learn's. The bars show the rank loss on
two streams. In the first, the scores of the labels are linear functions of the features. In the
second, they contain products, which no linear model can learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.linear_model import OnlineLogisticRegression
from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR
from sklrank.tree import HoeffdingTreeClassifier

learners = {
    "default": AdaOLMR(),
    "50 trees": AdaOLMR("trees", n_estimators=50),
    "5 logistic regressions": AdaOLMR(OnlineLogisticRegression(), n_estimators=5),
    "2 GaussianNB": AdaOLMR(GaussianNB(), n_estimators=2),
    "a tree and a linear model": AdaOLMR([HoeffdingTreeClassifier(), OnlineLogisticRegression()]),
}
functions = ("linear", "interaction")
losses = np.zeros((len(functions), len(learners)))
for i, function in enumerate(functions):
    X, Y = make_multilabel_ranking_stream(
        1500, n_features=8, n_labels=6, function=function, noise=0.3, random_state=0
    )
    for j, model in enumerate(learners.values()):
        scores = (
            model.set_params(random_state=0).fit(X[:1000], Y[:1000]).decision_function(X[1000:])
        )
        losses[i, j] = rank_loss(Y[1000:], scores)

# %%
figure, ax = plt.subplots(figsize=(7.5, 3.8))
places = np.arange(len(learners))
for i, function in enumerate(functions):
    bars = ax.barh(places + (i - 0.5) * 0.38, losses[i], height=0.36, label=function)
    ax.bar_label(bars, fmt="%.2f", padding=2, fontsize="small")
ax.set_yticks(places, learners)
ax.invert_yaxis()
ax.axvline(0.5, color="0.5", linestyle=":")
ax.set(xlabel="rank loss of 500 new samples (random: 0.5)", xlim=(0, 0.55))
ax.grid(axis="y", visible=False)
ax.legend(title="scores of the stream", loc="lower right")

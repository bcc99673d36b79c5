"""
================================
Are pair probabilities reliable?
================================

:class:`~sklrank.label_ranking.PairwiseRanker` predicts for each pair of labels the probability that
the first one is ranked before the second. If these probabilities are reliable, then among the pairs
with a probability of 0.8, about 80 % are in this order. A forest with large leaves shrinks the
probabilities towards one half: its curve is steeper than the diagonal.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from sklrank.datasets import make_sparse_label_ranking
from sklrank.label_ranking import PairwiseRanker

X, Y = make_sparse_label_ranking(
    2500, 20, 5, n_informative=8, noise="mallows", theta=0.8, random_state=0
)
models = {
    "logistic regression": LogisticRegression(),
    "forest": RandomForestClassifier(50, random_state=0),
    "forest, leaves of 20 samples": RandomForestClassifier(50, min_samples_leaf=20, random_state=0),
}
edges = np.linspace(0, 1, 11)
figure, ax = plt.subplots(figsize=(5.6, 5))
for name, model in models.items():
    ranker = PairwiseRanker(model).fit(X[:1000], Y[:1000])
    probabilities = np.column_stack(
        [each.predict_proba(X[1000:])[:, 1] for each in ranker.estimators_]
    )
    first, second = ranker.pairs_.T
    comes_first = Y[1000:, first] < Y[1000:, second]
    bins = np.clip(np.digitize(probabilities, edges) - 1, 0, 9)
    count = np.bincount(bins.ravel(), minlength=10)
    kept = count >= 30
    mean = np.bincount(bins.ravel(), probabilities.ravel(), 10)[kept] / count[kept]
    share = np.bincount(bins.ravel(), comes_first.ravel(), 10)[kept] / count[kept]
    ax.plot(mean, share, "o-", label=name)
    loss = np.mean((probabilities - comes_first) ** 2)
    print(f"{name:<30} mean squared error of the probabilities: {loss:.4f}")
ax.plot([0, 1], [0, 1], color="0.6", linestyle=":")
ax.set(xlabel="predicted probability that a comes before b", ylabel="share in which it does")
ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
ax.legend(fontsize="small")

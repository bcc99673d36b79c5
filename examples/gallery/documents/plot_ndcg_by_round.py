"""
=============
NDCG by round
=============

:class:`~sklrank.boosting.HistGradientBoostingRanker` adds one tree in each round. `staged_predict`
yields the scores after each round, from which the curves are computed. With its default parameters,
it chooses the size and the number of trees by the loss of held-out *queries*.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.metrics import ndcg_score
from sklrank.model_selection import query_train_test_split

X, quality = make_friedman1(4000, n_features=15, noise=4.0, random_state=0)
y = np.digitize(quality, np.quantile(quality, [0.7, 0.85, 0.95]))
qid = np.random.RandomState(0).randint(100, size=len(y))
X, X_test, y, y_test, qid, qid_test = query_train_test_split(
    X, y, qid=qid, test_size=0.5, random_state=0
)
print(f"{len(np.unique(qid))} queries for training, {len(np.unique(qid_test))} for testing")

models = {
    name: HistGradientBoostingRanker(
        max_iter=150, max_leaf_nodes=number, init=None, early_stopping=False
    )
    for name, number in {"stumps": 2, "trees of 31 leaves": 31}.items()
}
parts = {"training": (X, y, qid), "test": (X_test, y_test, qid_test)}
curves = {}
for name, model in models.items():
    model.fit(X, y, qid=qid)
    for part, (A, truth, ids) in parts.items():
        curves[name, part] = [
            ndcg_score(truth, scores, qid=ids, k=10) for scores in model.staged_predict(A)
        ]

# %%
# By default, the size and the number of rounds are chosen by held-out queries.
default = HistGradientBoostingRanker(max_iter=150, random_state=0).fit(X, y, qid=qid)
n_rounds = len(default.estimators_)
score = ndcg_score(y_test, default.predict(X_test), qid=qid_test, k=10)
print(f"default: {n_rounds} rounds of trees of {default.max_leaf_nodes_} leaves,", end=" ")
print(f"NDCG@10 of the test queries {score:.3f}")

# %%
# Dotted lines are training queries, solid lines test queries.
figure, ax = plt.subplots(figsize=(7.5, 4.2))
for (name, part), values in curves.items():
    style = ":" if part == "training" else "-"
    color = "C0" if name == "stumps" else "C1"
    ax.plot(np.arange(1, len(values) + 1), values, style, color=color, label=f"{name}, {part}")
ax.plot(n_rounds, score, "k*", markersize=12, label="default parameters")
ax.set(xlabel="rounds", ylabel="NDCG@10", xscale="log")
_ = ax.legend(fontsize="small")

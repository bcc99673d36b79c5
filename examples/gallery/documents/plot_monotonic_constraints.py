"""
=======================================
Monotonic constraints of ranking scores
=======================================

More stars must not make a hotel rank lower, and a higher price must not make it rank higher.
`monotonic_cst` names the features of the data frame. scikit-learn's partial dependence draws the
mean score as a function of a feature. Its functions accept regressors and classifiers only; a
fitted ranker becomes a regressor of its scores in
:class:`~sklearn.compose.TransformedTargetRegressor`.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import PartialDependenceDisplay

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.metrics import ndcg_scorer
from sklrank.model_selection import query_permutation_importance, query_train_test_split

random = np.random.RandomState(0)
qid = np.repeat(np.arange(60), 10)
X = pd.DataFrame(
    {
        "price": random.uniform(20, 200, size=len(qid)),
        "stars": random.randint(1, 6, size=len(qid)).astype(float),
        "kind": pd.Categorical(random.choice(["hostel", "hotel", "resort"], size=len(qid))),
    }
)
quality = 0.5 * X["stars"] - 0.01 * X["price"] + (X["kind"] == "resort")
quality += random.normal(scale=1.0, size=len(qid))
y = np.digitize(quality, np.quantile(quality, [0.6, 0.9]))
X, X_test, y, y_test, qid, qid_test = query_train_test_split(X, y, qid=qid, random_state=0)

rankers = {
    "free": HistGradientBoostingRanker(max_leaf_nodes=8, init=None, early_stopping=False),
    "constrained": HistGradientBoostingRanker(
        max_leaf_nodes=8,
        init=None,
        early_stopping=False,
        monotonic_cst={"price": -1, "stars": 1},
    ),
}

# %%
# With few queries, the free ranker learns the noise of the prices.
figure, axes = plt.subplots(1, 3, figsize=(10, 3.5), sharey=True)
for (name, ranker), color in zip(rankers.items(), ["#999999", "#0072B2"]):
    value = ranker.fit(X, y, qid=qid).score(X_test, y_test, qid=qid_test)
    scores = TransformedTargetRegressor(FrozenEstimator(ranker)).fit(X, y)
    PartialDependenceDisplay.from_estimator(
        scores, X, ["price", "stars"], line_kw={"color": color}, ax=axes[:2]
    )
    axes[0].plot([], color=color, label=f"{name}: NDCG {value:.3f}")
    print(f"{name}: NDCG of new queries {value:.3f}")
PartialDependenceDisplay.from_estimator(
    scores, X, ["kind"], categorical_features=["kind"], ax=axes[2]
)
axes[0].legend(loc="upper right", fontsize="small")
figure.tight_layout()

# %%
# Permuting a feature of the held-out documents shows how much NDCG depends on it.
permuted = query_permutation_importance(
    rankers["constrained"], X_test, y_test, qid=qid_test, scoring=ndcg_scorer, random_state=0
)
for name, mean, std in zip(X.columns, permuted.importances_mean, permuted.importances_std):
    print(f"{name:6} {mean:.3f} +- {std:.3f}")

"""
==============================
Importance of ranking features
==============================

`feature_importances_` sums what the weak rankers gained by each feature on the training queries.
:func:`~sklrank.model_selection.query_permutation_importance` measures on held-out queries how much
NDCG decreases if a feature is permuted. The second one can be negative or zero for features that
only helped to fit the training queries.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.metrics import ndcg_scorer
from sklrank.model_selection import query_permutation_importance, query_train_test_split

X, quality = make_friedman1(3000, n_features=10, noise=2.0, random_state=0)
y = np.digitize(quality, np.quantile(quality, [0.7, 0.85, 0.95]))
qid = np.random.RandomState(0).randint(80, size=len(y))
X, X_test, y, y_test, qid, qid_test = query_train_test_split(
    X, y, qid=qid, test_size=0.4, random_state=0
)
ranker = HistGradientBoostingRanker(random_state=0).fit(X, y, qid=qid)
permuted = query_permutation_importance(
    ranker, X_test, y_test, qid=qid_test, scoring=ndcg_scorer, n_repeats=10, random_state=0
)

# %%
# Only the first five features matter in these data. Bars on the right are means of ten
# permutations, with one standard deviation.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
places = np.arange(X.shape[1])
colors = np.where(places < 5, "#0072B2", "#999999")
left.barh(places, ranker.feature_importances_, color=colors)
left.set_yticks(places, [f"feature {i}" for i in places])
left.invert_yaxis()
left.set(title="feature_importances_", xlabel="share")
right.barh(places, permuted.importances_mean, xerr=permuted.importances_std, color=colors)
right.set(title="permutation of held-out queries", xlabel="decrease of NDCG")
for ax in (left, right):
    ax.grid(axis="y", visible=False)

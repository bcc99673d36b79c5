"""
=========================
Document rankers compared
=========================

Five rankers learn the same queries: boosted trees, boosting for NDCG, for pairs (RankBoost) and for
whole queries (AdaRank), and the linear :class:`~sklrank.linear_model.PredtronQueryRanker`. Two
rankers should be compared query by query, because queries differ more than rankers: the right
figure shows the paired differences.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import permutation_test, sem
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import StandardScaler

from sklrank.boosting import AdaRank, HistGradientBoostingRanker, NDCGBoost, RankBoost
from sklrank.linear_model import PredtronQueryRanker
from sklrank.metrics import ndcg_score
from sklrank.model_selection import query_train_test_split

X, quality = make_friedman1(6000, n_features=12, noise=3.0, random_state=0)
y = np.digitize(quality, np.quantile(quality, [0.75, 0.9]))
qid = np.random.RandomState(0).randint(240, size=len(y))
X = StandardScaler().fit_transform(X)
X, X_test, y, y_test, qid, qid_test = query_train_test_split(
    X, y, qid=qid, test_size=0.5, random_state=0
)
rankers = {
    "boosted trees": HistGradientBoostingRanker(random_state=0),
    "NDCGBoost": NDCGBoost(),
    "RankBoost": RankBoost(),
    "AdaRank": AdaRank(),
    "Predtron": PredtronQueryRanker(
        representation="reciprocal",
        learning_rate=0.01,
        average=True,
        max_iter=10,
        random_state=0,
    ),
}
scores = {}
for name, ranker in rankers.items():
    predicted = ranker.fit(X, y, qid=qid).predict(X_test)
    scores[name] = ndcg_score(y_test, predicted, qid=qid_test, k=10, average=False)

# %%
# The intervals on the right are 95 % intervals of the mean difference. The p-values are those of a
# randomization test (`scipy.stats.permutation_test`).
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), sharey=True)
left.boxplot(
    list(scores.values()),
    tick_labels=list(scores),
    orientation="horizontal",
    medianprops={"color": "black"},
)
left.set(xlabel="NDCG@10 of a query", xlim=(0, 1.02))
others = [name for name in scores if name != "boosted trees"]
for place, name in enumerate(others, start=2):
    pair = scores["boosted trees"], scores[name]
    test = permutation_test(
        pair, lambda one, other: np.mean(one - other), permutation_type="samples", rng=0
    )
    error = 1.96 * sem(pair[0] - pair[1])
    right.errorbar(test.statistic, place, xerr=error, fmt="o", capsize=4, color="#0072B2")
    print(f"trees - {name}: {test.statistic:+.3f} +- {error:.3f}, p = {test.pvalue:.4f}")
right.axvline(0, color="0.5", linestyle=":")
right.set(xlabel="mean difference: boosted trees minus the ranker")

"""
===================================
Parameter search that keeps queries
===================================

With scikit-learn's metadata routing, one `qid` goes to the splitter, to `fit` and to the scorer. No
query is divided between folds, and each fold is scored query by query. The heat map shows the mean
``NDCG@10`` of three folds.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV

from sklrank.boosting import HistGradientBoostingRanker
from sklrank.metrics import ndcg_scorer
from sklrank.model_selection import QueryKFold

X, quality = make_friedman1(2000, n_features=10, noise=3.0, random_state=0)
y = np.digitize(quality, np.quantile(quality, [0.75, 0.9]))
qid = np.random.RandomState(0).randint(60, size=len(y))
sizes, rates = (2, 4, 8), (0.1, 0.2, 0.5)
search = GridSearchCV(
    HistGradientBoostingRanker(max_iter=50, early_stopping=False),
    {"max_leaf_nodes": sizes, "learning_rate": rates},
    scoring=clone(ndcg_scorer).set_params(k=10),
    cv=QueryKFold(3),
)
with sklearn.config_context(enable_metadata_routing=True):
    search.fit(X, y, qid=qid)
print(f"best: {search.best_params_}, NDCG@10 {search.best_score_:.3f}")

# %%
values = search.cv_results_["mean_test_score"].reshape(len(sizes), len(rates))
errors = search.cv_results_["std_test_score"].reshape(values.shape) / np.sqrt(3)
figure, ax = plt.subplots(figsize=(5.6, 4.2))
image = ax.imshow(values, cmap="cividis", aspect="auto")
middle = (values.min() + values.max()) / 2
for place, value in np.ndenumerate(values):
    color = "black" if value > middle else "white"
    text = f"{value:.3f}\n± {errors[place]:.3f}"
    ax.text(*place[::-1], text, ha="center", va="center", color=color)
ax.set_xticks(range(len(rates)), rates)
ax.set_yticks(range(len(sizes)), sizes)
ax.grid(False)
ax.set(xlabel="learning rate", ylabel="leaves of a tree", title="NDCG@10 and standard error")
figure.colorbar(image, ax=ax)

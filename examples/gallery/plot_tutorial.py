"""
=======================================
Tutorial: from a data frame to a ranker
=======================================

In half an hour: a data frame of tagged photos becomes a ranker of tags that is tuned, validated,
saved and monitored. The photos are generated, so that the page can be built anywhere; replace the
first cell by your data frame.

.. image:: /auto_examples/images/sphx_glr_plot_tutorial_001.png
   :alt: Mean rank loss of each candidate on the photos so far.
   :width: 560px
"""

# %%
# 1. The data frame
# -----------------
# Each row is a photo, in the order in which it was uploaded: ten numeric features, and the tags as
# one string.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sklrank.datasets import make_multilabel_ranking_stream

NAMES = ["beach", "city", "dog", "food", "forest", "night", "people", "snow"]
# The tags change their meaning in the middle, after photo 5000.
X, Y = make_multilabel_ranking_stream(
    10_000, n_features=10, n_labels=len(NAMES), cardinality=2.5, drift="abrupt", random_state=3
)
X, Y = X[:6000], Y[:6000]
photos = pd.DataFrame(X, columns=[f"color_{i}" for i in range(10)]).round(3)
photos["tags"] = [";".join(np.array(NAMES)[row == 1]) for row in Y]
photos[["color_0", "color_1", "color_2", "tags"]].head()

# %%
# 2. Features and an indicator matrix
# -----------------------------------
# Rankers take the tags as an indicator matrix. A data frame keeps the names of the tags. A photo
# without tags is a row of zeros; it has no pair of tags to rank, and its rank loss is 0.

from sklearn.preprocessing import MultiLabelBinarizer

X = photos.drop(columns="tags")
binarizer = MultiLabelBinarizer()
Y = binarizer.fit_transform([tags.split(";") if tags else [] for tags in photos["tags"]])
Y = pd.DataFrame(Y, columns=binarizer.classes_)
print(f"{len(Y)} photos, {Y.shape[1]} tags, {Y.sum(axis=1).mean():.1f} tags on average")
print(Y.mean().sort_values(ascending=False).round(2).to_string())

# %%
# 3. A baseline
# -------------
# The measure is the rank loss: the share of pairs of a relevant and an irrelevant tag that are in
# the wrong order. Ranking by popularity, with the frequencies of the first 1000 photos, is the
# baseline to beat. Everything about the future, photos from number 3000 on, stays out of sight
# until step 6.

from sklrank.metrics import rank_loss

old, middle, new = slice(0, 1000), slice(1000, 3000), slice(3000, None)
popularity = Y[old].mean().to_numpy()
baseline = rank_loss(Y[middle], np.tile(popularity, (2000, 1)))
print(f"rank loss of popular tags: {baseline:.3f}")

# %%
# 4. Candidates, compared as they learn
# -------------------------------------
# In progressive validation each photo is scored before it is learned. So the curves show how each
# candidate would have served the users of its first 3000 photos.

from sklrank.model_selection import ProgressiveValidationDisplay
from sklrank.online_boosting import AdaOLMR, OnlineBMR

history = slice(0, 3000)
candidates = {
    "AdaOLMR": AdaOLMR(),
    "AdaOLMR of trees": AdaOLMR("trees", n_estimators=50),
    "OnlineBMR of trees": OnlineBMR("trees", n_estimators=50, edge=0.05),
}
display = ProgressiveValidationDisplay.from_estimators(
    candidates, X[history], Y[history], n_seeds=2, random_state=0
)
for name, runs in display.losses.items():
    last = runs[:, -1000:].mean()
    print(f"{name:<19} mean rank loss {runs.mean():.3f}; last 1000 photos {last:.3f}")
display.ax_.axhline(baseline, color="0.5", linestyle=":", label="popular tags")
display.ax_.set(ylim=(0, 0.5))
_ = display.ax_.legend()

# %%
# 5. Tuning
# ---------
# The default needs no tuning. To see how a search works, we choose the weak learners of the
# booster. Folds in time order (:class:`~sklearn.model_selection.TimeSeriesSplit`) never train on
# the future.

from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

from sklrank.linear_model import OnlineLogisticRegression
from sklrank.metrics import rank_loss_scorer

search = GridSearchCV(
    AdaOLMR(random_state=0),
    {"estimator": [None, "trees", [OnlineLogisticRegression(multi_class="ovr")]]},
    scoring=rank_loss_scorer,
    cv=TimeSeriesSplit(3),
)
search.fit(X[history], Y[history])
for loss, spread, parameters in zip(
    -search.cv_results_["mean_test_score"],
    search.cv_results_["std_test_score"],
    search.cv_results_["params"],
):
    print(f"rank loss {loss:.3f} +- {spread:.3f}  {parameters}")
model = search.best_estimator_

# %%
# 6. Validation on the future
# ---------------------------
# Only now the photos from 3000 to 5000 are looked at, once. The mean rank of the relevant tags
# shows which tags are hard.

future = slice(3000, 5000)
scores = model.decision_function(X[future])
losses = rank_loss(Y[future], scores, average=False)
error = losses.std() / np.sqrt(len(losses))
print(f"rank loss of new photos: {losses.mean():.3f} +- {error:.3f}")

ranks = model.predict_ranks(X[future])
mean_rank = pd.Series(
    [ranks[Y[future][name] == 1, i].mean() for i, name in enumerate(Y.columns)], Y.columns
).sort_values()
figure, ax = plt.subplots(figsize=(6.5, 3.4))
ax.barh(mean_rank.index, mean_rank, color="#0072B2")
ax.invert_yaxis()
ax.grid(axis="y", visible=False)
_ = ax.set(xlabel="mean rank of the tag where it is relevant (1 is best)")

# %%
# The three tags suggested for each of three new photos, beside the true tags:

best = model.predict_topk(X[future][:3], k=3)
for shown, tags in zip(best, photos["tags"][future][:3]):
    print(f"suggested: {', '.join(shown):<24} true: {tags}")

# %%
# 7. Saving
# ---------
# skops (``pip install skops``) loads files without running code from them. The loaded model goes on
# learning as if it had never been saved: :doc:`/persistence`.

import skops.io

data = skops.io.dumps(model)
names = skops.io.get_untrusted_types(data=data)
print("only types of this package:", all(name.startswith("sklrank.") for name in names))
loaded = skops.io.loads(data, trusted=names)
same = np.array_equal(loaded.decision_function(X[future]), scores)
print(f"{len(data) / 1024:.0f} kB; same scores: {same}")

# %%
# 8. Monitoring
# -------------
# In service, the model learns each photo after its user has tagged it. The alarm compares the mean
# loss of the last 200 photos with that of step 6. After photo 5000 the meaning of the tags changes:
# the alarm rings, and the model recovers by itself, because it goes on learning. A copy that was
# not updated does not.

service = slice(3000, 6000)
truth = Y[service]
frozen = rank_loss(truth, model.decision_function(X[service]), average=False)
updated = rank_loss(truth, loaded.progressive_fit(X[service], truth), average=False)

window = 200
limit = losses.mean() + 5 * losses.std() / np.sqrt(window)
figure, ax = plt.subplots(figsize=(7.5, 4))
for name, values in {"updated": updated, "not updated": frozen}.items():
    mean = np.convolve(values, np.ones(window) / window, mode="valid")
    ax.plot(np.arange(window, len(values) + 1) + 3000, mean, label=name)
    alarms = np.flatnonzero(mean > limit) + window + 3000
    print(f"{name}: {'first alarm at photo ' + str(alarms[0]) if len(alarms) else 'no alarm'}")
ax.axhline(limit, color="0.4", linestyle="--", label="alarm")
ax.axvline(5000, color="0.6", linestyle=":")
ax.set(xlabel="photo", ylabel=f"rank loss (last {window} photos)", ylim=(0, None))
_ = ax.legend()

# %%
# Next: show only some tags and learn from clicks (:doc:`/guide/top_k_feedback`), put the model
# behind a service (:doc:`/guide/deployment`), or read how boosting works
# (:doc:`/guide/multilabel`). For documents of queries, start with :doc:`/guide/documents`.

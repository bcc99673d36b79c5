"""
=================
Text in, tags out
=================

An `OnlinePipeline` turns texts into sparse samples by hashing, and learns their tags in one pass.
Its `predict` returns sets of tags, and `predict_topk` the best ones. The texts are generated: each
tag prefers some words, few tags are frequent and many are rare, and four fifths of the words have
nothing to do with the tags. If the environment variable `SKLRANK_DATA` is set, the benchmark sets
medical and bibtex, which are bags of words, are beside them.

The rival is one logistic regression for each tag, which is fitted to all samples at once, in many
passes.
"""

import os
import pickle
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer

from sklrank.metrics import precision_at_k_score
from sklrank.online_boosting import AdaOLMR
from sklrank.pipeline import OnlinePipeline

rng = np.random.RandomState(0)
N_TAGS, N_WORDS, N_TRAIN = 60, 3000, 2000
words_of_tag = rng.randint(N_WORDS, size=(N_TAGS, 12))
frequency = 1.0 / np.arange(1, N_TAGS + 1)
texts, tags = [], []
for _ in range(N_TRAIN + 1000):
    own = rng.choice(N_TAGS, rng.randint(1, 4), replace=False, p=frequency / frequency.sum())
    words = words_of_tag[rng.choice(own, 6), rng.randint(12, size=6)]
    texts.append(" ".join(f"word{i}" for i in [*words, *rng.randint(N_WORDS, size=24)]))
    tags.append([f"tag{i}" for i in own])

# %%
# Tags are passed as an indicator matrix, which `MultiLabelBinarizer` makes of lists.
binarizer = MultiLabelBinarizer().fit(tags)
Y = binarizer.transform(tags)


def tagger(ranker):
    return OnlinePipeline([("vectorize", HashingVectorizer(n_features=2**14)), ("rank", ranker)])


pipeline = tagger(AdaOLMR(random_state=0))
pipeline.partial_fit(texts[:N_TRAIN], Y[:N_TRAIN], classes=binarizer.classes_)
new = texts[N_TRAIN : N_TRAIN + 3]
for best, found, true in zip(
    pipeline.predict_topk(new, k=3), pipeline.predict(new), tags[N_TRAIN:]
):
    sets = ", ".join(binarizer.classes_[found.astype(bool)])
    print(f"best three: {', '.join(best)}; set: {sets}; true: {', '.join(true)}")

# %%
# All sets, with times, and the size of the saved model as the memory that it needs.
data = {"texts": (texts[:N_TRAIN], Y[:N_TRAIN], texts[N_TRAIN:], Y[N_TRAIN:])}
folder = os.environ.get("SKLRANK_DATA")
for name in ("medical", "bibtex") if folder else ():
    with np.load(Path(folder) / "multilabel" / f"{name}.npz", allow_pickle=True) as loaded:
        X, Y_train, X_test, Y_test = (
            loaded[key] for key in ("X_train", "Y_train", "X_test", "Y_test")
        )
    # scikit-learn's binarizer overflows for 8-bit integers and more than 127 labels.
    data[name] = sparse.csr_array(X), Y_train.astype(int), sparse.csr_array(X_test), Y_test

batch = OneVsRestClassifier(LogisticRegression(solver="liblinear", C=10.0))
measures = ("P@1", "P@3", "P@5", "micro-F1")
values = np.empty((len(data), 2, len(measures)))
for i, (name, (X, Y_train, X_test, Y_test)) in enumerate(data.items()):
    models = {"AdaOLMR, one pass": AdaOLMR(random_state=0), "OneVsRest, batch": batch}
    if name == "texts":
        vectorizer = HashingVectorizer(n_features=2**14)
        models = dict(
            zip(models, (tagger(AdaOLMR(random_state=0)), make_pipeline(vectorizer, batch)))
        )
    for j, (kind, model) in enumerate(models.items()):
        start = time.process_time()
        model.fit(X, Y_train)
        seconds = time.process_time() - start
        # The decisions of a tag that no text for training has are not comparable with others.
        scores = model.predict_proba(X_test) if j else model.decision_function(X_test)
        values[i, j, :3] = [precision_at_k_score(Y_test, scores, k=k) for k in (1, 3, 5)]
        values[i, j, 3] = f1_score(Y_test, model.predict(X_test), average="micro")
        megabytes = len(pickle.dumps(model)) / 1e6
        figures = ", ".join(f"{m} {v:.3f}" for m, v in zip(measures, values[i, j]))
        print(f"{name:8s} {kind:18s} {figures}; {seconds:.1f} s, {megabytes:.1f} MB")

# %%
figure, axes = plt.subplots(
    1, len(data), figsize=(4.2 * len(data) + 1, 3.6), sharey=True, squeeze=False
)
places = np.arange(len(measures))
for ax, name, of_set in zip(axes[0], data, values):
    for j, kind in enumerate(models):
        bars = ax.bar(places + (j - 0.5) * 0.4, of_set[j], 0.38, label=kind)
        ax.bar_label(bars, fmt="%.2f", fontsize="small")
    ax.set(title=name, xticks=places, xticklabels=measures, ylim=(0, 1.05))
axes[0, 0].legend(loc="upper right")
figure.tight_layout()

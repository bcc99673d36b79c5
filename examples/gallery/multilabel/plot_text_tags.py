"""
=================
Text in, tags out
=================

An `OnlinePipeline` turns texts into sparse samples by hashing, and learns their tags in one pass.
Its `predict` returns sets of tags, and `predict_topk` the best ones. The texts are generated: each
tag prefers some words, few tags are frequent and many are rare, and four fifths of the words have
nothing to do with the tags.

The rival is one logistic regression for each tag, which is fitted to all samples at once, in many
passes.
"""

import pickle
import time

import matplotlib.pyplot as plt
import numpy as np
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
# Both models, with times, and the size of the saved model as the memory that it needs.
batch = OneVsRestClassifier(LogisticRegression(solver="liblinear", C=10.0))
models = {
    "AdaOLMR, one pass": tagger(AdaOLMR(random_state=0)),
    "OneVsRest, batch": make_pipeline(HashingVectorizer(n_features=2**14), batch),
}
measures = ("P@1", "P@3", "P@5", "micro-F1")
values = np.empty((len(models), len(measures)))
for of_model, (name, model) in zip(values, models.items()):
    start = time.process_time()
    model.fit(texts[:N_TRAIN], Y[:N_TRAIN])
    seconds = time.process_time() - start
    scores = model.decision_function(texts[N_TRAIN:])
    of_model[:3] = [precision_at_k_score(Y[N_TRAIN:], scores, k=k) for k in (1, 3, 5)]
    of_model[3] = f1_score(Y[N_TRAIN:], model.predict(texts[N_TRAIN:]), average="micro")
    figures = ", ".join(f"{m} {v:.3f}" for m, v in zip(measures, of_model))
    print(f"{name}: {figures}; {seconds:.1f} s, {len(pickle.dumps(model)) / 1e6:.0f} MB")

# %%
figure, ax = plt.subplots(figsize=(7.5, 3.8))
places = np.arange(len(measures))
for j, (name, of_model) in enumerate(zip(models, values)):
    bars = ax.bar(places + (j - 0.5) * 0.4, of_model, 0.38, label=name)
    ax.bar_label(bars, fmt="%.2f", fontsize="small")
ax.set(xticks=places, xticklabels=measures, ylabel="1000 new texts", ylim=(0, 1.05))
ax.grid(axis="x", visible=False)
ax.legend(loc="upper right")

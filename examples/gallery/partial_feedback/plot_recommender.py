"""
==========================
Three of twenty tags shown
==========================

Each visitor sees three of twenty tags and clicks the relevant ones among them. The ranker learns
from these clicks only, which arrive two batches late. After half of the visitors, tastes change.
`explore` draws the tags to show, with known propensities; `partial_fit_feedback` learns from the
record and the clicks.
"""

from collections import deque

import matplotlib.pyplot as plt
import numpy as np

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.linear_model import SemiBanditRanker

X, Y = make_multilabel_ranking_stream(
    6000, n_labels=20, cardinality=4.0, drift="abrupt", random_state=0
)


def play(ranker, delay=2, batch=50):
    """Return the share of clicked tags of each visitor."""
    waiting, clicked = deque(), []
    for start in range(0, len(X), batch):
        rows = slice(start, start + batch)
        shown = ranker.explore(X[rows], classes=range(Y.shape[1]))
        clicks = np.take_along_axis(Y[rows], shown.actions, axis=1)
        clicked.append(clicks.mean(axis=1))
        waiting.append((X[rows], shown, clicks))
        if len(waiting) > delay:
            ranker.partial_fit_feedback(*waiting.popleft())
    return np.concatenate(clicked)


clicked = {
    f"SemiBanditRanker, exploration={rate}": play(
        SemiBanditRanker(k=3, exploration=rate, random_state=0)
    )
    for rate in (0.05, 0.2)
}
popular = np.argsort(-Y.mean(axis=0))[:3]
clicked["the three most popular tags"] = Y[:, popular].mean(axis=1)

# %%
# The policy that shows popular tags knows their frequencies in advance, but treats all visitors
# alike.
window = 400
figure, ax = plt.subplots(figsize=(7.5, 4))
for name, share in clicked.items():
    mean = np.convolve(share, np.ones(window) / window, mode="valid")
    ax.plot(np.arange(window, len(X) + 1), mean, label=name)
ax.axvline(len(X) / 2, color="0.5", linestyle=":")
ax.set(xlabel="visitors", ylabel=f"click rate (last {window} visitors)", ylim=(0, 1))
ax.legend(fontsize="small", loc="lower right")
for name, share in clicked.items():
    print(f"{name:<35} click rate {share.mean():.3f}")

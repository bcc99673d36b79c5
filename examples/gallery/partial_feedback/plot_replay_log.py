"""
===================================
Evaluating rankers on another's log
===================================

A policy has shown popular tags, sometimes at random, and has logged the tags, their propensities
and the clicks. From this log the loss of *any* ranker can be estimated without showing its lists to
anyone: each pair of shown tags, one clicked and one not, has the weight 1 / Pr[both shown]. The
simulation knows the true losses, so the estimates can be checked.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.feedback import explore
from sklrank.linear_model import SemiBanditRanker
from sklrank.metrics import rank_loss

X, Y = make_multilabel_ranking_stream(8000, n_labels=8, random_state=0)
popularity = np.tile(Y.mean(axis=0), (len(Y), 1))
shown = explore(popularity, k=3, exploration=0.5, random_state=0)
clicks = np.take_along_axis(Y, shown.actions, axis=1)


def estimate(scores, rows):
    """Return the estimated number of wrong pairs of each sample; a tie is a wrong pair."""
    record = shown[rows]
    shown_scores = np.take_along_axis(scores, record.actions, axis=1)
    wrong = shown_scores[:, :, None] <= shown_scores[:, None, :]
    pairs = clicks[rows][:, :, None] * (1 - clicks[rows][:, None, :])
    return (wrong * pairs / record.propensities).sum(axis=(1, 2))


# %%
# Rankers learn from growing parts of the first half of the log. The second half evaluates them.
test = slice(4000, 8000)
candidates = {"popular tags": popularity[test]}
for n in (100, 300, 1000, 4000):
    ranker = SemiBanditRanker(random_state=0)
    ranker.partial_fit_feedback(X[:n], shown[:n], clicks[:n], classes=range(8))
    candidates[f"SemiBanditRanker, {n} entries"] = ranker.decision_function(X[test])

figure, ax = plt.subplots(figsize=(6.5, 4.2))
for name, scores in candidates.items():
    values = estimate(scores, test)
    error = 1.96 * values.std() / np.sqrt(len(values))
    truth = rank_loss(Y[test], scores, normalize=False, ties="full")
    ax.errorbar(truth, values.mean(), error, fmt="o", capsize=3, label=name)
    print(f"{name:<31} estimate {values.mean():.2f} +- {error:.2f}, true {truth:.2f}")
limits = (0, 1.05 * max(ax.get_xlim()[1], ax.get_ylim()[1]))
ax.plot(limits, limits, color="0.6", linestyle=":")
ax.set(xlabel="true wrong pairs of a visitor", ylabel="estimate from the log (95 % interval)")
ax.set(xlim=limits, ylim=limits)
ax.legend(fontsize="small")

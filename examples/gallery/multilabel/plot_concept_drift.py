"""
===================================
When the meaning of a label changes
===================================

After 3000 samples the weights of all labels change at once. A model that was fitted before and is
not updated stays wrong. Online rankers recover, at a speed that depends on how much they trust the
past. The ridge regression of SemiBanditRanker detects the change by a test of its losses, and
forgets the past. Here all eight labels of a sample are shown.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.linear_model import SemiBanditRanker
from sklrank.metrics import rank_loss
from sklrank.online_boosting import AdaOLMR

X, Y = make_multilabel_ranking_stream(6000, n_labels=8, drift="abrupt", random_state=0)
models = {
    "AdaOLMR": AdaOLMR(random_state=0),
    "AdaOLMR of trees": AdaOLMR("trees", n_estimators=50, random_state=0),
    "SemiBanditRanker": SemiBanditRanker(k=8, random_state=0),
}
losses = {
    name: rank_loss(Y, model.progressive_fit(X, Y), average=False) for name, model in models.items()
}
fixed = AdaOLMR(random_state=0).fit(X[:1500], Y[:1500])
losses["not updated after 1500 samples"] = rank_loss(Y, fixed.decision_function(X), average=False)

# %%
# The lines show the mean of the last 300 samples.
window = 300
figure, ax = plt.subplots(figsize=(7.5, 4.2))
for name, loss in losses.items():
    start = 1500 if name.startswith("not") else 0
    mean = np.convolve(loss, np.ones(window) / window, mode="valid")
    ends = np.arange(window, len(loss) + 1)
    ax.plot(ends[start:], mean[start:], label=name)
ax.axvline(3000, color="0.5", linestyle=":")
ax.annotate("weights change", (3000, 0.02), (2900, 0.02), ha="right", color="0.4")
ax.set(xlabel="samples", ylabel=f"rank loss (last {window} samples)", ylim=(0, None))
ax.legend(fontsize="small", loc="upper left")
for name, loss in losses.items():
    print(f"{name:<40} before: {loss[2000:3000].mean():.3f}  after: {loss[-1000:].mean():.3f}")

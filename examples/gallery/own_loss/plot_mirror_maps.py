"""
==============================
Mirror maps and sparse weights
==============================

A mirror map turns the sum of the steps into weights, and so determines which weights are considered
small. With "euclidean" all features share the work; "p-norm" prefers few large weights. Here 5 of
200 features matter. The figure shows the mistakes of one pass, and the weights at its end.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.linear_model import PredtronClassifier

rng = np.random.RandomState(0)
X = rng.choice([-1.0, 1.0], size=(3000, 200))
y = (X[:, :5].sum(axis=1) > 0).astype(int)
maps = ("euclidean", "p-norm")
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8))
for name in maps:
    model = PredtronClassifier(mirror_map=name)
    scores = model.progressive_fit(X, y)
    wrong = scores.argmax(axis=1) != y
    line = left.plot(np.cumsum(wrong), label=name)[0]
    weights = np.abs(model.coef_.ravel())
    right.plot(np.arange(1, 201), weights / weights.max(), "o", markersize=3, label=name)
    share = weights[:5].sum() / weights.sum()
    print(
        f"{name:<10} {wrong.sum()} mistakes; share of the five features in the weights: {share:.2f}"
    )
left.set(xlabel="samples", ylabel="mistakes so far")
left.legend(title="mirror_map")
right.set(xlabel="feature", ylabel="weight, relative to the largest")

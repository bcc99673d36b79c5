"""
======================================
Exploration rates that tune themselves
======================================

A constant exploration rate must be chosen before the first round. The schedules of
:class:`~sklrank.linear_model.BanditronClassifier` change it as the rounds pass. The left figure
shows their rates on generated clusters, the right one the mistakes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from sklrank.linear_model import BanditronClassifier

X, y = make_blobs(20_000, n_features=20, centers=9, cluster_std=4.0, random_state=0)
schedules = {rate: rate for rate in (0.02, 0.3)}
schedules |= {name: name for name in ("decay", "ag1", "ag2", "ag3")}
ends = np.arange(250, len(y) + 1, 250)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4))
for name, exploration in schedules.items():
    model = BanditronClassifier(exploration=exploration, random_state=0)
    rates, errors = [], []
    for end in ends:
        model.partial_fit(X[end - 250 : end], y[end - 250 : end], classes=range(9))
        rates.append(model.exploration_)
        errors.append(model.error_rate_)
    style = "--" if isinstance(name, float) else "-"
    left.plot(ends, rates, style, label=name)
    right.plot(ends, errors, style, label=name)
    print(f"{name!s:<6} share of wrong classes shown: {errors[-1]:.3f}")
left.set(xlabel="rounds", ylabel="exploration rate", ylim=(0, None), title="rate")
right.set(xlabel="rounds", ylabel="wrong classes shown so far (share)", title="mistakes")
right.legend(title="exploration")

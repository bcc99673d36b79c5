"""
=========================
Which expert is followed?
=========================

Expert i of :class:`~sklrank.online_boosting.AdaOLMR` ranks the labels by the votes of the first i
weak learners. Hedge gives each expert a weight that decreases with its past loss. A prediction
follows the expert with the largest weight. The figure shows how the weight moves from experts with
few learners to experts with many.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.datasets import make_multilabel_ranking_stream
from sklrank.online_boosting import AdaOLMR

X, Y = make_multilabel_ranking_stream(3000, n_labels=8, random_state=1)
model = AdaOLMR("trees", n_estimators=40, random_state=0)
history = []
for batch in np.array_split(np.arange(len(X)), 100):
    model.partial_fit(X[batch], Y[batch])
    history.append(model.expert_weights_)

# %%
# The weights of the experts sum to one at any time.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
image = left.imshow(
    np.transpose(history),
    origin="lower",
    aspect="auto",
    extent=(0, len(X), 0.5, 40.5),
    cmap="cividis",
    vmax=0.3,
)
left.grid(False)
left.set(xlabel="samples", ylabel="expert", title="weight of each expert")
figure.colorbar(image, ax=left)
right.bar(np.arange(1, 41), model.estimator_weights_, width=0.8)
right.set(xlabel="weak learner", ylabel="weight", title="learned weights of the weak learners")
print(f"expert with the largest weight at the end: {np.argmax(model.expert_weights_) + 1} of 40")

"""
=================
The reject option
=================

If a rejected sample costs less than a mistake, a classifier should decline to answer where it is
unsure: where the margin, the difference between its two greatest scores, is small. A mistake costs
1. For each cost of a rejection, the threshold of the margin is the one for which cross-validated
predictions have the least mean cost (:func:`~sklrank.metrics.reject_loss`).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict, train_test_split

from sklrank.linear_model import PredtronClassifier
from sklrank.metrics import reject_loss

X, y = load_digits(return_X_y=True)
# Noise makes the problem harder.
X = X + np.random.RandomState(0).normal(scale=5, size=X.shape)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
costs = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8])
plain = PredtronClassifier(average=True, max_iter=5, random_state=0)


def reject(scores, threshold):
    lower, upper = np.sort(scores, axis=1)[:, -2:].T
    return np.where(upper - lower < threshold, -1, scores.argmax(axis=1))


validated = cross_val_predict(plain, X, y, method="decision_function")
scores = plain.fit(X, y).decision_function(X_test)
thresholds = np.quantile(np.ptp(np.sort(validated, axis=1)[:, -2:], axis=1), np.linspace(0, 1, 100))
rows = []
for reject_cost in costs:
    threshold = min(
        thresholds, key=lambda t: reject_loss(y, reject(validated, t), reject_cost=reject_cost)
    )
    predicted = reject(scores, threshold)
    kept = predicted != -1
    rows.append(
        [
            kept.mean(),
            (predicted == y_test)[kept].mean(),
            reject_loss(y_test, predicted, reject_cost=reject_cost),
        ]
    )
coverage, accuracy, loss = np.transpose(rows)
error = 1 - plain.score(X_test, y_test)

# %%
# On the right, the mean cost is below that of the classifier that answers always, and of the one
# that rejects always.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
left.plot(100 * coverage, 100 * accuracy, "o-")
for x, y_value, reject_cost in zip(coverage, accuracy, costs):
    if reject_cost != 0.5:
        left.annotate(
            f"{reject_cost:g}", (100 * x, 100 * y_value), (4, 4), textcoords="offset points"
        )
left.plot(100, 100 * (1 - error), "ks", label="no reject option")
left.set(xlabel="samples that are not rejected (%)", ylabel="accuracy on them (%)")
left.set(title="by cost of a rejection")
left.legend()
right.plot(costs, loss, "o-", label="reject option")
right.axhline(error, color="black", linestyle="--", label="never reject")
right.plot(costs, costs, color="0.6", linestyle=":", label="always reject")
right.set(xlabel="cost of a rejection", ylabel="mean cost", ylim=(0, 1.6 * error))
right.legend(loc="upper left")

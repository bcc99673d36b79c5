"""
============================
Costs that are not symmetric
============================

Five grades of the progress of a disease are predicted. A grade that is predicted too low costs
three times as much as one that is too high. :class:`~sklrank.linear_model.PredtronClassifier`
learns with this loss, passed as a function, and moves its mistakes to the cheap side.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklrank.linear_model import PredtronClassifier

X, progress = load_diabetes(return_X_y=True)
y = np.digitize(progress, np.quantile(progress, [0.2, 0.4, 0.6, 0.8]))


def cost(true_grade, predicted_grade):
    """Return the cost of a prediction: too low is three times as bad as too high."""
    difference = predicted_grade - true_grade
    return difference if difference >= 0 else -3 * difference


settings = {"learning_rate": 0.1, "average": True, "max_iter": 10, "random_state": 0}
models = {
    "zero-one loss": PredtronClassifier(**settings),
    "own cost": PredtronClassifier(loss=cost, **settings),
}
figure, axes = plt.subplots(1, 2, figsize=(8.5, 4), sharey=True)
for ax, (name, model) in zip(axes, models.items()):
    predicted = cross_val_predict(make_pipeline(StandardScaler(), model), X, y, cv=5)
    mean = np.mean([cost(*pair) for pair in zip(y, predicted)])
    table = confusion_matrix(y, predicted)
    ax.imshow(table, cmap="cividis", vmax=60)
    for (true, guess), count in np.ndenumerate(table):
        color = "black" if count > 33 else "white"
        ax.text(guess, true, count, ha="center", va="center", color=color)
    low = np.mean(predicted < y)
    ax.set(title=f"{name}\nmean cost {mean:.2f}, too low {low:.0%}", xlabel="predicted grade")
    ax.grid(False)
    print(f"{name}: mean cost {mean:.3f}")
axes[0].set(ylabel="true grade")

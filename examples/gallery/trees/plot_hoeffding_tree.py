"""
=========================
A tree that never forgets
=========================

A Hoeffding tree reads each sample once. A leaf is split when the Hoeffding bound makes sure, up to
a small probability, that the best split is the one that all future samples would choose. So the
tree grows with the stream, and its memory depends on the number of leaves, not of samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.tree import HoeffdingTreeClassifier

rng = np.random.RandomState(0)
X = rng.uniform(size=(30_000, 2))
y = (np.sin(6 * X[:, 0]) / 3 + 0.5 > X[:, 1]).astype(int)
y = np.where(rng.uniform(size=len(y)) < 0.05, 1 - y, y)  # noise

trees = {
    "default": HoeffdingTreeClassifier(),
    "eager: grace_period=50, tau=0.2": HoeffdingTreeClassifier(grace_period=50, tau=0.2),
}
ends = np.arange(1000, len(X) + 1, 1000)
accuracies = {}
for name, tree in trees.items():
    correct = []
    for end in ends:
        rows = slice(end - 1000, end)
        if end > 1000:
            correct.append(tree.score(X[rows], y[rows]))
        tree.partial_fit(X[rows], y[rows], classes=[0, 1])
    accuracies[f"{name}: {tree.get_n_leaves()} leaves"] = correct
    print(f"{name}: {tree.get_n_leaves()} leaves, depth {tree.get_depth()}")

# %%
# The cells of the eager tree follow the curve that separates the classes.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
for name, correct in accuracies.items():
    left.plot(ends[1:], correct, label=name)
left.axhline(0.95, color="0.5", linestyle=":")
left.annotate("best possible: 5 % noise", (ends[-1], 0.952), ha="right", color="0.4")
left.set(xlabel="samples", ylabel="accuracy on the next 1000 samples")
left.legend(loc="lower right", fontsize="small")

grid = np.stack(np.meshgrid(np.linspace(0, 1, 200), np.linspace(0, 1, 200)), axis=-1)
guess = tree.predict(grid.reshape(-1, 2)).reshape(200, 200)
right.contourf(grid[..., 0], grid[..., 1], guess, levels=1, colors=["#cfe3f1", "#f8dcc8"])
place = np.linspace(0, 1, 200)
right.plot(place, np.sin(6 * place) / 3 + 0.5, "k--", label="true boundary")
right.set(title="classes predicted by the eager tree", xlim=(0, 1), ylim=(0, 1))
right.grid(False)
right.legend()

"""
==========================
Errors by number of labels
==========================

Semi-supervised classifiers on scikit-learn's digits. Unlabeled training samples have the label -1.
The errors are those of new samples, which the classifiers have not seen, with or without label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from sklrank.semi_supervised import MCSSBClassifier, PooledLabelSpreading

X, digits = load_digits(return_X_y=True)
X, X_test, digits, digits_test = train_test_split(X, digits, train_size=900, random_state=0)
models = {
    "pooled label spreading": lambda: PooledLabelSpreading(random_state=0),
    "MCSSB": lambda: MCSSBClassifier(random_state=0),
    "label spreading": lambda: LabelSpreading(gamma=0.25, max_iter=100),
    "self-training, forest": lambda: SelfTrainingClassifier(
        RandomForestClassifier(50, random_state=0)
    ),
    "forest, labeled samples only": lambda: RandomForestClassifier(50, random_state=0),
}
numbers = (1, 2, 5, 10)
errors = np.zeros((len(models), len(numbers), 3))
for j, number in enumerate(numbers):
    for seed in range(3):
        rng = np.random.RandomState(seed)
        labeled = np.concatenate(
            [rng.choice(np.flatnonzero(digits == c), number, replace=False) for c in range(10)]
        )
        y = np.full(len(X), -1)
        y[labeled] = digits[labeled]
        for i, (name, make) in enumerate(models.items()):
            only = "only" in name
            model = make().fit(X[labeled] if only else X, y[labeled] if only else y)
            errors[i, j, seed] = np.mean(model.predict(X_test) != digits_test)

# %%
# Bars are standard errors over three random choices of the labeled samples. Label spreading and
# pooled label spreading have the smallest errors: nearest neighbors nearly always share the class.
# Label spreading is ahead with five labels of each class, by two standard errors of the difference;
# with one, two and ten, three choices do not tell which is better. Label spreading predicts by the
# training samples, which it keeps; pooled label spreading and MCSSB predict by trees.
figure, ax = plt.subplots(figsize=(7, 4.2))
for name, values in zip(models, errors):
    spread = values.std(axis=1, ddof=1) / np.sqrt(3)
    ax.errorbar(numbers, 100 * values.mean(axis=1), 100 * spread, fmt="o-", capsize=3, label=name)
ax.set(xscale="log", xlabel="labeled samples of each class", ylabel="error on new samples (%)")
ax.set(ylim=(0, None))
ax.set_xticks(numbers, numbers)
ax.minorticks_off()
ax.legend()

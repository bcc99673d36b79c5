"""
===============================
Loss while a ranker is learning
===============================

An online ranker has no training phase that ends: it scores each sample, then learns it. The mean
loss over the samples so far is a fair estimate, because no sample was learned before it was scored.
:class:`~sklrank.model_selection.ProgressiveValidationDisplay` draws it.

The samples are images of digits. The labels are seven properties of the digit, such as "even" and
"has a loop". The rank loss is the share of pairs of a relevant and an irrelevant label that are in
the wrong order: 0.5 for random scores.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

from sklrank.linear_model import OnlineLogisticRegression
from sklrank.model_selection import ProgressiveValidationDisplay
from sklrank.online_boosting import AdaOLMR, OnlineBMR

PROPERTIES = {
    "even": {0, 2, 4, 6, 8},
    "prime": {2, 3, 5, 7},
    "above four": {5, 6, 7, 8, 9},
    "a square": {0, 1, 4, 9},
    "has a loop": {0, 6, 8, 9},
    "drawn straight": {1, 4, 7},
    "the same upside down": {0, 1, 8},
}
X, digits = load_digits(return_X_y=True)
Y = np.column_stack([np.isin(digits, list(group)) for group in PROPERTIES.values()]).astype(int)
X, Y, digits = shuffle(X, Y, digits, random_state=0)
print(f"{len(X)} samples, {Y.shape[1]} labels, {Y.sum(axis=1).mean():.1f} relevant ones on average")

# %%
# Each model runs three times with different seeds; the band is one standard deviation. The
# default learners are ahead in the first hundreds of samples; boosted trees, the setting of the
# paper, need more samples and reach a similar loss.
display = ProgressiveValidationDisplay.from_estimators(
    {
        "AdaOLMR": AdaOLMR(),
        "AdaOLMR of trees": AdaOLMR("trees", n_estimators=50),
        "OnlineBMR of trees": OnlineBMR("trees", n_estimators=50, edge=0.05),
        "AdaOLMR of one linear model": AdaOLMR(OnlineLogisticRegression(), n_estimators=1),
    },
    X,
    Y,
    n_seeds=3,
    random_state=0,
)
display.ax_.set(title="Ranking properties of digits", ylim=(0, 0.25))
for name, losses in display.losses.items():
    print(f"{name:<28} last 500 samples: {losses[:, -500:].mean():.4f}")

# %%
# The trained model ranks the properties of any image.
model = AdaOLMR(random_state=0).fit(X[:-3], Y[:-3])
names = np.array(list(PROPERTIES))
for digit, best in zip(digits[-3:], names[model.predict_topk(X[-3:], k=3)]):
    print(digit, "->", ", ".join(best))

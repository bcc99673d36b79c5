"""
===========================
Five meanings of one metric
===========================

The same predictions have different values of ``NDCG@10`` in different programs. The programs differ
in the gain of a grade, the discount of a rank, queries without relevant documents, queries with
fewer than ten documents, and tied scores. :func:`~sklrank.metrics.ndcg_score` has a parameter for
each; the section :ref:`five-meanings` of the guide works one query out by hand.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklrank.metrics import ndcg_score

rng = np.random.RandomState(0)
qid = np.repeat(np.arange(200), rng.randint(4, 30, size=200))
grades = rng.choice(3, size=len(qid), p=[0.85, 0.1, 0.05])
# A coarse score, so that some documents of a query are tied.
scores = np.round(grades + rng.normal(scale=1.5, size=len(qid)), 0)
conventions = {
    "standard: empty queries are left out": {},
    "linear gain": {"gain": "linear"},
    "scikit-learn: linear gain, empty queries 0": {"gain": "linear", "empty": "zero"},
    "LightGBM and XGBoost: empty queries 1": {"empty": "one"},
    'LETOR 4.0: convention="letor"': {"convention": "letor"},
}
values = [ndcg_score(grades, scores, qid=qid, k=10, **options) for options in conventions.values()]

# %%
figure, ax = plt.subplots(figsize=(8, 3.4))
bars = ax.barh(range(len(values)), values, color="#0072B2", height=0.6)
ax.bar_label(bars, fmt="%.3f", padding=4)
ax.set_yticks(range(len(values)), conventions)
ax.invert_yaxis()
ax.set(xlabel="NDCG@10 of the same predictions", xlim=(0, 1))
ax.grid(axis="y", visible=False)

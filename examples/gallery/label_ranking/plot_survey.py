"""
=====================================
From a survey file to a paper's table
=====================================

400 respondents ranked some of six drinks; 99 means that they were not asked for this one. (If they
had named their best drinks only, ``positions_from_survey(..., unlisted="last")`` would be right.) A
Plackett-Luce model yields the table and the figures of a paper: see
:class:`~sklrank.label_ranking.PlackettLuceRanker`.
"""

from tempfile import NamedTemporaryFile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sklrank.datasets import sample_plackett_luce
from sklrank.label_ranking import PlackettLuceRanker, likelihood_ratio_test, positions_from_survey
from sklrank.model_selection import PreferenceDisplay

# %%
# The survey, a file with a row for each respondent.
rng = np.random.RandomState(0)
drinks, age = ["tea", "coffee", "juice", "milk", "cola", "water"], rng.randint(18, 80, size=400)
utility = [0.6, 0.9, 0.1, -0.6, -0.2, 0.0] + np.outer(age - 49, [2, 2, 0, 1, -4, -1]) / 100
answers = sample_plackett_luce(utility, random_state=1)
answers[rng.uniform(size=answers.shape) < 0.3] = 99
file = NamedTemporaryFile(suffix=".csv")
pd.DataFrame(answers.astype(int), columns=drinks).assign(age=age).to_csv(file.name, index=False)

# %%
# The table: worths compared with water, with standard errors and tests.
survey = pd.read_csv(file.name)
Y = positions_from_survey(survey[drinks], missing_values=99)
ranker = PlackettLuceRanker(alpha=0.0, tol=1e-6).fit(survey[["age"]], Y)
print(ranker.summary(reference="water").round(3))
print(ranker.summary("age").round(3))
without_age = PlackettLuceRanker(alpha=0.0, tol=1e-6).fit(np.ones((400, 1)), Y)
print("Does age matter?", likelihood_ratio_test(without_age, ranker))
print("Does the model fit?", ranker.goodness_of_fit())
print(f"AIC {ranker.aic():.1f}, without age {without_age.aic():.1f}")

# %%
# The figures: two drinks whose intervals do not overlap differ significantly.
figure, axes = plt.subplots(2, 2, figsize=(9.5, 7.5), layout="constrained")
PreferenceDisplay.from_estimator(ranker, ax=axes[0, 0])
for years, ax in zip((20, 70), axes[1]):
    person = pd.DataFrame({"age": [years]})
    PreferenceDisplay.from_estimator(ranker, person, kind="top_k", random_state=0, ax=ax)
    ax.set(title=f"age {years}", xlim=(0, 1), xlabel="Probability of the first place")
_ = PreferenceDisplay.from_estimator(ranker, survey[["age"]], kind="wins", ax=axes[0, 1])

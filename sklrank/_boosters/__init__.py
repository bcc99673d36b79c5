"""The loop of boosting on complete data: objectives, and weak learners of scikit-learn.

The names below are what other rooms may take.
"""

from sklrank._boosters.rounds import (
    MAX_SCORE_GAP,
    ROUNDING,
    Booster,
    Objective,
    exp_scores,
    of_boosters,
)
from sklrank._boosters.weak_learners import Learner, make_classifier_learner

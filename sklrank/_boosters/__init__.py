"""The loop of boosting on complete data: objectives, and weak learners of scikit-learn.

The names below are what other rooms may take.
"""

from sklrank._boosters.rounds import (
    MAX_SCORE_GAP,
    ROUNDING,
    Booster,
    Learner,
    Objective,
    exp_scores,
    make_classifier_learner,
    of_boosters,
)

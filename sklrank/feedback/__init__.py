"""Learning from partial feedback: labels shown, their propensities, and the rewards.

A ranker that observes only the relevance of the labels it shows must explore, that is, it must
sometimes show labels other than the best ones. An *exploration scheme* draws the labels to show and
computes their *propensities*, the probabilities that a label, or two labels together, are shown. An
:class:`Exploration` is a record of the labels and their propensities. An estimator learns from this
record when the rewards are known. If each term of a sum over the labels shown is divided by its
propensity (importance weighting), the sum is an unbiased estimate of the sum over all labels.

The parameter `randomization` of :class:`~sklrank.linear_model.SemiBanditRanker`,
:class:`~sklrank.online_boosting.TopKBBM`, :class:`~sklrank.online_boosting.TopKAdaptive` and, with
k = 1, of the bandit classifiers is the name of a scheme: "uniform", "single-swap", "plackett-luce",
"inverse-gap" or, for a single label, "thompson". Their parameter `exploration` is the amount of
exploration. The notes of :func:`explore`, which draws labels by the scores of other models, have a
table of the schemes.

What is not available (the parameter `available` of the methods that show labels) is not shown and
has the propensity 0; the schemes apply to the labels that are available.

The amount of exploration is a number, a function of the round t = 1, 2, ..., such as a
:class:`DecayingExploration`, or one of its names: "decay" is ``t ** (-1 / 4)``, and "ag0" is
``t ** (-1 / 3) / 2``. The amount of the bandit classifiers may also depend on the feedback of the
previous rounds: it may be a :class:`SelfTunedExploration`, or "ag1", "ag2" or "ag3".
"""

from sklrank.feedback._exploration import Exploration
from sklrank.feedback._exploration import arrays_of_record as arrays_of_record
from sklrank.feedback._exploration import check_exploration as check_exploration
from sklrank.feedback._exploration import check_rewards as check_rewards
from sklrank.feedback._exploration import check_shown as check_shown
from sklrank.feedback._randomization import LIST_RANDOMIZATIONS as LIST_RANDOMIZATIONS
from sklrank.feedback._randomization import RANDOMIZATIONS as RANDOMIZATIONS
from sklrank.feedback._randomization import explore
from sklrank.feedback._randomization import make_sampler as make_sampler
from sklrank.feedback._rates import DECAYS as DECAYS
from sklrank.feedback._rates import SCHEDULES as SCHEDULES
from sklrank.feedback._rates import DecayingExploration, SelfTunedExploration
from sklrank.feedback._rates import exploration_rates as exploration_rates
from sklrank.feedback._rates import make_schedule as make_schedule

# The names above that are not listed here serve the estimators of other rooms.
__all__ = ["DecayingExploration", "Exploration", "SelfTunedExploration", "explore"]

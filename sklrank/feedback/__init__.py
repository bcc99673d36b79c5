"""Learning from partial feedback: labels shown, their propensities, and the rewards.

A ranker that observes only the relevance of the labels it shows must explore, that is, it must
sometimes show labels other than the best ones. An *exploration scheme* draws the labels to show and
computes their *propensities*, the probabilities that a label, or two labels together, are shown. An
:class:`Exploration` is a record of the labels and their propensities. An estimator learns from this
record when the rewards are known. If each term of a sum over the labels shown is divided by its
propensity (importance weighting), the sum is an unbiased estimate of the sum over all labels.

The parameter `randomization` of :class:`~sklrank.linear_model.SemiBanditRanker`,
:class:`~sklrank.online_boosting.TopKBBM`, :class:`~sklrank.online_boosting.TopKAdaptive` and, with
k = 1, of the bandit classifiers is the name of a scheme, and their parameter `exploration` is the
amount of exploration:

- "uniform" (:class:`UniformRandomization`) shows k random labels with probability `exploration`,
  and otherwise the *greedy top k*, the k labels of largest score, best first.
- "single-swap" (:class:`SingleSwapRandomization`) shows the greedy top k. With probability
  `exploration`, up to two of these labels are swapped with random other labels first.
- "plackett-luce" (:class:`PlackettLuceRandomization`) shows the greedy top k. With probability
  `exploration`, it shows k labels drawn by the softmax of their scores instead.
- "softmax" (:class:`SoftmaxRandomization`) always shows k labels drawn by the softmax of their
  scores, in which the uniform distribution has the share `exploration`.
- "inverse-gap" (:class:`InverseGapRandomization`) always draws labels, those outside of the greedy
  top k in inverse proportion to one plus their gap in score, divided by `exploration`.
- "thompson" (:class:`ThompsonRandomization`, for a single label) shows the label of the largest
  score after noise is added, whose standard deviation is proportional to `exploration`.

What is not available (the parameter `available` of the methods that show labels) is not shown and
has the propensity 0; the schemes apply to the labels that are available.

The amount of exploration is a number, a function of the round t = 1, 2, ..., such as a
:class:`DecayingExploration`, or one of its names: "decay" is ``t ** (-1 / 4)``, and "ag0" is
``t ** (-1 / 3) / 2``. The amount of the bandit classifiers may also depend on the feedback of the
previous rounds: it may be a :class:`SelfTunedExploration`, or "ag1", "ag2" or "ag3".
"""

from sklrank.feedback._exploration import Exploration
from sklrank.feedback._exploration import check_exploration as check_exploration
from sklrank.feedback._exploration import check_rewards as check_rewards
from sklrank.feedback._exploration import check_shown as check_shown
from sklrank.feedback._randomization import LIST_RANDOMIZATIONS as LIST_RANDOMIZATIONS
from sklrank.feedback._randomization import RANDOMIZATIONS as RANDOMIZATIONS
from sklrank.feedback._randomization import (
    InverseGapRandomization,
    PlackettLuceRandomization,
    SingleSwapRandomization,
    SoftmaxRandomization,
    ThompsonRandomization,
    UniformRandomization,
)
from sklrank.feedback._randomization import make_sampler as make_sampler
from sklrank.feedback._rates import DECAYS as DECAYS
from sklrank.feedback._rates import SCHEDULES as SCHEDULES
from sklrank.feedback._rates import DecayingExploration, SelfTunedExploration
from sklrank.feedback._rates import exploration_rates as exploration_rates
from sklrank.feedback._rates import make_schedule as make_schedule

# The names above that are not listed here serve the estimators of other rooms.
__all__ = [
    "DecayingExploration",
    "Exploration",
    "InverseGapRandomization",
    "PlackettLuceRandomization",
    "SelfTunedExploration",
    "SingleSwapRandomization",
    "SoftmaxRandomization",
    "ThompsonRandomization",
    "UniformRandomization",
]

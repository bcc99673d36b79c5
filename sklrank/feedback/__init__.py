"""Learning from partial feedback: labels shown, their propensities, and the rewards.

A ranker that observes only the relevance of the labels it shows must explore: it must sometimes
show labels other than the best ones. An *exploration scheme* draws the labels to show and computes
their *propensities*, the probabilities that a label, or two labels together, are shown. The notes
of :func:`explore` have a table of the schemes, whose names are the values of the parameter
`randomization` of the estimators. An :class:`Exploration` is a record of the labels and their
propensities. An estimator learns from it when the rewards are known. If each term of a sum over the
labels shown is divided by its propensity (importance weighting), the sum is an unbiased estimate of
the sum over all labels.

The parameter `exploration` of the estimators is the amount of exploration: a number, a function of
the round t = 1, 2, ..., such as a :class:`DecayingExploration`, or one of its names: "decay" is
``t ** (-1 / 4)``, and "ag0" is ``t ** (-1 / 3) / 2``. The amount of the bandit classifiers may also
depend on the feedback: it may be a :class:`SelfTunedExploration`, or "ag1", "ag2" or "ag3".
"""

from sklrank.feedback._protocol.exploration import Exploration
from sklrank.feedback._protocol.rates import DecayingExploration, SelfTunedExploration
from sklrank.feedback._protocol.schemes import explore

__all__ = ["DecayingExploration", "Exploration", "SelfTunedExploration", "explore"]

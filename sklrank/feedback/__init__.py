"""Learning from partial feedback: labels shown, their propensities, and the rewards.

A ranker that observes only the relevance of the labels it shows must explore, that is, it must
sometimes show labels other than the best ones. An *exploration scheme* draws the labels to show and
computes their *propensities*, the probabilities that a label, or two labels together, are shown. An
:class:`Exploration` is a record of the labels and their propensities. An estimator learns from this
record when the rewards are known. If each term of a sum over the labels shown is divided by its
propensity (importance weighting), the sum is an unbiased estimate of the sum over all labels.

The parameter `randomization` of :class:`~sklrank.online_boosting.TopKBBM` and
:class:`~sklrank.online_boosting.TopKAdaptive` is the name of a scheme, and their parameter
`exploration` is the amount of exploration:

- "uniform" (:class:`UniformRandomization`) shows k random labels with probability `exploration`,
  and otherwise the *greedy top k*, the k labels of largest score, best first.
- "single-swap" (:class:`SingleSwapRandomization`) shows the greedy top k. With probability
  `exploration`, up to two of these labels are swapped with random other labels first.
- "plackett-luce" (:class:`PlackettLuceRandomization`) shows the greedy top k. With probability
  `exploration`, it shows k labels drawn by the softmax of their scores instead.
- "softmax" (:class:`SoftmaxRandomization`) always shows k labels drawn by the softmax of their
  scores, in which the uniform distribution has the share `exploration`.

:class:`SelfTunedExploration` is an exploration rate for the bandit classifiers that depends on the
feedback of the previous rounds.
"""

from sklrank.feedback._exploration import Exploration
from sklrank.feedback._randomization import (
    PlackettLuceRandomization,
    SingleSwapRandomization,
    SoftmaxRandomization,
    UniformRandomization,
)
from sklrank.feedback._self_tuned import SelfTunedExploration

__all__ = [
    "Exploration",
    "PlackettLuceRandomization",
    "SelfTunedExploration",
    "SingleSwapRandomization",
    "SoftmaxRandomization",
    "UniformRandomization",
]

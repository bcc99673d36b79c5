"""Learning from partial feedback: labels shown, their propensities, and the rewards.

A ranker that observes only the relevance of the labels it shows must explore: now and then it shows
other labels than the best ones. An *exploration scheme* draws the labels to show and knows the
probability that it shows a label, or two labels, their *propensities*. An :class:`Exploration` is
the record of labels and propensities, from which an estimator learns as soon as the rewards are
known. A sum over the labels shown, each term divided by its propensity (importance weighting), is
an unbiased estimate of the sum over all labels.

The schemes, by their names in the parameter `randomization` of :class:`~sklrank.online_boosting.\
TopKBBM` and :class:`~sklrank.online_boosting.TopKAdaptive`:

- "uniform", :class:`UniformRandomization`: the greedy top k, or k labels at random;
- "single-swap", :class:`SingleSwapRandomization`: the greedy top k, with up to two labels swapped.
"""

from sklrank.feedback._exploration import Exploration
from sklrank.feedback._randomization import SingleSwapRandomization, UniformRandomization

__all__ = ["Exploration", "SingleSwapRandomization", "UniformRandomization"]

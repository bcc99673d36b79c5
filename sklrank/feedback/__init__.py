"""Learning from partial feedback: what is shown, with which probability, and what came back.

A ranker that sees only whether the labels it showed were relevant has to show others now and then,
and to remember how probable it was that it did: the *propensities*. The schemes
:class:`UniformRandomization` and :class:`SingleSwapRandomization` draw what to show and know those
probabilities exactly; an :class:`Exploration` is the record of it, from which an estimator learns
when the rewards are in. Importance weighting, a sum over what was shown divided by its
propensities, then estimates without bias what a sum over all labels would have been.
"""

from sklrank.feedback._exploration import Exploration
from sklrank.feedback._randomization import SingleSwapRandomization, UniformRandomization

__all__ = ["Exploration", "SingleSwapRandomization", "UniformRandomization"]

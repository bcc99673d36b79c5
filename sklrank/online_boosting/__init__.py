"""Online boosting of label rankers.

A booster lets weak learners vote for labels, one sample at a time. Each learner then learns from
the cost of a vote for each label, given the votes of the learners before it. All algorithms share
one loop (`_rounds`); they differ in the costs of votes (`_costs`) and in the expert, that is the
number of learners, whose votes rank the labels:

- :class:`AdaOLMR`: the costs are gradients of the logistic rank loss; the learners have weights,
  learned by gradient steps; Hedge chooses the expert.
- :class:`OnlineBMR`: the costs are boost-by-majority potentials for learners of a known edge; all
  learners have the same weight and belong to the expert.

:class:`TopKAdaptive` and :class:`TopKBBM` are the same two algorithms if only the relevance of the
k labels shown becomes known (`_pair_feedback`).

By default, the weak learners are those that do best on the benchmark sets
(:func:`recommended_learners`); any scikit-learn classifier with `partial_fit` can be boosted.
"""

from sklrank.online_boosting._ada_olmr import AdaOLMR
from sklrank.online_boosting._online_bmr import OnlineBMR
from sklrank.online_boosting._top_k_adaptive import TopKAdaptive
from sklrank.online_boosting._top_k_bbm import TopKBBM
from sklrank.online_boosting._weak_learners import recommended_learners

__all__ = ["AdaOLMR", "OnlineBMR", "TopKAdaptive", "TopKBBM", "recommended_learners"]

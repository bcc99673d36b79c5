"""Online boosting of label rankers.

A booster lets weak learners vote for labels, row by row. After each row it tells every learner what
a vote for each label would have cost, given the votes of the learners before it. The algorithms are
one loop (`_rounds`); they differ in how votes are priced (`_costs`) and in who decides:

- :class:`AdaOLMR`: gradients of the logistic rank loss; the learners have weights, learnt by
  gradient steps; Hedge chooses how many of the learners to follow.
- :class:`OnlineBMR`: boost-by-majority potentials for learners of a known edge; all have one vote.

:class:`TopKAdaptive` and :class:`TopKBBM` are the same two where only the relevance of the k labels
that were shown becomes known: another source of label pairs (`_pair_sources`).

Any scikit-learn classifier with `partial_fit` can be boosted. :func:`recommended_learners` is the
list of weak learners that does best on the benchmark sets.
"""

from sklrank.online_boosting._ada_olmr import AdaOLMR
from sklrank.online_boosting._online_bmr import OnlineBMR
from sklrank.online_boosting._top_k_adaptive import TopKAdaptive
from sklrank.online_boosting._top_k_bbm import TopKBBM
from sklrank.online_boosting._weak_learners import recommended_learners

__all__ = ["AdaOLMR", "OnlineBMR", "TopKAdaptive", "TopKBBM", "recommended_learners"]

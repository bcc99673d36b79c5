"""Online boosting of label rankers.

The weak learners of a booster vote for the labels of one sample at a time. Each learner then learns
from the costs of a vote for each label, given the votes of the learners before it. Expert i ranks
the labels by the votes of the first i learners. All algorithms share one loop (`_rounds`). They
differ in the costs of votes (`_costs`) and in the choice of the expert:

- In :class:`AdaOLMR`, the costs are gradients of the logistic rank loss. The learners have weights,
  which are learned by gradient steps. Hedge chooses the expert.
- In :class:`OnlineBMR`, the costs are boost-by-majority potentials for learners of a known edge.
  All learners have the same weight. The last expert, which includes all learners, ranks the labels.

:class:`TopKAdaptive` and :class:`TopKBBM` are the variants of these two algorithms that observe
only the relevance of the k labels shown (`_pair_feedback`).

By default, all boosters except :class:`OnlineBMR` use the weak learners that rank best on the
benchmark sets (:func:`recommended_learners`). Any scikit-learn classifier whose `partial_fit`
accepts `classes` and `sample_weight` can be boosted. :class:`OnlineVotingClassifier` is not a
booster, but a weak learner: it weights the votes of classifiers by their rank losses.
"""

from sklrank.online_boosting._ada_olmr import AdaOLMR
from sklrank.online_boosting._online_bmr import OnlineBMR
from sklrank.online_boosting._online_voting import OnlineVotingClassifier
from sklrank.online_boosting._top_k_adaptive import TopKAdaptive
from sklrank.online_boosting._top_k_bbm import TopKBBM
from sklrank.online_boosting._weak_learners import recommended_learners

__all__ = [
    "AdaOLMR",
    "OnlineBMR",
    "OnlineVotingClassifier",
    "TopKAdaptive",
    "TopKBBM",
    "recommended_learners",
]

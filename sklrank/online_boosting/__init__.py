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

By default, all boosters use the linear and kernel models of :func:`recommended_learners`, and
:class:`AdaOLMR` also trees if `y` has one class a sample. Weak learners of different kinds vote
together. The parameter `estimator` accepts

- classifiers with ``partial_fit(X, y, classes, sample_weight)``. They learn one copy of a sample
  for each relevant label l, with the weight ``max(c) - c[l]``, where c are the costs of votes.
  Their votes are the probabilities by `predict_proba`, or the labels by `predict`;
- classifiers of indicator matrices, whose tag `single_output` is False, such as
  :class:`~sklearn.multioutput.MultiOutputClassifier`. They learn the row of the indicator matrix
  once, with the weight ``sum(abs(c - mean(c))) / 2``. If `predict_proba` returns a list with an
  array for each label, the votes are proportional to the probabilities that labels are relevant;
- classifiers of two classes, whose tag `multi_class` is False. For more than two labels, one clone
  for each label learns whether a vote for the label costs less than a uniform vote. The weight is
  the difference of these costs. The votes are proportional to the probabilities of the labels;
- rankers with ``partial_fit(X, Y)`` and `predict_ranks`, such as
  :class:`~sklrank.linear_model.PredtronLabelRanker`, which learn like classifiers of indicator
  matrices. A label of rank r among m labels receives the vote ``2 (m - r) / (m (m - 1))``;
- learners of costs, which have the method ``partial_fit_costs(X, costs)``. For each sample, it
  receives X of shape (1, n_features) and the costs of a vote for each label, of shape
  (1, n_labels). They vote like classifiers. A learner with an edge has votes h of lower cost
  ``costs @ h`` than random votes.

A learner whose `partial_fit` has no parameter `sample_weight`, such as those of river's interface
to scikit-learn, learns copies of the samples instead: in proportion to their weights, and one copy
in the mean.
"""

from sklrank.online_boosting._all_labels import AdaOLMR, OnlineBMR
from sklrank.online_boosting._top_k import TopKAdaptive, TopKBBM
from sklrank.online_boosting._weak_learners import recommended_learners

__all__ = ["AdaOLMR", "OnlineBMR", "TopKAdaptive", "TopKBBM", "recommended_learners"]

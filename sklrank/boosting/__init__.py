"""Boosting in function space: weak learners are fitted one after another to all samples.

In each round, an *objective* computes a label and a weight for each sample from the current scores,
a weak learner is fitted to them, and added with a step. The boosters differ in their objectives.

Rankers of the documents of queries, by relevance:

- :class:`HistGradientBoostingRanker` fits regression trees to a logistic loss of pairs of
  documents, weighted by their gains;
- :class:`NDCGBoost` decreases a bound on the expected loss of NDCG;
- :class:`AdaRank` weights queries by the exponential loss of a ranking metric;
- :class:`RankBoost` weights documents by the exponential loss of their pairs;
- :class:`RankingRefiner` weights documents by the losses of their pairs under the ranking of a base
  ranker and under a few relevance judgements;
- :class:`ConformalDocumentList` wraps any ranker of documents and predicts lists whose missed
  recall, or whose share of false discoveries, is limited;
- :class:`ResidualRefiner` does not boost: it corrects the scores of a base ranker by a linear
  function that is fitted to a few judgements.
"""

from sklrank.boosting._ada_rank import AdaRank
from sklrank.boosting._conformal_lists import ConformalDocumentList
from sklrank.boosting._hist_gradient_boosting.ranker import HistGradientBoostingRanker
from sklrank.boosting._ndcg_boost import NDCGBoost
from sklrank.boosting._rank_boost import RankBoost
from sklrank.boosting._refinement.boosted import RankingRefiner
from sklrank.boosting._refinement.linear import ResidualRefiner

__all__ = [
    "AdaRank",
    "ConformalDocumentList",
    "HistGradientBoostingRanker",
    "NDCGBoost",
    "RankBoost",
    "RankingRefiner",
    "ResidualRefiner",
]

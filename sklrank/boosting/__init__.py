"""Boosting in function space: weak learners are fitted one after another to all samples.

The boosters share one loop. In each round, an *objective* computes a label and a weight for each
sample from the current scores, a weak learner is fitted to them, the objective computes the step,
and the scores are updated. The boosters differ in their objectives. By default, the weak learners
of :class:`NDCGBoost` are regression trees and those of :class:`AdaRank` single features, and
:class:`RankingRefiner` does not boost.

Rankers of the documents of queries, by relevance:

- :class:`NDCGBoost` decreases a logistic loss of pairs of documents, weighted by their gains, or,
  with a classifier, a bound on the expected loss of NDCG;
- :class:`AdaRank` weights queries by the exponential loss of a ranking metric;
- :class:`RankBoost` weights documents by the exponential loss of their pairs;
- :class:`RankingRefiner` corrects the scores of a base ranker by a few relevance judgements, or
  weights documents by the losses of their pairs under the base ranking and under the judgements.

Classifiers of labeled and unlabeled samples:

- :class:`MCSSBClassifier` uses similarities between samples;
- :class:`AssembleClassifier` uses the labels that the ensemble predicts for unlabeled samples.
"""

from sklrank.boosting._ada_rank import AdaRank
from sklrank.boosting._assemble import AssembleClassifier
from sklrank.boosting._mcssb import MCSSBClassifier
from sklrank.boosting._ndcg_boost import NDCGBoost
from sklrank.boosting._rank_boost import RankBoost
from sklrank.boosting._ranking_refiner import RankingRefiner

__all__ = [
    "AdaRank",
    "AssembleClassifier",
    "MCSSBClassifier",
    "NDCGBoost",
    "RankBoost",
    "RankingRefiner",
]

"""Boosting in function space, on whole data sets.

All boosters share one loop. In each round an *objective* computes a label and a weight for each
sample from the current scores, any scikit-learn classifier is fitted to them, the objective
computes the step, and the scores are updated. The boosters differ in their objectives.

Rankers of the documents of queries, by relevance:

- :class:`NDCGBoost` weights documents by the NDCG that their ranks lose;
- :class:`AdaRank` weights whole queries by how badly they are ranked;
- :class:`RankBoost` weights pairs of documents;
- :class:`RankingRefiner` weights documents by the order of a base ranker and by few judgements.

Classifiers of labeled and unlabeled samples:

- :class:`MCSSBClassifier` boosts by the similarities of samples;
- :class:`AssembleClassifier` boosts by the labels that the ensemble predicts for unlabeled samples.
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

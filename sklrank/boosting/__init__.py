"""Boosting in function space, on whole data.

One loop for all: from the scores so far an *objective* tells each row a label and a weight, any
scikit-learn classifier learns them, the objective gives the step, the scores move on. The classes
differ in the objective.

Documents of queries, by relevance:

- :class:`NDCGBoost` weighs documents by what their places cost in NDCG;
- :class:`AdaRank` weighs whole queries by how badly they are ranked;
- :class:`RankBoost` weighs pairs of documents;
- :class:`RankingRefiner` weighs documents by a base ranker's order and few judgements.

Rows with and without labels:

- :class:`MCSSBClassifier` boosts by the similarities of rows;
- :class:`AssembleClassifier` boosts by the labels that the ensemble gives to unlabeled rows.
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

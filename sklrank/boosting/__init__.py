"""Boosting in function space: document ranking, ranking refinement, semi-supervised classes.

One loop (`_rounds.py`), several objectives: from the scores so far an objective tells each row a
label and a weight, any scikit-learn classifier learns them, the objective gives the step.
"""

from sklrank.boosting._ada_rank import AdaRank
from sklrank.boosting._ndcg_boost import NDCGBoost
from sklrank.boosting._rank_boost import RankBoost
from sklrank.boosting._ranking_refiner import RankingRefiner

__all__ = ["AdaRank", "NDCGBoost", "RankBoost", "RankingRefiner"]

"""Validation of rankers: progressive validation of online learners, validation by query, plots.

In *progressive validation*, also known as prequential evaluation, a model predicts each sample
before it learns it. Papers on online boosting report the mean loss of these predictions; see
:func:`progressive_val_score` and :class:`ProgressiveValidationDisplay`. A model that learns from
what it shows is scored by the rewards of that: :func:`progressive_reward_score`.

The documents of a *query* must be in the same part of a split; see :class:`QueryKFold` and
:func:`query_train_test_split`. :func:`query_permutation_importance` computes the importance of
features for a ranking of documents.

:class:`PreferenceDisplay` plots preferences with their intervals, :class:`RankingDisplay` the
predicted against the true positions of labels, and :class:`PairReliabilityDisplay` the reliability
of the probabilities of their order.
"""

from sklrank.model_selection._importance import query_permutation_importance
from sklrank.model_selection._label_ranking_displays import (
    PairReliabilityDisplay,
    PreferenceDisplay,
    RankingDisplay,
)
from sklrank.model_selection._progressive import progressive_reward_score, progressive_val_score
from sklrank.model_selection._progressive_display import ProgressiveValidationDisplay
from sklrank.model_selection._query_splits import QueryKFold, query_train_test_split

__all__ = [
    "PairReliabilityDisplay",
    "PreferenceDisplay",
    "ProgressiveValidationDisplay",
    "QueryKFold",
    "RankingDisplay",
    "progressive_reward_score",
    "progressive_val_score",
    "query_permutation_importance",
    "query_train_test_split",
]

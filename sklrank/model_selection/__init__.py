"""Validation of rankers: progressive validation of online learners, and validation by query.

In *progressive validation*, also known as prequential evaluation, a model predicts each sample
before it learns the sample. Papers on online boosting report the mean loss of these predictions;
see :func:`progressive_val_score` and :class:`ProgressiveValidationDisplay`.

The documents of a *query* are ranked against each other, so they must be in the same part of a
split; see :class:`QueryKFold` and :func:`query_train_test_split`.
:func:`query_permutation_importance` computes the importance of features for a ranking of documents.
"""

from sklrank.model_selection._importance import query_permutation_importance
from sklrank.model_selection._plot import ProgressiveValidationDisplay
from sklrank.model_selection._progressive import progressive_val_score
from sklrank.model_selection._query_splits import QueryKFold, query_train_test_split

__all__ = [
    "ProgressiveValidationDisplay",
    "QueryKFold",
    "progressive_val_score",
    "query_permutation_importance",
    "query_train_test_split",
]

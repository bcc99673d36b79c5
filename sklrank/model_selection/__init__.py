"""Validation of models that rank: as they learn, row by row, or by query.

In *progressive validation*, also known as prequential evaluation, every row is both a test and a
training row, and never a row that the model has seen; papers on online boosting report the mean of
these losses: :func:`progressive_val_score`, :class:`ProgressiveValidationDisplay`.

The documents of a *query* are ranked against each other, so they belong on one side of a split:
:class:`QueryKFold` and :func:`query_train_test_split` see to it, and
:func:`query_permutation_importance` tells which features a ranking of documents rests on.
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

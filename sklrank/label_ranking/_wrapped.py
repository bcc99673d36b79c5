"""Base class of the estimators that wrap a single label ranker."""

from __future__ import annotations

from sklrank._sklearn import HasMethods
from sklrank.label_ranking._label_ranker import MetaLabelRanker

__all__ = ["WrappedRanker"]


class WrappedRanker(MetaLabelRanker):
    """Base class of the estimators that fit one ranker and rank as it does.

    A subclass has the parameter `ranker`, and its `_fit_rankings` sets `ranker_`.
    """

    _parameter_constraints: dict = {
        "ranker": [HasMethods(["fit", "decision_function"])],
        "random_state": ["random_state"],
    }

    def _templates(self):
        return [self.ranker]

    def _label_scores(self, X):
        X = self._check_fitted_rows(X)
        return self.ranker_.decision_function(X)

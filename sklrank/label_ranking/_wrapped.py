"""Base class of the estimators that wrap a single label ranker."""

from __future__ import annotations

from abc import abstractmethod

from sklrank._sklearn import HasMethods
from sklrank.label_ranking._inner_ranker import check_frozen_labels, is_ranker
from sklrank.label_ranking._label_ranker import MetaLabelRanker

__all__ = ["WrappedRanker"]


class WrappedRanker(MetaLabelRanker):
    """Base class of the estimators that fit one ranker and rank as it does.

    A subclass has the parameter `ranker` and defines `_fit_ranker`.
    """

    _parameter_constraints: dict = {
        "ranker": [HasMethods(["fit", "decision_function"])],
        "random_state": ["random_state"],
    }

    @abstractmethod
    def _fit_ranker(self, X, positions):
        """Set `ranker_` and fit what the subclass adds to it."""

    def _templates(self):
        return [self.ranker]

    def _fit_rankings(self, X, positions, sample_weight=None):
        if not is_ranker(self.ranker):
            raise ValueError(
                "ranker must be a label ranker, whose targets are positions, such as "
                f"LabelwiseRanker(); got {self.ranker!r}"
            )
        check_frozen_labels(self.ranker, self.classes_)
        self._fit_ranker(X, positions)

    def _label_scores(self, X):
        X = self._check_fitted_rows(X)
        return self.ranker_.decision_function(X)

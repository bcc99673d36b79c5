"""Base class of the estimators that wrap a single label ranker."""

from __future__ import annotations

from abc import abstractmethod

from sklearn.frozen import FrozenEstimator

from sklrank._sklearn import HasMethods
from sklrank._validation import check_columns
from sklrank.label_ranking._inner_ranker import is_ranker
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
        if isinstance(self.ranker, FrozenEstimator) and hasattr(self.ranker, "classes_"):
            self._check_labels(self.ranker.classes_)
        self._fit_ranker(X, positions)

    def _check_labels(self, classes):
        """Raise a ValueError if the frozen ranker was fitted to other labels than those of `y`."""
        if len(classes) != len(self.classes_):
            raise ValueError(
                f"y has {len(self.classes_)} labels, and the frozen ranker was fitted to "
                f"{len(classes)}: pass y with the labels of the ranker, in their order"
            )
        if isinstance(self.classes_[0], str):
            check_columns(self.classes_, classes)

    def _label_scores(self, X):
        X = self._check_fitted_rows(X)
        return self.ranker_.decision_function(X)

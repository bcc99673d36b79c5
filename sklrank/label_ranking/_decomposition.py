"""What the rankers share that take rankings apart into targets of one estimator."""

from __future__ import annotations

from abc import abstractmethod

from sklrank._sklearn import HasMethods
from sklrank.label_ranking._label_ranker import LabelRanker

__all__ = ["DecompositionRanker"]


class DecompositionRanker(LabelRanker):
    """A label ranker that clones one estimator.

    A subclass says which one by default (`_default_estimator`).
    """

    _parameter_constraints: dict = {
        **LabelRanker._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
    }

    @abstractmethod
    def _default_estimator(self):
        """The estimator to use where none is given."""

    def _template(self):
        return self._default_estimator() if self.estimator is None else self.estimator

    def _templates(self):
        return [self._template()]

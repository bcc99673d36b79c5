"""What the rankers share that take rankings apart into targets of one estimator."""

from __future__ import annotations

from abc import abstractmethod

from sklearn.utils import get_tags

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

    def _check_takes_one_target(self, part):
        """Where each label or pair has its own model, refuse an estimator of several targets."""
        if not get_tags(self._template()).target_tags.single_output:
            raise ValueError(
                f"estimator={self.estimator!r} learns several targets together only, but these "
                f"rankings need one model for each {part}: use the estimator inside it"
            )

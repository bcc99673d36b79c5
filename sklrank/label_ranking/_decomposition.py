"""What the rankers share that take rankings apart into targets of one estimator."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.utils import get_tags

from sklrank._sklearn import HasMethods, StrOptions
from sklrank.label_ranking._label_ranker import LabelRanker

__all__ = ["DecompositionRanker"]


class DecompositionRanker(LabelRanker):
    """A label ranker that clones one estimator.

    A subclass says which one by default (`_default_estimator`).
    """

    _parameter_constraints: dict = {
        **LabelRanker._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
        "multi_output": [StrOptions({"auto"}), "boolean"],
    }

    @abstractmethod
    def _default_estimator(self, random_state):
        """The estimator to use where none is given."""

    def _template(self):
        if self.estimator is None:
            return self._default_estimator(self.random_state)
        return self.estimator

    def _template_of_fit(self):
        """The template that one fit clones, seeded by what it draws from `random_state`."""
        if self.estimator is None and isinstance(self.random_state, np.random.RandomState):
            # Cloning copies a generator, which would then never move on.
            seed = self.random_state.randint(np.iinfo(np.int32).max)
            return self._default_estimator(seed)
        return self._template()

    def _templates(self):
        return [self._template()]

    def _check_takes_one_target(self, part):
        """Where each label or pair has its own model, refuse an estimator of several targets."""
        if not get_tags(self._template()).target_tags.single_output:
            raise ValueError(
                f"estimator={self.estimator!r} learns several targets together only, but these "
                f"rankings need one model for each {part}: use the estimator inside it"
            )

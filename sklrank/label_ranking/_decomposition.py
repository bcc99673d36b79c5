"""Base class of the rankers that decompose rankings into targets of one estimator."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.utils import get_tags

from sklrank._sklearn import HasMethods, StrOptions
from sklrank.label_ranking._label_ranker import LabelRanker

__all__ = ["DecompositionRanker"]


class DecompositionRanker(LabelRanker):
    """A label ranker that fits clones of one estimator.

    A subclass defines `_default_estimator`, `_fit_rankings` and `_label_scores`.
    """

    _parameter_constraints: dict = {
        **LabelRanker._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
        "multi_output": [StrOptions({"auto"}), "boolean"],
    }

    @abstractmethod
    def _default_estimator(self, random_state, n_jobs):
        """Return the estimator of ``estimator=None``."""

    def _template(self):
        if self.estimator is None:
            return self._default_estimator(self.random_state, self.n_jobs)
        return self.estimator

    def _template_of_fit(self, jointly):
        """Return the estimator that this fit clones, with a seed drawn from `random_state`."""
        if self.estimator is not None:
            return self.estimator
        random_state = self.random_state
        if isinstance(random_state, np.random.RandomState):
            # Clones copy a generator: it would never advance.
            random_state = random_state.randint(np.iinfo(np.int32).max)
        # Either the fits are shared among `n_jobs` processes, or the trees of one forest.
        return self._default_estimator(random_state, self.n_jobs if jointly else None)

    def _templates(self):
        return [self._template()]

    def _takes_many_targets(self):
        return get_tags(self._template()).target_tags.multi_output

    def _check_takes_one_target(self, part):
        """Raise if the estimator cannot be fitted to the target of a single label or pair."""
        if not get_tags(self._template()).target_tags.single_output:
            raise ValueError(
                f"estimator={self.estimator!r} learns several targets together only, but these "
                f"parameters and rankings need one model for each {part}: use the estimator inside "
                "it, or multi_output=True for complete rankings"
            )

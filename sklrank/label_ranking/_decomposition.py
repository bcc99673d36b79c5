"""Base class of the rankers that decompose rankings into targets for a regressor or classifier."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from sklrank._randomness import draw_seed
from sklrank._sklearn import HasMethods, StrOptions
from sklrank.label_ranking._label_ranker import MetaLabelRanker

__all__ = ["DecompositionRanker"]


class DecompositionRanker(MetaLabelRanker):
    """Base class of label rankers that fit clones of `estimator`.

    A subclass defines `_default_estimator`, `_fit_rankings` and `_label_scores`.
    """

    _parameter_constraints: dict = {
        **MetaLabelRanker._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
        "multi_output": [StrOptions({"auto"}), "boolean"],
    }

    @abstractmethod
    def _default_estimator(self, random_state, n_jobs):
        """Return the estimator used if `estimator` is None, with the given parameters."""

    def _template(self):
        if self.estimator is None:
            return self._default_estimator(self.random_state, self.n_jobs)
        return self.estimator

    def _template_of_fit(self, jointly):
        """Return the estimator that `fit` clones: `estimator`, or the default if that is None.

        If `random_state` is a generator, an integer seed for the default estimator is drawn from
        it. The default estimator receives `n_jobs` only if `jointly`, that is if one model is
        fitted for all labels or all pairs.
        """
        if self.estimator is not None:
            return self.estimator
        random_state = self.random_state
        if isinstance(random_state, np.random.RandomState):
            # `clone` copies a generator, so without this draw the generator would never advance,
            # and all fits would use the same random numbers.
            random_state = draw_seed(random_state)
        # Either several fits run in parallel, or the trees of a single forest are fitted in
        # parallel; `n_jobs` applies to only one of the two.
        return self._default_estimator(random_state, self.n_jobs if jointly else None)

    def _fit_jointly(self, template, X, targets):
        """Return a list with a single clone of the template, fitted to all target columns."""
        fits = self._track([template], "joint fit", state=lambda: None)
        return [clone(estimator).fit(X, targets) for estimator in fits]

    def _templates(self):
        return [self._template()]

    def _takes_many_targets(self):
        return get_tags(self._template()).target_tags.multi_output

    def _takes_one_target(self):
        return get_tags(self._template()).target_tags.single_output

    def _check_takes_one_target(self, part):
        """Raise a ValueError if the estimator cannot be fitted to a single target column.

        `part` describes in the message what a column stands for: a label or a pair of labels.
        """
        if not self._takes_one_target():
            raise ValueError(
                f"estimator={self.estimator!r} learns several targets together only, but these "
                f"parameters and rankings need one model for each {part}: use the estimator inside "
                "it, or multi_output=True for complete rankings"
            )

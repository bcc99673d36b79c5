"""The estimator around rounds with top-k feedback: show k labels, learn which are relevant."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs

from sklrank._base_online import row_blocks, to_dense
from sklrank._sklearn import Interval, StrOptions, _fit_context
from sklrank._validation import check_weights, unchanged_on_error
from sklrank.feedback import Exploration
from sklrank.feedback._exploration import MIN_PROPENSITY, check_exploration, check_rewards
from sklrank.feedback._randomization import RANDOMIZATIONS
from sklrank.online_boosting._online_booster import BATCH, OnlineBooster
from sklrank.online_boosting._pair_sources import SimulatedTopKFeedback, TopKFeedback

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["TopKBooster"]


class TopKBooster(OnlineBooster):
    """Online boosting from top-k feedback (Algorithm 1 of Raman et al. 2020)."""

    _tie_loss = 1.0
    _parameter_constraints: dict = {
        **OnlineBooster._parameter_constraints,
        "k": [Interval(Integral, 2, None, closed="left")],
        "exploration": [Interval(Real, 0, 1, closed="right")],
        "randomization": [StrOptions(set(RANDOMIZATIONS))],
        "propensity_clip": [tuple, list],
    }

    def explore(self, X: ArrayLike, classes: ArrayLike | None = None) -> Exploration:
        """Draw the `k` labels to show for each row.

        Each call goes on in the sequence of random numbers, which started at `random_state`.
        Nothing is learnt. The labels of a model are fixed, and each of them may be shown.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        classes : array-like of shape (n_labels,), default=None
            Names of the labels, of which relevance is to be learnt; needed where nothing was learnt
            before. A model is started then.

        Returns
        -------
        Exploration
            The labels shown, as indices into `classes_`, with their propensities: best first, where
            a row explores in the order drawn. Keep it until the rewards are in:
            `partial_fit_feedback` learns from it.

        Raises
        ------
        ValueError
            If `X` is malformed, or `classes` differ from those of an earlier call.
        NotFittedError
            If there is no model, and no `classes` to start one.
        """
        X = self._check_X_and_start(X, classes, indicators=True)
        self._propensity_bounds()
        rounds, sampler, shown = self._rounds(), self._sampler(len(self.classes_)), []
        for batch in row_blocks(X, BATCH):
            expert_draws, sampler_draws = self._draw_rows(sampler, batch.stop - batch.start)
            of_batch = rounds.explore(
                to_dense(X[batch]),
                sampler,
                sampler_draws,
                self.estimator_weights_,
                self._log_expert_weights,
                expert_draws,
            )
            shown.append(Exploration(*of_batch))
        return shown[0] if len(shown) == 1 else Exploration.concatenate(shown)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit_feedback(
        self,
        X: ArrayLike,
        exploration: Exploration,
        rewards: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from what was shown, whoever showed it, and from what came back.

        Rows may come in any order, after any delay and in any chunks: their propensities are those
        of the time of the draw, and stay right. Rows given in chunks, in one call or across a
        pickle make the same model, to the bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows for which labels were shown.
        exploration : Exploration
            What was shown: the record of `explore`, or that of another policy. It may have shown
            another number of labels; of one label alone there are no pairs, and only learners of
            relevance learn, such as those of ``recommended_learners(feedback="top-k")``.
        rewards : array-like of shape (n_samples, k)
            1 for a label that was shown and relevant, 0 for one that was shown and irrelevant.
        classes : array-like of shape (n_labels,), default=None
            As in `explore`.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the weights of a row's label pairs. One by default.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed: labels outside of `classes_`, propensities that are missing
            or not in (0, 1], rewards other than 0 and 1. The model stays as it was.
        NotFittedError
            If there is no model, and no `classes` to start one.
        """
        with unchanged_on_error(self):
            X = self._check_X_and_start(X, classes, indicators=True)
            n_labels = len(self.classes_)
            actions, propensities = check_exploration(exploration, X.shape[0], n_labels)
            rewards = check_rewards(rewards, actions.shape)
            weights = check_weights(sample_weight, X.shape[0], positive=False)
            bounds = self._propensity_bounds()
        rounds = self._rounds(effective_n_jobs(self.n_jobs))
        for batch in row_blocks(X, BATCH):
            source = TopKFeedback(
                actions[batch],
                propensities[batch],
                rewards[batch],
                n_labels,
                *bounds,
            )
            self._play_batch(rounds, batch, X, source, weights)
        return self

    def _start_model(self, classes):
        # What may be refused is checked first, since a start draws random numbers.
        self._propensity_bounds()
        self._sampler(len(classes))
        super()._start_model(classes)

    def _propensity_bounds(self):
        bounds = self.propensity_clip
        if (
            not isinstance(bounds, tuple | list)
            or len(bounds) != 2
            or not all(isinstance(bound, Real) for bound in bounds)
            or not 0 <= bounds[0] <= bounds[1] <= 1
            or bounds[1] == 0
        ):
            raise ValueError(
                "propensity_clip must be a pair of bounds from 0 to 1, the lower one first; got "
                f"{self.propensity_clip!r}"
            )
        return max(bounds[0], MIN_PROPENSITY), bounds[1]

    def _sampler(self, n_labels):
        # Parameters may have changed since `fit`, and scikit-learn checks them there only.
        if not isinstance(self.k, Integral) or self.randomization not in list(RANDOMIZATIONS):
            self._validate_params()
        if not 2 <= self.k <= n_labels and (self.k < 2 or self._fitted_with_indicators):
            raise ValueError(
                f"k={self.k} labels cannot be shown where there are {n_labels}; "
                f"k must be from 2 to {n_labels}"
            )
        # Where there are fewer class labels than k, as in a binary problem, all of them are shown.
        scheme = RANDOMIZATIONS[self.randomization](self.exploration)
        return scheme._make_sampler(n_labels, min(self.k, n_labels))

    def _draw_rows(self, sampler, n_rows):
        """The random numbers of `n_rows` rounds: for the experts, or None, and for the sampler."""
        n_hedge = int(self._hedge)
        draws = self._random_state.random_sample((n_rows, n_hedge + sampler.n_draws))
        expert_draws = np.ascontiguousarray(draws[:, 0]) if self._hedge else None
        return expert_draws, np.ascontiguousarray(draws[:, n_hedge:])

    def _draw_source(self, indptr, labels):
        bounds, sampler = self._propensity_bounds(), self._sampler(len(self.classes_))
        expert_draws, draws = self._draw_rows(sampler, len(indptr) - 1)
        return SimulatedTopKFeedback(sampler, draws, indptr, labels, *bounds), expert_draws

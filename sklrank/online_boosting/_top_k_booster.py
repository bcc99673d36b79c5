"""Base class of the online boosters that learn from top-k feedback."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs

from sklrank._base_online import row_blocks, to_dense
from sklrank._call_guard import ExclusiveCalls, exclusive_call, shared_call
from sklrank._sklearn import Interval, StrOptions, _fit_context, check_parameters
from sklrank._validation import check_weights, is_integer, is_number
from sklrank.feedback import Exploration
from sklrank.feedback._exploration import MIN_PROPENSITY, check_exploration, check_rewards
from sklrank.feedback._randomization import RANDOMIZATIONS
from sklrank.feedback._schedules import rate_of_round
from sklrank.linear_model._online._estimators import make_relevance_learner
from sklrank.online_boosting._online_booster import BATCH, OnlineBooster, RankLossPrinter
from sklrank.online_boosting._pair_feedback import (
    ESTIMATES,
    SimulatedTopKFeedback,
    TopKFeedback,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["TopKBooster"]


class TopKBooster(OnlineBooster):
    """Online boosting from top-k feedback (Algorithm 1 of Raman et al. 2020)."""

    _default_learners = "top-k"
    _parameter_constraints: dict = {
        **OnlineBooster._parameter_constraints,
        "k": [Interval(Integral, 1, None, closed="left")],
        "exploration": [Interval(Real, 0, 1, closed="right"), StrOptions({"decay"}), callable],
        "randomization": [StrOptions(set(RANDOMIZATIONS))],
        "cost_estimate": [StrOptions(set(ESTIMATES))],
        "propensity_clip": [tuple, list],
    }

    @property
    def _accepts_nan(self):
        # The direct model is linear.
        return super()._accepts_nan and self.cost_estimate != "doubly-robust"

    def explore(self, X: ArrayLike, classes: ArrayLike | None = None) -> Exploration:
        """Draw the `k` labels to show for each sample.

        The model does not learn in this method; only its random number generator changes. If there
        is no model yet, `classes` creates it. Every label has a positive probability of being
        shown.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        classes : array-like of shape (n_labels,), default=None
            Names of the labels, which become `classes_`. They are required if the model is not
            fitted.

        Returns
        -------
        Exploration
            The labels shown, as indices into `classes_`, with their propensities. Their order is
            that in which the exploration scheme (parameter `randomization`) shows them. Pass the
            record to `partial_fit_feedback` when the rewards are known.

        Raises
        ------
        ValueError
            If `X` is invalid, or `classes` differ from those of an earlier call.
        NotFittedError
            If there is no model yet and `classes` is None.
        """
        return self._explore(self._check_X_and_start(X, classes, indicators=True))

    @shared_call
    def _explore(self, X):
        self._propensity_bounds()
        rounds, rate = self._rounds(), self._exploration_rate(self.n_rounds_ + 1)
        sampler = self._make_sampler(len(self.classes_), rate)
        explorations = []
        for batch in row_blocks(X, BATCH):
            expert_draws, uniforms = self._draw(sampler, batch.stop - batch.start)
            shown = rounds.explore(
                to_dense(X[batch]),
                sampler,
                uniforms,
                self.estimator_weights_,
                self._log_expert_weights,
                expert_draws,
            )
            explorations.append(Exploration(*shown))
        return Exploration.concatenate(explorations)

    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def partial_fit_feedback(
        self,
        X: ArrayLike,
        exploration: Exploration,
        rewards: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the model by the labels that were shown and their rewards.

        The labels may have been shown by this model or by another policy, in any order and at any
        earlier time, since the record has the propensities with which they were drawn. Passing the
        samples in one call or in several calls gives bit-identical models. Pickling the model
        between calls does not change the result.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples for which labels were shown.
        exploration : Exploration
            The labels shown and their propensities, as `explore` returns them. The number of labels
            may differ from `k`. A single label forms no pair; then only weak learners that use the
            relevance itself, such as the default learners, learn from the sample.
        rewards : array-like of shape (n_samples, k)
            1 for each label shown that is relevant, and 0 for each label shown that is irrelevant.
        classes : array-like of shape (n_labels,), default=None
            Names of the labels, which become `classes_`. They are required if the model is not
            fitted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. If None, all weights are one.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are invalid: labels outside of `classes_`, propensities that are missing or
            not in (0, 1], or rewards other than 0 and 1. In this case, the model does not change.
        NotFittedError
            If there is no model yet and `classes` is None.
        """
        with self._discard_failed_start():
            X = self._check_X_and_start(X, classes, indicators=True)
            self._check_call_parameters()
            n_labels = len(self.classes_)
            actions, propensities = check_exploration(exploration, X.shape[0], n_labels)
            rewards = check_rewards(rewards, actions.shape)
            weights = check_weights(sample_weight, X.shape[0], positive=False)
            bounds = self._propensity_bounds()
            rounds, batches = self._rounds(effective_n_jobs(self.n_jobs)), row_blocks(X, BATCH)
            printer = RankLossPrinter(self, len(batches)) if self.verbose else None
            with ExclusiveCalls(self._compiled_objects()):
                for batch in self._track(batches, "batch"):
                    rows = to_dense(X[batch])
                    feedback = TopKFeedback(
                        actions[batch],
                        propensities[batch],
                        rewards[batch],
                        n_labels,
                        *bounds,
                        self._discounted,
                        *self._estimate(rows),
                    )
                    before = self._play_batch(rounds, rows, feedback, weights[batch])
                    if printer is not None:
                        # The relevance of the other labels is not known.
                        shown = np.take_along_axis(before, actions[batch], axis=1)
                        printer.print(rewards[batch], shown)
        return self

    def _start_model(self, classes):
        # Check the parameters first, since the creation of a model draws random numbers.
        self._propensity_bounds()
        self._make_sampler(len(classes), self._exploration_rate(1))
        super()._start_model(classes)
        self._direct_model = None
        if self.cost_estimate == "doubly-robust":
            self._direct_model = make_relevance_learner(self.n_features_in_, len(classes))

    def _compiled_objects(self):
        return self._learners + ([] if self._direct_model is None else [self._direct_model])

    def _estimate(self, rows):
        """Return the estimate of the costs, the direct model, and the samples for it."""
        # The parameter may have changed since the direct model was created.
        if self.cost_estimate not in list(ESTIMATES):
            check_parameters(self, "cost_estimate")
        if self.cost_estimate != "doubly-robust":
            return (self.cost_estimate,)
        if self._direct_model is None:
            raise ValueError(
                'cost_estimate="doubly-robust" needs a direct model, which is trained from the '
                "first sample on: set it before the first call, or call fit"
            )
        return self.cost_estimate, self._direct_model, rows

    def _propensity_bounds(self):
        bounds = self.propensity_clip
        if (
            not isinstance(bounds, tuple | list)
            or len(bounds) != 2
            or not all(map(is_number, bounds))
            or not 0 <= bounds[0] <= bounds[1] <= 1
            or bounds[1] == 0
        ):
            raise ValueError(
                "propensity_clip must be a pair of bounds from 0 to 1, the lower one first; got "
                f"{self.propensity_clip!r}"
            )
        return max(bounds[0], MIN_PROPENSITY), bounds[1]

    def _make_sampler(self, n_labels, rate):
        """Return the sampler of the labels to show, with this amount of exploration."""
        # scikit-learn checks parameters in `fit` only, and they may have changed since.
        if not is_integer(self.k) or self.randomization not in list(RANDOMIZATIONS):
            check_parameters(self, "k", "randomization")
        smallest = 1 if self.cost_estimate == "labels" else 2
        if self.k < smallest or (self.k > n_labels and self._has_label_columns):
            raise ValueError(
                f"k={self.k} labels cannot be shown if there are {n_labels}; 'k' must be from "
                f"{smallest} to {n_labels}"
                + ("" if smallest == 1 else '; k=1 requires cost_estimate="labels"')
            )
        # If there are fewer class labels than k, as in a binary problem, all labels are shown.
        scheme = RANDOMIZATIONS[self.randomization](rate)
        return scheme._make_sampler(n_labels, min(self.k, n_labels))

    def _exploration_rate(self, n_rounds):
        """Return the amount of exploration of round `n_rounds` = 1, 2, ..."""
        if isinstance(self.exploration, str) and self.exploration == "decay":
            return n_rounds**-0.25
        if not callable(self.exploration):
            return self.exploration
        return rate_of_round(self.exploration, n_rounds)

    def _exploration_rates(self, weights):
        """Return the amounts of exploration of samples of these weights; None if all are equal."""
        if is_number(self.exploration):
            return None
        # A sample of weight zero is not a round.
        rounds = self.n_rounds_ + 1 + np.cumsum(weights > 0.0) - (weights > 0.0)
        if callable(self.exploration):
            return np.array([rate_of_round(self.exploration, int(t)) for t in rounds])
        # Other values are invalid, and the sampler raises.
        return rounds**-0.25 if self.exploration == "decay" else None

    def _draw(self, sampler, n_samples):
        """Return two arrays of random numbers, for the draws of experts and for the sampler.

        The first is None if the last expert is used.
        """
        n_hedge = int(self._hedge)
        draws = self._random_state.random_sample((n_samples, n_hedge + sampler.n_uniforms))
        expert_draws = np.ascontiguousarray(draws[:, 0]) if self._hedge else None
        return expert_draws, np.ascontiguousarray(draws[:, n_hedge:])

    def _make_feedback(self, rows, indptr, labels, rates):
        bounds, estimate = self._propensity_bounds(), self._estimate(rows)
        rate = self.exploration if rates is None else rates[0]
        sampler = self._make_sampler(len(self.classes_), rate)
        # Invalid parameters raise before random numbers are drawn.
        expert_draws, uniforms = self._draw(sampler, len(indptr) - 1)
        feedback = SimulatedTopKFeedback(
            sampler, uniforms, rates, indptr, labels, *bounds, self._discounted, *estimate
        )
        return feedback, expert_draws

"""The loop over boosting rounds, and the base class of all boosters.

In each round an objective (`_objectives.py`) computes a label and a weight for each training sample
from the current scores, a weak learner (`_weak_learners.py`) is fitted to them, the objective
computes the step, and the step times the predictions of the weak learner is added to the scores.
"""

from functools import partial
from itertools import islice
from numbers import Integral, Real

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklrank._estimator import BaseEstimator
from sklrank._progress import IterativeMixin, print_progress
from sklrank._sklearn import HasMethods, Interval, StrOptions
from sklrank.boosting._linear_scores import LinearScorer
from sklrank.boosting._weak_learners import hypothesis_of
from sklrank.tree import HistogramTreeRegressor

__all__ = ["Booster", "run_rounds"]

ALL_ROUNDS = "n_estimators rounds were fitted"


def run_rounds(
    objective,
    learner,
    scores,
    n_rounds,
    *,
    learning_rate,
    random_state,
    after_round,
    track=iter,
):
    """Boost for a number of rounds, or until the objective cannot be decreased.

    Parameters
    ----------
    objective : Objective
        Objective that computes labels, weights and steps. Its `set_scores` must have been called
        with `scores`.
    learner : object
        Learner that fits a weak learner to the objective in each round; see `_weak_learners.py`.
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Initial scores, updated in place.
    n_rounds : int
        Maximum number of rounds.
    learning_rate : float
        Learning rate, which is passed to the learner. With values up to 2, the objective does not
        increase.
    random_state : RandomState instance
        Random number generator, which is passed to the learner.
    after_round : callable
        Function that is called as ``after_round(model, step)`` at the end of each round, after the
        objective has been set to the new scores. It returns a reason to stop, or None to continue.
    track : callable, default=iter
        Function that is called with an iterator over the rounds, and returns an iterator over these
        rounds or the first of them.

    Returns
    -------
    str
        Reason why boosting stopped.
    """
    reason, n_fitted = None, 0

    def rounds():
        while n_fitted < n_rounds and reason is None:
            yield n_fitted

    for _ in track(rounds()):
        if not objective.weights.any():
            return "all weights are zero: the objective cannot be lowered further"
        for _ in range(learner.max_tries):
            fitted = learner.fit(objective, random_state)
            if fitted is None:
                return "no weak learner lowers the objective"
            model, hypothesis = fitted
            step = learner.step(objective, hypothesis, learning_rate)
            if step > 0:
                break
        else:
            if learner.max_tries > 1:
                return (
                    f"none of {learner.max_tries} weak learners, each fitted to newly drawn "
                    "samples, was better than chance"
                )
            return "the last weak learner was no better than chance"
        scores += step * hypothesis
        objective.set_scores(scores)
        n_fitted += 1
        reason = after_round(model, step)
    if reason is None and n_fitted < n_rounds:
        return "a callback requested to stop"
    return reason or ALL_ROUNDS


class Booster(IterativeMixin, BaseEstimator):
    """Base class of boosters: weighted sums of weak learners that are fitted one after another.

    In `fit` a subclass checks its input, makes an objective and a learner, and calls
    :meth:`_start_rounds` and :meth:`_boost`.
    """

    # Method of the weak learners whose output is added to the scores.
    _response_method = "predict"
    # Number of columns of the scores; None for rankers, which have one score for each sample.
    _n_classes = None

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 2, closed="right")],
        "weighting": [StrOptions({"auto", "sample_weight", "resampling"})],
        "max_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def _is_warm_start(self):
        """Return True if `fit` adds rounds to those of an earlier call of `fit`."""
        return self.warm_start and hasattr(self, "estimators_")

    def _start_rounds(self):
        """Remove the rounds of an earlier `fit`, unless this is a warm start."""
        if self._is_warm_start():
            if len(self.estimators_) > self.n_estimators:
                raise ValueError(
                    f"n_estimators={self.n_estimators} is less than the {len(self.estimators_)} "
                    "rounds fitted so far; with warm_start=True it can only grow"
                )
            return
        self.estimators_ = []
        self.estimator_weights_ = np.empty(0)
        self.loss_curve_ = np.empty(0)
        self._random_state = check_random_state(self.random_state)

    def _boost(self, objective, learner, early_stopping=None):
        """Add rounds up to `n_estimators`, and return the scores of the training samples.

        The function `early_stopping(model, step)` is called after each round. It returns a reason
        to stop, or None to continue.
        """
        scores = self._scores(learner.X)
        models, steps = list(self.estimators_), list(self.estimator_weights_)
        losses = list(self.loss_curve_)
        objective.set_scores(scores)
        if not losses:
            losses.append(objective.value)

        def after_round(model, step):
            models.append(model)
            steps.append(step)
            losses.append(objective.value)
            reason = early_stopping(model, step) if early_stopping else None
            self._print_round(len(models), {"objective": objective.value, "step": step})
            return reason

        def fitted():
            return {
                "estimators_": list(models),
                "estimator_weights_": np.array(steps),
                "loss_curve_": np.array(losses),
            }

        n_rounds = max(0, self._n_rounds_to_fit() - len(models))
        reason = run_rounds(
            objective,
            learner,
            scores,
            n_rounds,
            learning_rate=self._learning_rate(),
            random_state=self._random_state,
            after_round=after_round,
            track=partial(self._track, name="round", n_items=n_rounds, state=fitted),
        )
        self.stop_reason_ = self._reason_for_all_rounds() if reason == ALL_ROUNDS else reason
        vars(self).update(fitted())
        if self.verbose:
            n_used = self._n_rounds_to_predict()
            used = f"; the first {n_used} predict" if n_used < len(models) else ""
            print_progress(type(self).__name__, f"{len(models)} rounds", self.stop_reason_ + used)
        return scores

    def _learning_rate(self):
        """Return the number that multiplies each step."""
        return self.learning_rate

    def _n_rounds_to_fit(self):
        """Return the number of rounds, unless boosting stops early."""
        return self.n_estimators

    def _reason_for_all_rounds(self):
        """Return the reason to stop after `_n_rounds_to_fit()` rounds."""
        return ALL_ROUNDS

    def _print_round(self, n_rounds, figures):
        """Print a line for the first nine rounds and every tenth one; for all if `verbose` > 1."""
        if self.verbose > 1 or (self.verbose and (n_rounds < 10 or n_rounds % 10 == 0)):
            print_progress(
                type(self).__name__,
                f"round {n_rounds} of {self.n_estimators}",
                figures,
            )

    def _hypothesis(self, model, X):
        """Return the predictions of a weak learner, before multiplication by the step size."""
        return hypothesis_of(model, X, self._n_classes, self._response_method)

    def _staged_scores(self, X, scores=None):
        """Yield the scores before the first round and after each round, in one reused array.

        The scores before the first round are 0 unless given as `scores`.
        """
        if scores is None:
            n_classes = self._n_classes
            scores = np.zeros(X.shape[0] if n_classes is None else (X.shape[0], n_classes))
        yield scores
        for model, step in zip(self.estimators_, self.estimator_weights_):
            scores += step * self._hypothesis(model, X)
            yield scores

    def _scores_of_rounds(self, X):
        """Yield a copy of the scores after each round."""
        return (scores.copy() for scores in islice(self._staged_scores(X), 1, None))

    def _scores(self, X, n_rounds=None):
        """Return the scores after a number of rounds, or after all rounds."""
        stop = None if n_rounds is None else n_rounds + 1
        *_, scores = islice(self._staged_scores(X), stop)
        return scores

    def _n_rounds_to_predict(self):
        """Return the number of rounds whose weak learners make up the fitted model."""
        return len(self.estimators_)

    def _fitted_rounds(self):
        """Return an iterator over the weak learners of the fitted model and their steps."""
        rounds = zip(self.estimators_, self.estimator_weights_)
        return islice(rounds, self._n_rounds_to_predict())

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importance of each feature: the mean over the weak learners, weighted by the steps.

        The importances of :class:`~sklrank.tree.HistogramTreeRegressor` are the sums of the gains
        of its splits.
        """
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for model, step in self._fitted_rounds():
            # If only one class was drawn in a round, a dummy replaces the weak learner.
            if isinstance(model, (HistogramTreeRegressor, LinearScorer)):
                total += model._gains()
            elif not isinstance(model, DummyClassifier):
                total += step * model.feature_importances_
        return total / (total.sum() or 1.0)

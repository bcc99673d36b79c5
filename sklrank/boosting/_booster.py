"""What the boosters of this folder share as estimators: their rounds, warm start, importances."""

from copy import deepcopy
from itertools import islice
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklrank._sklearn import HasMethods, Interval, StrOptions
from sklrank.boosting._rounds import play_rounds
from sklrank.boosting._weak_learners import hypothesis_of

__all__ = ["Booster"]


class Booster(BaseEstimator):
    """A sum of weak hypotheses, each learnt where the sum before it falls short."""

    # What of the weak learners' predictions the scores are moved along.
    _response = "predict"

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

    @property
    def _is_warm_start(self):
        """Whether `fit` continues the rounds of an earlier one."""
        return self.warm_start and hasattr(self, "estimators_")

    def _begin(self):
        """Forget the rounds of an earlier fit, unless they are to be continued."""
        if self._is_warm_start:
            if len(self.estimators_) > self.n_estimators:
                raise ValueError(
                    f"n_estimators={self.n_estimators} is less than the {len(self.estimators_)} "
                    "rounds fitted so far; with warm_start=True it can only grow"
                )
            if isinstance(self.random_state, Integral):
                # A fit that fails must not have drawn from the generator that is kept.
                self._random_state = deepcopy(self._random_state)
            return
        self.estimators_ = []
        self.estimator_weights_ = np.empty(0)
        self.objective_ = np.empty(0)
        self._random_state = check_random_state(self.random_state)

    def _boost(self, objective, learner, scores, enough=None):
        """Play rounds until there are `n_estimators`, or none is possible, or one is `enough`.

        `scores` are those of the training rows by the rounds so far; they move on in place.
        `enough(model, step)` is called after each round and returns a reason to stop, or None.
        """
        models, steps = list(self.estimators_), list(self.estimator_weights_)
        values = list(self.objective_)
        objective.move_to(scores)
        if not values:
            values.append(objective.value)

        def after_round(model, step):
            models.append(model)
            steps.append(step)
            values.append(objective.value)
            self._report(len(models), step, objective.value)
            return enough(model, step) if enough else None

        self.stop_reason_ = play_rounds(
            objective,
            learner,
            scores,
            self.n_estimators - len(models),
            learning_rate=self.learning_rate,
            random_state=self._random_state,
            after_round=after_round,
        )
        self.estimators_ = models
        self.estimator_weights_ = np.array(steps)
        self.objective_ = np.array(values)
        if self.verbose:
            print(f"[{type(self).__name__}] {len(models)} rounds: {self.stop_reason_}")

    def _report(self, n_rounds, step, value):
        """Progress: each round at first, then each tenth; each one where `verbose` is above 1."""
        if self.verbose > 1 or (self.verbose and (n_rounds < 10 or n_rounds % 10 == 0)):
            print(
                f"[{type(self).__name__}] round {n_rounds} of {self.n_estimators}: "
                f"objective {value:.6g}, step {step:.4g}"
            )

    def _stages(self, X, n_classes):
        """Scores before the first round, and after each: one array, which moves on in place."""
        scores = np.zeros(X.shape[0] if n_classes is None else (X.shape[0], n_classes))
        yield scores
        for model, step in zip(self.estimators_, self.estimator_weights_):
            scores += step * hypothesis_of(model, X, n_classes, self._response)
            yield scores

    def _staged_sums(self, X, n_classes=None):
        """Scores after each round."""
        return (scores.copy() for scores in islice(self._stages(X, n_classes), 1, None))

    def _sum(self, X, n_classes=None):
        """Scores after all rounds."""
        *_, scores = self._stages(X, n_classes)
        return scores

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean importance of each feature in the weak learners, by their weights; the sum is 1."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for model, step in zip(self.estimators_, self.estimator_weights_):
            # What stands in where a round drew one class looks at no feature.
            if not isinstance(model, DummyClassifier):
                total += step * model.feature_importances_
        return total / (total.sum() or 1.0)

"""Base class of the linear bandit classifiers, with rounds, feedback and fitted attributes."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from sklrank._checks import is_number, only_available
from sklrank._compiled import Rows, shared_call
from sklrank._estimators import Interval, StrOptions, _fit_context, of_labels
from sklrank._online import (
    BATCH,
    BaseOnlineClassifier,
    ExploringMixin,
    WorkingMemory,
    in_order,
    mask_rows,
    of_exploring,
    of_online,
    row_blocks,
    timed_slices,
    to_dense,
)
from sklrank._rankers import ClassScoresMixin, two_class_weights
from sklrank._typing import Self
from sklrank.feedback import Exploration, SelfTunedExploration
from sklrank.feedback._protocol import RANDOMIZATIONS, SCHEDULES, exploration_rates, make_schedule
from sklrank.linear_model._bandit._rounds import BanditRounds

# Texts that the docstrings of the classifiers share.
TEXTS = {
    "randomization": """
randomization : str or callable, default="uniform"
    Scheme of :func:`sklrank.feedback.explore`, which draws the class to show by the scores, or by
    the confidence bounds of LinUCB. "uniform" is that of the papers.
""",
    "max_iter": """
max_iter : int, default=5
    Number of passes over the samples in `fit`. `partial_fit` makes one pass.
{shuffle}
""",
    "rounds": """
exploration_ : float
    Exploration rate of the next round.
error_rate_ : float
    Fraction of the rounds in which the class shown was wrong, or one minus the mean reward. It is
    NaN before the first round.
n_rounds_ : int
    Number of rounds, or samples learned.
n_iter_ : int
    Number of passes over the samples in `fit`.
{n_features_in}
""",
    "classes_come_and_go": """
Notes
-----
{reading}

Classes may be added by the argument `classes` of the methods that learn or explore, and removed by
`drop_classes`. What ``alpha="auto"`` stands for remains; other formulas have the present number.
""",
}


@of_labels
@of_exploring
@of_online
class BaseBanditClassifier(ExploringMixin, ClassScoresMixin, BaseOnlineClassifier):
    """Base class of linear classifiers that learn from bandit feedback.

    A subclass must have the parameters `exploration`, `randomization`, `fit_intercept`,
    `max_iter`, `shuffle` and `random_state`.
    """

    _accepts_sparse = True
    _pickles_copies = True
    _shows_lists = False
    _parameter_constraints: dict = {
        **BaseOnlineClassifier._parameter_constraints,
        "exploration": [
            Interval(Real, 0, 1, closed="both"),
            StrOptions(set(SCHEDULES)),
            SelfTunedExploration,
            callable,
        ],
        "randomization": [StrOptions(set(RANDOMIZATIONS)), callable],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def _multiplies_entries(self):
        return True

    @abstractmethod
    def _make_model(self, classes, random_state):
        """Return an untrained :class:`~sklrank.linear_model._bandit._model.BanditModel`."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model from scratch in `max_iter` passes, with one round for each sample.

        Each round uses only whether the class shown is correct.

        {targets}

        {returns_fitted}
        """
        return super().fit(X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Update the model with one round for each sample, in the order of the samples.

        Each round uses only whether the class shown is correct.
        {chunks}

        {targets}
        {classes}

        {returns_self}
        """
        return super().partial_fit(X, y, classes)

    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
    ) -> np.ndarray:
        """Score each sample, then learn from it (progressive, or prequential, validation).

        {progressive}
        The class with the largest score is the one that `predict` would have returned;
        `error_rate_` is that of the classes shown, some of which are drawn.

        {targets}
        {classes}
        {available}

        {scores_before}
        """
        with self._discard_failed_start(classes):
            data = self._check_and_start(X, y, classes, None)
            scores = np.empty((len(data[-1]), len(self.classes_)))
            available = self._check_available(available, len(scores))
            self._learn_rounds(*data, scores=scores, available=available)
        return only_available(scores, available)

    def partial_fit_feedback(
        self,
        X: ArrayLike,
        exploration: Exploration,
        rewards: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
    ) -> Self:
        """Update the model by the classes that were shown and their rewards.

        {feedback}
        Different orders can lead to different models; :class:`LinUCBClassifier`, for example,
        scales each sample by the statistics of the previous ones.

        {record}
        {could_be_shown}

        {learned}
        """
        return super().partial_fit_feedback(X, exploration, rewards, classes, available=available)

    def _draw(self, rows, sampler, available, random_state):
        draws = random_state.random_sample((rows.shape[0], sampler.n_uniforms))
        return self._rounds.explore(self._rows(rows), sampler, draws, available)

    def _propensities(self, X, available):
        rounds = self._fitted("_rounds")
        X, shown = self._check_rows(X, reset=False), []
        available = self._check_available(available, X.shape[0])
        sampler = self._make_sampler()
        sampler.change_exploration(self._next_rate())
        for block in timed_slices(self._blocks(X)):
            masks = mask_rows(available, block)
            values, errors = rounds.values(self._rows(X[block]), sampler.needs_means, masks)
            shown.append(sampler.propensities(values, masks, errors, pairs=False))
        return np.concatenate(shown)[:, :, 0]

    def _learn_shown(self, X, actions, propensities, rewards, weights, available):
        self._prepare_schedule(X.shape[0])
        for block in timed_slices(self._track(self._blocks(X), "batch")):
            record = actions[block], propensities[block], rewards[block]
            self._rounds.learn_feedback(self._rows(X[block]), *record, mask_rows(available, block))

    @property
    @shared_call
    def coef_(self) -> np.ndarray:
        """Weights of the features."""
        return two_class_weights(self._weights("coef_")[:, : self.n_features_in_])

    @property
    @shared_call
    def intercept_(self) -> np.ndarray:
        """Intercepts."""
        # Without an intercept, the slice has no columns, and the sums are 0.
        weights = self._weights("intercept_")
        return two_class_weights(weights[:, self.n_features_in_ :].sum(axis=1))

    @property
    def exploration_(self) -> float:
        """Exploration rate of the next round."""
        return self._fitted("_rounds").schedule.rate

    @property
    def error_rate_(self) -> float:
        """Mean of one minus the reward: the fraction of rounds in which the class was wrong."""
        rounds = self._fitted("_rounds")
        return rounds.n_mistakes / rounds.n_rounds if rounds.n_rounds else np.nan

    @property
    def n_rounds_(self) -> int:
        """Number of rounds."""
        return self._fitted("_rounds").n_rounds

    def _weights(self, name):
        """Return the weights of the features and the constant, for the attribute `name`."""
        return self._fitted("_rounds").model.weights

    def _class_scores(self, X):
        rounds = self._fitted("_rounds")
        X = self._check_rows(X, reset=False)
        scores = np.empty((X.shape[0], len(self.classes_)))
        for block in timed_slices(self._blocks(X)):
            scores[block] = rounds.score(self._rows(X[block]))
        return scores

    def _learn_rounds(self, X, indptr, labels, weights, *, order=None, scores=None, available=None):
        self._prepare_schedule(X.shape[0])
        batches = self._track(self._blocks(X), "batch", may_stop=scores is None)
        sampler = self._memory.take("sampler", self._make_sampler)
        for block in timed_slices(batches):
            chosen, block_scores = in_order(block, order), None if scores is None else scores[block]
            rows = self._rows(X[chosen])
            draws = self._random_state.random_sample((rows.n_rows, sampler.n_uniforms))
            masks = mask_rows(available, block)
            self._rounds.play(rows, labels[chosen], sampler, draws, block_scores, masks)
        self._return_sampler(sampler)

    def _next_rate(self):
        return self._rounds.schedule.rate

    def _prepare_schedule(self, n_rounds):
        if not is_number(self._exploration):
            self._rounds.schedule.prepare(partial(exploration_rates, self._exploration), n_rounds)

    def _finish_merge(self):
        self._prepare_schedule(0)  # for the number of rounds

    def _blocks(self, X):
        return row_blocks(X, BATCH, dense=self._rounds.model.needs_dense)

    def _rows(self, X):
        """Return samples as the `Rows` that the compiled loops read."""
        return Rows(to_dense(X) if self._rounds.model.needs_dense else X, self._constant)

    def _start_model(self, classes):
        random_state = check_random_state(self.random_state)
        model = self._make_model(classes, random_state)
        self.classes_ = classes
        self._start_exploring()
        self._constant = float(self.fit_intercept)
        self._random_state, self._memory = random_state, WorkingMemory()
        self._rounds = BanditRounds(model, make_schedule(self._exploration))

"""Base class of the linear bandit classifiers, with rounds, feedback and fitted attributes."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from sklrank._base_online import (
    BATCH,
    BaseOnlineClassifier,
    row_blocks,
    timed_slices,
    to_dense,
)
from sklrank._model_lock import exclusive_call, shared_call
from sklrank._randomness import check_random_source
from sklrank._rows import Rows
from sklrank._sklearn import Interval, StrOptions, _fit_context, with_task_tree
from sklrank._validation import check_available, is_number, mask_rows, only_available
from sklrank.base import ClassScoresMixin, two_class_weights
from sklrank.feedback import (
    RANDOMIZATIONS,
    SCHEDULES,
    Exploration,
    SelfTunedExploration,
    check_exploration,
    check_rewards,
    check_shown,
    exploration_rates,
    make_sampler,
    make_schedule,
)
from sklrank.linear_model._bandit._rounds import BanditRounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sklrank._typing import RandomSource

# Texts that the docstrings of the classifiers share.
TEXTS = {
    "simulation": """
`fit` and `partial_fit` simulate the rounds: they use `y` only to determine whether the class shown
is correct. With real feedback, `explore` returns the classes to show, and `partial_fit_feedback`
learns from their rewards.
""",
    "randomization": """
randomization : str, default="uniform"
    Scheme of :func:`sklrank.feedback.explore`, which draws the class to show by the scores, or by
    the confidence bounds of LinUCB. "uniform" is that of the papers.
""",
    "max_iter": """
max_iter : int, default=5
    Number of passes over the samples in `fit`. `partial_fit` makes one pass.
""",
    "rounds": """
exploration_ : float
    Exploration rate of the next round.
error_rate_ : float
    Fraction of the rounds in which the class shown was wrong, or one minus the mean reward. It is
    NaN before the first round.
n_rounds_ : int
    Number of rounds, which is equal to the number of samples learned.
n_iter_ : int
    Number of passes over the samples in `fit`.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (n_features,)
    Names of the features. Defined only if `X` has feature names that are all strings.
""",
    "reading": """
The parameters are read in `fit` and, if the model is not fitted, in the first call of
`partial_fit`, `progressive_fit`, `explore` or `partial_fit_feedback`. Later changes do not affect
the model until `fit` is called, except for that of `random_state`. Classes may be added by the
argument `classes` of these methods, and removed by `drop_classes`. What ``alpha="auto"`` stands
for remains; other formulas contain the present number of classes.
""",
}


class BaseBanditClassifier(ClassScoresMixin, BaseOnlineClassifier):
    """Base class of linear classifiers that learn from bandit feedback.

    A subclass must have the parameters `exploration`, `randomization`, `fit_intercept`, `max_iter`
    and `random_state`.
    """

    _accepts_sparse = True
    _pickles_copies = True
    # Why rewards other than 0 and 1 are refused, or None if they are accepted.
    _refused_numbers = None
    _parameter_constraints: dict = {
        "exploration": [
            Interval(Real, 0, 1, closed="both"),
            StrOptions(set(SCHEDULES)),
            SelfTunedExploration,
            callable,
        ],
        "randomization": [StrOptions(set(RANDOMIZATIONS))],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def _multiplies_entries(self):
        return True

    @abstractmethod
    def _make_model(self, classes, random_state):
        """Return an untrained :class:`~sklrank.linear_model._bandit._model.BanditModel`."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model from scratch in `max_iter` passes, with one round for each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels. Each round uses only whether the class shown is correct.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed or contain only one class, or if a parameter is invalid. In
            these cases, a fitted model does not change.
        """
        return super().fit(X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Update the model with one round for each sample, in the order of the samples.

        Passing the samples in one call or in several calls gives bit-identical models. Pickling
        the model between calls does not change the result.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels. Each round uses only whether the class shown is correct.
        classes : array-like of shape (n_classes,), default=None
            All classes that may occur. If None in the first call, the classes in `y` are used. In
            later calls, further classes are added to the model.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed or contain labels that are not in `classes`, or if `classes`
            lacks a class of the model. In these cases, the model does not change. After an error in
            the first call, there is no model.
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

        If all classes are available, the resulting model is the same as with `partial_fit`. The
        class with the largest score is the class that `predict` would have returned. In contrast,
        `error_rate_` is computed from the classes shown, some of which are drawn at random.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            All classes that may occur, as in `partial_fit`.
        available : array-like, default=None
            Classes that may be shown: a boolean mask of shape (n_samples, n_classes), or of shape
            (n_classes,) for all samples, or a list of names in `classes_`. None stands for all.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Scores of each sample before the model learns from it, and minus infinity for classes
            that are not available. The columns are in the order of `classes_`.

        Raises
        ------
        ValueError
            If `partial_fit` raises it for the same data, or `available` is invalid.
        """
        with self._discard_failed_start(classes):
            data = self._check_and_start(X, y, classes, None)
            scores = np.empty((len(data[-1]), len(self.classes_)))
            available = check_available(available, self.classes_, len(scores))
            self._learn_rounds(*data, scores=scores, available=available)
        return only_available(scores, available)

    def explore(
        self,
        X: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        random_state: RandomSource = None,
    ) -> Exploration:
        """Draw the class to show for each sample.

        The model does not learn in this method. Each call continues the sequence of random numbers
        that `random_state` initializes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        classes : array-like of shape (n_classes,), default=None
            Class labels, sorted. They are required in the first call of a model that has not been
            trained, and then become `classes_`. Later, further classes are added to the model.
        available : array-like, default=None
            Classes that may be shown: a boolean mask of shape (n_samples, n_classes), or of shape
            (n_classes,) for all samples, or a list of names in `classes_`. None stands for all.
        random_state : int, sequence of int, SeedSequence or RandomState instance, default=None
            Source of the random draws of this call, which then does not change the model. If None,
            it is the model's own generator, which the parameter `random_state` initializes. A
            sequence is the entropy of a :class:`numpy.random.SeedSequence`, for example the numbers
            of a server and of a request. Other numbers draw independently of these.

        Returns
        -------
        Exploration
            Record of the classes to show. Its attribute `actions` has shape `(n_samples,)` and
            contains indices into `classes_`; ``model.classes_[shown.actions]`` gives the class
            labels. Its attribute `propensities` has shape `(n_samples,)` and contains the
            probabilities of these classes. Its attribute `classes` is `classes_`. Keep the record
            until the rewards are known.

        Raises
        ------
        ValueError
            If `X`, `available` or `random_state` is invalid, or if `classes` are not sorted or lack
            a class of the model.
        NotFittedError
            If the model has no classes yet and `classes` is None.
        """
        generator = check_random_source(random_state)
        return self._start_and_explore(X, classes, available, generator, indicators=False)

    @shared_call
    def _explore(self, X, available, generator):
        available = check_available(available, self.classes_, X.shape[0])
        sampler = self._make_sampler()
        generator = self._random_state if generator is None else generator
        draws = generator.random_sample((X.shape[0], sampler.n_uniforms))
        actions, propensities = np.empty(len(draws), dtype=np.intp), np.empty(len(draws))
        for block in timed_slices(self._blocks(X)):
            masks = mask_rows(available, block)
            shown = self._rounds.explore(self._rows(X, block), sampler, draws[block], masks)
            actions[block], propensities[block] = shown
        return Exploration(actions, propensities, self.classes_)

    @shared_call
    def propensities(self, X: ArrayLike, *, available: ArrayLike | None = None) -> np.ndarray:
        """Compute the probability that the next call of `explore` shows each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        available : array-like, default=None
            Classes that may be shown: a boolean mask of shape (n_samples, n_classes), or of shape
            (n_classes,) for all samples, or a list of names in `classes_`. None stands for all.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Exact probabilities of the classes, in the order of `classes_`; 0 for classes that are
            not available.

        Raises
        ------
        ValueError
            If `X` or `available` is malformed.
        """
        rounds = self._fitted_rounds()
        X, shown = self._check_rows(X, reset=False), []
        available = check_available(available, self.classes_, X.shape[0])
        # The samplers of other calls may be in use by other threads.
        sampler = make_sampler(self._policy, len(self.classes_), 1)
        sampler.change_exploration(rounds.schedule.rate)
        for block in timed_slices(self._blocks(X)):
            masks = mask_rows(available, block)
            values, errors = rounds.values(self._rows(X, block), sampler.needs_means, masks)
            shown.append(sampler.propensities(values, masks, errors, pairs=False))
        return np.concatenate(shown)[:, :, 0]

    # `_fit_context` would check the parameters in each call, which takes twice as long as learning
    # a sample. They are checked when the model starts; later changes do not affect this method.
    @exclusive_call
    @with_task_tree
    def partial_fit_feedback(
        self,
        X: ArrayLike,
        exploration: Exploration,
        rewards: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
    ) -> Self:
        """Learn from classes that this model or another policy showed, and from their rewards.

        Samples may be passed in any order, after any delay and in any number of calls, because
        propensities are recorded when the classes are drawn, and remain valid when the model
        changes. Different orders can lead to different models. (For example,
        :class:`LinUCBClassifier` scales each sample by the statistics of the previous samples.)

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples for which a class was shown.
        exploration : Exploration
            Record of the classes shown, one for each sample. It is either returned by `explore` or
            the record of another policy.
        rewards : array-like of shape (n_samples,)
            1 if the class shown was correct or, for example, clicked, and 0 otherwise. LinUCB
            accepts numbers from 0 to 1. Samples of which the reward is NaN are skipped.
        classes : array-like of shape (n_classes,), default=None
            Class labels, as in `explore`.
        available : array-like, default=None
            Classes that could be shown, as in `explore`. It matters for Banditron and for schedules
            that depend on the feedback, which learn about the best class that was available.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed, for example if classes are not in `classes_`, were not
            available or were dropped since, propensities are missing or outside (0, 1], or rewards
            are outside [0, 1], or neither 0 nor 1 for Banditron. In these cases, the model does not
            change.
        NotFittedError
            If the model has no classes yet and `classes` is None.
        """
        with self._discard_failed_start(classes):
            X = self._check_X_and_start(X, classes, indicators=False)
            known = {"classes": self.classes_, "single": True}
            shown = check_exploration(exploration, X.shape[0], len(self.classes_), **known)
            rewards = check_rewards(rewards, (X.shape[0],), refused=self._refused_numbers)
            available = check_available(available, self.classes_, X.shape[0])
            check_shown(shown[0], available)
            known = ~np.isnan(rewards)
            if not known.all():
                X, rewards, available = X[known], rewards[known], mask_rows(available, known)
                shown = [values[known] for values in shown]
            self._prepare_schedule(X.shape[0])
            for block in timed_slices(self._track(self._blocks(X), "batch")):
                feedback = [values[block] for values in (*shown, rewards)]
                masks = mask_rows(available, block)
                self._rounds.learn_feedback(self._rows(X, block), *feedback, masks)
        return self

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
        return self._fitted_rounds().schedule.rate

    @property
    def error_rate_(self) -> float:
        """Mean of one minus the reward: the fraction of rounds in which the class was wrong."""
        rounds = self._fitted_rounds()
        return rounds.n_mistakes / rounds.n_rounds if rounds.n_rounds else np.nan

    @property
    def n_rounds_(self) -> int:
        """Number of rounds."""
        return self._fitted_rounds().n_rounds

    def _fitted_rounds(self):
        self._check_fitted()
        return self._rounds

    def _weights(self, name):
        """Return the weights of the features and the constant, for the attribute `name`."""
        return self._fitted_rounds().model.weights

    def _class_scores(self, X):
        rounds = self._fitted_rounds()
        X = self._check_rows(X, reset=False)
        scores = np.empty((X.shape[0], len(self.classes_)))
        for block in timed_slices(self._blocks(X)):
            scores[block] = rounds.score(self._rows(X, block))
        return scores

    def _learn_rounds(self, X, indptr, labels, weights, *, order=None, scores=None, available=None):
        self._prepare_schedule(X.shape[0])
        sampler = self._make_sampler()
        batches = self._track(self._blocks(X), "batch", may_stop=scores is None)
        for block in timed_slices(batches):
            rows, block_scores = self._rows(X, block), None if scores is None else scores[block]
            draws = self._random_state.random_sample((rows.n_rows, sampler.n_uniforms))
            masks = mask_rows(available, block)
            self._rounds.play(rows, labels[block], sampler, draws, block_scores, masks)

    def _make_sampler(self):
        # A new one takes as long as learning a sample. Its memory is not part of a saved model.
        if self._rounds.sampler is None:
            self._rounds.sampler = make_sampler(self._policy, len(self.classes_), 1)
        return self._rounds.sampler

    def _prepare_schedule(self, n_rounds):
        if not is_number(self._exploration):
            rates_of = partial(exploration_rates, self._exploration)
            self._rounds.schedule.prepare(rates_of, n_rounds)

    def _finish_merge(self):
        self._prepare_schedule(0)  # for the number of rounds

    def _blocks(self, X):
        """Return slices that divide the samples into the blocks of the compiled loops."""
        return row_blocks(X, BATCH, dense=self._rounds.model.needs_dense)

    def _rows(self, X, block):
        """Return the samples of a block (a slice) as the `Rows` that the compiled loops read."""
        X = X[block]
        return Rows(to_dense(X) if self._rounds.model.needs_dense else X, self._constant)

    def _start_model(self, classes):
        random_state = check_random_state(self.random_state)
        model = self._make_model(classes, random_state)
        self.classes_ = classes
        self._constant = float(self.fit_intercept)
        self._random_state = random_state
        # Later changes of the parameters have no effect.
        self._exploration, self._policy = self._resolve_exploration(), self.randomization
        self._rounds = BanditRounds(model, make_schedule(self._exploration))

    def _resolve_exploration(self):
        """Return the parameter `exploration`, or the value that it stands for."""
        return self.exploration

    def _check_rows(self, X, *, reset):
        X = super()._check_rows(X, reset=reset)
        if reset:
            self._started_sparse = sparse.issparse(X)
        return X

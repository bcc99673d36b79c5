"""The estimator around the compiled rounds; each algorithm adds its cost rule and its experts."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from contextlib import nullcontext
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from sklrank._base_online import BaseOnlineClassifier, row_blocks, to_dense
from sklrank._randomness import MAX_FEATURES
from sklrank._relevance_lists import lists_of, lists_of_rows
from sklrank._sklearn import N_JOBS, HasMethods, Interval, _fit_context
from sklrank._validation import check_columns, column_names, unchanged_on_error
from sklrank.base import LabelRankerMixin, two_class_difference
from sklrank.metrics import rank_loss
from sklrank.online_boosting._pair_sources import FullInformation
from sklrank.online_boosting._rounds import Rounds
from sklrank.online_boosting._weak_learners import (
    allow_nan,
    compiled_learners,
    make_weak_learners,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["OnlineBooster"]

# Rows per compiled call; Ctrl-C is noticed, and `verbose` prints, only between calls.
BATCH = 1000


class OnlineBooster(LabelRankerMixin, BaseOnlineClassifier, metaclass=ABCMeta):
    """Online boosting of label rankers (Algorithm 1 of Jung & Tewari 2018).

    A subclass says how votes are priced (`_make_cost_rule`) and whether Hedge chooses the expert
    (`_hedge`); otherwise the last expert, the sum of all learners, decides.
    """

    _hedge = False
    _tie_loss = 0.5  # what a pair of equal scores costs an expert, for Hedge
    _accepts_indicators = True
    _accepts_sparse = True
    _parameter_constraints: dict = {
        "estimator": [HasMethods(["partial_fit"]), list, tuple, None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_features": MAX_FEATURES,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "n_jobs": N_JOBS,
    }

    @abstractmethod
    def _make_cost_rule(self, n_labels):
        """The rule that prices votes for labels 0, 1, ..., n_labels - 1."""

    def _draw_source(self, indptr, labels):
        """For rows with these relevance lists: the source of pairs, and what draws the experts.

        The latter is a random number a row, or None where the last expert decides.
        """
        n_rows = len(indptr) - 1
        draws = self._random_state.random_sample(n_rows) if self._hedge else None
        return FullInformation(indptr, labels, len(self.classes_)), draws

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget what was learnt, then play `max_iter` passes of rounds over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels), or (n_samples,)
            0/1 relevance of the labels, or class labels (one relevant label a row). A row with no
            or all labels relevant teaches nothing.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the weights of a row's label pairs, of the order of one: steps and losses
            grow with them. A row of weight zero is no round. One by default.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are malformed or have one class only; a fitted model stays as it was.
        """
        with unchanged_on_error(self):
            X, indptr, labels, weights = self._check_and_start(
                X, y, None, sample_weight, restart=True
            )
            for _ in range(self.max_iter):
                if self.shuffle:
                    order = self._random_state.permutation(X.shape[0])
                    starts, items = lists_of(indptr, order)
                    self._play(X[order], starts, labels[items], weights[order])
                else:
                    self._play(X, indptr, labels, weights)
            self.n_iter_ = self.max_iter
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Play one round for each row in order, going on from what was learnt before.

        Rows given in chunks, in one call or across a pickle make the same model, to the bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels), or (n_samples,)
            0/1 relevance of the labels, or class labels.
        classes : array-like of shape (n_labels,), default=None
            At the first call: every class label that may come (default: those of `y`), or the names
            of the columns of an indicator (default: those of a data frame, else 0, 1, ...).
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the weights of a row's label pairs. One by default.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are malformed or hold labels that are not in `classes`; the model stays as
            it was. Rows that a weak learner of another package refuses, not being malformed, end
            the rounds where they stand, but for those of the first call, which leaves no model.
        """
        with self._whole_first_call():
            self._play(*self._check_and_start(X, y, classes, sample_weight))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Score each row, then learn from it (progressive, or prequential, validation).

        The model afterwards is the one that `partial_fit` makes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels), or (n_samples,)
            0/1 relevance of the labels, or class labels.
        classes : array-like of shape (n_labels,), default=None
            As in `partial_fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            The scores that each row got before its labels were shown; columns as in `classes_`.

        Raises
        ------
        ValueError
            As `partial_fit`.
        """
        with self._whole_first_call():
            prepared = self._check_and_start(X, y, classes, sample_weight)
            scores = np.empty((prepared[0].shape[0], len(self.classes_)))
            self._play(*prepared, scores)
        return scores

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score the labels by the weighted votes of the expert of greatest weight.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,)
            Higher ranks earlier; columns as in `classes_`. For two classes given as labels the lead
            of the second one.
        """
        scores = self._label_scores(X)
        return scores if self._fitted_with_indicators else two_class_difference(scores)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Class labels, or the labels with more than a uniform share of the votes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            As the `y` that was learnt: the class of greatest score, or 0/1 with a 1 for each label
            whose score is above the mean of its row. A weak learner with an edge votes for the
            relevant labels with more, and for the irrelevant ones with less, than that share.
        """
        scores = self._label_scores(X)
        if self._fitted_with_indicators:
            # Equal votes have a lead of exactly 0 over the least, whatever their sums round to.
            leads = scores - scores.min(axis=1, keepdims=True)
            return (leads > leads.mean(axis=1, keepdims=True)).astype(np.intp)
        return self.classes_[np.argmax(scores, axis=1)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """How well the labels of `X` are ranked, or predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels), or (n_samples,)
            Relevance of the labels, or class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            For an indicator `y` the mean share of label pairs in the right order, 1 less the rank
            loss; for class labels the accuracy.
        """
        if self._fitted_with_indicators:
            check_columns(column_names(y), self.classes_)
            return 1.0 - rank_loss(y, self._label_scores(X), sample_weight=sample_weight)
        return accuracy_score(column_or_1d(y), self.predict(X), sample_weight=sample_weight)

    def _label_scores(self, X):
        check_is_fitted(self, "classes_")
        X = self._check_rows(X, reset=False)
        n_used = 1 + int(np.argmax(self.expert_weights_))
        blocks = row_blocks(X, BATCH)
        if len(blocks) == 1:
            return self._rounds().decide(to_dense(X), self.estimator_weights_, n_used)
        blocks = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(self._rounds().decide)(to_dense(X[batch]), self.estimator_weights_, n_used)
            for batch in blocks
        )
        return np.concatenate(blocks)

    @property
    def expert_weights_(self) -> np.ndarray:
        """Weight of each expert."""
        check_is_fitted(self, "classes_")
        if self._log_expert_weights is None:
            n_experts = len(self.estimators_)
            return np.eye(1, n_experts, n_experts - 1)[0]
        weights = np.exp(self._log_expert_weights - self._log_expert_weights.max())
        return weights / weights.sum()

    def __setstate__(self, state):
        super().__setstate__(state)
        # The rounds write into these; joblib may have memory-mapped them read-only.
        for name in {"estimator_weights_", "_log_expert_weights"} & set(vars(self)):
            if getattr(self, name) is not None:
                setattr(self, name, np.array(getattr(self, name)))

    @property
    def _accepts_nan(self):
        return allow_nan(self.estimator)

    def _start_model(self, classes):
        n_labels = len(classes)
        self.classes_ = classes
        self._random_state = check_random_state(self.random_state)
        self.estimators_, self.estimators_features_ = make_weak_learners(
            self.estimator,
            self.n_estimators,
            self.max_features,
            self.n_features_in_,
            n_labels,
            self._random_state,
        )
        self._learners = compiled_learners(
            self.estimators_, self.estimators_features_, n_labels, taught=False
        )
        self._cost_rule = self._make_cost_rule(n_labels)
        start = 0.0 if self._cost_rule.learns_weights else 1.0
        self.estimator_weights_ = np.full(self.n_estimators, start)
        self._log_expert_weights = np.zeros(self.n_estimators) if self._hedge else None
        self.n_rounds_ = 0

    def _whole_first_call(self):
        """A first call that fails leaves no model; a later one keeps the rounds that it played."""
        return nullcontext() if hasattr(self, "classes_") else unchanged_on_error(self)

    def _rounds(self, n_threads=1):
        return Rounds(
            self._learners,
            self.estimators_features_,
            self._cost_rule,
            n_threads,
            self.n_rounds_,
            self._tie_loss,
        )

    def _play(self, X, indptr, labels, weights, scores=None):
        rounds = self._rounds(effective_n_jobs(self.n_jobs))
        for batch in row_blocks(X, BATCH):
            source, expert_draws = self._draw_source(*lists_of_rows(indptr, labels, batch))
            self._play_batch(rounds, batch, X, source, weights, expert_draws, scores)

    def _play_batch(self, rounds, batch, X, source, weights, expert_draws=None, scores=None):
        # play() writes into this array; copy it so that one a user holds does not change.
        self.estimator_weights_ = self.estimator_weights_.copy()
        try:
            rounds.play(
                to_dense(X[batch]),
                source,
                weights[batch],
                self.estimator_weights_,
                self._log_expert_weights,
                expert_draws,
                None if scores is None else scores[batch],
            )
        finally:
            self.n_rounds_ = rounds.n_rounds
        if self.verbose:
            print(f"[{type(self).__name__}] {self.n_rounds_} rounds")

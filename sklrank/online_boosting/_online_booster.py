"""Base class of the online boosters, which call the compiled loop over the rounds."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import nullcontext
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.parallel import Parallel, delayed

from sklrank._base_online import (
    BaseOnlineClassifier,
    multiplies_entries,
    row_blocks,
    to_dense,
    undrawn_on_error,
)
from sklrank._call_guard import ExclusiveCalls, exclusive_call, shared_call
from sklrank._progress import print_progress
from sklrank._randomness import MAX_FEATURES_OR_AUTO
from sklrank._relevance_lists import lists_of, lists_of_rows
from sklrank._sklearn import (
    N_JOBS,
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    check_parameters,
)
from sklrank._validation import check_columns, column_names, is_integer, unchanged_on_error
from sklrank.base import LabelRankerMixin, two_class_difference
from sklrank.metrics import rank_loss
from sklrank.online_boosting._pair_feedback import FullInformation
from sklrank.online_boosting._rounds import Rounds
from sklrank.online_boosting._weak_learners import (
    allow_nan,
    compiled_learners,
    make_weak_learners,
    resolve_parameters,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

__all__ = ["OnlineBooster"]

# Samples per compiled call: fewer than in `_base_online`, since a round of many learners takes
# longer. Ctrl-C interrupts training, and `verbose` prints, only between calls.
BATCH = 1000
PAIR_WEIGHTS = ("uniform", "dcg")


class OnlineBooster(LabelRankerMixin, BaseOnlineClassifier):
    """Online boosting of label rankers (Algorithm 1 of Jung & Tewari 2018).

    A subclass defines `_make_cost_rule`, which returns the rule for the costs of votes. Expert i
    scores the labels by the weighted votes of the first i learners. A subclass sets `_hedge = True`
    if Hedge chooses the expert that ranks the labels; otherwise the last expert ranks the labels.
    """

    _hedge = False
    _default_learners = "full"  # Meaning of estimator=None, see `resolve_parameters`.
    _accepts_indicators = True
    _accepts_sparse = True
    _parameter_constraints: dict = {
        "estimator": [
            HasMethods(["partial_fit"]),
            HasMethods(["partial_fit_costs"]),
            list,
            tuple,
            StrOptions({"trees"}),
            None,
        ],
        "n_estimators": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "pair_weights": [StrOptions(set(PAIR_WEIGHTS))],
        "max_features": MAX_FEATURES_OR_AUTO,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "n_jobs": N_JOBS,
    }

    @abstractmethod
    def _make_cost_rule(self, n_labels, n_learners):
        """Return the :class:`~sklrank.online_boosting._costs.CostRule` of this algorithm."""

    def _exploration_rates(self, weights):
        """Return the amounts of exploration of samples of these weights; None if all are equal."""
        return None

    def _make_feedback(self, rows, indptr, labels, rates):
        """Return the feedback on samples with these relevance lists, and random numbers.

        `rows` are the samples, and `rates` their amounts of exploration, or None. There is one
        random number for each sample, which draws the expert, or None if the last expert is used.
        """
        n_samples = len(indptr) - 1
        draws = self._random_state.random_sample(n_samples) if self._hedge else None
        return FullInformation(indptr, labels, len(self.classes_), self._discounted), draws

    @property
    def _discounted(self):
        """True if pairs of labels are weighted by discounts; see `PairFeedback`."""
        return self.pair_weights == "dcg"

    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch, by `max_iter` passes over the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels), or (n_samples,)
            0/1 relevance of the labels, or class labels (one relevant label per sample). Nothing is
            learned from a sample if none or all of its labels are relevant.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, which multiply the weights of their label pairs. They should be
            of the order of one, since the gradients and losses are proportional to them. A sample
            of weight zero is ignored. If None, all weights are one.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are invalid or have a single class. In this case, a fitted model does
            not change.
        """
        with unchanged_on_error(self):
            X, indptr, labels, weights = self._check_and_start(
                X, y, None, sample_weight, restart=True
            )
            n_batches = len(row_blocks(X, BATCH))
            for i in self._track(range(self.max_iter), "pass", n_subtasks=n_batches):
                self.n_iter_ = i + 1
                order = self._random_state.permutation(X.shape[0]) if self.shuffle else None
                self._play(X, indptr, labels, weights, order=order)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the model by one round for each sample, in order.

        Passing the samples in one call or in several calls gives bit-identical models. Pickling
        the model between calls does not change the result.

        If Ctrl-C interrupts the call (KeyboardInterrupt), the model keeps the samples of whole
        batches (of up to 1,000 samples). If memory runs out (MemoryError), the model keeps
        what it has learned before, which may include a part of a sample. In both cases, there is no
        model after a first call.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels), or (n_samples,)
            0/1 relevance of the labels, or class labels.
        classes : array-like of shape (n_labels,), default=None
            All class labels, or the names of the columns of an indicator matrix. The first call
            determines them. If None in the first call, they are the class labels in `y`, or the
            column names of a data frame, or 0, ..., n_labels - 1.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. If None, all weights are one.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are invalid or have labels that are not in `classes`. In this case, the
            model does not change. If the data are valid, but a weak learner of another package
            raises an error, the model keeps the rounds before the error. After an error in the
            first call, there is no model.
        """
        with self._discard_failed_start():
            self._play(*self._check_and_start(X, y, classes, sample_weight))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    @exclusive_call
    def progressive_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Score each sample, then learn from it (progressive, or prequential, validation).

        The resulting model is the same as that of `partial_fit`.

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
            Scores of each sample before it is learned. The columns are in the order of `classes_`.

        Raises
        ------
        ValueError
            If the data are invalid, as in `partial_fit`.
        """
        with self._discard_failed_start():
            prepared = self._check_and_start(X, y, classes, sample_weight)
            scores = np.empty((prepared[0].shape[0], len(self.classes_)))
            self._play(*prepared, scores)
        return scores

    @shared_call
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score the labels by the votes of the expert with the largest weight.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,)
            Scores of the labels, in the order of `classes_`. A higher score ranks a label earlier.
            For two class labels, the difference between the scores of the second and the first.
        """
        scores = self._label_scores(X)
        return scores if self._has_label_columns else two_class_difference(scores)

    @shared_call
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict class labels, or the labels whose score is above the mean score of the sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            If the model was fitted with class labels, the class with the largest score. If it was
            fitted with an indicator matrix, an indicator matrix of the labels whose score is above
            the mean score of the sample. The mean is the threshold since a weak learner with an
            edge gives, on average, more than ``1 / n_labels`` of its vote to a relevant label, and
            less to an irrelevant label.
        """
        scores = self._label_scores(X)
        if self._has_label_columns:
            # After the subtraction, equal scores and their mean are exactly 0. Without it, the mean
            # could be rounded to a value below all of the scores.
            scores = scores - scores.min(axis=1, keepdims=True)
            return (scores > scores.mean(axis=1, keepdims=True)).astype(np.intp)
        return self.classes_[np.argmax(scores, axis=1)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean rank loss, or the accuracy if the model predicts classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels), or (n_samples,)
            Relevance of the labels, or class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            If the model was fitted with an indicator matrix, one minus the rank loss, which is the
            mean fraction of label pairs in the correct order. If it was fitted with class labels,
            the accuracy.
        """
        if self._has_label_columns:
            check_columns(column_names(y), self.classes_)
            return 1.0 - rank_loss(y, self.decision_function(X), sample_weight=sample_weight)
        return accuracy_score(column_or_1d(y), self.predict(X), sample_weight=sample_weight)

    def _label_scores(self, X):
        self._check_fitted()
        X = self._check_rows(X, reset=False)
        n_used = 1 + int(np.argmax(self.expert_weights_))
        blocks = row_blocks(X, BATCH)
        if len(blocks) == 1:
            return self._rounds().predict(to_dense(X), self.estimator_weights_, n_used)
        blocks = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(self._rounds().predict)(to_dense(X[batch]), self.estimator_weights_, n_used)
            for batch in blocks
        )
        return np.concatenate(blocks)

    @property
    def expert_weights_(self) -> np.ndarray:
        """Weights of the experts, which sum to one."""
        self._check_fitted()
        if self._log_expert_weights is None:
            n_experts = len(self.estimators_)
            return np.eye(1, n_experts, n_experts - 1)[0]
        weights = np.exp(self._log_expert_weights - self._log_expert_weights.max())
        return weights / weights.sum()

    @property
    def empirical_edges_(self) -> np.ndarray:
        """Empirical edges of the weak learners, from all rounds."""
        self._check_fitted()
        gains, weights = self._edge_sums
        return np.divide(gains, weights, out=np.zeros(len(gains)), where=weights > 0.0)

    def __setstate__(self, state):
        super().__setstate__(state)
        # Copy the arrays, since the rounds write into them, and joblib may have memory-mapped them
        # read-only.
        for name in {"estimator_weights_", "_log_expert_weights", "_edge_sums"} & set(vars(self)):
            if getattr(self, name) is not None:
                setattr(self, name, np.array(getattr(self, name)))

    @property
    def _accepts_nan(self):
        return allow_nan(self.estimator, self._default_learners)

    def _multiplies_entries(self):
        return multiplies_entries(self.estimator)

    def _start_model(self, classes):
        n_labels = len(classes)
        self.classes_ = classes
        self._random_state = check_random_state(self.random_state)
        templates, self.n_estimators_, self.max_features_ = resolve_parameters(
            self.estimator,
            self.n_estimators,
            self.max_features,
            self._default_learners,
            self.max_iter,
        )
        self.estimators_, self.estimators_features_ = make_weak_learners(
            templates,
            self.n_estimators_,
            self.max_features_,
            self.n_features_in_,
            n_labels,
            self._random_state,
        )
        self._learners = compiled_learners(self.estimators_, self.estimators_features_, n_labels)
        self._cost_rule = self._make_cost_rule(n_labels, self.n_estimators_)
        self.estimator_weights_ = np.full(self.n_estimators_, self._cost_rule.initial_weight)
        self._log_expert_weights = np.zeros(self.n_estimators_) if self._hedge else None
        self._edge_sums = np.zeros((2, self.n_estimators_))
        self.n_rounds_ = 0

    def _rounds(self, n_threads=1):
        return Rounds(
            self._learners,
            self.estimators_features_,
            self._cost_rule,
            n_threads,
            self.n_rounds_,
        )

    def _compiled_objects(self):
        """Return the compiled objects that the rounds change."""
        return self._learners

    def _check_call_parameters(self):
        """Raise if a parameter that is read in each call is invalid.

        scikit-learn checks parameters when training starts only, and they may have changed since.
        """
        # The check of scikit-learn takes longer than learning a sample.
        if (
            self.pair_weights not in PAIR_WEIGHTS
            or not (self.n_jobs is None or (is_integer(self.n_jobs) and self.n_jobs != 0))
            or not (isinstance(self.verbose, int) and self.verbose >= 0)
        ):
            check_parameters(self, "pair_weights", "n_jobs", "verbose")

    def _play(self, X, indptr, labels, weights, scores=None, order=None):
        """Play a round for each sample, in this `order` if it is not None."""
        self._check_call_parameters()
        # Functions of the user may fail, so they are called before the first round.
        rates = self._exploration_rates(weights if order is None else weights[order])
        rounds, batches = self._rounds(effective_n_jobs(self.n_jobs)), row_blocks(X, BATCH)
        printer = RankLossPrinter(self, len(batches)) if self.verbose else None
        with ExclusiveCalls(self._compiled_objects()):
            for batch in self._track(batches, "batch", may_stop=scores is None):
                if order is None:
                    chosen, lists = batch, lists_of_rows(indptr, labels, batch)
                else:
                    chosen = order[batch]
                    starts, items = lists_of(indptr, chosen)
                    lists = starts, labels[items]
                rows, of_rows = to_dense(X[chosen]), weights[chosen]
                of_batch = None if rates is None else rates[batch]
                out = None if scores is None else scores[batch]
                # Saving the state of the generator takes longer than learning a few samples.
                with undrawn_on_error(self._random_state, rounds) if batches[1:] else nullcontext():
                    feedback, draws = self._make_feedback(rows, *lists, of_batch)
                    before = self._play_batch(rounds, rows, feedback, of_rows, draws, out)
                if printer is not None:
                    printer.print(indicator_matrix(*lists, len(self.classes_)), before)

    def _play_batch(self, rounds, rows, feedback, weights, expert_draws=None, scores=None):
        """Play the rounds of a batch. Return the scores before each round if they are needed."""
        if scores is None and self.verbose:
            scores = np.empty((len(rows), len(self.classes_)))
        # The rounds write into this array. Copy it, so that an array held by the user is unchanged.
        self.estimator_weights_ = self.estimator_weights_.copy()
        try:
            rounds.play(
                rows,
                feedback,
                weights,
                self.estimator_weights_,
                self._log_expert_weights,
                expert_draws,
                scores,
                self._edge_sums,
            )
        finally:
            self.n_rounds_ = rounds.n_rounds
        return scores


class RankLossPrinter:
    """Prints after each batch the mean rank loss so far, of samples scored before they are learned.

    Parameters
    ----------
    booster : OnlineBooster
        Booster that learns the samples.
    n_batches : int
        Number of batches of samples.
    """

    def __init__(self, booster, n_batches):
        self._booster = booster
        self._n_batches = n_batches
        self._n_printed = self._n_samples = 0
        self._total = 0.0

    def print(self, relevance, scores):
        """Add the losses of a batch with these scores, and print the mean over all batches."""
        self._n_printed += 1
        self._n_samples += len(scores)
        self._total += rank_loss(relevance, scores, average=False).sum()
        print_progress(
            type(self._booster).__name__,
            f"batch {self._n_printed} of {self._n_batches}",
            {"rank loss": self._total / self._n_samples, "rounds": self._booster.n_rounds_},
        )


def indicator_matrix(indptr, labels, n_labels):
    """Return the indicator matrix of relevance lists, in CSR format."""
    return csr_array((np.ones(len(labels)), labels, indptr), shape=(len(indptr) - 1, n_labels))

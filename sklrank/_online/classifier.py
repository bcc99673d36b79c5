"""Base classes of all online estimators, which check the input and create or continue a model.

Compiled loops read relevance lists: the relevant labels of sample ``i`` are
``labels[indptr[i]:indptr[i + 1]]``, as in a CSR matrix. For a target of class labels, each list has
length one. The documents of queries are stored in the same format.
"""

from __future__ import annotations

import re
import warnings
from abc import abstractmethod
from reprlib import repr as shortened

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    Target,
    check_classes,
    check_given,
    check_random_state,
    check_scored,
    check_target,
    check_weights,
    names_of,
    relevance_lists,
)
from sklrank._compiled import ExclusiveCalls, exclusive_call, shared_call
from sklrank._estimators import _fit_context, shares_text, unchanged_on_error
from sklrank._online.base import BaseOnline
from sklrank._online.batches import BATCH, in_order, lists_of_rows, slices, timed_slices
from sklrank._typing import Self
from sklrank.metrics import rank_loss

# Texts that the docstrings of online estimators share.
of_online = shares_text(
    reading="""
Parameters are read when a model starts: in `fit`, or in the first call of another method. Later
changes take effect in the next `fit`, but those of `random_state`, `n_jobs` and `verbose` at once.
""",
    shuffle="""
shuffle : bool, default=True
    Whether `fit` learns the samples in a random order, another one in each pass, or in the order of
    the rows, as `partial_fit` and `progressive_fit` always do.
""",
    shuffle_and_seed="""
{shuffle}
random_state : int, RandomState instance or None, default=0
    Controls the order of the samples in `fit`. If None, each fit draws another order.
""",
    targets="""
{samples}
y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
    Class labels. Rankers of labels also accept an indicator matrix, the 0/1 relevance of the
    labels, and ignore samples of which none or all labels are relevant.
""",
    classes="""
classes : array-like of shape (n_classes,), default=None
    All class labels, or the names of the columns of an indicator matrix, in any order. If None in
    the first call, they are those of `y`: class labels, column names of a data frame, or 0, ...,
    n_labels - 1. In later calls, None stands for those of the model, and new ones are added to it,
    of which nothing was learned.
""",
    weights="""
sample_weight : array-like of shape (n_samples,), default=None
    Importance weights, of the order of one; None stands for one. A sample of weight zero is not
    learned.
""",
    chunks="""
Passing the samples in one call or in several calls, with the model pickled in between, gives
bit-identical models.
""",
    returns_fitted="""
Returns
-------
self : object
    The fitted estimator.

{value_error}
    If the data are invalid or have a single class, or if a parameter is invalid. Then a fitted
    model does not change.
""",
    returns_self="""
{returns_or_raises}
    If the data are invalid or have labels that are not in `classes`, if `classes` lacks a label of
    the model, or if a weak learner cannot learn new labels. Then the model does not change.
""",
    progressive="""
The resulting model is that of `partial_fit`, if all labels are available. Each prediction uses all
that was learned from the samples before.
""",
    scores_before="""
Returns
-------
ndarray of shape (n_samples, n_classes)
    Scores of each sample before it is learned, in the order of `classes_`; minus infinity for
    labels that are not available. Class probabilities if the estimator has no `decision_function`.

{value_error}
    If the data are invalid, as in `partial_fit`.
""",
)


@of_online
class BaseOnlineClassifier(ClassifierMixin, BaseOnline):
    """Base class of the online classifiers and boosters, with their training methods.

    A subclass defines `_start_model` and `_learn_rounds`, or its own training methods. It sets
    `_accepts_indicators` if the target may be an indicator matrix. If it has a parameter
    `max_iter`, `fit` makes so many passes.
    """

    _accepts_indicators = False

    @abstractmethod
    def _start_model(self, classes):
        """Set `classes_` and all other attributes of an untrained model."""

    def _learn_rounds(self, X, indptr, labels, weights, *, order=None, scores=None):
        """Learn from samples that `_check_and_start` returns, in this order or that of the rows.

        If given, `scores` `(n_samples, n_classes)` gets the scores of each before it is learned.
        """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch, learning one sample after the other.

        {targets}
        {weights}

        {returns_fitted}
        """
        with unchanged_on_error(self):
            data = self._check_and_start(X, y, None, sample_weight, restart=True)
            for order in self._passes(len(data[-1])):
                self._learn_rounds(*data, order=order)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the model, learning one sample after the other.

        {chunks}

        If Ctrl-C (KeyboardInterrupt) interrupts the call, or it fails since memory runs out or a
        weak learner of another package raises an error, the model keeps what it has learned before;
        a first call leaves no model. If some weak learners of a booster had then learned a sample
        that others had not, it still predicts, but methods that learn raise `NotFittedError` until
        `fit` is called. A call that adds labels and fails leaves the model as it was before.

        {targets}
        {classes}
        {weights}

        {returns_self}
        """
        with self._discard_failed_start(classes):
            self._learn_rounds(*self._check_and_start(X, y, classes, sample_weight))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def progressive_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Score each sample, then learn from it (progressive, or prequential, validation).

        {progressive}

        {targets}
        {classes}
        {weights}

        {scores_before}
        """
        with self._discard_failed_start(classes):
            data = self._check_and_start(X, y, classes, sample_weight)
            scores = np.empty((len(data[-1]), len(self.classes_)))
            self._learn_rounds(*data, scores=scores)
        return scores

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return one minus the mean rank loss, or the accuracy if the model predicts classes.

        {samples}
        y : {array-like, sparse matrix} of shape (n_samples, n_labels), or (n_samples,)
            Relevance of the labels, or class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights.

        Returns
        -------
        float
            One minus the rank loss, the mean fraction of label pairs in the correct order, if the
            model was fitted with an indicator matrix; the accuracy for class labels.
        """
        check_scored(self, X, y, sample_weight=sample_weight)
        if self._has_label_columns:
            return 1.0 - rank_loss(y, self.decision_function(X), sample_weight=sample_weight)
        return super().score(X, y, sample_weight)

    @exclusive_call
    def drop_classes(self, classes: ArrayLike) -> Self:
        """Remove labels from the model.

        What was learned of the other labels does not change. A label that the argument `classes` of
        another method adds again is a new one. Later rewards of dropped labels are refused.

        Parameters
        ----------
        classes : array-like of shape (n_dropped,)
            Entries of `classes_`. At least two other labels must remain.

        {returns_or_raises}
            If `classes` has other entries, fewer than two labels would remain, or a weak learner
            cannot change its labels. Then the model does not change.
        NotFittedError
            If the model has no labels yet.
        """
        check_is_fitted(self, "classes_")
        known, dropped = self.classes_.tolist(), set(names_of(classes).tolist())
        if unknown := dropped.difference(known):
            raise ValueError(f"classes has labels that are not in classes_: {shortened(unknown)}")
        kept = np.flatnonzero([label not in dropped for label in known])
        if len(kept) < 2:
            raise ValueError(
                f"{len(kept)} of {len(known)} labels would remain, and a model needs two: name the "
                "new labels first, by the argument classes of a training method"
            )
        self._set_classes(self.classes_[kept], kept)
        return self

    def _check_and_start(self, X, y, classes, sample_weight, *, restart=False):
        """Check samples with their targets, and create a model if there is none yet, or to restart.

        All arguments are checked before the model learns, and checks do not change a model. Return
        X, C-contiguous float64 or a CSR matrix, the relevance lists indptr and labels, and weights.
        """
        check_given(y)
        restart = restart or not hasattr(self, "classes_")
        X = self._check_rows(X, reset=restart)
        # The model accepts the kind of target with which it was created.
        multilabel = self._accepts_indicators or (self._has_label_columns and not restart)
        target = check_target(y, multilabel=multilabel)
        n_samples = X.shape[0]
        if target.values.shape[0] != n_samples:
            raise ValueError(f"y has {target.values.shape[0]} rows and X has {n_samples}")
        weights = check_weights(sample_weight, n_samples, positive=restart and classes is None)
        if restart:
            self._has_label_columns = target.multilabel
            names = self._order_classes(check_classes(target, classes), target)
            if self._accepts_indicators and classes is None and not target.multilabel:
                warn_of_lists(names)
            for name in ("_n_drops", "_births"):  # of the labels of another model
                vars(self).pop(name, None)
            self._start_model(names)
        else:
            target = self._check_same_labels(target, classes)
        self._check_weights(weights)
        self._warn_of_rows(X, first=restart)
        return X, *relevance_lists(target, self.classes_), weights

    def _order_classes(self, classes, target):
        """Return the sorted classes in the order in which the model has them."""
        return classes

    def _check_same_labels(self, target: Target, classes):
        """Check the labels of a target, and add new ones. Return it with the model's columns."""
        if target.multilabel != self._has_label_columns:
            kinds = ("class labels", "an indicator matrix")
            raise ValueError(
                f"y holds {kinds[target.multilabel]}, but the first call had "
                f"{kinds[self._has_label_columns]}; call fit to start anew"
            )
        if classes is None:
            return target
        if not target.multilabel:
            self._check_same_classes(classes)
            return target
        columns = self._named_columns(classes, target.names, target.values.shape[1])
        return target if columns is None else Target(target.values[:, columns], True)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._accepts_indicators
        return tags


@of_online
class CompiledClassifier(BaseOnlineClassifier):
    """Base class of classifiers that consist of one compiled learner.

    A subclass defines `_make_learner`, which creates the
    :class:`~sklrank._online.learner.OnlineLearner` from the parameters. Boosters create an
    untrained model with `_init_model` and then call the compiled learner directly.
    """

    _accepts_sparse = True
    # Whether `random_state` controls more than the order of the samples, of which a learner in
    # another model knows nothing.
    _learner_draws = False

    @abstractmethod
    def _make_learner(self, n_features, n_classes, random_state):
        """Return an untrained :class:`~sklrank._online.learner.OnlineLearner`."""

    def _init_model(self, n_features, classes, generator=None):
        """Create an untrained model, without a check of the parameters. Return the estimator.

        A generator is first seeded with the parameter `random_state` if that is an int, which takes
        a tenth of the time of creating one.
        """
        if generator is None:
            generator = check_random_state(self.random_state)
        elif self._learner_draws and self.random_state is not None:
            generator.seed(self.random_state)
        learner = self._make_learner(n_features, len(classes), generator)
        self.n_features_in_ = n_features
        self.classes_ = classes
        self._learner = learner
        return self

    def _learn_rounds(self, X, indptr, labels, weights, *, order=None, scores=None):
        with ExclusiveCalls([self._learner]):
            batches = self._track(slices(X.shape[0], BATCH), "batch", may_stop=scores is None)
            for batch in timed_slices(batches):
                rows, of_batch = in_order(batch, order), None if scores is None else scores[batch]
                lists = lists_of_rows(indptr, labels, rows)
                self._learner.play_rows(X[rows], *lists, weights[rows], of_batch)

    def _start_model(self, classes):
        self._init_model(self.n_features_in_, classes)

    @shared_call
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the probability of each class.

        {samples_and_returns}
        ndarray of shape (n_samples, n_classes)
            Class probabilities. Each row sums to one. The columns are in the order of `classes_`.
        """
        return self._predict_proba(X)

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the natural logarithm of the probability of each class.

        {samples_and_returns}
        ndarray of shape (n_samples, n_classes)
            Logarithms of the class probabilities, minus infinity for 0, in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @shared_call
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the most probable class of each sample.

        {samples_and_returns}
        ndarray of shape (n_samples,)
            Predicted classes. If classes are equally probable, the first of them is predicted.
        """
        best = self._predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _predict_proba(self, X):
        return self._fitted("_learner").predict_rows(self._check_rows(X, reset=False))


def warn_of_lists(names):
    """Warn if class labels seem to be lists of labels, such as "beach night".

    Lists share their words, so that there are fewer words than lists.
    """
    names = names.tolist()
    if not all(isinstance(name, str) for name in names):
        return
    words = {word for name in names for word in re.split(r"[\s,;|]+", name) if word}
    if len(words) < len(names):
        longest = max(names, key=len)
        warnings.warn(
            f"y has {len(names)} class labels, such as {longest!r}, of {len(words)} words. If they "
            "are lists of labels, pass an indicator matrix, which MultiLabelBinarizer of "
            "scikit-learn makes of lists; if they are classes, name them by `classes` of "
            "partial_fit",
            stacklevel=2,
        )

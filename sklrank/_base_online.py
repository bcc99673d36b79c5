"""Base classes of all online estimators, which check the input and create or continue a model.

Compiled loops read relevance lists: the relevant labels of sample ``i`` are
``labels[indptr[i]:indptr[i + 1]]``, as in a CSR matrix. For a target of class labels, each list has
length one. The documents of queries are stored in the same format.
"""

from __future__ import annotations

import re
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from functools import cache
from reprlib import repr as shortened
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    MAX_FACTOR,
    Target,
    check_classes,
    check_columns,
    check_entries,
    check_given,
    check_label_names,
    check_random_state,
    check_rows,
    check_target,
    check_weights,
    column_names,
    indices_of,
    is_integer,
    names_of,
    relevance_lists,
    sorted_classes,
)
from sklrank._compiled import (
    ExclusiveCalls,
    LockedModel,
    Relabeling,
    check_alike,
    check_kept,
    exclusive_call,
    merge_models,
    shared_call,
)
from sklrank._estimators import (
    BaseEstimator,
    _fit_context,
    failed_weight_checks,
    shares_text,
    unchanged_on_error,
)
from sklrank.metrics import rank_loss

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

# Samples per batch. Callbacks run, and lines of `verbose` are printed, between batches.
BATCH = 10_000
# Aim for the seconds of a compiled call. Ctrl-C is noticed, and other threads run, between calls.
CALL_SECONDS = 0.05
# Maximal number of entries (128 MB) of a block of a sparse matrix that is converted to an array.
MAX_DENSE_ENTRIES = 2**24

# Texts that the docstrings of online estimators share.
of_online = shares_text(
    reading="""
Parameters are read when a model starts: in `fit`, or in the first call of another method. Later
changes take effect in the next `fit`, but those of `random_state`, `n_jobs` and `verbose` at once.
""",
    progressive="""
The resulting model is the same as that of `partial_fit`, if all labels are available. Each
prediction uses all that was learned from the samples before.
""",
    training_data="""
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Samples.
y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
    Targets, as in `partial_fit`.
classes : array-like of shape (n_classes,), default=None
    Labels, as in `partial_fit`.
""",
    training_weight="""
sample_weight : array-like of shape (n_samples,), default=None
    Weights, as in `partial_fit`. Samples of weight zero are predicted, but not learned.
""",
    method="""
method : str or list of str, default="decision_function"
    Predictions to return: "decision_function", "predict", "predict_proba", or several.
""",
    scores_before="""
Returns
-------
ndarray of shape (n_samples, n_classes)
    Scores of each sample before it is learned, with columns in the order of `classes_`; minus
    infinity for labels that are not available. They are class probabilities if the estimator has
    no `decision_function`.

Raises
------
ValueError
    If the data are invalid, as in `partial_fit`.
""",
    predictions_before="""
Returns
-------
ndarray of shape (n_samples, n_labels) or (n_samples,), or a list of these
    Predictions of each sample before it is learned, as the method of this name returns them.
    But scores have a column for each label, also for two classes; are those of the expert that is
    drawn in a round, if the algorithm draws experts; and are minus infinity for labels that are not
    available.

Raises
------
ValueError
    If `method` or the data are invalid, as in `partial_fit`.
""",
)


class BaseOnline(LockedModel, BaseEstimator):
    """Base class of the estimators that learn one sample at a time.

    A subclass sets `_accepts_nan` if it accepts missing values, and `_accepts_sparse` if it accepts
    CSR matrices. Its `_multiplies_entries` returns whether it, or a classifier inside of it,
    multiplies entries of `X`; then entries whose products would overflow raise an error.
    """

    _accepts_sparse = False
    _changes_in_place = True
    _learns_label_names = True  # From the columns of a target that is a data frame.
    _checks_entries = False
    # The attributes are pickled after the call of `__getstate__`, when another thread may learn. So
    # they are copied, except in models that lock their compiled learners while they learn.
    _pickles_copies = False
    # Whether the target has a column for each label, as an indicator matrix has. Otherwise, it
    # consists of class labels.
    _has_label_columns = False
    _failed_checks = failed_weight_checks("samples are learned one after the other")

    @property
    def _accepts_nan(self):
        return False

    def _multiplies_entries(self):
        return False

    @classmethod
    @cache
    def _get_param_names(cls):
        # scikit-learn inspects the signature in each call. Starting a booster makes five such calls
        # for each weak learner. Without the cache, the start would take twice as long.
        return super()._get_param_names()

    @shared_call
    def __getstate__(self):
        state = super().__getstate__()
        return {**state, **self._copied_attributes()} if self._pickles_copies else state

    _merge_rules: ClassVar[dict] = {}

    def merge(self, others: BaseOnline | list[BaseOnline], base: BaseOnline | None = None) -> Self:
        """Add what other models have learned from their samples.

        The result is that of one model that learned all samples: exactly, apart from rounding
        errors, if what it learned does not depend on their order, and else approximately. The
        guide to deployment states which.

        Parameters
        ----------
        others : estimator or list of estimators
            Models of the same class and parameters, which learned other samples. They do not
            change. Parameters that may differ are `random_state`, `verbose` and `n_jobs`.
        base : estimator or None, default=None
            Model of which this model and the others are copies that continued to learn, such as
            the one that all servers loaded in the morning. What it has learned counts once. If
            None, all models started untrained.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the models differ in parameters or features, did not start from `base`, or have parts
            that do not add up, such as trees. Then, and after Ctrl-C, no model has changed.
        """
        others = others if isinstance(others, list | tuple) else [others]
        # Each is locked by itself, so that two threads can merge two models with each other.
        self._merge([copy_of(other) for other in others], None if base is None else copy_of(base))
        return self

    @exclusive_call
    def _merge(self, others, base):
        start, learned = 0, []
        if base is not None:
            check_alike(self, base, "base")
            start = base._count_rounds()
        for i, model in enumerate([self, *others]):
            name = f"model {i - 1} of others" if i else "the model"
            check_alike(learned[0][0] if learned else self, model, name)
            if base is not None:
                check_kept(model, base, name)
            n_rounds = model._count_rounds() - start
            if n_rounds < 0:
                raise ValueError(
                    f"{name} has learned {n_rounds + start} rounds, and base {start}: it did not "
                    "start from this base"
                )
            if n_rounds > 0:
                learned.append((model, n_rounds))
        if not learned and not hasattr(self, "classes_"):
            return
        models, n_rounds = zip(*(learned or [(self, 1)]))
        models, base = with_all_classes(models, base if start else None, [self, *others])
        merged = models[0]
        if len(models) > 1:
            shares = [n / sum(n_rounds) for n in n_rounds]
            merged = merge_models(models, base, shares)
        self._take_attributes(merged)

    def _take_attributes(self, merged):
        """Replace the attributes by those of a merged model, in one step."""
        merged._finish_merge()
        own = {*self.get_params(deep=False), *({"_random_state"} & vars(self).keys())}
        # Ctrl-C cannot interrupt an update whose keys are strings.
        vars(self).update({name: v for name, v in vars(merged).items() if name not in own})

    def _finish_merge(self):
        """Compute what follows from merged entries."""

    def _count_rounds(self):
        """Return the number of rounds learned, which is the weight of the model in means."""
        return getattr(self, "n_rounds_", int(hasattr(self, "classes_")))

    def _check_fitted(self, attribute="classes_"):
        # The function of scikit-learn takes longer than the prediction for one sample.
        if not hasattr(self, attribute):
            check_is_fitted(self, attribute)

    def _check_rows(self, X, *, reset):
        if not reset and self._is_valid(X):
            return X
        X = check_rows(self, X, reset=reset, dtype=np.float64, order="C")
        if reset:
            # Parameters that are set later do not change what the model does with entries.
            self._checks_entries = self._multiplies_entries()
        if self._checks_entries:
            check_entries(X)
        return X

    def _is_valid(self, X):
        """Return True if `X` is certain to pass validation unchanged.

        Validation takes about 100 microseconds, longer than a model needs to learn one sample.
        """
        bound = MAX_FACTOR**2 if self._checks_entries else np.inf
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.flags.c_contiguous
            and X.flags.aligned
            and X.shape[0] > 0
            and X.shape[1] == getattr(self, "n_features_in_", None)
            and not hasattr(self, "feature_names_in_")
            # Unlike np.dot, np.vdot does not warn of an overflow. To ignore warnings by np.errstate
            # would take longer than the sum for one sample.
            and bool(np.vdot(X, X) < bound)
        )

    @exclusive_call
    def set_params(self, **params: object) -> Self:
        """Set the parameters of this estimator.

        In a fitted model, another `random_state` takes effect on the next random draw, such as that
        of the labels to show. So copies of a model on several servers can draw differently.

        Parameters
        ----------
        **params : dict
            Parameters of the estimator.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the model is fitted and `random_state` is invalid, and then nothing changes; or if
            there is no such parameter, and then those before it are set, as in scikit-learn.
        """
        generator = getattr(self, "_random_state", None)
        if generator is not None and "random_state" in params:
            new, old = params["random_state"], self.random_state
            if new is not old and not (is_integer(new) and is_integer(old) and new == old):
                generator = check_random_state(new)
        super().set_params(**params)
        if generator is not None:
            self._random_state = generator
        return self

    def _change_classes(self, names):
        """Replace the model by a copy with these classes, of which some may be new."""
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        labels = np.array([places.get(label, -1) for label in names.tolist()], dtype=np.intp)
        self._set_classes(names, labels)

    def _set_classes(self, classes, labels):
        """Replace the model by a copy that has its labels `labels`, or new ones (-1)."""
        memo, shared = Relabeling(labels), np.random.mtrand._rand
        memo[id(shared)] = shared  # NumPy's global generator, if random_state is None.
        attributes = self._copied_attributes(memo)
        attributes["classes_"] = classes
        if dropped := np.delete(self.classes_, labels[labels >= 0]).tolist():
            # How often each class was dropped, for `check_kept`.
            drops = getattr(self, "_drops", {})
            attributes["_drops"] = drops | {name: drops.get(name, 0) + 1 for name in dropped}
        for estimator in attributes.get("estimators_", ()):
            if isinstance(estimator, BaseOnline):
                estimator.classes_ = np.arange(len(classes))
        # A single assignment, which Ctrl-C cannot interrupt halfway.
        self.__dict__ = {**vars(self), **attributes}

    def _adds_classes(self, classes):
        """Return whether an argument `classes` has more labels than the model."""
        return classes is not None and np.size(classes) > len(self.classes_)

    def _check_same_classes(self, classes):
        """Check that an argument `classes` has all labels of the model, and add the new ones."""
        names = check_label_names(classes) if self._has_label_columns else sorted_classes(classes)
        adds = self._adds_classes(classes)
        if not adds and np.array_equal(names, self.classes_):
            return
        known, given = self.classes_.tolist(), names.tolist()
        of_known, of_given = set(known), set(given)
        is_new = [label not in of_known for label in given]
        if missing := [label for label in known if label not in of_given]:
            raise ValueError(
                f"classes={shortened(given)} lacks labels of the model (missing: "
                f"{shortened(missing)}, new: {shortened(names[is_new].tolist())}): name all labels "
                "of the model and the new ones, or remove labels by drop_classes"
            )
        if adds:
            if self._has_label_columns:
                names = np.concatenate([self.classes_, names[is_new]])
            self._change_classes(names)

    def _named_columns(self, classes, names, n_columns):
        """Return the columns of a target that `classes` names, in the order of the labels.

        New labels are added to the model. `names` are those of a data frame, or None. Return None
        if the columns are in this order already.
        """
        if classes is None:
            return None
        given = check_label_names(classes)
        if len(given) != n_columns:
            raise ValueError(f"classes must name the {n_columns} columns of y, each once")
        check_columns(names, given)
        self._check_same_classes(given)
        columns = indices_of(self.classes_, given, "")
        return None if np.array_equal(columns, np.arange(n_columns)) else columns

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._accepts_nan
        tags.input_tags.sparse = self._accepts_sparse
        return tags


@shared_call
def copy_of(model):
    """Return a copy of a model. NumPy's global generator, if the model has it, is not copied."""
    shared = np.random.mtrand._rand
    return deepcopy(model, {id(shared): shared})


class WorkingMemory:
    """Compiled objects that calls use in turn, such as samplers, which are not part of a model.

    After a model is loaded or copied, they are made again. To make one takes longer than to learn a
    sample.
    """

    def __init__(self):
        self._free = {}

    def __reduce__(self):
        return WorkingMemory, ()

    @contextmanager
    def borrow(self, key, make):
        """Lend the object of this key to one call at a time, or the result of `make` if in use."""
        thing = self._free.pop(key, None)
        thing = make() if thing is None else thing
        yield thing
        # Not after an error, which may have left it in the middle of its work.
        self._free[key] = thing


def with_all_classes(models, base, known):
    """Return models, and the base or None, with the classes that the result has.

    These are the classes of all models `known`, but those of the base that one of them dropped.
    """
    first, known = models[0], [model for model in known if hasattr(model, "classes_")]
    if not known or all(
        np.array_equal(model.classes_, first.classes_) for model in (*known, base or first)
    ):
        return models, base
    of_known = [model.classes_.tolist() for model in known]
    before = set() if base is None else set(base.classes_.tolist())
    dropped = before.difference(set.intersection(*map(set, of_known)))
    names = dict.fromkeys(np.concatenate([model.classes_ for model in known]).tolist())
    names = np.array([name for name in names if name not in dropped])
    if len(names) < 2:
        raise ValueError(
            f"models dropped all classes of base but {len(names)}, and a model needs two: let them "
            "drop fewer, or add others"
        )
    names = names if first._has_label_columns else sorted_classes(names)

    def relabeled(model):
        model = copy_of(model)
        model._change_classes(names)
        return model

    return list(map(relabeled, models)), None if base is None else relabeled(base)


def multiplies_entries(estimators):
    """Return True if an estimator, or one of a list, multiplies entries of the samples."""
    estimators = estimators if isinstance(estimators, Sequence) else [estimators]
    return any(
        isinstance(estimator, BaseOnline) and estimator._multiplies_entries()
        for estimator in estimators
    )


class BaseOnlineClassifier(ClassifierMixin, BaseOnline):
    """Base class of the online classifiers and boosters, with their training methods.

    A subclass defines `_start_model` and `_learn_rounds`, or its own training methods. It sets
    `_accepts_indicators` if the target may be an indicator matrix. If it has a parameter
    `max_iter`, `fit` makes so many passes, which are shuffled if it has a parameter `shuffle` that
    is True.
    """

    _accepts_indicators = False

    @abstractmethod
    def _start_model(self, classes):
        """Set `classes_` and all other attributes of an untrained model."""

    def _learn_rounds(self, X, indptr, labels, weights, *, order=None, scores=None):
        """Learn from samples, one after the other.

        Parameters
        ----------
        X, indptr, labels, weights : arrays
            Checked samples, as `_check_and_start` returns them.
        order : ndarray of shape (n_samples,), default=None
            Order of the samples, if it is not that of the rows.
        scores : ndarray of shape (n_samples, n_classes), default=None
            Array that is filled with the scores of each sample before it is learned.
        """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch, learning one sample after the other.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels. Rankers of labels also accept an indicator matrix, the 0/1 relevance of
            the labels, and ignore samples of which none or all labels are relevant.
        sample_weight : array-like of shape (n_samples,), default=None
            Importance weights, which should be of the order of one. A sample of weight zero is
            skipped. If None, all weights are one.

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
            data = self._check_and_start(X, y, None, sample_weight, restart=True)
            if not hasattr(self, "max_iter"):
                self._learn_rounds(*data)
                return self
            for i in self._track(range(self.max_iter), "pass"):
                self.n_iter_ = i + 1
                shuffled = getattr(self, "shuffle", False)
                order = self._random_state.permutation(len(data[-1])) if shuffled else None
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

        Passing the samples in one call or in several calls gives bit-identical models. Pickling
        the model between calls does not change the result.

        If the call is interrupted by Ctrl-C (KeyboardInterrupt), or fails since memory runs out or
        a weak learner of another package raises an error, the model keeps what it has learned
        before. After a first call, there is no model in these cases. If some of the weak learners
        of a booster had then learned a sample that others had not, the booster still predicts, but
        methods that learn raise `NotFittedError` until `fit` is called. A call that adds labels and
        fails leaves the model as it was before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
            Class labels or, for rankers of labels, also an indicator matrix.
        classes : array-like of shape (n_classes,), default=None
            All class labels, or the names of the columns of an indicator matrix, in any order. If
            None in the first call, they are the class labels in `y`, or the column names of a data
            frame, or 0, ..., n_labels - 1. In later calls, None stands for those of the model, and
            labels that the model does not have are added to it. Nothing was learned from them.
        sample_weight : array-like of shape (n_samples,), default=None
            Importance weights. A sample of weight zero is skipped. If None, all weights are one.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are invalid or have labels that are not in `classes`, if `classes` lacks a
            label of the model, or if a weak learner cannot learn new labels. In these cases, the
            model does not change.
        """
        with self._discard_failed_start(classes):
            self._learn_rounds(*self._check_and_start(X, y, classes, sample_weight))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    @of_online
    def progressive_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> np.ndarray:
        """Score each sample, then learn from it (progressive, or prequential, validation).

        {progressive}

        Parameters
        ----------
        {training_data}
        {training_weight}

        {scores_before}
        """
        with self._discard_failed_start(classes):
            data = self._check_and_start(X, y, classes, sample_weight)
            scores = np.empty((len(data[-1]), len(self.classes_)))
            self._learn_rounds(*data, scores=scores)
        return scores

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
        return super().score(X, y, sample_weight)

    @exclusive_call
    def drop_classes(self, classes: ArrayLike) -> Self:
        """Remove labels from the model.

        What was learned of the other labels does not change. A label that the argument `classes` of
        another method adds again is a new one. Rewards of labels that were dropped, which arrive
        later, are refused.

        Parameters
        ----------
        classes : array-like of shape (n_dropped,)
            Entries of `classes_`. At least two other labels must remain.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If `classes` has other entries, if fewer than two labels would remain, or if a weak
            learner cannot change its labels. Then the model does not change.
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
        """Check samples with their targets, and create a model if there is none yet.

        All arguments are checked before the model learns, and checks do not change a model.

        Parameters
        ----------
        X, y, classes, sample_weight : objects
            Arguments of `fit` or `partial_fit`.
        restart : bool, default=False
            Whether to replace an existing model by an untrained model.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features), C-contiguous float64, or a CSR matrix
        indptr, labels : ndarrays of intp
            Relevance lists of the samples.
        weights : ndarray of shape (n_samples,)
            Sample weights.
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
            names = check_classes(target, classes)
            if self._accepts_indicators and classes is None and not target.multilabel:
                warn_of_lists(names)
            self._start_model(names)
        else:
            target = self._check_same_labels(target, classes)
        self._check_weights(weights)
        return X, *relevance_lists(target, self.classes_), weights

    def _check_weights(self, weights):
        """Raise if the model cannot learn from samples with these weights."""

    def _discard_failed_start(self, classes):
        """Return a context manager: if its body raises, no model is started and no label added."""
        continues = hasattr(self, "classes_") and not self._adds_classes(classes)
        return nullcontext() if continues else unchanged_on_error(self)

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


class CompiledClassifier(BaseOnlineClassifier):
    """Base class of classifiers that consist of one compiled learner.

    A subclass defines `_make_learner`, which creates the
    :class:`~sklrank._online_learner.OnlineLearner` from the parameters. Boosters create an
    untrained model with `_init_model` and then call the compiled learner directly.
    """

    _accepts_sparse = True

    @abstractmethod
    def _make_learner(self, n_features, n_classes, random_state):
        """Return an untrained :class:`~sklrank._online_learner.OnlineLearner`."""

    def _init_model(self, n_features, classes, generator=None):
        """Create an untrained model.

        Parameters
        ----------
        n_features : int
            Number of features.
        classes : ndarray of shape (n_classes,)
            All class labels.
        generator : RandomState instance or None, default=None
            Random number generator, which is first seeded with the parameter `random_state` if that
            is an int. This takes a tenth of the time of creating a generator. If None, a generator
            is created from `random_state`.

        Returns
        -------
        self : object
            The estimator, ready to predict and learn.
        """
        random_state = getattr(self, "random_state", None)
        if generator is None:
            generator = check_random_state(random_state)
        elif random_state is not None:
            generator.seed(random_state)
        learner = self._make_learner(n_features, len(classes), generator)
        self.n_features_in_ = n_features
        self.classes_ = classes
        self._learner = learner
        return self

    def _learn_rounds(self, X, indptr, labels, weights, *, order=None, scores=None):
        with ExclusiveCalls([self._learner]):
            batches = self._track(slices(X.shape[0], BATCH), "batch", may_stop=scores is None)
            for batch in timed_slices(batches):
                lists = lists_of_rows(indptr, labels, batch)
                of_batch = None if scores is None else scores[batch]
                self._learner.play_rows(X[batch], *lists, weights[batch], of_batch)

    def _start_model(self, classes):
        self._init_model(self.n_features_in_, classes)

    @shared_call
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Class probabilities. Each row sums to one. The columns are in the order of `classes_`.
        """
        return self._predict_proba(X)

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the natural logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms of the class probabilities, which are minus infinity if the probability is 0.
            The columns are in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @shared_call
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the most probable class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes. If classes are equally probable, the first of them is predicted.
        """
        best = self._predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _predict_proba(self, X):
        self._check_fitted()
        return self._learner.predict_rows(self._check_rows(X, reset=False))


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
            UserWarning,
            stacklevel=2,
        )


def row_blocks(X, max_rows, *, dense=True):
    """Return slices that cover the rows of `X`, each of at most `max_rows` rows.

    If `X` is sparse and `dense` is True, the blocks will be converted to arrays. Then a block has
    at most `MAX_DENSE_ENTRIES` entries, but at least one row.
    """
    if dense and sparse.issparse(X):
        max_rows = min(max_rows, max(1, MAX_DENSE_ENTRIES // X.shape[1]))
    return slices(X.shape[0], max_rows)


def slices(n, size):
    """Return slices that cover `n` items, each of at most `size` items."""
    # gen_batches of scikit-learn is not used, since checking its parameters takes longer than some
    # models need to learn one sample. For the same reason a single slice is a special case.
    if 0 < n <= size:
        return [slice(0, n)]
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def timed_slices(batches):
    """Divide batches into slices of one compiled call each, and yield them.

    The calls of the loop's body are timed. The first one has one sample, and each call at most
    16 times as many as the one before, so that it takes about `CALL_SECONDS`.
    """
    size = 1
    for batch in batches:
        start = batch.start
        while start < batch.stop:
            stop = min(start + size, batch.stop)
            begin = perf_counter()
            yield slice(start, stop)
            rows_in_time = CALL_SECONDS * (stop - start) / max(perf_counter() - begin, 1e-9)
            size = max(1, min(16 * (stop - start), int(rows_in_time)))
            start = stop


def mask_rows(available, rows):
    """Return these rows of the mask of available labels, or None if it is None."""
    return None if available is None else available[rows]


def to_dense(X):
    """Return `X` as an array."""
    return X.toarray() if sparse.issparse(X) else X


def lists_of(indptr, rows):
    """Return the row pointers `(n_rows + 1,)` of some rows, and the positions of their entries.

    `rows` is a slice or an array of row numbers, in any order.
    """
    firsts, sizes = indptr[:-1][rows], np.diff(indptr)[rows]
    starts = np.append(np.intp(0), np.cumsum(sizes, dtype=np.intp))
    items = np.arange(starts[-1]) + np.repeat(firsts - starts[:-1], sizes)
    return starts, items


def lists_of_rows(indptr, labels, rows):
    """Return the relevance lists `indptr, labels` of some rows; see `lists_of`."""
    if isinstance(rows, slice):  # without a copy of `labels`
        first, last = indptr[rows.start], indptr[rows.stop]
        return indptr[rows.start : rows.stop + 1] - first, labels[first:last]
    starts, items = lists_of(indptr, rows)
    return starts, labels[items]

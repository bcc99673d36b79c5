"""Base class of online estimators, and classes that come and go."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from functools import cache
from reprlib import repr as shortened
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    MAX_FACTOR,
    check_columns,
    check_entries,
    check_label_names,
    check_random_state,
    check_rows,
    indices_of,
    is_integer,
    named_columns,
    sorted_classes,
    warn_of_large,
)
from sklrank._compiled import (
    LockedModel,
    Relabeling,
    check_alike,
    check_kept,
    exclusive_call,
    is_learned,
    merge_models,
    shared_call,
)
from sklrank._estimators import BaseEstimator, failed_weight_checks, shares_text, unchanged_on_error
from sklrank._typing import Self


@shares_text()
class BaseOnline(LockedModel, BaseEstimator):
    """Base class of the estimators that learn one sample at a time.

    The `_multiplies_entries` of a subclass returns whether it, or a classifier inside of it,
    multiplies entries of `X`; then entries whose products would overflow raise an error. It sets
    `_steps_like_rows` if its steps are as large as the rows, which it does not scale.
    """

    _changes_in_place = True
    _learns_label_names = True  # From the columns of a target that is a data frame.
    _checks_entries = _needs_small_means = _steps_like_rows = _calls_functions = False
    # The attributes are pickled after the call of `__getstate__`, when another thread may learn. So
    # they are copied, except in models that lock their compiled learners while they learn.
    _pickles_copies = False
    # Whether the target has a column for each label, as an indicator matrix has. Otherwise, it
    # consists of class labels.
    _has_label_columns = False
    _failed_checks = failed_weight_checks("samples are learned one after the other")
    _parameter_constraints: dict = {"shuffle": ["boolean"], "random_state": ["random_state"]}

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
    # How often classes were dropped, and how often before each class was added, for `check_kept`.
    _n_drops, _births = 0, None

    def merge(self, others: BaseOnline | list[BaseOnline], base: BaseOnline | None = None) -> Self:
        """Add what other models have learned from their samples.

        The result is that of one model that learned all samples: exactly, apart from rounding
        errors, if what it learned does not depend on their order, and else approximately (see the
        guide to deployment).

        Parameters
        ----------
        others : estimator or list of estimators
            Models of the same class and parameters, which learned other samples. They do not
            change. Parameters that may differ are `random_state`, `verbose` and `n_jobs`.
        base : estimator or None, default=None
            Model of which this model and the others are copies that continued to learn, such as the
            one that all servers loaded in the morning. What it has learned counts once. If None,
            all models started untrained.

        {returns_or_raises}
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
            most = models[shares.index(max(shares))]
            merged = merge_models(models, base, shares, models[0]._parts_of(most))
        merged._finish_merge()
        own = {"_random_state"} & vars(self).keys()
        new = {n: v for n, v in vars(merged).items() if is_learned(n) and n not in own}
        births = {"_n_drops": 0, "_births": None} if "_births" in vars(self) else {}
        # A single assignment, which Ctrl-C cannot interrupt halfway.
        self.__dict__ = vars(self) | births | new

    def _parts_of(self, model):
        """Return parts of another model that replace those of this one, by the id of the latter.

        These are parts that do not add up, and that a merged model takes from the model that has
        learned most.
        """
        return {}

    def _finish_merge(self):
        """Compute what follows from merged entries."""

    def _count_rounds(self):
        """Return the number of rounds learned, which is the weight of the model in means."""
        return getattr(self, "n_rounds_", int(hasattr(self, "classes_")))

    def _fitted(self, attribute):
        """Return an attribute of the fitted model."""
        # The function of scikit-learn takes longer than the prediction for one sample.
        if not hasattr(self, attribute):
            check_is_fitted(self, attribute)
        return getattr(self, attribute)

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

    def _check_weights(self, weights):
        """Raise if the model cannot learn from samples with these weights."""

    def _warn_of_rows(self, X, *, first):
        """Warn if rows or features, or the mean of the `first` rows, outweigh others in steps."""
        is_bounded = getattr(self, "kernel", None) in ("rbf", "laplacian")
        steps_like_rows = self._steps_like_rows and not is_bounded
        if self._checks_entries and steps_like_rows:
            warn_of_large("feature", X, self, with_mean=first and self._needs_small_means)
        if self._checks_entries and (steps_like_rows or not getattr(self, "standardize", True)):
            warn_of_large("row", X, self)

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

        {returns_or_raises}
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

    def _passes(self, n_samples, rounds_of=None):
        """Yield the order of the samples in each pass of `fit`, or None for that of the rows.

        If there is a function `rounds_of`, its result for a generator takes the place of the rows.
        """
        generator = getattr(self, "_random_state", None) or check_random_state(self.random_state)
        repeats = hasattr(self, "max_iter")
        for i in self._track(range(self.max_iter), "pass") if repeats else range(1):
            if repeats:
                self.n_iter_ = i + 1
            rounds = None if rounds_of is None else rounds_of(generator)
            if self.shuffle:
                rounds = generator.permutation(n_samples if rounds is None else rounds)
            yield rounds

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
        drops = (labels >= 0).sum() < len(self.classes_)
        if drops or self._births is not None:
            n_drops, old = self._n_drops + int(drops), self._births
            old = np.zeros(len(self.classes_), np.intp) if old is None else old
            births = np.where(labels < 0, n_drops, old[labels])
            attributes |= {"_n_drops": n_drops, "_births": births}
        for estimator in attributes.get("estimators_", ()):
            if isinstance(estimator, BaseOnline):
                estimator.classes_ = np.arange(len(classes))
        # A single assignment, which Ctrl-C cannot interrupt halfway.
        self.__dict__ = {**vars(self), **attributes}

    def _adds_classes(self, classes):
        """Return whether an argument `classes` has more labels than the model."""
        return classes is not None and np.size(classes) > len(self.classes_)

    def _discard_failed_start(self, classes):
        """Return a context manager: if its body raises, no model is started and no label added.

        A model that calls functions of the user while it learns does not change at all.
        """
        if not hasattr(self, "classes_") or self._adds_classes(classes):
            return unchanged_on_error(self)
        return self._learning_copies() if self._calls_functions else nullcontext()

    @contextmanager
    def _learning_copies(self):
        with unchanged_on_error(self):
            vars(self).update(self._copied_attributes())
            yield

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
            if self._has_label_columns or known != sorted(known):
                names = np.concatenate([self.classes_, names[is_new]])
            self._change_classes(names)

    def _named_columns(self, classes, names, n_columns):
        """Return the columns of a target that `classes` names, in the order of the labels.

        New labels are added to the model. `names` are those of a data frame, or None. Return None
        if the columns are in this order already.
        """
        if classes is None:
            return None
        given = named_columns(classes, None, n_columns)
        check_columns(names, given)
        self._check_same_classes(given)
        columns = indices_of(self.classes_, given, "")
        return None if np.array_equal(columns, np.arange(n_columns)) else columns


@shared_call
def copy_of(model):
    """Return a copy of a model. NumPy's global generator, if the model has it, is not copied."""
    shared = np.random.mtrand._rand
    return deepcopy(model, {id(shared): shared})


def with_all_classes(models, base, known):
    """Return models, and the base or None, with the classes that the result has.

    These are the classes of all models `known`, but those of the base that one of them dropped.
    """
    first, known = models[0], [model for model in known if hasattr(model, "classes_")]
    if not known or all(
        np.array_equal(model.classes_, first.classes_) for model in (*known, base or first)
    ):
        return models, base
    if len({model.classes_.dtype.kind in "biuf" for model in known}) > 1:
        raise ValueError("models must have labels of one type, not both numbers and strings")
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

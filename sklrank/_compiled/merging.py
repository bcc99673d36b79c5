"""Merging of models that learned different samples, by rules for the entries of their states.

Let s_i be an entry of the state of model i, and s_0 that of the base from which all of them
started. The rules are

    "total"     s_0 + sum_i (s_i - s_0), for sums over samples,
    "mean"      sum_i p_i s_i, for what steps of first order change,
    "max", "first" (that of the model that receives the others) and "zero".

The share p_i is proportional to the number of rounds since the base, and the shares sum to one. A
compiled class, or an estimator, that can be merged has a dict `_merge_rules` of rules, and may have
a static method `_merge_entries`, which computes other entries of the result from a `Merging`. The
remaining entries are objects, which are merged in the same way, or must be equal.
"""

from collections.abc import Mapping
from copy import copy
from numbers import Real
from pickle import PicklingError

import numpy as np
from joblib import hash as hash_of
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.base import BaseEstimator

from sklrank._compiled.state import Persistent, with_format, without_format

# Attributes that scikit-learn sets for the user.
OF_SKLEARN = {"_metadata_request", "_skl_callbacks", "_sklearn_output_config"}
# Of an estimated variance.
ROUNDING = np.finfo(np.float64).eps


class Merging:
    """States of one object in several models, that of the base (or None), and the shares."""

    def __init__(self, states, base, shares):
        self.states, self.base, self.shares = states, base, shares

    def sum(self, values, start):
        """Return the total of values of the models. `start` is that of the base."""
        return start + sum(value - start for value in values)

    def total(self, name):
        """Return the total of an entry that is 0 in an untrained model."""
        return self.sum([s[name] for s in self.states], self.base[name] if self.base else 0)

    def apply(self, rule, name):
        """Return an entry of the result by a rule."""
        values = [state[name] for state in self.states]
        if rule == "total":
            return self.total(name)
        if rule == "mean":
            return sum(share * value for share, value in zip(self.shares, values))
        if rule == "max":
            return np.max(values, axis=0)
        return np.zeros_like(values[0]) if rule == "zero" else values[0]

    def map(self, function, untrained):
        """Return the values of a function of the states of the models, and that of the base."""
        return list(map(function, self.states)), function(self.base) if self.base else untrained

    def pooled(self, function):
        """Return the means and the sums of squared deviations of all samples.

        `function` returns the number, the means and the sums of the samples of a state.
        """
        statistics, start = self.map(function, None)
        # Sums around a common point, so that they do not cancel.
        origin = statistics[0][1]

        def raw(n, means, squares):
            shift = means - origin
            return np.array([np.full(len(shift), n), n * shift, squares + n * shift**2])

        sums = [raw(*each) for each in statistics]
        n, first, second = self.sum(sums, 0.0 if start is None else raw(*start))
        n = np.maximum(n, 1.0)
        squares = second - first**2 / n
        return origin + first / n, np.where(squares > n * ROUNDING * second, squares, 0.0)

    def regression(self, equations, start):
        """Return the covariance and the weights of the total of normal equations A W = b.

        `equations` are (A, b) of each model, and `start` are those of the base.
        """
        precision, sides = map(self.sum, zip(*equations), start)
        try:
            factor = cho_factor(precision, lower=True)
        except LinAlgError as error:
            raise ValueError(
                "second moments are not positive: the models did not start from the base"
            ) from error
        return cho_solve(factor, np.eye(len(precision))), cho_solve(factor, sides)

    def newton(self, pairs, start):
        """Return the means of values, weighted by their precisions, and the total precisions."""
        precision = self.sum([pair[1] for pair in pairs], start[1])
        return self.sum([v * p for v, p in pairs], start[0] * start[1]) / precision, precision


def precision_of(covariance):
    """Return the inverse of a symmetric matrix, given its lower triangle."""
    precision = np.linalg.inv(np.tril(covariance) + np.tril(covariance, -1).T)
    return (precision + precision.T) / 2.0


def check_alike(model, other, name):
    """Raise unless two models, of which the second one is called `name`, can be merged."""
    if type(other) is not type(model):
        raise ValueError(f"{name} is a {type(other).__name__}, not a {type(model).__name__}")
    own, others = model.get_params(deep=False), other.get_params(deep=False)
    for key in ("n_features_in_", "feature_names_in_", "_has_label_columns"):
        if hasattr(model, "n_features_in_") and hasattr(other, "n_features_in_"):
            own[key], others[key] = getattr(model, key, None), getattr(other, key, None)
    for key in own.keys() - {"random_state", "verbose", "n_jobs"}:
        if not _is_equal(own[key], others[key]):
            if isinstance(own[key], Mapping) and isinstance(others[key], Mapping):
                raise ValueError(
                    f"{key} of {name} has other entries than {key} of the model: replace it in all "
                    "models, and in base, by one mapping with the entries of all, "
                    f"set_params({key}=...)"
                )
            raise ValueError(
                f"{key} of {name} is {others[key]!r}, but that of the model is {own[key]!r}: only "
                "models with the same parameters and features can be merged"
            )


def check_kept(model, base, name):
    """Raise if a model, which is called `name`, dropped a class of the base and added it again."""
    if model._births is None:
        return
    # A label of `base` was added before the drops of `base`, and one that is added again, after.
    known = set(base.classes_.tolist()) if hasattr(base, "classes_") else set()
    births = zip(model.classes_.tolist(), model._births.tolist())
    again = [label for label, n in births if n > base._n_drops and label in known]
    if again:
        raise ValueError(
            f"{name} dropped {again} of the classes of base, and added them again, so that what "
            "base knows of them cannot be counted once: merge between the two, or add them by "
            "other names"
        )


def _is_equal(one, other):
    if one is other or (isinstance(one, Real) and one == other):
        return True
    # The hash depends on strides: those of a copy are given by its shape, those of an empty array
    # also by how it was sent.
    copies = (each.copy() if isinstance(each, np.ndarray) else each for each in (one, other))
    try:
        return len(set(map(hash_of, copies))) == 1
    except PicklingError as error:
        raise ValueError(
            f"models that have {one!r} cannot be compared and merged: define it in a module"
        ) from error


def _state_of(thing):
    if isinstance(thing, Persistent):
        return without_format(thing.__getstate__(), type(thing).__name__)
    return vars(thing)


def is_learned(name):
    """Return whether an attribute of an estimator is neither a parameter nor the user's."""
    return (name.startswith("_") or name.endswith("_")) and name not in OF_SKLEARN


def _is_part(value):
    if isinstance(value, list):
        return any(map(_is_part, value))
    return isinstance(value, Persistent) or hasattr(value, "_merge_rules")


def merge_models(things, base, shares, memo, owner=None):
    """Return a model that is merged from several of one class, or an object from those of models.

    `memo` has the merged objects by the ids of those of the first model, since an object may be an
    entry of several others, and at first the parts that are not merged. `owner` is the name of the
    estimator that has the objects.
    """
    first, kind = things[0], type(things[0])
    if not _is_part(first) or id(first) in memo:
        return memo.get(id(first), first)
    if kind is list:
        items = zip(*things, [None] * len(first) if base is None else base, strict=True)
        return [merge_models(of, start, shares, memo, owner) for *of, start in items]
    owner = kind.__name__ if isinstance(first, BaseEstimator) else owner
    if getattr(kind, "_merge_rules", None) is None:
        raise ValueError(
            f"{owner} cannot be merged, because of its {kind.__name__}: what it learned from "
            "different samples does not add up, as sums and weights do. Let one model learn all"
        )
    states, start = list(map(_state_of, things)), None if base is None else _state_of(base)
    merging = Merging(states, start, shares)
    entries = {name: merging.apply(rule, name) for name, rule in kind._merge_rules.items()}
    if hasattr(kind, "_merge_entries"):
        entries |= kind._merge_entries(merging)
    for name in states[0].keys() - entries.keys():
        values = [state[name] for state in states if name in state]
        if isinstance(first, BaseEstimator) and not (
            is_learned(name) and len(values) == len(states)
        ):
            continue
        if (
            isinstance(first, Persistent)
            and not _is_part(values[0])
            and not all(_is_equal(values[0], value) for value in values)
        ):
            raise ValueError(
                f"{name} of {kind.__name__} differs: start the models with the same parameters and "
                "random_state, or as copies of one model"
            )
        of_base = None if base is None else start.get(name)
        entries[name] = merge_models(values, of_base, shares, memo, owner)
    result = kind.__new__(kind) if isinstance(first, Persistent) else copy(first)
    if isinstance(first, Persistent):
        result.__setstate__(with_format(entries))
    else:
        vars(result).update(entries)
    return memo.setdefault(id(first), result)

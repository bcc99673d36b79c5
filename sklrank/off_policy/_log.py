"""Checks of a log and of a policy, and warnings where the log says little about the policy."""

import warnings
from typing import NamedTuple

import numpy as np

from sklrank._checks import check_row_labels, check_same_order, plain
from sklrank.feedback._protocol import arrays_of_record, check_exploration, check_rewards

# Rounding to six decimals changes the sum of 1000 probabilities by at most this.
TOLERANCE = 1e-3
# A mean weight is rarely five standard errors from its expectation. With fewer than 100 samples, or
# one with a tenth of all weight, intervals from the central limit theorem are too narrow.
STANDARD_ERRORS, FEWEST_SAMPLES, LARGEST_SHARE = 5, 100, 0.1


class OffPolicyWarning(UserWarning):
    """Warning that a log says little about the value of a policy."""


class Log(NamedTuple):
    """Checked arrays of the samples whose rewards are known."""

    rewards: np.ndarray  # (n_samples,)
    actions: np.ndarray  # (n_samples,) labels shown
    propensities: np.ndarray  # (n_samples,)
    policy: np.ndarray  # (n_samples, n_labels) probabilities of the policy to evaluate
    known: np.ndarray  # (n_rows,) mask of these samples among all rows of the log

    def of_shown(self, values):
        """Return the values `(n_samples,)` of the labels shown, given those of all labels."""
        return values[np.arange(len(self.actions)), self.actions]


def check_log(rewards, exploration, policy, X=None, classes=None, available=None):
    """Return the `Log` of the samples whose reward is not NaN.

    With `classes`, the actions are indices into these, also if the record has other names.
    """
    check_row_labels({"rewards": rewards, "policy": policy, "X": X, "available": available})
    n_samples = len(arrays_of_record(exploration)[0])
    rewards = check_rewards(rewards, (n_samples,), bounded=False)
    known = known_samples(rewards)
    policy = check_policy(policy, n_samples, X, exploration, available)
    shown = check_exploration(exploration, n_samples, policy.shape[1], classes=classes, single=True)
    return Log(*(of_known(array, known) for array in (rewards, *shown, policy)), known)


def of_known(array, known):
    """Return the rows whose reward is known; if all are, the array itself, which may be large."""
    return array if known.all() else array[known]


def known_samples(rewards):
    """Return a mask of the samples all of whose rewards are known; raise if there is none."""
    known = ~np.isnan(rewards).any(axis=tuple(range(1, rewards.ndim)))
    if not known.any():
        raise ValueError("rewards must be known, not NaN, for at least one sample")
    return known


def check_policy(policy, n_samples, X, exploration, available):
    """Return the probabilities `(n_samples, n_labels)` of a policy; the array is not copied."""
    policy = np.asarray(plain(probabilities_of(policy, X, exploration, available)))
    if policy.ndim == 1 and policy.dtype.kind in "iu" and len(policy) and policy.min() >= 0:
        names = np.asarray(getattr(exploration, "classes", None))
        if names.dtype.kind in "iu" and not np.array_equal(names, np.arange(len(names))):
            raise ValueError(
                "policy must be probabilities or a model, as integers may be indices of labels or "
                f"their names in exploration, {names[:5].tolist()}: np.eye(n_labels)[indices]"
            )
        actions = arrays_of_record(exploration)[0]
        if actions.dtype.kind not in "iu":
            raise ValueError(
                "actions of exploration must be integers, indices of labels, got "
                f"{actions.ravel()[:5].tolist()}: leave out samples without an action, and read "
                "names by Exploration.from_frame(classes=...)"
            )
        largest = np.max(actions, initial=0)
        labels = np.arange(max(int(largest), policy.max()) + 1)
        policy = (policy[:, None] == labels).astype(np.int8)
    elif policy.ndim == 1 and policy.dtype.kind == "f":
        policy = np.column_stack([1 - policy, policy])
    if policy.ndim != 2 or policy.dtype.kind not in "iuf" or len(policy) != n_samples:
        raise ValueError(
            f"policy must be probabilities of shape ({n_samples}, n_labels), {n_samples} labels, "
            f"or a model with `propensities`; got shape {policy.shape}, {policy.dtype}"
        )
    if not (policy.min() >= 0 and np.abs(policy.sum(axis=1) - 1).max() <= TOLERANCE):
        raise ValueError("policy must be probabilities that are not negative and sum to 1")
    return policy


def probabilities_of(policy, X, exploration, available):
    """Return the probabilities of a policy, which is a model or an array of probabilities.

    Those of a model are returned in the order of the labels of the log, if both have names. The
    model shows labels that are `available` only; None stands for all.
    """
    if not hasattr(policy, "propensities"):
        if hasattr(policy, "predict_proba"):
            raise ValueError(
                f"policy is {type(policy).__name__}, a classifier: pass its probabilities, "
                "policy.predict_proba(X), or np.eye(n_labels)[indices] of the labels it predicts"
            )
        if available is not None:
            raise ValueError("available must be None, as policy is no model: let it be 0 elsewhere")
        names = "exploration.classes", "policy"
        check_same_order(getattr(exploration, "classes", None), policy, names)
        return policy
    if X is None:
        raise ValueError("policy is a model, so `X`, the samples of the log, is needed")
    options = {} if available is None else {"available": available}
    found = policy.propensities(X, **options)
    names, known = getattr(exploration, "classes", None), getattr(policy, "classes_", None)
    if names is None or known is None or np.array_equal(names, known):
        return found
    return in_order_of(names, known, found)


def in_order_of(names, known, probabilities):
    """Return the probabilities of named labels, then those of other labels; of labels or pairs."""
    place = {label: i for i, label in enumerate(np.asarray(names).tolist())}
    known = np.asarray(known).tolist()
    if not any(label in place for label in known):
        raise ValueError(
            f"policy has the labels {known[:5]}, and the log has others, {list(place)[:5]}: name "
            "the labels of the log as in `classes_`, by Exploration.from_frame(log, classes=...)"
        )
    places = np.array([place.setdefault(label, len(place)) for label in known])
    ordered = np.zeros((len(probabilities), *[len(place)] * (probabilities.ndim - 1)))
    columns = (places,) if probabilities.ndim == 2 else np.ix_(places, places)
    ordered[(slice(None), *columns)] = probabilities
    return ordered


def warn_about_log(log):
    """Warn if the log cannot say what the policy would earn."""
    certain = log.propensities == 1
    never = np.bincount(log.actions, minlength=log.policy.shape[1]) == 0
    missing = np.einsum("ij,j->i", log.policy, never.astype(float))
    missing = np.where(certain, 1 - log.of_shown(log.policy), missing).mean()
    if certain.any():
        _warn(f"{certain.mean():.0%} of the propensities are 1 and say nothing about other labels")
    if missing > TOLERANCE:
        _warn(
            f"the policy shows with probability {missing:.3g} what the log never shows: the reward "
            "of these labels counts as 0 or as the model predicts"
        )


def warn_about_weights(weights, size, advice=""):
    """Warn if the mean weight is wrong, the effective sample size small, or one weight large.

    `advice` is the end of the warning about the effective sample size.
    """
    # Of a list, only the mean over its labels has the expectation 1.
    of_samples = weights.reshape(len(weights), -1).mean(axis=1)
    mean, error = of_samples.mean(), of_samples.std() / np.sqrt(len(weights))
    if abs(mean - 1) > STANDARD_ERRORS * error + TOLERANCE:
        _warn(
            f"the mean weight is {mean:.3g}, more than {STANDARD_ERRORS} standard errors from 1: "
            "propensities are wrong, or the policy shows what the log never shows"
        )
    if size < FEWEST_SAMPLES:
        _warn(f"the effective sample size is {size:.3g}: the interval may be too narrow{advice}")
    share = np.max(weights.max(axis=0) / np.maximum(weights.sum(axis=0), np.finfo(float).tiny))
    if share > LARGEST_SHARE:
        _warn(f"one sample has {share:.0%} of all weight: the estimate depends on its reward")


def _warn(text):
    # The caller of `policy_value`, which calls a function that calls this one.
    warnings.warn(text, OffPolicyWarning, stacklevel=4)

"""Methods of off-policy evaluation as functions of the weights, and the choice of a threshold."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

# Bounds of SLOPE hold with probability 0.9 on each side, and its smallest threshold is 10: smaller
# weights are no reason to accept a bias. Both are those of the Open Bandit Pipeline. The factor is
# that of Tucker and Lee (2021), Theorem 2.
BOUND, FACTOR, SMALLEST = norm.ppf(0.9), np.sqrt(6) - 1, 10.0


class Method(NamedTuple):
    """Function h of the weights and the threshold, and what else distinguishes a method."""

    transform: Callable[[np.ndarray, float], np.ndarray]
    has_model: bool
    has_threshold: bool = False
    normalizes: bool = False  # divides the weights by their mean


def _keep(weights, threshold):
    return weights


def _discard(weights, threshold):
    return np.zeros_like(weights)


def _switch(weights, threshold):
    return np.where(weights <= threshold, weights, 0.0)


def _shrink(weights, threshold):
    # lambda w / (w**2 + lambda), also for an infinite lambda.
    return weights / (np.square(weights) / threshold + 1) if threshold else 0 * weights


METHODS = {
    "ips": Method(_keep, has_model=False),
    "snips": Method(_keep, has_model=False, normalizes=True),
    "clipped": Method(np.minimum, has_model=False, has_threshold=True),
    "mips": Method(_keep, has_model=False),
    "dm": Method(_discard, has_model=True),
    "dr": Method(_keep, has_model=True),
    "sndr": Method(_keep, has_model=True, normalizes=True),
    "switch-dr": Method(_switch, has_model=True, has_threshold=True),
    "dr-os": Method(_shrink, has_model=True, has_threshold=True),
}


def sample_terms(method, weights, residuals, baseline, threshold):
    """Return terms whose mean is the estimate; of a ratio, they are linearized."""
    weights = method.transform(weights, threshold)
    if not method.normalizes:
        return baseline + weights * residuals
    total = weights.sum()
    if not total > 0:
        raise ValueError("all weights are 0, as the policy shows no label of the log: use 'dr'")
    center = weights @ residuals / total
    return baseline + center + weights * (residuals - center) * (len(weights) / total)


def choose_threshold(method, weights, residuals, baseline):
    """Return the smallest threshold whose estimate agrees with those of all larger ones."""
    low, high, chosen = -np.inf, np.inf, np.inf
    largest = max(np.square(weights.max()), SMALLEST)
    halvings = np.arange(1 + int(np.log2(largest / SMALLEST)))
    for threshold in (np.inf, *(largest / 2.0**halvings)):
        terms = sample_terms(method, weights, residuals, baseline, threshold)
        mean, width = terms.mean(), BOUND * terms.std() / np.sqrt(len(terms))
        if not low - width <= mean <= high + width:
            break
        low, high = max(low, mean - FACTOR * width), min(high, mean + FACTOR * width)
        chosen = threshold
    return float(chosen)


def group_weights(log, action_features):
    """Return the weights of the groups, labels with equal features, of the labels shown."""
    n_labels = log.policy.shape[1]
    if action_features is None or log.logging_policy is None or len(action_features) != n_labels:
        raise ValueError(
            f"method='mips' needs action_features of {n_labels} labels, and logging_policy, the "
            "probabilities of all labels under the policy that wrote the log"
        )
    features = np.asarray(action_features).reshape(n_labels, -1)
    groups = np.unique(features, axis=0, return_inverse=True)[1].ravel()
    weights = np.empty(len(log.actions))
    for group in np.unique(groups):
        members = groups == group
        rows = np.flatnonzero(members[log.actions])
        new, old = (array[np.ix_(rows, members)] for array in (log.policy, log.logging_policy))
        weights[rows] = new.sum(axis=1) / old.sum(axis=1)
    return weights

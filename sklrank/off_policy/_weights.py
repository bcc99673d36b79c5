"""Methods of off-policy evaluation as functions of the weights, and the choice of a threshold.

The term of a sample is ``baseline + h(w) * residual``. With a model of the rewards, the baseline is
the reward that it predicts for the policy and the residual is the error for the label shown;
without, they are 0 and the reward. The estimate is the mean of the terms.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import norm


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
    # lambda w / (w**2 + lambda) with lambda = threshold**2, whose maximum over w is threshold / 2.
    return weights / (np.square(weights / threshold) + 1) if threshold else 0 * weights


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
    """Return terms `(n_samples,)` whose mean is the estimate, and their standard error its.

    If the weights are normalized, these are the terms of the linearized ratio.
    """
    weights = method.transform(weights, threshold)
    if not method.normalizes:
        return baseline + weights * residuals
    total = weights.sum()
    if not total > 0:
        raise ValueError("all weights are 0, as the policy shows no label of the log: use 'dr'")
    center = weights @ residuals / total
    return baseline + center + weights * (residuals - center) * (len(weights) / total)


def choose_threshold(method, weights, residuals, baseline, confidence):
    """Choose the threshold by SLOPE (Su, Srinath and Krishnamurthy, ICML 2020).

    The candidates are infinity, the largest weight, half of it, and so on down to 1, the mean
    weight. In this order, the bias increases and the intervals, of twice the confidence width on
    each side, become narrower. The last one whose interval meets all earlier ones is chosen.
    """
    quantile, low, high, chosen = norm.ppf((1 + confidence) / 2), -np.inf, np.inf, np.inf
    largest = max(weights.max(), 1.0)
    for threshold in (np.inf, *(largest / 2.0 ** np.arange(1 + int(np.log2(largest))))):
        terms = sample_terms(method, weights, residuals, baseline, threshold)
        width = 2 * quantile * terms.std() / np.sqrt(len(terms))
        low, high = max(low, terms.mean() - width), min(high, terms.mean() + width)
        if low > high:
            break
        chosen = threshold
    return float(chosen)


def importance_weights(log, groups, logging_policy):
    """Return the weights of the labels shown or, given the groups of labels, of their groups.

    The weight of a group is the probability that the policy shows one of its labels, divided by
    that of the logging policy (Saito and Joachims, ICML 2022). `groups` are integers `(n_labels,)`.
    """
    if groups is None:
        return log.policy[np.arange(len(log.actions)), log.actions] / log.propensities
    weights = np.empty(len(log.actions))
    for group in np.unique(groups):
        members = groups == group
        rows = np.flatnonzero(members[log.actions])
        new, old = (array[np.ix_(rows, members)] for array in (log.policy, logging_policy))
        weights[rows] = new.sum(axis=1) / old.sum(axis=1)
    return weights

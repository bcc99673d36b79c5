"""The value of a policy that shows lists of k labels."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from sklrank._checks import as_numbers, check_level, check_row_labels, look_up
from sklrank._estimators import _num_samples, _safe_indexing
from sklrank.feedback import Exploration
from sklrank.feedback._protocol import arrays_of_record, check_exploration, check_rewards
from sklrank.off_policy._intervals import INTERVALS
from sklrank.off_policy._log import known_samples, probabilities_of, warn_about_weights
from sklrank.off_policy._values import summary


def list_policy_value(
    rewards: ArrayLike,
    exploration: Exploration,
    policy: Any,
    *,
    method: Literal["labels", "pairs"] = "labels",
    discounts: ArrayLike | None = None,
    X: ArrayLike | None = None,
    available: ArrayLike | None = None,
    interval: Literal["normal", "bootstrap"] = "normal",
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Estimate the value of a policy that shows lists of k labels from the log of another one.

    The value is the mean of the sum of the rewards of a list. The weight of a reward is the
    probability that the policy shows its label, or both of its labels, divided by the propensity.

    Parameters
    ----------
    rewards : array-like of shape (n_samples, k), or (n_samples, k, k) for "pairs"
        Rewards of the labels shown, any real numbers. Samples with NaN, a reward not known, are
        left out.
    exploration : Exploration
        The labels shown and their propensities.
    policy : array-like, or a model with `propensities`
        Probability that each label is shown, of shape (n_samples, n_labels), or each pair,
        (n_samples, n_labels, n_labels), or a model whose ``propensities(X)`` returns it; its
        `classes_` are matched with the names in `exploration`.
    method : {"labels", "pairs"}, default="labels"
        What a reward depends on: its label only, or two labels.
    discounts : array-like of shape (k,), default=None
        Factor of the rewards of each position, such as those of the DCG; of a pair, that of the
        second label. If None, 1.
    X, available : array-like, array-like, default=None
        For a policy that is a model, as in :func:`policy_value`.
    interval, confidence, random_state : {"normal", "bootstrap"}, float, RandomState
        As in :func:`policy_value`.

    Returns
    -------
    Bunch
        As that of :func:`policy_value`; the effective sample size is the least of the positions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.feedback import explore
    >>> from sklrank.off_policy import list_policy_value
    >>> shown = explore(np.zeros((1000, 5)), k=2, exploration=1.0, random_state=0)
    >>> clicks = (shown.actions == 3).astype(int)  # all users want label 3
    >>> policy = np.tile([0, 0, 0, 1, 1], (1000, 1))  # shows the labels 3 and 4
    >>> estimate = list_policy_value(clicks, shown, policy)
    >>> print(f"{estimate.low:.2f} to {estimate.high:.2f}")
    0.89 to 1.04
    """
    n_dimensions = look_up("method", {"labels": 2, "pairs": 3}, method)
    check_level(confidence, "confidence")
    interval_of = look_up("interval", INTERVALS, interval)
    check_row_labels({"rewards": rewards, "policy": policy, "X": X, "available": available})
    n_samples, k = arrays_of_record(exploration)[0].shape
    rewards = check_rewards(rewards, (n_samples, k, k)[:n_dimensions], bounded=False)
    known = known_samples(rewards)
    if discounts is not None:
        discounts = as_numbers(discounts, "discounts")
        if discounts.shape != (k,) or not np.isfinite(discounts).all():
            raise ValueError(f"discounts must be {k} finite numbers, got shape {discounts.shape}")
        rewards = rewards * discounts
    if method == "labels" and hasattr(policy, "propensities"):
        policy, available = _label_probabilities(policy, X, exploration, available), None
    policy = as_numbers(probabilities_of(policy, X, exploration, available), "policy")
    weights = _weights(exploration, policy, n_samples, method == "pairs")
    terms = (weights * rewards).reshape(n_samples, -1).sum(axis=1)[known]
    weights = weights[known].reshape(len(terms), -1)
    bounds = interval_of(terms, terms[:, np.newaxis], confidence, random_state)
    found = summary(terms, weights, bounds)
    warn_about_weights(weights, found.effective_sample_size)
    return found


def _label_probabilities(policy, X, exploration, available):
    """Return the probability that a model shows each label, without keeping those of pairs."""
    if X is None:
        return policy  # It is refused later.
    blocks, is_mask = [], np.ndim(available) == 2
    if is_mask and len(available) != _num_samples(X):
        raise ValueError(f"available has {len(available)} rows, and X has {_num_samples(X)}")
    # The probabilities of pairs are computed for 64 samples at a time, to bound the memory.
    for start in range(0, _num_samples(X), 64):
        rows = slice(start, start + 64)
        mask = _safe_indexing(available, rows) if is_mask else available
        found = probabilities_of(policy, _safe_indexing(X, rows), exploration, mask)
        blocks.append(found if found.ndim == 2 else np.diagonal(found, axis1=1, axis2=2).copy())
    return np.concatenate(blocks)


def _weights(exploration, policy, n_samples, of_pairs):
    """Return the policy's probabilities of the labels, or pairs, shown, over the propensities."""
    is_valid = 2 + of_pairs <= policy.ndim <= 3 and policy.shape[1] == policy.shape[-1]
    if not is_valid or len(policy) != n_samples:
        what = f"{'pairs' if of_pairs else 'labels'} of {n_samples} samples"
        raise ValueError(
            f"policy must be probabilities of {what}, with an entry for each label of the log (for "
            f"lists without chance, 0 or 1), got shape {policy.shape}"
        )
    shown, propensities = check_exploration(exploration, n_samples, policy.shape[-1])
    rows = np.arange(n_samples)[:, None]
    if of_pairs:
        chances = policy[rows[:, None], shown[:, :, None], shown[:, None]]
    else:
        chances = policy[rows, shown] if policy.ndim == 2 else policy[rows, shown, shown]
        propensities = np.diagonal(propensities, axis1=1, axis2=2)
    if not np.all(chances >= 0):
        raise ValueError("policy must be probabilities, which are not negative")
    return chances / propensities

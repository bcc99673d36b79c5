"""The value of a policy that shows lists of k labels, and propensities of lists."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from sklrank._sklearn import _num_samples, _safe_indexing
from sklrank._validation import as_numbers, check_level, look_up
from sklrank.feedback import Exploration, check_exploration
from sklrank.off_policy._intervals import INTERVALS
from sklrank.off_policy._log import check_rewards, probabilities_of, warn_about_weights
from sklrank.off_policy._values import summary


def list_policy_value(
    rewards: ArrayLike,
    exploration: Exploration | ArrayLike,
    policy: Any,
    *,
    method: str = "labels",
    discounts: ArrayLike | None = None,
    predicted: tuple[ArrayLike, ArrayLike] | None = None,
    lists: ArrayLike | None = None,
    X: ArrayLike | None = None,
    available: ArrayLike | None = None,
    interval: Literal["normal", "bootstrap"] = "normal",
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    r"""Estimate the value of a policy that shows lists of k labels from the log of another one.

    The value is the mean of the sum of the rewards of a list. The weight w of a reward is a
    probability under the policy, divided by that under the logging policy.

    Parameters
    ----------
    rewards : array-like of shape (n_samples, k)
        Rewards of the labels shown, any real numbers; (n_samples, k, k) for "pairs"; also
        (n_samples,) for "standard" and "pseudo-inverse", such as the NDCG of lists. Samples with
        NaN, a reward not known, are left out.
    exploration : Exploration, or array-like
        For "labels" and "pairs", the record of the labels shown. Otherwise propensities of the
        lists shown: of the list, (n_samples,), for "standard"; of each label at its position or,
        for "cascade", given the labels above, (n_samples, k). For "pseudo-inverse" also the mean
        :math:`\Gamma` of :math:`1_a 1_a^T` under the logging policy, (k, n_labels, k, n_labels),
        where :math:`1_a` indicates the labels of a list a at their positions.
    policy : array-like, or a model with `propensities`
        For "labels" and "pairs", the probability that each label or pair is shown, with n_labels or
        (n_labels, n_labels) entries for each sample, or a model whose ``propensities(X)`` returns
        it; its `classes_` are matched with the names in `exploration`. Otherwise probabilities of
        the lists shown, of the shape of the propensities. With :math:`\Gamma`, the mean q of
        :math:`1_a`, (n_samples, k, n_labels).
    method : str, default="labels"
        A reward depends, with "labels", on the label; "pairs", on two labels; "independent", on the
        label and its position [1]_; "cascade", on the labels above, too [2]_; "pseudo-inverse", on
        a sum over positions: :math:`w = q^T \Gamma^\dagger 1_a`, or :math:`\sum_j w_j - k + 1` if
        positions are drawn independently [3]_; "standard", on the whole list.
    discounts : array-like of shape (k,), default=None
        Factor of the rewards of each position, such as those of the DCG. If None, 1.
    predicted : tuple of two array-likes of shape (n_samples, k), default=None
        Makes "cascade" doubly robust: predictions of the sum of the discounted rewards from
        position j on, given the first j labels, and their mean over the j-th label of the policy.
    lists : array-like of int, shape (n_samples, k), default=None
        The labels shown; only with :math:`\Gamma`.
    X : array-like of shape (n_samples, n_features), default=None
        Samples, for a policy that is a model.
    available : array-like, default=None
        Labels that could be shown, for a policy that is a model, as in :func:`policy_value`.
    interval, confidence, random_state : {"normal", "bootstrap"}, float, RandomState
        As in :func:`policy_value`.

    Returns
    -------
    Bunch
        As that of :func:`policy_value`; the effective sample size is the least of the positions.

    Raises
    ------
    ValueError
        If an argument is invalid; the message names it.

    References
    ----------
    .. [1] S. Li et al., "Offline evaluation of ranking policies with click models",
       KDD 2018.
    .. [2] H. Kiyohara et al., "Doubly robust off-policy evaluation for ranking policies under the
       cascade behavior model", WSDM 2022.
    .. [3] A. Swaminathan et al., "Off-policy evaluation for slate recommendation",
       NIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.feedback import UniformRandomization
    >>> from sklrank.off_policy import list_policy_value
    >>> shown = UniformRandomization(1.0).explore(np.zeros((1000, 5)), k=2, random_state=0)
    >>> clicks = (shown.actions == 3).astype(int)  # all users want label 3
    >>> policy = np.tile([0, 0, 0, 1, 1], (1000, 1))  # shows the labels 3 and 4
    >>> estimate = list_policy_value(clicks, shown, policy)
    >>> print(f"{estimate.low:.2f} to {estimate.high:.2f}")
    0.89 to 1.04
    """
    terms_of, dimensions = look_up("method", LIST_METHODS, method)
    check_level(confidence, "confidence")
    interval_of = look_up("interval", INTERVALS, interval)
    if isinstance(exploration, Exploration) and terms_of is not _of_record:
        raise ValueError(
            f"exploration must be propensities of the lists shown for method={method!r}, such as "
            "list_propensities(strengths, lists); a record is for 'labels' and 'pairs'"
        )
    rewards = check_rewards(rewards, *{*dimensions, 2})
    if rewards.ndim not in dimensions:
        raise ValueError(
            "rewards must be those of pairs of labels, of shape (n_samples, k, k), for "
            f"method='pairs'; got shape {rewards.shape}: use method='labels' for those of labels"
        )
    if discounts is not None:
        discounts = as_numbers(discounts, "discounts")
        if discounts.shape != rewards.shape[1:2] or not np.isfinite(discounts).all():
            raise ValueError(
                "discounts must be finite, one for each position of the rewards of shape "
                f"{rewards.shape}; got shape {discounts.shape}"
            )
        rewards = rewards * discounts
    if 1 in dimensions:
        rewards = rewards.reshape(len(rewards), -1).sum(axis=1)
    if method == "labels" and hasattr(policy, "propensities"):
        policy, available = _label_probabilities(policy, X, exploration, available), None
    policy = probabilities_of(policy, X, exploration, available=available)
    policy = as_numbers(policy, "policy")
    terms, weights = terms_of(rewards, exploration, policy, predicted=predicted, lists=lists)
    known = ~np.isnan(rewards.reshape(len(rewards), -1)).any(axis=1)
    terms, weights = terms[known], weights[known].reshape(known.sum(), -1)
    bounds = interval_of(terms.__getitem__, len(terms), confidence, random_state)
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
        found = probabilities_of(policy, _safe_indexing(X, rows), exploration, available=mask)
        blocks.append(found if found.ndim == 2 else np.diagonal(found, axis1=1, axis2=2).copy())
    return np.concatenate(blocks)


def _ratios(rewards, propensities, policy):
    """Return the policy's probabilities of what was shown, divided by the propensities."""
    propensities = as_numbers(propensities, "exploration", "an array of propensities")
    if propensities.shape != policy.shape or policy.shape[: rewards.ndim] != rewards.shape:
        raise ValueError(
            "exploration and policy must be probabilities of the lists shown, of one shape that "
            f"starts with {rewards.shape}; got {propensities.shape} and {policy.shape}"
        )
    if not (np.all((propensities > 0) & (propensities <= 1)) and np.all(policy >= 0)):
        raise ValueError("exploration must be propensities in (0, 1], and policy not negative")
    return policy / propensities


def _independent(rewards, propensities, policy, **_):
    weights = _ratios(rewards, propensities, policy)
    return (weights * rewards).reshape(len(rewards), -1).sum(axis=1), weights


def _cascade(rewards, propensities, policy, predicted, **_):
    weights = np.cumprod(_ratios(rewards, propensities, policy), axis=1)
    predicted = np.zeros((2, *rewards.shape)) if predicted is None else predicted
    of_shown, of_policy = (as_numbers(values, "predicted") for values in predicted)
    if not of_shown.shape == of_policy.shape == rewards.shape:
        raise ValueError(f"predicted must be two arrays of shape {rewards.shape}")
    before = np.hstack([np.ones((len(weights), 1)), weights[:, :-1]])
    return (weights * (rewards - of_shown) + before * of_policy).sum(axis=1), weights


def _pseudo_inverse(rewards, propensities, policy, lists, **_):
    moments, lists = as_numbers(propensities, "exploration"), np.asarray(lists)
    if moments.ndim == 4:
        k, n_labels = moments.shape[:2]
        shapes = (len(rewards), k, n_labels), (len(rewards), k)
        if (policy.shape, lists.shape) != shapes:
            found = f"{policy.shape} and {lists.shape}"
            raise ValueError(f"policy and lists must have the shapes {shapes}, got {found}")
        _check_lists(lists, n_labels)
        inverse = np.linalg.pinv(moments.reshape(k * n_labels, -1), hermitian=True)
        places = np.arange(k) * n_labels + lists
        of_labels = np.take_along_axis(policy.reshape(len(policy), -1) @ inverse, places, axis=1)
        weights = of_labels.sum(axis=1)
    else:
        weights = _ratios(rewards, propensities, policy).sum(axis=1) - policy.shape[1] + 1
    return weights * rewards, weights


def _check_lists(lists, n_labels):
    is_integer = lists.size and lists.dtype.kind in "iu"
    if not is_integer or lists.min() < 0 or lists.max() >= n_labels:
        raise ValueError(f"lists must have one or more labels, integers from 0 to {n_labels - 1}")


def _of_record(rewards, exploration, policy, **_):
    """Return terms and weights of labels or, if the rewards have three dimensions, of pairs."""
    is_valid = rewards.ndim <= policy.ndim <= 3 and policy.shape[1] == policy.shape[-1]
    if not is_valid or len(policy) != len(rewards):
        what = f"{('labels', 'pairs')[rewards.ndim - 2]} of {len(rewards)} samples"
        raise ValueError(
            f"policy must be probabilities of {what}, with an entry for each label of the log (for "
            f"lists without chance, 0 or 1), got shape {policy.shape}"
        )
    shown, propensities = check_exploration(exploration, len(rewards), policy.shape[-1])
    rows = np.arange(len(shown))[:, None]
    if rewards.ndim == 3:
        of_shown = policy[rows[:, None], shown[:, :, None], shown[:, None]]
        return _independent(rewards, propensities, of_shown)
    of_shown = policy[rows, shown] if policy.ndim == 2 else policy[rows, shown, shown]
    return _independent(rewards, np.diagonal(propensities, axis1=1, axis2=2), of_shown)


# Functions that return the terms and the weights, and the possible dimensions of the rewards.
LIST_METHODS = {
    "labels": (_of_record, (2,)),
    "pairs": (_of_record, (3,)),
    "independent": (_independent, (2,)),
    "cascade": (_cascade, (2,)),
    "pseudo-inverse": (_pseudo_inverse, (1, 2)),
    "standard": (_independent, (1, 2)),
}


def list_propensities(
    strengths: ArrayLike, lists: ArrayLike, *, ordered: bool = True
) -> np.ndarray:
    """Compute the propensities of lists whose labels are drawn without replacement.

    The next label is drawn in proportion to the strengths of the labels left (Plackett-Luce).

    Parameters
    ----------
    strengths : array-like of shape (n_samples, n_labels)
        Positive strengths, such as the softmax of scores.
    lists : array-like of int, shape (n_samples, k)
        Labels of the lists, first label first.
    ordered : bool, default=True
        Whether the order of the labels matters.

    Returns
    -------
    ndarray of shape (n_samples, k) or (n_samples,)
        Propensity of each label given the labels above, whose product is that of the list. If
        `ordered` is False, the propensity of the set of labels.

    Raises
    ------
    ValueError
        If strengths are not positive, or lists are not distinct labels.

    Examples
    --------
    >>> from sklrank.off_policy import list_propensities
    >>> list_propensities([[1.0, 2.0, 1.0]], [[1, 0]])
    array([[0.5, 0.5]])
    >>> list_propensities([[1.0, 2.0, 1.0]], [[1, 0]], ordered=False).round(4)
    array([0.4167])
    """
    strengths, lists = as_numbers(strengths, "strengths"), np.asarray(lists)
    if strengths.ndim != 2 or not np.all((strengths > 0) & np.isfinite(strengths)):
        raise ValueError("strengths must be positive numbers of shape (n_samples, n_labels)")
    n_samples, n_labels = strengths.shape
    if lists.ndim != 2 or len(lists) != n_samples:
        raise ValueError(f"lists must be those of {n_samples} samples, got shape {lists.shape}")
    _check_lists(lists, n_labels)
    if not np.diff(np.sort(lists), axis=1).all():
        raise ValueError("lists must have each label once")
    chosen, others = np.take_along_axis(strengths, lists, axis=1), strengths.copy()
    np.put_along_axis(others, lists, 0.0, axis=1)
    others = others.sum(axis=1)
    if ordered:
        # Sums from the end, since differences would lose the digits of small strengths.
        return chosen / (others[:, None] + np.cumsum(chosen[:, ::-1], axis=1)[:, ::-1])
    # Labels that ring at exponential times, with their strengths as rates, are drawn in this order.
    # So the set is drawn if its labels ring before the time T of the first other label: the
    # probability is the mean of prod_i (1 - exp(-s_i T)). In log(T), the trapezoidal rule with this
    # step is exact but for rounding errors.
    total, step = np.zeros(n_samples), 2 / (8 + lists.shape[1])
    rates = chosen / np.where(others > 0, others, 1.0)[:, None]
    for log_time in np.arange(-44, 7, step):
        density = np.exp(log_time - np.exp(log_time))
        total += step * density * np.prod(-np.expm1(-rates * np.exp(log_time)), axis=1)
    return np.where(others > 0, total, 1.0)

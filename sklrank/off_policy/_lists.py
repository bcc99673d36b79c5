"""The value of a policy that shows lists of k labels, and propensities of lists."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from sklrank._validation import as_numbers, look_up
from sklrank.feedback import Exploration, check_exploration
from sklrank.off_policy._intervals import check_confidence
from sklrank.off_policy._log import check_rewards, probabilities_of, warn_about_weights
from sklrank.off_policy._values import INTERVALS, summary


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
    interval: Literal["normal", "bootstrap"] = "normal",
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    r"""Estimate the value of a policy that shows lists of k labels from the log of another one.

    The value is the mean of the sum of the rewards of a list, with a discount for each position.
    The methods differ in what a reward may depend on: the less, the smaller is the variance.
    Weights w are probabilities under the policy, divided by those under the logging policy.

    - "labels": on the label, not on its position. :math:`\sum_j w_j r_j`, where :math:`w_j` is of
      showing the j-th label at any position. "pairs": the same for rewards of pairs of labels,
      such as pairs in the wrong order.
    - "independent": on the label and its position. :math:`w_j` is of showing it there [1]_.
    - "cascade": on the labels above, too. :math:`w_j` is the product of the conditional weights of
      the first j labels. It is doubly robust with `predicted` [2]_.
    - "pseudo-inverse": the reward of a list is a sum of unknown terms of labels at positions, only
      the sum of which is observed [3]_. Its weight is :math:`q^T \Gamma^\dagger 1`, where 1
      indicates the labels at their positions, q is its mean under the policy, and :math:`\Gamma`
      the mean of :math:`1 1^T` under the logging policy. If positions are drawn independently,
      it is :math:`\sum_j w_j - k + 1`.
    - "standard": on the whole list.

    Parameters
    ----------
    rewards : array-like of shape (n_samples, k)
        Rewards of the labels shown, any real numbers; (n_samples, k, k) for "pairs"; also
        (n_samples,) for "standard" and "pseudo-inverse", such as the NDCG of lists. Samples with a
        missing reward, NaN, are left out.
    exploration : Exploration, or array-like
        For "labels" and "pairs", the record of the labels shown. Otherwise propensities of the
        lists shown: of the list, (n_samples,), for "standard"; of each label at its position or,
        for "cascade", given the labels above, (n_samples, k). For "pseudo-inverse" also
        :math:`\Gamma` of shape (k, n_labels, k, n_labels); see :func:`list_moments`.
    policy : array-like, or a model with `propensities`
        For "labels" and "pairs", the probability that each label is shown, (n_samples, n_labels),
        or each pair, (n_samples, n_labels, n_labels), or a model whose ``propensities(X)`` returns
        it. Otherwise the probabilities of the lists shown under the policy, of the shape of the
        propensities. With :math:`\Gamma`, q of shape (n_samples, k, n_labels).
    method : str, default="labels"
        Estimator.
    discounts : array-like of shape (k,), default=None
        Factor of the rewards of each position, such as those of the DCG. If None, 1.
    predicted : tuple of two array-likes of shape (n_samples, k), default=None
        For "cascade", predictions of the sum of the discounted rewards from position j on, given
        the first j labels, and their mean over the j-th label under the policy.
    lists : array-like of int, shape (n_samples, k), default=None
        The labels shown; only with :math:`\Gamma`.
    X : array-like of shape (n_samples, n_features), default=None
        Samples, for a policy that is a model.
    interval : {"normal", "bootstrap"}, default="normal"
        Kind of interval, as in :func:`policy_value`.
    confidence : float, default=0.95
        Probability that the interval contains the value.
    random_state : int, RandomState instance or None, default=None
        Controls the resamples of the bootstrap.

    Returns
    -------
    Bunch
        As that of :func:`policy_value`. The effective sample size is the smallest one of the
        positions. Warnings about weights are the same.

    Raises
    ------
    ValueError
        If an argument is invalid; the message names it.

    References
    ----------
    .. [1] S. Li et al., "Offline evaluation of ranking policies with click models", KDD 2018.
    .. [2] H. Kiyohara et al., "Doubly robust off-policy evaluation for ranking policies under the
       cascade behavior model", WSDM 2022.
    .. [3] A. Swaminathan et al., "Off-policy evaluation for slate recommendation", NIPS 2017.

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
    terms_of = look_up("method", LIST_METHODS, method)
    check_confidence(confidence)
    interval_of = look_up("interval", INTERVALS, interval)
    rewards = check_rewards(rewards, *REWARD_DIMENSIONS.get(method, (2,)))
    if discounts is not None:
        rewards = rewards * as_numbers(discounts, "discounts")
    policy = as_numbers(probabilities_of(policy, X), "policy")
    terms, weights = terms_of(rewards, exploration, policy, predicted=predicted, lists=lists)
    known = ~np.isnan(rewards.reshape(len(rewards), -1)).any(axis=1)
    terms, weights = terms[known], weights[known].reshape(known.sum(), -1)
    bounds = interval_of(terms.__getitem__, len(terms), confidence, random_state)
    warn_about_weights(weights)
    return summary(terms, weights, bounds)


# -- The terms and the weights of each method.

REWARD_DIMENSIONS = {"standard": (1, 2), "pseudo-inverse": (1, 2), "pairs": (3,)}


def _ratios(rewards, propensities, policy, n_dimensions):
    """Return the policy's probabilities of what was shown, divided by the propensities."""
    propensities = as_numbers(propensities, "exploration", "an array of propensities")
    shape = rewards.shape[:n_dimensions]
    if propensities.shape != policy.shape or policy.shape[: len(shape)] != shape:
        raise ValueError(
            "exploration and policy must be probabilities of the lists shown, of one shape that "
            f"starts with {shape}; got {propensities.shape} and {policy.shape}"
        )
    if not (np.all((propensities > 0) & (propensities <= 1)) and np.all(policy >= 0)):
        raise ValueError("exploration must be propensities in (0, 1], and policy not negative")
    return policy / propensities


def _standard(rewards, propensities, policy, **_):
    weights = _ratios(rewards, propensities, policy, 1)
    return weights * rewards.reshape(len(rewards), -1).sum(axis=1), weights


def _independent(rewards, propensities, policy, **_):
    weights = _ratios(rewards, propensities, policy, rewards.ndim)
    return (weights * rewards).reshape(len(rewards), -1).sum(axis=1), weights


def _cascade(rewards, propensities, policy, predicted, **_):
    weights = np.cumprod(_ratios(rewards, propensities, policy, 2), axis=1)
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
        if policy.shape != (len(rewards), k, n_labels) or lists.shape != policy.shape[:2]:
            raise ValueError(
                f"with moments of {k} positions and {n_labels} labels, policy and lists must have "
                f"shapes {(len(rewards), k, n_labels)} and {(len(rewards), k)}; got "
                f"{policy.shape} and {lists.shape}"
            )
        places = np.arange(k) * n_labels + lists
        inverse = np.linalg.pinv(moments.reshape(k * n_labels, -1), hermitian=True)
        weights = np.take_along_axis(policy.reshape(len(policy), -1) @ inverse, places, axis=1)
        weights = weights.sum(axis=1)
    else:
        ratios = _ratios(rewards, propensities, policy, 1)
        weights = ratios.sum(axis=1) - ratios.shape[1] + 1
    return weights * rewards.reshape(len(rewards), -1).sum(axis=1), weights


def _labels(rewards, exploration, policy, **_):
    shown, pairs = check_exploration(exploration, len(rewards), policy.shape[-1])
    if policy.ndim == 3:
        policy = np.diagonal(policy, axis1=1, axis2=2)
    of_shown = np.take_along_axis(policy, shown, axis=1)
    return _independent(rewards, np.diagonal(pairs, axis1=1, axis2=2), of_shown)


def _pairs(rewards, exploration, policy, **_):
    if policy.ndim != 3:
        raise ValueError("policy must be probabilities of pairs, (n_samples, n_labels, n_labels)")
    shown, pairs = check_exploration(exploration, len(rewards), policy.shape[-1])
    rows = np.arange(len(shown))[:, None, None]
    return _independent(rewards, pairs, policy[rows, shown[:, :, None], shown[:, None, :]])


LIST_METHODS = {
    "labels": _labels,
    "pairs": _pairs,
    "independent": _independent,
    "cascade": _cascade,
    "pseudo-inverse": _pseudo_inverse,
    "standard": _standard,
}


# -- Propensities of lists.


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
        If False, the order does not matter. The probability that the first labels are a set is a
        sum over its last label: with dynamic programming, this takes ``k * 2**k`` operations.

    Returns
    -------
    ndarray of shape (n_samples, k) or (n_samples,)
        Propensity of each label given the labels above, whose product is that of the list. If
        `ordered` is False, the propensity of the set of labels.

    Examples
    --------
    >>> from sklrank.off_policy import list_propensities
    >>> list_propensities([[1.0, 2.0, 1.0]], [[1, 0]])
    array([[0.5, 0.5]])
    >>> list_propensities([[1.0, 2.0, 1.0]], [[1, 0]], ordered=False).round(4)
    array([0.4167])
    """
    chosen, others = _strengths(strengths, lists)
    if ordered:
        # Sums from the end, since differences would lose the digits of small strengths.
        return chosen / (others[:, None] + np.cumsum(chosen[:, ::-1], axis=1)[:, ::-1])
    k = chosen.shape[1]
    reached = np.zeros((2**k, len(chosen)))  # probability that the first labels are a subset
    reached[0] = 1.0
    for subset in range(2**k - 1):
        left = [label for label in range(k) if not subset >> label & 1]
        rest = others + chosen[:, left].sum(axis=1)
        for label in left:
            reached[subset | 1 << label] += reached[subset] * chosen[:, label] / rest
    return reached[-1]


def list_moments(
    lists: ArrayLike, n_labels: int, probabilities: ArrayLike | None = None
) -> np.ndarray:
    """Compute the second moments of a policy that draws lists, for "pseudo-inverse".

    Parameters
    ----------
    lists : array-like of int, shape (n_lists, k)
        All lists that the policy may show, or lists that it has drawn.
    n_labels : int
        Number of labels.
    probabilities : array-like of shape (n_lists,), default=None
        Probability of each list. If None, all are equal.

    Returns
    -------
    ndarray of shape (k, n_labels, k, n_labels)
        Entry `[i, a, j, b]` is the probability that label a is at position i and b at position j.
    """
    lists = np.asarray(lists)
    if probabilities is None:
        probabilities = np.full(len(lists), 1 / len(lists))
    size = lists.shape[1] * n_labels
    places = np.arange(lists.shape[1]) * n_labels + lists
    pairs = places[:, :, None] * size + places[:, None, :]
    mass = np.broadcast_to(np.asarray(probabilities)[:, None, None], pairs.shape)
    moments = np.bincount(pairs.ravel(), mass.ravel(), minlength=size**2)
    return moments.reshape(lists.shape[1], n_labels, lists.shape[1], n_labels)


def _strengths(strengths, lists):
    """Return the strengths of the labels of lists, and the sum of those of all other labels."""
    strengths, lists = as_numbers(strengths, "strengths"), np.asarray(lists)
    if strengths.ndim != 2 or not np.all((strengths > 0) & np.isfinite(strengths)):
        raise ValueError("strengths must be positive numbers of shape (n_samples, n_labels)")
    valid = lists.ndim == 2 and len(lists) == len(strengths) and lists.dtype.kind in "iu"
    if not valid or lists.min() < 0 or lists.max() >= strengths.shape[1]:
        raise ValueError(
            f"lists must be labels from 0 to {strengths.shape[1] - 1}, k for each of "
            f"{len(strengths)} samples"
        )
    ordered = np.sort(lists, axis=1)
    if np.any(ordered[:, 1:] == ordered[:, :-1]):
        raise ValueError("lists must not show a label twice")
    chosen, others = np.take_along_axis(strengths, lists, axis=1), strengths.copy()
    np.put_along_axis(others, lists, 0.0, axis=1)
    return chosen, others.sum(axis=1)

"""The value of a policy that shows one label for each sample."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from sklrank._validation import is_number, look_up
from sklrank.feedback import Exploration
from sklrank.off_policy import _log
from sklrank.off_policy._intervals import (
    bootstrap_interval,
    check_confidence,
    confidence_sequence,
    normal_interval,
    standard_error,
)
from sklrank.off_policy._models import predicted_rewards
from sklrank.off_policy._weights import METHODS, choose_threshold, group_weights, sample_terms

INTERVALS = {"normal": normal_interval, "bootstrap": bootstrap_interval}
ANYTIME = ("bernstein", "sequence")


def policy_value(
    rewards: ArrayLike,
    exploration: Exploration,
    policy: Any,
    *,
    method: str = "dr",
    reward_model: Any = None,
    X: ArrayLike | None = None,
    cv: Any = 5,
    threshold: float | Literal["auto"] = "auto",
    action_features: ArrayLike | None = None,
    logging_policy: Any = None,
    interval: Literal["normal", "bootstrap", "bernstein", "sequence"] = "normal",
    confidence: float = 0.95,
    reward_range: tuple[float, float] = (0.0, 1.0),
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    r"""Estimate the value of a policy from the log of another one.

    The value is the mean reward if the policy chose the labels to show. A method is a function
    h of the importance weights w, with or without a model of the rewards; see
    :mod:`sklrank.off_policy`.

    Parameters
    ----------
    rewards : array-like of shape (n_samples,)
        Rewards of the labels shown, any real numbers. Samples with a missing reward, NaN, are left
        out.
    exploration : Exploration
        The labels shown, one for each sample, and their propensities.
    policy : array-like of shape (n_samples, n_labels), or a model with `propensities`
        Probability that the policy shows each label, or a model whose ``propensities(X)`` returns
        it. Integers of shape (n_samples,) are the labels of a deterministic policy, and floats of
        this shape the probability of the second of two labels.
    method : str, default="dr"
        "ips", h(w) = w; "snips", w / mean(w); "clipped", min(w, threshold); and "mips", the weights
        of groups of labels [3]_, have no model. "dm", 0; "dr", w [1]_; "sndr", w / mean(w);
        "switch-dr", w up to the threshold, 0 above it; and "dr-os", w / (1 + w^2 / threshold) [2]_,
        have one.
    reward_model : estimator, or array-like of shape (n_samples, n_labels), default=None
        Classifier or regressor of the reward given the features and an indicator of the label, or
        predicted rewards of all labels. If None, gradient boosted trees of scikit-learn.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        Samples, for the models. If None, the reward model uses the label only.
    cv : int, cross-validation generator or iterable, default=5
        Folds of cross-fitting of the reward model.
    threshold : float or "auto", default="auto"
        Threshold of the weights, or the parameter of "dr-os". "auto" chooses it by SLOPE [4]_ among
        infinity, the square of the largest weight, half of it, and so on down to 10.
    action_features : array-like of shape (n_labels,) or (n_labels, n_features), default=None
        Features of the labels, for "mips". Labels with equal features are a group.
    logging_policy : array-like of shape (n_samples, n_labels), or a model, default=None
        Probability that the logging policy shows each label, needed by "mips". By default, labels
        that are not in the log are assumed to be those that it cannot show.
    interval : {"normal", "bootstrap", "bernstein", "sequence"}, default="normal"
        Interval of the central limit theorem, or percentiles of 1000 resamples. For "ips" and
        "mips", "bernstein" holds for any number of samples, and "sequence" at every time at once;
        see :func:`confidence_sequence`.
    confidence : float, default=0.95
        Probability that the interval contains the value.
    reward_range : tuple of two floats, default=(0, 1)
        Smallest and largest possible reward, for "bernstein" and "sequence".
    random_state : int, RandomState instance or None, default=None
        Controls the resamples of the bootstrap.

    Returns
    -------
    Bunch
        `value`, `standard_error`, `low` and `high` of the estimate; `effective_sample_size`,
        `max_weight` and `mean_weight` of the importance weights; `threshold`; `n_samples`.

    Raises
    ------
    ValueError
        If an argument is invalid; the message names it.

    Warns
    -----
    OffPolicyWarning
        If the mean weight is more than five standard errors from 1, the effective sample size is
        below 100, one weight is above a tenth of the sum, propensities are 1, or the policy shows
        what the log never shows.

    References
    ----------
    .. [1] M. Dudik et al., "Doubly robust policy evaluation and optimization", Stat. Science 2014.
    .. [2] Y. Su et al., "Doubly robust off-policy evaluation with shrinkage", ICML 2020.
    .. [3] Y. Saito and T. Joachims, "Off-policy evaluation for large action spaces via embeddings",
       ICML 2022.
    .. [4] Y. Su et al., "Adaptive estimator selection for off-policy evaluation", ICML 2020, with
       the factors of G. Tucker and J. Lee, "Improved estimator selection for off-policy
       evaluation", 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.feedback import Exploration
    >>> from sklrank.off_policy import policy_value
    >>> actions = np.random.RandomState(0).randint(3, size=1000)
    >>> log = Exploration(actions, np.full(1000, 1 / 3))
    >>> estimate = policy_value(0.5 * actions, log, np.full(1000, 2), method="snips")
    >>> print(f"{estimate.value:.2f}, from {estimate.effective_sample_size:.0f} samples")
    1.00, from 328 samples
    """
    rule = look_up("method", METHODS, method)
    check_confidence(confidence)
    if threshold != "auto" and not (is_number(threshold) and threshold >= 0):
        raise ValueError(f"threshold must be 'auto' or a number from 0, got {threshold!r}")
    if interval not in (*INTERVALS, *ANYTIME):
        raise ValueError(f"interval must be one of {[*INTERVALS, *ANYTIME]}, got {interval!r}")
    if interval in ANYTIME and method not in ("ips", "mips"):
        raise ValueError(
            f"interval={interval!r} holds for method='ips' and 'mips', not {method!r}: a "
            "cross-fitted model depends on later samples, and h(w) makes other methods biased"
        )
    log = _log.check_log(rewards, exploration, policy, X, logging_policy)
    if method == "mips":
        weights = group_weights(log, action_features)
    else:
        weights = log.of_shown(log.policy) / log.propensities
    residuals, baseline = log.rewards, np.zeros(len(weights))
    if rule.has_model:
        of_shown, baseline = predicted_rewards(reward_model, log, X, cv)
        residuals = log.rewards - of_shown
    if not rule.has_threshold:
        threshold = None
    elif threshold == "auto":
        threshold = choose_threshold(rule, weights, residuals, baseline)

    def terms_of_rows(rows):
        return sample_terms(rule, weights[rows], residuals[rows], baseline[rows], threshold)

    if interval in ANYTIME:
        horizon = len(weights) if interval == "bernstein" else None
        options = {"confidence": confidence, "reward_range": reward_range, "horizon": horizon}
        bounds = confidence_sequence(log.rewards, weights, **options)
        bounds = bounds.low[-1], bounds.high[-1]
    else:
        bounds = INTERVALS[interval](terms_of_rows, len(weights), confidence, random_state)
    if method != "dm":
        _log.warn_about_weights(weights)
    _log.warn_about_log(log)
    return summary(terms_of_rows(slice(None)), weights, bounds, threshold)


def policy_value_score(
    rewards: ArrayLike,
    policy: Any,
    exploration: Exploration,
    *,
    method: str = "snips",
    **options: Any,
) -> float:
    """Estimate the value of a policy, for ``make_scorer(policy_value_score)`` of scikit-learn.

    Scorers pass the target and the predictions: the rewards, and the labels to show, integers from
    0, or with ``response_method="predict_proba"`` probabilities. They route `exploration`.

    Parameters
    ----------
    rewards : array-like of shape (n_samples,)
        Rewards of the labels shown.
    policy : array-like of shape (n_samples,) or (n_samples, n_labels), or a model
        The policy, as in :func:`policy_value`.
    exploration : Exploration
        The labels shown and their propensities. May be exchanged with `policy`.
    method : str, default="snips"
        Estimator, as in :func:`policy_value`.
    **options : dict
        Other arguments of :func:`policy_value`.

    Returns
    -------
    float
        Estimated value of the policy.
    """
    if hasattr(policy, "actions"):
        policy, exploration = exploration, policy
    return policy_value(rewards, exploration, policy, method=method, **options).value


def summary(terms, weights, bounds, threshold=None):
    """Return the result of an estimate as a Bunch of numbers."""
    return Bunch(
        value=float(terms.mean()),
        standard_error=float(standard_error(terms)),
        low=float(bounds[0]),
        high=float(bounds[1]),
        effective_sample_size=float(_log.effective_sample_size(weights)),
        max_weight=float(weights.max()),
        mean_weight=float(weights.mean()),
        threshold=threshold,
        n_samples=len(terms),
    )

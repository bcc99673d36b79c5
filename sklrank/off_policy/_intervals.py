"""Confidence intervals for the mean of terms, and confidence sequences."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.utils import Bunch

from sklrank._checks import as_numbers, check_level, check_random_state, is_integer

# The Monte-Carlo error of a bound, in probability, is then at most 0.005 at the level 0.975.
N_RESAMPLES = 1000
# To draw the number of rows of one kind takes about the time of so many rows.
COST_OF_NUMBER = 8


def standard_error(terms):
    """Return the standard error of the mean of the terms; NaN for a single one."""
    return terms.std(ddof=1) / np.sqrt(len(terms)) if len(terms) > 1 else np.nan


def normal_interval(terms, columns, confidence, random_state):
    """Return the interval of the central limit theorem for the mean of the terms."""
    margin = norm.ppf((1 + confidence) / 2) * standard_error(terms)
    return terms.mean() - margin, terms.mean() + margin


def bootstrap_interval(terms, columns, confidence, random_state):
    """Return the percentiles of the estimate of rows drawn with replacement.

    The estimate is the mean of the first column plus, if there are three, the sum of the second
    one divided by that of the third one. If few rows are distinct, their numbers are drawn.
    """
    random_state, n_samples = check_random_state(random_state), len(columns)
    distinct, counts = np.unique(columns, axis=0, return_counts=True)
    if len(distinct) * COST_OF_NUMBER <= n_samples:
        draw = partial(random_state.multinomial, n_samples, counts / n_samples)
        sums = [draw() @ distinct for _ in range(N_RESAMPLES)]
    else:
        draw = partial(random_state.randint, n_samples, size=n_samples)
        numbers = (np.bincount(draw(), minlength=n_samples) for _ in range(N_RESAMPLES))
        sums = [each @ columns for each in numbers]
    means, *ratio = np.transpose(sums)
    means = means / n_samples
    if ratio:
        check_total(ratio[1].min())
        means += ratio[0] / ratio[1]
    return np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])


def check_total(total):
    """Raise if weights by which an estimate is divided are all 0."""
    if not total > 0:
        raise ValueError(
            "all weights are 0, as the policy shows no label of the log, which says nothing about "
            "its value: collect a log that shows these labels, too"
        )


INTERVALS = {"normal": normal_interval, "bootstrap": bootstrap_interval}


def confidence_sequence(
    rewards: ArrayLike,
    weights: ArrayLike,
    *,
    confidence: float = 0.95,
    reward_range: tuple[float, float] = (0.0, 1.0),
    horizon: int | None = None,
) -> Bunch:
    """Compute intervals for the value of a policy that hold at every time at once.

    With the given probability, all intervals contain the value, so one may look every day and stop
    when the answer is clear. They are the closed-form empirical Bernstein sequences of [1]_
    (Theorem 2, without a model). The propensities must be right, and the expected reward of the
    policy must not change; the logging policy may learn. Bounds never become wider.

    Parameters
    ----------
    rewards, weights : array-like of shape (n_samples,)
        Rewards in the order of time, and importance weights, at least 0.
    confidence : float, default=0.95
        Probability that all intervals contain the value.
    reward_range : tuple of two floats, default=(0, 1)
        Smallest and largest possible reward.
    horizon : int, default=None
        Number of samples after which the interval shall be narrow. If None, all.

    Returns
    -------
    Bunch
        Arrays `low`, `high` and `value`, the mean so far of ``weights * rewards``.

    References
    ----------
    .. [1] Waudby-Smith et al., "Anytime-valid off-policy inference for contextual bandits",
       arXiv:2210.10768, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.off_policy import confidence_sequence
    >>> rewards = np.random.RandomState(0).randint(2, size=2000)
    >>> found = confidence_sequence(rewards, np.ones(2000))
    >>> print(f"between {found.low[-1]:.2f} and {found.high[-1]:.2f}")
    between 0.47 and 0.56
    """
    check_level(confidence, "confidence")
    rewards, weights = as_numbers(rewards, "rewards"), as_numbers(weights, "weights")
    bounds = as_numbers(reward_range, "reward_range")
    if bounds.shape != (2,) or not np.isfinite(bounds).all() or not bounds[0] < bounds[1]:
        raise ValueError(
            "reward_range must be two finite numbers, the smallest and the largest possible "
            f"reward, got {reward_range!r}"
        )
    least, most = bounds.tolist()
    if horizon is not None and (not is_integer(horizon) or horizon < 1):
        raise ValueError(f"horizon must be a positive integer or None, got {horizon!r}")
    if rewards.ndim != 1 or rewards.shape != weights.shape:
        raise ValueError(f"rewards {rewards.shape} and weights {weights.shape} must have one shape")
    if not np.all((least <= rewards) & (rewards <= most)):
        found = f"{rewards.min():g} to {rewards.max():g}"
        raise ValueError(f"rewards must be in reward_range={reward_range}, got {found}")
    if not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError("weights must be finite and not negative")
    scaled, error = (rewards - least) / (most - least), (1 - confidence) / 2
    low = _lower_bounds(weights * scaled, error, horizon)
    high = 1 - _lower_bounds(weights * (1 - scaled), error, horizon)
    value = np.cumsum(weights * rewards) / np.arange(1, len(rewards) + 1)
    return Bunch(value=value, low=least + (most - least) * low, high=least + (most - least) * high)


def _lower_bounds(terms, error, horizon):
    """Return lower bounds on the mean of terms that are at least 0 and whose mean is at most 1."""
    times = np.arange(1, len(terms) + 1)
    # The first guesses of mean and variance are those of the uniform distribution and of a coin.
    means = np.minimum(np.concatenate(([0.5], np.cumsum(terms) / times)), 1.0)
    squares = np.concatenate(([0.25], np.square(terms - means[1:])))
    variances = np.cumsum(squares)[:-1] / times
    scale = times * np.log(1 + times) if horizon is None else horizon
    # Larger bets would double the cost of a surprise: psi(1/2) = 0.19, psi(3/4) = 0.64.
    bets = np.minimum(np.sqrt(2 * np.log(1 / error) / (variances * scale)), 0.5)
    costs = np.square(terms - means[:-1]) * (-np.log1p(-bets) - bets)
    bounds = (np.cumsum(bets * terms) + np.log(error) - np.cumsum(costs)) / np.cumsum(bets)
    return np.maximum.accumulate(np.clip(bounds, 0.0, 1.0))

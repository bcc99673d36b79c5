"""Random rankings: the Mallows and Plackett-Luce models, and truncated normal noise."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from sklearn.utils import check_array

from sklrank._checks import check_positions, check_random_state, check_scalar, strict_positions


def sample_mallows(
    centers: ArrayLike,
    theta: float = 1.0,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    r"""Draw rankings from Mallows models, one for each center.

    In the Mallows model [1]_, the probability of a ranking :math:`\sigma` of k labels decreases
    with its Kendall tau distance :math:`D` to the center :math:`\sigma_0`, the number of label
    pairs that the two order differently:

    .. math:: \Pr[\sigma] = \frac{e^{-\theta D(\sigma, \sigma_0)}}{Z_k(\theta)}, \qquad
              Z_k(\theta) = \prod_{i=1}^{k} \sum_{v=0}^{i-1} e^{-\theta v}.

    Draws are exact, by repeated insertion [2]_: in the order of the center, the :math:`i`-th label
    is inserted before the last :math:`v` of the previous ones with probability proportional to
    :math:`e^{-\theta v}`.

    Parameters
    ----------
    centers : array-like of shape (n_samples, n_labels)
        Positions of the labels in the central rankings, which must be complete and without ties.
    theta : float, default=1.0
        Concentration: with 0, all rankings are equally likely; with infinity, draws equal their
        centers. Some authors use the dispersion :math:`\varphi = e^{-\theta}` instead.
    random_state : int, RandomState instance or None, default=None
        Controls the random draws. Pass an int for reproducible output.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64
        Positions of the labels in the drawn rankings; 1 is the best position.

    References
    ----------
    .. [1] Mallows, "Non-null ranking models. I", Biometrika 44, 1957.
    .. [2] J.-P. Doignon, A. Pekec, M. Regenwetter, "The repeated insertion model for rankings",
       Psychometrika 69, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.datasets import sample_mallows
    >>> Y = sample_mallows(np.tile([1, 2, 3], (10_000, 1)), theta=2.0, random_state=0)
    >>> rankings, counts = np.unique(Y, axis=0, return_counts=True)
    >>> for ranking, count in zip(rankings, counts):
    ...     print(ranking, count / 10_000)
    [1. 2. 3.] 0.7...
    [1. 3. 2.] 0.1...
    [2. 1. 3.] 0.1...
    [2. 3. 1.] 0.01...
    [3. 1. 2.] 0.01...
    [3. 2. 1.] 0.00...
    """
    centers = check_positions(centers, "centers", complete=True, evidence=None)
    check_scalar(theta, "theta", Real, min_val=0)
    n_samples, n_labels = centers.shape
    uniform = check_random_state(random_state).random_sample((n_samples, n_labels))

    # Positions of the labels in the order of the center.
    positions = np.empty((n_samples, n_labels))
    for i in range(n_labels):
        position = i + 1 - _truncated_geometric(uniform[:, i], i + 1, theta)
        positions[:, :i] += positions[:, :i] >= position[:, np.newaxis]
        positions[:, i] = position
    drawn = np.empty_like(positions)
    np.put_along_axis(drawn, np.argsort(centers, axis=1), positions, axis=1)
    return drawn


def _truncated_geometric(uniform: np.ndarray, n_values: int, theta: float) -> np.ndarray:
    """Transform uniform numbers to the values v = 0, ..., n_values - 1.

    The probability of v is proportional to exp(-theta v).
    """
    if theta == 0:
        values = uniform * n_values
    else:
        # This is the inverse of the distribution function (1 - phi^v) / (1 - phi^n_values), where
        # phi = exp(-theta).
        values = np.log1p(uniform * np.expm1(-n_values * theta)) / -theta
    return np.clip(np.floor(values), 0, n_values - 1)


def sample_plackett_luce(
    scores: ArrayLike, *, random_state: int | np.random.RandomState | None = None
) -> np.ndarray:
    r"""Draw rankings from Plackett-Luce models, one for each row of scores.

    In the Plackett-Luce model [1]_, the best label is drawn with probabilities proportional to
    :math:`e^{s_j}`, the second best in the same way from the remaining labels, and so on. The order
    of the scores plus independent Gumbel noise, which is used here, has the same distribution [2]_.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores :math:`s_j` of the labels, the logarithms of their weights; higher is better.
        Multiply the scores by a number above 1 to reduce the noise, or below 1 to increase it.
    random_state : int, RandomState instance or None, default=None
        Controls the random draws. Pass an int for reproducible output.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64
        Positions of the labels in the drawn rankings; 1 is the best position.

    References
    ----------
    .. [1] Plackett, "The analysis of permutations", Applied Statistics 24, 1975.
    .. [2] J. I. Yellott, "The relationship between Luce's choice axiom, Thurstone's theory of
       comparative judgment, and the double exponential distribution", Journal of Mathematical
       Psychology 15, 1977.

    Examples
    --------
    >>> import numpy as np
    >>> from sklrank.datasets import sample_plackett_luce
    >>> scores = np.log(np.tile([6, 3, 1], (10_000, 1)))
    >>> Y = sample_plackett_luce(scores, random_state=0)
    >>> print((Y == 1).mean(axis=0).round(1))
    [0.6 0.3 0.1]
    """
    if np.ndim(scores) != 2:
        raise ValueError(
            f"scores must have the shape (n_samples, n_labels), got {np.ndim(scores)} dimension(s)."
        )
    scores = check_array(scores, dtype=np.float64, input_name="scores")
    return strict_positions(scores + check_random_state(random_state).gumbel(size=scores.shape))


def truncated_normal(rng, scale, bound, size):
    """Draw normal numbers with standard deviation `scale`, truncated to ±`bound`.

    Each number is a monotone function of one uniform number, so that for a given seed the magnitude
    of each draw increases with the scale.
    """
    uniform = rng.random_sample(size)
    if scale == 0:
        return np.zeros(size)
    # For larger scales, the distribution is uniform up to rounding, and `low` would lose precision.
    scale = min(scale, 1e6 * bound)
    low = ndtr(-bound / scale)
    return np.clip(scale * ndtri(low + uniform * (1 - 2 * low)), -bound, bound)

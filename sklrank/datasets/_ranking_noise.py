"""Random rankings: Mallows, Plackett-Luce, and scores under truncated normal noise."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.utils import check_array, check_random_state, check_scalar

from sklrank._rankings import check_positions, positions_from_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def sample_mallows(
    centers: ArrayLike,
    theta: float = 1.0,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    r"""Draw from the Mallows model around the ranking of each row.

    The probability of a ranking falls with the number :math:`D` of label pairs that it orders
    otherwise than the center :math:`\sigma_0` (Kendall's tau distance):

    .. math:: \Pr[\sigma] = \frac{e^{-\theta D(\sigma, \sigma_0)}}{Z_k(\theta)}, \qquad
              Z_k(\theta) = \prod_{i=1}^{k} \sum_{v=0}^{i-1} e^{-\theta v}.

    Draws are exact, by repeated insertion: the labels enter in the order of the center, the
    :math:`i`-th before the last :math:`v` of those already there with probability proportional to
    :math:`e^{-\theta v}`.

    Parameters
    ----------
    centers : array-like of shape (n_samples, n_labels)
        Positions of the labels in the rankings to draw around: complete, without ties.

    theta : float, default=1.0
        How fast the probability falls with the distance, at least 0: 0 draws all rankings alike,
        infinity returns the center. Some texts call :math:`\varphi = e^{-\theta}` the dispersion.

    random_state : int, RandomState instance or None, default=None
        Determines the draws. Pass an int for reproducible output.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64
        Positions, 1 is best; one draw for each row.

    Raises
    ------
    ValueError
        If a center is incomplete or has ties, or if `theta` is out of range.

    References
    ----------
    .. [1] C. L. Mallows, "Non-null ranking models. I",
       Biometrika 44, 1957.
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
    centers = check_positions(centers, "centers", complete=True)
    check_theta(theta)
    n_samples, n_labels = centers.shape
    uniform = check_random_state(random_state).random_sample((n_samples, n_labels))

    # Positions of the labels in the order of the center.
    positions = np.empty((n_samples, n_labels))
    for i in range(n_labels):
        n_overtaken = _truncated_geometric(uniform[:, i], i + 1, theta)
        place = i + 1 - n_overtaken
        positions[:, :i] += positions[:, :i] >= place[:, np.newaxis]
        positions[:, i] = place
    drawn = np.empty_like(positions)
    np.put_along_axis(drawn, np.argsort(centers, axis=1), positions, axis=1)
    return drawn


def check_theta(theta):
    """Refuse what is no parameter of the Mallows model."""
    check_scalar(theta, "theta", Real, min_val=0)
    if np.isnan(theta):
        raise ValueError("theta must be a number from 0 to infinity, got nan.")


def _truncated_geometric(uniform: np.ndarray, n_values: int, theta: float) -> np.ndarray:
    """Turn uniform numbers into 0, ..., n_values - 1, with Pr[v] proportional to exp(-theta v)."""
    if theta == 0:
        values = uniform * n_values
    else:
        # The inverse of the distribution function (1 - phi^v) / (1 - phi^n_values).
        values = np.log1p(uniform * np.expm1(-n_values * theta)) / -theta
    return np.clip(np.floor(values), 0, n_values - 1)


def sample_plackett_luce(
    scores: ArrayLike, *, random_state: int | np.random.RandomState | None = None
) -> np.ndarray:
    r"""Draw from the Plackett-Luce model of each row.

    The best label is drawn with probability proportional to :math:`e^{s_j}`, then the second best
    among the others, and so on. That is the ranking by the scores plus independent Gumbel noise,
    and so it is drawn.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        The logarithms :math:`s_j` of the labels' weights; higher is better. Multiply them by a
        number above 1 for less noise, below 1 for more.

    random_state : int, RandomState instance or None, default=None
        Determines the draws. Pass an int for reproducible output.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), float64
        Positions, 1 is best; one draw for each row.

    Raises
    ------
    ValueError
        If the scores are not finite numbers in two dimensions.

    References
    ----------
    .. [1] R. L. Plackett, "The analysis of permutations",
       Applied Statistics 24, 1975.
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
    rng = check_random_state(random_state)
    return positions_from_scores(scores + rng.gumbel(size=scores.shape))


def truncated_normal(
    rng: np.random.RandomState, scale: float, bound: float, size: tuple[int, ...]
) -> np.ndarray:
    """Draw normal numbers of deviation `scale`, given that they are within ±`bound`.

    As one uniform number makes each, draws of one seed grow with the scale.
    """
    uniform = rng.random_sample(size)
    if scale == 0:
        return np.zeros(size)
    # Beyond this the truncated law is uniform to the last digits, and those of `low` are lost.
    scale = min(scale, 1e6 * bound)
    low = ndtr(-bound / scale)
    return np.clip(scale * ndtri(low + uniform * (1 - 2 * low)), -bound, bound)

"""Synthetic label rankings whose scores depend on few features, with several kinds of noise."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from sklrank._checks import check_random_state, check_scalar, strict_positions
from sklrank.datasets._incomplete import check_probabilities, hide_labels, tie_labels
from sklrank.datasets._ranking_noise import sample_mallows, sample_plackett_luce, truncated_normal

# Scores differ from 1/2 by at most 1/4, and the magnitude of Gaussian noise is at most 1/4. So
# their sum is in [0, 1].
_BOUND = 0.25
_NOISES = ("none", "gaussian", "mallows", "plackett-luce")


def make_sparse_label_ranking(
    n_samples: int = 10_000,
    n_features: int = 100,
    n_labels: int = 5,
    *,
    n_informative: int | None = None,
    shared_features: bool = False,
    noise: str = "none",
    scale: float = 0.05,
    theta: float = 1.0,
    survival: float | ArrayLike = 1.0,
    tie_probability: float | ArrayLike = 0.0,
    random_state: int | np.random.RandomState | None = None,
    return_clean: bool = False,
) -> tuple[np.ndarray, ...]:
    r"""Generate label rankings that depend on few of many binary features.

    The features are independent and take the values 0 and 1 with equal probability. The score of
    label j depends on a set :math:`S_j` of `n_informative` features, which is drawn for each label
    or once for all labels. Their weights :math:`w_{ji}` are drawn uniformly from (0, 1). The score
    is

    .. math:: m_j(x) = \frac14 + \frac12 \cdot
              \frac{\sum_{i \in S_j} w_{ji} x_i}{\sum_{i \in S_j} w_{ji}} \in [1/4, 3/4].

    Labels with higher scores are ranked earlier. The rankings may be noisy, incomplete and partial.

    This function generates the two families of data sets of [1]_: SFN ("small features number")
    with the default parameters, and LFN ("large features number") with ``n_features=1000``.

    Parameters
    ----------
    n_samples : int, default=10_000
        Number of samples, at least 1.
    n_features : int, default=100
        Number of features, at least 1.
    n_labels : int, default=5
        Number of labels, at least 2.
    n_informative : int or None, default=None
        Number of features on which the score of each label depends, from 1 to `n_features`. If
        None, 10, or all features if there are fewer.
    shared_features : bool, default=False
        Whether all labels depend on the same features. Trees can then learn the noiseless rankings,
        which the ``2**n_informative`` values of these features determine.
    noise : {"none", "gaussian", "mallows", "plackett-luce"}, default="none"
        Kind of noise.

        - "none": the labels are ranked by their scores :math:`m_j(x)`.
        - "gaussian": the labels are ranked by :math:`m_j(x) + \xi_j`. The :math:`\xi_j` are
          independent and normal with standard deviation `scale`, truncated to [-1/4, 1/4].
        - "plackett-luce": the same with Gumbel noise of scale `scale`, not truncated: a draw from
          the Plackett-Luce model with the weights :math:`e^{m_j(x) / scale}`.
        - "mallows": the ranking is drawn from the Mallows model whose center is that by
          :math:`m(x)`, whatever the differences between scores are.
    scale : float, default=0.05
        Scale of the noise, at least 0, if `noise` is "gaussian" (before truncation) or
        "plackett-luce". The paper uses values from 0.0005 to 0.3.
    theta : float, default=1.0
        Concentration, at least 0, if `noise` is "mallows". Higher values mean *less* noise. The
        paper uses values from 0.6 to 4.4.
    survival : float or array-like that broadcasts to (n_samples, n_labels), default=1.0
        Probability that a label is ranked; see :func:`hide_labels`.
    tie_probability : float or array-like that broadcasts to (n_samples, n_labels - 1), default=0.0
        Probability that labels at neighboring positions are tied; see :func:`tie_labels`.
    random_state : int, RandomState instance or None, default=None
        Controls the random draws. Pass an int for reproducible output: `X` and the noiseless
        rankings do not depend on the noise, on `survival` or on `tie_probability`.
    return_clean : bool, default=False
        If True, also return the noiseless rankings and the scores.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Samples, whose features are 0 or 1.
    Y : ndarray of shape (n_samples, n_labels), float64
        Positions of the labels; 1 is the best position. Labels that are not ranked are NaN, and
        tied labels have equal positions. Labels of equal scores are in the order of the columns.
    Y_clean : ndarray of shape (n_samples, n_labels), float64
        The complete rankings without noise. Returned only if ``return_clean=True``.
    scores : ndarray of shape (n_samples, n_labels), float64
        The noiseless scores :math:`m(x)`. Returned only if ``return_clean=True``.

    See Also
    --------
    sklrank.metrics.alpha_inconsistency : Proportion of the rankings that the noise changed.
    sklrank.metrics.beta_tau_gap : Mean Kendall tau with the noiseless rankings.

    References
    ----------
    .. [1] D. Fotakis, A. Kalavasis, E. Psaroudaki, "Label ranking through nonparametric
       regression", ICML 2022: Section 2.2 and Appendix B. The paper does not define the scores.
       Their form here follows the published code of the paper, except that this code draws features
       with replacement and scales the scores by their range in the sample.

    Examples
    --------
    >>> from sklrank.datasets import make_sparse_label_ranking
    >>> from sklrank.metrics import alpha_inconsistency
    >>> X, Y, Y_clean, scores = make_sparse_label_ranking(
    ...     1000, noise="mallows", theta=2.0, random_state=0, return_clean=True)
    >>> X.shape, Y.shape
    ((1000, 100), (1000, 5))
    >>> print(f"{alpha_inconsistency(Y_clean, Y):.0%} of the rankings are noisy")
    4...% of the rankings are noisy
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(n_features, "n_features", Integral, min_val=1)
    check_scalar(n_labels, "n_labels", Integral, min_val=2)
    if n_informative is None:
        n_informative = min(10, n_features)
    check_scalar(n_informative, "n_informative", Integral, min_val=1, max_val=n_features)
    if noise not in _NOISES:
        raise ValueError(f"noise must be one of {_NOISES}, got {noise!r}.")
    check_scalar(scale, "scale", Real, min_val=0, max_val=np.inf, include_boundaries="left")
    check_scalar(theta, "theta", Real, min_val=0)
    survival = check_probabilities(survival, "survival", (n_samples, n_labels))
    tie_probability = check_probabilities(
        tie_probability, "tie_probability", (n_samples, n_labels - 1)
    )

    rng = check_random_state(random_state)
    X = rng.randint(2, size=(n_samples, n_features), dtype=np.int8).astype(np.float64)
    scores = np.empty((n_samples, n_labels))
    for j in range(n_labels):
        if j == 0 or not shared_features:
            informative = rng.choice(n_features, n_informative, replace=False)
        weights = 1 - rng.random_sample(n_informative)  # never 0
        scores[:, j] = X[:, informative] @ (weights / weights.sum())
    # Sums of weights that should be 1 may exceed 1 by rounding errors.
    scores = np.clip(0.5 - _BOUND + 2 * _BOUND * scores, 0.5 - _BOUND, 0.5 + _BOUND)

    Y_clean = strict_positions(scores)
    Y = _add_noise(rng, scores, Y_clean, noise, scale, theta)
    Y = hide_labels(Y, survival, random_state=rng)
    Y = tie_labels(Y, tie_probability, random_state=rng)
    return (X, Y, Y_clean, scores) if return_clean else (X, Y)


def _add_noise(rng, scores, Y_clean, noise, scale, theta):
    if noise == "mallows":
        return sample_mallows(Y_clean, theta, random_state=rng)
    if noise == "none" or scale == 0:
        return Y_clean
    if noise == "gaussian":
        return strict_positions(scores + truncated_normal(rng, scale, _BOUND, scores.shape))
    # Division by numbers smaller than `tiny` would overflow.
    return sample_plackett_luce(scores / max(scale, np.finfo(np.float64).tiny), random_state=rng)

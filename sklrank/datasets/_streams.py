"""Synthetic streams of multilabel data whose optimal rankings are known."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from sklrank._checks import check_random_state, check_scalar

# Standard deviation of the thresholds of the labels. Their spread makes the frequencies of the
# labels unequal.
_THRESHOLD_SPREAD = 0.5
_FUNCTIONS = ("linear", "interaction")
_DRIFTS = ("none", "abrupt", "gradual")


def make_multilabel_ranking_stream(
    n_samples: int = 1000,
    n_features: int = 20,
    n_labels: int = 10,
    *,
    cardinality: float = 3.0,
    function: str = "linear",
    noise: float = 0.5,
    drift: str = "none",
    random_state: int | np.random.RandomState | None = None,
    return_scores: bool = False,
) -> tuple[np.ndarray, ...]:
    r"""Generate a stream of multilabel samples, with or without concept drift.

    The features are independent and standard normal. Label :math:`j` has a bias :math:`b_j` and a
    unit vector :math:`w_j` of weights of the features. The label is relevant if its
    noisy score is positive. The score and the relevance are

    .. math:: s_j(x) = \langle w_j, \phi(x) \rangle + b_j, \qquad
              Y_j = 1\{s_j(x) + \sigma \varepsilon_j > 0\}, \qquad \varepsilon_j \sim N(0, 1).

    As the noise has the same distribution for all labels, no ranking has a smaller expected rank
    loss than that by :math:`s(x)`. The biases give the labels unequal frequencies, and an expected
    number of relevant ones of exactly `cardinality`, for any noise and drift.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of samples, at least 1.
    n_features : int, default=20
        Number of features, at least 1.
    n_labels : int, default=10
        Number of labels, at least 2.
    cardinality : float, default=3.0
        Expected number of relevant labels of a sample, between 0 and `n_labels`, both excluded.
        Individual samples may have no relevant labels, or only relevant ones.
    function : {"linear", "interaction"}, default="linear"
        The function :math:`\phi` of the features.

        - "linear": :math:`\phi(x)` consists of the features themselves.
        - "interaction": each feature but the last is multiplied by the sign of the next one,
          :math:`\phi_i(x) = x_i \operatorname{sign}(x_{i+1})`, which no linear model can learn.
    noise : float, default=0.5
        Standard deviation :math:`\sigma` of the noise, at least 0. The standard deviation of the
        scores is 1.
    drift : {"none", "abrupt", "gradual"}, default="none"
        Change of the weights along the stream. The frequencies of the labels do not change.

        - "none": the weights are constant.
        - "abrupt": in the middle, each weight vector becomes a random one orthogonal to it.
        - "gradual": the weights rotate by a right angle from the first sample to the last.
    random_state : int, RandomState instance or None, default=None
        Controls the random draws. Pass an int for reproducible output: without drift, a longer
        stream starts with the samples of a shorter one.
    return_scores : bool, default=False
        If True, also return the noiseless scores.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Samples.
    Y : ndarray of shape (n_samples, n_labels), int64
        Relevance: entries are 1 for relevant labels, otherwise 0.
    scores : ndarray of shape (n_samples, n_labels), float64
        The noiseless scores :math:`s(x)`. Labels with higher scores are ranked earlier. Returned
        only if ``return_scores=True``.

    See Also
    --------
    sklearn.datasets.make_multilabel_classification : Generates bags of words, without scores or
        drift.

    Examples
    --------
    >>> from sklrank.datasets import make_multilabel_ranking_stream
    >>> X, Y, scores = make_multilabel_ranking_stream(
    ...     5000, n_labels=6, cardinality=2.0, drift="abrupt", random_state=0,
    ...     return_scores=True)
    >>> X.shape, Y.shape, scores.shape
    ((5000, 20), (5000, 6), (5000, 6))
    >>> print(f"{Y.sum(axis=1).mean():.1f} relevant labels per sample")
    2.0 relevant labels per sample
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(n_features, "n_features", Integral, min_val=1)
    check_scalar(n_labels, "n_labels", Integral, min_val=2)
    check_scalar(
        cardinality, "cardinality", Real, min_val=0, max_val=n_labels, include_boundaries="neither"
    )
    check_scalar(noise, "noise", Real, min_val=0, max_val=np.inf, include_boundaries="left")
    if function not in _FUNCTIONS:
        raise ValueError(f"function must be one of {_FUNCTIONS}, got {function!r}.")
    if drift not in _DRIFTS:
        raise ValueError(f"drift must be one of {_DRIFTS}, got {drift!r}.")
    if drift != "none" and n_features < 2:
        raise ValueError(
            f"drift={drift!r} rotates the weights: n_features must be at least 2, got {n_features}."
        )

    rng = check_random_state(random_state)
    bias = _draw_biases(rng, n_labels, cardinality, noise)
    weights = _unit_rows(rng.standard_normal((n_labels, n_features)))

    # Features and noise of a sample are drawn together, so that a stream is a prefix of longer
    # streams with the same seed.
    n_draws = n_features + n_labels
    parts = []
    for n_rows in [n_samples // 2, (n_samples + 1) // 2] if drift == "abrupt" else [n_samples]:
        next_weights = _draw_orthogonal(rng, weights) if drift != "none" else weights
        draws = rng.standard_normal((n_rows, n_draws))
        phi = _features(draws[:, :n_features], function)
        scores = phi @ weights.T
        if drift == "gradual":
            angle = np.pi / 2 * np.arange(n_rows)[:, np.newaxis] / n_rows
            scores = np.cos(angle) * scores + np.sin(angle) * (phi @ next_weights.T)
        parts.append((draws, scores + bias))
        weights = next_weights
    draws, scores = (np.concatenate(arrays) for arrays in zip(*parts))
    X = np.ascontiguousarray(draws[:, :n_features])
    Y = (scores + noise * draws[:, n_features:] > 0).astype(np.int64)
    return (X, Y, scores) if return_scores else (X, Y)


def _draw_biases(rng, n_labels, cardinality, noise):
    """Draw biases `(n_labels,)` for which the probabilities of the labels sum to `cardinality`.

    A noisy score is normal with variance ``1 + noise**2``. With a bias of ``b`` times its standard
    deviation, the label is relevant with probability ``Phi(b)``.
    """
    spread = _THRESHOLD_SPREAD * rng.standard_normal(n_labels)
    # The lower shift makes the probabilities of all labels smaller than their required mean, and
    # the upper shift makes them all larger.
    center = norm.ppf(cardinality / n_labels)
    low, high = center - spread.max() - 1, center - spread.min() + 1
    shift = brentq(lambda shift: norm.cdf(shift + spread).sum() - cardinality, low, high)
    return (shift + spread) * np.hypot(1, noise)


def _features(X: np.ndarray, function: str) -> np.ndarray:
    """Return phi(x), with independent standard normal entries, for each row x of `X`."""
    if function == "linear":
        return X
    phi = X.copy()
    phi[:, :-1] = np.copysign(1.0, X[:, 1:]) * X[:, :-1]
    return phi


def _unit_rows(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _draw_orthogonal(rng: np.random.RandomState, weights: np.ndarray) -> np.ndarray:
    """Draw one random unit vector for each row of `weights`, orthogonal to that unit vector."""
    drawn = rng.standard_normal(weights.shape)
    drawn -= (drawn * weights).sum(axis=1, keepdims=True) * weights
    return _unit_rows(drawn)

"""Synthetic streams of multilabel data with known best rankings."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.utils import check_random_state, check_scalar

# Samples are drawn in blocks, so that temporary arrays are small compared with the result.
_BLOCK_SIZE = 1 << 16
# Standard deviation of the thresholds of the labels, which makes their frequencies unequal.
_THRESHOLD_SPREAD = 0.5
_FUNCTIONS = ("linear", "interaction")
_DRIFTS = ("none", "abrupt", "gradual")


def make_multilabel_ranking_stream(
    n_samples: int = 1000,
    n_features: int = 20,
    n_labels: int = 10,
    *,
    cardinality: float = 3.0,
    n_informative: int | None = None,
    function: str = "linear",
    noise: float = 0.5,
    drift: str = "none",
    drift_points: int | Sequence[int] | None = None,
    random_state: int | np.random.RandomState | None = None,
    return_scores: bool = False,
) -> tuple[np.ndarray, ...]:
    r"""Generate a stream of multilabel samples, with or without concept drift.

    The features are independent standard normal. Label :math:`j` has a unit weight vector
    :math:`w_j` on the informative features and a bias :math:`b_j`. It is relevant if its noisy
    score is positive:

    .. math:: s_j(x) = \langle w_j, \phi(x) \rangle + b_j, \qquad
              Y_j = 1\{s_j(x) + \sigma \varepsilon_j > 0\}, \qquad \varepsilon_j \sim N(0, 1).

    All labels have the same noise, so the probability of being relevant is an increasing function
    of the score: no ranking has a smaller expected rank loss than the one by :math:`s(x)`. The
    biases make the frequencies of the labels unequal, and the expected number of relevant labels
    exactly `cardinality`, for any noise and drift.

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
        Single samples may have none, or all.

    n_informative : int, default=None
        Number of features that the scores depend on, the first ones; None for all.

    function : {"linear", "interaction"}, default="linear"
        The function :math:`\phi`. "linear": the features themselves. "interaction": each feature
        is multiplied by the sign of the next one, :math:`\phi_i(x) = x_i
        \operatorname{sign}(x_{i+1})`, which a linear model cannot learn (except for the last
        informative feature, which is unchanged).

    noise : float, default=0.5
        Standard deviation :math:`\sigma` of the noise, at least 0; that of the scores is 1.

    drift : {"none", "abrupt", "gradual"}, default="none"
        Change of the weights along the stream. "abrupt": at each drift point each label gets a new
        weight vector, orthogonal to the old one. "gradual": the weights rotate continuously, by a
        right angle from each drift point to the next; at a drift point the direction of rotation
        changes. The frequencies of the labels do not change.

    drift_points : int or sequence of int, default=None
        Indices of the samples at which the concept changes, increasing, between 1 and
        ``n_samples - 1``; or their number, evenly spaced. None means one point for abrupt drift and
        none for gradual drift (one rotation from the first sample to the last).

    random_state : int, RandomState instance or None, default=None
        Controls all draws. Pass an int for reproducible output. Without drift, a longer stream of
        the same seed starts with the samples of the shorter one.

    return_scores : bool, default=False
        Whether to also return the noiseless scores.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Samples.

    Y : ndarray of shape (n_samples, n_labels), int64
        1 for a relevant label, else 0.

    scores : ndarray of shape (n_samples, n_labels), float64
        The noiseless scores :math:`s(x)`; labels with higher scores rank earlier. Only if
        ``return_scores=True``.

    Raises
    ------
    TypeError or ValueError
        If a parameter has the wrong type or is out of its range.

    See Also
    --------
    sklearn.datasets.make_multilabel_classification : Bags of words, without scores or drift.

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
    check_scalar(noise, "noise", Real, min_val=0)
    if not np.isfinite([cardinality, noise]).all():
        raise ValueError(
            f"cardinality and noise must be finite, got cardinality={cardinality}, noise={noise}."
        )
    if n_informative is None:
        n_informative = n_features
    check_scalar(n_informative, "n_informative", Integral, min_val=1, max_val=n_features)
    if function not in _FUNCTIONS:
        raise ValueError(f"function must be one of {_FUNCTIONS}, got {function!r}.")
    if drift not in _DRIFTS:
        raise ValueError(f"drift must be one of {_DRIFTS}, got {drift!r}.")
    if drift != "none" and n_informative < 2:
        raise ValueError(
            f"drift={drift!r} rotates the weights: n_informative must be at least 2, got "
            f"{n_informative}."
        )
    points = _check_drift_points(drift_points, drift, n_samples)

    rng = check_random_state(random_state)
    bias = _draw_biases(rng, n_labels, cardinality, noise)
    weights = _unit_rows(rng.standard_normal((n_labels, n_informative)))

    X = np.empty((n_samples, n_features))
    scores = np.empty((n_samples, n_labels))
    Y = np.empty((n_samples, n_labels), dtype=np.int64)
    bounds = [0, *points, n_samples]
    for start, stop in zip(bounds[:-1], bounds[1:]):
        next_weights = _draw_orthogonal(rng, weights) if drift != "none" else weights
        for first in range(start, stop, _BLOCK_SIZE):
            block = slice(first, min(first + _BLOCK_SIZE, stop))
            # Features and noise of a sample are drawn together, so that a stream is a prefix of
            # longer ones.
            draws = rng.standard_normal((block.stop - block.start, n_features + n_labels))
            X[block] = draws[:, :n_features]
            phi = _features(X[block, :n_informative], function)
            scores[block] = phi @ weights.T
            if drift == "gradual":
                angle = np.pi / 2 * (np.arange(block.start, block.stop) - start) / (stop - start)
                scores[block] *= np.cos(angle)[:, np.newaxis]
                scores[block] += np.sin(angle)[:, np.newaxis] * (phi @ next_weights.T)
            scores[block] += bias
            Y[block] = scores[block] + noise * draws[:, n_features:] > 0
        weights = next_weights
    return (X, Y, scores) if return_scores else (X, Y)


def _check_drift_points(
    drift_points: int | Sequence[int] | None, drift: str, n_samples: int
) -> list[int]:
    if drift_points is None:
        drift_points = 1 if drift == "abrupt" else 0
    elif drift == "none":
        raise ValueError(
            f"drift_points={drift_points!r} needs drift='abrupt' or 'gradual', got drift='none'."
        )
    if isinstance(drift_points, Integral):
        check_scalar(drift_points, "drift_points", Integral, min_val=0, max_val=n_samples - 1)
        n_concepts = int(drift_points) + 1
        return [n_samples * i // n_concepts for i in range(1, n_concepts)]
    points = np.asarray(drift_points)
    if points.ndim != 1 or (len(points) and not np.issubdtype(points.dtype, np.integer)):
        raise ValueError(f"drift_points must be an int or sample indices, got {drift_points!r}.")
    if (np.diff(points, prepend=0, append=n_samples) <= 0).any():
        raise ValueError(
            f"drift_points must increase and lie between 1 and {n_samples - 1} for "
            f"n_samples={n_samples}, got {drift_points!r}."
        )
    return points.tolist()


def _draw_biases(
    rng: np.random.RandomState, n_labels: int, cardinality: float, noise: float
) -> np.ndarray:
    """Draw biases for which the probabilities of the labels sum to the cardinality.

    A noisy score is normal with variance ``1 + noise**2``. With a bias of ``b`` times its standard
    deviation the label is relevant with probability ``Phi(b)``.
    """
    spread = _THRESHOLD_SPREAD * rng.standard_normal(n_labels)
    # With these shifts the probabilities of all labels are below, or above, the wanted mean.
    centre = norm.ppf(cardinality / n_labels)
    low, high = centre - spread.max() - 1, centre - spread.min() + 1
    shift = brentq(lambda shift: norm.cdf(shift + spread).sum() - cardinality, low, high)
    return (shift + spread) * np.hypot(1, noise)


def _features(X: np.ndarray, function: str) -> np.ndarray:
    """Return phi(x), which is also independent standard normal, as the biases require."""
    if function == "linear":
        return X
    phi = X.copy()
    phi[:, :-1] = np.copysign(1.0, X[:, 1:]) * X[:, :-1]
    return phi


def _unit_rows(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _draw_orthogonal(rng: np.random.RandomState, weights: np.ndarray) -> np.ndarray:
    """Draw unit vectors, each orthogonal to one of the given unit vectors."""
    drawn = rng.standard_normal(weights.shape)
    drawn -= (drawn * weights).sum(axis=1, keepdims=True) * weights
    return _unit_rows(drawn)

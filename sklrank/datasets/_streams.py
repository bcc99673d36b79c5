"""Synthetic streams of multilabel data whose best ranking is known at every row."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.utils import check_random_state, check_scalar

# Rows are drawn in blocks so that the temporary arrays stay small beside the result.
_BLOCK_ROWS = 1 << 16
# How unequal the labels' frequencies are: the deviation of their thresholds.
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
    r"""Generate a stream of rows with relevant labels, with or without concept drift.

    The features are independent standard normal. Label :math:`j` has a unit weight vector
    :math:`w_j` on the informative features and a bias :math:`b_j`, and is relevant when its
    noisy score is positive:

    .. math:: s_j(x) = \langle w_j, \phi(x) \rangle + b_j, \qquad
              Y_j = 1\{s_j(x) + \sigma \varepsilon_j > 0\}, \qquad \varepsilon_j \sim N(0, 1).

    Every label has the same noise, so the probability of being relevant grows with the score
    alone: no ranking has a smaller expected rank loss than the one by :math:`s(x)`. The biases
    make the labels unequally frequent and the expected number of relevant labels exactly
    `cardinality`, whatever the noise and the drift.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, at least 1.

    n_features : int, default=20
        Number of features, at least 1.

    n_labels : int, default=10
        Number of labels, at least 2.

    cardinality : float, default=3.0
        Expected number of relevant labels of a row, between 0 and `n_labels`, both excluded.
        Single rows may have none, or all.

    n_informative : int, default=None
        Number of features, the first ones, that the scores depend on; None for all.

    function : {"linear", "interaction"}, default="linear"
        What :math:`\phi` is. "linear": the features themselves. "interaction": each feature
        takes the sign of its product with the next one, :math:`\phi_i(x) = x_i
        \operatorname{sign}(x_{i+1})`, which a linear model cannot learn (save for the last
        informative feature, which stays as it is).

    noise : float, default=0.5
        Deviation :math:`\sigma` of the noise, at least 0, beside scores of deviation 1.

    drift : {"none", "abrupt", "gradual"}, default="none"
        How the weights change along the stream. "abrupt": at each drift point every label
        takes a new weight vector, at a right angle to the old one. "gradual": the weights turn
        all the time, by a right angle from each drift point to the next; at a drift point they
        take a new direction. The labels' frequencies never change.

    drift_points : int or sequence of int, default=None
        The rows where the concept changes, increasing, between 1 and ``n_samples - 1``; or
        how many of them, evenly spaced. None means one point for abrupt drift and none for
        gradual drift (one turn from the first row to the last).

    random_state : int, RandomState instance or None, default=None
        Determines all that is random. Pass an int for reproducible output. Without drift, a
        longer stream of the same seed begins with the rows of the shorter one.

    return_scores : bool, default=False
        Whether to return the noiseless scores too.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        The features.

    Y : ndarray of shape (n_samples, n_labels), int64
        1 for a relevant label, else 0.

    scores : ndarray of shape (n_samples, n_labels), float64
        The noiseless scores :math:`s(x)`, higher for labels to be ranked earlier. Only if
        ``return_scores=True``.

    Raises
    ------
    TypeError or ValueError
        If a parameter has the wrong type or is out of its range.

    See Also
    --------
    sklearn.datasets.make_multilabel_classification : Bags of words, without order or drift.

    Examples
    --------
    >>> from sklrank.datasets import make_multilabel_ranking_stream
    >>> X, Y, scores = make_multilabel_ranking_stream(
    ...     5000, n_labels=6, cardinality=2.0, drift="abrupt", random_state=0,
    ...     return_scores=True)
    >>> X.shape, Y.shape, scores.shape
    ((5000, 20), (5000, 6), (5000, 6))
    >>> print(f"{Y.sum(axis=1).mean():.1f} relevant labels a row")
    2.0 relevant labels a row
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
            f"drift={drift!r} turns the weights and needs n_informative >= 2, got {n_informative}."
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
        next_weights = _right_angle(rng, weights) if drift != "none" else weights
        for first in range(start, stop, _BLOCK_ROWS):
            rows = slice(first, min(first + _BLOCK_ROWS, stop))
            # One array a block, row by row: this is what makes streams prefixes of longer ones.
            draws = rng.standard_normal((rows.stop - rows.start, n_features + n_labels))
            X[rows] = draws[:, :n_features]
            phi = _features(X[rows, :n_informative], function)
            scores[rows] = phi @ weights.T
            if drift == "gradual":
                angle = np.pi / 2 * (np.arange(rows.start, rows.stop) - start) / (stop - start)
                scores[rows] *= np.cos(angle)[:, np.newaxis]
                scores[rows] += np.sin(angle)[:, np.newaxis] * (phi @ next_weights.T)
            scores[rows] += bias
            Y[rows] = scores[rows] + noise * draws[:, n_features:] > 0
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
        n_stretches = int(drift_points) + 1
        return [n_samples * i // n_stretches for i in range(1, n_stretches)]
    points = np.asarray(drift_points)
    if points.ndim != 1 or (len(points) and not np.issubdtype(points.dtype, np.integer)):
        raise ValueError(f"drift_points must be an int or row numbers, got {drift_points!r}.")
    if (np.diff(points, prepend=0, append=n_samples) <= 0).any():
        raise ValueError(
            f"drift_points must increase and lie between 1 and {n_samples - 1} for "
            f"n_samples={n_samples}, got {drift_points!r}."
        )
    return points.tolist()


def _draw_biases(
    rng: np.random.RandomState, n_labels: int, cardinality: float, noise: float
) -> np.ndarray:
    """Draw uneven biases under which the labels' probabilities sum to the cardinality.

    A noisy score is normal with variance ``1 + noise**2``, so a bias of ``b`` times its
    deviation makes the label relevant with probability ``Phi(b)``.
    """
    spread = _THRESHOLD_SPREAD * rng.standard_normal(n_labels)
    # Under these shifts every label's probability is below, or above, the wanted mean.
    centre = norm.ppf(cardinality / n_labels)
    low, high = centre - spread.max() - 1, centre - spread.min() + 1
    shift = brentq(lambda shift: norm.cdf(shift + spread).sum() - cardinality, low, high)
    return (shift + spread) * np.hypot(1, noise)


def _features(X: np.ndarray, function: str) -> np.ndarray:
    """Return phi(x), again independent standard normal: the biases rely on that."""
    if function == "linear":
        return X
    phi = X.copy()
    phi[:, :-1] = np.copysign(1.0, X[:, 1:]) * X[:, :-1]
    return phi


def _unit_rows(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _right_angle(rng: np.random.RandomState, weights: np.ndarray) -> np.ndarray:
    """Draw unit vectors, each at a right angle to one of the unit vectors given."""
    drawn = rng.standard_normal(weights.shape)
    drawn -= (drawn * weights).sum(axis=1, keepdims=True) * weights
    return _unit_rows(drawn)

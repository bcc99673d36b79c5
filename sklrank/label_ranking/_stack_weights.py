"""Weights of the rankers of a stack, computed from the scores of held-out samples."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from sklrank._rankings import relative_positions
from sklrank.label_ranking._pair_calibration import (
    fit_logistic_factor,
    fit_logistic_weights,
    ordered_differences,
)
from sklrank.metrics import kendall_tau_score

__all__ = ["WEIGHTINGS", "best_weighting", "non_negative_weights", "pair_scale"]


def non_negative_weights(scores, positions):
    """Compute the weights of the rankers by non-negative least squares.

    The negative relative positions are regressed on the scores; both are centered within each
    sample.

    Parameters
    ----------
    scores : ndarray of shape (n_rankers, n_samples, n_labels)
        Scores of held-out samples; higher is better.
    positions : ndarray of shape (n_samples, n_labels)
        Positions of the labels for these samples. NaN marks a label that is not ranked.

    Returns
    -------
    weights, shares : ndarray of shape (n_rankers,)
        The weights, and the weights multiplied by the root mean square of the centered scores. The
        shares are normalized to sum to 1. If the least squares solution is 0, the shares are equal.
    """
    columns, sizes = centered_scores(scores, positions)
    [target], _ = centered_scores(-relative_positions(positions)[np.newaxis], positions)
    shares = np.zeros(len(scores))
    if columns.any():
        shares, _ = nnls((columns / sizes[:, np.newaxis]).T, target)
    if not shares.any():
        shares = np.ones(len(scores))
    return shares / sizes, shares / shares.sum()


def logistic_weights(scores, positions):
    """Compute the weights of the rankers by a logistic model of the order of two labels.

    The parameters and the results are those of `non_negative_weights`.
    """
    differences = ordered_differences(scores, positions)
    _, sizes = centered_scores(scores, positions)
    shares = fit_logistic_weights(differences / sizes[:, np.newaxis])
    if not shares.any():
        shares = np.ones(len(scores))
    return shares / sizes, shares / shares.sum()


def centered_scores(scores, positions):
    """Center the scores of each sample over the ranked labels.

    The parameters are those of `non_negative_weights`.

    Returns
    -------
    centered : ndarray of shape (n_rankers, n_ranked)
        The centered scores of all ranked labels of all samples.
    sizes : ndarray of shape (n_rankers,)
        The root mean squares of the centered scores, or 1 if that is 0.
    """
    ranked = ~np.isnan(positions)
    n_ranked = np.maximum(ranked.sum(axis=1, keepdims=True), 1)
    means = np.where(ranked, scores, 0.0).sum(axis=2, keepdims=True) / n_ranked
    centered = (scores - means)[:, ranked]
    sizes = np.sqrt(np.mean(centered**2, axis=1)) if centered.size else np.zeros(len(scores))
    return centered, np.where(sizes > 0, sizes, 1.0)


# Functions that compute the weights and shares of the rankers, by the value of `weighting`.
WEIGHTINGS = {"least_squares": non_negative_weights, "logistic": logistic_weights}


def best_weighting(scores, positions, folds):
    """Return the name of the weighting that agrees best with the samples that folds hold out.

    It is "least_squares" unless the mean tau of "logistic" is larger by more than its standard
    error.
    """
    taus = {name: np.zeros(len(positions)) for name in WEIGHTINGS}
    for train, test in folds:
        if np.isnan(positions[train]).all():
            continue
        for name, compute in WEIGHTINGS.items():
            weights, _ = compute(scores[:, train], positions[train])
            combined = np.tensordot(weights, scores[:, test], axes=1)
            taus[name][test] = kendall_tau_score(positions[test], -combined, average=False)
    gain = taus["logistic"] - taus["least_squares"]
    is_better = gain.mean() > gain.std() / np.sqrt(len(gain))
    return "logistic" if is_better else "least_squares"


def pair_scale(scores, positions):
    """Return the factor of the scores in the logistic model of the order of two labels."""
    return fit_logistic_factor(ordered_differences(scores, positions))

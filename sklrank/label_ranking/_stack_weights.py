"""How a stack combines the scores of its rankers: a weighted sum, and a correction of pairs."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls
from scipy.special import expit

from sklrank._rankings import relative_positions
from sklrank.label_ranking._pairwise import compare_pairs, pairs_of_labels, sum_votes

# Number of features of a pair: an intercept, three scores, their squares and products.
_N_FEATURES = 10
# Limits of Newton's method, which takes five to ten steps.
_MAX_STEPS, _TOLERANCE = 50, 1e-6
# Number of entries of the features that are computed at once, which limits the memory.
_BLOCK = 4_000_000


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


class PairCorrection:
    """Logistic regressions, one for each pair of labels, of the order of the labels.

    The features of a pair (a, b) are the standardized scores s_a, s_b and s_a - s_b, their squares
    and products. The model of each pair is that of scikit-learn's `LogisticRegression` with its
    default penalty. All models are fitted together, which takes a hundredth of the time.

    Parameters
    ----------
    n_labels : int
        Number of labels.

    Attributes
    ----------
    pairs : ndarray of int of shape (n_pairs, 2)
        The pairs of labels.
    frequencies : ndarray of shape (n_pairs,)
        How often the first label was ranked before the second.
    learned : ndarray of bool of shape (n_pairs,)
        Pairs with samples in both orders, which have a model.
    means, scales : ndarray of shape (3, n_pairs)
        Means and standard deviations of the scores.
    coefficients : ndarray of shape (n_pairs, 10)
        Weights of the features. The first one is the intercept.
    """

    def __init__(self, n_labels):
        self.n_labels = n_labels

    def fit(self, scores, positions):
        """Fit the models to scores and positions, each of shape `(n_samples, n_labels)`."""
        self.pairs = pairs_of_labels(self.n_labels)
        n_pairs = len(self.pairs)
        self.frequencies, self.learned = np.full(n_pairs, 0.5), np.zeros(n_pairs, dtype=bool)
        self.means, self.scales = np.zeros((3, n_pairs)), np.ones((3, n_pairs))
        self.coefficients = np.zeros((n_pairs, _N_FEATURES))
        for block in self._blocks(len(scores)):
            wins, compared, frequencies = compare_pairs(positions, self.pairs[block])
            self.frequencies[block] = frequencies
            self.learned[block] = (frequencies > 0) & (frequencies < 1)
            shares = compared / np.maximum(compared.sum(axis=0), 1)
            raw = self._raw_features(scores, block)
            self.means[:, block] = (shares * raw).sum(axis=1)
            centered = raw - self.means[:, np.newaxis, block]
            deviations = np.sqrt((shares * centered**2).sum(axis=1))
            self.scales[:, block] = np.where(deviations > 0, deviations, 1.0)
            features = self._features(raw, block)
            compared &= self.learned[block]
            self.coefficients[block] = fit_logistic(features, wins, compared)
        return self

    def votes(self, scores):
        """Return, for each label, the sum of the probabilities to be before another label.

        The scores and the result have shape `(n_samples, n_labels)`. The probability is the
        frequency of the order if all training samples agree, or 1/2 if there are none.
        """
        probabilities = np.tile(self.frequencies, (len(scores), 1))
        for block in self._blocks(len(scores)):
            features = self._features(self._raw_features(scores, block), block)
            margins = margins_of(features, self.coefficients[block])
            learned = self.learned[block]
            probabilities[:, block][:, learned] = expit(margins[:, learned])
        return sum_votes(probabilities, self.pairs, self.n_labels)

    def _blocks(self, n_samples):
        size = max(1, _BLOCK // (max(n_samples, 1) * _N_FEATURES))
        return [slice(start, start + size) for start in range(0, len(self.pairs), size)]

    def _raw_features(self, scores, block):
        """Return the scores and their differences, of shape `(3, n_samples, n_pairs)`."""
        first, second = scores[:, self.pairs[block]].transpose(2, 0, 1)
        return np.array([first, second, first - second])

    def _features(self, raw, block):
        """Return the features, of shape `(n_pairs, n_samples, n_features)`."""
        centered = raw - self.means[:, np.newaxis, block]
        standardized = (centered / self.scales[:, np.newaxis, block]).transpose(2, 1, 0)
        features = np.ones((*standardized.shape[:2], _N_FEATURES))
        features[..., 1:4] = standardized
        first, second = np.triu_indices(3)
        features[..., 4:] = standardized[..., first] * standardized[..., second]
        return features


def fit_logistic(features, wins, compared):
    """Fit logistic regressions by Newton's method, all at once.

    The penalty is half of the squared norm of the coefficients without the intercept.

    Parameters
    ----------
    features : ndarray of shape (n_models, n_samples, n_features)
        Features. The first one is the constant 1.
    wins : ndarray of bool of shape (n_samples, n_models)
        Targets.
    compared : ndarray of bool of shape (n_samples, n_models)
        Samples of the models.

    Returns
    -------
    ndarray of shape (n_models, n_features)
        Coefficients.
    """
    n_models, _, n_features = features.shape
    penalties = np.append(1e-8, np.ones(n_features - 1))
    signs = np.where(wins, 1.0, -1.0)

    def loss(coefficients):
        losses = np.logaddexp(0.0, -signs * margins_of(features, coefficients))
        return (compared * losses).sum(axis=0) + 0.5 * (penalties * coefficients**2).sum(axis=1)

    coefficients = np.zeros((n_models, n_features))
    current = loss(coefficients)
    for _ in range(_MAX_STEPS):
        probabilities = expit(margins_of(features, coefficients))
        errors = (compared * (probabilities - wins)).T
        gradients = (errors[:, np.newaxis] @ features)[:, 0] + penalties * coefficients
        curvatures = (compared * probabilities * (1.0 - probabilities)).T
        hessians = features.transpose(0, 2, 1) @ (curvatures[..., np.newaxis] * features)
        hessians += np.diag(penalties)
        steps = np.linalg.solve(hessians, gradients[..., np.newaxis])[..., 0]
        # Halve the steps that do not decrease the loss.
        for _ in range(_MAX_STEPS):
            new = loss(coefficients - steps)
            too_long = new > current
            if not too_long.any():
                break
            steps[too_long] /= 2.0
        coefficients, current = coefficients - steps, np.minimum(new, current)
        if np.abs(steps).max(initial=0.0) < _TOLERANCE:
            break
    return coefficients


def margins_of(features, coefficients):
    """Return the margins, of shape `(n_samples, n_models)`."""
    return (features @ coefficients[..., np.newaxis])[..., 0].T

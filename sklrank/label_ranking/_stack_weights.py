"""How a stack combines the scores of its rankers: a weighted sum, and a correction of pairs."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls
from scipy.special import expit

from sklrank._checks import relative_positions
from sklrank.label_ranking._pairwise import (
    compare_pairs,
    pairs_of_labels,
    sum_votes,
    weights_or_ones,
    win_frequencies,
)


def non_negative_weights(scores, positions, sample_weight=None):
    """Compute the weights of the rankers by non-negative least squares.

    The negative relative positions `(n_samples, n_labels)` are regressed on the scores of held-out
    samples `(n_rankers, n_samples, n_labels)`; both are centered within each sample.

    Return the weights, and the *shares*: the weights times the root mean squares of the centered
    scores, normalized to sum to 1. If the least squares solution is 0, the shares are equal.
    """
    sample_weight = weights_or_ones(sample_weight, len(positions))
    columns, sizes = centered_scores(scores, positions, sample_weight)
    negative = -relative_positions(positions)[np.newaxis]
    [target], _ = centered_scores(negative, positions, sample_weight)
    shares = np.zeros(len(scores))
    if columns.any():
        shares, _ = nnls((columns / sizes[:, np.newaxis]).T, target)
    if not shares.any():
        shares = np.ones(len(scores))
    return shares / sizes, shares / shares.sum()


def centered_scores(scores, positions, sample_weight):
    """Center the scores of each sample over the ranked labels.

    Return the centered scores of all ranked labels of all samples, `(n_rankers, n_ranked)`, times
    the square roots of the weights, whose mean is 1, and their root mean squares, or 1 where that
    is 0 up to rounding, `(n_rankers,)`.
    """
    ranked = ~np.isnan(positions)
    n_ranked = np.maximum(ranked.sum(axis=1, keepdims=True), 1)
    means = np.where(ranked, scores, 0.0).sum(axis=2, keepdims=True) / n_ranked
    roots = np.sqrt(sample_weight / sample_weight.mean())[:, np.newaxis]
    centered = ((scores - means) * roots)[:, ranked]
    sizes = np.sqrt(np.mean(centered**2, axis=1)) if centered.size else np.zeros(len(scores))
    rounding = 1e-13 * np.abs(scores[:, ranked]).max(axis=1, initial=0.0)
    return centered, np.where(sizes > rounding, sizes, 1.0)


class PairCorrection:
    """Logistic regressions, one for each pair of labels, of the order of the labels.

    The features of a pair (a, b) are the standardized scores s_a, s_b and s_a - s_b, their squares
    and products. The model of each pair is that of scikit-learn's `LogisticRegression` with its
    default penalty, fitted by Newton's method in a tenth of the time.
    """

    def fit(self, scores, positions, sample_weight=None):
        """Fit the models to scores and positions, each of shape `(n_samples, n_labels)`."""
        sample_weight = weights_or_ones(sample_weight, len(positions))
        self.pairs = pairs_of_labels(scores.shape[1])
        wins, compared = compare_pairs(positions, self.pairs)
        counts = sample_weight @ wins, sample_weight @ compared
        self.frequencies, in_both_orders = win_frequencies(*counts)
        self.models = {}
        for pair in np.flatnonzero(in_both_orders):
            rows = compared[:, pair]
            raw = self._raw_features(scores[rows], pair)
            weights = sample_weight[rows]
            mean = np.average(raw, axis=0, weights=weights)
            scale = np.sqrt(np.average((raw - mean) ** 2, axis=0, weights=weights))
            scale[scale == 0] = 1.0
            features = with_products((raw - mean) / scale)
            coefficients = fit_logistic(features, wins[rows, pair], weights)
            self.models[pair] = mean, scale, coefficients
        return self

    def votes(self, scores):
        """Return, for each label, the sum of the probabilities to be before another label.

        That of a pair without a model is the frequency of the order in training.
        """
        probabilities = np.tile(self.frequencies, (len(scores), 1))
        for pair, (mean, scale, coefficients) in self.models.items():
            features = with_products((self._raw_features(scores, pair) - mean) / scale)
            # Unlike that of BLAS, the sum for a sample does not depend on the number of samples.
            probabilities[:, pair] = expit(np.einsum("ij,j->i", features, coefficients))
        return sum_votes(probabilities, self.pairs, scores.shape[1])

    def _raw_features(self, scores, pair):
        first, second = scores[:, self.pairs[pair]].T
        return np.column_stack([first, second, first - second])


def with_products(features):
    """Return a constant, three features, their squares and products, of shape `(n_samples, 10)`."""
    first, second = np.triu_indices(3)
    ones = np.ones((len(features), 1))
    return np.hstack([ones, features, features[:, first] * features[:, second]])


def fit_logistic(features, wins, sample_weight):
    """Return the coefficients of a logistic regression, `(n_features,)`, by Newton's method.

    The penalty is half of their squared norm without the first one, the intercept.
    """
    penalties = np.append(1e-8, np.ones(features.shape[1] - 1))
    signs = np.where(wins, 1.0, -1.0)

    def loss(coefficients):
        losses = np.logaddexp(0.0, -signs * (features @ coefficients))
        return sample_weight @ losses + 0.5 * penalties @ coefficients**2

    coefficients = np.zeros(features.shape[1])
    # Five to ten steps are usual. A step below the tolerance changes no probability visibly.
    tolerance = 1e-6
    for _ in range(50):
        probabilities = expit(features @ coefficients)
        errors = sample_weight * (probabilities - wins)
        gradient = features.T @ errors + penalties * coefficients
        curvatures = sample_weight * probabilities * (1.0 - probabilities)
        hessian = (features.T * curvatures) @ features + np.diag(penalties)
        step = np.linalg.solve(hessian, gradient)
        # Halve a step that increases the loss, unless it is rounding.
        while np.abs(step).max() > tolerance and loss(coefficients - step) > loss(coefficients):
            step /= 2.0
        coefficients -= step
        if np.abs(step).max() < tolerance:
            break
    return coefficients

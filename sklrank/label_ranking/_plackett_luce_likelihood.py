r"""Log-likelihood of rankings in the Plackett-Luce model, its gradient, and probabilities.

A label with score :math:`s_l` is chosen next, among the labels that are left, with a probability
proportional to :math:`\exp(s_l)`. The log-likelihood of a ranking is a sum over its labels,

.. math:: \sum_l s_l - \log \sum_{m \in R_l} e^{s_m}.

Without ties, the risk set :math:`R_l` contains the label l and all ranked labels after it. Labels
that are not ranked are in no risk set: the ranking of the other labels then has its marginal
probability. With ties,

- "exclude": the risk set contains the label l and the labels after the tie. A label is not compared
  with the labels that it is tied with;
- "breslow": the risk set contains all tied labels and the labels after them, as in Breslow's
  approximation of Cox's partial likelihood.

All sums are computed from logarithms, so that no difference between scores overflows.
`PenalizedLikelihood` is the likelihood of linear scores as a function of their weights.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils import gen_batches

TIES = ("exclude", "breslow")
# The scaled problem takes some ten to a hundred iterations of L-BFGS.
_MAX_ITER = 1000
# Number of samples whose pairs of labels, or places, are computed at once.
_BLOCK = 1000


class RankingLikelihood:
    """Log-likelihood of given rankings, as a function of the scores of the labels.

    Positions that are NaN mark labels that are not ranked.

    Attributes
    ----------
    order : ndarray of shape (n_samples, n_labels)
        The labels from best to worst. Labels that are not ranked are last.
    ranked : ndarray of bool, shape (n_samples, n_labels)
        Mask of the places in `order` whose labels are ranked.
    starts, ends : ndarray of shape (n_samples, n_labels), or None
        Tied labels are at the places ``starts <= place < ends``. None if there are no ties.
    """

    def __init__(self, positions, ties):
        self.ties = ties
        self.order = np.argsort(positions, axis=1, kind="stable")
        ordered = np.take_along_axis(positions, self.order, axis=1)
        self.ranked = ~np.isnan(ordered)
        tied = ordered[:, 1:] == ordered[:, :-1]
        self.starts = self.ends = None
        if tied.any():
            places = np.arange(positions.shape[1])
            starts_here, ends_here = np.ones((2, *positions.shape), dtype=bool)
            starts_here[:, 1:] = ends_here[:, :-1] = ~tied
            self.starts = np.maximum.accumulate(np.where(starts_here, places, 0), axis=1)
            ends = np.where(ends_here, places + 1, len(places))
            self.ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]

    def log_likelihoods(self, scores):
        """Return the log-likelihood of each ranking, of shape `(n_samples,)`."""
        scores, log_sums = self._log_risk_sums(scores)
        return np.where(self.ranked, scores - log_sums, 0.0).sum(axis=1)

    def with_gradient(self, scores):
        """Return the log-likelihoods `(n_samples,)` and their gradients `(n_samples, n_labels)`."""
        scores, log_sums = self._log_risk_sums(scores)
        values = np.where(self.ranked, scores - log_sums, 0.0).sum(axis=1)
        # Label m is in the risk sets of the labels before it, which are those of the first places.
        inverse = np.where(self.ranked, -log_sums, -np.inf)
        inverse = np.logaddexp.accumulate(inverse, axis=1)
        if self.starts is None:
            expected = np.exp(scores + inverse)
        elif self.ties == "breslow":
            expected = np.exp(scores + np.take_along_axis(inverse, self.ends - 1, axis=1))
        else:
            before = np.take_along_axis(_padded(inverse, left=True), self.starts, axis=1)
            expected = np.exp(scores + before) + np.exp(scores - log_sums)
        gradient = np.empty(scores.shape)
        ordered = np.where(self.ranked, 1.0 - expected, 0.0)
        np.put_along_axis(gradient, self.order, ordered, axis=1)
        return values, gradient

    def _log_risk_sums(self, scores):
        """Return the ordered scores, and the logarithms of the sums over their risk sets.

        Scores of labels that are not ranked are -inf; their sums are 0.
        """
        scores = np.where(self.ranked, np.take_along_axis(scores, self.order, axis=1), -np.inf)
        remaining = np.logaddexp.accumulate(scores[:, ::-1], axis=1)[:, ::-1]
        if self.starts is None:
            log_sums = remaining
        elif self.ties == "breslow":
            log_sums = np.take_along_axis(remaining, self.starts, axis=1)
        else:
            after = np.take_along_axis(_padded(remaining, left=False), self.ends, axis=1)
            log_sums = np.logaddexp(scores, after)
        return scores, np.where(self.ranked, log_sums, 0.0)


def _padded(values, left):
    column = np.full((len(values), 1), -np.inf)
    return np.hstack([column, values] if left else [values, column])


class PenalizedLikelihood:
    """The penalized log-likelihood as a function of the weights, and its maximum.

    The features are centered and rotated to their principal axes. The weights are then scaled by
    the square roots of the approximate second derivatives, so that L-BFGS needs few iterations.

    Positions that are NaN mark labels that are not ranked; `ties` is a rule for tied labels.
    """

    def __init__(self, features, positions, weights, ties):
        self.mean = np.average(features, axis=0, weights=weights)
        centered = features - self.mean
        self.axes = principal_axes(centered * np.sqrt(weights)[:, np.newaxis])
        self.features = centered @ self.axes
        self.positions, self.weights, self.ties = positions, weights, ties
        self.likelihood = RankingLikelihood(positions, ties)

    def part(self, rows):
        """Return the likelihood of some of the samples, with the same axes."""
        part = object.__new__(PenalizedLikelihood)
        vars(part).update(vars(self))
        part.features, part.positions = self.features[rows], self.positions[rows]
        part.weights = self.weights[rows]
        part.likelihood = RankingLikelihood(part.positions, self.ties)
        return part

    def log_likelihood(self, solution):
        """Return the weighted sum of the log-likelihoods, without the penalty."""
        scores = self.features @ solution[:-1] + solution[-1]
        return self.weights @ self.likelihood.log_likelihoods(scores)

    def loss_and_gradient(self, solution, alpha):
        """Return the penalized negative log-likelihood and its gradient.

        The last row of `solution`, of shape `(n_axes + 1, n_labels)`, contains the intercepts.
        """
        scores = self.features @ solution[:-1] + solution[-1]
        values, gradient = self.likelihood.with_gradient(scores)
        gradient *= -self.weights[:, np.newaxis]
        loss = 0.5 * alpha * np.sum(solution[:-1] ** 2) - self.weights @ values
        by_weight = self.features.T @ gradient + alpha * solution[:-1]
        return loss, np.vstack([by_weight, gradient.sum(axis=0)])

    def solve(self, alpha, start=None, *, tol):
        """Minimize the loss from `start`.

        Returns
        -------
        solution : ndarray of shape (n_features + 1, n_labels)
            Weights, and the intercepts in the last row.
        n_iter : int
            Number of iterations.
        stopped : bool
            Whether `_MAX_ITER` iterations were too few.
        """
        shape = self.features.shape[1] + 1, self.positions.shape[1]
        total = max(self.weights.sum(), np.finfo(float).tiny)
        squares = np.append(self.weights @ self.features**2, total)
        penalties = np.append(np.full(shape[0] - 1, alpha), 0.0)
        # The negative log-likelihood of a ranking has a second derivative of about 0.2 by a score.
        scales = 1.0 / np.sqrt(0.2 * squares + penalties)[:, np.newaxis]
        start = np.zeros(shape) if start is None else start / scales

        def objective(scaled):
            loss, gradient = self.loss_and_gradient(scaled.reshape(shape) * scales, alpha)
            return loss, (gradient * scales).ravel()

        found = minimize(
            objective,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            # An iteration evaluates the loss at most 21 times.
            options={
                "gtol": tol,
                "ftol": 1e-14,
                "maxiter": _MAX_ITER,
                "maxfun": 25 * _MAX_ITER,
                "maxcor": 20,
            },
        )
        # The last iteration may have converged.
        stopped = found.status == 1 and np.abs(found.jac).max() > tol
        return found.x.reshape(shape) * scales, found.nit, stopped

    def coefficients(self, solution):
        """Return the weights `(n_labels, n_features)` and intercepts of the given features."""
        solution = solution - solution.mean(axis=1, keepdims=True)
        weights = self.axes @ solution[:-1]
        return weights.T, solution[-1] - self.mean @ weights


def principal_axes(X):
    """Return the eigenvectors of ``X.T @ X`` with positive eigenvalues, one in each column.

    If X has more columns than rows, they are computed from the smaller matrix ``X @ X.T``.
    """
    is_wide = X.shape[1] > X.shape[0]
    squares, vectors = np.linalg.eigh(X @ X.T if is_wide else X.T @ X)
    # Smaller eigenvalues are rounding.
    kept = squares > 1e-12 * max(squares[-1], np.finfo(float).tiny)
    vectors = vectors[:, kept]
    return X.T @ (vectors / np.sqrt(squares[kept])) if is_wide else vectors


# -- Probabilities.


def pair_probabilities(scores):
    """Return the probabilities that one label comes before another, from their scores.

    Entry ``[i, a, b]`` is the logistic function of the score of label a minus that of label b.
    The entries of the diagonal are 1/2.
    """
    return expit(scores[:, :, np.newaxis] - scores[:, np.newaxis, :])


def expected_positions(scores):
    """Return one plus the expected number of labels before each label, from their scores.

    The scores and the result have shape `(n_samples, n_labels)`.
    """
    result = np.empty(scores.shape)
    for block in gen_batches(len(scores), _BLOCK):
        result[block] = 0.5 + pair_probabilities(scores[block]).sum(axis=1)
    return result


def topk_probabilities(scores, k):
    r"""Return the probability of each label to be one of the k best.

    If independent standard Gumbel noise is added to the scores, their order has the distribution of
    the model. Let :math:`x` be the noise of label l. The number of other labels above
    :math:`s_l + x` is then a sum of independent indicators with the probabilities
    :math:`1 - \exp(-e^{s_m - s_l - x})`; its distribution is computed by dynamic programming. The
    integral over x is a trapezoidal sum, whose error decreases exponentially with the step. The
    step is smaller for large k: the number of labels above then decreases from more than k to less
    within about 1 / sqrt(k).

    The scores and the result have shape `(n_samples, n_labels)`. Each row has the sum k.
    """
    n_steps = int(np.ceil(170 * np.sqrt(max(1.0, k / 10))))
    noise, step = np.linspace(-4.5, 38.0, n_steps + 1, retstep=True)
    density = step * np.exp(-noise - np.exp(-noise))
    result = np.empty(scores.shape)
    for block in gen_batches(len(scores), _BLOCK):
        result[block] = _topk_integrals(scores[block], k, noise, density)
    return result


def _topk_integrals(scores, k, noise, density):
    n_labels = scores.shape[1]
    result = np.empty(scores.shape)
    for label in range(n_labels):
        # The axes are samples, numbers of labels above, and nodes.
        counts = np.zeros((len(scores), k, len(noise)))
        counts[:, 0] = 1.0
        for other in range(n_labels):
            if other != label:
                exponent = (scores[:, other] - scores[:, label])[:, np.newaxis] - noise
                above = -np.expm1(-np.exp(np.minimum(exponent, 700.0)))[:, np.newaxis]
                moved = counts[:, :-1] * above
                counts *= 1.0 - above
                counts[:, 1:] += moved
        result[:, label] = counts.sum(axis=1) @ density
    return result

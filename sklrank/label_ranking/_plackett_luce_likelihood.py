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
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

__all__ = ["TIES", "RankingLikelihood", "pair_probabilities", "topk_probabilities"]

TIES = ("exclude", "breslow")


class RankingLikelihood:
    """Log-likelihood of given rankings, as a function of the scores of the labels.

    Parameters
    ----------
    positions : ndarray of shape (n_samples, n_labels)
        Positions of the labels. NaN marks a label that is not ranked.
    ties : {"exclude", "breslow"}
        Rule for tied labels, as described above.

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


def pair_probabilities(scores):
    """Return the probabilities that one label comes before another, from their scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Scores of the labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels, n_labels)
        Entry ``[i, a, b]`` is the logistic function of the score of label a minus that of label b.
        The entries of the diagonal are 1/2.
    """
    return expit(scores[:, :, np.newaxis] - scores[:, np.newaxis, :])


def topk_probabilities(scores, k):
    r"""Return the probability of each label to be one of the k best.

    If independent standard Gumbel noise is added to the scores, their order has the distribution of
    the model. Let :math:`x` be the noise of label l. The number of other labels above
    :math:`s_l + x` is then a sum of independent indicators with the probabilities
    :math:`1 - \exp(-e^{s_m - s_l - x})`; its distribution is computed by dynamic programming. The
    integral over x is a trapezoidal sum, whose error decreases exponentially with the step.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Scores of the labels.
    k : int
        Number of places.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Probabilities. Each row has the sum k.
    """
    noise, step = np.linspace(-4.5, 38.0, 171, retstep=True)
    density = step * np.exp(-noise - np.exp(-noise))
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

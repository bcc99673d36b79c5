r"""Probabilities of the order of two labels, from the difference of their scores.

The data are the pairs of labels that a held-out ranking orders. For each pair, the difference is
the score of the label that comes first minus that of the other label.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils.random import sample_without_replacement

# Number of pairs from which the factor is computed (its standard error is then below a hundredth),
# and number of pairs that are compared at once; both limit the memory.
MAX_PAIRS = BLOCK_SIZE = 1_000_000


def ordered_pairs(positions):
    """Return the pairs of labels that rankings order, or `MAX_PAIRS` of them if there are more.

    The pairs are drawn without replacement, and they are the same in each call.

    Parameters
    ----------
    positions : ndarray of shape (n_samples, n_labels)
        Positions of the labels. NaN marks a label that is not ranked.

    Returns
    -------
    rows, first, second : ndarray of shape (n_pairs,)
        The sample of each pair, the label that comes first and the other label.
    """
    size = max(1, BLOCK_SIZE // positions.shape[1] ** 2)
    blocks = [positions[start : start + size] for start in range(0, len(positions), size)]

    def comparisons(block):
        return block[:, :, np.newaxis] < block[:, np.newaxis, :]

    n_before = np.cumsum([0, *(np.count_nonzero(comparisons(block)) for block in blocks)])
    n_pairs = n_before[-1]
    drawn = np.arange(n_pairs)
    if n_pairs > MAX_PAIRS:
        drawn = np.sort(sample_without_replacement(n_pairs, MAX_PAIRS, random_state=0))
    parts = [np.empty((3, 0), dtype=np.intp)]
    for number, block in enumerate(blocks):
        first, last = np.searchsorted(drawn, n_before[number : number + 2])
        pairs = np.array(np.nonzero(comparisons(block)))[:, drawn[first:last] - n_before[number]]
        pairs[0] += number * size
        parts.append(pairs)
    return tuple(np.hstack(parts))


def ordered_differences(scores, positions):
    """Return the scores of the labels that come first minus those of the other labels.

    Parameters
    ----------
    scores : ndarray of shape (..., n_samples, n_labels)
        Scores of the labels.
    positions : ndarray of shape (n_samples, n_labels)
        Positions of the labels. NaN marks a label that is not ranked.

    Returns
    -------
    ndarray of shape (..., n_pairs)
        The differences for the pairs that `ordered_pairs` returns.
    """
    rows, first, second = ordered_pairs(positions)
    return scores[..., rows, first] - scores[..., rows, second]


def fit_logistic_factor(differences):
    r"""Compute the factor of a score in the logistic model of the order of two labels.

    The probability that the better label of a pair comes first is modeled as
    :math:`1 / (1 + \exp(-w d))`, where d is the difference between its score and that of the other
    label. As in Platt's scaling, the target is (n + 1) / (n + 2) instead of 1 for n pairs, so that
    the factor is finite.

    Parameters
    ----------
    differences : ndarray of shape (n_pairs,)
        Scores of the labels that come first minus those of the other labels.

    Returns
    -------
    float
        Factor of 0 or more. It is 0 if labels with higher scores do not come first more often.
    """
    n_pairs = len(differences)
    size = np.sqrt(np.mean(differences**2)) if n_pairs else 0.0
    if not size:
        return 1.0
    target = (n_pairs + 1.0) / (n_pairs + 2.0)
    differences = differences / size

    def loss(factor):
        margins = factor * differences
        # The cross entropy is log(1 + exp(-m)) + (1 - target) m.
        value = np.logaddexp(0.0, -margins).mean() + (1.0 - target) * margins.mean()
        return value, np.array([differences @ (expit(margins) - target) / n_pairs])

    found = minimize(loss, np.ones(1), jac=True, method="L-BFGS-B", bounds=[(0.0, None)])
    return float(found.x[0] / size)

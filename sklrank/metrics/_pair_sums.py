"""Sums of a cost over the pairs of each row: arrays in, array out.

Each function takes `relevant` (bool) and `scores` (float64), both of shape (n_samples, n_labels),
and returns the sums, of shape (n_samples,). They may overwrite `scores`, and their temporary arrays
are as large as their arguments: call them with :func:`rows_per_block` rows at a time.
"""

import numpy as np

from sklrank.metrics._rows import rows_per_block


def rank_sums(relevant, scores, tie):
    """Pairs in the wrong order, plus `tie` times the pairs of equal scores."""
    order = np.argsort(scores, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    relevant = np.take_along_axis(relevant, order, axis=1)
    # Running maxima carry a count from the first of a group of equal scores to all of it.
    first = np.ones_like(relevant)
    first[:, 1:] = scores[:, 1:] != scores[:, :-1]
    position = np.arange(scores.shape[1])
    lower = np.maximum.accumulate(np.where(first, position, 0), axis=1)
    n_relevant_before = np.cumsum(relevant, axis=1) - relevant
    lower_relevant = np.maximum.accumulate(np.where(first, n_relevant_before, 0), axis=1)
    wrong = np.sum(lower_relevant * ~relevant, axis=1)
    right = np.sum((lower - lower_relevant) * relevant, axis=1)
    n_relevant = relevant.sum(axis=1)
    tied = n_relevant * (relevant.shape[1] - n_relevant) - wrong - right
    return wrong + tie * tied


def hinge_sums(relevant, scores):
    """Sum of ``(1 + s[r] - s[l])_+`` over pairs.

    Lower the relevant scores by 1: a pair then costs the distance from `l` up to `r`, which is the
    sum of the gaps between sorted neighbours on the way. So a gap counts as often as there are
    relevant labels below it times irrelevant ones above: nothing cancels, all terms are >= 0.
    """
    scores -= relevant
    order = np.argsort(scores, axis=1)
    gaps = np.diff(np.take_along_axis(scores, order, axis=1), axis=1)
    relevant = np.take_along_axis(relevant, order, axis=1)
    relevant_below = np.cumsum(relevant, axis=1)[:, :-1]
    irrelevant_above = np.cumsum(~relevant[:, ::-1], axis=1)[:, -2::-1]
    return np.sum(gaps * relevant_below * irrelevant_above, axis=1)


def logistic_sums(relevant, scores):
    """Sum of ``log(1 + exp(s[r] - s[l]))`` over pairs, one relevant label against all the row."""
    n_samples, n_labels = relevant.shape
    # A pair costs the same when scores change sign and the two sides trade places: loop over the
    # smaller side.
    flip = 2 * relevant.sum(axis=1) > n_labels
    relevant = relevant ^ flip[:, None]
    scores[flip] *= -1
    sums = np.zeros(n_samples)
    row, label = np.nonzero(relevant)
    step = rows_per_block(n_labels)
    for start in range(0, len(row), step):
        i, j = row[start : start + step], label[start : start + step]
        costs = np.logaddexp(0, scores[i] - scores[i, j, None])
        costs[relevant[i]] = 0
        sums += np.bincount(i, weights=costs.sum(axis=1), minlength=n_samples)
    return sums

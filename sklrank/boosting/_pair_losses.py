r"""Exponential losses of scores on ordered pairs of documents.

A loss is a sum over ordered pairs of documents of a query,

.. math:: \sum_{i,j} V_{ij} \exp(F_j - F_i),

in which :math:`V_{ij}` is the confidence that i ranks before j (i and j may be the same document).
The losses differ in V, and none of them stores the matrix of pairs. Equations refer to Valizadegan
(2010), chapter 4. Each loss has the methods

- ``loss_and_negative_gradient(exp_pos, exp_neg)``: given :math:`e^F` and :math:`e^{-F}`,
  `(n_samples,)` each, return the loss and its negative gradient, which is
  :math:`\sum_j \gamma_{ij} - \gamma_{ji}` at document i, where :math:`\gamma_{ij}` is the term of
  the pair (i, j);
- ``step_weights(exp_pos, exp_neg, hypothesis)``: return the sum of the terms of the pairs that a
  hypothesis ranks correctly (it raises the first document and not the second) and the sum of the
  terms of the pairs that it ranks incorrectly.

A hypothesis :math:`h` may lie between 0 and 1. Then document i is raised with probability
:math:`h_i`, independently of the others, and the step weights are expected values, the sums of
:math:`\gamma_{ij} h_i (1 - h_j)` and of :math:`\gamma_{ij} (1 - h_i) h_j`. The bound of
`_boosters/rounds.py` holds for them by Jensen's inequality, as the exponential is convex.
"""

import numpy as np

from sklrank._boosters import MAX_SCORE_GAP, exp_scores
from sklrank.boosting._refinement import pairs as _refinement_pairs

# Losses of pairs are sums of products of two exponentials. These sums are squared or multiplied.
MAX_PAIR_SCORE_GAP = MAX_SCORE_GAP / 2


def weighted_exp(scores, target):
    """Return e^F and e^-F of scores F times weights, which give each pair its weight.

    It is the product of the weights of the documents of the pair and of that of their query.
    """
    exp_pos = exp_scores(scores, target.queries, MAX_PAIR_SCORE_GAP)
    return exp_pos * target.all_weights, 1 / exp_pos * target.weights


class GradedPairLoss:
    """Loss with V_ij = 1 if i has a higher grade than j, and 0 otherwise.

    Documents with grade NaN belong to no pair.
    """

    def __init__(self, grades, queries):
        self.grades = grades
        judged = np.flatnonzero(~np.isnan(grades))
        self._order = order = judged[np.lexsort((grades[judged], queries.codes[judged]))]
        codes, grades = queries.codes[order], grades[order]
        new_query = np.diff(codes, prepend=-1) > 0
        new_grade = new_query.copy()
        new_grade[1:] |= grades[1:] > grades[:-1]
        self._grades = np.append(np.flatnonzero(new_grade), len(order))
        self._queries = np.append(np.flatnonzero(new_query[new_grade]), len(self._grades) - 1)
        self.is_empty = len(self._queries) == len(self._grades)

    def loss_and_negative_gradient(self, exp_pos, exp_neg):
        order, ordered = self._order, np.empty(len(self._order))
        loss = _refinement_pairs.graded_loss_and_negative_gradient(
            exp_pos[order], exp_neg[order], self._grades, self._queries, ordered
        )
        negative_gradient = np.zeros(len(exp_pos))
        negative_gradient[order] = ordered
        return loss, negative_gradient

    def step_weights(self, exp_pos, exp_neg, hypothesis):
        order = self._order
        return _refinement_pairs.graded_step_weights(
            exp_pos[order], exp_neg[order], self._grades, self._queries, hypothesis[order]
        )


class ExplicitPairLoss:
    """Loss with V_ij = 1 for the given pairs, and 0 for others; see `check_pairs`."""

    is_empty = False

    def __init__(self, pairs, queries):
        self._first, self._second = check_pairs(pairs, queries).T

    def loss_and_negative_gradient(self, exp_pos, exp_neg):
        costs = exp_pos[self._second] * exp_neg[self._first]
        negative_gradient = np.bincount(self._first, costs, len(exp_pos))
        negative_gradient -= np.bincount(self._second, costs, len(exp_pos))
        return costs.sum(), negative_gradient

    def step_weights(self, exp_pos, exp_neg, hypothesis):
        costs = exp_pos[self._second] * exp_neg[self._first]
        first, second = hypothesis[self._first], hypothesis[self._second]
        return costs @ (first * (1 - second)), costs @ ((1 - first) * second)


def check_pairs(pairs, queries):
    """Check pairs of samples, the better document first; return them without duplicates."""
    try:
        pairs = np.asarray(pairs)
    except ValueError as error:
        raise ValueError(f"pairs must hold two indices of samples in each row: {error}") from error
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise ValueError(
            "pairs must hold two indices of samples in each row, the better document first, as "
            f"integers of shape (n_pairs, 2); got {pairs.dtype} of shape {pairs.shape}"
        )
    n_samples = len(queries.codes)
    outside = (pairs < 0) | (pairs >= n_samples)
    if outside.any():
        raise ValueError(
            f"pairs must hold indices of samples, from 0 to {n_samples - 1}; got "
            f"{pairs[outside][0]}"
        )
    bad = (pairs[:, 0] == pairs[:, 1]) | (np.diff(queries.codes[pairs])[:, 0] != 0)
    if bad.any():
        raise ValueError(
            "pairs must be of two documents of one query, with the same qid; leave out pairs such "
            f"as {pairs[bad][0].tolist()}"
        )
    return np.unique(pairs, axis=0).astype(np.intp)


class AllPairLoss:
    """Loss with V_ij = 1 for all pairs of documents of a query, including i = j.

    The documents may have weights, by which e^F and e^-F are multiplied; see `weighted_exp`.
    """

    def __init__(self, queries):
        self._queries = queries

    def loss_and_negative_gradient(self, exp_pos, exp_neg):
        codes = self._queries.codes
        sums_pos, sums_neg = self._sums(exp_pos), self._sums(exp_neg)
        negative_gradient = exp_neg * sums_pos[codes] - exp_pos * sums_neg[codes]
        return sums_pos @ sums_neg, negative_gradient

    def step_weights(self, exp_pos, exp_neg, hypothesis):
        raised, kept = hypothesis, 1.0 - hypothesis
        correct = self._sums(exp_neg * raised) @ self._sums(exp_pos * kept)
        incorrect = self._sums(exp_neg * kept) @ self._sums(exp_pos * raised)
        # Exclude the pair of each document with itself.
        own = (exp_neg * raised) @ (exp_pos * kept)
        return correct - own, incorrect - own

    def _sums(self, values):
        """Return the sum of each query."""
        return np.bincount(self._queries.codes, values)


class BaseRankerLoss:
    """Loss of the scores of a base ranker (err_w, Equation 4.6), with V = W of Equation 4.1.

    The confidence of each query is lambda, from 0 to infinity (Equation 4.2). The time of the
    methods is proportional to the number of pairs of documents of the same query, that of the other
    losses to the number of documents.
    """

    def __init__(self, scores, confidence, queries):
        self._order = np.lexsort((-scores, queries.codes))
        self._starts = queries.starts
        # Halve the scores so that their differences cannot overflow.
        gaps = -np.diff(scores[self._order] / 2, prepend=np.inf)
        gaps[queries.starts[:-1]] = 0.0
        rates = np.repeat(confidence, queries.sizes)
        # Equal scores are a tie even with infinite confidence.
        with np.errstate(invalid="ignore", over="ignore"):
            self._ratios = np.where(gaps == 0, 1.0, np.exp(-2 * rates * gaps))

    def loss_and_negative_gradient(self, exp_pos, exp_neg):
        order, ordered = self._order, np.empty(len(self._order))
        loss = _refinement_pairs.base_loss_and_negative_gradient(
            exp_pos[order], exp_neg[order], self._ratios, self._starts, ordered
        )
        negative_gradient = np.empty_like(ordered)
        negative_gradient[order] = ordered
        return loss, negative_gradient

    def step_weights(self, exp_pos, exp_neg, hypothesis):
        order = self._order
        return _refinement_pairs.base_step_weights(
            exp_pos[order], exp_neg[order], self._ratios, self._starts, hypothesis[order]
        )


class JudgementLoss:
    """Loss of judgements that may be wrong (err_t, Equation 4.7), with V = T of Equation 4.3.

    `judgements` is the loss over the set O of judged pairs. The noise is eta, from 0 (all of them
    are right) to 1 (they carry no information).
    """

    def __init__(self, judgements, noise, queries):
        self._judgements, self._all_pairs = judgements, AllPairLoss(queries)
        self._judged_factor, self._all_factor = 1 - noise, noise / 2

    def loss_and_negative_gradient(self, exp_pos, exp_neg):
        a, b = self._judged_factor, self._all_factor
        loss, negative_gradient = self._judgements.loss_and_negative_gradient(exp_pos, exp_neg)
        all_loss, all_gradient = self._all_pairs.loss_and_negative_gradient(exp_pos, exp_neg)
        return a * loss + b * all_loss, a * negative_gradient + b * all_gradient

    def step_weights(self, exp_pos, exp_neg, hypothesis):
        a, b = self._judged_factor, self._all_factor
        correct, incorrect = self._judgements.step_weights(exp_pos, exp_neg, hypothesis)
        all_correct, all_incorrect = self._all_pairs.step_weights(exp_pos, exp_neg, hypothesis)
        return a * correct + b * all_correct, a * incorrect + b * all_incorrect

r"""Orders of documents as errors of their scores: of graded and of paired ones, and of any.

An error is a sum over ordered pairs of documents of a query,

.. math:: \sum_{i,j} V_{ij} \exp(F_j - F_i),

where :math:`V_{ij}` tells how surely i comes before j (i and j may be one document). An order is
one such V; it keeps no matrix of pairs. All orders, those of `_refinement_errors.py` too, give

- ``demand(lifts, drops)``: the error at :math:`e^F` and :math:`e^{-F}`, `(n_samples,)` each, and
  for each row :math:`\sum_j \gamma_{ij} - \gamma_{ji}` of the terms :math:`\gamma` of the sum,
- ``masses(lifts, drops, hypothesis)``: of the terms where one row rises and the other does not, the
  sum of those whose first row rises, and the sum of the others.

A hypothesis :math:`h` may lie between 0 and 1: row i rises with the chance :math:`h_i`, each by
itself, and the masses are expected ones, sums of :math:`\gamma_{ij} h_i (1 - h_j)` and of
:math:`\gamma_{ij} (1 - h_i) h_j`. The bound of `_objective.py` holds for them: the exponential is
convex, and the mean of a function of what rises is no less than its value at h.
"""

import numpy as np

from sklrank.boosting import _refinement_pairs

__all__ = ["AllPairLoss", "ExplicitPairLoss", "GradedPairLoss"]


class GradedPairLoss:
    """Rows of higher grade before those of lower grade: V = 1 for these pairs, 0 for others.

    Parameters
    ----------
    grades : ndarray of shape (n_samples,)
        Graded relevance; NaN for rows that are in no pair.
    queries : Queries
        Which rows are compared with each other.
    """

    def __init__(self, grades, queries):
        judged = np.flatnonzero(~np.isnan(grades))
        self._order = order = judged[np.lexsort((grades[judged], queries.codes[judged]))]
        codes, grades = queries.codes[order], grades[order]
        new_query = np.diff(codes, prepend=-1) > 0
        new_grade = new_query.copy()
        new_grade[1:] |= grades[1:] > grades[:-1]
        self._grades = np.append(np.flatnonzero(new_grade), len(order))
        self._queries = np.append(np.flatnonzero(new_query[new_grade]), len(self._grades) - 1)
        self.is_empty = len(self._queries) == len(self._grades)

    def demand(self, lifts, drops):
        order, of_order = self._order, np.empty(len(self._order))
        error = _refinement_pairs.grade_demand(
            lifts[order], drops[order], self._grades, self._queries, of_order
        )
        demand = np.zeros(len(lifts))
        demand[order] = of_order
        return error, demand

    def masses(self, lifts, drops, hypothesis):
        order = self._order
        return _refinement_pairs.grade_masses(
            lifts[order], drops[order], self._grades, self._queries, hypothesis[order]
        )


class ExplicitPairLoss:
    """The first row of each pair before the second: V = 1 for these pairs, 0 for others.

    Parameters
    ----------
    pairs : ndarray of int of shape (n_pairs, 2)
        Row numbers, no pair twice.
    """

    def __init__(self, pairs):
        self._first, self._second = pairs.T
        self.is_empty = len(pairs) == 0

    def demand(self, lifts, drops):
        costs = lifts[self._second] * drops[self._first]
        demand = np.bincount(self._first, costs, len(lifts))
        demand -= np.bincount(self._second, costs, len(lifts))
        return costs.sum(), demand

    def masses(self, lifts, drops, hypothesis):
        costs = lifts[self._second] * drops[self._first]
        first, second = hypothesis[self._first], hypothesis[self._second]
        return costs @ (first * (1 - second)), costs @ ((1 - first) * second)


class AllPairLoss:
    """Nothing is known: V = 1 for all pairs of a query, a row and itself included.

    Parameters
    ----------
    queries : Queries
        Which rows are compared with each other.
    """

    def __init__(self, queries):
        self._queries = queries

    def demand(self, lifts, drops):
        codes = self._queries.codes
        sum_lifts, sum_drops = self._sums(lifts), self._sums(drops)
        return sum_lifts @ sum_drops, drops * sum_lifts[codes] - lifts * sum_drops[codes]

    def masses(self, lifts, drops, hypothesis):
        rises, stays = hypothesis, 1.0 - hypothesis
        won = self._sums(drops * rises) @ self._sums(lifts * stays)
        lost = self._sums(drops * stays) @ self._sums(lifts * rises)
        # A row does not rise above itself.
        alone = (drops * rises) @ (lifts * stays)
        return won - alone, lost - alone

    def _sums(self, values):
        """Of each query."""
        return np.bincount(self._queries.codes, values)

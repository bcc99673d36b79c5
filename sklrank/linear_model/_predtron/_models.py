"""Kernel model of Predtrons: dual coefficients of support vectors."""

from copy import copy

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import gen_batches

from sklrank._checks import as_numbers
from sklrank._compiled import Rows
from sklrank._online import to_dense
from sklrank.linear_model._mirror._maps import EuclideanMap
from sklrank.linear_model._predtron._rounds import (
    KernelRows,
    PredtronRounds,
    linear_scores,
    make_sums,
)


class KernelModel:
    """Dual coefficients of the support vectors, in the order of their first steps.

    It has the methods of `LinearModel`, which states what they do. The square of the `constant` is
    added to the kernel values, which has the effect of an intercept.
    """

    # Maximum number of rows of a batch. Their kernel values with all support vectors are held in
    # memory. Batches are not divided by time: kernel values of fewer rows may be rounded otherwise.
    max_rows = 200
    calls = staticmethod(iter)
    may_fail = True  # The kernel may be a user's function.
    _merge_rules = None

    def __init__(self, n_scores, kernel, constant, learning_rate, average):
        self.kernel = kernel
        self.constant = constant
        coefs = EuclideanMap(n_scores, 0)
        sums = make_sums(coefs) if average else None
        self.rounds = PredtronRounds(coefs, learning_rate, sums)
        self.points = None
        # Rows of X of the current call that are the points, or -1 for points of earlier calls.
        self.rows_of_points = np.zeros(0, dtype=np.intp)

    def copy(self):
        # The copy shares the arrays, which are replaced and not changed in place.
        model = copy(self)
        model.rounds = copy(self.rounds)
        return model

    def play(self, X, rows, starts, task, scores=None):
        chosen, X = np.arange(X.shape[0])[rows], X[rows]
        points = _stack(self.points, X)
        rows_of_points = np.append(self.rows_of_points, chosen)
        # A row may be a support vector since an earlier pass, and then it is two points.
        known, first = np.unique(rows_of_points, return_index=True)
        own_point = first[np.searchsorted(known, chosen)]
        values = self._kernel_values(X, points)
        kernel_rows = KernelRows(values, own_point, len(self.rows_of_points))
        self.rounds.set_width(len(rows_of_points))
        self.rounds.play(kernel_rows, starts, task, scores)
        supports = kernel_rows.supports
        self.rounds.set_width(len(supports))
        self.points, self.rows_of_points = points[supports], rows_of_points[supports]

    def finish(self):
        # Later calls have other rows.
        self.rows_of_points = np.full_like(self.rows_of_points, -1)

    def _kernel_values(self, X, points):
        """Return the kernel values of the rows and the points, plus that of their constants."""
        # Values that overflow are rejected below, with an error message that names the kernel.
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(self.kernel, str):
                values = pairwise_kernels(X, points, metric=self.kernel)
            else:
                values = self.kernel(X, points)
        values, shape = as_numbers(to_dense(values), "kernel"), (X.shape[0], points.shape[0])
        if values.shape != shape:
            raise ValueError(
                f"kernel must return values of the shape {shape}, for each row of its first "
                f"argument and each of its second; got the shape {values.shape}"
            )
        if not np.isfinite(values).all():
            raise ValueError(
                "kernel has values that are NaN or infinity: scale the features, or choose another "
                "one"
            )
        return np.ascontiguousarray(values, dtype=np.float64) + self.constant**2

    def score(self, X):
        weights = self.rounds.weights
        if not weights.shape[1]:
            return np.zeros((X.shape[0], len(weights)))
        scores = [
            linear_scores(weights, Rows(self._kernel_values(X[batch], self.points), 0.0))
            for batch in gen_batches(X.shape[0], self.max_rows)
        ]
        return np.concatenate(scores)


def _stack(points, X):
    if points is None:
        return X
    if sparse.issparse(points) or sparse.issparse(X):
        return sparse.vstack([points, X], "csr")
    return np.concatenate([points, X])

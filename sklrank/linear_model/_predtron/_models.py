"""Models of Predtrons: weights of the features, or dual coefficients of support vectors.

A model plays rounds, which means that it predicts and learns, and scores samples. A round uses one
row of X. If `starts` are given, round i uses the rows of a query instead, which are the rows
`starts[i]:starts[i + 1]` of `rows`: ::

    model.play(X, rows, starts, task, scores)       # rows: a slice or indices of X
"""

from copy import copy, deepcopy
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import gen_batches

from sklrank._base_online import BATCH, timed_slices, to_dense
from sklrank._rows import Rows
from sklrank._validation import as_numbers
from sklrank.linear_model._mirror._maps import EuclideanMap
from sklrank.linear_model._predtron._rounds import (
    EuclideanSums,
    KernelRows,
    PredtronRounds,
    linear_scores,
    make_sums,
)


class LinearModel:
    """Linear model: weights of the features, which a mirror map computes.

    Parameters
    ----------
    mirror_map : MirrorMap
        Map from dual weights to weights.
    constant : float
        Value of the constant feature, whose weight is the intercept. If 0, there is no intercept.
    learning_rate : float
        Learning rate that multiplies each step.
    average : bool
        Whether samples are scored with the mean of the weights over the rounds.
    """

    max_rows = BATCH  # maximum number of rows of a batch
    calls = staticmethod(timed_slices)  # divides batches into compiled calls
    may_fail = False  # True if a compiled call may fail after its first round
    _merge_rules: ClassVar[dict] = {}

    def __init__(self, mirror_map, constant, learning_rate, average):
        sums = make_sums(mirror_map) if average else None
        self.constant = constant
        self.rounds = PredtronRounds(mirror_map, learning_rate, sums)

    @property
    def n_scores(self):
        """Number of scores of a sample."""
        return self.rounds.mirror_map.n_classes

    def copy(self):
        """Return a copy."""
        return deepcopy(self)

    def play(self, X, rows, starts, task, scores=None):
        """Play rounds on rows of X, and write the scores before each round into `scores`."""
        _play_rounds(self.rounds, Rows(X[rows], self.constant), starts, task, scores)

    def finish(self):
        """End a call of a training method."""

    @property
    def weights(self):
        """Weights `(n_scores, width)` of the features and of the constant feature, if any."""
        rounds = self.rounds
        if rounds.sums is None:
            return rounds.mirror_map.weights
        return rounds.sums.mean(rounds.mirror_map, rounds.n_rounds)

    def score(self, X):
        """Return the scores `(n_samples, n_scores)`."""
        rows = Rows(X, self.constant)
        if self.rounds.sums is None:
            return self.rounds.score(rows)
        return linear_scores(self.weights, rows)


class KernelModel:
    """Kernel model: dual coefficients of the support vectors, in the order of their first steps.

    Parameters
    ----------
    n_scores : int
        Number of scores of a sample.
    kernel : str or callable
        Name of a kernel of scikit-learn, or a function that returns the kernel values `(n, m)` of
        two sets of points.
    constant : float
        Number whose square is added to the kernel values, which has the effect of an intercept.
    learning_rate, average : float and bool
        See `LinearModel`.
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
        """Return a copy, which shares the arrays: they are replaced and not changed in place."""
        model = copy(self)
        model.rounds = copy(self.rounds)
        return model

    def play(self, X, rows, starts, task, scores=None):
        """Play rounds on rows of X, and write the scores before each round into `scores`."""
        chosen, X = np.arange(X.shape[0])[rows], X[rows]
        points = _stack(self.points, X)
        rows_of_points = np.append(self.rows_of_points, chosen)
        # A row may be a support vector since an earlier pass, and then it is two points.
        known, first = np.unique(rows_of_points, return_index=True)
        own_point = first[np.searchsorted(known, chosen)]
        values = self._kernel_values(X, points)
        kernel_rows = KernelRows(values, own_point, len(self.rows_of_points))
        self._set_width(len(rows_of_points))
        _play_rounds(self.rounds, kernel_rows, starts, task, scores)
        supports = kernel_rows.supports
        self._set_width(len(supports))
        self.points, self.rows_of_points = points[supports], rows_of_points[supports]

    def finish(self):
        """End a call of a training method: later calls have other rows."""
        self.rows_of_points = np.full_like(self.rows_of_points, -1)

    def _set_width(self, n_points):
        """Keep the coefficients of the first points, or add points with coefficients of 0."""
        rounds = self.rounds
        padding = ((0, 0), (0, max(0, n_points - rounds.mirror_map.width)))
        coefs = np.pad(rounds.mirror_map.dual_weights, padding)[:, :n_points]
        sums = rounds.sums
        if sums is not None:
            sums = EuclideanSums.of(np.pad(sums.values, padding)[:, :n_points])
        rounds.set_weights(EuclideanMap.of(coefs), sums)

    def _kernel_values(self, X, points):
        values = _checked_kernel(self.kernel, X, points)
        return np.ascontiguousarray(values, dtype=np.float64) + self.constant**2

    n_scores = LinearModel.n_scores
    weights = LinearModel.weights  # dual coefficients `(n_scores, n_supports)`

    def score(self, X):
        """Return the scores `(n_samples, n_scores)`."""
        weights = self.weights
        if not weights.shape[1]:
            return np.zeros((X.shape[0], len(weights)))
        scores = [
            linear_scores(weights, Rows(self._kernel_values(X[batch], self.points), 0.0))
            for batch in gen_batches(X.shape[0], self.max_rows)
        ]
        return np.concatenate(scores)


def _checked_kernel(kernel, A, B):
    """Return the kernel values of the rows of `A` and `B`, `(n_rows_a, n_rows_b)`."""
    # Values that overflow are rejected below, with an error message that names the kernel.
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(kernel, str):
            values = pairwise_kernels(A, B, metric=kernel)
        else:
            values = kernel(A, B)
    values = as_numbers(to_dense(values), "kernel")
    if values.shape != (A.shape[0], B.shape[0]):
        raise ValueError(
            f"kernel must return values of the shape {(A.shape[0], B.shape[0])}, for each row of "
            f"its first argument and each of its second; got the shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(
            "kernel has values that are NaN or infinity: scale the features, or choose another one"
        )
    return values


def _play_rounds(rounds, rows, starts, task, scores):
    if starts is None:
        rounds.play_rows(rows, task, scores)
    else:
        rounds.play_queries(rows, starts, task)


def _stack(points, X):
    if points is None:
        return X
    if sparse.issparse(points) or sparse.issparse(X):
        return sparse.vstack([points, X], "csr")
    return np.concatenate([points, X])

"""What a Predtron learns with: weights of the features, or dual coefficients under a kernel.

Both machines play rounds and score rows. A round is a row, or where `starts` are given the rows of
a query, which then stand together: ::

    with machine.transaction(X) as play:
        play(rows, task, starts, bounds, scores, forecasts)  # rows: a slice or row numbers of X
"""

from contextlib import contextmanager
from copy import copy
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from sklrank.linear_model._mirror._custom import CustomMap
from sklrank.linear_model._mirror._maps import EuclideanMap
from sklrank.linear_model._predtron._kernel_rows import KernelRows
from sklrank.linear_model._predtron._rounds import EuclideanSums, PredtronRounds, make_sums
from sklrank.linear_model._rows import Rows

__all__ = ["KernelModel", "LinearModel"]


class LinearModel:
    """Weights of the features, by a mirror map.

    Parameters
    ----------
    mirror_map : MirrorMap
        Makes weights of the dual weights.
    constant : float
        Value of one more feature, for the intercept; 0: there is none.
    learning_rate : float
        NaN: that of the theorems.
    average : bool
        Whether rows are scored by the mean of the weights over the rounds.
    """

    # Rows of a compiled call: Ctrl-C is noticed only between calls.
    most_rows = 10_000
    is_precomputed = False

    def __init__(self, mirror_map, constant, learning_rate, average):
        convexity = getattr(mirror_map, "convexity", None) or np.nan
        sums = make_sums(mirror_map) if average else None
        self.constant = constant
        self.rounds = PredtronRounds(mirror_map, learning_rate, convexity, sums)

    @contextmanager
    def transaction(self, X):
        """Within the context, play rounds of these rows.

        A user's map may fail in any round: then the machine is what it was before the first one.
        """
        rounds, before = self.rounds, []
        if isinstance(rounds.mirror_map, CustomMap):
            parts = [rounds, rounds.mirror_map, rounds.sums]
            # States, not copies: copying a CustomMap calls the user's function.
            before = [(part, part.__reduce__()[2]) for part in parts if part is not None]
        try:
            yield partial(self._play, X)
        except BaseException:
            for part, state in before:
                part.__setstate__(state)
            raise

    def _play(self, X, rows, task, starts=None, bounds=None, *written):
        _play_rounds(self.rounds, Rows(X[rows], self.constant), task, starts, bounds, *written)

    def radii(self, X, rows, starts=None):
        """How far a step of each round reaches, `(n_rounds,)`: R of the theorems is the largest."""
        X, mirror_map = X[rows], self.rounds.mirror_map
        if starts is None:
            return mirror_map.radii(X, self.constant)
        queries = [X[first:last] for first, last in zip(starts[:-1], starts[1:])]
        if type(mirror_map) is EuclideanMap:
            return np.sqrt([_largest_eigenvalue(_smaller_gram(query)) for query in queries])
        norm = sparse.linalg.norm if sparse.issparse(X) else np.linalg.norm
        columns = np.array([norm(query, axis=0) for query in queries])
        return mirror_map.radii(columns, self.constant)

    @property
    def weights(self):
        """Weights `(n_scores, width)`: of the features, and of the constant where there is one."""
        return _weights(self.rounds)

    def score(self, X):
        """Scores `(n_samples, n_scores)`."""
        rows = Rows(X, self.constant)
        if self.rounds.sums is None:
            return self.rounds.score(rows)
        return _rounds_of(self.weights).score(rows)


class KernelModel:
    """Dual coefficients of the points learnt from: those of which there is one, support vectors.

    Parameters
    ----------
    n_scores : int
        Scores of a row.
    kernel : callable or None
        Makes the kernel values `(n, m)` of two sets of points. None: rows hold those of the points
        that were learnt from.
    constant : float
        Its square is added to the kernel: that is the intercept.
    learning_rate : float
        As above.
    average : bool
        Whether rows are scored by the mean of the coefficients over the rounds.
    budget : int
        Most support vectors, 0 for any number.
    """

    # Rows of a compiled call, whose kernel values with all support vectors are held.
    most_rows = 200

    def __init__(self, n_scores, kernel, constant, learning_rate, average, budget):
        self.kernel = kernel
        self.constant = constant
        self.average = average
        self.budget = budget
        self.rounds = PredtronRounds(EuclideanMap(n_scores, 0), learning_rate, 1.0)
        self.points = None  # rows; under a precomputed kernel their numbers
        self.coefs = np.zeros((n_scores, 0))
        self.sums = np.zeros((n_scores, 0))
        self.born = np.zeros(0, dtype=np.intp)  # when each point got a coefficient, see KernelRows
        self.n_born = 0

    @contextmanager
    def transaction(self, X):
        """Within the context, play rounds of these rows; support vectors are what stays.

        A kernel may fail in any round: then the machine is what it was before the first one.
        """
        # References are enough: arrays from before the context are replaced, not written to.
        before = vars(self) | {"rounds": copy(self.rounds)}
        known = np.arange(len(self.born))
        self._take(known, X)
        try:
            yield partial(self._play, X, len(known))
        except BaseException:
            vars(self).update(before)
            raise
        self._take(np.flatnonzero(self.born))

    @property
    def is_precomputed(self):
        """Whether rows hold their kernel values with the points that were learnt from."""
        return self.kernel is None

    def _take(self, kept, X=None):
        """Keep some points, and take up new ones without coefficients."""
        n_new = 0 if X is None else X.shape[0]
        if self.is_precomputed:
            X = np.arange(n_new)
        if self.points is None:
            self.points = X
        else:
            self.points = self.points[kept] if X is None else _stack(self.points[kept], X)
        grown = ((0, 0), (0, n_new))
        self.coefs = np.pad(self.coefs[:, kept], grown)
        self.sums = np.pad(self.sums[:, kept], grown)
        self.born = np.pad(self.born[kept], grown[1])

    def _play(self, X, offset, rows, task, starts=None, bounds=None, *written):
        own = offset + np.arange(X.shape[0])[rows]
        # These are all the points that have a coefficient or may get one.
        live = np.union1d(np.flatnonzero(self.born), own)
        values = self._kernel_values(X[rows], live)
        places = np.searchsorted(live, own).astype(np.intc)
        born = self.born[live]
        kernel_rows = KernelRows(values, places, born, self.n_born, self.budget)
        self.rounds.mirror_map = EuclideanMap.of(self.coefs[:, live])
        self.rounds.sums = EuclideanSums.of(self.sums[:, live]) if self.average else None
        _play_rounds(self.rounds, kernel_rows, task, starts, bounds, *written)
        self.coefs[:, live] = self.rounds.mirror_map.dual_weights
        if self.average:
            self.sums[:, live] = self.rounds.sums.values
        self.born[live] = born
        self.n_born = kernel_rows.n_born

    def _kernel_values(self, X, points):
        points = self.points[points]
        return self._finished(X[:, points] if self.is_precomputed else self.kernel(X, points))

    def radii(self, X, rows, starts=None):
        """As of a linear machine, in the space of the kernel."""
        gram = self._gram(X, np.arange(X.shape[0])[rows])
        if starts is None:
            return np.sqrt(np.maximum(np.diagonal(gram), 0.0))
        queries = [slice(first, last) for first, last in zip(starts[:-1], starts[1:])]
        return np.sqrt([_largest_eigenvalue(gram[query, query]) for query in queries])

    def _gram(self, X, rows):
        X = X[rows]
        return self._finished(X[:, rows] if self.is_precomputed else self.kernel(X, X))

    def _finished(self, values):
        """Kernel values as an array, with what the intercept adds."""
        values = values.toarray() if sparse.issparse(values) else values
        return np.ascontiguousarray(values, dtype=np.float64) + self.constant**2

    @property
    def weights(self):
        """Dual coefficients `(n_scores, n_supports)`."""
        if not self.average:
            return self.coefs
        return EuclideanSums.of(self.sums).mean(EuclideanMap.of(self.coefs), self.rounds.n_rounds)

    def score(self, X):
        """Scores `(n_samples, n_scores)`."""
        if not len(self.born):
            return np.zeros((X.shape[0], len(self.coefs)))
        rounds = _rounds_of(self.weights)
        supports = np.arange(len(self.born))
        scores = [
            rounds.score(Rows(self._kernel_values(X[batch], supports), 0.0))
            for batch in gen_batches(X.shape[0], self.most_rows)
        ]
        return np.concatenate(scores)


def _play_rounds(rounds, rows, task, starts, bounds, *written):
    if starts is None:
        rounds.play_rows(rows, task, bounds, *written)
    else:
        rounds.play_queries(rows, starts, task, bounds)


def _weights(rounds):
    if rounds.sums is None:
        return rounds.mirror_map.weights
    return rounds.sums.mean(rounds.mirror_map, rounds.n_rounds)


def _rounds_of(weights):
    return PredtronRounds(EuclideanMap.of(weights))


def _stack(points, X):
    if sparse.issparse(points) or sparse.issparse(X):
        return sparse.vstack([points, X], "csr")
    return np.concatenate([points, X])


def _smaller_gram(X):
    # Both products have the same eigenvalues, apart from zeros.
    return X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X


def _largest_eigenvalue(gram):
    gram = gram.toarray() if sparse.issparse(gram) else gram
    return max(np.linalg.eigvalsh(gram)[-1], 0.0)

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The core of online mirror descent for linear scores: dual weights, a mirror map, rank-one steps.

Each class k has dual weights Theta_k, one for each feature. A potential Phi* makes weights of them,
W_k = grad Phi(Theta_k), and a row x has the scores W x. To learn is to add a multiple of the row to
the dual weights of some classes, Theta_k += size x; the map says what becomes of W:

    Euclidean   W = Theta
    positive    W = Theta, where every step ends with the projection Theta = max(Theta, 0)
    entropic    W_kj = exp(Theta_kj) / sum_i exp(Theta_ki), a distribution over the features

(Valizadegan 2010, Algorithm 8 and Section 5.4; Algorithm 9 for the last one, whose start 1/d and
ours, 0, are the same uniform weights.)
"""

from libc.math cimport exp

import numpy as np

from sklrank.linear_model._rows cimport add_row, table_products


cdef class MirrorMap:
    """A subclass that is not Euclidean says what its weights are, how it scores and steps."""

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        self.n_classes = n_classes
        self.width = width
        self.duals = np.zeros((n_classes, width))

    @property
    def dual_weights(self):
        """A copy of the dual weights, `(n_classes, width)`."""
        return np.array(self.duals)

    @property
    def weights(self):
        """A copy of the weights, `(n_classes, width)`."""
        return np.array(self.duals)

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        table_products(&self.duals[0, 0], self.n_classes, self.width, row, scores)

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        add_row(&self.duals[k, 0], size, row)

    def __reduce__(self):
        return type(self), (self.n_classes, self.width), (self.dual_weights,)

    def __setstate__(self, state):
        self.duals = np.array(state[0])


cdef class EuclideanMap(MirrorMap):
    """Weights are the dual weights."""


cdef class PositiveMap(MirrorMap):
    """Weights below zero become zero after each step."""

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        cdef double* duals = &self.duals[k, 0]
        cdef Py_ssize_t i, j
        add_row(duals, size, row)
        if row.columns == NULL:
            for j in range(self.width):
                duals[j] = max(duals[j], 0.0)
            return
        for i in range(row.n):
            j = row.columns[i]
            duals[j] = max(duals[j], 0.0)
        duals[self.width - 1] = max(duals[self.width - 1], 0.0)


# Of a mass, beyond which its class is shifted anew: far from overflow.
cdef double MOST_MASS = 1e100
# Of the masses of a class together: far from losing digits.
cdef double LEAST_TOTAL = 1e-3


cdef class EntropicMap(MirrorMap):
    """The weights of a class are a distribution over the features: exponential gradient.

    Kept are the masses exp(Theta - shift) and their sum. A row changes those of its entries only;
    the shift, the largest dual weight, and the sum are computed anew once as many masses were
    changed as there are, or where numbers would grow or shrink too far. So a step costs the entries
    of its row, and the rounding of a sum does not add up.
    """

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        super().__init__(n_classes, width)
        self.masses = np.ones((n_classes, width))
        self.shifts = np.zeros(n_classes)
        self.totals = np.full(n_classes, float(width))
        self.n_changed = np.zeros(n_classes, dtype=np.intp)

    @property
    def weights(self):
        """A copy of the weights, `(n_classes, width)`, each row a distribution."""
        return np.asarray(self.masses) / np.asarray(self.totals)[:, np.newaxis]

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        cdef Py_ssize_t k
        table_products(&self.masses[0, 0], self.n_classes, self.width, row, scores)
        for k in range(self.n_classes):
            scores[k] /= self.totals[k]

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        cdef double largest = 0.0
        cdef Py_ssize_t i
        if row.columns == NULL:
            add_row(&self.duals[k, 0], size, row)
            self.refresh(k)
            return
        for i in range(row.n):
            largest = max(largest, self.change(k, row.columns[i], size * row.values[i]))
        if row.constant != 0.0:
            largest = max(largest, self.change(k, row.n_features, size * row.constant))
        self.n_changed[k] += row.n + (row.constant != 0.0)
        if (
            self.n_changed[k] >= self.width
            or not largest < MOST_MASS
            or not self.totals[k] > LEAST_TOTAL
        ):
            self.refresh(k)

    cdef double change(self, Py_ssize_t k, Py_ssize_t j, double addition) noexcept nogil:
        # Add to one dual weight; returns its mass.
        cdef double before = self.masses[k, j]
        self.duals[k, j] += addition
        self.masses[k, j] = exp(self.duals[k, j] - self.shifts[k])
        self.totals[k] += self.masses[k, j] - before
        return self.masses[k, j]

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double* duals = &self.duals[k, 0]
        cdef double* masses = &self.masses[k, 0]
        cdef double shift = duals[0], total = 0.0
        cdef Py_ssize_t j
        for j in range(self.width):
            shift = max(shift, duals[j])
        for j in range(self.width):
            masses[j] = exp(duals[j] - shift)
            total += masses[j]
        self.shifts[k] = shift
        self.totals[k] = total
        self.n_changed[k] = 0

    def __reduce__(self):
        state = (
            np.array(self.duals), np.array(self.masses), np.array(self.shifts),
            np.array(self.totals), np.array(self.n_changed),
        )
        return EntropicMap, (self.n_classes, self.width), state

    def __setstate__(self, state):
        arrays = map(np.array, state)
        self.duals, self.masses, self.shifts, self.totals, self.n_changed = arrays


MIRROR_MAPS = {"euclidean": EuclideanMap, "positive": PositiveMap, "entropy": EntropicMap}

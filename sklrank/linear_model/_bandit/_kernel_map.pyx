# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Banditron's weights in the feature space of a kernel.

The weights of class k are the sum of c_tk phi(x_t) over the samples x_t of the steps so far. Thus
the score of a sample x is the sum of c_tk K(x_t, x) (Valizadegan 2010, 5.3.1). Each step adds a
sample (a support vector) or, for the sample of the last step, changes its coefficients.
"""

from libc.math cimport exp
from libc.string cimport memcmp

import numpy as np

from sklrank._compiled.rows cimport Row
from sklrank._compiled.state cimport Archive
from sklrank.linear_model._mirror._maps cimport MirrorMap

from sklrank._compiled import LABELS


cdef class KernelMap(MirrorMap):
    """Scores by a kernel, in place of a table of weights; rows must be dense.

    "rbf" is the Gaussian kernel exp(-gamma |x - z|^2), and "poly" is (1 + gamma x . z)^3. The
    square of the constant of the rows is added.
    """

    cdef str kernel
    cdef double gamma
    cdef Py_ssize_t n_features, n_supports
    cdef double[:, ::1] points              # (>= n_supports, n_features)
    cdef double[:, ::1] coefficients        # (>= n_supports, n_classes)
    cdef bint is_rbf

    _merge_rules = None

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t n_features, str kernel, double gamma):
        self.kernel, self.gamma = kernel, gamma
        self.points, self.coefficients = np.empty((0, n_features)), np.empty((0, n_classes))
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef KernelMap saved = archive.source
        cdef Py_ssize_t n = saved.n_supports
        self.kernel = archive.choice("kernel", saved.kernel, ("rbf", "poly"))
        self.gamma = archive.number("gamma", saved.gamma, 0.0)
        self.points = archive.floats("points", saved.points[:n], (-1, -1))
        n = self.points.shape[0]
        self.coefficients = archive.floats("coefficients", saved.coefficients[:n], (n, LABELS))
        self.n_supports, self.n_features = n, self.points.shape[1]
        self.n_classes, self.is_rbf = self.coefficients.shape[1], self.kernel == "rbf"
        archive.require(self.n_classes > 0, "there are no classes")
        if archive.loads:
            self.duals = np.empty((self.n_classes, 0))
        return 0

    def take_steps(self, rows, directions):
        """Raise, since there is no table of weights."""
        raise TypeError("a kernel has support vectors instead of a table of weights")

    cdef double similarity(self, const Row* row, const double* point) noexcept nogil:
        cdef double total = 0.0, difference
        cdef Py_ssize_t j
        if self.is_rbf:
            for j in range(self.n_features):
                difference = row.values[j] - point[j]
                total += difference * difference
            return exp(-self.gamma * total) + row.constant * row.constant
        for j in range(self.n_features):
            total += row.values[j] * point[j]
        return (1.0 + self.gamma * total) ** 3 + row.constant * row.constant

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        cdef double similarity
        cdef Py_ssize_t i, k
        for k in range(self.n_classes):
            scores[k] = 0.0
        for i in range(self.n_supports):
            similarity = self.similarity(row, &self.points[i, 0])
            for k in range(self.n_classes):
                scores[k] += similarity * self.coefficients[i, k]

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        cdef Py_ssize_t last = self.n_supports - 1, j
        if last < 0 or memcmp(
            &self.points[last, 0], row.values, self.n_features * sizeof(double)
        ) != 0:
            last += 1
            if last == self.points.shape[0] and not self.grow():
                return
            for j in range(self.n_features):
                self.points[last, j] = row.values[j]
            for j in range(self.n_classes):
                self.coefficients[last, j] = 0.0
            self.n_supports = last + 1
        self.coefficients[last, k] += size

    cdef bint grow(self) noexcept with gil:
        # Double the memory. The caller of the loop raises the error that is kept.
        cdef Py_ssize_t n = self.n_supports
        try:
            points = np.empty((2 * n + 8, self.n_features))
            coefficients = np.empty((2 * n + 8, self.n_classes))
        except MemoryError as error:
            self.error = error
            return False
        points[:n], coefficients[:n] = self.points[:n], self.coefficients[:n]
        self.points, self.coefficients = points, coefficients
        return True

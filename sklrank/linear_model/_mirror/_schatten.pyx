# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The mirror map of the Schatten norm: online mirror descent for margins by few singular values.

As in `_norm_maps.pyx`, of the p = min(n_classes, width) singular values: with Theta = U diag(s) V',

    W = U diag(s (s / ||s||_q)^(q - 2)) V' = M Theta,    M = U diag((s / ||s||_q)^(q - 2)) U'

M is a matrix of classes only, and U and s^2 are the eigensystem of G = Theta Theta'. (The spectral
norms of Jain et al. 2015, footnote 1, in Appendix B.2.) With seven classes or features, or fewer,
q is 2, and the map Euclidean.
"""

from libc.math cimport NAN, fabs
from libc.stdlib cimport free, malloc

import numpy as np

from sklrank.linear_model._mirror._maps cimport add_scaled, is_worn
from sklrank.linear_model._mirror._norms cimport dual_exponent
from sklrank.linear_model._rows cimport Row, add_outer, table_products

from sklrank.linear_model._mirror._maps import row_norms

# The least unit of a Gram matrix: products of smaller numbers may vanish.
cdef double MIN_UNIT = 1e-100


cdef class SchattenMap(MirrorMap):
    """Few combinations of features matter: W is of low rank.

    Kept is the Gram matrix of the classes' dual weights, in a unit that was the largest of them a
    while ago. A step changes it by the rank of two; the products that this takes cost as much as to
    score the row. It is computed anew after as many changes as that would cost, or where numbers
    would grow or shrink too far. Its eigensystem is computed before it is next used.
    """

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        super().__init__(n_classes, width)
        self.exponent = dual_exponent(min(n_classes, width))
        self.gram = np.zeros((n_classes, n_classes))
        self.mixer = np.zeros((n_classes, n_classes))
        self.direction = np.zeros(n_classes)
        self.products = np.empty(n_classes)

    @property
    def convexity(self):
        """Of the potential, in its norm: r - 1."""
        return 1.0 / (self.exponent - 1.0)

    def radii(self, X, double constant):
        """Lengths of the rows: u x' has one singular value, ||u||_2 ||x||_2."""
        return row_norms(X, constant, 2.0)

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        cdef Py_ssize_t n = self.n_classes, k, l
        cdef double* products
        table_products(&self.duals[0, 0], n, self.width, row, scores)
        if self.exponent == 2.0:
            return
        self.mix()
        # The memory is a call's own, since two threads may score by one map.
        products = <double*>malloc(n * sizeof(double))
        for k in range(n):
            if products == NULL:
                scores[k] = NAN
            else:
                products[k] = scores[k]
        if products == NULL:
            return
        for k in range(n):
            scores[k] = 0.0
            for l in range(n):
                scores[k] += self.mixer[k, l] * products[l]
        free(products)

    cdef void add_weights(self, double factor, double* sums) noexcept nogil:
        cdef Py_ssize_t n = self.n_classes, k, l
        if self.exponent == 2.0:
            add_scaled(factor, &self.duals[0, 0], n * self.width, sums)
            return
        self.mix()
        for k in range(n):
            for l in range(n):
                add_scaled(
                    factor * self.mixer[k, l], &self.duals[l, 0], self.width, sums + k * self.width
                )

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        self.direction[k] = 1.0
        self.step_all(&self.direction[0], size, row)
        self.direction[k] = 0.0

    cdef void step_all(self, const double* direction, double size, const Row* row) noexcept nogil:
        cdef Py_ssize_t n = self.n_classes, i, k, l
        cdef double share, square, trace = 0.0
        add_outer(&self.duals[0, 0], n, self.width, direction, size, row)
        if self.exponent == 2.0:
            return
        # In units, with z = Theta x after the step d x', G += d z' + z d' - |x|^2 d d'.
        table_products(&self.duals[0, 0], n, self.width, row, &self.products[0])
        share = size / self.unit
        square = (share * row.constant) * (share * row.constant)
        for i in range(row.n):
            square += (share * row.values[i]) * (share * row.values[i])
        for k in range(n):
            self.products[k] *= share / self.unit
        for k in range(n):
            for l in range(n):
                self.gram[k, l] += (
                    direction[k] * self.products[l]
                    + direction[l] * self.products[k]
                    - square * (direction[k] * direction[l])
                )
            trace += self.gram[k, k]
        self.is_stale = True
        self.n_changed += row.n + (row.constant != 0.0)
        self.peak = max(self.peak, trace)
        if (
            self.n_changed >= n * self.width
            or not self.unit > MIN_UNIT
            or is_worn(trace, self.peak)
        ):
            self.refresh()

    cdef void refresh(self) noexcept nogil:
        cdef Py_ssize_t k, l, j
        cdef double product
        self.unit = self.peak = 0.0
        self.n_changed = 0
        for k in range(self.n_classes):
            for j in range(self.width):
                self.unit = max(self.unit, fabs(self.duals[k, j]))
        for k in range(self.n_classes):
            for l in range(k + 1):
                product = 0.0
                for j in range(self.width if self.unit != 0.0 else 0):
                    product += (self.duals[k, j] / self.unit) * (self.duals[l, j] / self.unit)
                self.gram[k, l] = self.gram[l, k] = product
            self.peak += self.gram[k, k]

    cdef void mix(self) noexcept nogil:
        if self.is_stale:
            self.decompose()

    cdef void decompose(self) noexcept with gil:
        if not self.is_stale:
            # Another thread has done it while this one waited for the lock.
            return
        try:
            np.copyto(np.asarray(self.mixer), mixing_matrix(np.asarray(self.gram), self.exponent))
            self.is_stale = False
        except BaseException as error:
            self.error = error

    def __reduce__(self):
        state = np.array(self.duals), np.array(self.gram), self.unit, self.peak, self.n_changed
        return SchattenMap, (self.n_classes, self.width), state

    def __setstate__(self, state):
        duals, gram, self.unit, self.peak, self.n_changed = state
        self.duals, self.gram = np.array(duals), np.array(gram)
        self.is_stale = True


def mixing_matrix(gram, exponent):
    """M of the Gram matrix of the dual weights, in any unit; zero where that is zero."""
    if not np.isfinite(gram).all():
        return np.full_like(gram, np.nan)
    squares, vectors = np.linalg.eigh(gram)
    # An eigenvalue of zero may be negative by rounding.
    values = np.sqrt(np.maximum(squares, 0.0))
    largest = values.max()
    if largest == 0.0:
        return np.zeros_like(gram)
    values /= largest
    norm = (values**exponent).sum() ** (1.0 / exponent)
    return (vectors * (values / norm) ** (exponent - 2.0)).dot(vectors.T)

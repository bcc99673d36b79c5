# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Mirror maps of the p-norm and the group norm: online mirror descent for margins by few numbers.

With Phi(W) = 1/2 ||W||^2 the conjugate is 1/2 ||Theta||_*^2 and the weights are its gradient. The
norms take the l_r norm of p numbers, and their dual norms the l_q norm with 1/r + 1/q = 1:

    p-norm        the entries of W, p = n_classes * width
    group norm    the l_2 norms of its columns, one for each feature, p = width

With q = ln p, so r = ln p / (ln p - 1), the l_r norm is within a factor of 3 of the l_1 norm, and
Phi is (r - 1)-strongly convex (Jain et al. 2015, Corollaries 6 and 8); this ends at r = 2, so where
ln p < 2 we take q = 2, and the map is Euclidean.

Let c be the p numbers of Theta, c_kj that to which an entry belongs: its absolute value, or the
norm of its column. Then

    W_kj = Theta_kj (c_kj / ||c||_q)^(q - 2)
"""

from libc.math cimport fabs, log, pow

import numpy as np

from sklrank.linear_model._mirror._maps cimport add_scaled, is_worn
from sklrank.linear_model._rows cimport add_outer, add_row, table_products

from sklrank.linear_model._mirror._maps import row_norms


cdef double dual_exponent(Py_ssize_t p) noexcept nogil:
    return max(2.0, log(<double>p))


cdef class GroupedMap(MirrorMap):
    """Entry e of the dual weights, counted row by row, belongs to the group e modulo `n_groups`.

    Kept are, with numbers in a unit that was the largest dual weight a while ago, the masses c^q of
    the groups, their sum, and Theta c^(q - 2), to which the weights are proportional. A row changes
    those of its entries only. All is computed anew once as many masses were changed as there are,
    or where numbers would grow or shrink too far: so a step costs the entries of its row, and the
    rounding of a sum does not add up.
    """

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width, Py_ssize_t n_groups):
        super().__init__(n_classes, width)
        self.n_groups = n_groups
        self.exponent = dual_exponent(n_groups)
        self.shares = np.zeros((n_classes, width))
        self.masses = np.zeros(n_groups)

    @property
    def convexity(self):
        """Of the potential, in its norm: r - 1."""
        return 1.0 / (self.exponent - 1.0)

    def radii(self, X, double constant):
        """The l_q norms of the rows: ||u x'||_* is that of x times the l_q or l_2 norm of u."""
        return row_norms(X, constant, self.exponent)

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        cdef Py_ssize_t k
        table_products(&self.shares[0, 0], self.n_classes, self.width, row, scores)
        for k in range(self.n_classes):
            scores[k] *= self.factor

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        add_row(&self.duals[k, 0], size, row)
        self.follow(k * self.width % self.n_groups, row)

    cdef void add_weights(self, double factor, double* sums) noexcept nogil:
        cdef Py_ssize_t n = self.n_classes * self.width
        add_scaled(factor * self.factor, &self.shares[0, 0], n, sums)

    cdef void follow(self, Py_ssize_t first, const Row* row) noexcept nogil:
        # Renew what depends on the dual weights of the row's columns, which have changed; the group
        # of column 0 is `first`.
        cdef Py_ssize_t i
        self.n_changed += row.n + (row.constant != 0.0)
        if self.n_changed >= self.n_groups:
            self.refresh()
            return
        for i in range(row.n):
            self.renew(first + (i if row.columns == NULL else row.columns[i]))
        if row.constant != 0.0:
            self.renew(first + row.n_features)
        self.peak = max(self.peak, self.total)
        if is_worn(self.total, self.peak):
            self.refresh()
        elif self.total > 0.0:
            self.factor = self.unit * pow(self.total, 2.0 / self.exponent - 1.0)

    cdef void renew(self, Py_ssize_t group) noexcept nogil:
        cdef Py_ssize_t n_members = self.n_classes * self.width // self.n_groups, i
        cdef double* duals = &self.duals[0, 0] + group
        cdef double* shares = &self.shares[0, 0] + group
        cdef double square = 0.0, power, mass
        for i in range(n_members):
            shares[i * self.n_groups] = duals[i * self.n_groups] / self.unit
            square += shares[i * self.n_groups] * shares[i * self.n_groups]
        power = pow(square, 0.5 * self.exponent - 1.0)
        for i in range(n_members):
            shares[i * self.n_groups] *= power
        mass = square * power
        self.total += mass - self.masses[group]
        self.masses[group] = mass

    cdef void refresh(self) noexcept nogil:
        cdef double* duals = &self.duals[0, 0]
        cdef double largest = 0.0
        cdef Py_ssize_t e, group
        for e in range(self.n_classes * self.width):
            largest = max(largest, fabs(duals[e]))
        self.unit = largest if largest != 0.0 else 1.0
        self.total = 0.0
        self.masses[:] = 0.0
        for group in range(self.n_groups):
            self.renew(group)
        self.peak = self.total
        self.n_changed = 0
        self.factor = 0.0
        if largest != 0.0:
            self.factor = self.unit * pow(self.total, 2.0 / self.exponent - 1.0)
        # A unit of zero lasts until the next dual weight: that makes the sum infinite, for which
        # there is a refresh, and becomes the unit.
        self.unit = largest

    def __reduce__(self):
        arrays = np.array(self.duals), np.array(self.shares), np.array(self.masses)
        numbers = self.unit, self.total, self.peak, self.factor, self.n_changed
        return type(self), (self.n_classes, self.width), (arrays, numbers)

    def __setstate__(self, state):
        arrays, numbers = state
        self.duals, self.shares, self.masses = map(np.array, arrays)
        self.unit, self.total, self.peak, self.factor, self.n_changed = numbers


cdef class PNormMap(GroupedMap):
    """Few entries of W matter: each is a group."""

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        super().__init__(n_classes, width, n_classes * width)


cdef class GroupNormMap(GroupedMap):
    """Few features matter, to whatever class: each is a group, with its entries of all classes."""

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        super().__init__(n_classes, width, width)

    cdef void step_all(self, const double* direction, double size, const Row* row) noexcept nogil:
        add_outer(&self.duals[0, 0], self.n_classes, self.width, direction, size, row)
        self.follow(0, row)

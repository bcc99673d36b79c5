# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The core of online mirror descent for linear scores: dual weights, a mirror map, rank-one steps.

Each class k has dual weights Theta_k, one for each feature. A potential Phi* makes weights of them,
W_k = grad Phi(Theta_k), and a row x has the scores W x. To learn is to add a multiple of the row to
the dual weights of some classes, Theta_k += size x; the map says what becomes of W:

    Euclidean   W = Theta
    positive    W = Theta, where every step ends with the projection Theta = max(Theta, 0)
    entropic    W_kj = exp(Theta_kj) / sum_i exp(Theta_ki), a distribution over the features

(Valizadegan 2010, Algorithm 8 and Section 5.4; Algorithm 9 for the last one, whose start 1/d and
ours, 0, are the same uniform weights. For those of other norms see `_norm_maps.pyx`.)

Where Phi = 1/2 ||W||^2 is `convexity`-strongly convex in its norm, the size of steps that theory
wants for rank-one steps u x' follows from it and from a norm |||x||| of rows, the radius, such that
||u x'||_* <= ||u||_2 |||x||| (Jain et al. 2015, Appendix B.2, Eq. 6 and Theorem 15).
"""

from libc.math cimport exp, fabs, pow

import numpy as np

from sklrank.linear_model._rows cimport Row, Rows, add_row, table_products


cdef class MirrorMap:
    """A subclass that is not Euclidean says what its weights are, how it scores and steps.

    What goes wrong in a step, or a score, cannot be raised there. It is kept in `error`, and
    whoever made the steps calls `raise_error` afterwards.
    """

    convexity = None

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
        cdef double[:, ::1] sums = np.zeros((self.n_classes, self.width))
        self.add_weights(1.0, &sums[0, 0])
        self.raise_error()
        return np.asarray(sums)

    def take_steps(self, Rows rows, const double[:, ::1] directions):
        """Theta += d x' for each row x and its row d, `(n_classes,)`, of `directions`."""
        cdef Row row
        cdef Py_ssize_t i
        if (directions.shape[0], directions.shape[1]) != (rows.n_rows, self.n_classes):
            raise ValueError("directions do not fit the rows and classes")
        if rows.n_features + (rows.constant != 0.0) != self.width:
            raise ValueError("rows do not fit the width of the map")
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                self.step_all(&directions[i, 0], 1.0, &row)
        self.raise_error()

    def raise_error(self):
        """Raise what went wrong since the last call, if anything did."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        table_products(&self.duals[0, 0], self.n_classes, self.width, row, scores)

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        add_row(&self.duals[k, 0], size, row)

    cdef void step_all(self, const double* direction, double size, const Row* row) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_classes):
            if direction[k] != 0.0:
                self.step(k, size * direction[k], row)

    cdef void add_weights(self, double factor, double* sums) noexcept nogil:
        add_scaled(factor, &self.duals[0, 0], self.n_classes * self.width, sums)

    def __reduce__(self):
        return type(self), (self.n_classes, self.width), (self.dual_weights,)

    def __setstate__(self, state):
        self.duals = np.array(state[0])


cdef class EuclideanMap(MirrorMap):
    """Weights are the dual weights."""

    convexity = 1.0

    @classmethod
    def of(cls, weights):
        """The map of these weights, `(n_classes, width)`."""
        cdef EuclideanMap mirror_map = cls(*np.shape(weights))
        mirror_map.duals = np.array(weights, dtype=np.float64, order="C")
        return mirror_map

    def radii(self, X, double constant):
        """Lengths of the rows."""
        return row_norms(X, constant, 2.0)


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
        self.peaks = np.full(n_classes, float(width))
        self.n_changed = np.zeros(n_classes, dtype=np.intp)

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        cdef Py_ssize_t k
        table_products(&self.masses[0, 0], self.n_classes, self.width, row, scores)
        for k in range(self.n_classes):
            scores[k] /= self.totals[k]

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        cdef Py_ssize_t i
        if row.columns == NULL:
            add_row(&self.duals[k, 0], size, row)
            self.refresh(k)
            return
        for i in range(row.n):
            self.change(k, row.columns[i], size * row.values[i])
        if row.constant != 0.0:
            self.change(k, row.n_features, size * row.constant)
        self.n_changed[k] += row.n + (row.constant != 0.0)
        self.peaks[k] = max(self.peaks[k], self.totals[k])
        if self.n_changed[k] >= self.width or is_worn(self.totals[k], self.peaks[k]):
            self.refresh(k)

    cdef void add_weights(self, double factor, double* sums) noexcept nogil:
        cdef Py_ssize_t k, j
        for k in range(self.n_classes):
            for j in range(self.width):
                sums[k * self.width + j] += factor * (self.masses[k, j] / self.totals[k])

    cdef void change(self, Py_ssize_t k, Py_ssize_t j, double addition) noexcept nogil:
        cdef double before = self.masses[k, j]
        self.duals[k, j] += addition
        self.masses[k, j] = exp(self.duals[k, j] - self.shifts[k])
        self.totals[k] += self.masses[k, j] - before

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
        self.peaks[k] = total
        self.n_changed[k] = 0

    def __reduce__(self):
        state = (
            np.array(self.duals), np.array(self.masses), np.array(self.shifts),
            np.array(self.totals), np.array(self.peaks), np.array(self.n_changed),
        )
        return EntropicMap, (self.n_classes, self.width), state

    def __setstate__(self, state):
        arrays = map(np.array, state)
        self.duals, self.masses, self.shifts, self.totals, self.peaks, self.n_changed = arrays


cdef void add_scaled(
    double factor, const double* values, Py_ssize_t n, double* sums
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        sums[i] += factor * values[i]


def row_norms(X, double constant, double q):
    """The l_q norms `(n_samples,)` of rows of which :class:`Rows` is made, with the constant."""
    cdef Rows rows = Rows(X, constant)
    cdef double[::1] norms = np.empty(rows.n_rows)
    cdef Row row
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.n_rows):
            rows.read(i, &row)
            norms[i] = row_norm(&row, q)
    return np.asarray(norms)


cdef double row_norm(const Row* row, double q) noexcept nogil:
    # Entries are taken in units of the largest one: their powers neither overflow nor vanish.
    cdef double largest = fabs(row.constant), total
    cdef Py_ssize_t i
    for i in range(row.n):
        largest = max(largest, fabs(row.values[i]))
    if largest == 0.0:
        return 0.0
    total = pow(fabs(row.constant) / largest, q)
    for i in range(row.n):
        total += pow(fabs(row.values[i]) / largest, q)
    return largest * pow(total, 1.0 / q)

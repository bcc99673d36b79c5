# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Online mirror descent for linear scores: dual weights, mirror maps and rank-one steps.

Each class k has dual weights Theta_k, one for each feature. The mirror map is the gradient of the
conjugate Phi* of a potential Phi. It turns the dual weights into weights, W = grad Phi*(Theta), and
the scores of a row x are W x. A learning step adds a multiple of the row to the dual weights of
some classes, Theta_k += size x. The maps of this file are

    Euclidean   W = Theta
    positive    W = Theta, and every step ends with the projection Theta = max(Theta, 0)
    entropic    W_kj = exp(Theta_kj) / sum_i exp(Theta_ki), a distribution over the features

(Valizadegan 2010, Algorithm 8 and Section 5.4). The entropic map is that of Algorithm 9, which
starts from Theta = 1/d. This gives the same uniform weights as Theta = 0. `_norms.pyx` has the maps
of other norms.
"""

from libc.math cimport exp

import numpy as np
from scipy.sparse import identity

from sklrank._compiled.rows cimport Row, Rows, add_row, table_products
from sklrank._compiled.state cimport Archive

from sklrank._compiled import LABELS


cdef class MirrorMap:
    """Base of the mirror maps, with the scores and steps of the Euclidean map.

    A subclass overrides `prepare`, `score`, `add_weights`, `step` and `step_all` as needed.

    If an error occurs in a step, or in a score that was not prepared, the compiled loops cannot
    raise it. The error is kept in `error`, and the caller of a loop calls `raise_error` afterwards.
    """

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        self.duals = np.zeros((n_classes, width))
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef MirrorMap saved = archive.source
        self.duals = archive.floats("duals", saved.duals, (LABELS, -1))
        self.n_classes, self.width = self.duals.shape[0], self.duals.shape[1]
        archive.require(self.n_classes > 0, "there are no classes")
        self.error = None
        return 0

    _merge_rules = {}

    @classmethod
    def _merge_entries(cls, merging):
        """Return the state of the mean of the dual weights."""
        duals = merging.apply("mean", "duals")
        cdef MirrorMap mirror_map = cls(*duals.shape)
        units = identity(duals.shape[1], format="csr")
        mirror_map.take_steps(Rows(units), np.ascontiguousarray(duals.T))
        return mirror_map.save(True)

    @property
    def dual_weights(self):
        """Copy of the dual weights, `(n_classes, width)`."""
        self.require_ready()
        return np.array(self.duals)

    @property
    def weights(self):
        """Copy of the weights, `(n_classes, width)`."""
        self.require_ready()
        cdef double[:, ::1] sums = np.zeros((self.n_classes, self.width))
        self.prepare()
        # A kernel model without support vectors has no columns, and so no first entry.
        if self.width > 0:
            self.add_weights(1.0, &sums[0, 0])
        return np.asarray(sums)

    def take_steps(self, Rows rows not None, const double[:, ::1] directions not None):
        """Take the step Theta += d x' for each row x, where d is the same row of `directions`."""
        self.require_ready()
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
        """Raise the error that was kept since the last call, if any."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    cdef int prepare(self) except -1:
        return 0

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


cdef class EuclideanMap(MirrorMap):
    """Euclidean map: the weights are the dual weights."""

    @classmethod
    def of(cls, weights):
        """Return a map with the given weights, `(n_classes, width)`."""
        cdef EuclideanMap mirror_map = cls.__new__(cls)
        mirror_map.duals = np.array(weights, dtype=np.float64, order="C")
        mirror_map.start()
        return mirror_map


cdef class PositiveMap(MirrorMap):
    """Positive map: negative weights are set to zero after each step."""

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
        if row.constant != 0.0:
            duals[row.n_features] = max(duals[row.n_features], 0.0)


cdef class FunctionMap(MirrorMap):
    """Map that is a function of the user, called with all dual weights after the steps of a row."""

    cdef object function
    cdef double[:, ::1] computed            # (n_classes, width) weights
    cdef bint is_stale

    def __init__(self, function, Py_ssize_t n_classes, Py_ssize_t width):
        self.function, self.duals = function, np.zeros((n_classes, width))
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef FunctionMap saved = archive.source
        MirrorMap.exchange(self, archive)
        self.function = archive.anything("function", saved.function)
        if archive.loads:
            self.computed, self.is_stale = np.zeros((self.n_classes, self.width)), True
        return 0

    @classmethod
    def _merge_entries(cls, merging):
        return {"duals": merging.apply("mean", "duals")}

    cdef int prepare(self) except -1:
        self.begin_exclusive()
        try:
            self.ensure_weights()
            self.raise_error()
        finally:
            self.end_exclusive()
        return 0

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        self.ensure_weights()
        table_products(&self.computed[0, 0], self.n_classes, self.width, row, scores)

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        add_row(&self.duals[k, 0], size, row)
        self.is_stale = True

    cdef void add_weights(self, double factor, double* sums) noexcept nogil:
        self.ensure_weights()
        add_scaled(factor, &self.computed[0, 0], self.n_classes * self.width, sums)

    cdef void ensure_weights(self) noexcept nogil:
        if self.is_stale:
            self.compute_weights()

    cdef void compute_weights(self) noexcept with gil:
        if self.error is not None:
            return
        try:
            weights = np.asarray(self.function(np.array(self.duals)), dtype=float)
            if weights.shape != np.shape(self.duals) or not np.isfinite(weights).all():
                raise ValueError(
                    f"mirror_map must return {np.shape(self.duals)} finite weights, one for each "
                    f"sum of steps; it returned {weights}"
                )
            np.copyto(np.asarray(self.computed), weights)
            self.is_stale = False
        except BaseException as error:
            self.error = error


cdef class EntropicMap(MirrorMap):
    """Entropic map: the weights of a class are a distribution over the features.

    Steps with this map are exponentiated gradient steps. The map keeps the unnormalized weights
    exp(Theta - shift) of each class and their sum. A step changes only the weights of the features
    that have entries in the row. The shift is the largest dual weight at the last `recompute`. The
    shift, the weights and the sum are recomputed when the number of changes reaches the number of
    weights, or when the sum becomes too large or too small. So on average the cost of a step is
    proportional to the number of entries of the row, and rounding errors of the sum do not
    accumulate.
    """

    cdef double[:, ::1] unnormalized        # (n_classes, width) exp(dual - shift of the class)
    cdef double[::1] shifts                 # (n_classes,)
    cdef double[::1] totals                 # (n_classes,) sums of `unnormalized`
    cdef double[::1] max_totals             # (n_classes,) largest totals since the last `recompute`
    cdef Py_ssize_t[::1] n_changed          # (n_classes,) number of changes since `recompute`

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        self.duals, self.unnormalized = np.zeros((n_classes, width)), np.ones((n_classes, width))
        self.shifts = np.zeros(n_classes)
        self.totals, self.max_totals = np.full((2, n_classes), float(width))
        self.n_changed = np.zeros(n_classes, dtype=np.intp)
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef EntropicMap saved = archive.source
        MirrorMap.exchange(self, archive)
        cdef Py_ssize_t width = self.width
        archive.require(width > 0, "there are no features")
        self.unnormalized = archive.floats("unnormalized", saved.unnormalized, (LABELS, width), 1.0)
        self.shifts = archive.floats("shifts", saved.shifts, (LABELS,))
        self.totals = archive.floats("totals", saved.totals, (LABELS,), width)
        self.max_totals = archive.floats("max_totals", saved.max_totals, (LABELS,), width)
        self.n_changed = archive.integers("n_changed", saved.n_changed, (LABELS,), 0, width)
        return 0

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        cdef Py_ssize_t k
        table_products(&self.unnormalized[0, 0], self.n_classes, self.width, row, scores)
        for k in range(self.n_classes):
            scores[k] /= self.totals[k]

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        cdef Py_ssize_t i
        if row.columns == NULL:
            add_row(&self.duals[k, 0], size, row)
            self.recompute(k)
            return
        for i in range(row.n):
            self.add_to_dual(k, row.columns[i], size * row.values[i])
        if row.constant != 0.0:
            self.add_to_dual(k, row.n_features, size * row.constant)
        self.n_changed[k] += row.n + (row.constant != 0.0)
        self.max_totals[k] = max(self.max_totals[k], self.totals[k])
        if self.n_changed[k] >= self.width or is_inaccurate(self.totals[k], self.max_totals[k]):
            self.recompute(k)

    cdef void add_weights(self, double factor, double* sums) noexcept nogil:
        cdef Py_ssize_t k, j
        for k in range(self.n_classes):
            for j in range(self.width):
                sums[k * self.width + j] += factor * (self.unnormalized[k, j] / self.totals[k])

    cdef void add_to_dual(self, Py_ssize_t k, Py_ssize_t j, double addition) noexcept nogil:
        cdef double previous = self.unnormalized[k, j]
        self.duals[k, j] += addition
        self.unnormalized[k, j] = exp(self.duals[k, j] - self.shifts[k])
        self.totals[k] += self.unnormalized[k, j] - previous

    cdef void recompute(self, Py_ssize_t k) noexcept nogil:
        cdef double* duals = &self.duals[k, 0]
        cdef double* unnormalized = &self.unnormalized[k, 0]
        cdef double shift = duals[0], total = 0.0
        cdef Py_ssize_t j
        for j in range(self.width):
            shift = max(shift, duals[j])
        for j in range(self.width):
            unnormalized[j] = exp(duals[j] - shift)
            total += unnormalized[j]
        self.shifts[k] = shift
        self.totals[k] = total
        self.max_totals[k] = total
        self.n_changed[k] = 0


cdef void add_scaled(
    double factor, const double* values, Py_ssize_t n, double* sums
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        sums[i] += factor * values[i]

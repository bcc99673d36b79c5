# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Mirror maps of norms, for weights with few large entries, features or singular values.

The table of all mirror maps is at the end of the file.

The conjugate of the potential Phi(W) = 1/2 ||W||^2 is 1/2 ||Theta||_*^2, and the weights are the
gradient of this conjugate. Each norm is the l_r norm of p numbers, and its dual norm is the l_q
norm of the same numbers of Theta, with 1/r + 1/q = 1. The numbers are

    p-norm           the entries of W, p = n_classes * width
    group norm       the l_2 norms of the columns of W, one for each feature, p = width
    Schatten norm    the singular values of W, p = min(n_classes, width)

If q = ln p, and so r = ln p / (ln p - 1), the l_r norm is within a factor of 3 of the l_1 norm, and
Phi is (r - 1)-strongly convex (Jain et al. 2015, Corollaries 6 and 8; Appendix B.2, footnote 1 for
the Schatten norm). This holds for r <= 2. If ln p < 2, which means p <= 7, we choose q = 2, and the
map is Euclidean.

For the p-norm and the group norm, let c be the p numbers of Theta. Let c_kj be the number to which
the entry Theta_kj belongs: its absolute value, or the norm of its column. The weights are

    W_kj = Theta_kj (c_kj / ||c||_q)^(q - 2).

For the Schatten norm, let Theta = U diag(s) V' be the singular value decomposition. The weights are

    W = U diag(s (s / ||s||_q)^(q - 2)) V' = M Theta,    M = U diag((s / ||s||_q)^(q - 2)) U'.

The left factor M is a small matrix of shape (n_classes, n_classes). U and s^2 are the eigenvectors
and eigenvalues of the Gram matrix Theta Theta'.
"""

from libc.math cimport NAN, fabs, log, pow
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from sklrank._compiled.rows cimport Row, add_outer, add_row, table_products
from sklrank._compiled.state cimport Archive
from sklrank.linear_model._mirror._maps cimport MirrorMap, add_scaled, is_inaccurate

from sklrank.linear_model._mirror._maps import EntropicMap, EuclideanMap, PositiveMap

# Smallest unit of a Gram matrix. Products of smaller numbers may underflow.
cdef double MIN_UNIT = 1e-100


cdef double dual_exponent(Py_ssize_t p) noexcept nogil:
    # Return the exponent q of the l_q norm of p numbers.
    return max(2.0, log(<double>p))


cdef class NormMap(MirrorMap):
    """Base of the maps of norms, which keep numbers that `recompute` computes from the duals."""

    cdef void recompute(self) noexcept nogil:
        pass

    cdef int relabel(self, Archive archive) except -1:
        # If the labels change, replace the entries by those of the map of the entry `duals`.
        cdef NormMap other
        if archive.labels is not None:
            other = type(self)(*archive.entries["duals"].shape)
            other.duals = archive.entries["duals"]
            other.recompute()
            other.exchange(Archive(other, archive.entries, False, True))
        return 0


cdef class GroupedMap(NormMap):
    """Base of the maps of the p-norm and the group norm, for groups of entries of dual weights.

    Entry e, counted row by row, belongs to the group e modulo `n_groups`. If a subclass does not
    override `count_groups`, each entry is a group.

    The map keeps the powers c^q of the groups, the sum of these powers, and the unnormalized
    weights Theta c^(q - 2). These numbers are relative to a unit, which is the largest absolute
    dual weight at the last `recompute`. A step changes only the numbers of the groups that have
    entries in the row. All numbers are recomputed when the number of changed powers reaches the
    number of groups, or when the sum becomes too large or too small. So on average the cost of a
    step is proportional to the number of entries of the row, and rounding errors of the sum do not
    accumulate.
    """

    cdef readonly double exponent           # q
    cdef readonly Py_ssize_t n_groups
    cdef double[:, ::1] unnormalized        # (n_classes, width) weights / factor
    cdef double factor
    cdef double[::1] powers                 # (n_groups,) (norm of the group / unit)^q
    cdef double unit                        # largest dual weight at the last `recompute`
    cdef double total                       # sum of `powers`
    cdef double max_total                   # largest total since the last `recompute`
    cdef Py_ssize_t n_changed               # number of changed powers since the last `recompute`

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        self.duals, self.unnormalized = np.zeros((2, n_classes, width))
        self.powers = np.zeros(self.count_groups(n_classes, width))
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef GroupedMap saved = archive.source
        MirrorMap.exchange(self, archive)
        archive.require(self.width > 0, "there are no features")
        self.n_groups = self.count_groups(self.n_classes, self.width)
        self.exponent = dual_exponent(self.n_groups)
        self.unnormalized = archive.floats(
            "unnormalized", saved.unnormalized, (self.n_classes, self.width)
        )
        self.powers = archive.floats("powers", saved.powers, (self.n_groups,))
        self.unit = archive.any_number("unit", saved.unit)
        self.total = archive.any_number("total", saved.total)
        self.max_total = archive.any_number("max_total", saved.max_total)
        self.factor = archive.any_number("factor", saved.factor)
        self.n_changed = archive.count("n_changed", saved.n_changed, 0, self.n_groups)
        return self.relabel(archive)

    cdef Py_ssize_t count_groups(self, Py_ssize_t n_classes, Py_ssize_t width) noexcept:
        return n_classes * width

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        cdef Py_ssize_t k
        table_products(&self.unnormalized[0, 0], self.n_classes, self.width, row, scores)
        for k in range(self.n_classes):
            scores[k] *= self.factor

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        add_row(&self.duals[k, 0], size, row)
        self.update_columns(k * self.width % self.n_groups, row)

    cdef void add_weights(self, double factor, double* sums) noexcept nogil:
        cdef Py_ssize_t n = self.n_classes * self.width
        add_scaled(factor * self.factor, &self.unnormalized[0, 0], n, sums)

    cdef void update_columns(self, Py_ssize_t first, const Row* row) noexcept nogil:
        # The dual weights of the row's columns have changed. Update the numbers that depend on
        # them. The group of column 0 is `first`.
        cdef Py_ssize_t i
        self.n_changed += row.n + (row.constant != 0.0)
        if self.n_changed >= self.n_groups:
            self.recompute()
            return
        for i in range(row.n):
            self.update_group(first + (i if row.columns == NULL else row.columns[i]))
        if row.constant != 0.0:
            self.update_group(first + row.n_features)
        self.max_total = max(self.max_total, self.total)
        if is_inaccurate(self.total, self.max_total):
            self.recompute()
        elif self.total > 0.0:
            self.factor = self.unit * pow(self.total, 2.0 / self.exponent - 1.0)

    cdef void update_group(self, Py_ssize_t group) noexcept nogil:
        cdef Py_ssize_t n_members = self.n_classes * self.width // self.n_groups, i
        cdef double* duals = &self.duals[0, 0] + group
        cdef double* unnormalized = &self.unnormalized[0, 0] + group
        cdef double square = 0.0, scale, power
        for i in range(n_members):
            unnormalized[i * self.n_groups] = duals[i * self.n_groups] / self.unit
            square += unnormalized[i * self.n_groups] * unnormalized[i * self.n_groups]
        scale = pow(square, 0.5 * self.exponent - 1.0)
        for i in range(n_members):
            unnormalized[i * self.n_groups] *= scale
        power = square * scale
        self.total += power - self.powers[group]
        self.powers[group] = power

    cdef void recompute(self) noexcept nogil:
        cdef double* duals = &self.duals[0, 0]
        cdef double largest = 0.0
        cdef Py_ssize_t e, group
        for e in range(self.n_classes * self.width):
            largest = max(largest, fabs(duals[e]))
        self.unit = largest if largest != 0.0 else 1.0
        self.total = 0.0
        self.powers[:] = 0.0
        for group in range(self.n_groups):
            self.update_group(group)
        self.max_total = self.total
        self.n_changed = 0
        self.factor = 0.0
        if largest != 0.0:
            self.factor = self.unit * pow(self.total, 2.0 / self.exponent - 1.0)
        # If all dual weights are zero, the unit is zero, and the next step makes the sum infinite.
        # Then `recompute` is called again and sets a new unit.
        self.unit = largest


cdef class PNormMap(GroupedMap):
    """Map of the p-norm, for weights with few large entries. Each entry is a group."""


cdef class GroupNormMap(GroupedMap):
    """Map of the group norm, for few relevant features. The entries of a feature form a group."""

    cdef Py_ssize_t count_groups(self, Py_ssize_t n_classes, Py_ssize_t width) noexcept:
        return width

    cdef void step_all(self, const double* direction, double size, const Row* row) noexcept nogil:
        add_outer(&self.duals[0, 0], self.n_classes, self.width, direction, size, row)
        self.update_columns(0, row)


cdef class SchattenMap(NormMap):
    """Map of the Schatten norm, for weights of low rank.

    The map keeps the Gram matrix of the dual weights of the classes, relative to a unit, which is
    the largest absolute dual weight at the last `recompute`. A step makes a rank-two update of the
    Gram matrix, which costs about as much as scoring the row. The Gram matrix is recomputed when
    the total cost of the updates reaches the cost of recomputing it, or when its trace becomes too
    large or too small. The eigenvectors and eigenvalues are computed only when they are needed for
    scores or weights, by `prepare` or by the first score after a step.
    """

    cdef readonly double exponent           # q
    cdef double[:, ::1] gram                # (n_classes, n_classes) Theta Theta' / unit^2
    cdef double unit                        # largest dual weight at the last `recompute`
    cdef double max_trace                   # largest trace of `gram` since the last `recompute`
    cdef Py_ssize_t n_changed               # entries of rows added since the last `recompute`
    cdef double[:, ::1] left_factor         # (n_classes, n_classes) M, unless `is_stale`
    cdef bint is_stale                      # whether `gram` has changed since M was computed
    cdef double[::1] direction              # scratch: (n_classes,)
    cdef double[::1] products               # scratch: (n_classes,)

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        self.duals, self.gram = np.zeros((n_classes, width)), np.zeros((n_classes, n_classes))
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef SchattenMap saved = archive.source
        MirrorMap.exchange(self, archive)
        cdef Py_ssize_t n = self.n_classes
        self.exponent = dual_exponent(min(n, self.width))
        self.gram = archive.floats("gram", saved.gram, (n, n))
        self.unit = archive.any_number("unit", saved.unit)
        self.max_trace = archive.any_number("max_trace", saved.max_trace)
        self.n_changed = archive.count("n_changed", saved.n_changed, 0, n * self.width)
        self.relabel(archive)
        if archive.loads:
            self.left_factor, self.is_stale = np.zeros((n, n)), True
            self.direction, self.products = np.zeros(n), np.empty(n)
        return 0

    cdef int prepare(self) except -1:
        if self.exponent > 2.0:
            self.begin_exclusive()
            try:
                self.ensure_left_factor()
                self.raise_error()
            finally:
                self.end_exclusive()
        return 0

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        cdef Py_ssize_t n = self.n_classes, k, l
        cdef double* products
        table_products(&self.duals[0, 0], n, self.width, row, scores)
        if self.exponent == 2.0:
            return
        self.ensure_left_factor()
        # Each call allocates its own memory, since two threads may compute scores with one map.
        products = <double*>malloc(n * sizeof(double))
        if products == NULL:
            for k in range(n):
                scores[k] = NAN
            return
        memcpy(products, scores, n * sizeof(double))
        for k in range(n):
            scores[k] = 0.0
            for l in range(n):
                scores[k] += self.left_factor[k, l] * products[l]
        free(products)

    cdef void add_weights(self, double factor, double* sums) noexcept nogil:
        cdef Py_ssize_t n = self.n_classes, k, l
        if self.exponent == 2.0:
            add_scaled(factor, &self.duals[0, 0], n * self.width, sums)
            return
        self.ensure_left_factor()
        for k in range(n):
            for l in range(n):
                add_scaled(
                    factor * self.left_factor[k, l], &self.duals[l, 0], self.width,
                    sums + k * self.width,
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
        # Let z = Theta x after the step d x'. The Gram matrix G changes by
        # d z' + z d' - |x|^2 d d'. All numbers are relative to the unit.
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
        self.max_trace = max(self.max_trace, trace)
        if (
            self.n_changed >= n * self.width
            or not self.unit > MIN_UNIT
            or is_inaccurate(trace, self.max_trace)
        ):
            self.recompute()

    cdef void recompute(self) noexcept nogil:
        cdef Py_ssize_t k, l, j
        cdef double product
        self.unit = self.max_trace = 0.0
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
            self.max_trace += self.gram[k, k]

    cdef void ensure_left_factor(self) noexcept nogil:
        if self.is_stale:
            self.update_left_factor()

    cdef void update_left_factor(self) noexcept with gil:
        try:
            left_factor = compute_left_factor(np.asarray(self.gram), self.exponent)
            np.copyto(np.asarray(self.left_factor), left_factor)
            self.is_stale = False
        except BaseException as error:
            self.error = error


def compute_left_factor(gram, exponent):
    """Return M, `(n_classes, n_classes)`, for the Gram matrix of the dual weights.

    The result does not depend on the unit of the Gram matrix. It is zero if the matrix is zero.
    """
    if not np.isfinite(gram).all():
        return np.full_like(gram, np.nan)
    squares, vectors = np.linalg.eigh(gram)
    # An eigenvalue of zero may be negative because of rounding errors.
    values = np.sqrt(np.maximum(squares, 0.0))
    largest = values.max()
    if largest == 0.0:
        return np.zeros_like(gram)
    values /= largest
    norm = (values**exponent).sum() ** (1.0 / exponent)
    return (vectors * (values / norm) ** (exponent - 2.0)).dot(vectors.T)


MIRROR_MAPS = {
    "euclidean": EuclideanMap,
    "p-norm": PNormMap,
    "group-norm": GroupNormMap,
    "schatten": SchattenMap,
    "entropy": EntropicMap,
    "positive": PositiveMap,
}

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The matrices A_k of LinUCB: full or diagonal ones of each class, or one for all classes."""

from libc.math cimport sqrt

from functools import partial

import numpy as np

from sklrank._compiled.rows cimport Row, add_row, table_products
from sklrank._compiled.state cimport Archive
from sklrank.linear_model._bandit._linucb_model cimport LinUCBModel
from sklrank.linear_model._symmetric cimport quadratic_form, rank_k_downdate, symmetric_matvec

from sklrank._compiled import LABELS, precision_of

cdef enum:
    MAX_PENDING = 4

# Values of the constant feature, next to samples of norm one. They determine the penalty on the
# intercept, which is `alpha` divided by the square of the value, and its part in the confidence
# bounds, at first the square of the value. With 1, the constant of a class that was not shown would
# weigh as much as its sample. A diagonal ignores that the constant is correlated with the other
# features, and learns it more slowly.
cdef double FULL_CONSTANT = 0.25
cdef double DIAGONAL_CONSTANT = 0.5


cdef class FullLinUCB(LinUCBModel):
    """LinUCB with full matrices. They are symmetric, and only their lower triangles are used.

    P is represented by a stored matrix and the vectors u = P x / sqrt(1 + v) of the last (pending)
    steps: it is the stored matrix minus the sum of u u'. For sparse samples, the downdate of the
    stored matrix by these terms takes most of the time. Therefore one pass over the matrix makes
    the downdates of four steps. After a dense sample, the downdate is made at once, because the
    products with the sample already require a pass over each matrix.
    """

    cdef double[:, :, ::1] matrices         # (n_classes, width, width), lower triangles in use
    cdef double[:, :, ::1] pending          # (n_classes, MAX_PENDING, width), u of the last steps
    cdef int[::1] n_pending                 # (n_classes,) number of pending steps

    cdef int create_inverses(self) except -1:
        cdef Py_ssize_t n_classes = self.n_classes, width = self.width
        try:
            self.matrices = np.repeat((np.eye(width) / self.alpha)[np.newaxis], n_classes, axis=0)
        except MemoryError as error:
            raise ValueError(
                f"covariance='full' keeps a matrix of {width} x {width} numbers for each of "
                f"{n_classes} classes, which do not fit into memory: use covariance='diagonal'"
            ) from error
        self.pending = np.zeros((n_classes, MAX_PENDING, width))
        self.n_pending = np.zeros(n_classes, dtype=np.intc)
        return 0

    cdef int exchange(self, Archive archive) except -1:
        cdef FullLinUCB saved = archive.source
        LinUCBModel.exchange(self, archive)
        cdef Py_ssize_t width = self.width
        new = None if archive.labels is None else np.eye(width) / self.alpha
        self.matrices = archive.floats("matrices", saved.matrices, (LABELS, width, width), new)
        self.pending = archive.floats("pending", saved.pending, (LABELS, MAX_PENDING, width))
        self.n_pending = archive.integers(
            "n_pending", saved.n_pending, (LABELS,), 0, MAX_PENDING - 1
        )
        self.constant = FULL_CONSTANT
        return 0

    _merge_rules = {**LinUCBModel._merge_rules, "pending": "zero", "n_pending": "zero"}

    @staticmethod
    def _merge_entries(merging):
        """Return the solutions of the totals of the normal equations of each class."""
        first, entries = merging.states[0], LinUCBModel._merge_entries(merging)
        (n, width), alpha = first["coefficients"].shape, first["alpha"]
        matrices, coefficients = np.empty((n, width, width)), np.empty((n, width))
        untrained = alpha * np.eye(width), np.zeros(width)
        for k in range(n):
            equations = merging.map(partial(normal_equations, k=k), untrained)
            matrices[k], coefficients[k] = merging.regression(*equations)
        return entries | {"matrices": matrices, "coefficients": coefficients}

    cdef void estimate(self, Py_ssize_t first, Py_ssize_t n, const Row* scaled) noexcept nogil:
        cdef double products[MAX_PENDING]
        cdef Py_ssize_t k
        LinUCBModel.estimate(self, first, n, scaled)
        for k in range(first, first + n):
            self.errors[k] = quadratic_form(&self.matrices[k, 0, 0], self.width, scaled)
            self.errors[k] -= self.pending_variance(k, scaled, products)

    cdef double pending_variance(
        self, Py_ssize_t k, const Row* scaled, double* products
    ) noexcept nogil:
        # Write the product u.x for each pending step u of class k into `products`, and return the
        # sum of the squared products.
        cdef double total = 0.0
        cdef Py_ssize_t b
        table_products(&self.pending[k, 0, 0], self.n_pending[k], self.width, scaled, products)
        for b in range(self.n_pending[k]):
            total += products[b] * products[b]
        return total

    cdef void forget(self) noexcept nogil:
        cdef Py_ssize_t i
        self.matrices[:, :, :] = 0.0
        for i in range(self.width):
            self.matrices[:, i, i] = 1.0 / self.alpha
        self.n_pending[:] = 0

    cdef void update_class(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        cdef double* weights = &self.coefficients[k, 0]
        cdef double* pending = &self.pending[k, 0, 0]
        cdef double* direction = pending + self.n_pending[k] * self.width
        cdef double products[MAX_PENDING]
        cdef double variance, root
        cdef Py_ssize_t b, j
        # `direction` is the new row of `pending`. It is first set to P x, then to u.
        variance = symmetric_matvec(&self.matrices[k, 0, 0], self.width, scaled, direction)
        variance -= self.pending_variance(k, scaled, products)
        for b in range(self.n_pending[k]):
            for j in range(self.width):
                direction[j] -= products[b] * pending[b * self.width + j]
        root = 1.0 / sqrt(1.0 + max(variance, 0.0))
        for j in range(self.width):
            direction[j] *= root
            weights[j] += root * direction[j] * error
        self.n_pending[k] += 1
        if scaled.columns == NULL or self.n_pending[k] == MAX_PENDING:
            rank_k_downdate(&self.matrices[k, 0, 0], self.width, pending, self.n_pending[k])
            self.n_pending[k] = 0


cdef class DiagonalLinUCB(LinUCBModel):
    """LinUCB with diagonal matrices, in which the cost of a step is linear in the sample's size."""

    cdef double[:, ::1] diagonals           # (n_classes, width) inverses of the diagonals of A_k
    cdef double[::1] squared_values         # (width,) scratch memory

    cdef int create_inverses(self) except -1:
        self.diagonals = np.full((self.n_classes, self.width), 1.0 / self.alpha)
        return 0

    cdef int exchange(self, Archive archive) except -1:
        cdef DiagonalLinUCB saved = archive.source
        LinUCBModel.exchange(self, archive)
        new = None if archive.labels is None else 1.0 / self.alpha
        self.diagonals = archive.floats("diagonals", saved.diagonals, (LABELS, self.width), new)
        self.constant = DIAGONAL_CONSTANT
        if archive.loads:
            self.squared_values = np.empty(self.width)
        return 0

    @staticmethod
    def _merge_entries(merging):
        """Return the totals of the diagonals, and the means of the weights by these."""
        coefficients, precisions = merging.newton(*merging.map(
            lambda state: (state["coefficients"], 1.0 / state["diagonals"]),
            (0.0, merging.states[0]["alpha"]),
        ))
        entries = {"coefficients": coefficients, "diagonals": 1.0 / precisions}
        return LinUCBModel._merge_entries(merging) | entries

    cdef void estimate(self, Py_ssize_t first, Py_ssize_t n, const Row* scaled) noexcept nogil:
        LinUCBModel.estimate(self, first, n, scaled)
        self.diagonal_variances(&self.diagonals[first, 0], n, scaled, &self.errors[first])

    cdef void forget(self) noexcept nogil:
        self.diagonals[:, :] = 1.0 / self.alpha

    cdef void update_class(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        cdef double* weights = &self.coefficients[k, 0]
        cdef double* diagonal = &self.diagonals[k, 0]
        cdef double step, value, variance
        cdef Py_ssize_t i, j
        self.diagonal_variances(diagonal, 1, scaled, &variance)
        step = error / (1.0 + variance)
        for i in range(scaled.n):
            j = i if scaled.columns == NULL else scaled.columns[i]
            value = scaled.values[i]
            weights[j] += step * diagonal[j] * value
            diagonal[j] /= 1.0 + diagonal[j] * value * value
        if scaled.constant != 0.0:
            j, value = scaled.n_features, scaled.constant
            weights[j] += step * diagonal[j] * value
            diagonal[j] /= 1.0 + diagonal[j] * value * value

    cdef void diagonal_variances(
        self, const double* diagonals, Py_ssize_t n_classes, const Row* scaled, double* variances
    ) noexcept nogil:
        # Write x' D x for the scaled sample x and each row D of `diagonals` into `variances`.
        cdef Row squared = scaled[0]
        cdef Py_ssize_t i
        for i in range(scaled.n):
            self.squared_values[i] = scaled.values[i] * scaled.values[i]
        squared.values = &self.squared_values[0]
        squared.constant = scaled.constant * scaled.constant
        table_products(diagonals, n_classes, self.width, &squared, variances)


cdef class SharedLinUCB(LinUCBModel):
    """LinUCB with one regression for all classes, whose features describe samples and classes.

    Class k has the features a_k, the last of which is a constant. The regression has the products
    of each feature of the sample and each of the class, the entries of a_k x'. So its weights W,
    which have the shape of a_k x', give class k the weights w_k = W' a_k for the sample. Let P_rs
    be the block of the inverse matrix P for features r and s of a class. The variance of class k is

        a_k' M a_k,    M_rs = x' P_rs x.

    M does not depend on the class. Therefore a round takes one pass over P, and few operations for
    each class.
    """

    cdef double[:, ::1] items               # (n_classes, n_item_features) a_k
    cdef double[:, ::1] parts               # (n_item_features, width) W
    cdef double[:, ::1] inverse             # (n_item_features * width, the same) P
    cdef double[:, ::1] products            # (n_item_features, n_item_features) M of `scaled`
    cdef double[::1] sample                 # (width,) `scaled` as an array
    cdef double[::1] direction              # (n_item_features * width,) scratch memory

    def __init__(self, items not None, *args):
        self.items = np.array(items, dtype=np.float64, order="C")
        super().__init__(*args)

    cdef int create_inverses(self) except -1:
        cdef Py_ssize_t n = self.items.shape[1]
        self.parts = np.zeros((n, self.width))
        self.inverse = np.eye(n * self.width) / self.alpha
        return 0

    cdef int exchange(self, Archive archive) except -1:
        cdef SharedLinUCB saved = archive.source
        LinUCBModel.exchange(self, archive)
        self.items = archive.floats("items", saved.items, (LABELS, -1))
        cdef Py_ssize_t n = self.items.shape[1]
        self.parts = archive.floats("parts", saved.parts, (n, self.width))
        shape = n * self.width, n * self.width
        self.inverse = archive.floats("inverse", saved.inverse, shape)
        self.constant = FULL_CONSTANT
        if archive.loads:
            self.products, self.sample = np.empty((n, n)), np.empty(self.width)
            self.direction = np.empty(n * self.width)
        return 0

    _merge_rules = LinUCBModel._merge_rules

    @staticmethod
    def _merge_entries(merging):
        """Return the solution of the total of the normal equations, for the same features."""
        first, entries = merging.states[0], LinUCBModel._merge_entries(merging)
        shape = first["parts"].shape
        untrained = first["alpha"] * np.eye(len(first["inverse"])), np.zeros(shape).ravel()

        def equations(state):
            precision = precision_of(state["inverse"])
            return precision, precision @ state["parts"].ravel()

        inverse, parts = merging.regression(*merging.map(equations, untrained))
        return entries | {"inverse": inverse, "parts": parts.reshape(shape)}

    def set_items(self, items not None):
        """Replace the features `(n_classes, n_item_features)` of the classes."""
        self.require_ready()
        if items.shape != (self.n_classes, self.items.shape[1]):
            raise ValueError(f"items have the shape {items.shape} for {self.n_classes} classes")
        self.items = np.array(items, dtype=np.float64, order="C")

    cdef void multiply(
        self, Py_ssize_t first, Py_ssize_t n, const Row* row, double* products
    ) noexcept nogil:
        cdef double product
        cdef Py_ssize_t k, r
        for k in range(n):
            products[k] = 0.0
        for r in range(self.items.shape[1]):
            table_products(&self.parts[r, 0], 1, self.width, row, &product)
            for k in range(n):
                products[k] += self.items[first + k, r] * product

    cdef object class_weights(self):
        return np.asarray(self.items) @ np.asarray(self.parts)

    cdef void prepare_to_learn(self, const Row* row) noexcept nogil:
        # Compute M, too.
        cdef Py_ssize_t n = self.items.shape[1], width = self.width, i, j, r, s
        cdef double product
        LinUCBModel.prepare_to_learn(self, row)
        self.sample[:] = 0.0
        add_row(&self.sample[0], 1.0, &self.scaled)
        for r in range(n):
            for s in range(r + 1):
                self.products[r, s] = 0.0
                for i in range(width):
                    product = 0.0
                    for j in range(width):
                        product += self.inverse[r * width + i, s * width + j] * self.sample[j]
                    self.products[r, s] += self.sample[i] * product
                self.products[s, r] = self.products[r, s]

    cdef void estimate(self, Py_ssize_t first, Py_ssize_t n, const Row* scaled) noexcept nogil:
        cdef double product
        cdef Py_ssize_t k, r, s
        LinUCBModel.estimate(self, first, n, scaled)
        for k in range(first, first + n):
            self.errors[k] = 0.0
            for r in range(self.items.shape[1]):
                product = 0.0
                for s in range(self.items.shape[1]):
                    product += self.products[r, s] * self.items[k, s]
                self.errors[k] += self.items[k, r] * product

    cdef void forget(self) noexcept nogil:
        cdef Py_ssize_t i
        self.inverse[:, :] = 0.0
        for i in range(self.inverse.shape[0]):
            self.inverse[i, i] = 1.0 / self.alpha

    cdef void update_class(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        cdef Py_ssize_t n = self.items.shape[1], width = self.width, i, j, r, s
        cdef double variance = 0.0, product
        for i in range(n * width):
            self.direction[i] = 0.0
            for s in range(n):
                product = 0.0
                for j in range(width):
                    product += self.inverse[i, s * width + j] * self.sample[j]
                self.direction[i] += self.items[k, s] * product
        for r in range(n):
            for i in range(width):
                variance += self.items[k, r] * self.sample[i] * self.direction[r * width + i]
        variance = 1.0 / (1.0 + max(variance, 0.0))
        for r in range(n):
            for i in range(width):
                product = variance * self.direction[r * width + i]
                self.parts[r, i] += product * error
                for j in range(n * width):
                    self.inverse[r * width + i, j] -= product * self.direction[j]


def normal_equations(state, k):
    """Return A_k, and its product with the weights of class k."""
    rows = state["pending"][k, : state["n_pending"][k]]
    precision = precision_of(state["matrices"][k] - rows.T @ rows)
    return precision, precision @ state["coefficients"][k]

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rows of a dense or a CSR matrix, one at a time, and sums over their entries.

A loop that reads rows through :class:`Rows` works for dense and CSR matrices, and its cost is
proportional to the number of stored entries. The intercept is the weight of an additional feature,
whose value is `constant`.
"""

import numpy as np
from scipy import sparse


cdef class Rows:
    """Rows of `X`, a C-contiguous float64 array or a CSR matrix.

    A CSR matrix must have int32 indices, which increase in each row. If `dense` is True, `read`
    converts one row at a time to a dense row.
    """

    def __init__(self, X, double constant=0.0, bint dense=False):
        cdef Py_ssize_t n_rows, n_features, i, j
        cdef bint is_sparse = sparse.issparse(X)
        cdef const int[::1] columns = None, starts = None
        cdef const double[::1] values
        n_rows, n_features = X.shape
        if is_sparse:
            values, columns, starts = X.data, X.indices, X.indptr
            for i in range(n_rows):
                for j in range(starts[i], starts[i + 1]):
                    if not (columns[j - 1] if j > starts[i] else -1) < columns[j] < n_features:
                        raise ValueError("X has column indices out of range or out of order")
        else:
            values = X.reshape(-1)
        # If an argument is invalid, no attribute has been set.
        self.n_rows, self.n_features, self.constant = n_rows, n_features, constant
        self.is_sparse, self.values, self.columns, self.starts = is_sparse, values, columns, starts
        self.dense, self.last = np.zeros(n_features) if dense and is_sparse else None, -1

    cdef void read(self, Py_ssize_t i, Row* row) noexcept nogil:
        cdef Py_ssize_t first, j
        row.n_features = self.n_features
        row.constant = self.constant
        if not self.is_sparse:
            row.n = self.n_features
            row.columns = NULL
            row.values = &self.values[i * self.n_features]
            return
        if self.dense is not None:
            if self.last >= 0:
                for j in range(self.starts[self.last], self.starts[self.last + 1]):
                    self.dense[self.columns[j]] = 0.0
            for j in range(self.starts[i], self.starts[i + 1]):
                self.dense[self.columns[j]] = self.values[j]
            self.last = i
            row.n, row.columns, row.values = self.n_features, NULL, &self.dense[0]
            return
        first = self.starts[i]
        row.n = self.starts[i + 1] - first
        # The address is computed by addition: &columns[first] would be out of bounds if the last
        # row is empty.
        row.columns = &self.columns[0] + first if row.n else <const int*>&row.n
        row.values = &self.values[0] + first if row.n else NULL

    cdef void read_step(self, Py_ssize_t i, Row* row) noexcept nogil:
        self.read(i, row)


cdef class RowSum:
    """Weighted sum of rows, which can be read as a row. The sum of sparse rows is sparse."""

    def __init__(self, Py_ssize_t n_features):
        self.n_features = n_features
        self.values = np.zeros(n_features)
        self.columns = np.zeros(n_features, dtype=np.intc)
        self.positions = np.zeros(n_features, dtype=np.intc)

    cdef void clear(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n):
            self.values[i] = 0.0
            if not self.is_dense:
                self.positions[self.columns[i]] = 0
        self.n = 0
        self.constant = 0.0

    cdef void add(self, double size, const Row* row) noexcept nogil:
        cdef Py_ssize_t i
        cdef int j
        self.is_dense = row.columns == NULL
        self.constant += size * row.constant
        if self.is_dense:
            self.n = row.n
            for i in range(row.n):
                self.values[i] += size * row.values[i]
            return
        for i in range(row.n):
            j = row.columns[i]
            if not self.positions[j]:
                self.columns[self.n] = j
                self.n += 1
                self.positions[j] = <int>self.n
            self.values[self.positions[j] - 1] += size * row.values[i]

    cdef void read(self, Row* row) noexcept nogil:
        row.values = &self.values[0]
        row.columns = NULL if self.is_dense else &self.columns[0]
        row.n = self.n
        row.n_features = self.n_features
        row.constant = self.constant


cdef Py_ssize_t select_entries(
    const Row* row, const Py_ssize_t* columns, Py_ssize_t n, double* values, int* indices
) noexcept nogil:
    cdef Py_ssize_t i, j, n_selected = 0
    cdef double value
    for i in range(n if row.columns == NULL else row.n):
        if row.columns == NULL:
            j, value = i, row.values[i if columns == NULL else columns[i]]
        else:
            j, value = find_column(columns, n, row.columns[i]), row.values[i]
        if j < 0 or value == 0.0:
            continue
        if values != NULL:
            values[n_selected], indices[n_selected] = value, <int>j
        n_selected += 1
    return n_selected


cdef void table_products(
    const double* table, Py_ssize_t n_rows, Py_ssize_t width, const Row* row, double* products
) noexcept nogil:
    # Four rows of the table are processed at a time. Their sums are independent, so the processor
    # can compute them in parallel.
    cdef const double* x = row.values
    cdef const double* p
    cdef const double* q
    cdef const double* r
    cdef const double* s
    cdef double a, b, c, d, value
    cdef Py_ssize_t i, j, k
    for k in range(0, n_rows - 3, 4):
        p = table + k * width
        q = p + width
        r = q + width
        s = r + width
        a = b = c = d = 0.0
        if row.columns == NULL:
            for i in range(row.n):
                a += p[i] * x[i]
                b += q[i] * x[i]
                c += r[i] * x[i]
                d += s[i] * x[i]
        else:
            for i in range(row.n):
                j, value = row.columns[i], x[i]
                a += p[j] * value
                b += q[j] * value
                c += r[j] * value
                d += s[j] * value
        products[k], products[k + 1], products[k + 2], products[k + 3] = a, b, c, d
    for k in range(n_rows - n_rows % 4, n_rows):
        p = table + k * width
        a = 0.0
        if row.columns == NULL:
            for i in range(row.n):
                a += p[i] * x[i]
        else:
            for i in range(row.n):
                a += p[row.columns[i]] * x[i]
        products[k] = a
    if row.constant != 0.0:
        for k in range(n_rows):
            products[k] += table[k * width + row.n_features] * row.constant


cdef void add_row(double* target, double size, const Row* row) noexcept nogil:
    cdef Py_ssize_t i
    if row.columns == NULL:
        for i in range(row.n):
            target[i] += size * row.values[i]
    else:
        for i in range(row.n):
            target[row.columns[i]] += size * row.values[i]
    if row.constant != 0.0:
        target[row.n_features] += size * row.constant


cdef void add_outer(
    double* table, Py_ssize_t n_rows, Py_ssize_t width, const double* direction, double size,
    const Row* row,
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n_rows):
        if direction[k] != 0.0:
            add_row(table + k * width, size * direction[k], row)


cdef Py_ssize_t first_largest(const double* values, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k, best = 0
    for k in range(1, n):
        if values[k] > values[best]:
            best = k
    return best

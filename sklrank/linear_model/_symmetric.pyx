# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Products x'Px and Px of a sample x with a symmetric matrix P, and downdates of P.

Only the lower triangle of P is read and written. P has one row and column for each feature, and one
more for the constant if the sample has one. The column indices of sparse samples must be sorted.
"""

from sklrank._compiled.rows cimport table_products


cdef double quadratic_form(const double* matrix, Py_ssize_t width, const Row* row) noexcept nogil:
    # Each entry left of the diagonal is counted twice, for itself and its mirror image.
    cdef double total = features_form(matrix, width, row.columns, row.values, row.n), cross
    cdef Row features = row[0]
    if row.constant != 0.0:
        matrix += row.n_features * width
        features.constant = 0.0
        table_products(matrix, 1, width, &features, &cross)
        total += row.constant * (2.0 * cross + matrix[row.n_features] * row.constant)
    return total


cdef double symmetric_matvec(
    const double* matrix, Py_ssize_t width, const Row* row, double* target
) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(width):
        target[i] = 0.0
    for i in range(row.n):
        add_column(target, matrix, width, column_of(row.columns, i), row.values[i], row)
    if row.constant != 0.0:
        add_column(target, matrix, width, row.n_features, row.constant, row)
    for i in range(row.n):
        total += row.values[i] * target[column_of(row.columns, i)]
    if row.constant != 0.0:
        total += row.constant * target[row.n_features]
    return total


cdef inline void add_column(
    double* target, const double* matrix, Py_ssize_t width, Py_ssize_t j, double value,
    const Row* row,
) noexcept nogil:
    # Add the products of column j with `value`, entry j of the row. If the row is dense, the part
    # of the column below the diagonal comes with later rows, of which it is the mirror image, so
    # that the matrix is read row by row only.
    cdef const double* p = matrix + j * width
    cdef double total = p[j] * value
    cdef Py_ssize_t i
    if row.columns == NULL:
        for i in range(j):
            total += p[i] * row.values[i]
            target[i] += value * p[i]
    else:
        for i in range(j):
            target[i] += value * p[i]
        for i in range(j + 1, width):
            target[i] += value * matrix[i * width + j]
    target[j] += total


cdef void downdate(double* matrix, Py_ssize_t width, const double* u) noexcept nogil:
    cdef Py_ssize_t i, j
    for j in range(width):
        for i in range(j + 1):
            matrix[j * width + i] -= u[j] * u[i]


cdef double features_form(
    const double* matrix, Py_ssize_t width, const int* columns, const double* x, Py_ssize_t n
) noexcept nogil:
    # Return x'Px without the constant. Four rows are processed at a time, because the processor can
    # overlap their independent sums.
    cdef const double* p
    cdef const double* q
    cdef const double* r
    cdef const double* s
    cdef double a, b, c, d, value, total = 0.0
    cdef Py_ssize_t i, j, column, j0, j1, j2, j3
    for j in range(0, n - 3, 4):
        j0, j1 = column_of(columns, j), column_of(columns, j + 1)
        j2, j3 = column_of(columns, j + 2), column_of(columns, j + 3)
        p, q = matrix + j0 * width, matrix + j1 * width
        r, s = matrix + j2 * width, matrix + j3 * width
        a = b = c = d = 0.0
        if columns == NULL:
            for i in range(j):
                a += p[i] * x[i]
                b += q[i] * x[i]
                c += r[i] * x[i]
                d += s[i] * x[i]
        else:
            for i in range(j):
                column, value = columns[i], x[i]
                a += p[column] * value
                b += q[column] * value
                c += r[column] * value
                d += s[column] * value
        b += q[j0] * x[j]
        c += r[j0] * x[j] + r[j1] * x[j + 1]
        d += s[j0] * x[j] + s[j1] * x[j + 1] + s[j2] * x[j + 2]
        total += x[j] * (2.0 * a + p[j0] * x[j]) + x[j + 1] * (2.0 * b + q[j1] * x[j + 1])
        total += x[j + 2] * (2.0 * c + r[j2] * x[j + 2])
        total += x[j + 3] * (2.0 * d + s[j3] * x[j + 3])
    for j in range(n - n % 4, n):
        j0 = column_of(columns, j)
        p = matrix + j0 * width
        a = 0.0
        for i in range(j):
            a += p[column_of(columns, i)] * x[i]
        total += x[j] * (2.0 * a + p[j0] * x[j])
    return total


cdef inline Py_ssize_t column_of(const int* columns, Py_ssize_t i) noexcept nogil:
    return i if columns == NULL else columns[i]

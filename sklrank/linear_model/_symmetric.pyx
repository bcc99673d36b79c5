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
    cdef const double* x = row.values
    cdef double total = 0.0
    cdef Py_ssize_t i
    if row.columns == NULL:
        for i in range(width):
            target[i] = 0.0
        for i in range(row.n):
            add_both_ways(target, matrix + i * width, i, x, x[i])
        if row.constant != 0.0:
            add_both_ways(target, matrix + row.n * width, row.n, x, row.constant)
        for i in range(row.n):
            total += x[i] * target[i]
    else:
        sparse_matvec(matrix, width, row, target)
        for i in range(row.n):
            total += x[i] * target[row.columns[i]]
    if row.constant != 0.0:
        total += row.constant * target[row.n_features]
    return total


cdef void rank_k_downdate(
    double* matrix, Py_ssize_t width, const double* rows, Py_ssize_t n_rows
) noexcept nogil:
    cdef const double* q = rows
    cdef const double* r = rows + width
    cdef const double* s = rows + 2 * width
    cdef const double* t = rows + 3 * width
    cdef double* p
    cdef double a, b, c, d
    cdef Py_ssize_t i, j
    while n_rows >= 4:
        for j in range(width):
            p = matrix + j * width
            a, b, c, d = q[j], r[j], s[j], t[j]
            for i in range(j + 1):
                p[i] -= a * q[i] + b * r[i] + c * s[i] + d * t[i]
        q, r, s, t = q + 4 * width, r + 4 * width, s + 4 * width, t + 4 * width
        n_rows -= 4
    while n_rows > 0:
        for j in range(width):
            p = matrix + j * width
            a = q[j]
            for i in range(j + 1):
                p[i] -= a * q[i]
        q += width
        n_rows -= 1


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


cdef void sparse_matvec(
    const double* matrix, Py_ssize_t width, const Row* row, double* target
) noexcept nogil:
    # First, `table_products` multiplies the entries left of the diagonal, in blocks of four rows of
    # the matrix. It omits the four columns of the block itself. Then `add_column` adds the products
    # with the mirror images of these entries and with the omitted columns.
    cdef Row left = row[0]
    cdef Py_ssize_t i
    left.n, left.constant = 0, 0.0
    for i in range(0, width, 4):
        while left.n < row.n and row.columns[left.n] < i:
            left.n += 1
        table_products(matrix + i * width, min(4, width - i), width, &left, target + i)
    for i in range(row.n):
        add_column(target, matrix, width, row.columns[i], row.values[i])
    if row.constant != 0.0:
        add_column(target, matrix, width, row.n_features, row.constant)


cdef inline void add_both_ways(
    double* target, const double* p, Py_ssize_t j, const double* x, double value
) noexcept nogil:
    # Add the products of x with row j of the lower triangle, p, and with its mirror image, which is
    # the part of column j above the diagonal. So the matrix is read row by row only. `value` is
    # entry j of x.
    cdef double total = p[j] * value
    cdef Py_ssize_t i
    for i in range(j):
        total += p[i] * x[i]
        target[i] += value * p[i]
    target[j] += total


cdef inline void add_column(
    double* target, const double* matrix, Py_ssize_t width, Py_ssize_t j, double size
) noexcept nogil:
    # Add `size` times column j to `target`, from the first row to the end of the block of four rows
    # that contains row j.
    cdef const double* p = matrix + j * width
    cdef Py_ssize_t i
    for i in range(j + 1):
        target[i] += size * p[i]
    for i in range(j + 1, min(j - j % 4 + 4, width)):
        target[i] += size * matrix[i * width + j]

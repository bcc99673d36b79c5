# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Products of a row x with a symmetric matrix P: x'Px and Px.

Nothing right of the diagonal of P is read. Rows and columns are those of the features, with one
more for the constant where a row has one.
"""


cdef double quadratic(const double* matrix, Py_ssize_t width, const Row* row) noexcept nogil:
    # An entry left of the diagonal counts twice.
    cdef const double* x = row.values
    cdef const double* p
    cdef Py_ssize_t i, j
    cdef double total = 0.0, cross
    if row.columns == NULL:
        total = dense_quadratic(matrix, width, x, row.n)
    else:
        for j in range(row.n):
            p = matrix + row.columns[j] * width
            cross = 0.0
            for i in range(j):
                cross += p[row.columns[i]] * x[i]
            total += x[j] * (2.0 * cross + p[row.columns[j]] * x[j])
    if row.constant != 0.0:
        p = matrix + row.n_features * width
        cross = 0.0
        if row.columns == NULL:
            for i in range(row.n):
                cross += p[i] * x[i]
        else:
            for i in range(row.n):
                cross += p[row.columns[i]] * x[i]
        total += row.constant * (2.0 * cross + p[row.n_features] * row.constant)
    return total


cdef double product(
    const double* matrix, Py_ssize_t width, const Row* row, double* target
) noexcept nogil:
    cdef const double* x = row.values
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(width):
        target[i] = 0.0
    if row.columns == NULL:
        for i in range(row.n):
            add_both_ways(target, matrix + i * width, i, x, x[i])
        if row.constant != 0.0:
            add_both_ways(target, matrix + row.n * width, row.n, x, row.constant)
        for i in range(row.n):
            total += x[i] * target[i]
    else:
        for i in range(row.n):
            add_column(target, matrix, width, row.columns[i], x[i])
        if row.constant != 0.0:
            add_column(target, matrix, width, row.n_features, row.constant)
        for i in range(row.n):
            total += x[i] * target[row.columns[i]]
    if row.constant != 0.0:
        total += row.constant * target[row.n_features]
    return total


cdef double dense_quadratic(
    const double* matrix, Py_ssize_t width, const double* x, Py_ssize_t n
) noexcept nogil:
    # Four rows at a time: their sums do not wait for each other.
    cdef const double* p
    cdef const double* q
    cdef const double* r
    cdef const double* s
    cdef double a, b, c, d, total = 0.0
    cdef Py_ssize_t i, j
    for j in range(0, n - 3, 4):
        p = matrix + j * width
        q = p + width
        r = q + width
        s = r + width
        a = b = c = d = 0.0
        for i in range(j):
            a += p[i] * x[i]
            b += q[i] * x[i]
            c += r[i] * x[i]
            d += s[i] * x[i]
        b += q[j] * x[j]
        c += r[j] * x[j] + r[j + 1] * x[j + 1]
        d += s[j] * x[j] + s[j + 1] * x[j + 1] + s[j + 2] * x[j + 2]
        total += x[j] * (2.0 * a + p[j] * x[j]) + x[j + 1] * (2.0 * b + q[j + 1] * x[j + 1])
        total += x[j + 2] * (2.0 * c + r[j + 2] * x[j + 2])
        total += x[j + 3] * (2.0 * d + s[j + 3] * x[j + 3])
    for j in range(n - n % 4, n):
        p = matrix + j * width
        a = 0.0
        for i in range(j):
            a += p[i] * x[i]
        total += x[j] * (2.0 * a + p[j] * x[j])
    return total


cdef inline void add_both_ways(
    double* target, const double* p, Py_ssize_t j, const double* x, double value
) noexcept nogil:
    # Row j of the matrix, p, and its mirror image, the part of column j above the diagonal: so rows
    # are read from left to right only. `value` is entry j of x.
    cdef double total = p[j] * value
    cdef Py_ssize_t i
    for i in range(j):
        total += p[i] * x[i]
        target[i] += value * p[i]
    target[j] += total


cdef inline void add_column(
    double* target, const double* matrix, Py_ssize_t width, Py_ssize_t j, double size
) noexcept nogil:
    # target += size * column j, whose upper part stands in row j.
    cdef const double* p = matrix + j * width
    cdef Py_ssize_t i
    for i in range(j + 1):
        target[i] += size * p[i]
    for i in range(j + 1, width):
        target[i] += size * matrix[i * width + j]

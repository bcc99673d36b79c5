"""Product of a row and a table, in which a linear learner spends most of its time."""


cdef inline void add_product(
    const double* row, const double* table, Py_ssize_t n, Py_ssize_t m, double* sums
) noexcept nogil:
    # sums += row . table, where the table is (n, m). Four rows of the table at a time, so that the
    # sums are loaded and stored a quarter as often.
    cdef Py_ssize_t j, k
    cdef double a, b, c, d
    cdef const double* p
    cdef const double* q
    cdef const double* r
    cdef const double* s
    for j in range(0, n - 3, 4):
        a, b, c, d = row[j], row[j + 1], row[j + 2], row[j + 3]
        p = table + j * m
        q = p + m
        r = q + m
        s = r + m
        for k in range(m):
            sums[k] += (a * p[k] + b * q[k]) + (c * r[k] + d * s[k])
    for j in range(n - n % 4, n):
        a = row[j]
        p = table + j * m
        for k in range(m):
            sums[k] += a * p[k]

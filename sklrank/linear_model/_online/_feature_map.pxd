"""Feature maps of online linear learners: running standardisation and random Fourier features."""


cdef enum Kernel:
    CONSTANT = 0
    LINEAR = 1
    RBF = 2


cdef class FeatureMap:
    cdef readonly Kernel kernel
    cdef readonly Py_ssize_t n_features, n_columns, n_outputs
    cdef readonly double clip, scale
    cdef readonly double count                  # number of samples seen
    cdef const Py_ssize_t[::1] columns          # (n_columns,) of X, those that the map uses
    cdef double[::1] mean                       # (n_columns,)
    cdef double[::1] m2                         # (n_columns,) sums of squared deviations from it
    cdef double[::1] inverse_scale              # (n_columns,) 0 while a column is constant
    cdef const double[:, ::1] frequencies       # (n_columns, n_components) of random features
    cdef const double[::1] phases               # (n_components,)

    # Write the features (n_outputs,) of a sample, the last of which is 1. `scratch`: (n_columns,)
    cdef void transform(self, const double* x, double* features, double* scratch) noexcept nogil

    # Add a sample to the means and deviations. `scratch`: (n_columns,)
    cdef void update(self, const double* x, double* scratch) noexcept nogil


cdef inline void add_product(
    const double* vector, const double* table, Py_ssize_t n, Py_ssize_t m, double* sums
) noexcept nogil:
    # sums += vector . table, with a table (n, m): most of the time of a linear learner. Four rows
    # of the table at a time, so that the sums are loaded and stored a quarter as often.
    cdef Py_ssize_t j, k
    cdef double a, b, c, d
    cdef const double* p
    cdef const double* q
    cdef const double* r
    cdef const double* s
    for j in range(0, n - 3, 4):
        a, b, c, d = vector[j], vector[j + 1], vector[j + 2], vector[j + 3]
        p = table + j * m
        q = p + m
        r = q + m
        s = r + m
        for k in range(m):
            sums[k] += (a * p[k] + b * q[k]) + (c * r[k] + d * s[k])
    for j in range(n - n % 4, n):
        a = vector[j]
        p = table + j * m
        for k in range(m):
            sums[k] += a * p[k]

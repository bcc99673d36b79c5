"""Feature maps of online linear learners: running standardization, sketches, random features."""

from sklrank._state cimport Persistent


cdef class FeatureMap(Persistent):
    cdef readonly bint is_rbf                   # whether there are random features
    cdef readonly Py_ssize_t n_features, n_columns, n_outputs
    cdef readonly Py_ssize_t n_slots            # number of z; n_columns without a sketch
    cdef readonly Py_ssize_t n_taken            # number of slots that belong to a single column
    cdef readonly bint standardize, normalize
    cdef readonly double clip, scale, intercept
    cdef readonly double count                  # number of samples in the statistics
    cdef Py_ssize_t[::1] columns                # (n_columns,) columns of X that the map uses
    cdef double[::1] mean                       # (n_columns,) means of the columns
    cdef double[::1] m2                         # (n_columns,) sums of squared deviations
    cdef double[::1] inverse_scale              # (n_columns,) 1 / standard deviation; 0 if constant
    cdef Py_ssize_t[::1] slots                  # (n_columns,) slot of each column; -1 if none yet
    cdef Py_ssize_t[::1] shared_slots           # (n_columns,) slot of a column if all are taken
    cdef const double[::1] signs                # (n_columns,) signs of the columns in a sketch
    cdef const double[:, ::1] frequencies       # (n_slots, n_components) of random features
    cdef const double[::1] phases               # (n_components,) of random features

    # Write the features of a sample into `features` (n_outputs,). The last feature is `intercept`.
    # `scratch` (n_columns + n_slots,) may be overwritten.
    cdef void transform(self, const double* x, double* features, double* scratch) noexcept nogil

    # Scale z (n_slots,) to the norm one. If it is 0, it remains 0.
    cdef void scale_to_unit_norm(self, double* z) noexcept nogil

    # Give slots to columns that are nonzero for the first time.
    cdef void assign_slots(self, const double* values) noexcept nogil

    # Add a sample to the means and standard deviations. `scratch` (n_columns,) is overwritten.
    cdef void update(self, const double* x, double* scratch) noexcept nogil


# Write the random Fourier features cos(z . frequencies + phases) into `features` (n_components,).
cdef void random_features(
    const double* z, const double* frequencies, const double* phases, Py_ssize_t n_columns,
    Py_ssize_t n_components, double* features,
) noexcept nogil


cdef inline void add_product(
    const double* vector, const double* table, Py_ssize_t n, Py_ssize_t m, double* sums
) noexcept nogil:
    # Add the product of the vector (n,) and the table (n, m) to `sums` (m,). Linear learners spend
    # most of their time here. Four rows of the table are processed at a time, so that the sums are
    # loaded and stored a quarter as often. Rows whose four factors are 0 are not read.
    cdef Py_ssize_t j, k
    cdef double a, b, c, d
    cdef const double* p
    cdef const double* q
    cdef const double* r
    cdef const double* s
    for j in range(0, n - 3, 4):
        a, b, c, d = vector[j], vector[j + 1], vector[j + 2], vector[j + 3]
        if a == 0.0 and b == 0.0 and c == 0.0 and d == 0.0:
            continue
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

"""Feature maps of online linear learners: running standardization, sketches, random features."""

from sklrank._compiled.rows cimport Row
from sklrank._compiled.state cimport Persistent


cdef class FeatureMap(Persistent):
    cdef readonly bint is_rbf                   # whether there are random features
    cdef readonly Py_ssize_t n_features, n_outputs
    cdef readonly Py_ssize_t n_slots            # number of z; n_features without a sketch
    cdef readonly Py_ssize_t n_taken            # number of slots that belong to a single column
    cdef readonly bint standardize, normalize
    cdef readonly bint centers                  # whether all columns are centered
    cdef readonly double clip, scale, intercept
    cdef readonly double count                  # number of samples learned
    cdef Py_ssize_t n_nonzero                   # number of their nonzero entries
    # The statistics (n_features,), or (0,) if `standardize` is False. For columns that are not
    # centered, the first two are the sums of the values and of their squares.
    cdef double[::1] mean                       # means of the columns
    cdef double[::1] m2                         # sums of squared deviations
    cdef double[::1] inverse_scale              # 1 / standard deviation; 0 if constant
    # If `centers` is False:
    cdef Py_ssize_t n_centered
    cdef int[::1] centered                      # the columns that are centered, in order
    cdef char[::1] is_centered                  # (n_features,)
    cdef double[::1] n_nonzero_of               # (n_features,) number of nonzero entries
    cdef int[::1] slots                         # (n_features,) slot of each column; -1 if none yet
    cdef int[::1] shared_slots                  # (n_features,) slot of a column if all are taken
    cdef int[::1] signs                         # (n_features,) signs of the columns in a sketch
    cdef const double[:, ::1] frequencies       # (n_slots, n_components) of random features
    cdef const double[::1] phases               # (n_components,) of random features

    # Return the number of doubles that `transform` needs for a sample as its `memory`, and, in
    # `n_indices`, the number of `indices`. No sample needs more than NULL.
    cdef Py_ssize_t memory_size(self, const Row* x, Py_ssize_t* n_indices) noexcept nogil

    # Write the features of a sample into `features`, whose entries are in the other arrays. They
    # are dense if the values are (see `is_dense`), or if they are random features. The last of the
    # `n_outputs` features is `intercept`.
    cdef void transform(
        self, const Row* x, Row* features, double* memory, int* indices
    ) noexcept nogil

    # Add a sample to the statistics. `memory` and `indices`, see above, are overwritten.
    cdef void update(self, const Row* x, double* memory, int* indices) noexcept nogil

    # Return whether the values of a sample are to be stored as a dense row.
    cdef bint is_dense(self, const Row* x) noexcept nogil

    # Write all values of a sample into `values` (n_features,).
    cdef void read_values(self, const Row* x, double* values) noexcept nogil

    # The two cases of `transform`, before z is scaled. The first writes z into `values`, or into
    # `slots` if there is a sketch. The second returns the number of the entries of z that it writes
    # into `values` and `indices`, of which there are no two in a slot.
    cdef void transform_dense(self, const Row* x, double* values, double* slots) noexcept nogil
    cdef Py_ssize_t transform_sparse(
        self, const Row* x, double* values, int* indices, double* slots
    ) noexcept nogil

    # Give a slot to a column that is nonzero for the first time.
    cdef void assign_slot(self, Py_ssize_t column) noexcept nogil

    # Decide whether all columns are centered, after n samples.
    cdef void choose_centering(self, double n) noexcept nogil

    # Convert the statistics of a column, of n samples, when it is centered, or no more so.
    cdef void center(self, Py_ssize_t column, double n) noexcept nogil
    cdef void uncenter(self, Py_ssize_t column, double n) noexcept nogil
    cdef void set_scale(self, Py_ssize_t column) noexcept nogil

    # Insert zeros of columns that are centered into n entries in order. Return their number.
    cdef Py_ssize_t insert_zeros(self, double* values, int* indices, Py_ssize_t n) noexcept nogil

    # Return the standardized value of a column that is stored as a sparse one.
    cdef double standardized(self, Py_ssize_t column, double value) noexcept nogil

    # Update the statistics and slots by all values, or by those of a sparse sample and zeros of
    # columns that are centered.
    cdef void update_dense(self, double* values) noexcept nogil
    cdef void update_sparse(
        self, const double* values, const int* indices, Py_ssize_t n
    ) noexcept nogil


# Write the random Fourier features cos(z . frequencies + phases) into `features` (n_components,).
cdef void random_features(
    const double* z, const double* frequencies, const double* phases, Py_ssize_t n_columns,
    Py_ssize_t n_components, double* features,
) noexcept nogil


cdef inline void add_product(
    const double* vector, const double* table, Py_ssize_t n, Py_ssize_t m, double* sums,
    Py_ssize_t stride,
) noexcept nogil:
    # Add the product of the vector (n,) and the table (n, m) to `sums` (m,). A row of the table
    # begins `stride` numbers after the one before. Linear learners spend most of their time here.
    # Four rows of the table are processed at a time, so that the sums are loaded and stored a
    # quarter as often. Rows whose four factors are 0 are not read.
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
        p = table + j * stride
        q = p + stride
        r = q + stride
        s = r + stride
        for k in range(m):
            sums[k] += (a * p[k] + b * q[k]) + (c * r[k] + d * s[k])
    for j in range(n - n % 4, n):
        a = vector[j]
        p = table + j * stride
        for k in range(m):
            sums[k] += a * p[k]


cdef inline void add_rows(
    const Row* x, const double* table, Py_ssize_t m, double* sums
) noexcept nogil:
    # Add the product of a row and the table (n_features, m) to `sums` (m,).
    cdef Py_ssize_t i, k
    cdef double a, b, c, d
    cdef const double* v = x.values
    cdef const double* p
    cdef const double* q
    cdef const double* r
    cdef const double* s
    if x.columns == NULL:
        add_product(v, table, x.n, m, sums, m)
        return
    for i in range(0, x.n - 3, 4):
        a, b, c, d = v[i], v[i + 1], v[i + 2], v[i + 3]
        p = table + x.columns[i] * m
        q = table + x.columns[i + 1] * m
        r = table + x.columns[i + 2] * m
        s = table + x.columns[i + 3] * m
        for k in range(m):
            sums[k] += (a * p[k] + b * q[k]) + (c * r[k] + d * s[k])
    for i in range(x.n - x.n % 4, x.n):
        a = v[i]
        p = table + x.columns[i] * m
        for k in range(m):
            sums[k] += a * p[k]

"""Rows of a dense or a CSR matrix, one at a time, and sums over their entries."""


cdef struct Row:
    const double* values        # (n,) stored entries
    const int* columns          # (n,) columns of the entries; NULL: 0, 1, ..., n - 1
    Py_ssize_t n
    Py_ssize_t n_features
    double constant             # value of one more feature, the last one, for the intercept; or 0


cdef class Rows:
    cdef readonly Py_ssize_t n_rows, n_features
    cdef double constant
    cdef bint is_sparse
    cdef const double[::1] values
    cdef const int[::1] columns             # of a CSR matrix, as are `starts`
    cdef const int[::1] starts

    cdef void read(self, Py_ssize_t i, Row* row) noexcept nogil

    # Write the row that a step on row `i` adds to the dual weights: row `i` itself, unless a
    # subclass overrides this.
    cdef void read_step(self, Py_ssize_t i, Row* row) noexcept nogil

    # Called after each step. A subclass with a budget of support vectors sets the dual weights of
    # those beyond it to zero.
    cdef void enforce_budget(self, double[:, ::1] duals) noexcept nogil


cdef class RowSum:
    cdef bint is_dense
    cdef Py_ssize_t n, n_features
    cdef double constant
    cdef double[::1] values                 # (n_features,) the first `n` are in use
    cdef int[::1] columns                   # (n_features,) columns of the values of sparse rows
    cdef int[::1] positions                 # (n_features,) 1 + index of a column in `columns`, or 0

    # Set the sum to zero.
    cdef void clear(self) noexcept nogil

    # Add `size` times a row. The rows of one sum are all dense, or all sparse.
    cdef void add(self, double size, const Row* row) noexcept nogil

    # Write the sum, which is valid until `clear` is called.
    cdef void read(self, Row* row) noexcept nogil


# products = table . row. The table is (n_rows, width), with a column for each feature and one for
# the constant if there is one.
cdef void table_products(
    const double* table, Py_ssize_t n_rows, Py_ssize_t width, const Row* row, double* products
) noexcept nogil

# target += size * row
cdef void add_row(double* target, double size, const Row* row) noexcept nogil

# table += size * direction row', with an entry of `direction` for each row of the table. Zeros of
# `direction` cost nothing.
cdef void add_outer(
    double* table, Py_ssize_t n_rows, Py_ssize_t width, const double* direction, double size,
    const Row* row,
) noexcept nogil

cdef Py_ssize_t first_largest(const double* values, Py_ssize_t n) noexcept nogil

"""Rows of a dense or a CSR matrix, one at a time, and sums over their entries."""


cdef struct Row:
    const double* values        # (n,) stored entries
    const int* columns          # (n,) columns of the entries, or NULL for 0, 1, ..., n - 1
    Py_ssize_t n
    Py_ssize_t n_features
    double constant             # value of the last feature, for the intercept, or 0 for none


cdef class Rows:
    cdef readonly Py_ssize_t n_rows, n_features
    cdef double constant
    cdef bint is_sparse
    cdef double[::1] dense                  # (n_features,) the last row, if `read` makes rows dense
    cdef Py_ssize_t last                    # number of this row; -1 if none
    cdef const double[::1] values
    cdef const int[::1] columns             # column indices of a CSR matrix
    cdef const int[::1] starts              # row pointers of a CSR matrix

    # Write row `i` into `row`. A row that was made dense is valid until the next call.
    cdef void read(self, Py_ssize_t i, Row* row) noexcept nogil

    # Write the row that a step on row `i` adds to the dual weights: row `i` itself, unless a
    # subclass overrides this.
    cdef void read_step(self, Py_ssize_t i, Row* row) noexcept nogil


cdef class RowSum:
    cdef bint is_dense
    cdef Py_ssize_t n, n_features
    cdef double constant
    cdef double[::1] values                 # (n_features,) of which the first `n` are in use
    cdef int[::1] columns                   # (n_features,) columns of the values, if sparse
    cdef int[::1] positions                 # (n_features,) 1 + index of a column in `columns`, or 0

    # Set the sum to zero.
    cdef void clear(self) noexcept nogil

    # Add `size` times a row. The rows of a sum are either all dense or all sparse.
    cdef void add(self, double size, const Row* row) noexcept nogil

    # Write the sum into `row`. The row is valid until `clear` or `add` is called.
    cdef void read(self, Row* row) noexcept nogil


# Return the index of a column in `columns` (n,), which increase, or -1. NULL stands for the columns
# 0, 1, ..., n - 1.
cdef inline Py_ssize_t find_column(
    const Py_ssize_t* columns, Py_ssize_t n, Py_ssize_t column
) noexcept nogil:
    cdef Py_ssize_t low = 0, high = n, middle
    if columns == NULL:
        return column if column < n else -1
    while low < high:
        middle = (low + high) // 2
        if columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low if low < n and columns[low] == column else -1

# Write the nonzero entries of a row that are in some columns, as above, into `values`, and the
# indices of their columns into `indices`. Return their number. If `values` is NULL, count only.
cdef Py_ssize_t select_entries(
    const Row* row, const Py_ssize_t* columns, Py_ssize_t n, double* values, int* indices
) noexcept nogil

# Compute products = table . row. The table has the shape (n_rows, width), with a column for each
# feature and, if there is a constant, one for the constant.
cdef void table_products(
    const double* table, Py_ssize_t n_rows, Py_ssize_t width, const Row* row, double* products
) noexcept nogil

# Compute target += size * row.
cdef void add_row(double* target, double size, const Row* row) noexcept nogil

# Compute table += size * direction row'. `direction` has an entry for each row of the table. Rows
# of the table whose entry is zero are skipped.
cdef void add_outer(
    double* table, Py_ssize_t n_rows, Py_ssize_t width, const double* direction, double size,
    const Row* row,
) noexcept nogil

# Return the index of the largest value, the first one if there are ties.
cdef Py_ssize_t first_largest(const double* values, Py_ssize_t n) noexcept nogil

"""Products of a sample x with a symmetric matrix P, and downdates of the matrix."""

from sklrank._compiled.rows cimport Row

# Return x'Px.
cdef double quadratic_form(
    const double* matrix, Py_ssize_t width, const Row* row
) noexcept nogil

# Write Px into `target`, and return x'Px.
cdef double symmetric_matvec(
    const double* matrix, Py_ssize_t width, const Row* row, double* target
) noexcept nogil

# Subtract the sum of u u' from P, where u are the rows of the array `rows` (n_rows, width).
cdef void rank_k_downdate(
    double* matrix, Py_ssize_t width, const double* rows, Py_ssize_t n_rows
) noexcept nogil

"""Products of a row with a symmetric matrix, and steps of the matrix."""

from sklrank.linear_model._rows cimport Row

# x'Px
cdef double quadratic(const double* matrix, Py_ssize_t width, const Row* row) noexcept nogil

# target = Px; returns x'Px.
cdef double product(
    const double* matrix, Py_ssize_t width, const Row* row, double* target
) noexcept nogil

# P -= the sum of u u' over `n_rows` rows u, one behind the other.
cdef void rank_k_downdate(
    double* matrix, Py_ssize_t width, const double* rows, Py_ssize_t n_rows
) noexcept nogil

"""Products of a sample with a symmetric matrix, and downdates of the matrix."""

from sklrank.linear_model._rows cimport Row

# x'Px
cdef double quadratic_form(
    const double* matrix, Py_ssize_t width, const Row* row
) noexcept nogil

# target = Px; return x'Px.
cdef double symmetric_matvec(
    const double* matrix, Py_ssize_t width, const Row* row, double* target
) noexcept nogil

# P -= the sum of u u' over the rows u of an array (n_rows, width).
cdef void rank_k_downdate(
    double* matrix, Py_ssize_t width, const double* rows, Py_ssize_t n_rows
) noexcept nogil

"""Products of a sample x with a symmetric matrix P, and downdates of the matrix."""

from sklrank._compiled.rows cimport Row

# Return x'Px.
cdef double quadratic_form(
    const double* matrix, Py_ssize_t width, const Row* row
) noexcept nogil

# Write P x into `target`, and return x'P x.
cdef double symmetric_matvec(
    const double* matrix, Py_ssize_t width, const Row* row, double* target
) noexcept nogil

# Subtract u u' from P.
cdef void downdate(double* matrix, Py_ssize_t width, const double* u) noexcept nogil

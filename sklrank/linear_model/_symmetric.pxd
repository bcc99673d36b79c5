"""Products of a row with a symmetric matrix."""

from sklrank.linear_model._rows cimport Row

# x'Px
cdef double quadratic(const double* matrix, Py_ssize_t width, const Row* row) noexcept nogil

# target = Px; returns x'Px.
cdef double product(
    const double* matrix, Py_ssize_t width, const Row* row, double* target
) noexcept nogil

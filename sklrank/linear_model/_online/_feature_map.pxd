"""Features of a row for online linear learners: standardised as the rows come, perhaps random."""


cdef enum MapKind:
    CONSTANT = 0
    LINEAR = 1
    FOURIER = 2


cdef class FeatureMap:
    cdef readonly MapKind kind
    cdef readonly Py_ssize_t n_features, n_columns, n_outputs
    cdef readonly double clip, scale
    cdef readonly double count                  # rows seen
    cdef const Py_ssize_t[::1] columns          # of a row of X that the map looks at
    cdef double[::1] mean                       # (n_columns,)
    cdef double[::1] m2                         # (n_columns,) squared deviations from it
    cdef double[::1] inverse_scale              # (n_columns,) 0 while a column is constant
    cdef const double[:, ::1] frequencies       # (n_columns, n_components) of random features
    cdef const double[::1] phases               # (n_components,)

    # Write the features (n_outputs,) of a row, the last of which is 1. `scratch`: (n_columns,)
    cdef void transform(self, const double* x, double* features, double* scratch) noexcept nogil

    # Take the row into the means and deviations. `scratch`: (n_columns,)
    cdef void update(self, const double* x, double* scratch) noexcept nogil

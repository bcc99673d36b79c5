cimport cython

from sklrank._compiled.state cimport Persistent


@cython.final
cdef class Tree(Persistent):
    cdef readonly Py_ssize_t n_features, n_nodes
    cdef dict arrays        # those below, by name
    cdef const int[::1] feature
    cdef const int[::1] threshold_code
    cdef const int[::1] categorical
    cdef const int[::1] missing_left
    cdef const int[::1] left
    cdef const int[::1] count
    cdef const unsigned int[:, ::1] left_categories
    cdef const double[::1] threshold
    cdef const double[::1] value
    cdef const double[::1] gain

    # Set the arrays, which have been checked.
    cdef int assign(self, Py_ssize_t n_features, dict nodes) except -1

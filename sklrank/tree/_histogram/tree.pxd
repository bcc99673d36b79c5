cimport cython

from sklrank._compiled.state cimport Persistent


@cython.final
cdef class Tree(Persistent):
    cdef readonly Py_ssize_t n_features, n_nodes
    cdef dict arrays        # of the nodes, by name; those that `predict_codes` reads follow
    cdef const int[::1] feature, threshold_code, categorical, missing_left, left
    cdef const unsigned int[:, ::1] left_categories
    cdef const double[::1] value

    # Set the arrays, which have been checked.
    cdef int assign(self, Py_ssize_t n_features, dict nodes) except -1

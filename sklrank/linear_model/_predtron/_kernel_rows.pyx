# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rows of a kernel matrix: what makes a linear learner a kernelised one.

Steps of rank one leave weights that are sums over the rows learnt from, w = a_1 x_1 + a_2 x_2 + ...
and a score is a_1 k(x_1, x) + a_2 k(x_2, x) + ... So the dual coefficients `a` are weights of a row
of kernel values; and a step on x_i, which adds to a_i, is one on the i-th unit vector.

A budget limits how many points have a coefficient. Beyond it the one that came first is forgotten.
"""

import numpy as np

from sklrank.linear_model._rows cimport Row


cdef class KernelRows(Rows):
    """Kernel values of rows and points, where each row is a point, too.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_points)
        Kernel values, C-contiguous.
    own : ndarray of int32, shape (n_rows,)
        The point that a row is.
    born : ndarray of intp, shape (n_points,)
        How early a point became a support vector, from 1; 0 where it is none. Changed in place.
    n_born : int
        The largest such number so far.
    budget : int
        How many points may be support vectors; 0 for any number.
    """

    def __init__(self, values, own, Py_ssize_t[::1] born, Py_ssize_t n_born, Py_ssize_t budget):
        super().__init__(values, 0.0)
        if len(own) != self.n_rows or born.shape[0] != self.n_features:
            raise ValueError("own or born do not fit the kernel values")
        if len(own) and not 0 <= np.min(own) <= np.max(own) < self.n_features:
            raise ValueError("own has points that are out of range")
        self.own = own
        self.born = born
        self.n_born = n_born
        self.n_supports = np.count_nonzero(born)
        self.budget = budget
        self.unit = 1.0

    cdef void read_step(self, Py_ssize_t i, Row* row) noexcept nogil:
        cdef Py_ssize_t j = self.own[i]
        if not self.born[j]:
            self.n_born += 1
            self.n_supports += 1
            self.born[j] = self.n_born
        row.n = 1
        row.columns = &self.own[i]
        row.values = &self.unit
        row.n_features = self.n_features
        row.constant = 0.0

    cdef void trim(self, double[:, ::1] duals) noexcept nogil:
        cdef Py_ssize_t j, k, first
        while 0 < self.budget < self.n_supports:
            first = -1
            for j in range(self.n_features):
                if self.born[j] and (first < 0 or self.born[j] < self.born[first]):
                    first = j
            self.born[first] = 0
            self.n_supports -= 1
            for k in range(duals.shape[0]):
                duals[k, first] = 0.0

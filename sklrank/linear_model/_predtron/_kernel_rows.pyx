# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rows of a kernel matrix, by which a linear learner becomes a kernelized learner.

After steps of rank one, the weights are a weighted sum of the rows of the steps,
w = a_1 x_1 + a_2 x_2 + ..., and the score of x is a_1 k(x_1, x) + a_2 k(x_2, x) + ... So the dual
coefficients `a` are the weights of a row of kernel values. A step on x_i changes only a_i, so it is
a step on the i-th unit vector.

A budget limits the number of support vectors, which are the points that have a coefficient. If
there are more support vectors, the oldest ones are removed (budget perceptron).
"""

import numpy as np

from sklrank.linear_model._rows cimport Row


cdef class KernelRows(Rows):
    """Kernel values between rows and points, where each row is one of the points.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_points)
        Kernel values, C-contiguous.
    own_column : ndarray of int32, shape (n_rows,)
        Index of the point that is the row itself.
    insertion_order : ndarray of intp, shape (n_points,)
        Number of each support vector in the order of insertion, from 1. It is 0 for other points.
        The array is changed in place.
    n_inserted : int
        Number of support vectors inserted so far, including those that were removed.
    budget : int
        Maximum number of support vectors. If 0, the number is not limited.
    """

    def __init__(
        self, values, const int[::1] own_column not None,
        Py_ssize_t[::1] insertion_order not None, Py_ssize_t n_inserted, Py_ssize_t budget,
    ):
        n_rows, n_points = np.shape(values)
        if own_column.shape[0] != n_rows or insertion_order.shape[0] != n_points:
            raise ValueError("own_column or insertion_order do not fit the kernel values")
        if n_rows and not 0 <= np.min(own_column) <= np.max(own_column) < n_points:
            raise ValueError("own_column has points that are out of range")
        super().__init__(values, 0.0)
        self.own_column = own_column
        self.insertion_order = insertion_order
        self.n_inserted = n_inserted
        self.n_supports = np.count_nonzero(insertion_order)
        self.budget = budget
        self.unit = 1.0

    cdef void read_step(self, Py_ssize_t i, Row* row) noexcept nogil:
        cdef Py_ssize_t j = self.own_column[i]
        if not self.insertion_order[j]:
            self.n_inserted += 1
            self.n_supports += 1
            self.insertion_order[j] = self.n_inserted
        row.n = 1
        row.columns = &self.own_column[i]
        row.values = &self.unit
        row.n_features = self.n_features
        row.constant = 0.0

    cdef void enforce_budget(self, double[:, ::1] duals) noexcept nogil:
        cdef Py_ssize_t j, k, oldest
        while 0 < self.budget < self.n_supports:
            oldest = -1
            for j in range(self.n_features):
                if self.insertion_order[j] and (
                    oldest < 0 or self.insertion_order[j] < self.insertion_order[oldest]
                ):
                    oldest = j
            self.insertion_order[oldest] = 0
            self.n_supports -= 1
            for k in range(duals.shape[0]):
                duals[k, oldest] = 0.0

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Classes: binary, multiclass, ordinal, with or without a reject option.

Section 3 of Jain et al. (2015) has these representations of m classes:

    two classes         -1 and +1; one score, as in the classic perceptron
    m classes           the standard basis e_1, ..., e_m; m scores
    with REJECT         the standard basis, also for m = 2, and (e_1 + ... + e_m) / sqrt(m)

The loss is a table, costs[y, sigma]; that of REJECT stands in its last column.
"""

from libc.math cimport sqrt

import numpy as np

from sklrank.linear_model._predtron._task cimport leads


cdef class ClassTask(Task):
    """Rows of one class each.

    Parameters
    ----------
    costs : ndarray of shape (n_classes, n_classes) or (n_classes, n_classes + 1)
        Loss of each prediction (column) for each class (row): not negative, a zero in each row.
        A last column more than rows is the prediction REJECT.
    labels : ndarray of shape (n_rounds,)
        Class of each row, from 0.
    loss_driven : bool
        Whether to be loss-driven.
    """

    def __init__(
        self, const double[:, ::1] costs, const Py_ssize_t[::1] labels, bint loss_driven=False
    ):
        cdef Py_ssize_t n_classes = costs.shape[0]
        if n_classes < 2 or costs.shape[1] - n_classes not in (0, 1):
            raise ValueError(
                "costs must have a row for each of two classes or more, and as many columns or one "
                f"more, got the shape {(costs.shape[0], costs.shape[1])}"
            )
        if labels.shape[0] and not (0 <= np.min(labels) and np.max(labels) < n_classes):
            raise ValueError(f"labels are outside the {n_classes} classes")
        self.n_rounds, self.loss_driven = labels.shape[0], loss_driven
        self.costs, self.labels = costs, labels
        self.width = 1 if costs.shape[1] == 2 else n_classes
        self.similarities = np.empty(costs.shape[1])

    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil:
        return self.width

    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil:
        cdef const double* costs = &self.costs[self.labels[i], 0]
        cdef const double* similarities = &self.similarities[0]
        cdef Py_ssize_t k, predicted = 0, wrong, right = -1
        self.write_similarities(scores)
        for k in range(1, self.costs.shape[1]):
            if leads(similarities[k], costs[k], similarities[predicted], costs[predicted]):
                predicted = k
        if costs[predicted] == 0.0:
            return 0.0
        wrong = predicted
        for k in range(self.costs.shape[1]):
            if costs[k] == 0.0 and (right < 0 or similarities[k] > similarities[right]):
                right = k
            if not self.loss_driven and leads(
                costs[k] + similarities[k], costs[k], costs[wrong] + similarities[wrong], costs[wrong]
            ):
                wrong = k
        for k in range(self.width):
            direction[k] = 0.0
        self.add(wrong, 1.0, direction)
        self.add(right, -1.0, direction)
        return costs[predicted]

    cdef void write_similarities(self, const double* scores) noexcept nogil:
        cdef Py_ssize_t k
        cdef double total = 0.0
        if self.width == 1:
            self.similarities[0] = -scores[0]
            self.similarities[1] = scores[0]
            return
        for k in range(self.width):
            self.similarities[k] = scores[k]
            total += scores[k]
        if self.costs.shape[1] > self.width:
            self.similarities[self.width] = total / sqrt(<double>self.width)

    cdef void add(self, Py_ssize_t prediction, double sign, double* direction) noexcept nogil:
        # direction += sign rep(prediction)
        cdef Py_ssize_t k
        if self.width == 1:
            direction[0] += sign * (2 * prediction - 1)
        elif prediction < self.width:
            direction[prediction] += sign
        else:
            for k in range(self.width):
                direction[k] += sign / sqrt(<double>self.width)

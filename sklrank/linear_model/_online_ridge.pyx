# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Recursive least squares for votes: ridge regression, exact after every row.

With the features f of a row (the last is the intercept) and what the votes for the labels should
have been, t, relative to a uniform vote,

    g = P f / (1 / w + f . P f),    W += g (t - W' f)',    P -= g (P f)',

from W = 0 and P = I / alpha. Then W minimises sum w |t - W' f|^2 + alpha |W|^2 over the rows so
far. The intercept is held to zero by no more than one row. A `drift` > 0 adds to the diagonal of P
before each row: the weights are taken to walk at random, so that old rows fade.

A lesson from a booster asks for t = -costs: the steepest way down its loss, in the manner of
gradient boosting. A lesson without costs, the labels alone, asks for all votes on them.
"""

from libc.stdlib cimport free, malloc

import numpy as np


cdef class RidgeLearner(OnlineLearner):
    """The compiled learner; OnlineRidgeClassifier documents and checks the parameters."""

    def __init__(
        self, FeatureMap features, Py_ssize_t n_classes, double alpha, double drift,
        double sharpness,
    ):
        self.features = features
        self.n_features = features.n_features
        self.n_classes = n_classes
        self.alpha = alpha
        self.drift = drift
        self.sharpness = sharpness
        n = features.n_outputs
        self.covariance = np.diag(np.append(np.full(n - 1, 1.0 / alpha), 1.0 / min(alpha, 1.0)))
        self.weights = np.zeros((n, n_classes))
        self.row = np.empty(n)
        self.columns = np.empty(features.n_columns + 1)
        self.spread = np.empty(n)
        self.errors = np.empty(n_classes)

    cdef int predict(self, const double* x, double* votes) except -1 nogil:
        # Own memory, so that threads may share a trained model.
        cdef Py_ssize_t n = self.features.n_outputs, l
        cdef double* memory = <double*>malloc((n + self.features.n_columns + 1) * sizeof(double))
        cdef double total = 0.0
        if memory == NULL:
            with gil:
                raise MemoryError
        self.features.transform(x, memory, memory + n)
        self.estimate(memory, votes)
        free(memory)
        for l in range(self.n_classes):
            votes[l] = max(1.0 / self.n_classes + self.sharpness * votes[l], 0.0)
            total += votes[l]
        for l in range(self.n_classes):
            votes[l] = votes[l] / total if total > 0.0 else 1.0 / self.n_classes
        return 0

    cdef void estimate(self, const double* row, double* values) noexcept nogil:
        cdef Py_ssize_t j, l
        cdef const double* weights
        for l in range(self.n_classes):
            values[l] = 0.0
        for j in range(self.features.n_outputs):
            weights = &self.weights[j, 0]
            for l in range(self.n_classes):
                values[l] += row[j] * weights[l]

    cdef int learn(self, const double* x, const Lesson* lesson) except -1 nogil:
        cdef Py_ssize_t n = self.features.n_outputs, j, k, l
        cdef double* row = &self.row[0]
        cdef double* spread = &self.spread[0]
        cdef double* errors = &self.errors[0]
        cdef double* p
        cdef double gain, variance = 0.0, weight = 1.0
        self.features.transform(x, row, &self.columns[0])
        self.estimate(row, errors)
        if lesson.costs != NULL:
            for l in range(self.n_classes):
                errors[l] = -lesson.costs[l] - errors[l]
        else:
            weight = 0.0
            for l in range(self.n_classes):
                errors[l] = -1.0 / self.n_classes - errors[l]
            for l in range(lesson.n_labels):
                weight += lesson.weights[l]
            for l in range(lesson.n_labels):
                errors[lesson.labels[l]] += lesson.weights[l] / weight
        if weight <= 0.0:
            return 0
        for k in range(n):
            spread[k] = 0.0
            self.covariance[k, k] += self.drift
        for j in range(n):
            p = &self.covariance[j, 0]
            for k in range(n):
                spread[k] += row[j] * p[k]
        for j in range(n):
            variance += row[j] * spread[j]
        gain = weight / (1.0 + weight * max(variance, 0.0))
        for j in range(n):
            p = &self.covariance[j, 0]
            for k in range(n):
                p[k] -= gain * spread[j] * spread[k]
            for l in range(self.n_classes):
                self.weights[j, l] += gain * spread[j] * errors[l]
        self.features.update(x)
        return 0

    @property
    def weight_table(self):
        """Copy of the weights `(n_outputs, n_classes)`; the last row is the intercept."""
        return np.array(self.weights)

    def __reduce__(self):
        arguments = self.features, self.n_classes, self.alpha, self.drift, self.sharpness
        return RidgeLearner, arguments, (np.array(self.covariance), np.array(self.weights))

    def __setstate__(self, state):
        self.covariance, self.weights = [np.require(array, requirements="W") for array in state]

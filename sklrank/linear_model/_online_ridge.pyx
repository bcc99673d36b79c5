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

import numpy as np

from sklrank.linear_model._linear_learner cimport normalise


cdef class RidgeLearner(LinearLearner):
    """The compiled learner; OnlineRidgeClassifier documents and checks the parameters."""

    def __init__(
        self, FeatureMap features, Py_ssize_t n_classes, double alpha, double drift,
        double sharpness,
    ):
        super().__init__(features, n_classes)
        self.alpha = alpha
        self.drift = drift
        self.sharpness = sharpness
        n = features.n_outputs
        self.covariance = np.diag(np.append(np.full(n - 1, 1.0 / alpha), 1.0 / min(alpha, 1.0)))
        self.spread = np.empty(n)

    cdef void vote(self, double* values) noexcept nogil:
        cdef Py_ssize_t l
        for l in range(self.n_classes):
            values[l] = max(1.0 / self.n_classes + self.sharpness * values[l], 0.0)
        normalise(values, self.n_classes)

    cdef int learn(self, const double* x, const Lesson* lesson) except -1 nogil:
        cdef Py_ssize_t n = self.features.n_outputs, j, k, l
        cdef double* row = &self.row[0]
        cdef double* spread = &self.spread[0]
        cdef double* errors = &self.values[0]
        cdef double* p
        cdef double gain, variance = 0.0, weight = 1.0
        self.evaluate(x)
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
        # Not positive by rounding only: nothing is left to learn in this direction.
        gain = weight / (1.0 + weight * variance) if variance > 0.0 else 0.0
        for j in range(n):
            p = &self.covariance[j, 0]
            for k in range(n):
                p[k] -= gain * spread[j] * spread[k]
            for l in range(self.n_classes):
                self.weights[j, l] += gain * spread[j] * errors[l]
        self.features.update(x)
        return 0

    def __reduce__(self):
        arguments = self.features, self.n_classes, self.alpha, self.drift, self.sharpness
        return RidgeLearner, arguments, (np.array(self.covariance), np.array(self.weights))

    def __setstate__(self, state):
        self.covariance, self.weights = [np.require(array, requirements="W") for array in state]

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What the online linear learners share: a map of features, weights, and votes made of both."""

from libc.stdlib cimport free, malloc

import numpy as np

from sklrank.linear_model._products cimport add_product


cdef class LinearLearner(OnlineLearner):
    """A subclass makes votes of the products of features and weights, and corrects the weights."""

    def __init__(self, FeatureMap features, Py_ssize_t n_classes):
        self.features = features
        self.n_features = features.n_features
        self.n_classes = n_classes
        self.weights = np.zeros((features.n_outputs, n_classes))
        self.row = np.empty(features.n_outputs)
        self.columns = np.empty(features.n_columns + 1)
        self.values = np.empty(n_classes)

    cdef int predict(self, const double* x, double* votes) except -1 nogil:
        # The memory is a call's own, so that threads may share a trained model.
        cdef Py_ssize_t n = self.features.n_outputs
        cdef double* memory = <double*>malloc((n + self.features.n_columns + 1) * sizeof(double))
        if memory == NULL:
            with gil:
                raise MemoryError
        self.features.transform(x, memory, memory + n)
        products(memory, self.weights, votes)
        free(memory)
        self.vote(votes)
        return 0

    cdef int learn(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
        self.evaluate(x)
        self.correct(x, feedback)
        return 0

    cdef int predict_cached(self, const double* x, double* votes) except -1 nogil:
        cdef Py_ssize_t l
        self.evaluate(x)
        for l in range(self.n_classes):
            votes[l] = self.values[l]
        self.vote(votes)
        return 0

    cdef int learn_cached(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
        self.correct(x, feedback)
        return 0

    cdef void evaluate(self, const double* x) noexcept nogil:
        self.features.transform(x, &self.row[0], &self.columns[0])
        products(&self.row[0], self.weights, &self.values[0])

    cdef void correct(self, const double* x, const LabelFeedback* feedback) noexcept nogil:
        pass

    cdef void vote(self, double* values) noexcept nogil:
        normalise(values, self.n_classes)

    @property
    def weight_table(self):
        """Copy of the weights `(n_outputs, n_classes)`; the last row is the intercept."""
        return np.array(self.weights)


cdef void products(
    const double* row, const double[:, ::1] weights, double* values
) noexcept nogil:
    cdef Py_ssize_t l
    for l in range(weights.shape[1]):
        values[l] = 0.0
    add_product(row, &weights[0, 0], weights.shape[0], weights.shape[1], values)


cdef void normalise(double* votes, Py_ssize_t n) noexcept nogil:
    # Make numbers >= 0 sum to one; all alike where they are all 0.
    cdef double total = 0.0
    cdef Py_ssize_t l
    for l in range(n):
        total += votes[l]
    for l in range(n):
        votes[l] = votes[l] / total if total > 0.0 else 1.0 / n

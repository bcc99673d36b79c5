# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Base class of the online linear learners.

A learner has a feature map, which computes the features f of a sample, and weights W. It computes
its votes from the products W'f.
"""

from libc.stdlib cimport free, malloc

import numpy as np

from sklrank._state cimport State
from sklrank.linear_model._online._feature_map cimport add_product


cdef class LinearLearner(OnlineLearner):
    """Base class of the learners.

    A subclass overrides `update`, and `vote` if necessary. Its constructor sets the initial
    weights, of shape `(n_outputs, n_classes)`.
    """

    cdef dict get_state(self):
        return {"feature_map": self.feature_map, "weights": self.weight_table}

    cdef int set_state(self, State state) except -1:
        cdef FeatureMap feature_map = state.part("feature_map", FeatureMap)
        weights = state.floats("weights", (feature_map.n_outputs, -1))
        cdef Py_ssize_t n_classes = weights.shape[1]
        state.require(n_classes > 0, "there are no classes")
        state.require(
            not self.is_ready
            or (feature_map.n_features, n_classes) == (self.n_features, self.n_classes),
            "its sizes are not those of the object",
        )
        features, predictions = np.empty(feature_map.n_outputs), np.empty(n_classes)
        scratch = np.empty(feature_map.n_columns + 1)
        self.feature_map, self.weights = feature_map, weights
        self.n_features, self.n_classes = feature_map.n_features, n_classes
        self.features, self.predictions, self.scratch = features, predictions, scratch
        return 0

    cdef int predict(self, const double* x, double* votes) except -1 nogil:
        # Each call allocates memory of its own, so that threads can share a fitted model.
        cdef Py_ssize_t n = self.feature_map.n_outputs
        cdef double* memory = <double*>malloc((n + self.feature_map.n_columns + 1) * sizeof(double))
        if memory == NULL:
            with gil:
                raise MemoryError
        self.feature_map.transform(x, memory, memory + n)
        linear_predictions(memory, self.weights, votes)
        free(memory)
        self.vote(votes)
        return 0

    cdef int learn(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
        self.predict_linear(x)
        self.update(x, feedback)
        return 0

    cdef int predict_cached(self, const double* x, double* votes) except -1 nogil:
        cdef Py_ssize_t l
        self.predict_linear(x)
        for l in range(self.n_classes):
            votes[l] = self.predictions[l]
        self.vote(votes)
        return 0

    cdef int learn_cached(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
        self.update(x, feedback)
        return 0

    cdef void predict_linear(self, const double* x) noexcept nogil:
        self.feature_map.transform(x, &self.features[0], &self.scratch[0])
        linear_predictions(&self.features[0], self.weights, &self.predictions[0])

    cdef void update(self, const double* x, const LabelFeedback* feedback) noexcept nogil:
        pass

    cdef void vote(self, double* predictions) noexcept nogil:
        normalize(predictions, self.n_classes)

    @property
    def weight_table(self):
        """Copy of the weights `(n_outputs, n_classes)`, whose last row contains the intercepts."""
        self.require_ready()
        return np.array(self.weights)


cdef void linear_predictions(
    const double* features, const double[:, ::1] weights, double* predictions
) noexcept nogil:
    # Write W'f into `predictions`.
    cdef Py_ssize_t l
    for l in range(weights.shape[1]):
        predictions[l] = 0.0
    add_product(features, &weights[0, 0], weights.shape[0], weights.shape[1], predictions)


cdef void normalize(double* votes, Py_ssize_t n) noexcept nogil:

    cdef double total = 0.0
    cdef Py_ssize_t l
    for l in range(n):
        total += votes[l]
    for l in range(n):
        votes[l] = votes[l] / total if total > 0.0 else 1.0 / n

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

With `learns_relevance` every lesson asks for t[l] = 1 - 1/m for a relevant label, -1/m for an
irrelevant one, of those that are known; the other labels are left alone. All labels share P. Where
a share q of the m labels is known (k/m under top-k feedback), P takes the row in with the weight
q w: it is then what a label knows that was seen as often as the average one. A label seen oftener
takes shorter steps,

    W_l += v P f / (1 + v f . P f) (t[l] - W_l . f),      v = w min(1, mean of n / n_l)

with n_l the weight of the rows in which l was known, this one included. If all labels were seen
equally often, this is recursive least squares for each of them with its expected share of rows.
"""

import numpy as np

from sklrank.linear_model._linear_learner cimport normalise


cdef class RidgeLearner(LinearLearner):
    """The compiled learner; OnlineRidgeClassifier documents and checks the parameters."""

    def __init__(
        self, FeatureMap features, Py_ssize_t n_classes, double alpha, double drift,
        double sharpness, bint learns_relevance=False,
    ):
        super().__init__(features, n_classes)
        self.alpha = alpha
        self.drift = drift
        self.sharpness = sharpness
        self.learns_relevance = learns_relevance
        n = features.n_outputs
        self.covariance = np.diag(np.append(np.full(n - 1, 1.0 / alpha), 1.0 / min(alpha, 1.0)))
        self.spread = np.empty(n)
        self.known = np.zeros(n_classes)
        self.mean_known = 0.0

    cdef void vote(self, double* values) noexcept nogil:
        cdef Py_ssize_t l
        for l in range(self.n_classes):
            values[l] = max(1.0 / self.n_classes + self.sharpness * values[l], 0.0)
        normalise(values, self.n_classes)

    cdef int learn(self, const double* x, const Lesson* lesson) except -1 nogil:
        cdef Py_ssize_t l
        cdef double* errors = &self.values[0]
        cdef double weight = 1.0
        cdef bint partial = lesson.n_labels + lesson.n_irrelevant < self.n_classes
        self.evaluate(x)
        if self.learns_relevance and partial:
            self.step_for_known(lesson)
            self.features.update(x)
            return 0
        if self.learns_relevance:
            weight = lesson.row_weight
            for l in range(self.n_classes):
                errors[l] = -1.0 / self.n_classes - errors[l]
            for l in range(lesson.n_labels):
                errors[lesson.labels[l]] += 1.0
        elif lesson.costs != NULL:
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
        self.step_for_all(weight)
        self.features.update(x)
        return 0

    cdef void step_for_all(self, double weight) noexcept nogil:
        # With the error of each label in `values`.
        cdef Py_ssize_t j, l
        cdef const double* errors = &self.values[0]
        cdef double variance = self.project(self.drift)
        # Not positive by rounding only: nothing is left to learn in this direction.
        cdef double gain = weight / (1.0 + weight * variance) if variance > 0.0 else 0.0
        for j in range(self.features.n_outputs):
            for l in range(self.n_classes):
                self.weights[j, l] += gain * self.spread[j] * errors[l]
        self.narrow(gain)
        for l in range(self.n_classes):
            self.known[l] += weight
        self.mean_known += weight

    cdef void step_for_known(self, const Lesson* lesson) noexcept nogil:
        # With the estimate for each label in `values`.
        cdef Py_ssize_t i
        cdef double weight = lesson.row_weight
        cdef double share = <double>(lesson.n_labels + lesson.n_irrelevant) / self.n_classes
        cdef double variance = self.project(share * self.drift)
        if variance <= 0.0:
            return
        self.mean_known += share * weight
        for i in range(lesson.n_labels):
            self.step_for_label(lesson.labels[i], 1.0, weight, variance)
        for i in range(lesson.n_irrelevant):
            self.step_for_label(lesson.irrelevant[i], 0.0, weight, variance)
        self.narrow(share * weight / (1.0 + share * weight * variance))

    cdef void step_for_label(
        self, Py_ssize_t label, double relevance, double weight, double variance
    ) noexcept nogil:
        cdef double error = relevance - 1.0 / self.n_classes - self.values[label]
        cdef double gain
        cdef Py_ssize_t j
        self.known[label] += weight
        if self.known[label] > self.mean_known:
            weight *= self.mean_known / self.known[label]
        gain = weight / (1.0 + weight * variance)
        for j in range(self.features.n_outputs):
            self.weights[j, label] += gain * self.spread[j] * error

    cdef double project(self, double drift) noexcept nogil:
        # Let the weights wander, then P f into `spread`; returns f . P f.
        cdef Py_ssize_t n = self.features.n_outputs, j, k
        cdef const double* row = &self.row[0]
        cdef double* spread = &self.spread[0]
        cdef const double* p
        cdef double variance = 0.0
        for k in range(n):
            spread[k] = 0.0
            self.covariance[k, k] += drift
        for j in range(n):
            p = &self.covariance[j, 0]
            for k in range(n):
                spread[k] += row[j] * p[k]
        for j in range(n):
            variance += row[j] * spread[j]
        return variance

    cdef void narrow(self, double gain) noexcept nogil:
        # P -= gain (P f) (P f)'.
        cdef Py_ssize_t n = self.features.n_outputs, j, k
        cdef const double* spread = &self.spread[0]
        cdef double* p
        for j in range(n):
            p = &self.covariance[j, 0]
            for k in range(n):
                p[k] -= gain * spread[j] * spread[k]

    def __reduce__(self):
        arguments = (
            self.features, self.n_classes, self.alpha, self.drift, self.sharpness,
            self.learns_relevance,
        )
        state = (
            np.array(self.covariance), np.array(self.weights), np.array(self.known),
            self.mean_known,
        )
        return RidgeLearner, arguments, state

    def __setstate__(self, state):
        *arrays, self.mean_known = state
        self.covariance, self.weights, self.known = [
            np.require(array, requirements="W") for array in arrays
        ]

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Recursive least squares for votes: ridge regression, exact after every row.

With the features f of a row (the last is the intercept) and what the votes for the labels should
have been, t, relative to a uniform vote,

    g = P f / (1 / w + f . P f),    W += g (t - W' f)',    P -= g (P f)',

from W = 0 and P = I / alpha. Then W minimises sum w |t - W' f|^2 + alpha |W|^2 over the rows so
far. The intercept is held to zero by no more than one row. A `process_noise` > 0 is added to the
diagonal of P before each row: the weights are assumed to take a random walk, and old rows fade. Where columns
depend on each other, P stays 1 / alpha large in some directions while it shrinks in others, below
what rounding leaves there of the large ones: it may lose its definiteness, and the weights run
away. So the diagonal also grows by as much of itself as rounding may take.

P is by far the largest array. Only its lower triangle is kept up, and its step waits for the next
row, where one pass makes the step and then the product P f.

A feedback from a booster asks for t = -costs: the steepest way down its loss, in the manner of
gradient boosting. A feedback without costs, the labels alone, asks for all votes on them.

With `learns_relevance` every feedback asks for t[l] = 1 - 1/m for a relevant label, -1/m for an
irrelevant one, of those that are known; the other labels are left alone. All labels share P. Where
a share q of the m labels is known (k/m under top-k feedback), P takes the row in with the weight
q w: it is then what a label knows that was seen as often as the average one. A label seen oftener
takes shorter steps,

    W_l += v P f / (1 + v f . P f) (t[l] - W_l . f),      v = w min(1, mean of n / n_l)

with n_l the weight of the rows in which l was known, this one included. If all labels were seen
equally often, this is recursive least squares for each of them with its expected share of rows.
"""

import numpy as np

from sklrank.linear_model._online._learner cimport normalise

cdef double ROUNDING = np.finfo(np.float64).eps


cdef class RidgeLearner(LinearLearner):
    """The compiled learner; OnlineRidgeClassifier documents and checks the parameters."""

    def __init__(
        self, FeatureMap features, Py_ssize_t n_classes, double alpha, double process_noise,
        double vote_scale, bint learns_relevance=False,
    ):
        super().__init__(features, n_classes)
        self.alpha = alpha
        self.process_noise = process_noise
        self.vote_scale = vote_scale
        self.learns_relevance = learns_relevance
        n = features.n_outputs
        self.covariance = np.diag(np.append(np.full(n - 1, 1.0 / alpha), 1.0 / min(alpha, 1.0)))
        self.spread = np.zeros(n)
        self.gain = 0.0
        self.spread_before = np.empty(n)
        self.known = np.zeros(n_classes)
        self.mean_known = 0.0

    cdef void vote(self, double* values) noexcept nogil:
        cdef Py_ssize_t l
        for l in range(self.n_classes):
            values[l] = max(1.0 / self.n_classes + self.vote_scale * values[l], 0.0)
        normalise(values, self.n_classes)

    cdef void correct(self, const double* x, const LabelFeedback* feedback) noexcept nogil:
        cdef double* errors = &self.values[0]
        cdef double weight = 1.0
        cdef Py_ssize_t l
        if self.learns_relevance:
            weight = feedback.row_weight
            if feedback.n_labels + feedback.n_irrelevant < self.n_classes:
                self.step_for_known(feedback)
                self.features.update(x, &self.columns[0])
                return
            for l in range(self.n_classes):
                errors[l] = -1.0 / self.n_classes - errors[l]
            for l in range(feedback.n_labels):
                errors[feedback.labels[l]] += 1.0
        elif feedback.costs != NULL:
            for l in range(self.n_classes):
                errors[l] = -feedback.costs[l] - errors[l]
        else:
            weight = 0.0
            for l in range(self.n_classes):
                errors[l] = -1.0 / self.n_classes - errors[l]
            for l in range(feedback.n_labels):
                weight += feedback.weights[l]
            for l in range(feedback.n_labels):
                errors[feedback.labels[l]] += feedback.weights[l] / weight
        if weight <= 0.0:
            return
        self.step_for_all(weight)
        self.features.update(x, &self.columns[0])

    cdef void step_for_all(self, double weight) noexcept nogil:
        # Expects the error of each label in `values`.
        cdef const double* errors = &self.values[0]
        cdef double* weights
        cdef double step, variance = self.spread_row(self.process_noise)
        cdef Py_ssize_t j, l
        # The variance is 0 or less by rounding only: nothing is left to learn in this direction.
        self.gain = weight / (1.0 + weight * variance) if variance > 0.0 else 0.0
        for j in range(self.features.n_outputs):
            step = self.gain * self.spread[j]
            weights = &self.weights[j, 0]
            for l in range(self.n_classes):
                weights[l] += step * errors[l]
        for l in range(self.n_classes):
            self.known[l] += weight
        self.mean_known += weight

    cdef void step_for_known(self, const LabelFeedback* feedback) noexcept nogil:
        # Expects the estimate for each label in `values`.
        cdef double share = <double>(feedback.n_labels + feedback.n_irrelevant) / self.n_classes
        cdef double weight = share * feedback.row_weight
        cdef double variance = self.spread_row(share * self.process_noise)
        cdef Py_ssize_t i
        self.gain = weight / (1.0 + weight * variance) if variance > 0.0 else 0.0
        if self.gain == 0.0:
            return
        self.mean_known += weight
        for i in range(feedback.n_labels):
            self.step_for_label(feedback.labels[i], 1.0, feedback.row_weight, variance)
        for i in range(feedback.n_irrelevant):
            self.step_for_label(feedback.irrelevant[i], 0.0, feedback.row_weight, variance)

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

    cdef double spread_row(self, double process_noise) noexcept nogil:
        # P's step for the row before, then P f for this one; returns f . P f. An entry left of the
        # diagonal counts twice. Two rows of P at a time: so the sums are loaded and stored half as
        # often.
        cdef Py_ssize_t n = self.features.n_outputs, j, k
        cdef const double* row = &self.row[0]
        cdef double* spread = &self.spread[0]
        cdef double* before = &self.spread_before[0]
        cdef double* p
        cdef double* q
        cdef double a, b, c, d, u, v, p_sum, q_sum, variance = 0.0
        for k in range(n):
            before[k] = spread[k]
            self.covariance[k, k] += process_noise + ROUNDING * self.covariance[k, k]
        for j in range(0, n - 1, 2):
            p = &self.covariance[j, 0]
            q = p + n
            a, b = row[j], row[j + 1]
            c, d = self.gain * before[j], self.gain * before[j + 1]
            p_sum = q_sum = 0.0
            for k in range(j):
                u = p[k] - c * before[k]
                v = q[k] - d * before[k]
                p[k] = u
                q[k] = v
                p_sum += u * row[k]
                q_sum += v * row[k]
                spread[k] += u * a + v * b
            p[j] -= c * before[j]
            q[j] -= d * before[j]
            q[j + 1] -= d * before[j + 1]
            spread[j] = p_sum + p[j] * a + q[j] * b
            spread[j + 1] = q_sum + q[j] * a + q[j + 1] * b
        if n % 2:
            p = &self.covariance[n - 1, 0]
            a, c = row[n - 1], self.gain * before[n - 1]
            p_sum = 0.0
            for k in range(n - 1):
                u = p[k] - c * before[k]
                p[k] = u
                p_sum += u * row[k]
                spread[k] += u * a
            p[n - 1] -= c * before[n - 1]
            spread[n - 1] = p_sum + p[n - 1] * a
        for j in range(n):
            variance += row[j] * spread[j]
        return variance

    def __reduce__(self):
        arguments = (
            self.features, self.n_classes, self.alpha, self.process_noise, self.vote_scale,
            self.learns_relevance,
        )
        state = (
            self.gain, self.mean_known, np.array(self.covariance), np.array(self.spread),
            np.array(self.weights), np.array(self.known),
        )
        return RidgeLearner, arguments, state

    def __setstate__(self, state):
        self.gain, self.mean_known, *arrays = state
        arrays = [np.array(array) for array in arrays]
        self.covariance, self.spread, self.weights, self.known = arrays

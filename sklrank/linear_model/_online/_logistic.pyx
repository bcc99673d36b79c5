# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Logistic regression by adaptive gradient steps (AdaGrad, Duchi, Hazan & Singer 2011), row by row.

With the features f of a row, of length about one, and the margins z = W' f, the slope of the loss
for label l is

    multinomial     s_l = sum_k w_k (softmax(z)_l - [l = k])            k: the relevant labels
    one-versus-rest s_l = w (sigma(z_l) - [l is relevant])

and each weight takes the step learning_rate g / sqrt(1 + sum of g^2 so far), where
g = s_l f_j + alpha w W_jl and w is the weight of the row. The 1 keeps the first steps of a rare
feature as short as it is rare.

Multinomial lessons use the importance weight of each relevant label. One-versus-rest learns from
every label, irrelevant ones included, and all of them weigh the same: in a booster's feedback
sum_l |c[l] - mean(c)|, twice the weight of Jung & Tewari (2018), Eq. 9. It is 1 for the first
learner of Ada.OLMR, and less for the next ones, the better a row is ranked already. Where only some
labels of a row are known, as in top-k feedback, one-versus-rest learns those and leaves the others
alone, with the weight of the row itself: costs estimated from few labels by importance weights are
0 or huge, and what is wanted, the relevance of the labels, was seen.
"""

from libc.math cimport exp, fabs, sqrt

import numpy as np

from sklrank.linear_model._online._learner cimport normalise


cdef class LogisticLearner(LinearLearner):
    """The compiled learner; OnlineLogisticRegression documents and checks the parameters."""

    def __init__(
        self, FeatureMap features, Py_ssize_t n_classes, bint multinomial, double learning_rate,
        double alpha,
    ):
        super().__init__(features, n_classes)
        self.multinomial = multinomial
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.squares = np.ones((features.n_outputs, n_classes))

    cdef void vote(self, double* values) noexcept nogil:
        cdef Py_ssize_t l
        if self.multinomial:
            softmax(values, self.n_classes)
            return
        for l in range(self.n_classes):
            values[l] = sigmoid(values[l])
        normalise(values, self.n_classes)

    cdef void correct(self, const double* x, const LabelFeedback* feedback) noexcept nogil:
        cdef Py_ssize_t j, l
        cdef double* row = &self.row[0]
        cdef double* slopes = &self.values[0]
        cdef double* weights
        cdef double* squares
        cdef double g, weight
        if not self.multinomial and feedback.n_labels + feedback.n_irrelevant < self.n_classes:
            for j in range(feedback.n_labels):
                self.learn_label(feedback.labels[j], 1.0, feedback.row_weight)
            for j in range(feedback.n_irrelevant):
                self.learn_label(feedback.irrelevant[j], 0.0, feedback.row_weight)
            self.features.update(x, &self.columns[0])
            return
        weight = self.ask(feedback)
        if weight <= 0.0:
            return
        for j in range(self.features.n_outputs):
            weights = &self.weights[j, 0]
            squares = &self.squares[j, 0]
            for l in range(self.n_classes):
                g = row[j] * slopes[l] + weight * self.alpha * weights[l]
                squares[l] += g * g
                weights[l] -= self.learning_rate * g / sqrt(squares[l])
        self.features.update(x, &self.columns[0])

    cdef void learn_label(self, Py_ssize_t label, double relevance, double weight) noexcept nogil:
        # The steps of one label's weights, from the row under way.
        cdef double slope = weight * (sigmoid(self.values[label]) - relevance), g
        cdef double shrinkage = weight * self.alpha
        cdef Py_ssize_t j
        for j in range(self.features.n_outputs):
            g = self.row[j] * slope + shrinkage * self.weights[j, label]
            self.squares[j, label] += g * g
            self.weights[j, label] -= self.learning_rate * g / sqrt(self.squares[j, label])

    cdef double ask(self, const LabelFeedback* feedback) noexcept nogil:
        # Turn the margins in `values` into the slopes of the loss; returns the feedback's weight.
        cdef double* slopes = &self.values[0]
        cdef double weight = 0.0, mean
        cdef Py_ssize_t i, l
        for i in range(feedback.n_labels):
            weight += feedback.weights[i]
        if self.multinomial:
            softmax(slopes, self.n_classes)
            for l in range(self.n_classes):
                slopes[l] *= weight
            for i in range(feedback.n_labels):
                slopes[feedback.labels[i]] -= feedback.weights[i]
            return weight
        for l in range(self.n_classes):
            slopes[l] = sigmoid(slopes[l])
        for i in range(feedback.n_labels):
            slopes[feedback.labels[i]] -= 1.0
        if feedback.costs == NULL:
            weight /= max(feedback.n_labels, 1)
        else:
            mean = weight = 0.0
            for l in range(self.n_classes):
                mean += feedback.costs[l] / self.n_classes
            for l in range(self.n_classes):
                weight += fabs(feedback.costs[l] - mean)
        for l in range(self.n_classes):
            slopes[l] *= weight
        return weight

    def __reduce__(self):
        arguments = (
            self.features, self.n_classes, self.multinomial, self.learning_rate, self.alpha
        )
        return LogisticLearner, arguments, (np.array(self.weights), np.array(self.squares))

    def __setstate__(self, state):
        self.weights, self.squares = [np.array(array) for array in state]


cdef inline double sigmoid(double z) noexcept nogil:
    return 1.0 / (1.0 + exp(-z))


cdef void softmax(double* values, Py_ssize_t n) noexcept nogil:
    cdef double greatest = values[0], total = 0.0
    cdef Py_ssize_t l
    for l in range(1, n):
        greatest = max(greatest, values[l])
    for l in range(n):
        values[l] = exp(values[l] - greatest)
        total += values[l]
    for l in range(n):
        values[l] /= total

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Online logistic regression by adaptive gradient steps (AdaGrad, Duchi, Hazan & Singer 2011).

Let f be the features of a sample, of norm about one, and let z = W'f be its margins. The derivative
of the loss with respect to the margin of label l is s_l,

    multinomial         s_l = sum_k w_k (softmax(z)_l - [l = k])
    one-versus-rest     s_l = w (sigma(z_l) - [l is relevant]).

The sum runs over the relevant labels k, whose importance weights are w_k, and w is the weight of
the sample. With g = s_l f_j + alpha w W_jl, the weight W_jl takes the step
-learning_rate g / sqrt(1 + sum of g^2), where the sum runs over all steps so far. Because of the 1,
the first steps of a rare feature are short.

The multinomial loss uses only the relevant labels, each with its importance weight w_k.
One-versus-rest uses all labels, relevant and irrelevant, with the same weight w. For feedback with
costs c from a booster, this weight is sum_l |c[l] - mean(c)|, which is twice the weight of Jung &
Tewari (2018), Eq. 9. It is 1 for the first learner of Ada.OLMR, and it is smaller for the next
learners if the sample is already ranked well. If only some labels of a sample are known, as with
top-k feedback, one-versus-rest uses these labels with the weight of the sample itself, and does not
change the weights of the other labels. The reason is that costs estimated from few labels by
importance weights are 0 or very large, while the relevance of the labels shown is observed.
"""

from libc.math cimport exp, fabs, sqrt

import numpy as np

from sklrank._state cimport State
from sklrank.linear_model._online._learner cimport normalize


cdef class LogisticLearner(LinearLearner):
    """Compiled learner of OnlineLogisticRegression, which documents and checks the parameters."""

    def __init__(
        self, FeatureMap feature_map not None, Py_ssize_t n_classes, bint multinomial,
        double learning_rate, double alpha,
    ):
        self.start(
            {
                "feature_map": feature_map,
                "weights": np.zeros((feature_map.n_outputs, n_classes)),
                "sum_squares": np.ones((feature_map.n_outputs, n_classes)),
                "multinomial": multinomial,
                "learning_rate": learning_rate,
                "alpha": alpha,
            }
        )

    cdef dict get_state(self):
        return LinearLearner.get_state(self) | {
            "sum_squares": np.array(self.sum_squares),
            "multinomial": self.multinomial,
            "learning_rate": self.learning_rate,
            "alpha": self.alpha,
        }

    cdef int set_state(self, State state) except -1:
        cdef FeatureMap feature_map = state.part("feature_map", FeatureMap)
        weights = state.constants("weights", (feature_map.n_outputs, -1))
        sum_squares = state.floats("sum_squares", weights.shape)
        cdef bint multinomial = state.flag("multinomial")
        cdef double learning_rate = state.number("learning_rate", 0.0)
        cdef double alpha = state.number("alpha", 0.0)
        LinearLearner.set_state(self, state)
        self.sum_squares = sum_squares
        self.multinomial, self.learning_rate, self.alpha = multinomial, learning_rate, alpha
        return 0

    cdef void vote(self, double* predictions) noexcept nogil:
        cdef Py_ssize_t l
        if self.multinomial:
            softmax(predictions, self.n_classes)
            return
        for l in range(self.n_classes):
            predictions[l] = sigmoid(predictions[l])
        normalize(predictions, self.n_classes)

    cdef void update(self, const double* x, const LabelFeedback* feedback) noexcept nogil:
        cdef Py_ssize_t j, l
        cdef double* features = &self.features[0]
        cdef double* gradient = &self.predictions[0]
        cdef double* weights
        cdef double* sum_squares
        cdef double g, weight
        if not self.multinomial and feedback.n_relevant + feedback.n_irrelevant < self.n_classes:
            for j in range(feedback.n_relevant):
                self.update_label(feedback.relevant[j], 1.0, feedback.sample_weight)
            for j in range(feedback.n_irrelevant):
                self.update_label(feedback.irrelevant[j], 0.0, feedback.sample_weight)
            self.feature_map.update(x, &self.scratch[0])
            return
        weight = self.loss_gradient(feedback)
        if weight <= 0.0:
            return
        for j in range(self.feature_map.n_outputs):
            weights = &self.weights[j, 0]
            sum_squares = &self.sum_squares[j, 0]
            for l in range(self.n_classes):
                g = features[j] * gradient[l] + weight * self.alpha * weights[l]
                sum_squares[l] += g * g
                weights[l] -= self.learning_rate * g / sqrt(sum_squares[l])
        self.feature_map.update(x, &self.scratch[0])

    cdef void update_label(self, Py_ssize_t label, double relevance, double weight) noexcept nogil:
        cdef double slope = weight * (sigmoid(self.predictions[label]) - relevance), g
        cdef double shrinkage = weight * self.alpha
        cdef Py_ssize_t j
        for j in range(self.feature_map.n_outputs):
            g = self.features[j] * slope + shrinkage * self.weights[j, label]
            self.sum_squares[j, label] += g * g
            self.weights[j, label] -= self.learning_rate * g / sqrt(self.sum_squares[j, label])

    cdef double loss_gradient(self, const LabelFeedback* feedback) noexcept nogil:
        cdef double* gradient = &self.predictions[0]
        cdef double weight = 0.0, mean
        cdef Py_ssize_t i, l
        for i in range(feedback.n_relevant):
            weight += feedback.weights[i]
        if self.multinomial:
            softmax(gradient, self.n_classes)
            for l in range(self.n_classes):
                gradient[l] *= weight
            for i in range(feedback.n_relevant):
                gradient[feedback.relevant[i]] -= feedback.weights[i]
            return weight
        for l in range(self.n_classes):
            gradient[l] = sigmoid(gradient[l])
        for i in range(feedback.n_relevant):
            gradient[feedback.relevant[i]] -= 1.0
        if feedback.costs == NULL:
            weight /= max(feedback.n_relevant, 1)
        else:
            mean = weight = 0.0
            for l in range(self.n_classes):
                mean += feedback.costs[l] / self.n_classes
            for l in range(self.n_classes):
                weight += fabs(feedback.costs[l] - mean)
        for l in range(self.n_classes):
            gradient[l] *= weight
        return weight


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

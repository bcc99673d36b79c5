# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Online logistic regression by adaptive gradient steps (AdaGrad, Duchi, Hazan & Singer 2011).

Let f be the features of a sample, of norm about one, and let z = W'f be its margins. The derivative
of the loss with respect to the margin of label l is s_l,

    multinomial         s_l = sum_k w_k (softmax(z)_l - [l = k])
    one-versus-rest     s_l = w (sigma(z_l) - [l is relevant]).

The sum runs over the relevant labels k, whose importance weights are w_k, and w is the weight of
the sample. With g = s_l f_j, the weight W_jl takes the step
-learning_rate g / sqrt(1 + sum of g^2), where the sum runs over all steps so far. Because of the 1,
the first steps of a rare feature are short.

With several learning rates, there is a model for each of them. The logarithm of the share of a
model in the prediction is minus the sum of its losses so far, where the loss of a sample is

    multinomial         -sum_k w_k log softmax(z)_k
    one-versus-rest     -w sum_l log Pr[relevance of l],   Pr[l is relevant] = sigma(z_l).

Features that are 0 cost no time.

The multinomial loss uses only the relevant labels, each with its importance weight w_k.
One-versus-rest uses all labels, relevant and irrelevant, with the same weight w. For feedback with
costs c from a booster, this weight is sum_l |c[l] - mean(c)|, which is twice the weight of Jung &
Tewari (2018), Eq. 9. It is 1 for the first learner of Ada.OLMR, and it is smaller for the next
learners if the sample is already ranked well. If only some labels of a sample are known, as with
top-k feedback, one-versus-rest uses these labels with the weight of the sample itself, and does not
change the weights of the other labels. The reason is that costs estimated from few labels by
importance weights are 0 or very large, while the relevance of the labels shown is observed. The
loss that decides on the shares is then w times the rank loss of the margins of the known labels.
Most labels shown are irrelevant, so a log loss would prefer the model that learns fastest that all
labels are irrelevant, and not the one that ranks them best.
"""

from libc.math cimport INFINITY, exp, fabs, log, log1p, sqrt

import numpy as np

from sklrank._online_learner cimport known_rank_loss, softmax
from sklrank._state cimport Archive
from sklrank.linear_model._online._learner cimport normalize


cdef class LogisticLearner(LinearLearner):
    """Compiled learner of OnlineLogisticRegression, which documents and checks the parameters."""

    def __init__(
        self, FeatureMap feature_map not None, Py_ssize_t n_classes, bint multinomial,
        learning_rates,
    ):
        self.create(feature_map, len(learning_rates), n_classes)
        self.sum_squares = np.ones((len(learning_rates), feature_map.n_outputs, n_classes))
        self.multinomial, self.learning_rates = multinomial, learning_rates
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef LogisticLearner saved = archive.source
        LinearLearner.exchange(self, archive)
        shape = self.n_models, self.feature_map.n_outputs, self.n_classes
        self.sum_squares = archive.floats("sum_squares", saved.sum_squares, shape)
        self.multinomial = archive.flag("multinomial", saved.multinomial)
        self.learning_rates = archive.constants(
            "learning_rates", saved.learning_rates, (self.n_models,)
        )
        return 0

    cdef void vote(self, double* predictions) noexcept nogil:
        cdef Py_ssize_t l
        if self.multinomial:
            softmax(predictions, self.n_classes, predictions)
            return
        for l in range(self.n_classes):
            predictions[l] = sigmoid(predictions[l])
        normalize(predictions, self.n_classes)

    cdef int predict_relevance(self, const double* x, double* chances) except -1 nogil:
        # By one-versus-rest.
        cdef Py_ssize_t l
        self.predict_models(x)
        self.average(&self.model_predictions[0, 0], chances)
        for l in range(self.n_classes):
            chances[l] = sigmoid(chances[l])
        return 0

    cdef void update(self, const double* x, const LabelFeedback* feedback) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef double weight
        if not self.multinomial and feedback.n_relevant + feedback.n_irrelevant < self.n_classes:
            for k in range(self.n_models):
                if self.log_shares[k] == -INFINITY:
                    continue
                if self.n_models > 1:
                    self.log_shares[k] -= feedback.sample_weight * known_rank_loss(
                        &self.model_predictions[k, 0], self.n_classes, feedback
                    )
                for i in range(feedback.n_relevant):
                    self.update_label(k, feedback.relevant[i], 1.0, feedback.sample_weight)
                for i in range(feedback.n_irrelevant):
                    self.update_label(k, feedback.irrelevant[i], 0.0, feedback.sample_weight)
        else:
            weight = self.feedback_weight(feedback)
            if weight <= 0.0:
                return
            for k in range(self.n_models):
                if self.log_shares[k] > -INFINITY:
                    self.log_shares[k] -= self.loss_gradient(
                        feedback, weight, &self.model_predictions[k, 0]
                    )
                    self.update_all_labels(k, weight)
        self.feature_map.update(x, &self.scratch[0])
        if self.n_models > 1:
            self.update_shares()

    cdef void update_all_labels(self, Py_ssize_t k, double weight) noexcept nogil:
        cdef const double* gradient = &self.model_predictions[k, 0]
        cdef double* weights
        cdef double* sum_squares
        cdef double f, g, rate = self.learning_rates[k]
        cdef Py_ssize_t j, l
        for j in range(self.feature_map.n_outputs):
            f = self.features[j]
            if f == 0.0:
                continue
            weights = &self.weights[k, j, 0]
            sum_squares = &self.sum_squares[k, j, 0]
            for l in range(self.n_classes):
                g = f * gradient[l]
                sum_squares[l] += g * g
                weights[l] -= rate * g / sqrt(sum_squares[l])

    cdef void update_label(
        self, Py_ssize_t k, Py_ssize_t label, double relevance, double weight
    ) noexcept nogil:
        cdef Py_ssize_t j
        cdef double margin = self.model_predictions[k, label]
        cdef double slope = weight * (sigmoid(margin) - relevance), g
        for j in range(self.feature_map.n_outputs):
            g = self.features[j] * slope
            if g == 0.0:
                continue
            self.sum_squares[k, j, label] += g * g
            self.weights[k, j, label] -= (
                self.learning_rates[k] * g / sqrt(self.sum_squares[k, j, label])
            )

    cdef double feedback_weight(self, const LabelFeedback* feedback) noexcept nogil:
        cdef double weight = 0.0, mean = 0.0
        cdef Py_ssize_t i, l
        if self.multinomial:
            for i in range(feedback.n_relevant):
                weight += feedback.weights[i]
            return weight
        if feedback.costs == NULL:
            return feedback.sample_weight
        for l in range(self.n_classes):
            mean += feedback.costs[l] / self.n_classes
        for l in range(self.n_classes):
            weight += fabs(feedback.costs[l] - mean)
        return weight

    cdef double loss_gradient(
        self, const LabelFeedback* feedback, double weight, double* margins
    ) noexcept nogil:
        cdef double* gradient = margins
        cdef double loss = 0.0
        cdef Py_ssize_t i, l
        cdef bint needs_loss = self.n_models > 1
        if self.multinomial:
            if needs_loss:
                loss = weight * log_sum_exp(margins, self.n_classes)
                for i in range(feedback.n_relevant):
                    loss -= feedback.weights[i] * margins[feedback.relevant[i]]
            softmax(gradient, self.n_classes, gradient)
            for l in range(self.n_classes):
                gradient[l] *= weight
            for i in range(feedback.n_relevant):
                gradient[feedback.relevant[i]] -= feedback.weights[i]
            return loss
        if needs_loss:
            for l in range(self.n_classes):
                loss += softplus(margins[l])
            for i in range(feedback.n_relevant):
                loss -= margins[feedback.relevant[i]]
        for l in range(self.n_classes):
            gradient[l] = sigmoid(gradient[l])
        for i in range(feedback.n_relevant):
            gradient[feedback.relevant[i]] -= 1.0
        for l in range(self.n_classes):
            gradient[l] *= weight
        return weight * loss


cdef inline double softplus(double z) noexcept nogil:
    # log(1 + exp(z))
    return max(z, 0.0) + log1p(exp(-fabs(z)))


cdef double log_sum_exp(const double* values, Py_ssize_t n) noexcept nogil:
    cdef double greatest = values[0], total = 0.0
    cdef Py_ssize_t l
    for l in range(1, n):
        greatest = max(greatest, values[l])
    for l in range(n):
        total += exp(values[l] - greatest)
    return greatest + log(total)


cdef inline double sigmoid(double z) noexcept nogil:
    return 1.0 / (1.0 + exp(-z))

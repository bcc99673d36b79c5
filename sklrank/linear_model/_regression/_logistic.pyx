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

Features that are 0 cost no time, and features that were 0 in all samples no memory.

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

from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.math cimport INFINITY, exp, fabs, log, log1p, sqrt
from libc.string cimport memcpy

import numpy as np

from sklrank._compiled.rows cimport Row
from sklrank._compiled.state cimport Archive
from sklrank._online.learner cimport LabelFeedback, known_rank_loss, softmax
from sklrank.linear_model._regression._feature_map cimport FeatureMap
from sklrank.linear_model._regression._learner cimport LinearLearner, normalize

from sklrank._compiled import LABELS

ctypedef fused real:
    float
    double

# GCC compiles functions that return `cloned` (nothing) twice on Linux, and calls that for the
# processor: AVX2 halves the time of roots and divisions. It changes no bit, as it fuses nothing.
cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
    #define CLONED __attribute__((target_clones("avx2", "default")))
    #else
    #define CLONED
    #endif
    """
    ctypedef void cloned "CLONED void"


cdef class LogisticLearner(LinearLearner):
    """Compiled learner of OnlineLogisticRegression, which documents and checks the parameters."""

    cdef readonly bint multinomial
    cdef const double[::1] learning_rates   # (n_models,)
    # The weights of a feature, and 1 + sums of its squared gradients: (2, n_models, n_classes)
    # numbers, of single precision if `is_single`. A feature gets a row when it is first learned.
    cdef readonly bint is_single
    cdef void* table
    cdef Py_ssize_t n_rows, capacity        # number of rows in use, and of those in memory
    cdef int[::1] row_of                    # (n_outputs,) row of a feature; -1 if it has none

    def __init__(
        self, FeatureMap feature_map not None, Py_ssize_t n_classes, bint multinomial,
        learning_rates, bint is_single=False,
    ):
        self.create(feature_map, len(learning_rates), n_classes)
        self.n_models = len(learning_rates)
        self.row_of = np.full(feature_map.n_outputs, -1, dtype=np.intc)
        self.multinomial, self.learning_rates = multinomial, learning_rates
        self.is_single = is_single
        self.start()

    def __dealloc__(self):
        PyMem_RawFree(self.table)

    cdef int exchange(self, Archive archive) except -1:
        cdef LogisticLearner saved = archive.source
        cdef const char[::1] numbers
        LinearLearner.exchange(self, archive)
        self.multinomial = archive.flag("multinomial", saved.multinomial)
        self.learning_rates = archive.constants(
            "learning_rates", saved.learning_rates, (self.n_models,)
        )
        self.is_single = archive.flag("is_single", saved.is_single)
        shape = -1, 2, self.n_models, LABELS
        dtype = np.dtype("f4" if self.is_single else "f8")
        table = archive.array(
            "table", saved.table_of_rows(), shape, dtype, None, None, [[[0.0]], [[1.0]]]
        )
        self.row_of = archive.integers(
            "row_of", saved.row_of, (self.feature_map.n_outputs,), -1, len(table) - 1
        )
        if archive.loads:
            self.n_rows = 0
            self.reserve(len(table))
            self.n_rows = len(table)
            if len(table):
                numbers = table.reshape(-1).view(np.int8)
                memcpy(self.table, &numbers[0], numbers.shape[0])
        return 0

    _merge_rules = {"n_compared": "total"}

    @staticmethod
    def _merge_entries(merging):
        """Return the means of the weights by sums of squared gradients, and the total of these."""
        first = merging.states[0]
        untrained = np.zeros((len(first["row_of"]), *first["table"].shape[1:]))
        untrained[:, 1] = 1.0

        def dense(state):
            table, rows = untrained.copy(), state["row_of"]
            table[rows >= 0] = state["table"][rows[rows >= 0]]
            return table

        tables, start = merging.map(dense, untrained)
        gains = [table[:, 1] - start[:, 1] for table in tables]
        total = sum(gains)
        steps = sum(gain * (table[:, 0] - start[:, 0]) for gain, table in zip(gains, tables))
        step = np.divide(steps, total, out=np.zeros_like(total), where=total > 0.0)
        has_row = np.any([state["row_of"] >= 0 for state in merging.states], axis=0)
        table = (start + np.stack([step, total], axis=1))[has_row].astype(first["table"].dtype)
        row_of = np.where(has_row, np.cumsum(has_row) - 1, -1).astype(np.intc)
        # The difference of a model that was dropped, at minus infinity, is NaN.
        with np.errstate(invalid="ignore"):
            shares = np.nan_to_num(merging.total("log_shares"), nan=-np.inf, neginf=-np.inf)
        return {"table": table, "row_of": row_of, "log_shares": shares}

    cdef object table_of_rows(self):
        # Return a copy of the rows in use, (n_rows, 2, n_models, n_classes).
        cdef Py_ssize_t n_numbers = self.n_rows * 2 * self.n_models * self.n_classes
        cdef char[::1] numbers
        shape = self.n_rows, 2, self.n_models, self.n_classes
        table = np.empty(shape, "f4" if self.is_single else "f8")
        if n_numbers:
            numbers = table.reshape(-1).view(np.int8)
            memcpy(&numbers[0], self.table, numbers.shape[0])
        return table

    cdef object weights_of_models(self):
        rows = np.asarray(self.row_of)
        weights = np.zeros((self.n_models, len(rows), self.n_classes))
        weights[:, rows >= 0] = self.table_of_rows()[rows[rows >= 0], 0].transpose(1, 0, 2)
        return weights

    cdef int reserve(self, Py_ssize_t capacity) except -1 nogil:
        cdef size_t size = sizeof(float) if self.is_single else sizeof(double)
        cdef void* table = PyMem_RawRealloc(
            self.table, max(capacity, 1) * 2 * self.n_models * self.n_classes * size
        )
        if table == NULL:
            with gil:
                raise MemoryError
        self.table, self.capacity = table, capacity
        return 0

    cdef int add_feature_rows(self) except -1 nogil:
        # Give rows to the features of the sample to learn that are not 0.
        cdef Py_ssize_t i, j, size = self.n_models * self.n_classes
        cdef const int* columns = self.features.columns
        for i in range(self.features.n):
            j = i if columns == NULL else columns[i]
            if self.row_of[j] >= 0 or self.features.values[i] == 0.0:
                continue
            if self.n_rows == self.capacity:
                self.reserve(self.capacity + self.capacity // 4 + self.features.n - i)
            if self.is_single:
                start_row(<float*>self.table + 2 * size * self.n_rows, size)
            else:
                start_row(<double*>self.table + 2 * size * self.n_rows, size)
            self.row_of[j] = <int>self.n_rows
            self.n_rows += 1
        return 0

    cdef void add_predictions(
        self, const Row* features, double* model_predictions
    ) noexcept nogil:
        cdef Py_ssize_t k, m = self.n_classes
        for k in range(self.n_models):
            if self.log_shares[k] == -INFINITY:
                continue
            if self.is_single:
                add_weights(
                    features, &self.row_of[0], <float*>self.table + k * m, 2 * self.n_models * m, m,
                    model_predictions + k * m,
                )
            else:
                add_weights(
                    features, &self.row_of[0], <double*>self.table + k * m, 2 * self.n_models * m,
                    m, model_predictions + k * m,
                )

    cdef void vote(self, double* predictions) noexcept nogil:
        cdef Py_ssize_t l
        if self.multinomial:
            softmax(predictions, self.n_classes, predictions)
            return
        for l in range(self.n_classes):
            predictions[l] = sigmoid(predictions[l])
        normalize(predictions, self.n_classes)

    cdef int predict_relevance(self, const Row* x, double* chances) except -1 nogil:
        # By one-versus-rest.
        cdef Py_ssize_t l
        self.predict_models(x)
        self.average(&self.model_predictions[0, 0], chances)
        for l in range(self.n_classes):
            chances[l] = sigmoid(chances[l])
        return 0

    cdef int learn_cached(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        cdef Py_ssize_t k
        cdef double weight
        cdef bint is_partial = not self.multinomial and (
            feedback.n_relevant + feedback.n_irrelevant < self.n_classes
            or feedback.relevance != NULL
        )
        weight = feedback.sample_weight if is_partial else self.feedback_weight(feedback)
        if weight <= 0.0:
            return 0
        self.add_feature_rows()
        for k in range(self.n_models):
            if self.log_shares[k] == -INFINITY:
                continue
            if not is_partial:
                self.log_shares[k] -= self.loss_gradient(
                    feedback, weight, &self.model_predictions[k, 0]
                )
                self.take_step(k, NULL, self.n_classes)
                continue
            if self.n_models > 1:
                self.log_shares[k] -= weight * known_rank_loss(
                    &self.model_predictions[k, 0], self.n_classes, feedback
                )
            self.label_gradients(
                k, feedback.relevant, feedback.n_relevant, 1.0, feedback.relevance, weight
            )
            self.label_gradients(
                k, feedback.irrelevant, feedback.n_irrelevant, 0.0, NULL, weight
            )
            self.take_step(k, feedback.relevant, feedback.n_relevant)
            self.take_step(k, feedback.irrelevant, feedback.n_irrelevant)
        self.feature_map.update(x, &self.memory[0], &self.indices[0])
        if self.n_models > 1:
            self.update_shares()
        return 0

    cdef void label_gradients(
        self, Py_ssize_t k, const Py_ssize_t* labels, Py_ssize_t n_labels, double relevance,
        const double* relevances, double weight,
    ) noexcept nogil:
        # Replace the margins of these labels by the derivatives of their losses for one relevance,
        # or for `relevances` (n_labels,) unless they are NULL.
        cdef double* margins = &self.model_predictions[k, 0]
        cdef Py_ssize_t i
        for i in range(n_labels):
            if relevances != NULL:
                relevance = relevances[i]
            margins[labels[i]] = weight * (sigmoid(margins[labels[i]]) - relevance)

    cdef void take_step(
        self, Py_ssize_t k, const Py_ssize_t* labels, Py_ssize_t n_labels
    ) noexcept nogil:
        # Take a step for these labels, or for all if `labels` is NULL. The derivatives s_l are in
        # `model_predictions`.
        cdef const double* gradient = &self.model_predictions[k, 0]
        cdef double rate = self.learning_rates[k]
        cdef Py_ssize_t width = self.n_models * self.n_classes, row, i, j
        for i in range(self.features.n):
            if self.features.values[i] == 0.0:
                continue
            j = i if self.features.columns == NULL else self.features.columns[i]
            row = 2 * width * self.row_of[j] + k * self.n_classes
            if self.is_single:
                step(
                    <float*>self.table + row, width, labels, n_labels, self.features.values[i],
                    gradient, rate,
                )
            else:
                step(
                    <double*>self.table + row, width, labels, n_labels, self.features.values[i],
                    gradient, rate,
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
        # Replace the margins (n_classes,) of a model by the derivatives s_l of the loss. Return the
        # loss, or 0 if there is only one model.
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


cdef inline void start_row(real* row, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t l
    for l in range(size):
        row[l], row[size + l] = 0.0, 1.0


cdef cloned step(
    real* weights, Py_ssize_t width, const Py_ssize_t* labels, Py_ssize_t n_labels, double f,
    const double* gradient, double rate,
) noexcept nogil:
    # The sums of squares follow `width` numbers after the weights.
    cdef real* sum_squares = weights + width
    cdef double g, total
    cdef Py_ssize_t i, l
    if labels == NULL:
        for l in range(n_labels):
            g = f * gradient[l]
            total = sum_squares[l] + g * g
            sum_squares[l] = <real>total
            weights[l] -= <real>(rate * g / sqrt(total))
        return
    for i in range(n_labels):
        l = labels[i]
        g = f * gradient[l]
        total = sum_squares[l] + g * g
        sum_squares[l] = <real>total
        weights[l] -= <real>(rate * g / sqrt(total))


cdef cloned add_weights(
    const Row* features, const int* row_of, const real* table, Py_ssize_t stride, Py_ssize_t m,
    double* sums,
) noexcept nogil:
    # Add the product of the features and the weights (m,) in their rows, which are `stride` numbers
    # apart. Four rows are processed at a time, as in `add_product`.
    cdef const real* rows[4]
    cdef double values[4]
    cdef const real* p
    cdef const real* q
    cdef const real* r
    cdef const real* s
    cdef double a, b, c, d
    cdef Py_ssize_t i, j, l, n = 0
    for i in range(features.n):
        j = i if features.columns == NULL else features.columns[i]
        if features.values[i] == 0.0 or row_of[j] < 0:
            continue
        rows[n], values[n] = table + row_of[j] * stride, features.values[i]
        n += 1
        if n == 4:
            p, q, r, s = rows[0], rows[1], rows[2], rows[3]
            a, b, c, d = values[0], values[1], values[2], values[3]
            for l in range(m):
                sums[l] += (a * p[l] + b * q[l]) + (c * r[l] + d * s[l])
            n = 0
    for i in range(n):
        p, a = rows[i], values[i]
        for l in range(m):
            sums[l] += a * p[l]


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

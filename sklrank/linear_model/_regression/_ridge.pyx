# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Recursive least squares for votes: a ridge regression that is exact after every sample.

Let f be the features of a sample, the last of which is the intercept, and let w be its weight. Let
t be the targets: the votes for the labels, relative to a uniform vote. The updates are

    g = P f / (1 / w + f . P f),    W += g (t - W'f)',    P -= g (P f)',

starting from W = 0 and P = I / alpha. Then W minimizes sum w |t - W'f|^2 + alpha |W|^2, where the
sum runs over the samples so far. The penalty on the intercept is at most 1, which is the weight of
one sample.

If columns are collinear, P remains as large as 1 / alpha in some directions. In other directions it
shrinks below the rounding errors of the large ones. P can then become indefinite, and the weights
diverge. Therefore the relative rounding error is added to the diagonal in each step.

P is by far the largest array, and W is the next one. If the features of the next sample are dense,
one pass over the lower triangle of P applies the update and computes the product P f. If they are
sparse, P f and W'f are computed from few rows of P and W, and one pass over both applies the
updates of up to `MAX_PENDING` samples. Until then, these are products of vectors u = sqrt(g) P f.

For the feedback of a booster, the targets are t = mean(costs) - costs, the steepest descent of its
loss by a distribution over the labels, as in gradient boosting. For feedback with labels but
without costs, the target has all votes on these labels.

With `learns_relevance`, the target of a known label is t[l] = 1/2 if it is relevant and -1/2 if it
is irrelevant. Thus a label that was never known has the predicted relevance 1/2, more than most
labels that are known: SemiBanditRanker shows it until its relevance can be estimated. The weights
of unknown labels are not changed. All labels use the same P. If a proportion q of them is known
(k/m with top-k feedback), P is updated with the weight q w. It is then the matrix of a label that
is known as often as the average. The steps of labels that are known more often are shorter,

    W_l += v P f / (1 + v f . P f) (t[l] - W_l . f),      v = w min(1, mean of n / n_l).

Here n_l is the total weight of the samples in which label l was known, including this sample, and
the mean is taken over all labels. If all labels are known equally often, this is recursive least
squares for each label with its expected proportion of the samples.

If a `DriftTest` of the rank losses of the predictions detects a concept drift, the samples so far
are forgotten: P becomes I / alpha again (covariance resetting, Goodwin & Sin 1984).
The weights are kept. They are now what a new regression starts from, and what it is shrunk to. The
models (see below) are compared anew; those that were dropped resume with the weights of the best.

With several penalties alpha, there is a model for each of them. The share of model k in the
prediction is proportional to E_k^(-N / 2), where E_k is the sum of w |t - W_k'f|^2 over the samples
so far, with the weights before the sample was learned, and N is the sum of w. It is the likelihood
of normal errors whose unknown variance is replaced by its estimate. A sample counts as a single
observation, whatever the number of labels, because the errors of the labels are correlated. With
`learns_relevance`, the sum runs over the known labels.

With a `vote_smoothing` s > 0, the vote for a label is (v + sqrt(v^2 + (s / m)^2)) / 2 instead of
max(v, 0), up to normalization. Thus the votes have the same order as the predictions, and no ties.
"""

from libc.math cimport INFINITY, log, sqrt

from itertools import repeat

import numpy as np

from sklrank._compiled.rows cimport Row, first_largest, table_products
from sklrank._compiled.state cimport Archive
from sklrank._online.drift cimport DriftTest
from sklrank._online.learner cimport LabelFeedback, known_rank_loss
from sklrank.linear_model._regression._feature_map cimport FeatureMap, add_product, add_rows
from sklrank.linear_model._regression._learner cimport LinearLearner, normalize

from sklrank._compiled import LABELS, precision_of

cdef enum:
    MAX_PENDING = 64
    # A square block of P of this size and its mirror image fit into the cache.
    TILE = 16

cdef double ROUNDING = np.finfo(np.float64).eps


cdef class RidgeLearner(LinearLearner):
    """Compiled learner of OnlineRidgeClassifier, which documents and validates the parameters."""

    cdef const double[::1] alphas           # (n_models,)
    cdef readonly double vote_scale, vote_smoothing
    cdef readonly bint learns_relevance     # True: from relevance; False: from costs
    # The matrix P of model k is covariance[k] - gain[k] d d' - sum u u', where d is the vector
    # gain_direction[k], and the sum runs over the first n_pending[k] rows u of pending[k]. The
    # weights W_k are weights[k] + sum u e', where e is the row of pending_steps[k] of the same
    # index.
    cdef double[:, :, ::1] weights          # (n_models, n_outputs, n_classes)
    cdef double[:, :, ::1] covariance       # (n_models, n_outputs, n_outputs) lower triangles
    cdef double[:, ::1] gain_direction      # (n_models, n_outputs) P f of the last sample learned
    cdef double[::1] gain                   # (n_models,) 1 / (1 / w + f . P f) of this sample
    cdef double[:, :, ::1] pending          # (n_models, n_rows, n_outputs) rows u
    cdef double[:, :, ::1] pending_steps    # (n_models, n_rows, n_classes) rows e
    cdef int[::1] n_pending                 # (n_models,) number of rows in use
    cdef char[::1] is_mirrored              # (n_models,) whether the upper triangles are valid, too
    cdef double[::1] last_direction         # (n_outputs,) scratch memory
    cdef double[::1] known_weight           # (n_classes,) n_l
    cdef double mean_known_weight           # mean of n
    cdef double[::1] squared_errors         # (n_models,) E_k
    cdef double total_weight                # N
    cdef readonly DriftTest drift_test
    cdef double[::1] mean_predictions       # (n_classes,) scratch memory

    def __init__(
        self, FeatureMap feature_map not None, Py_ssize_t n_classes, alphas,
        double vote_scale=1.0, double vote_smoothing=0.0, bint learns_relevance=False,
        drift_threshold=None,
    ):
        cdef Py_ssize_t n = feature_map.n_outputs, n_models = len(alphas)
        self.create(feature_map, n_models, n_classes)
        try:
            self.covariance = np.zeros((n_models, n, n))
            self.weights = np.zeros((n_models, n, n_classes))
        except MemoryError as error:
            raise ValueError(
                f"each alpha keeps a matrix of {n} x {n} numbers for the {n - 1} features of the "
                f"regression, of which {n_models} do not fit into memory: set sketch_size "
                "(kernel='rbf': n_components), or use OnlineLogisticRegression"
            ) from error
        self.gain_direction, self.gain = np.zeros((n_models, n)), np.zeros(n_models)
        # One row of pending updates per 32 features: their products then take a small share of the
        # time of a pass over P, divided by their number. Few features need a minimum of them.
        n_rows = min(max(n // 32, 4), MAX_PENDING)
        self.pending = np.zeros((n_models, n_rows, n))
        self.pending_steps = np.zeros((n_models, n_rows, n_classes))
        self.n_pending = np.zeros(n_models, dtype=np.intc)
        self.known_weight, self.squared_errors = np.zeros(n_classes), np.zeros(n_models)
        self.alphas, self.vote_scale, self.vote_smoothing = alphas, vote_scale, vote_smoothing
        self.learns_relevance = learns_relevance
        self.drift_test = DriftTest(drift_threshold)
        self.start()
        self.forget()

    cdef int exchange(self, Archive archive) except -1:
        cdef RidgeLearner saved = archive.source
        LinearLearner.exchange(self, archive)
        cdef Py_ssize_t n = self.feature_map.n_outputs, n_models = self.n_models
        self.weights = archive.floats("weights", saved.weights, (n_models, n, LABELS))
        self.covariance = archive.floats("covariance", saved.covariance, (n_models, n, n))
        self.gain_direction = archive.floats("gain_direction", saved.gain_direction, (n_models, n))
        self.gain = archive.floats("gain", saved.gain, (n_models,))
        self.pending = archive.floats("pending", saved.pending, (n_models, -1, n))
        n_rows = self.pending.shape[1]
        archive.require(0 < n_rows <= MAX_PENDING, "it has no or too many pending rows")
        self.pending_steps = archive.floats(
            "pending_steps", saved.pending_steps, (n_models, n_rows, LABELS)
        )
        self.n_pending = archive.integers("n_pending", saved.n_pending, (n_models,), 0, n_rows)
        self.known_weight = archive.floats("known_weight", saved.known_weight, (LABELS,))
        self.squared_errors = archive.floats("squared_errors", saved.squared_errors, (n_models,))
        self.alphas = archive.constants("alphas", saved.alphas, (n_models,))
        self.mean_known_weight = archive.any_number("mean_known_weight", saved.mean_known_weight)
        if archive.labels is not None:
            archive.entries["mean_known_weight"] = float(np.mean(archive.entries["known_weight"]))
        self.total_weight = archive.any_number("total_weight", saved.total_weight)
        self.vote_scale = archive.number("vote_scale", saved.vote_scale, 0.0)
        self.vote_smoothing = archive.number("vote_smoothing", saved.vote_smoothing, 0.0)
        self.learns_relevance = archive.flag("learns_relevance", saved.learns_relevance)
        self.drift_test = archive.part("drift_test", saved.drift_test, DriftTest)
        if archive.loads:
            self.last_direction, self.mean_predictions = np.empty(n), np.empty(self.n_classes)
            self.is_mirrored = np.zeros(n_models, dtype=np.int8)
        return 0

    cdef list locked_parts(self):
        return [self.feature_map, self.drift_test] if self.is_ready else None

    _merge_rules = {
        "n_compared": "total", "known_weight": "total", "mean_known_weight": "total",
        "total_weight": "total", "squared_errors": "total", "gain": "zero",
        "gain_direction": "zero", "pending": "zero", "pending_steps": "zero", "n_pending": "zero",
    }

    @staticmethod
    def _merge_entries(merging):
        """Return the solutions of the totals of the normal equations, and the shares."""
        states, base, first = merging.states, merging.base, merging.states[0]
        features, covariance = first["feature_map"], np.zeros_like(first["covariance"])
        maps, weights = features._maps_to_merged(states), np.zeros_like(first["weights"])
        # A model that was dropped has not learned since then.
        dropped = np.any([np.isneginf(state["log_shares"]) for state in states], axis=0)
        dropped = np.isneginf(first["log_shares"]) if dropped.all() else dropped
        errors = np.where(dropped, 0.0, merging.total("squared_errors"))
        likelihoods = -0.5 * merging.total("total_weight") * np.log(np.where(errors, errors, 1.0))
        for k in np.flatnonzero(~dropped):
            equations = [normal_equations(*pair) for pair in zip(states, repeat(k), maps)]
            start = normal_equations(base or first, k, maps[0], base is None)
            covariance[k], weights[k] = merging.regression(equations, start)
        log_shares = np.where(dropped, -np.inf, likelihoods)
        return {"covariance": covariance, "weights": weights, "log_shares": log_shares}

    @property
    def min_alpha(self):
        """Smallest penalty of the models."""
        self.require_ready()
        return float(np.min(self.alphas))

    cdef double target_center(self) noexcept nogil:
        # Return the value that is subtracted from the relevance of a label, or from the vote for
        # it, to obtain the target of the regression.
        return 0.5 if self.learns_relevance else 1.0 / self.n_classes

    cdef void vote(self, double* predictions) noexcept nogil:
        cdef double v, square = (self.vote_smoothing / self.n_classes) ** 2
        cdef double center = self.target_center()
        cdef Py_ssize_t l
        for l in range(self.n_classes):
            v = center + self.vote_scale * predictions[l]
            if square > 0.0 and v < 0.0:
                # The same as below, without the cancellation of nearly equal numbers.
                predictions[l] = 0.5 * square / (sqrt(v * v + square) - v)
            elif square > 0.0:
                predictions[l] = 0.5 * (v + sqrt(v * v + square))
            else:
                predictions[l] = max(v, 0.0)
        normalize(predictions, self.n_classes)

    cdef int learn_cached(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        cdef double weight = feedback.sample_weight if self.learns_relevance else 1.0
        cdef double importance = 0.0
        cdef Py_ssize_t i, l
        self.test_drift(feedback)
        if self.learns_relevance and (
            feedback.n_relevant + feedback.n_irrelevant < self.n_classes
            or feedback.relevance != NULL
        ):
            self.update_known_labels(feedback)
            self.feature_map.update(x, &self.memory[0], &self.indices[0])
            self.compare_models(weight)
            return 0
        if not self.learns_relevance and feedback.costs == NULL:
            for l in range(feedback.n_relevant):
                importance += feedback.weights[l]
            weight = importance
        if weight <= 0.0:
            return 0
        for i in range(self.n_models):
            if self.log_shares[i] > -INFINITY:
                self.compute_errors(i, feedback, importance)
                self.update_all_labels(i, weight)
        for l in range(self.n_classes):
            self.known_weight[l] += weight
        self.mean_known_weight += weight
        self.feature_map.update(x, &self.memory[0], &self.indices[0])
        self.compare_models(weight)
        return 0

    cdef void add_predictions(
        self, const Row* features, double* model_predictions
    ) noexcept nogil:
        cdef double products[MAX_PENDING]
        cdef Py_ssize_t i, m = self.n_classes, n = self.feature_map.n_outputs
        for i in range(self.n_models):
            if self.log_shares[i] == -INFINITY:
                continue
            add_rows(features, &self.weights[i, 0, 0], m, model_predictions + i * m)
            table_products(&self.pending[i, 0, 0], self.n_pending[i], n, features, products)
            add_product(
                products, &self.pending_steps[i, 0, 0], self.n_pending[i], m,
                model_predictions + i * m, m,
            )

    cdef object weights_of_models(self):
        cdef Py_ssize_t i, n
        weights = np.array(self.weights)
        for i in range(self.n_models):
            n = self.n_pending[i]
            weights[i] += np.asarray(self.pending[i, :n]).T @ np.asarray(self.pending_steps[i, :n])
        return weights

    cdef void compute_errors(
        self, Py_ssize_t i, const LabelFeedback* feedback, double importance
    ) noexcept nogil:
        # Replace the predictions in `model_predictions` by the errors. `importance` is the sum of
        # the importance weights of the relevant labels.
        cdef double* errors = &self.model_predictions[i, 0]
        cdef double center = self.target_center(), mean_cost = 0.0
        cdef Py_ssize_t l
        if feedback.costs != NULL and not self.learns_relevance:
            for l in range(self.n_classes):
                mean_cost += feedback.costs[l] / self.n_classes
            for l in range(self.n_classes):
                errors[l] = mean_cost - feedback.costs[l] - errors[l]
            return
        for l in range(self.n_classes):
            errors[l] = -center - errors[l]
        for l in range(feedback.n_relevant):
            errors[feedback.relevant[l]] += (
                1.0 if self.learns_relevance else feedback.weights[l] / importance
            )

    cdef void update_all_labels(self, Py_ssize_t i, double weight) noexcept nogil:
        # `model_predictions` must contain the errors.
        cdef const double* errors = &self.model_predictions[i, 0]
        cdef double* weights
        cdef double step, squares = 0.0
        cdef double variance = self.compute_gain_direction(i)
        cdef Py_ssize_t j, l
        # The variance can be 0 or negative only by rounding errors. The weights in this direction
        # are then already determined and are not updated.
        self.gain[i] = weight / (1.0 + weight * variance) if variance > 0.0 else 0.0
        if self.features.columns != NULL:
            step = sqrt(self.gain[i])
            weights = self.postpone(i)
            for l in range(self.n_classes):
                weights[l] = step * errors[l]
        else:
            for j in range(self.feature_map.n_outputs):
                step = self.gain[i] * self.gain_direction[i, j]
                weights = &self.weights[i, j, 0]
                for l in range(self.n_classes):
                    weights[l] += step * errors[l]
        if self.n_models > 1:
            for l in range(self.n_classes):
                squares += errors[l] * errors[l]
            self.squared_errors[i] += weight * squares

    cdef void update_known_labels(self, const LabelFeedback* feedback) noexcept nogil:
        # `model_predictions` must contain W_k'f.
        cdef double share = <double>(feedback.n_relevant + feedback.n_irrelevant) / self.n_classes
        cdef double sample_weight = feedback.sample_weight, weight = share * sample_weight
        cdef double variance, root
        cdef double* steps
        cdef Py_ssize_t i, l
        self.mean_known_weight += weight
        for l in range(feedback.n_relevant):
            self.known_weight[feedback.relevant[l]] += sample_weight
        for l in range(feedback.n_irrelevant):
            self.known_weight[feedback.irrelevant[l]] += sample_weight
        for i in range(self.n_models):
            if self.log_shares[i] == -INFINITY:
                continue
            variance = self.compute_gain_direction(i)
            self.gain[i] = weight / (1.0 + weight * variance) if variance > 0.0 else 0.0
            root = sqrt(self.gain[i])
            steps = NULL
            if self.features.columns != NULL:
                steps = self.postpone(i)
            for l in range(feedback.n_relevant):
                self.update_label(
                    i, feedback.relevant[l],
                    1.0 if feedback.relevance == NULL else feedback.relevance[l],
                    sample_weight, variance, root, steps,
                )
            for l in range(feedback.n_irrelevant):
                self.update_label(
                    i, feedback.irrelevant[l], 0.0, sample_weight, variance, root, steps
                )

    cdef void update_label(
        self, Py_ssize_t i, Py_ssize_t label, double relevance, double weight, double variance,
        double root, double* steps,
    ) noexcept nogil:
        # `variance` is f . P f, `root` is the root of the gain, and `steps` are pending, or NULL.
        cdef double error = relevance - 0.5 - self.model_predictions[i, label]
        cdef double gain
        cdef Py_ssize_t j
        self.squared_errors[i] += weight * error * error
        if root == 0.0:
            return
        if self.known_weight[label] > self.mean_known_weight:
            weight *= self.mean_known_weight / self.known_weight[label]
        gain = weight / (1.0 + weight * variance)
        if steps != NULL:
            steps[label] = gain * error / root
            return
        for j in range(self.feature_map.n_outputs):
            self.weights[i, j, label] += gain * self.gain_direction[i, j] * error

    cdef void test_drift(self, const LabelFeedback* feedback) noexcept nogil:
        # `model_predictions` must contain W_k'f. The costs of a booster depend on its other
        # learners, so that the loss of this learner may increase without a drift. A sample whose
        # labels are all relevant, or all irrelevant, has no rank loss.
        if self.drift_test.threshold == INFINITY or feedback.n_relevant == 0 or (
            feedback.n_irrelevant == 0 or (feedback.costs != NULL and not self.learns_relevance)
        ):
            return
        self.average(&self.model_predictions[0, 0], &self.mean_predictions[0])
        if self.drift_test.record(
            known_rank_loss(&self.mean_predictions[0], self.n_classes, feedback)
        ):
            self.forget()

    cdef void forget(self) noexcept nogil:
        cdef Py_ssize_t i, j, k, n = self.feature_map.n_outputs
        for i in range(self.n_models):
            self.apply_pending(i)
            for j in range(n):
                for k in range(j):
                    self.covariance[i, j, k] = 0.0
                self.covariance[i, j, j] = 1.0 / self.alphas[i]
            self.covariance[i, n - 1, n - 1] = 1.0 / min(self.alphas[i], 1.0)
            self.is_mirrored[i] = False
            self.gain[i] = 0.0
            self.squared_errors[i] = 0.0
        self.total_weight = 0.0
        self.restart_comparison()

    cdef void compare_models(self, double weight) noexcept nogil:
        cdef Py_ssize_t i
        if self.n_models == 1:
            return
        self.total_weight += weight
        for i in range(self.n_models):
            # If a model has made no error, no model has: the first predictions are equal.
            if self.squared_errors[i] > 0.0 and self.log_shares[i] > -INFINITY:
                self.log_shares[i] = -0.5 * self.total_weight * log(self.squared_errors[i])
        self.update_shares()

    cdef void restart_comparison(self) noexcept nogil:
        # Models that were dropped resume with the weights of the best.
        cdef Py_ssize_t best = first_largest(&self.log_shares[0], self.n_models), k, j, l
        for k in range(self.n_models):
            if self.log_shares[k] == -INFINITY:
                for j in range(self.feature_map.n_outputs):
                    for l in range(self.n_classes):
                        self.weights[k, j, l] = self.weights[best, j, l]
                for l in range(self.n_classes):
                    self.model_predictions[k, l] = self.model_predictions[best, l]
        for k in range(self.n_models):
            self.log_shares[k] = 0.0
            self.shares[k] = 1.0 / self.n_models
        self.n_compared = 0

    cdef double compute_gain_direction(self, Py_ssize_t i) noexcept nogil:
        # Write P f into the `gain_direction` of model i, and return f . P f.
        cdef Py_ssize_t n = self.feature_map.n_outputs, j
        if self.features.columns != NULL:
            return self.compute_sparse_direction(i)
        for j in range(n):
            self.covariance[i, j, j] += ROUNDING * self.covariance[i, j, j]
        self.apply_pending(i)
        self.is_mirrored[i] = False
        return self.compute_dense_direction(i)

    cdef double compute_sparse_direction(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t n = self.feature_map.n_outputs, j, b
        cdef double* direction = &self.gain_direction[i, 0]
        cdef double products[MAX_PENDING]
        cdef double variance = 0.0
        if self.gain[i] > 0.0:
            self.postpone(i)
        if not self.is_mirrored[i]:
            mirror(&self.covariance[i, 0, 0], n)
            self.is_mirrored[i] = True
        for j in range(n):
            direction[j] = 0.0
        add_rows(&self.features, &self.covariance[i, 0, 0], n, direction)
        table_products(&self.pending[i, 0, 0], self.n_pending[i], n, &self.features, products)
        for b in range(self.n_pending[i]):
            products[b] = -products[b]
        add_product(products, &self.pending[i, 0, 0], self.n_pending[i], n, direction, n)
        for j in range(self.features.n):
            variance += self.features.values[j] * direction[self.features.columns[j]]
        return variance

    cdef double* postpone(self, Py_ssize_t i) noexcept nogil:
        # Postpone the step of model i on P. Return the row of `pending_steps`, which is 0.
        cdef Py_ssize_t j
        cdef double root = sqrt(self.gain[i])
        if self.n_pending[i] == self.pending.shape[1]:
            self.apply_pending(i)
        cdef double* steps = &self.pending_steps[i, self.n_pending[i], 0]
        for j in range(self.feature_map.n_outputs):
            self.pending[i, self.n_pending[i], j] = root * self.gain_direction[i, j]
        for j in range(self.n_classes):
            steps[j] = 0.0
        self.n_pending[i] += 1
        self.gain[i] = 0.0
        return steps

    cdef void apply_pending(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t n = self.feature_map.n_outputs, m = self.n_classes, n_rows, j, b
        cdef double factors[MAX_PENDING]
        n_rows = self.n_pending[i]
        if n_rows == 0:
            return
        for j in range(n):
            for b in range(n_rows):
                factors[b] = self.pending[i, b, j]
            add_product(factors, &self.pending_steps[i, 0, 0], n_rows, m, &self.weights[i, j, 0], m)
            for b in range(n_rows):
                factors[b] = -factors[b]
            self.covariance[i, j, j] += n_rows * ROUNDING * self.covariance[i, j, j]
            add_product(
                factors, &self.pending[i, 0, 0], n_rows, j + 1, &self.covariance[i, j, 0], n
            )
        self.n_pending[i], self.is_mirrored[i] = 0, False

    cdef double compute_dense_direction(self, Py_ssize_t i) noexcept nogil:
        # Each entry left of the diagonal is used twice, for itself and its mirror image. Two rows
        # of P are processed at a time, so that the sums are loaded and stored half as often.
        cdef Py_ssize_t n = self.feature_map.n_outputs, j, k
        cdef const double* features = self.features.values
        cdef double* direction = &self.gain_direction[i, 0]
        cdef double* last = &self.last_direction[0]
        cdef double* p
        cdef double* q
        cdef double a, b, c, d, u, v, p_sum, q_sum, variance = 0.0
        for k in range(n):
            last[k] = direction[k]
        for j in range(0, n - 1, 2):
            p = &self.covariance[i, j, 0]
            q = p + n
            a, b = features[j], features[j + 1]
            c, d = self.gain[i] * last[j], self.gain[i] * last[j + 1]
            p_sum = q_sum = 0.0
            for k in range(j):
                u = p[k] - c * last[k]
                v = q[k] - d * last[k]
                p[k] = u
                q[k] = v
                p_sum += u * features[k]
                q_sum += v * features[k]
                direction[k] += u * a + v * b
            p[j] -= c * last[j]
            q[j] -= d * last[j]
            q[j + 1] -= d * last[j + 1]
            direction[j] = p_sum + p[j] * a + q[j] * b
            direction[j + 1] = q_sum + q[j] * a + q[j + 1] * b
        if n % 2:
            p = &self.covariance[i, n - 1, 0]
            a, c = features[n - 1], self.gain[i] * last[n - 1]
            p_sum = 0.0
            for k in range(n - 1):
                u = p[k] - c * last[k]
                p[k] = u
                p_sum += u * features[k]
                direction[k] += u * a
            p[n - 1] -= c * last[n - 1]
            direction[n - 1] = p_sum + p[n - 1] * a
        for j in range(n):
            variance += features[j] * direction[j]
        return variance


def normal_equations(state, k, index, untrained=False):
    """Return A and b of the normal equations A W = b of model k, where A is the inverse of P.

    Feature j of the model becomes feature `index[j]`.
    """
    n, alpha = len(index), state["alphas"][k]
    penalty = np.diag(np.append(np.full(n - 1, alpha), min(alpha, 1.0)))
    precision, sides = penalty.copy(), np.zeros_like(state["weights"][k])
    if not untrained:
        n_pending, direction = state["n_pending"][k], state["gain_direction"][k]
        rows, steps = state["pending"][k, :n_pending], state["pending_steps"][k, :n_pending]
        covariance = state["covariance"][k] - state["gain"][k] * np.outer(direction, direction)
        own = precision_of(covariance - rows.T @ rows)
        np.add.at(precision, np.ix_(index, index), own - penalty)
        np.add.at(sides, index, own @ (state["weights"][k] + rows.T @ steps))
    return precision, sides


cdef void mirror(double* matrix, Py_ssize_t n) noexcept nogil:
    # Write the lower triangle of a matrix (n, n) into the upper one.
    cdef Py_ssize_t a, b, j, k
    for a in range((n + TILE - 1) // TILE):
        for b in range(a + 1):
            for j in range(a * TILE, min(a * TILE + TILE, n)):
                for k in range(b * TILE, min(b * TILE + TILE, j)):
                    matrix[k * n + j] = matrix[j * n + k]

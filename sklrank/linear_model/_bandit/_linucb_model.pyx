# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""LinUCB, which has a ridge regression of the reward with confidence bounds for each class.

Class k has weights w_k and a matrix A_k. The matrix is alpha I plus the sum of x x' over the
samples x for which class k was shown. The class to show is the class with the largest value of

    w_k . x + bonus s sqrt(x' A_k^-1 x),

the sum of the estimated reward and a multiple of its standard error (Li, Chu, Langford & Schapire
2010, who have no factor s). The model of the class shown is updated by recursive least squares. Let
P be A_k^-1, v be x' P x, and e be the reward minus the prediction w_k . x. The update is

    w_k += P x e / (1 + v),      P -= P x x' P / (1 + v),

and w_k remains the exact solution of the ridge regression. The diagonal model stores only the
diagonal of A_k, and uses the inverse of this diagonal for P.

The standard deviation s of the errors is the root of (3 + n m) / (3 + n). Here n is the number of
previous rounds, and m is the weighted mean of their e^2, in which the weight of round t is about
proportional to t^2. So s is initially one and then follows the recent errors. If the problem is
easy, exploration soon decreases.

If a `DriftTest` of the squared errors e^2 detects a concept drift, the rounds so far are forgotten:
each P becomes I / alpha again (covariance resetting, Goodwin & Sin 1984), and n becomes 0 in s. The
weights and the statistics of the features are kept. The errors are those of the predicted rewards
of the classes shown, so that the test is valid for classes that another policy has shown.

If `clip` is above zero, each feature is centered by its mean, clipped at plus and minus `clip`
standard deviations, and divided by its range, which is the range of the values clipped in the same
way. Division by the range keeps the variance of pixels that are rarely lit small, and clipping is
necessary for heavy tails. All samples are then divided by their root mean squared norm, so that
`alpha` and `bonus` have the same meaning for any number of features. This norm does not include the
constant of the intercept, which has a fixed value.

If there are `frequencies`, the features of a sample are its standardized values, divided by their
root mean squared norm, and random Fourier features

    sqrt(n / (n + 100)) sqrt(2 / D) cos(z . frequencies + phases),

whose inner products approximate a Gaussian kernel. The entries of z are centered, divided by their
standard deviations and clipped at plus and minus `clip`. The model then has linear and nonlinear
features. The former learn from few samples, the latter from many. Therefore the latter grow with
the number n of previous rounds: at last, both parts have a mean squared norm of about one and thus
the same weight. In the same rounds, the bonus decreases: it is multiplied by 1 + 50 / (n + 100).

In `choose` and `learn`, all statistics are those of the samples learned and the sample itself; in
`score` and `weights`, they are those of the samples learned.
"""

from libc.math cimport sqrt

import numpy as np

from sklrank._compiled.rows cimport table_products
from sklrank._compiled.state cimport Archive
from sklrank._online.drift cimport DriftTest
from sklrank._online.outliers cimport bounded_deviation, is_outlier
from sklrank.linear_model._bandit._model cimport first_largest_available
from sklrank.linear_model._regression._feature_map cimport random_features

from sklrank._compiled import LABELS

# Number of fictitious rounds with squared error one, the largest of a 0/1 reward, from which s is
# computed initially. Without them, a lucky first round would set s to 0 and end the exploration.
cdef double PRIOR_ROUNDS = 3.0

# Number of rounds after which random features have half of their final variance. The model should
# be nearly linear while there are fewer rounds than weights of the linear part, about a hundred.
cdef double GROWTH_ROUNDS = 100.0

cdef class LinUCBModel(BanditModel):
    """Base class that scales samples and computes scores and confidence bounds.

    A subclass stores the matrices A_k.
    """

    def __init__(
        self, Py_ssize_t n_features, Py_ssize_t n_classes, Py_ssize_t width, double alpha,
        double bonus, double clip=0.0, frequencies=None, phases=None, drift_threshold=None,
    ):
        self.n_features, self.n_classes, self.width = n_features, n_classes, width
        self.alpha, self.bonus, self.clip = alpha, bonus, clip
        self.drift_test = DriftTest(drift_threshold)
        self.means, self.m2 = np.zeros((2, n_features))
        self.minima, self.maxima = np.full(n_features, np.inf), np.full(n_features, -np.inf)
        self.frequencies = np.empty((n_features, 0)) if frequencies is None else frequencies
        self.phases = np.empty(0) if phases is None else phases
        self.coefficients = np.zeros((n_classes, width))
        self.create_inverses()
        self.start()

    cdef int create_inverses(self) except -1:
        return 0

    cdef int exchange(self, Archive archive) except -1:
        cdef LinUCBModel saved = archive.source
        self.means = archive.floats("means", saved.means, (-1,))
        cdef Py_ssize_t n = self.means.shape[0]
        self.m2 = archive.floats("m2", saved.m2, (n,))
        self.minima = archive.floats("minima", saved.minima, (n,))
        self.maxima = archive.floats("maxima", saved.maxima, (n,))
        self.phases = archive.constants("phases", saved.phases, (-1,))
        self.n_features, self.n_components = n, self.phases.shape[0]
        shape = n, self.n_components
        self.frequencies = archive.constants("frequencies", saved.frequencies, shape)
        self.coefficients = archive.floats("coefficients", saved.coefficients, (LABELS, -1))
        self.n_classes, self.width = self.coefficients.shape[0], self.coefficients.shape[1]
        self.alpha = archive.number("alpha", saved.alpha, 0.0)
        self.bonus = archive.number("bonus", saved.bonus, 0.0)
        self.clip = archive.number("clip", saved.clip, 0.0)
        self.n_seen = archive.number("n_seen", saved.n_seen, 0.0)
        self.n_recent = archive.number("n_recent", saved.n_recent, 0.0)
        self.drift_test = archive.part("drift_test", saved.drift_test, DriftTest)
        self.sum_squares = archive.any_number("sum_squares", saved.sum_squares)
        self.linear_sum_squares = archive.any_number("linear_sum_squares", saved.linear_sum_squares)
        self.mean_squared_error = archive.any_number("mean_squared_error", saved.mean_squared_error)
        archive.require(
            self.n_components == 0 or self.clip > 0.0, "random features need a clip above 0"
        )
        self.has_errors = True
        self.check_sizes(archive)
        self.needs_dense = self.clip > 0.0
        self.n_scratch = 2 * n + self.n_components
        if archive.loads:
            self.scaled_values, self.z_scores = np.empty(n + self.n_components), np.empty(n)
        return 0

    _merge_rules = {"n_recent": "total", "mean_squared_error": "mean"}

    @staticmethod
    def _merge_entries(merging):
        """Return the statistics of all samples."""
        names = ("n_seen", "sum_squares", "linear_sum_squares")
        means, m2 = merging.pooled(lambda state: (state["n_seen"], state["means"], state["m2"]))
        return {name: merging.total(name) for name in names} | {
            "means": means,
            "m2": m2,
            "minima": np.min([state["minima"] for state in merging.states], axis=0),
            "maxima": np.max([state["maxima"] for state in merging.states], axis=0),
        }

    @property
    def weights(self):
        """Copy of the weights `(n_classes, width)` for unscaled samples without clipped values.

        The model must not have random features.
        """
        self.require_ready()
        weights = self.class_weights()
        weights[:, :self.n_features] /= root_mean_square(self.sum_squares, self.n_seen)
        weights[:, self.n_features:] *= self.constant
        if self.clip > 0:
            means = np.asarray(self.means)
            with np.errstate(over="ignore"):
                bounds = self.clip * np.sqrt(np.asarray(self.m2) / max(self.n_seen, 1.0))
            maxima, minima = np.asarray(self.maxima) - means, np.asarray(self.minima) - means
            ranges = np.minimum(maxima, bounds) - np.maximum(minima, -bounds)
            weights[:, :-1] /= np.where(ranges > 0, ranges, np.inf)
            weights[:, -1] -= weights[:, :-1] @ means
        return weights

    cdef void score(self, const Row* row, double* scores, double* scratch) noexcept nogil:
        cdef double* z = scratch + self.n_features + self.n_components
        cdef double[2] sums
        cdef Row scaled
        self.scale(row, False, scratch, z, &scaled, sums)
        self.multiply(0, self.n_classes, &scaled, scores)

    cdef Py_ssize_t choose(self, const Row* row, const char* available) noexcept nogil:
        cdef double bonus = self.bonus
        cdef Py_ssize_t k
        bonus *= sqrt(
            (PRIOR_ROUNDS + self.n_recent * self.mean_squared_error)
            / (PRIOR_ROUNDS + self.n_recent)
        )
        if self.n_components > 0:
            bonus *= 1.0 + 0.5 * GROWTH_ROUNDS / (self.n_seen + GROWTH_ROUNDS)
        self.prepare_to_learn(row)
        if available == NULL:
            self.estimate(0, self.n_classes, &self.scaled)
        for k in range(self.n_classes):
            if available != NULL:
                if not available[k]:
                    continue
                self.estimate(k, 1, &self.scaled)
            # A variance can be negative only by rounding errors.
            self.errors[k] = bonus * sqrt(max(self.errors[k], 0.0))
            self.values[k] = self.estimates[k] + self.errors[k]
        return first_largest_available(&self.values[0], self.n_classes, available)

    cdef void prepare_to_learn(self, const Row* row) noexcept nogil:
        self.scale(
            row, True, &self.scaled_values[0], &self.z_scores[0], &self.scaled, self.sums_with
        )

    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil:
        cdef double prediction, error, deviation, value
        cdef Py_ssize_t j
        self.multiply(feedback.action, 1, &self.scaled, &prediction)
        error = feedback.reward - prediction
        if self.drift_test.record(min(error * error, 1.0)):
            self.forget()
            self.n_recent = self.mean_squared_error = 0.0
        self.update_class(feedback.action, &self.scaled, error)
        # The current round has about three times its weight in an unweighted mean, so that the
        # weight of round t is about proportional to t^2.
        self.mean_squared_error += (
            3.0 / (self.n_recent + 3.0) * (error * error - self.mean_squared_error)
        )
        self.n_recent += 1.0
        self.linear_sum_squares, self.sum_squares = self.sums_with[0], self.sums_with[1]
        self.n_seen += 1.0
        if self.clip > 0.0:
            for j in range(row.n):
                value = self.bounded(row, j, self.n_seen - 1.0)
                deviation = value - self.means[j]
                self.means[j] += deviation / self.n_seen
                self.m2[j] += deviation * (value - self.means[j])
                self.minima[j] = min(self.minima[j], value)
                self.maxima[j] = max(self.maxima[j], value)

    cdef double bounded(self, const Row* row, Py_ssize_t j, double n) noexcept nogil:
        # Return an entry of a sample as it enters the statistics, after n samples.
        cdef double deviation = row.values[j] - self.means[j]
        if not is_outlier(deviation, self.m2[j], n):
            return row.values[j]
        return self.means[j] + bounded_deviation(deviation, self.m2[j], n)

    cdef void scale(
        self, const Row* row, bint includes, double* values, double* z, Row* scaled, double* sums
    ) noexcept nogil:
        # The mean that includes this sample differs from `means` by 1/n of its deviation.
        cdef double n = max(self.n_seen + includes, 1.0), rest = 1.0 - includes / n
        cdef double difference, mean, deviation, minimum, maximum, factor, sum_squares = 0.0
        cdef Py_ssize_t j
        for j in range(row.n):
            values[j] = row.values[j]
            if self.clip > 0.0:
                mean, minimum, maximum = self.means[j], self.minima[j], self.maxima[j]
                difference = values[j] - mean
                deviation = self.m2[j]
                if includes:
                    values[j] = self.bounded(row, j, self.n_seen)
                    difference = values[j] - mean
                    mean = values[j] - rest * difference
                    deviation += rest * difference * difference
                    minimum, maximum = min(minimum, values[j]), max(maximum, values[j])
                deviation = sqrt(deviation / n)
                values[j] = standardized(
                    rest * difference, minimum - mean, maximum - mean, self.clip * deviation
                )
                if self.n_components > 0:
                    z[j] = z_score(rest * difference, deviation, self.clip)
            sum_squares += values[j] * values[j]
        sums[0] = self.linear_sum_squares + (sum_squares if includes else 0.0)
        if self.n_components > 0:
            sum_squares = self.add_random_features(values, z, root_mean_square(sums[0], n))
        sums[1] = self.sum_squares + (sum_squares if includes else 0.0)
        factor = 1.0 / root_mean_square(sums[1], n)
        scaled[0] = row[0]
        scaled.values = values
        scaled.n += self.n_components
        scaled.n_features += self.n_components
        for j in range(scaled.n):
            values[j] *= factor
        # The constant is not divided by the norm of the samples.
        scaled.constant *= self.constant

    cdef double add_random_features(
        self, double* values, const double* z, double linear_scale
    ) noexcept nogil:
        cdef double growth = self.n_seen / (self.n_seen + GROWTH_ROUNDS)
        cdef double size = sqrt(2.0 * growth / self.n_components), total = 0.0
        cdef Py_ssize_t j, n_features = self.n_features
        random_features(
            z, &self.frequencies[0, 0], &self.phases[0], n_features, self.n_components,
            values + n_features,
        )
        for j in range(n_features):
            values[j] /= linear_scale
        for j in range(n_features, n_features + self.n_components):
            values[j] *= size
        for j in range(n_features + self.n_components):
            total += values[j] * values[j]
        return total

    cdef void estimate(self, Py_ssize_t first, Py_ssize_t n, const Row* scaled) noexcept nogil:
        self.multiply(first, n, scaled, &self.estimates[first])

    cdef void multiply(
        self, Py_ssize_t first, Py_ssize_t n, const Row* row, double* products
    ) noexcept nogil:
        table_products(&self.coefficients[first, 0], n, self.width, row, products)

    cdef object class_weights(self):
        return np.array(self.coefficients)

    cdef void forget(self) noexcept nogil:
        pass

    cdef void update_class(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        pass


cdef inline double root_mean_square(double sum_squares, double n_rows) noexcept nogil:
    # Return the root of the mean of the squares, by which samples are divided. Return 1 if all
    # samples were zero.
    return sqrt(sum_squares / n_rows) if sum_squares > 0.0 else 1.0


cdef inline double standardized(
    double value, double minimum, double maximum, double bound
) noexcept nogil:
    # Clip a centered value at +-bound, and divide it by the range of the values of the feature,
    # which are clipped in the same way. Return 0 if the feature is constant.
    cdef double extent = min(maximum, bound) - max(minimum, -bound)
    return max(-bound, min(bound, value)) / extent if extent > 0.0 else 0.0


cdef inline double z_score(double value, double deviation, double clip) noexcept nogil:
    # Divide a centered value by the standard deviation of its feature, and clip it at +-clip.
    # Return 0 if the feature is constant.
    return max(-clip, min(clip, value / deviation)) if deviation > 0.0 else 0.0

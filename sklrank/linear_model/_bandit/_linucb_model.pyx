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

from functools import partial

import numpy as np

from sklrank._compiled.rows cimport Row, add_row, table_products
from sklrank._compiled.state cimport Archive
from sklrank._online.drift cimport DriftTest
from sklrank._online.outliers cimport bounded_deviation, is_outlier
from sklrank.linear_model._bandit._model cimport (
    BanditFeedback, BanditModel, first_largest_available,
)
from sklrank.linear_model._regression._feature_map cimport random_features
from sklrank.linear_model._symmetric cimport downdate, quadratic_form, symmetric_matvec

from sklrank._compiled import LABELS, precision_of

# Number of fictitious rounds with squared error one, the largest of a 0/1 reward, from which s is
# computed initially. Without them, a lucky first round would set s to 0 and end the exploration.
cdef double PRIOR_ROUNDS = 3.0

# Number of rounds after which random features have half of their final variance. The model should
# be nearly linear while there are fewer rounds than weights of the linear part, about a hundred.
cdef double GROWTH_ROUNDS = 100.0

# Values of the constant feature, next to samples of norm one. They determine the penalty on the
# intercept, which is `alpha` divided by the square of the value, and its part in the confidence
# bounds, at first the square of the value. With 1, the constant of a class that was not shown would
# weigh as much as its sample. A diagonal ignores that the constant is correlated with the other
# features, and learns it more slowly.
cdef double FULL_CONSTANT = 0.25
cdef double DIAGONAL_CONSTANT = 0.5


cdef class LinUCBModel(BanditModel):
    """Base class that scales samples and computes scores and confidence bounds.

    A subclass stores the matrices A_k.
    """

    cdef readonly double alpha, bonus
    cdef double[:, ::1] coefficients        # (n_classes, width) weights w_k for scaled samples
    cdef double constant                    # factor by which `scale` multiplies the constant
    cdef readonly double clip               # in standard deviations; 0 for no standardization
    cdef double n_seen                      # number of samples in the statistics
    cdef double n_recent                    # number of samples learned since the last drift
    cdef readonly DriftTest drift_test
    cdef double[::1] means                  # (n_features,) means of the features
    cdef double[::1] m2                     # (n_features,) sums of squared deviations from `means`
    cdef double[::1] minima, maxima         # (n_features,) of the features
    cdef const double[:, ::1] frequencies   # (n_features, n_components) of random features
    cdef const double[::1] phases           # (n_components,) of random features
    cdef double linear_sum_squares          # sum of the squared norms of the standardized samples
    cdef double sum_squares                 # the same sum, including the random features
    cdef double mean_squared_error          # weighted mean of squared errors since the last drift
    cdef Row scaled                         # sample of the last call of `choose`, after scaling
    cdef double[::1] scaled_values          # (n_features + n_components,) values of `scaled`
    cdef double[2] sums_with                # both sums of squares, including the sample `scaled`
    cdef double[::1] z_scores               # (n_features,) scratch memory

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
        # Create the matrices A_k^-1 without samples.
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
        # Standardize and scale a sample, and write it to `scaled`, which gets the memory `values`
        # (n_features + n_components,). `z` (n_features,) is scratch memory. The statistics are
        # those of the samples learned and, if `includes`, of this sample: its mean differs from
        # `means` by 1/n of the deviation of the sample. Write `linear_sum_squares` and
        # `sum_squares`, which include it in the same way, to `sums`.
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
        # Divide the standardized values of a sample by `linear_scale`, and write its random
        # features behind them. They depend on the values `z`. Return the squared norm.
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
        # Write the scores w_k . x of n classes k from `first` on into `estimates`, and, in a
        # subclass, x' A_k^-1 x into `errors`, for the scaled sample x.
        self.multiply(first, n, scaled, &self.estimates[first])

    cdef void multiply(
        self, Py_ssize_t first, Py_ssize_t n, const Row* row, double* products
    ) noexcept nogil:
        # Write the products w_k . row of n classes k from `first` on into `products`.
        table_products(&self.coefficients[first, 0], n, self.width, row, products)

    cdef object class_weights(self):
        # Return a copy of the weights w_k (n_classes, width).
        return np.array(self.coefficients)

    cdef void forget(self) noexcept nogil:
        # Forget all samples: set the matrices A_k to alpha I.
        pass

    cdef void update_class(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        # Add a scaled sample to the ridge regression of class k. `error` is the reward minus the
        # prediction of this regression.
        pass


cdef class FullLinUCB(LinUCBModel):
    """LinUCB with full matrices. They are symmetric, and only their lower triangles are used."""

    cdef double[:, :, ::1] matrices         # (n_classes, width, width) P, lower triangles in use
    cdef double[::1] direction              # (width,) scratch memory

    cdef int create_inverses(self) except -1:
        cdef Py_ssize_t n_classes = self.n_classes, width = self.width
        try:
            self.matrices = np.repeat((np.eye(width) / self.alpha)[np.newaxis], n_classes, axis=0)
        except MemoryError as error:
            raise ValueError(
                f"covariance='full' keeps a matrix of {width} x {width} numbers for each of "
                f"{n_classes} classes, which do not fit into memory: use covariance='diagonal'"
            ) from error
        return 0

    cdef int exchange(self, Archive archive) except -1:
        cdef FullLinUCB saved = archive.source
        LinUCBModel.exchange(self, archive)
        cdef Py_ssize_t width = self.width
        new = None if archive.labels is None else np.eye(width) / self.alpha
        self.matrices = archive.floats("matrices", saved.matrices, (LABELS, width, width), new)
        if archive.loads:
            self.direction = np.empty(width)
        self.constant = FULL_CONSTANT
        return 0

    @staticmethod
    def _merge_entries(merging):
        """Return the solutions of the totals of the normal equations of each class."""
        first, entries = merging.states[0], LinUCBModel._merge_entries(merging)
        (n, width), alpha = first["coefficients"].shape, first["alpha"]
        matrices, coefficients = np.empty((n, width, width)), np.empty((n, width))
        untrained = alpha * np.eye(width), np.zeros(width)
        for k in range(n):
            equations = merging.map(partial(normal_equations, k=k), untrained)
            matrices[k], coefficients[k] = merging.regression(*equations)
        return entries | {"matrices": matrices, "coefficients": coefficients}

    cdef void estimate(self, Py_ssize_t first, Py_ssize_t n, const Row* scaled) noexcept nogil:
        cdef Py_ssize_t k
        LinUCBModel.estimate(self, first, n, scaled)
        for k in range(first, first + n):
            self.errors[k] = quadratic_form(&self.matrices[k, 0, 0], self.width, scaled)

    cdef void forget(self) noexcept nogil:
        cdef Py_ssize_t i
        self.matrices[:, :, :] = 0.0
        for i in range(self.width):
            self.matrices[:, i, i] = 1.0 / self.alpha

    cdef void update_class(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        cdef double* matrix = &self.matrices[k, 0, 0]
        cdef double root
        cdef Py_ssize_t j
        root = symmetric_matvec(matrix, self.width, scaled, &self.direction[0])
        root = 1.0 / sqrt(1.0 + max(root, 0.0))
        for j in range(self.width):
            self.direction[j] *= root
            self.coefficients[k, j] += root * self.direction[j] * error
        downdate(matrix, self.width, &self.direction[0])


cdef class DiagonalLinUCB(LinUCBModel):
    """LinUCB with diagonal matrices, in which the cost of a step is linear in the sample's size."""

    cdef double[:, ::1] diagonals           # (n_classes, width) inverses of the diagonals of A_k
    cdef double[::1] squared_values         # (width,) scratch memory

    cdef int create_inverses(self) except -1:
        self.diagonals = np.full((self.n_classes, self.width), 1.0 / self.alpha)
        return 0

    cdef int exchange(self, Archive archive) except -1:
        cdef DiagonalLinUCB saved = archive.source
        LinUCBModel.exchange(self, archive)
        new = None if archive.labels is None else 1.0 / self.alpha
        self.diagonals = archive.floats("diagonals", saved.diagonals, (LABELS, self.width), new)
        self.constant = DIAGONAL_CONSTANT
        if archive.loads:
            self.squared_values = np.empty(self.width)
        return 0

    @staticmethod
    def _merge_entries(merging):
        """Return the totals of the diagonals, and the means of the weights by these."""
        coefficients, precisions = merging.newton(*merging.map(
            lambda state: (state["coefficients"], 1.0 / state["diagonals"]),
            (0.0, merging.states[0]["alpha"]),
        ))
        entries = {"coefficients": coefficients, "diagonals": 1.0 / precisions}
        return LinUCBModel._merge_entries(merging) | entries

    cdef void estimate(self, Py_ssize_t first, Py_ssize_t n, const Row* scaled) noexcept nogil:
        LinUCBModel.estimate(self, first, n, scaled)
        self.diagonal_variances(&self.diagonals[first, 0], n, scaled, &self.errors[first])

    cdef void forget(self) noexcept nogil:
        self.diagonals[:, :] = 1.0 / self.alpha

    cdef void update_class(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        cdef double* weights = &self.coefficients[k, 0]
        cdef double* diagonal = &self.diagonals[k, 0]
        cdef double step, value, variance
        cdef Py_ssize_t i, j
        self.diagonal_variances(diagonal, 1, scaled, &variance)
        step = error / (1.0 + variance)
        for i in range(scaled.n):
            j = i if scaled.columns == NULL else scaled.columns[i]
            value = scaled.values[i]
            weights[j] += step * diagonal[j] * value
            diagonal[j] /= 1.0 + diagonal[j] * value * value
        if scaled.constant != 0.0:
            j, value = scaled.n_features, scaled.constant
            weights[j] += step * diagonal[j] * value
            diagonal[j] /= 1.0 + diagonal[j] * value * value

    cdef void diagonal_variances(
        self, const double* diagonals, Py_ssize_t n_classes, const Row* scaled, double* variances
    ) noexcept nogil:
        # Write x' D x for the scaled sample x and each row D of `diagonals` into `variances`.
        cdef Row squared = scaled[0]
        cdef Py_ssize_t i
        for i in range(scaled.n):
            self.squared_values[i] = scaled.values[i] * scaled.values[i]
        squared.values = &self.squared_values[0]
        squared.constant = scaled.constant * scaled.constant
        table_products(diagonals, n_classes, self.width, &squared, variances)


cdef class SharedLinUCB(LinUCBModel):
    """LinUCB with one regression for all classes, whose features describe samples and classes.

    Class k has the features a_k, the last of which is a constant. The regression has the products
    of each feature of the sample and each of the class, the entries of a_k x'. So its weights W,
    which have the shape of a_k x', give class k the weights w_k = W' a_k for the sample. Let P_rs
    be the block of the inverse matrix P for features r and s of a class. The variance of class k is

        a_k' M a_k,    M_rs = x' P_rs x.

    M does not depend on the class. Therefore a round takes one pass over P, and few operations for
    each class.
    """

    cdef double[:, ::1] items               # (n_classes, n_item_features) a_k
    cdef double[:, ::1] parts               # (n_item_features, width) W
    cdef double[:, ::1] inverse             # (n_item_features * width, the same) P
    cdef double[:, ::1] products            # (n_item_features, n_item_features) M of `scaled`
    cdef double[::1] sample                 # (width,) `scaled` as an array
    cdef double[::1] direction              # (n_item_features * width,) scratch memory

    def __init__(self, items not None, *args):
        self.items = np.array(items, dtype=np.float64, order="C")
        super().__init__(*args)

    cdef int create_inverses(self) except -1:
        cdef Py_ssize_t n = self.items.shape[1]
        self.parts = np.zeros((n, self.width))
        self.inverse = np.eye(n * self.width) / self.alpha
        return 0

    cdef int exchange(self, Archive archive) except -1:
        cdef SharedLinUCB saved = archive.source
        LinUCBModel.exchange(self, archive)
        self.items = archive.floats("items", saved.items, (LABELS, -1))
        cdef Py_ssize_t n = self.items.shape[1]
        self.parts = archive.floats("parts", saved.parts, (n, self.width))
        shape = n * self.width, n * self.width
        self.inverse = archive.floats("inverse", saved.inverse, shape)
        self.constant = FULL_CONSTANT
        if archive.loads:
            self.products, self.sample = np.empty((n, n)), np.empty(self.width)
            self.direction = np.empty(n * self.width)
        return 0

    @staticmethod
    def _merge_entries(merging):
        """Return the solution of the total of the normal equations, for the same features."""
        first, entries = merging.states[0], LinUCBModel._merge_entries(merging)
        shape = first["parts"].shape
        untrained = first["alpha"] * np.eye(len(first["inverse"])), np.zeros(shape).ravel()

        def equations(state):
            precision = precision_of(state["inverse"])
            return precision, precision @ state["parts"].ravel()

        inverse, parts = merging.regression(*merging.map(equations, untrained))
        return entries | {"inverse": inverse, "parts": parts.reshape(shape)}

    def set_items(self, items not None):
        """Replace the features `(n_classes, n_item_features)` of the classes."""
        self.require_ready()
        if items.shape != (self.n_classes, self.items.shape[1]):
            raise ValueError(f"items have the shape {items.shape} for {self.n_classes} classes")
        self.items = np.array(items, dtype=np.float64, order="C")

    cdef void multiply(
        self, Py_ssize_t first, Py_ssize_t n, const Row* row, double* products
    ) noexcept nogil:
        cdef double product
        cdef Py_ssize_t k, r
        for k in range(n):
            products[k] = 0.0
        for r in range(self.items.shape[1]):
            table_products(&self.parts[r, 0], 1, self.width, row, &product)
            for k in range(n):
                products[k] += self.items[first + k, r] * product

    cdef object class_weights(self):
        return np.asarray(self.items) @ np.asarray(self.parts)

    cdef void prepare_to_learn(self, const Row* row) noexcept nogil:
        # Compute M, too.
        cdef Py_ssize_t n = self.items.shape[1], width = self.width, i, j, r, s
        cdef double product
        LinUCBModel.prepare_to_learn(self, row)
        self.sample[:] = 0.0
        add_row(&self.sample[0], 1.0, &self.scaled)
        for r in range(n):
            for s in range(r + 1):
                self.products[r, s] = 0.0
                for i in range(width):
                    product = 0.0
                    for j in range(width):
                        product += self.inverse[r * width + i, s * width + j] * self.sample[j]
                    self.products[r, s] += self.sample[i] * product
                self.products[s, r] = self.products[r, s]

    cdef void estimate(self, Py_ssize_t first, Py_ssize_t n, const Row* scaled) noexcept nogil:
        cdef double product
        cdef Py_ssize_t k, r, s
        LinUCBModel.estimate(self, first, n, scaled)
        for k in range(first, first + n):
            self.errors[k] = 0.0
            for r in range(self.items.shape[1]):
                product = 0.0
                for s in range(self.items.shape[1]):
                    product += self.products[r, s] * self.items[k, s]
                self.errors[k] += self.items[k, r] * product

    cdef void forget(self) noexcept nogil:
        cdef Py_ssize_t i
        self.inverse[:, :] = 0.0
        for i in range(self.inverse.shape[0]):
            self.inverse[i, i] = 1.0 / self.alpha

    cdef void update_class(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        cdef Py_ssize_t n = self.items.shape[1], width = self.width, i, j, r, s
        cdef double variance = 0.0, product
        for i in range(n * width):
            self.direction[i] = 0.0
            for s in range(n):
                product = 0.0
                for j in range(width):
                    product += self.inverse[i, s * width + j] * self.sample[j]
                self.direction[i] += self.items[k, s] * product
        for r in range(n):
            for i in range(width):
                variance += self.items[k, r] * self.sample[i] * self.direction[r * width + i]
        variance = 1.0 / (1.0 + max(variance, 0.0))
        for r in range(n):
            for i in range(width):
                product = variance * self.direction[r * width + i]
                self.parts[r, i] += product * error
                for j in range(n * width):
                    self.inverse[r * width + i, j] -= product * self.direction[j]


def normal_equations(state, k):
    """Return A_k, and its product with the weights of class k."""
    precision = precision_of(state["matrices"][k])
    return precision, precision @ state["coefficients"][k]


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

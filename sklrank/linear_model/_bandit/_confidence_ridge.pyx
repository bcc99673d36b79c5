# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Second-order models for bandit feedback: a ridge regression of the reward for each class.

Class k keeps the weights w_k and the matrix A_k = alpha I + sum of x x' over the rows for which it
was shown. Chosen is the class of the greatest

    w_k . x + bonus s sqrt(x' A_k^-1 x),

what is expected of it and, in standard errors, how uncertain that is (LinUCB: Li, Chu, Langford &
Schapire 2010, there without s). Then the class shown, with P = A_k^-1, the error e of its weights
and v = x'Px, takes the step

    w_k += P x e / (1 + v),      P -= P x x' P / (1 + v)

and w_k is the ridge solution, exactly. The diagonal model keeps the diagonal of A_k only, and takes
the same step with its inverse for P. The deviation s of the errors is the root of
(3 + n m) / (3 + n), with n the rounds so far and m the mean of their e^2 in which that of round t
weighs about as t^2: one to start with, and then how large errors are by now, so that an easy
problem, which soon has small errors, is soon explored no more.

Where `clip` is above zero, the columns of a row are centred by their means so far, cut off at plus
and minus `clip` deviations, and divided by the range that the rows so far have after the same cut:
one column may be in metres and the next one in seconds. Pixels that are seldom lit keep a small
variance by that, which they would not if divided by their deviation; the cut is for heavy tails. In
any case rows are then divided by their root mean squared length so far, so that `alpha` and `bonus`
mean the same for few features and many; beside them the constant of the intercept counts a part.
The rows so far are those that were learnt and, to choose and learn, the row itself.
"""

from libc.math cimport sqrt

import numpy as np

from sklrank.linear_model._bandit._symmetric cimport product, quadratic, rank_k_downdate
from sklrank.linear_model._rows cimport first_largest, table_products

# Rounds before the first one, whose squared error is taken to be one.
cdef double PRIOR_ROUNDS = 3.0

cdef enum:
    N_SQUARES = 4       # that wait for a pass over a matrix


cdef class ConfidenceRidge(BanditModel):
    """A subclass keeps the matrices."""

    def __init__(
        self, Py_ssize_t n_features, Py_ssize_t n_classes, Py_ssize_t width, double alpha,
        double bonus, double clip=0.0,
    ):
        super().__init__(n_features, n_classes)
        self.width = width
        self.alpha = alpha
        self.bonus = bonus
        self.clip = clip
        self.means = np.zeros(n_features)
        self.deviations = np.zeros(n_features)
        self.lows = np.full(n_features, np.inf)
        self.highs = np.full(n_features, -np.inf)
        self.coefficients = np.zeros((n_classes, width))
        self.entries = np.empty(n_features)
        self.variances = np.empty(n_classes)

    @property
    def weights(self):
        """Weights of the features as they come, but for the clip, and of the constant."""
        weights = np.array(self.coefficients)
        weights[:, :self.n_features] /= root_mean(self.squares, self.n_learnt)
        weights[:, self.n_features:] *= self.constant
        if self.clip > 0:
            means = np.asarray(self.means)
            with np.errstate(over="ignore"):
                most = self.clip * np.sqrt(np.asarray(self.deviations) / max(self.n_learnt, 1.0))
            highs, lows = np.asarray(self.highs) - means, np.asarray(self.lows) - means
            ranges = np.minimum(highs, most) - np.maximum(lows, -most)
            weights[:, :-1] /= np.where(ranges > 0, ranges, np.inf)
            weights[:, -1] -= weights[:, :-1] @ means
        return weights

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        cdef double scale = root_mean(self.squares, self.n_learnt), n = max(self.n_learnt, 1.0)
        cdef double entry, mean
        cdef Row features = row[0]
        cdef Py_ssize_t j, k
        if self.clip > 0.0:
            for k in range(self.n_classes):
                scores[k] = 0.0
            for j in range(row.n):
                mean = self.means[j]
                entry = standardised(
                    row.values[j] - mean, self.lows[j] - mean, self.highs[j] - mean,
                    self.clip * sqrt(self.deviations[j] / n),
                )
                for k in range(self.n_classes):
                    scores[k] += entry * self.coefficients[k, j]
        else:
            features.constant = 0.0
            table_products(&self.coefficients[0, 0], self.n_classes, self.width, &features, scores)
        for k in range(self.n_classes):
            scores[k] /= scale
            if row.constant != 0.0:
                scores[k] += self.constant * row.constant * self.coefficients[k, self.n_features]

    cdef Py_ssize_t choose(self, const Row* row) noexcept nogil:
        cdef double* values = &self.values[0]
        cdef double bonus = self.bonus
        cdef Py_ssize_t k
        bonus *= sqrt(
            (PRIOR_ROUNDS + self.n_learnt * self.mean_square) / (PRIOR_ROUNDS + self.n_learnt)
        )
        self.rescale(row)
        table_products(&self.coefficients[0, 0], self.n_classes, self.width, &self.scaled, values)
        self.measure(&self.scaled)
        for k in range(self.n_classes):
            # A variance is below zero by rounding only.
            values[k] += bonus * sqrt(max(self.variances[k], 0.0))
        return first_largest(values, self.n_classes)

    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil:
        cdef double* weights = &self.coefficients[feedback.action, 0]
        cdef double expected, error, before
        cdef Py_ssize_t j
        table_products(weights, 1, self.width, &self.scaled, &expected)
        error = feedback.reward - expected
        self.regress(feedback.action, &self.scaled, error)
        # Thrice the weight of a plain mean makes that of round t grow as t^2.
        self.mean_square += 3.0 / (self.n_learnt + 3.0) * (error * error - self.mean_square)
        self.squares = self.squares_with
        self.n_learnt += 1.0
        if self.clip > 0.0:
            for j in range(row.n):
                before = row.values[j] - self.means[j]
                self.means[j] += before / self.n_learnt
                self.deviations[j] += before * (row.values[j] - self.means[j])
                self.lows[j] = min(self.lows[j], row.values[j])
                self.highs[j] = max(self.highs[j], row.values[j])

    cdef void rescale(self, const Row* row) noexcept nogil:
        # With the row the mean is 1/n of the way from the one without it to the row.
        cdef double n = self.n_learnt + 1.0, rest = 1.0 - 1.0 / n, squares = 0.0, scale
        cdef double before, mean
        cdef double* entries = &self.entries[0]
        cdef Py_ssize_t j
        if self.clip > 0.0:
            for j in range(row.n):
                before = row.values[j] - self.means[j]
                mean = row.values[j] - rest * before
                entries[j] = standardised(
                    rest * before,
                    min(self.lows[j], row.values[j]) - mean,
                    max(self.highs[j], row.values[j]) - mean,
                    self.clip * sqrt((self.deviations[j] + rest * before * before) / n),
                )
        else:
            for j in range(row.n):
                entries[j] = row.values[j]
        for j in range(row.n):
            squares += entries[j] * entries[j]
        self.squares_with = self.squares + squares
        scale = 1.0 / root_mean(self.squares_with, n)
        for j in range(row.n):
            entries[j] *= scale
        self.scaled = row[0]
        self.scaled.values = entries
        self.scaled.constant *= self.constant

    cdef void measure(self, const Row* scaled) noexcept nogil:
        pass

    cdef void regress(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        pass

    def __reduce__(self):
        arguments = (
            self.n_features, self.n_classes, self.width, self.alpha, self.bonus, self.clip
        )
        state = (
            self.squares, self.mean_square, self.n_learnt,
            np.array(self.means), np.array(self.deviations),
            np.array(self.lows), np.array(self.highs),
            np.array(self.coefficients), *(np.array(array) for array in self.inverses),
        )
        return type(self), arguments, state

    def __setstate__(self, state):
        self.squares, self.mean_square, self.n_learnt, *arrays = state
        arrays = [np.array(array) for array in arrays]
        self.means, self.deviations, self.lows, self.highs, *arrays = arrays
        self.coefficients, *self.inverses = arrays


cdef class FullRidge(ConfidenceRidge):
    """Of the matrices, which are symmetric, nothing right of the diagonal is read or kept.

    P is kept as a matrix less the squares u u' of the last steps, u = P x / sqrt(1 + v). A pass
    over the matrix, which is most of the work where rows are sparse, takes four of them away at
    once; after a dense row, one: that row has been multiplied by all matrices anyway.
    """

    def __init__(self, *args):
        super().__init__(*args)
        self.constant = 0.25
        try:
            identity = np.eye(self.width) / self.alpha
            self.matrices = np.repeat(identity[np.newaxis], self.n_classes, axis=0)
        except MemoryError as error:
            raise MemoryError(
                f"second_order='full' keeps a matrix of {self.width} x {self.width} numbers for "
                f"each of {self.n_classes} classes, for which there is no memory: use "
                "second_order='diagonal'"
            ) from error
        self.squares_of = np.zeros((self.n_classes, N_SQUARES, self.width))
        self.n_squares = np.zeros(self.n_classes, dtype=np.intc)

    @property
    def inverses(self):
        """The inverses of the matrices, in the parts that they are kept in."""
        return self.matrices, self.squares_of, self.n_squares

    @inverses.setter
    def inverses(self, arrays):
        self.matrices, self.squares_of, self.n_squares = arrays

    cdef void measure(self, const Row* scaled) noexcept nogil:
        cdef double products[N_SQUARES]
        cdef Py_ssize_t k
        for k in range(self.n_classes):
            self.variances[k] = quadratic(&self.matrices[k, 0, 0], self.width, scaled)
            self.variances[k] -= self.measure_squares(k, scaled, products)

    cdef double measure_squares(
        self, Py_ssize_t k, const Row* scaled, double* products
    ) noexcept nogil:
        cdef double total = 0.0
        cdef Py_ssize_t b
        table_products(&self.squares_of[k, 0, 0], self.n_squares[k], self.width, scaled, products)
        for b in range(self.n_squares[k]):
            total += products[b] * products[b]
        return total

    cdef void regress(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        cdef double* weights = &self.coefficients[k, 0]
        cdef double* squares = &self.squares_of[k, 0, 0]
        cdef double* spread = squares + self.n_squares[k] * self.width
        cdef double products[N_SQUARES]
        cdef double variance, root
        cdef Py_ssize_t b, j
        variance = product(&self.matrices[k, 0, 0], self.width, scaled, spread)
        variance -= self.measure_squares(k, scaled, products)
        for b in range(self.n_squares[k]):
            for j in range(self.width):
                spread[j] -= products[b] * squares[b * self.width + j]
        root = 1.0 / sqrt(1.0 + max(variance, 0.0))
        for j in range(self.width):
            spread[j] *= root
            weights[j] += root * spread[j] * error
        self.n_squares[k] += 1
        if scaled.columns == NULL or self.n_squares[k] == N_SQUARES:
            rank_k_downdate(&self.matrices[k, 0, 0], self.width, squares, self.n_squares[k])
            self.n_squares[k] = 0


cdef class DiagonalRidge(ConfidenceRidge):
    """Matrices without what is off their diagonals: a step costs the entries of its row."""

    def __init__(self, *args):
        super().__init__(*args)
        self.constant = 0.5
        self.covariances = np.full((self.n_classes, self.width), 1.0 / self.alpha)
        self.squared = np.empty(self.n_features)

    @property
    def inverses(self):
        """The inverses of the diagonals."""
        return (self.covariances,)

    @inverses.setter
    def inverses(self, arrays):
        (self.covariances,) = arrays

    cdef void measure(self, const Row* scaled) noexcept nogil:
        self.measure_classes(&self.covariances[0, 0], self.n_classes, scaled, &self.variances[0])

    cdef void regress(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        cdef double* weights = &self.coefficients[k, 0]
        cdef double* covariance = &self.covariances[k, 0]
        cdef double step, value, variance
        cdef Py_ssize_t i, j
        self.measure_classes(covariance, 1, scaled, &variance)
        step = error / (1.0 + variance)
        for i in range(scaled.n):
            j = i if scaled.columns == NULL else scaled.columns[i]
            value = scaled.values[i]
            weights[j] += step * covariance[j] * value
            covariance[j] /= 1.0 + covariance[j] * value * value
        if scaled.constant != 0.0:
            j, value = scaled.n_features, scaled.constant
            weights[j] += step * covariance[j] * value
            covariance[j] /= 1.0 + covariance[j] * value * value

    cdef void measure_classes(
        self, const double* covariances, Py_ssize_t n_classes, const Row* scaled, double* variances
    ) noexcept nogil:
        cdef Row squared = scaled[0]
        cdef Py_ssize_t i
        for i in range(scaled.n):
            self.squared[i] = scaled.values[i] * scaled.values[i]
        squared.values = &self.squared[0]
        squared.constant = scaled.constant * scaled.constant
        table_products(covariances, n_classes, self.width, &squared, variances)


cdef inline double root_mean(double squares, double n_rows) noexcept nogil:
    # Rows are divided by it, so it is 1 where all of them were zero.
    return sqrt(squares / n_rows) if squares > 0.0 else 1.0


cdef inline double standardised(
    double entry, double low, double high, double most
) noexcept nogil:
    # A centred entry over the range of such entries, all of them cut off at +-most; 0 where all are
    # the same.
    cdef double extent = min(high, most) - max(low, -most)
    return max(-most, min(most, entry)) / extent if extent > 0.0 else 0.0

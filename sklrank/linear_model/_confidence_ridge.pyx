# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Second-order models for bandit feedback: a ridge regression of the reward for each class.

Class k keeps the weights w_k and the matrix A_k = alpha I + sum of x x' over the rows for which it
was shown. Chosen is the class of the greatest

    w_k . x + bonus sqrt(x' A_k^-1 x),

what is expected of it and how uncertain that is (LinUCB: Li, Chu, Langford & Schapire 2010). Then
the class shown, with P = A_k^-1, the error e of its weights and v = x'Px, takes the step

    w_k += P x e / (1 + v),      P -= P x x' P / (1 + v)

and w_k is the ridge solution, exactly. The diagonal model keeps the diagonal of A_k only, and takes
the same step with its inverse for P.

Rows are divided by their root mean squared length so far (the constant of the intercept is not), so
that `alpha` and `bonus` mean the same whatever the units; where the model is *centred*, after their
mean so far was taken off, so that it does not matter either where the units have their zero. Both
are those of the rows that were learnt and, to choose and learn, of the row itself.
"""

from libc.math cimport sqrt

import numpy as np

from sklrank.linear_model._rows cimport first_largest, table_products


cdef class ConfidenceRidge(BanditModel):
    """A subclass keeps the matrices."""

    def __init__(
        self, Py_ssize_t n_features, Py_ssize_t n_classes, Py_ssize_t width, double alpha,
        double bonus, bint centred=False,
    ):
        super().__init__(n_features, n_classes)
        self.width = width
        self.alpha = alpha
        self.bonus = bonus
        self.centred = centred
        self.means = np.zeros(n_features)
        self.coefficients = np.zeros((n_classes, width))
        self.scaled = np.empty(n_features)
        self.variances = np.empty(n_classes)

    @property
    def weights(self):
        """Weights of the features as they come, and of the constant where there is one."""
        weights = np.array(self.coefficients)
        weights[:, :self.n_features] /= scale_of(self.squares, self.n_learnt)
        if self.centred:
            weights[:, -1] -= weights[:, :-1] @ np.asarray(self.means)
        return weights

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        cdef double scale = scale_of(self.squares, self.n_learnt), total
        cdef const double* weights
        cdef Py_ssize_t i, j, k
        for k in range(self.n_classes):
            weights = &self.coefficients[k, 0]
            total = 0.0
            for i in range(row.n):
                j = i if row.columns == NULL else row.columns[i]
                total += (row.values[i] - self.means[j]) * weights[j]
            scores[k] = total / scale
            if row.constant != 0.0:
                scores[k] += row.constant * weights[row.n_features]

    cdef Py_ssize_t choose(self, const Row* row) noexcept nogil:
        cdef double* values = &self.values[0]
        cdef Py_ssize_t k
        cdef Row scaled
        self.rescale(row, &scaled)
        table_products(&self.coefficients[0, 0], self.n_classes, self.width, &scaled, values)
        self.measure(&scaled)
        for k in range(self.n_classes):
            # Below zero by rounding only.
            values[k] += self.bonus * sqrt(max(self.variances[k], 0.0))
        return first_largest(values, self.n_classes)

    cdef void learn(self, const Row* row, const Feedback* feedback) noexcept nogil:
        cdef double* weights = &self.coefficients[feedback.action, 0]
        cdef double expected, squares
        cdef Py_ssize_t i
        cdef Row scaled
        squares = self.rescale(row, &scaled)
        table_products(weights, 1, self.width, &scaled, &expected)
        self.regress(feedback.action, &scaled, feedback.reward - expected)
        self.squares = squares
        self.n_learnt += 1.0
        if self.centred:
            for i in range(row.n):
                self.means[i] += (row.values[i] - self.means[i]) / self.n_learnt

    cdef double rescale(self, const Row* row, Row* scaled) noexcept nogil:
        # The mean with the row is 1/n of the way from the mean without it to the row.
        cdef double way = 1.0 / (self.n_learnt + 1.0) if self.centred else 0.0
        cdef double squares = 0.0, scale
        cdef Py_ssize_t i
        for i in range(row.n):
            self.scaled[i] = row.values[i]
        if self.centred:
            for i in range(row.n):
                self.scaled[i] -= self.means[i]
        for i in range(row.n):
            squares += self.scaled[i] * self.scaled[i]
        squares = self.squares + (1.0 - way) * squares
        scale = scale_of(squares, self.n_learnt + 1.0)
        for i in range(row.n):
            self.scaled[i] *= (1.0 - way) / scale
        scaled[0] = row[0]
        scaled.values = &self.scaled[0]
        return squares

    cdef void measure(self, const Row* scaled) noexcept nogil:
        pass

    cdef void regress(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        pass

    def __reduce__(self):
        arguments = (
            self.n_features, self.n_classes, self.width, self.alpha, self.bonus, self.centred
        )
        state = (
            self.squares, self.n_learnt, np.array(self.means), np.array(self.coefficients),
            np.array(self.covariance_table),
        )
        return type(self), arguments, state

    def __setstate__(self, state):
        self.squares, self.n_learnt, *arrays = state
        self.means, self.coefficients, covariances = [np.array(array) for array in arrays]
        self.covariance_table = covariances


cdef class FullRidge(ConfidenceRidge):
    """Of the matrices, which are symmetric, nothing right of the diagonal is read or kept."""

    def __init__(self, *args):
        super().__init__(*args)
        identity = np.eye(self.width) / self.alpha
        self.covariances = np.repeat(identity[np.newaxis], self.n_classes, axis=0)
        self.spread = np.empty(self.width)

    @property
    def covariance_table(self):
        """The inverses of the matrices."""
        return np.asarray(self.covariances)

    @covariance_table.setter
    def covariance_table(self, covariances):
        self.covariances = covariances

    cdef void measure(self, const Row* scaled) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_classes):
            self.variances[k] = self.quadratic(&self.covariances[k, 0, 0], scaled)

    cdef void regress(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil:
        cdef double* weights = &self.coefficients[k, 0]
        cdef double* spread = &self.spread[0]
        cdef double* p
        cdef double step, gain = 1.0 / (
            1.0 + max(self.spread_row(&self.covariances[k, 0, 0], scaled), 0.0)
        )
        cdef Py_ssize_t i, j
        for j in range(self.width):
            p = &self.covariances[k, j, 0]
            step = gain * spread[j]
            weights[j] += step * error
            for i in range(j + 1):
                p[i] -= step * spread[i]

    cdef double quadratic(self, const double* covariance, const Row* row) noexcept nogil:
        # x'Px. An entry left of the diagonal counts twice.
        cdef const double* x = row.values
        cdef const double* p
        cdef Py_ssize_t i, j
        cdef double total = 0.0, cross
        if row.columns == NULL:
            total = dense_quadratic(covariance, self.width, x, row.n)
        else:
            for j in range(row.n):
                p = covariance + row.columns[j] * self.width
                cross = 0.0
                for i in range(j):
                    cross += p[row.columns[i]] * x[i]
                total += x[j] * (2.0 * cross + p[row.columns[j]] * x[j])
        if row.constant != 0.0:
            p = covariance + row.n_features * self.width
            cross = 0.0
            if row.columns == NULL:
                for i in range(row.n):
                    cross += p[i] * x[i]
            else:
                for i in range(row.n):
                    cross += p[row.columns[i]] * x[i]
            total += row.constant * (2.0 * cross + p[row.n_features] * row.constant)
        return total

    cdef double spread_row(self, const double* covariance, const Row* row) noexcept nogil:
        # Px into `spread`; returns x'Px.
        cdef double* spread = &self.spread[0]
        cdef double variance = 0.0
        cdef Py_ssize_t i, j
        for j in range(self.width):
            spread[j] = 0.0
        for i in range(row.n):
            j = i if row.columns == NULL else row.columns[i]
            add_column(spread, covariance, self.width, j, row.values[i])
        if row.constant != 0.0:
            add_column(spread, covariance, self.width, row.n_features, row.constant)
            variance = row.constant * spread[row.n_features]
        for i in range(row.n):
            j = i if row.columns == NULL else row.columns[i]
            variance += row.values[i] * spread[j]
        return variance


cdef class DiagonalRidge(ConfidenceRidge):
    """Matrices without what is off their diagonals: a step costs the entries of its row."""

    def __init__(self, *args):
        super().__init__(*args)
        self.covariances = np.full((self.n_classes, self.width), 1.0 / self.alpha)
        self.squared = np.empty(self.n_features)

    @property
    def covariance_table(self):
        """The inverses of the diagonals."""
        return np.asarray(self.covariances)

    @covariance_table.setter
    def covariance_table(self, covariances):
        self.covariances = covariances

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


cdef double dense_quadratic(
    const double* covariance, Py_ssize_t width, const double* x, Py_ssize_t n
) noexcept nogil:
    # Four rows at a time: their sums do not wait for each other.
    cdef const double* p
    cdef const double* q
    cdef const double* r
    cdef const double* s
    cdef double a, b, c, d, total = 0.0
    cdef Py_ssize_t i, j
    for j in range(0, n - 3, 4):
        p = covariance + j * width
        q = p + width
        r = q + width
        s = r + width
        a = b = c = d = 0.0
        for i in range(j):
            a += p[i] * x[i]
            b += q[i] * x[i]
            c += r[i] * x[i]
            d += s[i] * x[i]
        b += q[j] * x[j]
        c += r[j] * x[j] + r[j + 1] * x[j + 1]
        d += s[j] * x[j] + s[j + 1] * x[j + 1] + s[j + 2] * x[j + 2]
        total += x[j] * (2.0 * a + p[j] * x[j]) + x[j + 1] * (2.0 * b + q[j + 1] * x[j + 1])
        total += x[j + 2] * (2.0 * c + r[j + 2] * x[j + 2])
        total += x[j + 3] * (2.0 * d + s[j + 3] * x[j + 3])
    for j in range(n - n % 4, n):
        p = covariance + j * width
        a = 0.0
        for i in range(j):
            a += p[i] * x[i]
        total += x[j] * (2.0 * a + p[j] * x[j])
    return total


cdef inline void add_column(
    double* target, const double* covariance, Py_ssize_t width, Py_ssize_t j, double size
) noexcept nogil:
    # target += size * column j, whose upper part stands in row j.
    cdef const double* p = covariance + j * width
    cdef Py_ssize_t i
    for i in range(j + 1):
        target[i] += size * p[i]
    for i in range(j + 1, width):
        target[i] += size * covariance[i * width + j]


cdef inline double scale_of(double squares, double n_rows) noexcept nogil:
    # Nothing to divide by where all rows were the same.
    return sqrt(squares / n_rows) if squares > 0.0 else 1.0

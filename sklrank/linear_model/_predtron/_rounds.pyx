# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rounds of Predtron: score, compare with the label, and learn from a mistake.

With the scores t = W x, the prediction is the one whose representation is most like t. Where its
loss L is not 0, the dual weights take the step (Jain, Natarajan and Tewari 2015, Algorithms 1 to 3)

    Theta -= eta direction x',      direction = rep(sigma~) - rep(sigma_y),

and Predtron.LD one L times as large. A task (:mod:`._task`) knows losses, representations
and directions; a mirror map makes the weights W of Theta.

A round is a row, or the documents of a query. A query has a score for each document, by one vector
of weights, and the step is that on the sum of its documents, direction_1 x_1 + direction_2 x_2 +
... (Corollary 5).
"""

from libc.math cimport INFINITY, NAN, isnan
from libc.string cimport memcpy

import numpy as np

from sklrank.linear_model._mirror._maps cimport EuclideanMap
from sklrank.linear_model._rows cimport add_outer, table_products

# The theorems' learning rate would be infinite for rows whose squares all but vanish.
cdef double MAX_RATE = 1e300


cdef class WeightSums:
    """Sums of the weights after each round so far, added up when they change.

    With the weights W of now, those after each of T rounds add up to

        sum_t W_t = sign * sums + (T + 1 - last) * W.
    """

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        self.sums = np.zeros((n_classes, width))
        self.sign = 1.0
        self.last = 1

    @classmethod
    def of(cls, values):
        """Sums that have got to these values."""
        cdef WeightSums sums = cls(*np.shape(values))
        sums.sums = np.array(values, dtype=np.float64, order="C")
        return sums

    @property
    def values(self):
        """A copy of what is kept, `(n_classes, width)`."""
        return np.array(self.sums)

    def mean(self, MirrorMap mirror_map, Py_ssize_t n_rounds):
        """Mean weights `(n_classes, width)` after each of the rounds, the first one's excluded.

        Zero rounds have the weights at the start for a mean.
        """
        weights = mirror_map.weights
        if not n_rounds:
            return weights
        sums = self.sign * np.asarray(self.sums)
        return (sums + (n_rounds + 1 - self.last) * weights) / n_rounds

    cdef void score(
        self, Py_ssize_t n_rounds, const Row* row, const double* scores, double* means
    ) noexcept nogil:
        cdef Py_ssize_t k
        table_products(&self.sums[0, 0], self.sums.shape[0], self.sums.shape[1], row, means)
        for k in range(self.sums.shape[0]):
            means[k] = (self.sign * means[k] + (n_rounds + 1 - self.last) * scores[k]) / n_rounds

    cdef void record(
        self, MirrorMap mirror_map, Py_ssize_t t, const double* direction, double size,
        const Row* row,
    ) noexcept nogil:
        mirror_map.add_weights(t - self.last, &self.sums[0, 0])
        self.last = t

    def __reduce__(self):
        return type(self), np.shape(self.sums), (np.array(self.sums), self.last)

    def __setstate__(self, state):
        self.sums, self.last = np.array(state[0]), state[1]


cdef class EuclideanSums(WeightSums):
    """The same for weights that are sums of steps, at the cost of the entries of a row.

    A step of round s counts in the weights after the rounds s, s + 1, ..., T. So of T rounds the
    sum is (T + 1) W less the sum of s times the step of round s, which is what is kept.
    """

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        super().__init__(n_classes, width)
        self.sign = -1.0
        self.last = 0

    cdef void record(
        self, MirrorMap mirror_map, Py_ssize_t t, const double* direction, double size,
        const Row* row,
    ) noexcept nogil:
        add_outer(
            &self.sums[0, 0], self.sums.shape[0], self.sums.shape[1], direction, t * size, row
        )


def make_sums(MirrorMap mirror_map):
    """What adds up the weights of this map."""
    kind = EuclideanSums if type(mirror_map) is EuclideanMap else WeightSums
    return kind(mirror_map.n_classes, mirror_map.width)


cdef class PredtronRounds:
    """Weights that learn, and how they have done.

    Where `learning_rate` is NaN it is the theorems', of the rounds so far: with their greatest
    radius R, least nonzero loss c and greatest loss C, and the map's constant of strong convexity
    a, a c / (4 R^2) (Theorems 1 and 15), or a / (4 C R^2) for Predtron.LD (Theorem 14).
    """

    def __init__(
        self, MirrorMap mirror_map, double learning_rate=NAN, double convexity=1.0, sums=None
    ):
        self.mirror_map = mirror_map
        self.learning_rate = learning_rate
        self.convexity = convexity
        self.sums = sums
        self.least_loss = INFINITY
        self.unit = np.ones(1)

    def play_rows(
        self, Rows rows, Task task, const double[:, ::1] bounds=None, double[:, ::1] scores=None,
        double[:, ::1] forecasts=None,
    ):
        """Play a round for each row.

        `bounds` `(n_rounds, 3)` has the radius, the least nonzero and the greatest loss of each
        round, and is needed for the theorems' learning rate only. Where `scores` `(n_rounds,
        n_scores)` are given, those of each row are written there before it is learnt; and where
        `forecasts` are, those that would predict it: by the mean of the weights, if one is kept.
        """
        cdef double[::1] own_scores = np.empty(self.mirror_map.n_classes)
        cdef double[::1] direction = np.empty(self.mirror_map.n_classes)
        cdef double* t
        cdef double loss, size
        cdef Row row
        cdef Py_ssize_t i
        self.check(rows, task, bounds, rows.n_rows)
        for i in range(task.n_rounds):
            if task.n_scores(i) != self.mirror_map.n_classes:
                raise ValueError("the task has other scores than the weights")
        self.check_scores(rows, scores)
        self.check_scores(rows, forecasts)
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                t = &own_scores[0] if scores is None else &scores[i, 0]
                self.mirror_map.score(&row, t)
                if forecasts is not None:
                    self.forecast(&row, t, &forecasts[i, 0])
                loss = task.loss_and_direction(i, t, &direction[0])
                size = self.record_round(loss, task.loss_driven, bounds, i)
                if loss > 0.0:
                    rows.read_step(i, &row)
                    self.change(&direction[0], -size, &row)
                    rows.trim(self.mirror_map.duals)
        self.mirror_map.raise_error()

    def play_queries(
        self, Rows rows, const Py_ssize_t[::1] starts, Task task, const double[:, ::1] bounds=None
    ):
        """Play a round for each query, i of the rows `starts[i]` to `starts[i + 1]`."""
        cdef Py_ssize_t longest = np.max(np.diff(starts), initial=0)
        cdef double[::1] scores = np.empty(longest)
        cdef double[::1] direction = np.empty(longest)
        cdef RowSum total = RowSum(rows.n_features)
        cdef double loss, size
        cdef Row row
        cdef Py_ssize_t i, j
        self.check(rows, task, bounds, starts.shape[0] - 1)
        if self.mirror_map.n_classes != 1 or starts[0] != 0 or (
            starts[starts.shape[0] - 1] != rows.n_rows
        ):
            raise ValueError("queries do not fit the rows or the weights")
        for i in range(task.n_rounds):
            if task.n_scores(i) != starts[i + 1] - starts[i] or starts[i + 1] <= starts[i]:
                raise ValueError("queries do not fit the task")
        with nogil:
            for i in range(task.n_rounds):
                for j in range(starts[i], starts[i + 1]):
                    rows.read(j, &row)
                    self.mirror_map.score(&row, &scores[j - starts[i]])
                loss = task.loss_and_direction(i, &scores[0], &direction[0])
                size = self.record_round(loss, task.loss_driven, bounds, i)
                if loss > 0.0:
                    total.clear()
                    for j in range(starts[i], starts[i + 1]):
                        if direction[j - starts[i]] != 0.0:
                            rows.read_step(j, &row)
                            total.add(direction[j - starts[i]], &row)
                    total.read(&row)
                    self.change(&self.unit[0], -size, &row)
                    rows.trim(self.mirror_map.duals)
        self.mirror_map.raise_error()

    def score(self, Rows rows):
        """Scores `(n_rows, n_scores)` by the weights as they are."""
        cdef double[:, ::1] scores = np.empty((rows.n_rows, self.mirror_map.n_classes))
        cdef Row row
        cdef Py_ssize_t i
        self.check_width(rows)
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                self.mirror_map.score(&row, &scores[i, 0])
        self.mirror_map.raise_error()
        return np.asarray(scores)

    cdef void forecast(
        self, const Row* row, const double* scores, double* forecasts
    ) noexcept nogil:
        if self.sums is not None and self.n_rounds > 0:
            self.sums.score(self.n_rounds, row, scores, forecasts)
        else:
            memcpy(forecasts, scores, self.mirror_map.n_classes * sizeof(double))

    cdef double record_round(
        self, double loss, bint loss_driven, const double[:, ::1] bounds, Py_ssize_t i
    ) noexcept nogil:
        # Count the round; returns the size of its step.
        cdef double size = self.learning_rate
        self.n_rounds += 1
        self.n_mistakes += loss > 0.0
        self.total_loss += loss
        if isnan(size):
            self.radius = max(self.radius, bounds[i, 0])
            self.least_loss = min(self.least_loss, bounds[i, 1])
            self.most_loss = max(self.most_loss, bounds[i, 2])
            size = self.theory_rate(loss_driven)
        return size * loss if loss_driven else size

    cdef double theory_rate(self, bint loss_driven) noexcept nogil:
        cdef double squared = 4.0 * self.radius * self.radius
        if squared == 0.0 or self.most_loss == 0.0:
            return 0.0
        if loss_driven:
            return min(MAX_RATE, self.convexity / (self.most_loss * squared))
        return min(MAX_RATE, self.convexity * self.least_loss / squared)

    cdef void change(self, const double* direction, double size, const Row* row) noexcept nogil:
        if self.sums is not None:
            self.sums.record(self.mirror_map, self.n_rounds, direction, size, row)
        self.mirror_map.step_all(direction, size, row)

    def check(self, Rows rows, Task task, bounds, Py_ssize_t n_rounds):
        """Refuse what the loops would read out of bounds."""
        self.check_width(rows)
        if task.n_rounds != n_rounds:
            raise ValueError("the task has other rounds than the rows")
        if isnan(self.learning_rate) and (
            bounds is None or bounds.shape[0] != n_rounds or bounds.shape[1] != 3
        ):
            raise ValueError("bounds do not fit the rounds")

    def check_width(self, Rows rows):
        """Refuse rows of another length than the weights."""
        if rows.n_features + (rows.constant != 0.0) != self.mirror_map.width:
            raise ValueError(
                f"X has {rows.n_features} columns, the weights {self.mirror_map.width}"
            )

    def check_scores(self, Rows rows, scores):
        """Refuse to write what does not fit; None: nothing is written."""
        if scores is not None and tuple(scores.shape) != (rows.n_rows, self.mirror_map.n_classes):
            raise ValueError("scores do not fit the rows")

    def __reduce__(self):
        arguments = self.mirror_map, self.learning_rate, self.convexity, self.sums
        state = (
            self.n_rounds, self.n_mistakes, self.total_loss,
            self.radius, self.least_loss, self.most_loss,
        )
        return PredtronRounds, arguments, state

    def __setstate__(self, state):
        self.n_rounds, self.n_mistakes, self.total_loss = state[:3]
        self.radius, self.least_loss, self.most_loss = state[3:]

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rounds of Predtron: score, compare the prediction with the label, and step after a mistake.

Let t = W x be the scores of a row. The representation of the prediction has the greatest inner
product with t. If the loss L of the prediction is not 0, the dual weights take the step (Jain,
Natarajan and Tewari 2015, Algorithms 1 to 3)

    Theta -= eta direction x',      direction = rep(sigma~) - rep(sigma_y).

The step of Predtron.LD is multiplied by L. A task (`_tasks.pyx`, `_ranking_task.pyx`) computes
losses and directions, and a mirror map computes the weights W from Theta.

A round uses one row, or the documents of one query. In a query, one vector of weights scores all
documents, and the step adds a multiple of the sum direction_1 x_1 + direction_2 x_2 + ... of the
documents to the dual weights (Corollary 5).
"""

from libc.math cimport INFINITY, NAN, isnan
from libc.string cimport memcpy

import numpy as np

from sklrank._state cimport State
from sklrank.linear_model._mirror._maps cimport EuclideanMap
from sklrank.linear_model._predtron._tasks cimport LossRange
from sklrank.linear_model._rows cimport add_outer, table_products

# Upper limit of the learning rate of the theorems. Without it, the rate would be infinite for rows
# whose squares underflow.
cdef double MAX_RATE = 1e300


cdef class WeightSums:
    """Sums of the weights after each round so far, updated only when the weights change.

    Let W be the current weights and W_t the weights after round t. The sum over T rounds is

        sum_t W_t = sign * sums + (T + 1 - last) * W.
    """

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        self.start({"sums": np.zeros((n_classes, width)), "last": 1})

    @classmethod
    def of(cls, values):
        """Return sums over no rounds whose array has the given values."""
        cdef WeightSums sums = cls(*np.shape(values))
        np.copyto(np.asarray(sums.sums), values)
        return sums

    cdef dict get_state(self):
        return {"sums": self.values, "last": self.last}

    cdef int set_state(self, State state) except -1:
        sums = state.floats("sums", (-1, -1))
        cdef Py_ssize_t last = state.count("last")
        state.require(
            not self.is_ready or sums.shape == (self.sums.shape[0], self.sums.shape[1]),
            "its sizes are not those of the object",
        )
        self.sums, self.last = sums, last
        return 0

    @property
    def values(self):
        """Copy of the array `sums`, `(n_classes, width)`."""
        self.require_ready()
        return np.array(self.sums)

    def mean(self, MirrorMap mirror_map not None, Py_ssize_t n_rounds):
        """Return the mean of the weights after each round, `(n_classes, width)`.

        The mean does not include the initial weights. If there are no rounds, the initial weights
        are returned.
        """
        weights = mirror_map.weights
        if not n_rounds:
            return weights
        sums = self.sign() * self.values
        return (sums + (n_rounds + 1 - self.last) * weights) / n_rounds

    cdef double sign(self) noexcept nogil:
        return 1.0

    cdef void score(
        self, Py_ssize_t n_rounds, const Row* row, const double* scores, double* means
    ) noexcept nogil:
        cdef Py_ssize_t k
        table_products(&self.sums[0, 0], self.sums.shape[0], self.sums.shape[1], row, means)
        for k in range(self.sums.shape[0]):
            means[k] = (self.sign() * means[k] + (n_rounds + 1 - self.last) * scores[k]) / n_rounds

    cdef void before_step(
        self, MirrorMap mirror_map, Py_ssize_t t, const double* direction, double size,
        const Row* row,
    ) noexcept nogil:
        mirror_map.add_weights(t - self.last, &self.sums[0, 0])
        self.last = t


cdef class EuclideanSums(WeightSums):
    """Sums of the weights of a Euclidean map, updated at a cost proportional to a row's entries.

    These weights are sums of steps. The step of round s is part of the weights after the rounds s,
    s + 1, ..., T. So the sum over T rounds is (T + 1) W - sum_s s step_s, and the array `sums`
    holds the last sum.
    """

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        self.start({"sums": np.zeros((n_classes, width)), "last": 0})

    cdef double sign(self) noexcept nogil:
        return -1.0

    cdef void before_step(
        self, MirrorMap mirror_map, Py_ssize_t t, const double* direction, double size,
        const Row* row,
    ) noexcept nogil:
        add_outer(
            &self.sums[0, 0], self.sums.shape[0], self.sums.shape[1], direction, t * size, row
        )


def make_sums(MirrorMap mirror_map not None):
    """Return sums over no rounds for the weights of a mirror map."""
    kind = EuclideanSums if type(mirror_map) is EuclideanMap else WeightSums
    return kind(mirror_map.n_classes, mirror_map.width)


cdef class PredtronRounds:
    """Rounds that train one set of weights, with counts of the mistakes and losses so far.

    If `learning_rate` is NaN, the rate of the theorems for the rounds so far is used. In these
    rounds, let R be the greatest radius, c the least possible nonzero loss, and C the greatest
    possible loss. Let a be the constant of strong convexity of the mirror map. The rate is
    a c / (4 R^2) (Theorems 1 and 15), or a / (4 C R^2) for Predtron.LD (Theorem 14).
    """

    def __init__(
        self, MirrorMap mirror_map, double learning_rate=NAN, double convexity=1.0, sums=None
    ):
        self.start(
            {
                "mirror_map": mirror_map,
                "sums": sums,
                "learning_rate": learning_rate,
                "convexity": convexity,
                "n_rounds": 0,
                "n_mistakes": 0,
                "total_loss": 0.0,
                "radius": 0.0,
                "min_loss": INFINITY,
                "max_loss": 0.0,
            }
        )

    cdef dict get_state(self):
        return {
            "mirror_map": self.mirror_map,
            "sums": self.sums,
            "learning_rate": self.learning_rate,
            "convexity": self.convexity,
            "n_rounds": self.n_rounds,
            "n_mistakes": self.n_mistakes,
            "total_loss": self.total_loss,
            "radius": self.radius,
            "min_loss": self.min_loss,
            "max_loss": self.max_loss,
        }

    cdef int set_state(self, State state) except -1:
        cdef MirrorMap mirror_map = state.part("mirror_map", MirrorMap)
        cdef WeightSums sums = None
        if state.get("sums") is not None:
            sums = state.part("sums", WeightSums)
        state.require(fits(sums, mirror_map), "sums and mirror_map have different sizes")
        cdef double learning_rate = state.any_number("learning_rate")
        cdef double convexity = state.any_number("convexity")
        cdef Py_ssize_t n_rounds = state.count("n_rounds")
        cdef Py_ssize_t n_mistakes = state.count("n_mistakes", 0, n_rounds)
        cdef double total_loss = state.any_number("total_loss")
        cdef double radius = state.number("radius", 0.0)
        cdef double min_loss = state.number("min_loss", 0.0)
        cdef double max_loss = state.number("max_loss", 0.0)
        unit = np.ones(1)
        self.mirror_map, self.sums = mirror_map, sums
        self.learning_rate, self.convexity = learning_rate, convexity
        self.n_rounds, self.n_mistakes, self.total_loss = n_rounds, n_mistakes, total_loss
        self.radius, self.min_loss, self.max_loss = radius, min_loss, max_loss
        self.unit = unit
        return 0

    def set_weights(self, MirrorMap mirror_map not None, WeightSums sums):
        """Replace the weights, and their sums unless `sums` is None."""
        if not mirror_map.is_ready or not fits(sums, mirror_map):
            raise ValueError("sums and mirror_map have different sizes")
        self.mirror_map, self.sums = mirror_map, sums

    def play_rows(
        self, Rows rows not None, Task task not None, const double[::1] radii=None,
        double[:, ::1] scores=None, double[:, ::1] prediction_scores=None,
    ):
        """Play a round for each row.

        `radii` `(n_rounds,)` are needed only for the learning rate of the theorems. If given, the
        arrays `scores` and `prediction_scores` `(n_rounds, n_scores)` are filled with the scores of
        each row before its round. `scores` are computed with the current weights, and
        `prediction_scores` with the weights used for prediction, which are the mean weights if
        there are `sums`.
        """
        self.require_ready()
        cdef double[::1] row_scores = np.empty(self.mirror_map.n_classes)
        cdef double[::1] direction = np.empty(self.mirror_map.n_classes)
        cdef double* t
        cdef double loss, size
        cdef Row row
        cdef Py_ssize_t i
        self.check(rows, task, radii, rows.n_rows)
        for i in range(task.n_rounds):
            if task.n_scores(i) != self.mirror_map.n_classes:
                raise ValueError("the task has other scores than the weights")
        self.check_scores(rows, scores)
        self.check_scores(rows, prediction_scores)
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                t = &row_scores[0] if scores is None else &scores[i, 0]
                self.mirror_map.score(&row, t)
                if prediction_scores is not None:
                    self.score_for_prediction(&row, t, &prediction_scores[i, 0])
                loss = task.loss_and_direction(i, t, &direction[0])
                size = self.count_round(loss, task, radii, i)
                if loss > 0.0:
                    rows.read_step(i, &row)
                    self.step(&direction[0], -size, &row)
                    rows.enforce_budget(self.mirror_map.duals)
        self.mirror_map.raise_error()

    def play_queries(
        self, Rows rows not None, const Py_ssize_t[::1] starts not None, Task task not None,
        const double[::1] radii=None,
    ):
        """Play a round for each query. Query i has the rows `starts[i]:starts[i + 1]`."""
        cdef Py_ssize_t longest = np.max(np.diff(starts), initial=0)
        cdef double[::1] scores = np.empty(longest)
        cdef double[::1] direction = np.empty(longest)
        cdef RowSum total = RowSum(rows.n_features)
        cdef double loss, size
        cdef Row row
        cdef Py_ssize_t i, j
        self.check(rows, task, radii, starts.shape[0] - 1)
        if self.mirror_map.n_classes != 1 or not starts.shape[0] or starts[0] != 0 or (
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
                size = self.count_round(loss, task, radii, i)
                if loss > 0.0:
                    total.clear()
                    for j in range(starts[i], starts[i + 1]):
                        if direction[j - starts[i]] != 0.0:
                            rows.read_step(j, &row)
                            total.add(direction[j - starts[i]], &row)
                    total.read(&row)
                    self.step(&self.unit[0], -size, &row)
                    rows.enforce_budget(self.mirror_map.duals)
        self.mirror_map.raise_error()

    def score(self, Rows rows not None):
        """Return the scores of the rows with the current weights, `(n_rows, n_scores)`."""
        self.require_ready()
        cdef double[:, ::1] scores = np.empty((rows.n_rows, self.mirror_map.n_classes))
        cdef Row row
        cdef Py_ssize_t i
        self.check_width(rows)
        self.mirror_map.prepare()
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                self.mirror_map.score(&row, &scores[i, 0])
        return np.asarray(scores)

    cdef void score_for_prediction(
        self, const Row* row, const double* scores, double* prediction_scores
    ) noexcept nogil:
        if self.sums is not None and self.n_rounds > 0:
            self.sums.score(self.n_rounds, row, scores, prediction_scores)
        else:
            memcpy(prediction_scores, scores, self.mirror_map.n_classes * sizeof(double))

    cdef double count_round(
        self, double loss, Task task, const double[::1] radii, Py_ssize_t i
    ) noexcept nogil:
        cdef double size = self.learning_rate
        cdef LossRange losses
        self.n_rounds += 1
        self.n_mistakes += loss > 0.0
        self.total_loss += loss
        if isnan(size):
            losses = task.loss_range(i)
            self.radius = max(self.radius, radii[i])
            self.min_loss = min(self.min_loss, losses.min)
            self.max_loss = max(self.max_loss, losses.max)
            size = self.theory_rate(task.loss_driven)
        return size * loss if task.loss_driven else size

    cdef double theory_rate(self, bint loss_driven) noexcept nogil:
        cdef double squared = 4.0 * self.radius * self.radius
        if squared == 0.0 or self.max_loss == 0.0:
            return 0.0
        if loss_driven:
            return min(MAX_RATE, self.convexity / (self.max_loss * squared))
        return min(MAX_RATE, self.convexity * self.min_loss / squared)

    cdef void step(self, const double* direction, double size, const Row* row) noexcept nogil:
        if self.sums is not None:
            self.sums.before_step(self.mirror_map, self.n_rounds, direction, size, row)
        self.mirror_map.step_all(direction, size, row)

    def check(self, Rows rows not None, Task task not None, radii, Py_ssize_t n_rounds):
        """Raise ValueError for arguments that the loops would read out of bounds."""
        self.check_width(rows)
        if task.n_rounds != n_rounds:
            raise ValueError("the task has other rounds than the rows")
        if isnan(self.learning_rate) and (radii is None or radii.shape[0] != n_rounds):
            raise ValueError("radii do not fit the rounds")

    def check_width(self, Rows rows not None):
        """Raise ValueError if the length of the rows differs from the width of the weights."""
        self.require_ready()
        if rows.n_features + (rows.constant != 0.0) != self.mirror_map.width:
            raise ValueError(
                f"X has {rows.n_features} columns, the weights {self.mirror_map.width}"
            )

    def check_scores(self, Rows rows not None, scores):
        """Raise ValueError if an output array has the wrong shape. None means no output."""
        self.require_ready()
        if scores is not None and tuple(scores.shape) != (rows.n_rows, self.mirror_map.n_classes):
            raise ValueError("scores do not fit the rows")


def linear_scores(const double[:, ::1] weights not None, Rows rows not None):
    """Return the scores of the rows with these weights, `(n_rows, n_scores)`."""
    cdef double[:, ::1] scores = np.empty((rows.n_rows, weights.shape[0]))
    cdef Row row
    cdef Py_ssize_t i
    if rows.n_features + (rows.constant != 0.0) != weights.shape[1]:
        raise ValueError(f"X has {rows.n_features} columns, the weights {weights.shape[1]}")
    with nogil:
        for i in range(rows.n_rows):
            rows.read(i, &row)
            table_products(&weights[0, 0], weights.shape[0], weights.shape[1], &row, &scores[i, 0])
    return np.asarray(scores)


cdef bint fits(WeightSums sums, MirrorMap mirror_map):
    # Return whether the sums, if any, have the shape of the weights.
    return sums is None or (
        sums.is_ready
        and sums.sums.shape[0] == mirror_map.n_classes
        and sums.sums.shape[1] == mirror_map.width
    )

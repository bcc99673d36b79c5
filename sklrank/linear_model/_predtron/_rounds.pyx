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

Kernels. After steps of rank one, the weights are a weighted sum of the rows of the steps,
w = a_1 x_1 + a_2 x_2 + ..., and the score of x is a_1 k(x_1, x) + a_2 k(x_2, x) + ... So the dual
coefficients `a` are the weights of a row of kernel values. A step on x_i changes only a_i, so it is
a step on the i-th unit vector. The support vectors are the points that have a coefficient.
"""

import numpy as np

from sklrank._compiled.rows cimport Row, Rows, RowSum, add_outer, table_products
from sklrank._compiled.state cimport Archive, Persistent
from sklrank.linear_model._mirror._maps cimport EuclideanMap, MirrorMap
from sklrank.linear_model._predtron._tasks cimport Task

from sklrank._compiled import LABELS


cdef class WeightSums(Persistent):
    """Sums of the weights after each round so far, updated only when the weights change.

    Let W be the current weights and W_t the weights after round t. The sum over T rounds is

        sum_t W_t = sign * sums + (T + 1 - last) * W.
    """

    cdef double[:, ::1] sums                # (n_classes, width)
    cdef Py_ssize_t last                    # round of the last change, or 0 if it is not used

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        self.sums, self.last = np.zeros((n_classes, width)), 1
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef WeightSums saved = archive.source
        self.sums = archive.floats("sums", saved.sums, (LABELS, -1))
        self.last = archive.count("last", saved.last)
        return 0

    cdef object mean(self, MirrorMap mirror_map, Py_ssize_t n_rounds):
        # Return the mean of the weights after each round, `(n_classes, width)`. It does not include
        # the initial weights. If there are no rounds, these are returned.
        weights = mirror_map.weights
        if not n_rounds:
            return weights
        sums = self.sign() * np.asarray(self.sums)
        return (sums + (n_rounds + 1 - self.last) * weights) / n_rounds

    cdef int start_labels(self, new, weights) except -1:
        # Set the sums of new labels (a mask), whose weights were these in all rounds.
        np.asarray(self.sums)[new] = max(self.last - 1, 0) * weights[new]
        return 0

    cdef double sign(self) noexcept nogil:
        return 1.0

    cdef void before_step(
        self, MirrorMap mirror_map, Py_ssize_t t, const double* direction, double size,
        const Row* row,
    ) noexcept nogil:
        # Called in round t = 1, 2, ..., before the dual weights change by `size * direction row'`.
        mirror_map.add_weights(t - self.last, &self.sums[0, 0])
        self.last = t


cdef class EuclideanSums(WeightSums):
    """Sums of the weights of a Euclidean map, updated at a cost proportional to a row's entries.

    These weights are sums of steps. The step of round s is part of the weights after the rounds s,
    s + 1, ..., T. So the sum over T rounds is (T + 1) W - sum_s s step_s, and the array `sums`
    holds the last sum.
    """

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width):
        self.sums, self.last = np.zeros((n_classes, width)), 0
        self.start()

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


cdef class PredtronRounds(Persistent):
    """Rounds that train one set of weights, with counts of the mistakes and losses so far."""

    cdef readonly MirrorMap mirror_map
    cdef readonly WeightSums sums           # None if the weights are not averaged
    cdef readonly double learning_rate
    cdef readonly Py_ssize_t n_rounds, n_mistakes
    cdef readonly double total_loss
    cdef double[::1] unit                   # (1,) one

    def __init__(self, MirrorMap mirror_map, double learning_rate, sums=None):
        self.mirror_map, self.sums, self.learning_rate = mirror_map, sums, learning_rate
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef PredtronRounds saved = archive.source
        self.mirror_map = archive.part("mirror_map", saved.mirror_map, MirrorMap)
        self.sums = archive.part("sums", saved.sums, WeightSums, or_none=True)
        archive.require(
            fits(self.sums, self.mirror_map), "sums and mirror_map have different sizes"
        )
        if archive.labels is not None and self.sums is not None:
            # The weights of new labels, which were the initial ones until now.
            sums, weights = archive.entries["sums"], archive.entries["mirror_map"].weights
            (<WeightSums>sums).start_labels(archive.labels < 0, weights)
        self.learning_rate = archive.any_number("learning_rate", saved.learning_rate)
        self.n_rounds = archive.count("n_rounds", saved.n_rounds)
        self.n_mistakes = archive.count("n_mistakes", saved.n_mistakes, 0, self.n_rounds)
        self.total_loss = archive.any_number("total_loss", saved.total_loss)
        if archive.loads:
            self.unit = np.ones(1)
        return 0

    _merge_rules = {"n_rounds": "total", "n_mistakes": "total", "total_loss": "total"}

    def set_width(self, Py_ssize_t width):
        """Keep the weights of the first features, or add some of weight 0, with a Euclidean map."""
        cdef MirrorMap mirror_map
        cdef WeightSums sums = None
        self.require_ready()
        mirror_map = EuclideanMap.of(of_width(self.mirror_map.duals, width))
        if self.sums is not None:
            sums = EuclideanSums(mirror_map.n_classes, mirror_map.width)
            sums.sums = of_width(self.sums.sums, width)
        self.mirror_map, self.sums = mirror_map, sums

    @property
    def weights(self):
        """Weights `(n_scores, width)` that score samples: their mean over the rounds, if kept."""
        self.require_ready()
        if self.sums is None:
            return self.mirror_map.weights
        return self.sums.mean(self.mirror_map, self.n_rounds)

    def play(self, Rows rows not None, starts, Task task not None, scores=None):
        """Play a round for each row, or for each query if there are `starts`."""
        if starts is None:
            self.play_rows(rows, task, scores)
        else:
            self.play_queries(rows, starts, task)

    def play_rows(
        self, Rows rows not None, Task task not None, double[:, ::1] scores=None
    ):
        """Play a round for each row.

        If given, the array `scores` `(n_rounds, n_scores)` is filled with the scores of each row
        before its round, computed with the current weights.
        """
        self.require_ready()
        cdef double[::1] row_scores = np.empty(self.mirror_map.n_classes)
        cdef double[::1] direction = np.empty(self.mirror_map.n_classes)
        cdef double* t
        cdef double loss, size
        cdef Row row
        cdef Py_ssize_t i
        self.check(rows, task, rows.n_rows)
        for i in range(task.n_rounds):
            if task.n_scores(i) != self.mirror_map.n_classes:
                raise ValueError("the task has other scores than the weights")
        if scores is not None and (scores.shape[0], scores.shape[1]) != (
            rows.n_rows, self.mirror_map.n_classes
        ):
            raise ValueError("scores do not fit the rows")
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                t = &row_scores[0] if scores is None else &scores[i, 0]
                self.mirror_map.score(&row, t)
                loss = task.loss_and_direction(i, t, &direction[0])
                size = self.count_round(loss, task.loss_driven)
                if loss > 0.0:
                    rows.read_step(i, &row)
                    self.step(&direction[0], -size, &row)
        self.mirror_map.raise_error()

    def play_queries(
        self, Rows rows not None, const Py_ssize_t[::1] starts not None, Task task not None
    ):
        """Play a round for each query. Query i has the rows `starts[i]:starts[i + 1]`."""
        cdef Py_ssize_t longest = np.max(np.diff(starts), initial=0)
        cdef double[::1] scores = np.empty(longest)
        cdef double[::1] direction = np.empty(longest)
        cdef RowSum total = RowSum(rows.n_features)
        cdef double loss, size
        cdef Row row
        cdef Py_ssize_t i, j
        self.check(rows, task, starts.shape[0] - 1)
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
                size = self.count_round(loss, task.loss_driven)
                if loss > 0.0:
                    total.clear()
                    for j in range(starts[i], starts[i + 1]):
                        if direction[j - starts[i]] != 0.0:
                            rows.read_step(j, &row)
                            total.add(direction[j - starts[i]], &row)
                    total.read(&row)
                    self.step(&self.unit[0], -size, &row)
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

    cdef double count_round(self, double loss, bint loss_driven) noexcept nogil:
        # Return the size of the step.
        self.n_rounds += 1
        self.n_mistakes += loss > 0.0
        self.total_loss += loss
        return self.learning_rate * loss if loss_driven else self.learning_rate

    cdef void step(self, const double* direction, double size, const Row* row) noexcept nogil:
        if self.sums is not None:
            self.sums.before_step(self.mirror_map, self.n_rounds, direction, size, row)
        self.mirror_map.step_all(direction, size, row)

    def check(self, Rows rows not None, Task task not None, Py_ssize_t n_rounds):
        """Raise ValueError for arguments that the loops would read out of bounds."""
        self.check_width(rows)
        if task.n_rounds != n_rounds:
            raise ValueError("the task has other rounds than the rows")

    def check_width(self, Rows rows not None):
        """Raise ValueError if the length of the rows differs from the width of the weights."""
        self.require_ready()
        if rows.n_features + (rows.constant != 0.0) != self.mirror_map.width:
            raise ValueError(
                f"X has {rows.n_features} columns, the weights {self.mirror_map.width}"
            )


cdef class KernelRows(Rows):
    """Kernel values `(n_rows, n_points)` between rows and points; each row is one of the points.

    A row has only the values of the support vectors, at first `n_supports` points, in the order in
    which they were inserted. So the order of a sum over them does not depend on the other points.
    """

    cdef const Py_ssize_t[::1] own_point    # (n_rows,) the point that is the row itself
    cdef readonly Py_ssize_t n_supports
    cdef Py_ssize_t[::1] support_points     # (n_points,) of which the first `n_supports` are used
    cdef int[::1] positions                 # (n_points,) among the support vectors, or -1
    cdef double[::1] values_of_supports     # scratch: (n_points,)
    cdef double unit

    def __init__(
        self, values, const Py_ssize_t[::1] own_point not None, Py_ssize_t n_supports,
    ):
        n_rows, n_points = np.shape(values)
        if own_point.shape[0] != n_rows or not 0 <= n_supports <= n_points:
            raise ValueError("own_point or n_supports do not fit the kernel values")
        if n_rows and not 0 <= np.min(own_point) <= np.max(own_point) < n_points:
            raise ValueError("own_point has points that are out of range")
        super().__init__(values, 0.0)
        self.own_point, self.n_supports = own_point, n_supports
        self.support_points = np.arange(n_points)
        self.positions = np.arange(n_points, dtype=np.intc)
        self.positions[n_supports:] = -1
        self.values_of_supports = np.empty(n_points)
        self.unit = 1.0

    @property
    def supports(self):
        """Indices of the points that are support vectors, in the order of insertion."""
        if self.n_supports == 0:  # An object without a state has no array.
            return np.empty(0, dtype=np.intp)
        return np.array(self.support_points[: self.n_supports])

    cdef void read(self, Py_ssize_t i, Row* row) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(self.n_supports):
            self.values_of_supports[j] = self.values[i * self.n_features + self.support_points[j]]
        row.n = self.n_supports
        row.columns = NULL
        row.values = &self.values_of_supports[0]
        row.n_features = self.n_features
        row.constant = 0.0

    cdef void read_step(self, Py_ssize_t i, Row* row) noexcept nogil:
        cdef Py_ssize_t point = self.own_point[i]
        if self.positions[point] < 0:
            self.positions[point] = <int>self.n_supports
            self.support_points[self.n_supports] = point
            self.n_supports += 1
        row.n = 1
        row.columns = &self.positions[point]
        row.values = &self.unit
        row.n_features = self.n_features
        row.constant = 0.0


cdef object of_width(table, Py_ssize_t width):
    # Return the first columns of a table, or all of them and columns of 0.
    return np.pad(table, ((0, 0), (0, max(0, width - table.shape[1]))))[:, :width].copy()


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

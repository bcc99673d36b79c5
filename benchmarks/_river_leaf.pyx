# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
# distutils: extra_compile_args = -O2 -ffp-contract=off
"""Compiled statistics of a leaf of river's Hoeffding tree, for all features of a sample.

For two classes, sample weights of one, numeric features and river's defaults. The operations and
their order are those of river, so that the trees are identical, bit by bit.
"""

import math

import numpy as np
from libc.math cimport NAN, erf, isnan, log, pow

from river.tree.utils import BranchFactory

cdef double HALF_LOG_TAU = 0.5 * math.log(math.tau)
cdef double ROOT_OF_TWO = math.sqrt(2.0)
# Python's x ** 2 is C's pow. If the exponent were a constant, the compiler would use x * x, which
# may differ in the last bit.
cdef volatile double SQUARE = 2.0
cdef volatile double ROOT = 0.5


cdef class Row:
    """A sample, indexed by feature as river's dictionaries are; NaN is a missing feature."""

    cdef const double[::1] values

    def __init__(self, values):
        self.values = values

    def __getitem__(self, Py_ssize_t column):
        if isnan(self.values[column]):
            raise KeyError(column)
        return self.values[column]


cdef class Observers:
    """A Gaussian for each class and feature, of the samples that a leaf has learned."""

    cdef double[:, ::1] counts, means, squares, lowest, highest
    # Terms of the log densities, computed on demand (NaN before): -2 variance, which is zero if
    # there is no density, and log(variance) / 2.
    cdef double[:, ::1] divisors, offsets
    # Features, and the first class of each, in the order of their first occurrence: river sums up
    # in this order.
    cdef Py_ssize_t[::1] columns
    cdef Py_ssize_t n_columns
    cdef int[::1] first_classes

    def __init__(self, n_columns):
        shape = (2, n_columns)
        self.counts, self.means, self.squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.lowest, self.highest = np.full(shape, np.inf), np.full(shape, -np.inf)
        self.divisors, self.offsets = np.full(shape, np.nan), np.empty(shape)
        self.columns = np.empty(n_columns, dtype=np.intp)
        self.n_columns = 0
        self.first_classes = np.empty(n_columns, dtype=np.intc)

    def update(self, Row row, bint label):
        cdef Py_ssize_t column
        cdef double x, before
        for column in range(row.values.shape[0]):
            x = row.values[column]
            if isnan(x):
                continue
            if self.counts[0, column] + self.counts[1, column] == 0.0:
                self.columns[self.n_columns] = column
                self.n_columns += 1
                self.first_classes[column] = label
            self.lowest[label, column] = min(self.lowest[label, column], x)
            self.highest[label, column] = max(self.highest[label, column], x)
            before = self.means[label, column]
            self.counts[label, column] += 1.0
            self.means[label, column] += (1.0 / self.counts[label, column]) * (x - before)
            self.squares[label, column] += (x - before) * (x - self.means[label, column])
            self.divisors[label, column] = NAN

    cdef double variance(self, bint label, Py_ssize_t column) noexcept:
        if self.counts[label, column] > 1.0:
            return self.squares[label, column] / (self.counts[label, column] - 1.0)
        return 0.0

    def log_likelihood(self, Row row, bint label, double log_prior):
        """Return `log_prior` plus the log densities of the features of a sample, if defined."""
        cdef double x, variance, total = log_prior
        cdef Py_ssize_t column, i
        for i in range(self.n_columns):
            column = self.columns[i]
            x = row.values[column]
            if isnan(x):
                continue
            if isnan(self.divisors[label, column]):
                variance = self.variance(label, column)
                self.divisors[label, column] = -2.0 * variance if variance > 0.0 else 0.0
                self.offsets[label, column] = 0.5 * log(variance)
            if self.divisors[label, column] != 0.0:
                total += (
                    pow(x - self.means[label, column], SQUARE) / self.divisors[label, column]
                    - HALF_LOG_TAU
                    - self.offsets[label, column]
                )
        return total

    def items(self):
        """Return pairs of a feature and the object that river calls to find its split."""
        cdef Py_ssize_t i
        for i in range(self.n_columns):
            yield self.columns[i], ColumnObserver(self, self.columns[i])

    cdef double share_below(self, double x, bint label, Py_ssize_t column) noexcept:
        cdef double deviation = pow(self.variance(label, column), ROOT)
        if deviation == 0.0:
            return 0.0
        return 0.5 * (1.0 + erf((x - self.means[label, column]) / deviation / ROOT_OF_TWO))


cdef class ColumnObserver:
    cdef Observers observers
    cdef Py_ssize_t column

    def __init__(self, Observers observers, Py_ssize_t column):
        self.observers = observers
        self.column = column

    def best_evaluated_split_suggestion(self, criterion, before, name, binary_only):
        cdef Observers observers = self.observers
        cdef Py_ssize_t column = self.column
        cdef double lowest = min(observers.lowest[0, column], observers.lowest[1, column])
        cdef double highest = max(observers.highest[0, column], observers.highest[1, column])
        cdef double count, width = (highest - lowest) / 11.0, point
        cdef bint label, first = observers.first_classes[column]
        cdef int i
        best = BranchFactory()
        for i in range(1, 11):
            point = lowest + width * i
            if not lowest < point < highest:
                continue
            left, right = {}, {}
            for label in (first, not first):
                count = observers.counts[label, column]
                if count == 0.0:
                    continue
                if point < observers.lowest[label, column]:
                    right[label] = count
                elif point >= observers.highest[label, column]:
                    left[label] = count
                else:
                    left[label] = observers.share_below(point, label, column) * count
                    right[label] = count - left[label]
            merit = criterion.merit_of_split(before, [left, right])
            if merit > best.merit:
                best = BranchFactory(merit, name, point, [left, right])
        return best

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Base class of the linear bandit models, and the first-order model: online mirror descent.

Let y-hat be the greedy class, which is the class with the largest score. Let y-tilde be the class
shown, p its propensity, and y the correct class. Online mirror descent takes the step (Valizadegan
2010, Algorithms 7 to 10)

    Theta -= eta delta x',      delta = 1[y-hat] - 1[y-tilde] [y-tilde = y] / p.

Its expectation is the step of the perceptron, E[delta] = 1[y-hat] - 1[y] (Eq. 5.6), although y is
unknown. (Eq. 5.4 is printed with the propensity of y-hat. Correct is the propensity of y-tilde, as
in Algorithms 7 and 10.)
"""

from libc.math cimport fabs, log, sqrt

import numpy as np

from sklrank._compiled.rows cimport first_largest
from sklrank._compiled.state cimport Archive


cdef class BanditModel:
    """Base class of the models, which score classes and learn from bandit feedback.

    A subclass overrides `score` and `learn`. It overrides `choose` if the values of the classes
    differ from their scores, or if `score` needs scratch memory. Its `exchange` sets the sizes
    and `needs_greedy` and calls `check_sizes`; if `needs_greedy` is False, the subclass overrides
    `prepare_to_learn` if necessary.
    """

    cdef int check_sizes(self, Archive archive) except -1:
        cdef Py_ssize_t n_outputs = self.n_features + self.n_components
        archive.require(self.n_features > 0, "there are no features")
        archive.require(self.n_classes > 0, "there are no classes")
        archive.require(
            self.width == 0 or n_outputs <= self.width <= n_outputs + 1,
            f"there are {n_outputs} features, but the weights have the width {self.width}",
        )
        if archive.loads:
            self.values, self.errors = np.empty((2, self.n_classes))
            self.estimates = np.empty(self.n_classes) if self.has_errors else self.values
        return 0

    cdef int prepare(self) except -1:
        return 0

    cdef void score(self, const Row* row, double* scores, double* scratch) noexcept nogil:
        pass

    cdef Py_ssize_t choose(self, const Row* row, const char* available) noexcept nogil:
        self.score(row, &self.values[0], NULL)
        return first_largest_available(&self.values[0], self.n_classes, available)

    cdef void prepare_to_learn(self, const Row* row) noexcept nogil:
        pass

    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil:
        pass

    def raise_error(self):
        """Raise the error that occurred in a compiled loop and was kept, if there is one."""


cdef class MirrorDescent(BanditModel):
    """Banditron with an arbitrary mirror map.

    With `is_factor`, `learning_rate` multiplies the learning rate of Eq. 5.12,
    sqrt(K (1 - g) ln K / (g t)), with the number of classes K and the exploration rate g. The
    current number t of rounds replaces the total number T, which is unknown. The samples are
    divided by their largest absolute entry so far, as Theorem 13 assumes.
    """

    cdef readonly MirrorMap mirror_map
    cdef readonly double learning_rate
    cdef readonly bint is_factor            # of the learning rate of Eq. 5.12
    cdef double n_seen                      # number of samples learned
    cdef double largest                     # largest absolute entry of these samples

    def __init__(
        self, Py_ssize_t n_features, MirrorMap mirror_map, double learning_rate=1.0,
        bint is_factor=False,
    ):
        self.n_features, self.mirror_map = n_features, mirror_map
        self.learning_rate, self.is_factor = learning_rate, is_factor
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef MirrorDescent saved = archive.source
        self.n_features = archive.count("n_features", saved.n_features)
        self.mirror_map = archive.part("mirror_map", saved.mirror_map, MirrorMap)
        self.learning_rate = archive.number("learning_rate", saved.learning_rate, 0.0)
        self.is_factor = archive.flag("is_factor", saved.is_factor)
        self.n_seen = archive.number("n_seen", saved.n_seen, 0.0)
        self.largest = archive.number("largest", saved.largest, 0.0)
        self.n_classes, self.width = self.mirror_map.n_classes, self.mirror_map.width
        # A kernel has no table of weights, whose width must fit the rows.
        self.needs_dense = self.width == 0
        self.needs_greedy = True
        self.check_sizes(archive)
        return 0

    _merge_rules = {"n_seen": "total", "largest": "max"}

    @property
    def weights(self):
        """Copy of the weights, `(n_classes, width)`, including those of the constant, if any."""
        self.require_ready()
        return self.mirror_map.weights

    cdef int prepare(self) except -1:
        return self.mirror_map.prepare()

    cdef void score(self, const Row* row, double* scores, double* scratch) noexcept nogil:
        self.mirror_map.score(row, scores)

    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil:
        cdef double eta = self.learning_rate
        if self.is_factor:
            eta *= self.theoretical_rate(row, feedback.rate)
        if not feedback.reward:
            self.mirror_map.step(feedback.greedy, -eta, row)
        elif feedback.action == feedback.greedy:
            self.mirror_map.step(feedback.greedy, eta * (1.0 / feedback.propensity - 1.0), row)
        else:
            self.mirror_map.step(feedback.greedy, -eta, row)
            self.mirror_map.step(feedback.action, eta / feedback.propensity, row)

    cdef double theoretical_rate(self, const Row* row, double exploration) noexcept nogil:
        # Return the learning rate of Eq. 5.12 for a sample and the exploration rate of its round.
        cdef double k = self.n_classes
        cdef Py_ssize_t i
        self.n_seen += 1.0
        self.largest = max(self.largest, fabs(row.constant))
        for i in range(row.n):
            self.largest = max(self.largest, fabs(row.values[i]))
        if self.largest == 0.0:
            return 0.0
        # With exploration rate 1, the step size of Eq. 5.12 would be 0.
        exploration = min(exploration, 0.5)
        return sqrt(k * (1.0 - exploration) * log(k) / (exploration * self.n_seen)) / self.largest

    def raise_error(self):
        """Raise the error that a mirror map raised in a compiled loop, if there is one."""
        self.require_ready()
        self.mirror_map.raise_error()


cdef Py_ssize_t first_largest_available(
    const double* values, Py_ssize_t n, const char* available
) noexcept nogil:
    cdef Py_ssize_t k, best = -1
    if available == NULL:
        return first_largest(values, n)
    for k in range(n):
        if available[k] and (best < 0 or values[k] > values[best]):
            best = k
    return best

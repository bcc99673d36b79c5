# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Linear models that learn from one label shown at a time, and the first-order one of them.

With y-hat the label believed best, y-tilde the one shown and p the probability that it was, online
mirror descent takes the step (Valizadegan 2010, Algorithms 7 to 10)

    Theta -= eta delta x',      delta = 1[y-hat] - 1[y-tilde] [y-tilde is right] / p

which on average is the perceptron's, E[delta] = 1[y-hat] - 1[y] (Eq. 5.6), though y is not known.
(Eq. 5.4 prints the p of y-hat; it is that of y-tilde, as Algorithms 7 and 10 have it.)
"""

from libc.math cimport NAN, fabs, isnan, log, sqrt

import numpy as np

from sklrank.linear_model._rows cimport first_largest


cdef class BanditModel:
    """A subclass scores and learns; where it does not show the greatest score, it chooses too."""

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_classes):
        self.n_features = n_features
        self.n_classes = n_classes
        self.values = np.empty(n_classes)

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        pass

    cdef Py_ssize_t choose(self, const Row* row) noexcept nogil:
        self.score(row, &self.values[0])
        return first_largest(&self.values[0], self.n_classes)

    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil:
        pass


cdef class MirrorDescent(BanditModel):
    """Banditron with any mirror map.

    Where `learning_rate` is NaN, it is that of Eq. 5.12 with the rounds so far for T, so that no
    horizon need be known, sqrt(K (1 - g) ln K / (g t)), for rows divided by their largest entry so
    far, as Theorem 13 wants them.
    """

    def __init__(self, Py_ssize_t n_features, MirrorMap mirror_map, double learning_rate=NAN):
        super().__init__(n_features, mirror_map.n_classes)
        self.mirror_map = mirror_map
        self.learning_rate = learning_rate

    @property
    def weights(self):
        """Weights of the features, and of the constant where there is one."""
        return self.mirror_map.weights

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        self.mirror_map.score(row, scores)

    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil:
        cdef double size = self.learning_rate
        if isnan(size):
            size = self.theory_rate(row, feedback.rate)
        if not feedback.reward:
            self.mirror_map.step(feedback.best, -size, row)
        elif feedback.action == feedback.best:
            self.mirror_map.step(feedback.best, size * (1.0 / feedback.propensity - 1.0), row)
        else:
            self.mirror_map.step(feedback.best, -size, row)
            self.mirror_map.step(feedback.action, size / feedback.propensity, row)

    cdef double theory_rate(self, const Row* row, double exploration) noexcept nogil:
        cdef double k = self.n_classes
        cdef Py_ssize_t i
        self.n_learnt += 1.0
        self.largest = max(self.largest, fabs(row.constant))
        for i in range(row.n):
            self.largest = max(self.largest, fabs(row.values[i]))
        if self.largest == 0.0:
            return 0.0
        # Eq. 5.12 would give a step of 0 at exploration 1.
        exploration = min(exploration, 0.5)
        return sqrt(k * (1.0 - exploration) * log(k) / (exploration * self.n_learnt)) / self.largest

    def __reduce__(self):
        arguments = self.n_features, self.mirror_map, self.learning_rate
        return MirrorDescent, arguments, (self.n_learnt, self.largest)

    def __setstate__(self, state):
        self.n_learnt, self.largest = state

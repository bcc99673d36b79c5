# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A mirror map by a user's object: dual weights in, weights out, after each step."""

import numpy as np

from sklrank.linear_model._mirror._maps cimport add_scaled
from sklrank.linear_model._rows cimport Row, add_outer, add_row, table_products


cdef class CustomMap(MirrorMap):
    """The weights are what the method `weights` of `mirror_map` makes of the dual weights.

    It gets them read-only, and is tried out on zeros and on random numbers first. Where it fails
    later, the weights stay as they were and it is not called again before the error is raised.
    """

    def __init__(self, Py_ssize_t n_classes, Py_ssize_t width, mirror_map):
        super().__init__(n_classes, width)
        self.mirror_map = mirror_map
        self.find_weights(np.random.RandomState(0).normal(size=(n_classes, width)))
        self.primals = self.find_weights(np.zeros((n_classes, width)))

    def find_weights(self, duals):
        """Weights of these dual weights, checked; a copy."""
        duals = duals.view()
        duals.flags.writeable = False
        weights = self.mirror_map.weights(duals)
        try:
            weights = np.array(weights, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"mirror_map={self.mirror_map!r} has a method `weights` that returned "
                f"{type(weights).__name__}, not numbers: return an array of the shape that it gets"
            ) from error
        if weights.shape != duals.shape:
            raise ValueError(
                f"mirror_map={self.mirror_map!r} has a method `weights` that returned the shape "
                f"{weights.shape} for dual weights of the shape {duals.shape}: return the same one"
            )
        if not np.all(np.isfinite(weights)):
            raise ValueError(
                f"mirror_map={self.mirror_map!r} has a method `weights` that returned NaN or "
                "infinity: scale before exponentiating, or take a smaller learning_rate"
            )
        return weights

    cdef void score(self, const Row* row, double* scores) noexcept nogil:
        table_products(&self.primals[0, 0], self.n_classes, self.width, row, scores)

    cdef void step(self, Py_ssize_t k, double size, const Row* row) noexcept nogil:
        add_row(&self.duals[k, 0], size, row)
        self.renew()

    cdef void step_all(self, const double* direction, double size, const Row* row) noexcept nogil:
        add_outer(&self.duals[0, 0], self.n_classes, self.width, direction, size, row)
        self.renew()

    cdef void add_weights(self, double factor, double* sums) noexcept nogil:
        add_scaled(factor, &self.primals[0, 0], self.n_classes * self.width, sums)

    cdef void renew(self) noexcept with gil:
        if self.error is not None:
            return
        try:
            np.copyto(np.asarray(self.primals), self.find_weights(np.asarray(self.duals)))
        except BaseException as error:
            self.error = error

    def __reduce__(self):
        state = self.dual_weights, self.weights
        return CustomMap, (self.n_classes, self.width, self.mirror_map), state

    def __setstate__(self, state):
        self.duals, self.primals = map(np.array, state)

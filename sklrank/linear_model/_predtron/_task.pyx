# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What Predtron asks of a prediction problem, one round at a time (Jain et al. 2015, Section 2).

A round has scores t and a label y. A prediction sigma has a representation rep(sigma), a vector of
unit length as long as t, and a loss L(sigma, y) >= 0. Here and in the tasks

    pred(t) = argmax <rep(sigma), t>                    (Eq. 1)
    sigma_y = argmax <rep(sigma), t>  where L(sigma, y) = 0
    sigma~  = argmax L(sigma, y) + <rep(sigma), t>      (Algorithm 1), or
    sigma~  = pred(t)                                   (Algorithm 2, loss-driven)

and after a mistake, L(pred(t), y) > 0, the scores are to move against rep(sigma~) - rep(sigma_y):
for Algorithm 1 a gradient of the surrogate phi (Eq. 2), for Algorithm 2 one of phi_1, by which it
steps L(pred(t), y) times as far.

The paper leaves two choices open. Ties of pred are broken against the label: of the predictions
with the greatest similarity the one of greatest loss counts, so that the perceptron, which learns
from scores of zero, is the binary case. And sigma_y is the right prediction that the scores like
best, which makes the surrogate the least of those that Eq. 2 allows.
"""

import numpy as np


cdef class Task:
    """A subclass says how many scores a round has, and judges them."""

    def loss_and_direction_of_round(self, Py_ssize_t i, scores):
        """Loss of round `i`, and the direction `(n_scores,)`: zeros where the loss is 0."""
        cdef double loss
        if not 0 <= i < self.n_rounds:
            raise ValueError(f"i must be from 0 to {self.n_rounds - 1}, got {i}")
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        if scores.shape != (self.n_scores(i),):
            raise ValueError(
                f"scores must have the shape ({self.n_scores(i)},) in round {i}, got {scores.shape}"
            )
        # The arrays are one longer, so that a round without scores has an address, too.
        cdef double[::1] values = np.append(scores, 0.0), direction = np.zeros(len(scores) + 1)
        with nogil:
            loss = self.loss_and_direction(i, &values[0], &direction[0])
        return loss, np.array(direction[: len(scores)])

    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil:
        return 0

    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil:
        return 0.0

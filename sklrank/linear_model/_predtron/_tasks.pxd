"""Compiled tasks of Predtron: predictions, their losses and the directions of the steps."""


cdef class Task:
    cdef readonly bint loss_driven              # whether to use the steps of Predtron.LD
    cdef readonly Py_ssize_t n_rounds           # number of chosen rounds
    cdef const Py_ssize_t[::1] chosen           # (n_rounds,) their indices among all rounds
    cdef readonly Py_ssize_t n_all              # number of all rounds

    # Set the number of all rounds, and choose all rounds.
    cdef int set_size(self, Py_ssize_t n_all) except -1

    # In the methods below, `i` is the index of a round among the chosen rounds.

    # Return the number of scores.
    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil

    # Return the loss of the prediction for the scores `(n_scores(i),)`. If the loss is not 0, write
    # rep(sigma~) - rep(sigma_y) into `direction`, `(n_scores(i),)`.
    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil

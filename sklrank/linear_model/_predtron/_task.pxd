"""Compiled tasks of Predtron: what a prediction is, what it costs, where to step."""


cdef class Task:
    cdef readonly Py_ssize_t n_rounds       # rows, or queries
    cdef readonly bint loss_driven               # Predtron.LD

    # The number of scores of round `i`.
    cdef Py_ssize_t n_scores(self, Py_ssize_t i) noexcept nogil

    # The loss of what the scores `(n_scores(i),)` predict in round `i`. Where it is not 0, write
    # rep(sigma~) - rep(sigma_y) into `direction`, `(n_scores(i),)`.
    cdef double loss_and_direction(
        self, Py_ssize_t i, const double* scores, double* direction
    ) except -1.0 nogil


cdef inline bint leads(
    double value, double loss, double other_value, double other_loss
) noexcept nogil:
    # Among predictions of the greatest value the one of greatest loss counts.
    return value > other_value or (value == other_value and loss > other_loss)

"""Second-order models for bandit feedback: a ridge regression of the reward for each class."""

from sklrank.linear_model._bandit._model cimport BanditModel, BanditFeedback
from sklrank.linear_model._rows cimport Row


cdef class ConfidenceRidge(BanditModel):
    cdef readonly Py_ssize_t width          # features, and the constant where there is one
    cdef readonly double alpha, bonus
    cdef double[:, ::1] coefficients        # (n_classes, width) of scaled rows
    cdef double constant                    # what that one of a scaled row is multiplied by
    cdef readonly double clip               # in deviations; 0 where rows are not standardised
    cdef double[::1] means                  # (n_features,) of the rows so far
    cdef double[::1] deviations             # (n_features,) sums of squared deviations from them
    cdef double[::1] lows, highs            # (n_features,) least and largest entries
    cdef double squares, n_learnt           # squared lengths of the rows so far, and their number
    cdef double mean_square                 # of the errors of the classes shown
    cdef double[::1] entries                # scratch: (n_features,) of the row chosen for last
    cdef Row scaled                         # and that row
    cdef double squares_with                # `squares` with it
    cdef double[::1] variances              # scratch: (n_classes,)

    # Standardise and scale a row by the rows so far and itself, into `scaled`.
    cdef void rescale(self, const Row* row) noexcept nogil

    # Write x'A_k^-1 x for each class k into `variances`.
    cdef void measure(self, const Row* scaled) noexcept nogil

    # Take a row into A_k, and let the weights of class k take the step to match the error.
    cdef void regress(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil


cdef class FullRidge(ConfidenceRidge):
    cdef double[:, :, ::1] matrices         # (n_classes, width, width), on and left of the diagonal
    cdef double[:, :, ::1] squares_of       # (n_classes, 4, width): u of the last steps
    cdef int[::1] n_squares                 # (n_classes,): how many there are

    # Write u.x for the last steps of class k; returns the sum of their squares.
    cdef double measure_squares(
        self, Py_ssize_t k, const Row* scaled, double* products
    ) noexcept nogil


cdef class DiagonalRidge(ConfidenceRidge):
    cdef double[:, ::1] covariances         # (n_classes, width)
    cdef double[::1] squared                # scratch: (n_features,)

    cdef void measure_classes(
        self, const double* covariances, Py_ssize_t n_classes, const Row* scaled, double* variances
    ) noexcept nogil

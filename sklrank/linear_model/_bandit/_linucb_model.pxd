"""LinUCB: a ridge regression of the reward for each class, with confidence bounds."""

from sklrank.linear_model._bandit._model cimport BanditModel, BanditFeedback
from sklrank.linear_model._rows cimport Row


cdef class LinUCBModel(BanditModel):
    cdef readonly Py_ssize_t width          # features, and the constant if there is one
    cdef readonly double alpha, bonus
    cdef double[:, ::1] coefficients        # (n_classes, width) for scaled samples
    cdef double constant                    # factor of the constant of a scaled sample
    cdef readonly double clip               # in standard deviations; 0: no standardisation
    cdef double n_seen                      # number of samples learned, of which the statistics are
    cdef double[::1] means                  # (n_features,)
    cdef double[::1] m2                     # (n_features,) sums of squared deviations from the mean
    cdef double[::1] minima, maxima         # (n_features,)
    cdef double sum_squares                 # sum of the squared lengths after standardisation
    cdef double mean_squared_error          # weighted mean over the classes shown
    cdef Row scaled                         # the sample of the last call of `choose`, scaled
    cdef double[::1] scaled_values          # (n_features,) its values
    cdef double sum_squares_with            # `sum_squares` with this sample
    cdef double[::1] variances              # scratch: (n_classes,)

    # Standardise and scale a sample, by the samples learned and itself, into `scaled`.
    cdef void scale_row(self, const Row* row) noexcept nogil

    # Write x'A_k^-1 x for each class k into `variances`.
    cdef void compute_variances(self, const Row* scaled) noexcept nogil

    # Add a scaled sample, whose prediction has this error, to the ridge regression of class k.
    cdef void update_class(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil


cdef class FullLinUCB(LinUCBModel):
    cdef double[:, :, ::1] matrices         # (n_classes, width, width), on and left of the diagonal
    cdef double[:, :, ::1] pending          # (n_classes, MAX_PENDING, width): u of the last steps
    cdef int[::1] n_pending                 # (n_classes,)

    # Write u.x for the pending steps u of class k into `products`; return the sum of squares.
    cdef double pending_variance(
        self, Py_ssize_t k, const Row* scaled, double* products
    ) noexcept nogil


cdef class DiagonalLinUCB(LinUCBModel):
    cdef double[:, ::1] diagonals           # (n_classes, width) inverses of the diagonals of A_k
    cdef double[::1] squared_values         # scratch: (n_features,)

    cdef void diagonal_variances(
        self, const double* diagonals, Py_ssize_t n_classes, const Row* scaled, double* variances
    ) noexcept nogil

"""LinUCB, which has a ridge regression of the reward with confidence bounds for each class."""

from sklrank._compiled.rows cimport Row
from sklrank._online.drift cimport DriftTest
from sklrank.linear_model._bandit._model cimport BanditModel, BanditFeedback


cdef class LinUCBModel(BanditModel):
    cdef readonly double alpha, bonus
    cdef double[:, ::1] coefficients        # (n_classes, width) weights w_k for scaled samples
    cdef double constant                    # factor by which `scale` multiplies the constant
    cdef readonly double clip               # in standard deviations; 0 for no standardization
    cdef double n_seen                      # number of samples in the statistics
    cdef double n_recent                    # number of samples learned since the last drift
    cdef readonly DriftTest drift_test
    cdef double[::1] means                  # (n_features,) means of the features
    cdef double[::1] m2                     # (n_features,) sums of squared deviations from `means`
    cdef double[::1] minima, maxima         # (n_features,) of the features
    cdef const double[:, ::1] frequencies   # (n_features, n_components) of random features
    cdef const double[::1] phases           # (n_components,) of random features
    cdef double linear_sum_squares          # sum of the squared norms of the standardized samples
    cdef double sum_squares                 # the same sum, including the random features
    cdef double mean_squared_error          # weighted mean of squared errors since the last drift
    cdef Row scaled                         # sample of the last call of `choose`, after scaling
    cdef double[::1] scaled_values          # (n_features + n_components,) values of `scaled`
    cdef double[2] sums_with                # both sums of squares, including the sample `scaled`
    cdef double[::1] z_scores               # (n_features,) scratch memory

    # Write the products w_k . row of n classes k from `first` on into `products`.
    cdef void multiply(
        self, Py_ssize_t first, Py_ssize_t n, const Row* row, double* products
    ) noexcept nogil

    # Return a copy of the weights w_k (n_classes, width).
    cdef object class_weights(self)

    # Create the matrices A_k^-1 without samples.
    cdef int create_inverses(self) except -1

    cdef double bounded(self, const Row* row, Py_ssize_t j, double n) noexcept nogil

    # Standardize and scale a sample, and write it to `scaled`, which gets the memory `values`
    # (n_features + n_components,). `z` (n_features,) is scratch memory. The statistics are those of
    # the samples learned and, if `includes`, of this sample. Write `linear_sum_squares` and
    # `sum_squares`, which include it in the same way, to `sums`.
    cdef void scale(
        self, const Row* row, bint includes, double* values, double* z, Row* scaled, double* sums
    ) noexcept nogil

    # Divide the standardized values of a sample by `linear_scale`, and write its random features
    # behind them. `z` are the values that the random features depend on. Return the squared norm.
    cdef double add_random_features(
        self, double* values, const double* z, double linear_scale
    ) noexcept nogil

    # Write the scores w_k . x of n classes k from `first` on into `estimates`, and x' A_k^-1 x
    # into `errors`, for the scaled sample x.
    cdef void estimate(self, Py_ssize_t first, Py_ssize_t n, const Row* scaled) noexcept nogil

    # Forget all samples: set the matrices A_k to alpha I.
    cdef void forget(self) noexcept nogil

    # Add a scaled sample to the ridge regression of class k. `error` is the reward minus the
    # prediction of this regression.
    cdef void update_class(self, Py_ssize_t k, const Row* scaled, double error) noexcept nogil

"""Samplers, which draw the labels to show."""

# Raise ValueError unless a mask of available labels is None, or has a row for each sample and
# contiguous columns.
cdef int check_mask(
    const char[:, :] available, Py_ssize_t n_samples, Py_ssize_t n_labels
) except -1

# Return the row of a sample in a mask of available labels, or NULL if the mask is None.
cdef const char* mask_of(const char[:, :] available, Py_ssize_t sample) noexcept nogil


cdef class TopKSampler:
    cdef readonly Py_ssize_t n_labels, k
    cdef readonly bint needs_means          # whether scores must be expected rewards, without bonus
    cdef readonly Py_ssize_t n_uniforms     # number of random numbers in [0, 1) that a draw uses
    cdef object error                       # error that `raise_error` will raise, or None
    cdef double drawn                       # probability that a sample explores
    cdef Py_ssize_t n                       # number of labels that are available
    cdef Py_ssize_t[::1] positions          # (n,) these labels, unless all are available
    cdef double[::1] gathered, gathered_errors  # (n,) their scores and standard errors
    cdef const double* errors               # (n,) standard errors of the scores, or NULL
    cdef char[::1] is_greedy                # (n,) of the last sample
    cdef Py_ssize_t[::1] greedy             # (k,) its greedy top k, best first

    # Raise ValueError if the constructor has not been called.
    cdef int require_ready(self) except -1

    # Draw the labels of a sample, given its scores (n_labels,), their standard errors or NULL, and
    # a mask of the available labels, at least k, or NULL for all. Write the labels to `actions`
    # (k,), in the order in which they are shown, and to `propensities` (k, k) the probability that
    # each of them is shown (diagonal) and that each two of them are both shown.
    cdef void draw_labels(
        self, const double* scores, const double* errors, const char* available,
        const double* uniforms, Py_ssize_t* actions, double* propensities,
    ) noexcept nogil

    # Gather the available labels, and call `set_size` if needed, and `read_scores`.
    cdef void read_sample(
        self, const double* scores, const double* errors, const char* available
    ) noexcept nogil

    # The class states what these do, for subclasses that override them.
    cdef void set_exploration(self, double exploration) noexcept nogil
    cdef void set_size(self, Py_ssize_t n) noexcept nogil
    cdef void read_scores(self, const double* scores) noexcept nogil
    cdef void explore(
        self, double first, const double* uniforms, Py_ssize_t* actions
    ) noexcept nogil
    cdef double propensity(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil

"""Samplers, which draw the labels to show."""


cdef class TopKSampler:
    cdef readonly Py_ssize_t n_labels, k
    cdef readonly Py_ssize_t n_uniforms     # number of random numbers in [0, 1) that a draw uses

    # Draw the labels to show for a sample with the given `scores` (n_labels,). Write the labels to
    # `actions` (k,), in the order in which they are shown. Write to `propensities` (k, k) the
    # probability that each of these labels is shown (diagonal) and that each two of them are both
    # shown.
    cdef void draw_labels(
        self, const double* scores, const double* uniforms, Py_ssize_t* actions,
        double* propensities,
    ) noexcept nogil

"""Compiled draws of the labels to show."""


cdef class TopKSampler:
    cdef readonly Py_ssize_t n_labels, k
    cdef readonly Py_ssize_t n_uniforms     # random numbers in [0, 1) that a draw uses

    # Draw the labels to show for a sample: `actions` (k,), best first, and `propensities` (k, k),
    # the probability that a label is shown (diagonal) and that two labels are both shown.
    cdef void draw_labels(
        self, const double* scores, const double* uniforms, Py_ssize_t* actions,
        double* propensities,
    ) noexcept nogil

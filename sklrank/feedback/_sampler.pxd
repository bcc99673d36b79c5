"""Samplers, which draw the labels to show."""


cdef class TopKSampler:
    cdef readonly Py_ssize_t n_labels, k
    cdef readonly Py_ssize_t n_uniforms     # number of random numbers in [0, 1) that a draw uses
    cdef double drawn                       # probability that a sample explores
    cdef char[::1] is_greedy                # (n_labels,) of the last sample
    cdef Py_ssize_t[::1] greedy             # (k,) its greedy top k, best first

    # Raise ValueError if the constructor has not been called.
    cdef int require_ready(self) except -1

    # Draw the labels of a sample, given its scores (n_labels,). Write them to `actions` (k,), in
    # the order in which they are shown, and to `propensities` (k, k) the probability that each of
    # them is shown (diagonal) and that each two of them are both shown.
    cdef void draw_labels(
        self, const double* scores, const double* uniforms, Py_ssize_t* actions,
        double* propensities,
    ) noexcept nogil

    # A subclass overrides the following methods. Change the amount of exploration, and set `drawn`.
    cdef void set_exploration(self, double exploration) noexcept nogil

    # Find the greedy top k of a sample.
    cdef void read_scores(self, const double* scores) noexcept nogil

    # Replace the greedy top k in `actions` by the labels that are shown if the sample explores.
    # `first` is one more random number, which determined that the sample explores.
    cdef void explore(
        self, double first, const double* uniforms, Py_ssize_t* actions
    ) noexcept nogil

    # Return the probability that both labels are shown, or that label a is shown if a = b.
    cdef double propensity(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil

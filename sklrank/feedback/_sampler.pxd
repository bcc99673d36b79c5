"""Samplers, which draw the labels to show."""


cdef class TopKSampler:
    cdef readonly Py_ssize_t n_labels, k
    cdef readonly Py_ssize_t n_uniforms     # number of random numbers in [0, 1) that a draw uses

    # Change the amount of exploration.
    cdef void set_exploration(self, double exploration) noexcept nogil

    # Raise ValueError if the constructor has not been called.
    cdef int require_ready(self) except -1

    cdef void draw_labels(
        self, const double* scores, const double* uniforms, Py_ssize_t* actions,
        double* propensities,
    ) noexcept nogil

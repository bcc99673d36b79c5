"""Compiled draws of the labels that are shown."""


cdef class TopKSampler:
    cdef readonly Py_ssize_t n_labels, k
    cdef readonly Py_ssize_t n_draws        # numbers from [0, 1) that the draw of a row takes
    cdef readonly double exploration
    # Probabilities that labels are shown, by how many of them are outside of the greedy top k.
    cdef readonly double[::1] alone                  # (2,)
    cdef readonly double[::1] together               # (3,) two labels
    cdef char[::1] is_greedy                # scratch: (n_labels,)
    cdef Py_ssize_t[::1] greedy             # scratch: (k,)

    # Draw what a row shows: labels `actions` (k,), best first, and `propensities` (k, k), the
    # probability of each to be shown (diagonal) and of each two to be shown both.
    cdef void show(
        self, const double* scores, const double* draws, Py_ssize_t* actions, double* propensities
    ) noexcept nogil

    # Change the greedy top k in `actions`, as a row that explores does.
    cdef void randomise(self, const double* draws, Py_ssize_t* actions) noexcept nogil

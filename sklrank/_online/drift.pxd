"""Detection of concept drift from the losses of an online model: the Page-Hinkley test."""

from sklrank._compiled.state cimport Persistent


cdef class DriftTest(Persistent):
    cdef readonly double threshold          # in standard deviations; infinite for no test
    cdef readonly Py_ssize_t n_drifts       # number of drifts detected
    cdef readonly double n_losses           # number of losses since the last drift
    cdef readonly double mean, mean_square  # weighted means of these losses and their squares
    cdef readonly double excess             # the statistic of the test

    # Record a loss, which is from 0 to 1, and return whether a drift is detected.
    cdef bint record(self, double loss) noexcept nogil

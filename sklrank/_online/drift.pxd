"""Detection of concept drift from the losses of an online model: the Page-Hinkley test."""

from sklrank._compiled.state cimport Persistent


cdef class DriftTest(Persistent):
    cdef readonly double threshold          # in standard deviations; infinite for no test
    cdef readonly Py_ssize_t n_drifts       # number of drifts detected
    cdef readonly double n_losses           # number of losses since the last drift
    cdef readonly double mean, mean_square  # weighted means of these losses and their squares
    cdef readonly double excess             # the statistic of the test

    # Record a loss, which is from 0 to 1, and return whether a drift is detected. An increase of
    # the mean by less than `slack` standard deviations is none. If `waits`, a drift is not detected
    # by this loss, but by a later one.
    cdef bint record(self, double loss, double slack=*, bint waits=*) noexcept nogil

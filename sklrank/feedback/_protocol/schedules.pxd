"""Compiled exploration schedules for bandit feedback."""

from sklrank._compiled.state cimport Persistent


cdef class Schedule(Persistent):
    cdef readonly double rate               # exploration rate of the next round
    cdef readonly Py_ssize_t n_rounds       # number of rounds recorded
    cdef readonly bint needs_hits           # whether the rates depend on the hits
    cdef readonly Py_ssize_t n_hits
    cdef readonly str rule                  # "ag1", "ag2" or "ag3", or "" if not `needs_hits`
    cdef readonly double power, miss_power  # exponents of the support functions w_2 and w_1
    cdef bint counts_gains, counts_misses   # whether the rule uses the sum of 1 + mu, and of tau
    cdef double[::1] rates                  # rates of the rounds from `first` on
    cdef Py_ssize_t first                   # number of rounds recorded before the first of them

    # Record a round and update `rate`. `hit` is true if the predicted label was shown and is
    # correct.
    cdef void record(self, bint hit) noexcept nogil

    cdef double next_rate(self) noexcept nogil

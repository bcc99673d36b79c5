"""Compiled exploration schedules for bandit feedback."""

from sklrank._state cimport Persistent


cdef class Schedule(Persistent):
    cdef readonly double rate               # exploration rate of the next round
    cdef readonly Py_ssize_t n_rounds       # number of rounds recorded
    cdef readonly bint needs_hits           # whether the rates depend on the hits

    # Record a round and update `rate`. `hit` is true if the predicted label was shown and is
    # correct. `propensity` is the probability with which the label shown was shown.
    cdef void record(self, bint hit, double propensity) noexcept nogil

    # Methods to override: `update` adds a round to the statistics, and `next_rate` returns the rate
    # that follows from them.
    cdef void update(self, bint hit, double propensity) noexcept nogil
    cdef double next_rate(self) noexcept nogil


cdef class ConstantSchedule(Schedule):
    pass


cdef class GivenSchedule(Schedule):
    cdef double[::1] rates                  # rates of the rounds from `first` on
    cdef Py_ssize_t first                   # number of rounds recorded before the first of them


cdef class DecayingSchedule(Schedule):
    pass


cdef class SelfTunedSchedule(Schedule):
    cdef readonly double power              # exponent of the support function w_2
    cdef readonly double miss_power         # exponent of the support function w_1, of the misses
    cdef readonly double forgetting_factor  # factor of both sums in each round
    cdef readonly bint unbiased             # whether tau is the unbiased estimate
    cdef readonly double sum_hits           # sum of 1 + mu
    cdef readonly double sum_misses         # sum of tau

    # Return w_2'(z) and, for the misses, w_1'(z), without their factors, the exponents.
    cdef double derivative(self, double z) noexcept nogil
    cdef double miss_derivative(self, double z) noexcept nogil


cdef class HitSchedule(SelfTunedSchedule):
    pass


cdef class MissSchedule(SelfTunedSchedule):
    pass


cdef class HitMissSchedule(SelfTunedSchedule):
    pass


cdef class SupportSchedule(Schedule):
    cdef readonly bint counts_rounds        # whether the argument of w_2' is t, as for "ag2"
    cdef readonly Py_ssize_t n_misses       # sum of tau
    cdef double[::1] slopes                 # w_2' of the next arguments, from `first` on
    cdef double[::1] miss_slopes            # w_1' of the next arguments, from `first_miss` on
    cdef Py_ssize_t first, first_miss

    # Return the argument of w_2' in the next round.
    cdef Py_ssize_t position(self) noexcept nogil

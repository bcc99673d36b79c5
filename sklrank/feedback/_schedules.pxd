"""Compiled exploration schedules of bandits."""


cdef class Schedule:
    cdef readonly double rate               # exploration rate of the next round
    cdef readonly Py_ssize_t n_rounds       # number of rounds so far

    # Record a round and update `rate`. `hit` is true if the predicted label was shown and correct;
    # `propensity` is that of the label shown.
    cdef void record(self, bint hit, double propensity) noexcept nogil

    # To be overridden: add a round to the statistics, and compute the rate from them.
    cdef void update(self, bint hit, double propensity) noexcept nogil
    cdef double next_rate(self) noexcept nogil


cdef class ConstantSchedule(Schedule):
    pass


cdef class DecayingSchedule(Schedule):
    pass


cdef class SelfTunedSchedule(Schedule):
    cdef readonly double power              # exponent l of the support function
    cdef readonly double forgetting_factor  # the sums are multiplied by it in each round
    cdef readonly bint unbiased             # if true, tau is an unbiased estimate
    cdef readonly double sum_hits           # sum of 1 + mu
    cdef readonly double sum_misses         # sum of tau

    cdef double derivative(self, double z) noexcept nogil


cdef class HitSchedule(SelfTunedSchedule):
    pass


cdef class MissSchedule(SelfTunedSchedule):
    pass


cdef class HitMissSchedule(SelfTunedSchedule):
    pass

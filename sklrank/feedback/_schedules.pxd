"""Compiled schedules of exploration."""


cdef class Schedule:
    cdef readonly double rate               # the share of the next round's draws that explore
    cdef readonly Py_ssize_t n_rounds       # rounds so far

    # Count one round: whether the label believed best was shown and right, and the propensity of
    # what was shown.
    cdef void record(self, bint hit, double propensity) noexcept nogil

    cdef void count(self, bint hit, double propensity) noexcept nogil
    cdef double next_rate(self) noexcept nogil


cdef class ConstantSchedule(Schedule):
    pass


cdef class DecayingSchedule(Schedule):
    pass


cdef class SelfTunedSchedule(Schedule):
    cdef readonly double power              # lambda of the support function
    cdef readonly double memory             # factor on the sums, every round
    cdef readonly bint unbiased             # whether misses are estimated without bias
    cdef readonly double sum_hits           # of 1 + mu
    cdef readonly double sum_misses         # of tau

    cdef double slope(self, double z) noexcept nogil


cdef class HitSchedule(SelfTunedSchedule):
    pass


cdef class MissSchedule(SelfTunedSchedule):
    pass


cdef class HitMissSchedule(SelfTunedSchedule):
    pass

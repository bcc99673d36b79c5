# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Exploration schedules of bandits: the exploration rate of a round from the rounds before.

In round t with K labels, the predicted label is shown with probability 1 - g_t + g_t/K, each other
label with probability g_t/K. A round is a *hit* if the predicted label was shown and was correct.
With

    mu_t  = 2 [hit]             an upper estimate of the probability of a correct prediction,
    tau_t = 1 - [hit]           an upper estimate of the probability of a wrong prediction,

and a concave support function w(z) = (1 + z)^l with the derivative w', Valizadegan (2010, Chapter
6) balances the two terms of the mistake bound of Theorem 14:

    ag1   g_t = w'(sum of 1 + mu_i) / (2 w'(0))             (Eq. 6.4)
    ag2   g_t = w'(t) / (2 w'(sum of tau_i))                (Eq. 6.5)
    ag3   g_t = w'(sum of 1 + mu_i) / (2 w'(sum of tau_i))  (Eq. 6.3)

with sums over i < t. All rates are in (0, 1/2]. "decay" is ag0 of the experiments there,
t^(-1/3) / 2.

Two schedules are additions. "ag2-unbiased" uses tau_t = 1 - [hit]/p_t, where p_t is the propensity
of the label shown: its mean is the probability of a wrong prediction. "ag3-forgetting" is ag3 with
both sums multiplied by .99 in each round, so that it follows the recent performance of the model.

To add a schedule, derive a class from `Schedule` that overrides `update` and `next_rate`, and name
it in `_SCHEDULES` below.
"""

from libc.math cimport cbrt, pow


cdef class Schedule:
    """Base class of the schedules; `_schedules.pxd` states what each method does."""

    def record_rounds(self, hits, propensities):
        """Record rounds one after the other; return the rate after each."""
        rates = []
        for hit, propensity in zip(hits, propensities):
            self.record(hit, propensity)
            rates.append(self.rate)
        return rates

    cdef void record(self, bint hit, double propensity) noexcept nogil:
        self.n_rounds += 1
        self.update(hit, propensity)
        self.rate = self.next_rate()

    cdef void update(self, bint hit, double propensity) noexcept nogil:
        pass

    cdef double next_rate(self) noexcept nogil:
        return self.rate


cdef class ConstantSchedule(Schedule):
    """A constant rate."""

    def __init__(self, double rate):
        self.rate = rate

    def __reduce__(self):
        return ConstantSchedule, (self.rate,), self.n_rounds

    def __setstate__(self, state):
        self.n_rounds = state


cdef class DecayingSchedule(Schedule):
    """A rate that decreases with the number of rounds: decay."""

    def __init__(self):
        self.rate = self.next_rate()

    cdef double next_rate(self) noexcept nogil:
        return 0.5 / cbrt(self.n_rounds + 1.0)

    def __reduce__(self):
        return DecayingSchedule, (), self.n_rounds

    def __setstate__(self, state):
        self.n_rounds = state
        self.rate = self.next_rate()


cdef class SelfTunedSchedule(Schedule):
    """Base class of the schedules that balance hits and misses."""

    def __init__(self, double power=0.1, double forgetting_factor=1.0, bint unbiased=False):
        self.power = power
        self.forgetting_factor = forgetting_factor
        self.unbiased = unbiased
        self.rate = self.next_rate()

    cdef void update(self, bint hit, double propensity) noexcept nogil:
        cdef double miss = 1.0 - hit / (propensity if self.unbiased else 1.0)
        self.sum_hits = self.forgetting_factor * self.sum_hits + 1.0 + 2.0 * hit
        # The sum of unbiased estimates may be negative, where the support function is undefined.
        self.sum_misses = max(self.forgetting_factor * self.sum_misses + miss, 0.0)

    cdef double derivative(self, double z) noexcept nogil:
        # Return the derivative of the support function at z, divided by that at 0.
        return pow(1.0 + z, self.power - 1.0)

    def __reduce__(self):
        arguments = self.power, self.forgetting_factor, self.unbiased
        return type(self), arguments, (self.n_rounds, self.sum_hits, self.sum_misses)

    def __setstate__(self, state):
        self.n_rounds, self.sum_hits, self.sum_misses = state
        self.rate = self.next_rate()


cdef class HitSchedule(SelfTunedSchedule):
    """A rate that decreases with the number of hits: ag1."""

    cdef double next_rate(self) noexcept nogil:
        return 0.5 * self.derivative(self.sum_hits)


cdef class MissSchedule(SelfTunedSchedule):
    """A rate that decreases with the rounds and increases with the misses: ag2."""

    cdef double next_rate(self) noexcept nogil:
        return 0.5 * self.derivative(self.n_rounds + 1.0) / self.derivative(self.sum_misses)


cdef class HitMissSchedule(SelfTunedSchedule):
    """A rate that decreases with the hits and increases with the misses: ag3."""

    cdef double next_rate(self) noexcept nogil:
        return 0.5 * self.derivative(self.sum_hits) / self.derivative(self.sum_misses)


_SCHEDULES = {
    "decay": DecayingSchedule,
    "ag1": HitSchedule,
    "ag2": MissSchedule,
    "ag2-unbiased": lambda: MissSchedule(unbiased=True),
    "ag3": HitMissSchedule,
    "ag3-forgetting": lambda: HitMissSchedule(forgetting_factor=0.99),
}
SCHEDULES = tuple(_SCHEDULES)


def make_schedule(exploration):
    """Return the schedule of this name, or a constant one of this rate."""
    if isinstance(exploration, str):
        return _SCHEDULES[exploration]()
    return ConstantSchedule(exploration)

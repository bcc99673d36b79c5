# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""How much to explore in the next round, from what came back in the rounds before.

In round t the label believed best is shown with the probability 1 - g_t + g_t/K, every other one of
K with g_t/K. A round is a *hit* if the label believed best was shown and was right. With

    mu_t  = 2 [hit]             estimates how often the label believed best is right, from above,
    tau_t = 1 - [hit]           how often it is wrong, from above,

and a concave support function w(z) = (1 + z)^l with the slope w', Valizadegan (2010, Chapter 6)
balances the two terms of the mistake bound of Theorem 14:

    ag1   g_t = w'(sum of 1 + mu_i) / (2 w'(0))             (Eq. 6.4)
    ag2   g_t = w'(t) / (2 w'(sum of tau_i))                (Eq. 6.5)
    ag3   g_t = w'(sum of 1 + mu_i) / (2 w'(sum of tau_i))  (Eq. 6.3)

with sums over i < t. All are in (0, 1/2]. "decay" is ag0 of the experiments there, t^(-1/3) / 2.

Two rules are not of the text. "ag2-unbiased" takes tau_t = 1 - [hit]/p_t, with p_t the probability
of what was shown: that is what the label believed best being wrong is on average, where the text's
tau_t is above it. "ag3-forgetting" is ag3 with both sums multiplied by .99 before each addition: it
follows how well the model does now, not how it did on average.
"""

from libc.math cimport cbrt, pow


cdef class Schedule:
    """A subclass says what it counts and what rate follows."""

    def record_rounds(self, hits, propensities):
        """Count rounds one after the other; returns the rate after each."""
        rates = []
        for hit, propensity in zip(hits, propensities):
            self.record(hit, propensity)
            rates.append(self.rate)
        return rates

    cdef void record(self, bint hit, double propensity) noexcept nogil:
        self.n_rounds += 1
        self.count(hit, propensity)
        self.rate = self.next_rate()

    cdef void count(self, bint hit, double propensity) noexcept nogil:
        pass

    cdef double next_rate(self) noexcept nogil:
        return self.rate


cdef class ConstantSchedule(Schedule):
    """The same in all rounds."""

    def __init__(self, double rate):
        self.rate = rate

    def __reduce__(self):
        return ConstantSchedule, (self.rate,), self.n_rounds

    def __setstate__(self, state):
        self.n_rounds = state


cdef class DecayingSchedule(Schedule):
    """Less with every round, whatever comes back."""

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
    """Counts hits and misses; the subclasses weigh them."""

    def __init__(self, double power=0.1, double memory=1.0, bint unbiased=False):
        self.power = power
        self.memory = memory
        self.unbiased = unbiased
        self.rate = self.next_rate()

    cdef void count(self, bint hit, double propensity) noexcept nogil:
        cdef double miss = 1.0 - hit / (propensity if self.unbiased else 1.0)
        self.sum_hits = self.memory * self.sum_hits + 1.0 + 2.0 * hit
        # An unbiased estimate may fall below zero, where the support function ends.
        self.sum_misses = max(self.memory * self.sum_misses + miss, 0.0)

    cdef double slope(self, double z) noexcept nogil:
        # The slope of the support function at z, in units of its slope at 0.
        return pow(1.0 + z, self.power - 1.0)

    def __reduce__(self):
        arguments = self.power, self.memory, self.unbiased
        return type(self), arguments, (self.n_rounds, self.sum_hits, self.sum_misses)

    def __setstate__(self, state):
        self.n_rounds, self.sum_hits, self.sum_misses = state
        self.rate = self.next_rate()


cdef class HitSchedule(SelfTunedSchedule):
    """The more hits there were, the less: ag1."""

    cdef double next_rate(self) noexcept nogil:
        return 0.5 * self.slope(self.sum_hits)


cdef class MissSchedule(SelfTunedSchedule):
    """The more rounds and the fewer misses, the less: ag2."""

    cdef double next_rate(self) noexcept nogil:
        return 0.5 * self.slope(self.n_rounds + 1.0) / self.slope(self.sum_misses)


cdef class HitMissSchedule(SelfTunedSchedule):
    """The more hits and the fewer misses, the less: ag3."""

    cdef double next_rate(self) noexcept nogil:
        return 0.5 * self.slope(self.sum_hits) / self.slope(self.sum_misses)


_MAKERS = {
    "decay": DecayingSchedule,
    "ag1": HitSchedule,
    "ag2": MissSchedule,
    "ag2-unbiased": lambda: MissSchedule(unbiased=True),
    "ag3": HitMissSchedule,
    "ag3-forgetting": lambda: HitMissSchedule(memory=0.99),
}
SCHEDULES = tuple(_MAKERS)


def make_schedule(exploration):
    """The schedule of this name, or the constant one of this rate."""
    if isinstance(exploration, str):
        return _MAKERS[exploration]()
    return ConstantSchedule(exploration)

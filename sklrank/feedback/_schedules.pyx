# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Exploration schedules: they compute the exploration rate of a round from the previous rounds.

In round t with K labels and exploration rate g_t, the predicted label is shown with probability
1 - g_t + g_t/K, and each other label with probability g_t/K. A round is a *hit* if the predicted
label was shown and is correct. Let

    mu_t  = 2 [hit]             be an upper estimate of the probability of a correct prediction,
    tau_t = 1 - [hit]           be an upper estimate of the probability of a wrong prediction,

and let w' be the derivative of a concave support function w(z) = (1 + z)^l. The dissertation of
Valizadegan (2010, Chapter 6) balances the two terms of the mistake bound of Theorem 14 by the rates

    ag1   g_t = w_2'(sum of 1 + mu_i) / (2 w_2'(0))               (Eq. 6.4)
    ag2   g_t = w_2'(t) / (2 w_1'(sum of tau_i))                  (Eq. 6.5)
    ag3   g_t = w_2'(sum of 1 + mu_i) / (2 w_1'(sum of tau_i))    (Eq. 6.3)

with sums over i < t. The exponents of the two support functions satisfy l_1 >= l_2, so that w_1' >=
w_2'; by default, both are 0.1, as in the experiments. The schedule "decay", called ag0 in the
experiments of the dissertation, has the rate g_t = t^(-1/3) / 2.

`SupportSchedule` has these three rules for any two support functions, given their derivatives.

Two schedules are not from the dissertation. "ag2-unbiased" uses tau_t = 1 - [hit]/p_t, where p_t
is the propensity of the label shown. The mean of this tau_t is the probability of a wrong
prediction. "ag3-forgetting" is ag3 with both sums multiplied by .99 in each round, so that the rate
follows the recent performance of the model.

To add a schedule, derive a class from `Schedule`, and add its name to `_SCHEDULES` below. The class

- calls `start` with the entries of its initial state in `__init__`;
- overrides `next_rate`, and `update` if it has statistics other than the number of rounds;
- extends `get_state` and `set_state` by its parameters and statistics (see `sklrank/_state.pyx`);
- sets its first `rate` in `set_state`, and `needs_hits` if its rates depend on the hits;
- overrides `prepare` if it calls functions of the user, which the compiled loops cannot do;
- has rates in (0, 1/2], as all named schedules.
"""

from libc.math cimport cbrt, pow

import numpy as np

from sklrank._state cimport State
from sklrank._validation import is_number

# Sums over rounds, which are at most three times their number, must not overflow.
cdef Py_ssize_t MAX_ROUNDS = <Py_ssize_t>1 << (8 * sizeof(Py_ssize_t) - 4)


cdef class Schedule:
    """Base class of the schedules. The comments in `_schedules.pxd` describe the methods."""

    cdef dict get_state(self):
        return {"n_rounds": self.n_rounds}

    cdef int set_state(self, State state) except -1:
        self.n_rounds = state.count("n_rounds")
        return 0

    def prepare(self, exploration, Py_ssize_t n_rounds):
        """Call the functions of the parameter `exploration` for the next `n_rounds` rounds.

        Raise ValueError if a function returns invalid values. Then the schedule is unchanged.
        """

    def record_rounds(self, hits, propensities):
        """Record rounds one after the other; return the list of the rates after each. For tests."""
        self.require_ready()
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
    """Schedule with a constant rate."""

    def __init__(self, double rate):
        self.start({"rate": rate, "n_rounds": 0})

    cdef dict get_state(self):
        return Schedule.get_state(self) | {"rate": self.rate}

    cdef int set_state(self, State state) except -1:
        cdef double rate = state.number("rate", 0.0, 1.0)
        Schedule.set_state(self, state)
        self.rate = rate
        return 0


cdef class GivenSchedule(Schedule):
    """Schedule whose rates are computed in advance, by a function of the user."""

    def __init__(self, double rate):
        self.start({"rate": rate, "n_rounds": 0})

    def prepare(self, exploration, Py_ssize_t n_rounds):
        self.require_ready()
        # The last one is the rate after these rounds.
        cdef double[::1] rates = np.array(
            [rate_of_round(exploration, self.n_rounds + i) for i in range(1, n_rounds + 2)]
        )
        self.rates, self.first, self.rate = rates, self.n_rounds, rates[0]

    cdef dict get_state(self):
        return Schedule.get_state(self) | {"rate": self.rate}

    cdef int set_state(self, State state) except -1:
        cdef double rate = state.number("rate", 0.0, 1.0)
        Schedule.set_state(self, state)
        self.rate, self.first = rate, self.n_rounds
        self.rates = np.array([rate])
        return 0

    cdef double next_rate(self) noexcept nogil:
        return self.rates[min(self.n_rounds - self.first, self.rates.shape[0] - 1)]


cdef class DecayingSchedule(Schedule):
    """Schedule "decay", whose rate decreases with the number of rounds."""

    def __init__(self):
        self.start({"n_rounds": 0})

    cdef int set_state(self, State state) except -1:
        Schedule.set_state(self, state)
        self.rate = self.next_rate()
        return 0

    cdef double next_rate(self) noexcept nogil:
        return 0.5 / cbrt(self.n_rounds + 1.0)


cdef class SelfTunedSchedule(Schedule):
    """Base class of the schedules whose rates depend on hits and misses."""

    def __init__(
        self, double power=0.1, miss_power=None, double forgetting_factor=1.0, bint unbiased=False
    ):
        self.start(
            {
                "power": power,
                "miss_power": power if miss_power is None else miss_power,
                "forgetting_factor": forgetting_factor,
                "unbiased": unbiased,
                "n_rounds": 0,
                "sum_hits": 0.0,
                "sum_misses": 0.0,
            }
        )

    cdef dict get_state(self):
        return Schedule.get_state(self) | {
            "power": self.power,
            "miss_power": self.miss_power,
            "forgetting_factor": self.forgetting_factor,
            "unbiased": self.unbiased,
            "sum_hits": self.sum_hits,
            "sum_misses": self.sum_misses,
        }

    cdef int set_state(self, State state) except -1:
        cdef double power = state.number("power", 0.0, 1.0)
        cdef double miss_power = state.number("miss_power", power, 1.0)
        cdef double forgetting_factor = state.number("forgetting_factor", 0.0, 1.0)
        cdef bint unbiased = state.flag("unbiased")
        cdef double sum_hits = state.number("sum_hits", 0.0)
        cdef double sum_misses = state.number("sum_misses", 0.0)
        Schedule.set_state(self, state)
        self.needs_hits = True
        self.power, self.miss_power = power, miss_power
        self.forgetting_factor, self.unbiased = forgetting_factor, unbiased
        self.sum_hits, self.sum_misses = sum_hits, sum_misses
        self.rate = self.next_rate()
        return 0

    cdef void update(self, bint hit, double propensity) noexcept nogil:
        cdef double miss = 1.0 - hit / (propensity if self.unbiased else 1.0)
        self.sum_hits = self.forgetting_factor * self.sum_hits + 1.0 + 2.0 * hit
        # The sum of unbiased estimates can be negative. The support function is defined for
        # nonnegative sums only, so the sum is set to zero.
        self.sum_misses = max(self.forgetting_factor * self.sum_misses + miss, 0.0)

    cdef double derivative(self, double z) noexcept nogil:
        return pow(1.0 + z, self.power - 1.0)

    cdef double miss_derivative(self, double z) noexcept nogil:
        return pow(1.0 + z, self.miss_power - 1.0)


cdef class HitSchedule(SelfTunedSchedule):
    """Schedule "ag1", whose rate decreases with the numbers of rounds and hits."""

    cdef double next_rate(self) noexcept nogil:
        return 0.5 * self.derivative(self.sum_hits)


cdef class MissSchedule(SelfTunedSchedule):
    """Schedule "ag2", whose rate decreases with the rounds and increases with the misses."""

    cdef double next_rate(self) noexcept nogil:
        return (
            0.5 * (self.power / self.miss_power)
            * self.derivative(self.n_rounds + 1.0) / self.miss_derivative(self.sum_misses)
        )


cdef class HitMissSchedule(SelfTunedSchedule):
    """Schedule "ag3", whose rate decreases with rounds and hits and increases with misses."""

    cdef double next_rate(self) noexcept nogil:
        return (
            0.5 * (self.power / self.miss_power)
            * self.derivative(self.sum_hits) / self.miss_derivative(self.sum_misses)
        )


cdef class SupportSchedule(Schedule):
    """Self-tuned rates for support functions w_1 and w_2 of the user, given by their derivatives.

    The rate is w_2' at t or at the sum of 1 + mu, divided by twice w_1' at the sum of tau. For
    "ag1", w_2'(0) takes the place of w_1'. All of these arguments are integers, so that the
    derivatives of the next rounds can be computed in advance.
    """

    def __init__(self, exploration):
        self.start(
            {
                "counts_rounds": exploration.rule == "ag2",
                "rate": 0.5,
                "n_rounds": 0,
                "n_misses": 0,
            }
        )
        self.prepare(exploration, 0)

    def prepare(self, exploration, Py_ssize_t n_rounds):
        self.require_ready()
        cdef Py_ssize_t first = self.position(), first_miss = self.n_misses
        cdef Py_ssize_t last = first + n_rounds * (1 if self.counts_rounds else 3)
        cdef double[::1] slopes, miss_slopes
        slopes, miss_slopes = exploration._slopes(
            np.arange(first, last + 1, dtype=np.float64),
            np.arange(first_miss, first_miss + n_rounds + 1, dtype=np.float64),
        )
        if not slopes.shape[0] or not miss_slopes.shape[0]:
            raise ValueError("there must be slopes of the support functions")
        self.slopes, self.first = slopes, first
        self.miss_slopes, self.first_miss = miss_slopes, first_miss
        self.rate = self.next_rate()

    cdef dict get_state(self):
        return Schedule.get_state(self) | {
            "counts_rounds": self.counts_rounds,
            "rate": self.rate,
            "n_misses": self.n_misses,
        }

    cdef int set_state(self, State state) except -1:
        cdef bint counts_rounds = state.flag("counts_rounds")
        cdef double rate = state.number("rate", 0.0, 0.5)
        cdef Py_ssize_t n_rounds = state.count("n_rounds", 0, MAX_ROUNDS)
        cdef Py_ssize_t n_misses = state.count("n_misses", 0, n_rounds)
        slopes, miss_slopes = np.array([rate]), np.array([0.5])
        Schedule.set_state(self, state)
        self.needs_hits = True
        self.counts_rounds, self.rate, self.n_misses = counts_rounds, rate, n_misses
        # Until `prepare` is called, the rate remains the same.
        self.slopes, self.first = slopes, self.position()
        self.miss_slopes, self.first_miss = miss_slopes, n_misses
        return 0

    cdef Py_ssize_t position(self) noexcept nogil:
        # Return the argument of w_2'. The sum of 1 + mu increases by 3 for a hit, by 1 for a miss.
        return self.n_rounds + 1 if self.counts_rounds else 3 * self.n_rounds - 2 * self.n_misses

    cdef void update(self, bint hit, double propensity) noexcept nogil:
        self.n_misses += not hit

    cdef double next_rate(self) noexcept nogil:
        cdef Py_ssize_t i = min(self.position() - self.first, self.slopes.shape[0] - 1)
        cdef Py_ssize_t j = min(self.n_misses - self.first_miss, self.miss_slopes.shape[0] - 1)
        return min(0.5 * self.slopes[i] / self.miss_slopes[j], 0.5)


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
    """Return the schedule named or described by `exploration`; a number is a constant schedule.

    If it contains functions, `Schedule.prepare` must be called before each block of rounds.
    """
    if hasattr(exploration, "_make_schedule"):
        return exploration._make_schedule()
    if callable(exploration):
        return GivenSchedule(rate_of_round(exploration, 1))
    if isinstance(exploration, str):
        return _SCHEDULES[exploration]()
    return ConstantSchedule(exploration)


def rate_of_round(function, t):
    """Return the rate of round t = 1, 2, ... by a function of the user."""
    rate = function(t)
    if not is_number(rate) or not 0.0 < rate <= 1.0:
        raise ValueError(
            f"exploration must return a number in (0, 1] for each round, got {rate!r} for round {t}"
        )
    return float(rate)

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Exploration schedules: they compute the exploration rate of a round from the previous rounds.

A rate depends only on the number of the round (a constant, a named decay, or a function of the
user), or on the feedback by a rule, whose formula `SelfTunedExploration` states. The rules balance
the two terms of the mistake bound in Theorem 14 of Valizadegan (2010): 2 in a hit and 0 otherwise
is an upper estimate mu of the probability of a correct prediction, and 1 in a miss and 0 otherwise
an upper estimate tau of that of a wrong one. In n rounds with h hits, the sum of 1 + mu is n + 2 h,
and that of tau is n - h.
"""

from libc.math cimport pow

import numpy as np

from sklrank._compiled.state cimport Archive


cdef class Schedule:
    """The rate of the next round, and what it depends on.

    Without a `rule`, `rate` is the first rate, and `prepare` computes the next ones in advance.
    """

    def __init__(self, double rate, str rule="", double power=1.0, double miss_power=1.0):
        self.rate, self.rule, self.power, self.miss_power = rate, rule, power, miss_power
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef Schedule saved = archive.source
        self.rule = archive.choice("rule", saved.rule, ("", "ag1", "ag2", "ag3"))
        self.rate = archive.number("rate", saved.rate, 0.0, 1.0)
        self.power = archive.number("power", saved.power, 0.0, 1.0)
        self.miss_power = archive.number("miss_power", saved.miss_power, self.power, 1.0)
        self.n_rounds = archive.count("n_rounds", saved.n_rounds)
        self.n_hits = archive.count("n_hits", saved.n_hits, 0, self.n_rounds)
        self.needs_hits = self.rule != ""
        self.counts_gains, self.counts_misses = self.rule != "ag2", self.rule != "ag1"
        if self.needs_hits:
            self.rate = self.next_rate()
        elif archive.loads:
            self.first, self.rates = self.n_rounds, np.array([self.rate])
        return 0

    _merge_rules = {"n_rounds": "total", "rate": "first"}

    @staticmethod
    def _merge_entries(merging):
        """Return the number of hits. Rounds to remove may now hit more often than when learned."""
        n_hits = min(merging.total("n_hits"), merging.total("n_rounds"))
        return {"n_hits": max(n_hits, 0)}

    def prepare(self, rates_of, Py_ssize_t n_rounds):
        """Compute the rates of the next rounds, if they do not depend on feedback.

        `rates_of` maps an array of numbers of rounds to their rates. Python calls it here, since
        the compiled loops over `n_rounds` rounds cannot. If it raises, the schedule is unchanged.
        """
        self.require_ready()
        if self.needs_hits:
            return
        # The last one is the rate after these rounds.
        cdef Py_ssize_t first = self.n_rounds + 1
        cdef double[::1] rates = rates_of(np.arange(first, first + n_rounds + 1))
        if rates.shape[0] != n_rounds + 1:
            raise ValueError(f"there must be {n_rounds + 1} rates, got {rates.shape[0]}")
        self.rates, self.first, self.rate = rates, self.n_rounds, rates[0]

    def record_rounds(self, hits):
        """Record rounds one after the other; return the list of the rates after each. For tests."""
        self.require_ready()
        rates = []
        for hit in hits:
            self.record(hit)
            rates.append(self.rate)
        return rates

    cdef void record(self, bint hit) noexcept nogil:
        self.n_rounds += 1
        self.n_hits += hit
        if self.needs_hits:
            self.rate = self.next_rate()
        else:
            self.rate = self.rates[min(self.n_rounds - self.first, self.rates.shape[0] - 1)]

    cdef double next_rate(self) noexcept nogil:
        cdef double n = self.n_rounds
        cdef double gain = n + 2.0 * self.n_hits if self.counts_gains else n + 1.0
        cdef double slope = 0.5 * pow(1.0 + gain, self.power - 1.0)
        if self.counts_misses:
            slope *= self.power / self.miss_power
            slope /= pow(1.0 + n - self.n_hits, self.miss_power - 1.0)
        return slope

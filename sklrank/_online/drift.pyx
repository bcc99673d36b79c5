# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Detection of concept drift from the losses of an online model: the Page-Hinkley test.

The test (Page 1954) detects an increase of the mean of a sequence of losses L_1, L_2, ... from 0 to
1. The losses of a model that learns from a stationary stream decrease, up to noise. Let m and s be
the mean and the standard deviation of the losses so far, where s is at least 0.2. The statistic is

    S = max(0, S + L - m - slack * s),

and a drift is detected if S > threshold * s. Then the test starts again with the next loss. By
default, slack = 1/2. An increase of the mean by d > slack * s is detected after about
threshold * s / (d - slack * s) losses. While the mean is constant, the expected time to a false
detection is about exp(2 * slack * threshold) for normal losses. The minimum of s makes sure that a
few rare errors of an accurate model are not a drift.

The weight of loss t in m and s is about proportional to t^2, so that they follow a model that is
still learning. The first losses, whose m and s are inaccurate, are not tested.
"""

from libc.math cimport sqrt

from sklrank._compiled.state cimport Archive

cdef double MIN_DEVIATION = 0.2
cdef double MIN_LOSSES = 30.0


cdef class DriftTest:
    """Page-Hinkley test of a sequence of losses. The threshold None means that there is no test."""

    def __init__(self, threshold=None):
        self.threshold = float("inf") if threshold is None else threshold
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef DriftTest saved = archive.source
        self.threshold = archive.number("threshold", saved.threshold, 0.0)
        self.n_drifts = archive.count("n_drifts", saved.n_drifts)
        self.n_losses = archive.number("n_losses", saved.n_losses, 0.0)
        self.mean = archive.any_number("mean", saved.mean)
        self.mean_square = archive.any_number("mean_square", saved.mean_square)
        self.excess = archive.any_number("excess", saved.excess)
        return 0

    _merge_rules = {"n_losses": "total", "mean": "mean", "mean_square": "mean", "excess": "max"}

    @staticmethod
    def _merge_entries(merging):
        """Raise ValueError if a model has detected a drift since the start."""
        counts, known = merging.map(lambda state: state["n_drifts"], 0)
        if set(counts) != {known}:
            raise ValueError(
                "a model detected a concept drift since the start, and forgot what the others "
                "know: leave it out, or let all models start from it"
            )
        return {}

    def record_losses(self, losses):
        """Record losses; return a list of bools, True where drifts are detected. For tests."""
        self.require_ready()
        return [self.record(loss) for loss in losses]

    cdef bint record(self, double loss, double slack=0.5, bint waits=False) noexcept nogil:
        cdef double deviation, share
        if self.n_losses >= MIN_LOSSES:
            deviation = max(
                MIN_DEVIATION, sqrt(max(0.0, self.mean_square - self.mean * self.mean))
            )
            self.excess = max(0.0, self.excess + loss - self.mean - slack * deviation)
            if self.excess > self.threshold * deviation and not waits:
                self.n_drifts += 1
                self.n_losses = self.mean = self.mean_square = self.excess = 0.0
                return True
        self.n_losses += 1.0
        share = 3.0 / (self.n_losses + 2.0)
        self.mean += share * (loss - self.mean)
        self.mean_square += share * (loss * loss - self.mean_square)
        return False

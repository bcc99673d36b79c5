"""Linear models that learn from bandit feedback."""

from sklrank.linear_model._mirror._maps cimport MirrorMap
from sklrank.linear_model._rows cimport Row


cdef struct BanditFeedback:
    Py_ssize_t greedy       # class that the model would show without exploration
    Py_ssize_t action       # class shown
    double propensity       # probability with which it was shown
    bint reward             # 1 if it was right, else 0
    double rate             # exploration rate of the round


cdef class BanditModel:
    cdef readonly Py_ssize_t n_features, n_classes
    cdef readonly bint needs_dense      # samples must be dense arrays
    cdef double[::1] values             # (n_classes,) what `choose` compared last

    # Write the linear scores of the classes into `scores`. Changes nothing else.
    cdef void score(self, const Row* row, double* scores) noexcept nogil

    # Write the value of showing each class into `values`; return the class of the greatest. Does
    # not learn.
    cdef Py_ssize_t choose(self, const Row* row) noexcept nogil

    # Learn from the sample for which `choose` was called last.
    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil


cdef class MirrorDescent(BanditModel):
    cdef readonly MirrorMap mirror_map
    cdef readonly double learning_rate      # NaN: Eq. 5.12
    cdef double n_seen                      # number of samples learned
    cdef double largest                     # greatest absolute value of these samples

    cdef double theoretical_rate(self, const Row* row, double exploration) noexcept nogil

"""What learns from one label shown at a time."""

from sklrank.linear_model._mirror._maps cimport MirrorMap
from sklrank.linear_model._rows cimport Row


cdef struct BanditFeedback:
    # What one round brought.
    Py_ssize_t best         # the label believed best
    Py_ssize_t action       # the label shown
    double propensity       # how probable it was to be
    bint reward             # whether it was right
    double rate             # the share of rounds that explore


cdef class BanditModel:
    cdef readonly Py_ssize_t n_features, n_classes
    cdef double[::1] values             # scratch: (n_classes,)

    # Write the linear scores of the classes into `scores`. Reads only.
    cdef void score(self, const Row* row, double* scores) noexcept nogil

    # The label that it would show. Nothing is learnt.
    cdef Py_ssize_t choose(self, const Row* row) noexcept nogil

    # Learn from the row for which `choose` was called last.
    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil


cdef class MirrorDescent(BanditModel):
    cdef readonly MirrorMap mirror_map
    cdef readonly double learning_rate      # NaN: by Eq. 5.12
    cdef double n_learnt
    cdef double largest                     # entry of the rows so far

    cdef double theory_rate(self, const Row* row, double exploration) noexcept nogil

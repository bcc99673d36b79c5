"""Sources of label pairs: what becomes known of a row once its labels are scored."""

from sklrank.feedback._sampler cimport TopKSampler
from sklrank.online_boosting._costs cimport Pairs


cdef class PairSource:
    cdef readonly Py_ssize_t n_samples, n_labels

    # Write what becomes known of row `t`, of the weight `weight`, where an expert has given the
    # labels `scores`. False: nothing is to be learnt from the row.
    cdef bint reveal(
        self, Py_ssize_t t, const double* scores, double weight, Pairs* pairs
    ) noexcept nogil


cdef class FullInformation(PairSource):
    cdef const Py_ssize_t[::1] indptr       # relevant labels of each row, as in a CSR matrix
    cdef const Py_ssize_t[::1] labels
    cdef Py_ssize_t[::1] irrelevant         # scratch
    cdef char[::1] is_relevant              # scratch


cdef class TopKFeedback(PairSource):
    cdef readonly Py_ssize_t k
    cdef const Py_ssize_t[:, ::1] actions       # (n_samples, k)
    cdef const double[:, :, ::1] propensities   # (n_samples, k, k)
    cdef const char[:, ::1] rewards             # (n_samples, k)
    cdef double lowest, highest             # bounds of propensities
    cdef Py_ssize_t[::1] relevant           # scratch: shown labels, and where in `actions`
    cdef Py_ssize_t[::1] irrelevant
    cdef Py_ssize_t[::1] places
    cdef double[::1] weights                # scratch: (k * k,)


cdef class SimulatedTopKFeedback(TopKFeedback):
    cdef TopKSampler sampler
    cdef const double[:, ::1] draws         # (n_samples, sampler.n_draws)
    # The one row of `actions`, `propensities` and `rewards`, which is written anew each time.
    cdef Py_ssize_t[:, ::1] shown
    cdef double[:, :, ::1] chances
    cdef char[:, ::1] answers
    cdef const Py_ssize_t[::1] indptr
    cdef const Py_ssize_t[::1] labels

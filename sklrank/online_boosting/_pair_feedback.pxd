"""Feedback on pairs of labels: the pairs of a sample that become known in a round."""

from sklrank.online_boosting._costs cimport LabelPairs


cdef class PairFeedback:
    cdef readonly Py_ssize_t n_samples, n_labels
    # The labels that are known after the rounds, as arguments of `LabelSets.play`.
    cdef readonly dict known

    # Return `baseline_size` of the pairs of sample `t` (see `LabelPairs`), or 0 if nothing can be
    # learned from the sample.
    cdef Py_ssize_t baseline_size(self, Py_ssize_t t) noexcept nogil

    # Write to `pairs` the pairs of sample `t` that become known if its labels have these `scores`.
    # The weights of the pairs are multiplied by `weight`. Return False if nothing can be learned
    # from the sample.
    cdef int reveal(
        self, Py_ssize_t t, const double* scores, double weight, LabelPairs* pairs
    ) except -1 nogil

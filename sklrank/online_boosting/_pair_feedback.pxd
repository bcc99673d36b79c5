"""Feedback on pairs of labels: the pairs of a sample that become known in a round."""

from sklrank._compiled.rows cimport Rows
from sklrank._online.learner cimport OnlineLearner
from sklrank.feedback cimport TopKSampler, check_mask, mask_of
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


cdef class FullInformation(PairFeedback):
    cdef const Py_ssize_t[::1] indptr       # relevant labels of each sample, as in a CSR matrix
    cdef const Py_ssize_t[::1] labels
    cdef Py_ssize_t[::1] irrelevant         # working memory
    cdef char[::1] is_relevant              # working memory


cdef class TopKFeedback(PairFeedback):
    cdef readonly Py_ssize_t k
    cdef const Py_ssize_t[:, ::1] actions       # (n_samples, k)
    cdef const double[:, :, ::1] propensities   # (n_samples, k, k)
    cdef const double[:, ::1] rewards           # (n_samples, k)
    cdef double min_propensity, max_propensity
    # Working memory: the relevant and the irrelevant labels shown, the positions of the irrelevant
    # labels in `actions`, and the weights (k * k,) of the pairs.
    cdef Py_ssize_t[::1] relevant
    cdef Py_ssize_t[::1] irrelevant
    cdef Py_ssize_t[::1] irrelevant_positions
    cdef double[::1] weights
    # The estimate of the pairs: `PAIRS`, `LABELS` or `DOUBLY_ROBUST`.
    cdef readonly int estimate
    cdef OnlineLearner direct_model             # model of the relevance, if doubly robust
    cdef double[::1] label_weights              # (n_labels,) ones, for this model
    cdef Rows rows                              # samples for this model
    cdef Py_ssize_t[::1] all_labels             # 0, 1, ..., unless `PAIRS`
    cdef double[::1] chances                    # working memory: (n_labels,) Pr[l is relevant]
    cdef const char[:, :] available             # (n_samples, n_labels) mask, or None for all labels

    # Return the propensity of the labels at two positions of sample `t`, within the bounds.
    cdef double propensity(self, Py_ssize_t t, Py_ssize_t i, Py_ssize_t j) noexcept nogil

    # Replace the pairs by those of the other estimates.
    cdef void estimate_from_labels(
        self, Py_ssize_t t, double weight, LabelPairs* pairs
    ) noexcept nogil
    cdef int estimate_doubly_robust(
        self, Py_ssize_t t, double weight, LabelPairs* pairs
    ) except -1 nogil


cdef class SimulatedTopKFeedback(TopKFeedback):
    cdef TopKSampler sampler
    cdef const double[:, ::1] uniforms         # (n_samples, sampler.n_uniforms)
    cdef const double[::1] rates               # (n_samples,) amounts of exploration
    # The same arrays as above, which `reveal` fills.
    cdef Py_ssize_t[:, ::1] drawn_actions
    cdef double[:, :, ::1] drawn_propensities
    cdef double[:, ::1] drawn_rewards
    cdef const Py_ssize_t[::1] indptr
    cdef const Py_ssize_t[::1] labels

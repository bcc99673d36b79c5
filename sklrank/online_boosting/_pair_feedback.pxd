"""Feedback on pairs of labels: the pairs of a sample that become known in a round."""

from sklrank._sorting cimport Item
from sklrank.feedback._sampler cimport TopKSampler
from sklrank.linear_model._online._logistic cimport LogisticLearner
from sklrank.online_boosting._costs cimport LabelPairs


cdef class PairFeedback:
    cdef readonly Py_ssize_t n_samples, n_labels
    cdef readonly bint discounted           # whether pairs are weighted by `pair_discount`
    cdef double[::1] discounts              # working memory: (n_labels,)
    cdef Item[::1] ranking                  # working memory: to sort the labels

    # Compute the discounts of all labels if they have these `scores`. `rank_label` computes the
    # discount of a single label.
    cdef void rank(self, const double* scores) noexcept nogil
    cdef void rank_label(self, const double* scores, Py_ssize_t label) noexcept nogil

    # Return the factor of the weight of the pair of the labels `a` and `b`: the discount of the
    # better position of the two. The discounts of both must have been computed.
    cdef double pair_discount(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil

    # Return `baseline_size` of the pairs of sample `t` (see `LabelPairs`), or 0 if nothing can be
    # learned from the sample.
    cdef Py_ssize_t baseline_size(self, Py_ssize_t t) noexcept nogil

    # Write to `pairs` the pairs of sample `t` that become known if its labels have these `scores`.
    # The weights of the pairs are multiplied by `weight`. Return False if nothing can be learned
    # from the sample.
    cdef bint reveal(
        self, Py_ssize_t t, const double* scores, double weight, LabelPairs* pairs
    ) noexcept nogil


cdef class FullInformation(PairFeedback):
    cdef const Py_ssize_t[::1] indptr       # relevant labels of each sample, as in a CSR matrix
    cdef const Py_ssize_t[::1] labels
    cdef Py_ssize_t[::1] irrelevant         # working memory
    cdef char[::1] is_relevant              # working memory
    cdef double[::1] weights                # working memory: weights of the pairs, if discounted

    cdef void discount_pairs(
        self, const double* scores, double weight, LabelPairs* pairs
    ) noexcept nogil


cdef class TopKFeedback(PairFeedback):
    cdef readonly Py_ssize_t k
    cdef const Py_ssize_t[:, ::1] actions       # (n_samples, k)
    cdef const double[:, :, ::1] propensities   # (n_samples, k, k)
    cdef const char[:, ::1] rewards             # (n_samples, k)
    cdef double min_propensity, max_propensity
    # Working memory: the relevant and the irrelevant labels shown, the positions of the irrelevant
    # labels in `actions`, and the weights (k * k,) of the pairs.
    cdef Py_ssize_t[::1] relevant
    cdef Py_ssize_t[::1] irrelevant
    cdef Py_ssize_t[::1] irrelevant_positions
    cdef double[::1] weights
    # The estimate of the pairs: `PAIRS`, `LABELS` or `DOUBLY_ROBUST`.
    cdef readonly int estimate
    cdef LogisticLearner direct_model           # model of the relevance, if doubly robust
    cdef const double[:, ::1] X                 # samples for this model
    cdef Py_ssize_t[::1] all_labels             # 0, 1, ..., unless `PAIRS`
    cdef double[::1] chances                    # working memory: (n_labels,) Pr[l is relevant]

    # Return the propensity of the labels at two positions of sample `t`, within the bounds.
    cdef double propensity(self, Py_ssize_t t, Py_ssize_t i, Py_ssize_t j) noexcept nogil

    # Replace the pairs by those of the other estimates. `sample` is the index of the sample in `X`.
    cdef void estimate_from_labels(
        self, Py_ssize_t t, double weight, LabelPairs* pairs
    ) noexcept nogil
    cdef void estimate_doubly_robust(
        self, Py_ssize_t t, Py_ssize_t sample, double weight, LabelPairs* pairs
    ) noexcept nogil

    # Reveal the pairs, given the index of the sample in the arrays and in `X`.
    cdef bint reveal_sample(
        self, Py_ssize_t t, Py_ssize_t sample, const double* scores, double weight,
        LabelPairs* pairs,
    ) noexcept nogil


cdef class SimulatedTopKFeedback(TopKFeedback):
    cdef TopKSampler sampler
    cdef const double[:, ::1] uniforms         # (n_samples, sampler.n_uniforms)
    cdef const double[::1] rates               # (n_samples,) amounts of exploration, or None
    # Arrays with a single row, which are overwritten for each sample. `actions`, `propensities` and
    # `rewards` are views of them.
    cdef Py_ssize_t[:, ::1] shown_actions
    cdef double[:, :, ::1] shown_propensities
    cdef char[:, ::1] shown_rewards
    cdef const Py_ssize_t[::1] indptr
    cdef const Py_ssize_t[::1] labels

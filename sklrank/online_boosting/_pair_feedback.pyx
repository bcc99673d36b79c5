# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Feedback on pairs of labels: the pairs of a sample that become known in a round.

A round of boosting learns from pairs of a relevant label a and an irrelevant label b, where each
pair has a weight w_ab. With full information, all pairs are known, and w_ab = 1 / (|Y| |Y^c|) (Jung
& Tewari 2018). With top-k feedback, the known pairs are the pairs among the k labels shown, and
w_ab = 1 / Pr[a and b shown] (Raman et al. 2020, Eq. 1). Thus the sum over these pairs is an
unbiased estimate of the sum over all pairs. The number of relevant labels remains unknown.
Therefore losses are not normalized, and the potentials assume a random learner that favors a single
label (Section 3.2.2 of Raman et al.).

There are two other estimates from top-k feedback, whose sums run over more pairs. Let R and I be
the shown labels that are relevant and irrelevant.

- `LABELS`: each label a of R is compared with all other labels b, and w_ab = 1 / Pr[a shown]. The
  sum over these pairs is an unbiased estimate of the sum over all relevant labels a and all other
  labels b. With losses that are at least 1 for b ranked before a, this sum is a bound on the sum of
  the positions of the relevant labels, on which DCG and precision depend. One label shown is
  enough.
- `DOUBLY_ROBUST`: a direct model gives the probability q_l that label l is relevant. Then
  w_ab = q_a (1 - q_b) + [a and b shown] (y_a (1 - y_b) - q_a (1 - q_b)) / Pr[a and b shown], where
  y_l is the relevance. The estimate is unbiased like that of `PAIRS`, and its variance is smaller
  if the model is better than the constant q = 0. If propensities are clipped from below, its bias
  is that of the model's error only. The direct model learns from the labels shown.
"""

from libc.math cimport isnan

import numpy as np

from sklrank._compiled.rows cimport Row, Rows
from sklrank._online.learner cimport LabelFeedback, OnlineLearner
from sklrank._online.shown cimport ShownLabels
from sklrank.feedback cimport mask_of
from sklrank.online_boosting._costs cimport LabelPairs, know_labels_of_pairs

from sklrank._online import check_lists

cdef enum:
    PAIRS = 0
    LABELS = 1
    DOUBLY_ROBUST = 2

ESTIMATES = {"pairs": PAIRS, "labels": LABELS, "doubly-robust": DOUBLY_ROBUST}


cdef class PairFeedback:
    """Base class of the kinds of feedback. `_pair_feedback.pxd` states what its methods must do."""

    cdef Py_ssize_t baseline_size(self, Py_ssize_t t) noexcept nogil:
        return 1

    cdef int reveal(
        self, Py_ssize_t t, const double* scores, double weight, LabelPairs* pairs
    ) except -1 nogil:
        return False


cdef class FullInformation(PairFeedback):
    """Full information, where the relevance of all labels becomes known."""

    cdef const Py_ssize_t[::1] indptr       # relevant labels of each sample, as in a CSR matrix
    cdef const Py_ssize_t[::1] labels
    cdef Py_ssize_t[::1] irrelevant         # working memory
    cdef char[::1] is_relevant              # working memory

    def __init__(
        self, const Py_ssize_t[::1] indptr not None, const Py_ssize_t[::1] labels not None,
        Py_ssize_t n_labels,
    ):
        check_lists(indptr, labels, indptr.shape[0] - 1, n_labels)
        self.n_samples = indptr.shape[0] - 1
        self.n_labels = n_labels
        self.indptr, self.labels = indptr, labels
        self.known = {"indptr": indptr, "labels": labels}
        self.irrelevant = np.empty(n_labels, dtype=np.intp)
        self.is_relevant = np.zeros(n_labels, dtype=np.int8)

    cdef Py_ssize_t baseline_size(self, Py_ssize_t t) noexcept nogil:
        cdef Py_ssize_t n_relevant = self.indptr[t + 1] - self.indptr[t]
        return 0 if n_relevant == self.n_labels else n_relevant

    cdef int reveal(
        self, Py_ssize_t t, const double* scores, double weight, LabelPairs* pairs
    ) except -1 nogil:
        cdef Py_ssize_t j, l, n = 0, n_relevant = self.baseline_size(t)
        if n_relevant == 0:
            return False
        pairs.relevant = &self.labels[0] + self.indptr[t]
        pairs.irrelevant = &self.irrelevant[0]
        pairs.n_relevant = pairs.baseline_size = n_relevant
        pairs.n_irrelevant = self.n_labels - n_relevant
        pairs.weights = NULL
        pairs.weight = weight / (<double>n_relevant * <double>pairs.n_irrelevant)
        know_labels_of_pairs(pairs)
        for j in range(n_relevant):
            self.is_relevant[pairs.relevant[j]] = True
        for l in range(self.n_labels):
            if not self.is_relevant[l]:
                self.irrelevant[n] = l
                n += 1
        for j in range(n_relevant):
            self.is_relevant[pairs.relevant[j]] = False
        return True


cdef class TopKFeedback(PairFeedback):
    """Top-k feedback, where only the relevance of the labels shown becomes known.

    Propensities are clipped to the bounds. The direct model of the doubly robust estimate is a
    one-versus-rest model of the relevance, which learns the samples `X` from the labels shown.
    """

    cdef ShownLabels shown
    cdef Py_ssize_t k
    cdef double min_propensity, max_propensity
    # Working memory: the relevant and the irrelevant labels shown, the positions of the irrelevant
    # labels in `actions`, and the weights of the pairs.
    cdef Py_ssize_t[::1] relevant, irrelevant, irrelevant_positions
    cdef double[::1] weights
    # The estimate of the pairs: `PAIRS`, `LABELS` or `DOUBLY_ROBUST`.
    cdef int estimate
    cdef OnlineLearner direct_model             # model of the relevance, if doubly robust
    cdef double[::1] label_weights              # (n_labels,) ones, for this model
    cdef Rows rows                              # samples for this model
    cdef Py_ssize_t[::1] all_labels             # 0, 1, ..., unless `PAIRS`
    cdef double[::1] chances                    # working memory: (n_labels,) Pr[l is relevant]

    def __init__(
        self, ShownLabels shown not None, double min_propensity, double max_propensity,
        str estimate="pairs", OnlineLearner direct_model=None, X=None,
    ):
        cdef Py_ssize_t k = shown.k, n_labels = shown.n_labels
        self.shown, self.known = shown, {"shown": shown.record}
        self.n_samples, self.k, self.n_labels = shown.n_samples, k, n_labels
        self.min_propensity, self.max_propensity = min_propensity, max_propensity
        self.relevant, self.irrelevant, self.irrelevant_positions = np.empty((3, k), dtype=np.intp)
        self.estimate = ESTIMATES[estimate]
        size = {PAIRS: k * k, LABELS: k * n_labels, DOUBLY_ROBUST: n_labels * n_labels}
        self.weights = np.empty(size[self.estimate])
        self.all_labels = np.arange(n_labels)
        self.chances = np.empty(n_labels)
        if self.estimate == DOUBLY_ROBUST:
            if direct_model is None or X is None:
                raise ValueError("the doubly robust estimate needs direct_model and X")
            self.direct_model, self.rows = direct_model, direct_model.rows_of(X)
            if direct_model.n_classes != n_labels or self.rows.n_rows != self.n_samples:
                raise ValueError("direct_model or X does not match the labels or samples")
            self.label_weights = np.ones(n_labels)

    cdef int reveal(
        self, Py_ssize_t t, const double* scores, double weight, LabelPairs* pairs
    ) except -1 nogil:
        cdef Py_ssize_t i, j, n_relevant = 0, n_irrelevant = 0
        self.shown.show(t, scores)
        for i in range(self.k):
            if self.shown.rewards[t, i] == 1:
                self.relevant[n_relevant] = self.shown.actions[t, i]
                n_relevant += 1
            elif self.shown.rewards[t, i] == 0:
                self.irrelevant[n_irrelevant] = self.shown.actions[t, i]
                self.irrelevant_positions[n_irrelevant] = i
                n_irrelevant += 1
        pairs.relevant, pairs.n_relevant = &self.relevant[0], n_relevant
        pairs.irrelevant, pairs.n_irrelevant = &self.irrelevant[0], n_irrelevant
        pairs.baseline_size = self.baseline_size(t)
        pairs.weight = 0.0
        pairs.weights = &self.weights[0]
        know_labels_of_pairs(pairs)
        if self.estimate == LABELS:
            self.estimate_from_labels(t, weight, pairs)
            return True
        if self.estimate == DOUBLY_ROBUST:
            self.estimate_doubly_robust(t, weight, pairs)
            return True
        n_relevant = 0
        for i in range(self.k):
            if self.shown.rewards[t, i] != 1:
                continue
            for j in range(n_irrelevant):
                self.weights[n_relevant * n_irrelevant + j] = (
                    weight / self.propensity(t, i, self.irrelevant_positions[j])
                )
            n_relevant += 1
        # A sample without a known pair has zero costs. Learning from these costs keeps the estimate
        # unbiased. If all labels were shown, there is nothing to estimate.
        return n_relevant * n_irrelevant > 0 or self.k < self.n_labels

    cdef double propensity(self, Py_ssize_t t, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        # Return that of the labels at two positions, within the bounds.
        return min(max(self.shown.propensities[t, i, j], self.min_propensity), self.max_propensity)

    cdef void estimate_from_labels(
        self, Py_ssize_t t, double weight, LabelPairs* pairs
    ) noexcept nogil:
        cdef const char* mask = mask_of(self.shown.available, t)
        cdef Py_ssize_t i, a, b, n = 0
        cdef double* weights = &self.weights[0]
        cdef double of_label
        for i in range(self.k):
            if self.shown.rewards[t, i] != 1:
                continue
            a = self.shown.actions[t, i]
            of_label = weight / self.propensity(t, i, i)
            for b in range(self.n_labels):
                weights[n] = 0.0 if a == b or (mask != NULL and not mask[b]) else of_label
                n += 1
        pairs.irrelevant, pairs.n_irrelevant = &self.all_labels[0], self.n_labels

    cdef int estimate_doubly_robust(
        self, Py_ssize_t t, double weight, LabelPairs* pairs
    ) except -1 nogil:
        cdef Py_ssize_t i, j, a, b, m = self.n_labels
        cdef double* weights = &self.weights[0]
        cdef double* q = &self.chances[0]
        cdef const char* mask = mask_of(self.shown.available, t)
        cdef bint is_pair
        cdef LabelFeedback feedback
        cdef Row x
        self.rows.read(t, &x)
        self.direct_model.predict_relevance(&x, q)
        for a in range(m):
            for b in range(m):
                weights[a * m + b] = 0.0 if a == b else q[a] * (1.0 - q[b])
        for i in range(self.k):
            a = self.shown.actions[t, i]
            for j in range(self.k):
                b = self.shown.actions[t, j]
                if i != j and not isnan(self.shown.rewards[t, i] + self.shown.rewards[t, j]):
                    is_pair = self.shown.rewards[t, i] == 1 and self.shown.rewards[t, j] == 0
                    weights[a * m + b] += (
                        (1.0 if is_pair else 0.0) - q[a] * (1.0 - q[b])
                    ) / self.propensity(t, i, j)
        for a in range(m):
            for b in range(m):
                weights[a * m + b] *= weight
                if mask != NULL and not (mask[a] and mask[b]):
                    weights[a * m + b] = 0.0
        feedback.n_relevant, feedback.relevant = pairs.n_relevant, pairs.relevant
        feedback.n_irrelevant, feedback.irrelevant = pairs.n_irrelevant, pairs.irrelevant
        # One-versus-rest learns each known label with the weight of the sample.
        feedback.costs = feedback.relevance = NULL
        feedback.weights, feedback.sample_weight = &self.label_weights[0], weight
        self.direct_model.learn_cached(&x, &feedback)
        pairs.relevant = pairs.irrelevant = &self.all_labels[0]
        pairs.n_relevant = pairs.n_irrelevant = m
        return 0

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Feedback on pairs of labels: the pairs of a sample that become known in a round.

A round of boosting learns from pairs of a relevant label a and an irrelevant label b, where each
pair has a weight w_ab. With full information, all pairs are known, and w_ab = 1 / (|Y| |Y^c|) (Jung
& Tewari 2018). With top-k feedback, the known pairs are the pairs among the k labels shown, and
w_ab = 1 / Pr[a and b shown] (Raman et al. 2020, Eq. 1). Thus the sum over these pairs is an
unbiased estimate of the sum over all pairs. The number of relevant labels remains unknown.
Therefore losses are not normalized, and the potentials assume a random learner that favors a single
label (Section 3.2.2 of Raman et al.).
"""

from libc.math cimport log2

import numpy as np

from sklrank._online_learner import check_lists


cdef class PairFeedback:
    """Base class of the kinds of feedback. `_pair_feedback.pxd` states what its methods must do."""

    def set_discounted(self, bint discounted):
        """Weight pairs by the discounts of the current ranks of their labels, or do not."""
        self.discounted = discounted
        self.discounts = np.empty(self.n_labels if discounted else 0)

    cdef void rank(self, const double* scores) noexcept nogil:
        # The DCG discount of the label at position r is 1 / log2(1 + r). Labels of equal score are
        # ranked by their index.
        cdef Py_ssize_t l, j, position
        for l in range(self.n_labels):
            position = 1
            for j in range(l):
                position += scores[j] >= scores[l]
            for j in range(l + 1, self.n_labels):
                position += scores[j] > scores[l]
            self.discounts[l] = 1.0 / log2(1.0 + position)

    cdef double pair_discount(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return max(self.discounts[a], self.discounts[b])

    cdef Py_ssize_t baseline_size(self, Py_ssize_t t) noexcept nogil:
        return 1

    cdef bint reveal(
        self, Py_ssize_t t, const double* scores, double weight, LabelPairs* pairs
    ) noexcept nogil:
        return False


cdef class FullInformation(PairFeedback):
    """Full information, where the relevance of all labels becomes known.

    Parameters
    ----------
    indptr, labels : ndarrays of shape (n_samples + 1,) and (n_relevant,)
        Relevant labels of each sample, as in a CSR matrix.
    n_labels : int
        Number of labels.
    """

    def __init__(
        self, const Py_ssize_t[::1] indptr not None, const Py_ssize_t[::1] labels not None,
        Py_ssize_t n_labels, bint discounted=False,
    ):
        check_lists(indptr, labels, indptr.shape[0] - 1, n_labels)
        self.n_samples = indptr.shape[0] - 1
        self.n_labels = n_labels
        self.indptr, self.labels = indptr, labels
        self.irrelevant = np.empty(n_labels, dtype=np.intp)
        self.is_relevant = np.zeros(n_labels, dtype=np.int8)
        self.set_discounted(discounted)
        self.weights = np.empty(n_labels * n_labels // 4 if discounted else 0)

    cdef Py_ssize_t baseline_size(self, Py_ssize_t t) noexcept nogil:
        cdef Py_ssize_t n_relevant = self.indptr[t + 1] - self.indptr[t]
        return 0 if n_relevant == self.n_labels else n_relevant

    cdef bint reveal(
        self, Py_ssize_t t, const double* scores, double weight, LabelPairs* pairs
    ) noexcept nogil:
        cdef Py_ssize_t j, l, n = 0, n_relevant = self.baseline_size(t)
        if n_relevant == 0:
            return False
        pairs.relevant = &self.labels[0] + self.indptr[t]
        pairs.irrelevant = &self.irrelevant[0]
        pairs.n_relevant = pairs.baseline_size = n_relevant
        pairs.n_irrelevant = self.n_labels - n_relevant
        pairs.weights = NULL
        pairs.weight = weight / (<double>n_relevant * <double>pairs.n_irrelevant)
        for j in range(n_relevant):
            self.is_relevant[pairs.relevant[j]] = True
        for l in range(self.n_labels):
            if not self.is_relevant[l]:
                self.irrelevant[n] = l
                n += 1
        for j in range(n_relevant):
            self.is_relevant[pairs.relevant[j]] = False
        if self.discounted:
            self.discount_pairs(scores, weight, pairs)
        return True

    cdef void discount_pairs(
        self, const double* scores, double weight, LabelPairs* pairs
    ) noexcept nogil:
        # Give each pair a weight in proportion to `pair_discount`. The sum of the weights is `weight`.
        cdef Py_ssize_t j, k, n = 0
        cdef double total = 0.0
        self.rank(scores)
        for j in range(pairs.n_relevant):
            for k in range(pairs.n_irrelevant):
                self.weights[n] = self.pair_discount(pairs.relevant[j], pairs.irrelevant[k])
                total += self.weights[n]
                n += 1
        for j in range(n):
            self.weights[j] *= weight / total
        pairs.weights = &self.weights[0]


cdef class TopKFeedback(PairFeedback):
    """Top-k feedback, where only the relevance of the labels shown becomes known.

    Parameters
    ----------
    actions, propensities, rewards : ndarrays of shape (n_samples, k), (n_samples, k, k) and \
(n_samples, k)
        Labels shown, the probability for each two of them that both were shown, and the relevance
        of the labels shown.
    n_labels : int
        Number of labels.
    min_propensity, max_propensity : float
        Bounds to which propensities are clipped.
    """

    def __init__(
        self, const Py_ssize_t[:, ::1] actions not None,
        const double[:, :, ::1] propensities not None, const char[:, ::1] rewards not None,
        Py_ssize_t n_labels, double min_propensity, double max_propensity,
        bint discounted=False,
    ):
        cdef Py_ssize_t n = actions.shape[0], k = actions.shape[1]
        if (rewards.shape[0], rewards.shape[1]) != (n, k) or (
            propensities.shape[0], propensities.shape[1], propensities.shape[2]
        ) != (n, k, k):
            raise ValueError("actions, propensities and rewards differ in shape")
        if n * k > 0 and not (0 <= np.min(actions) and np.max(actions) < n_labels):
            raise ValueError(f"actions are outside the {n_labels} labels")
        self.n_samples, self.k, self.n_labels = n, k, n_labels
        self.actions, self.propensities, self.rewards = actions, propensities, rewards
        self.min_propensity, self.max_propensity = min_propensity, max_propensity
        self.relevant, self.irrelevant, self.irrelevant_positions = np.empty((3, k), dtype=np.intp)
        self.weights = np.empty(k * k)
        self.set_discounted(discounted)

    cdef bint reveal(
        self, Py_ssize_t t, const double* scores, double weight, LabelPairs* pairs
    ) noexcept nogil:
        cdef Py_ssize_t i, j, n_relevant = 0, n_irrelevant = 0
        cdef double propensity
        for i in range(self.k):
            if self.rewards[t, i]:
                self.relevant[n_relevant] = self.actions[t, i]
                n_relevant += 1
            else:
                self.irrelevant[n_irrelevant] = self.actions[t, i]
                self.irrelevant_positions[n_irrelevant] = i
                n_irrelevant += 1
        pairs.relevant, pairs.n_relevant = &self.relevant[0], n_relevant
        pairs.irrelevant, pairs.n_irrelevant = &self.irrelevant[0], n_irrelevant
        pairs.baseline_size = self.baseline_size(t)
        pairs.weight = 0.0
        pairs.weights = &self.weights[0]
        if self.discounted and n_relevant * n_irrelevant > 0:
            self.rank(scores)
        n_relevant = 0
        for i in range(self.k):
            if not self.rewards[t, i]:
                continue
            for j in range(n_irrelevant):
                propensity = self.propensities[t, i, self.irrelevant_positions[j]]
                propensity = min(max(propensity, self.min_propensity), self.max_propensity)
                self.weights[n_relevant * n_irrelevant + j] = weight / propensity
                if self.discounted:
                    self.weights[n_relevant * n_irrelevant + j] *= self.pair_discount(
                        self.actions[t, i], self.irrelevant[j]
                    )
            n_relevant += 1
        # A sample without a known pair has zero costs. Learning from these costs keeps the estimate
        # unbiased. If all labels were shown, there is nothing to estimate.
        return n_relevant * n_irrelevant > 0 or self.k < self.n_labels


cdef class SimulatedTopKFeedback(TopKFeedback):
    """Simulated top-k feedback on samples whose labels are known.

    Only the relevance of the labels shown is passed on to the learners.

    Parameters
    ----------
    sampler : TopKSampler
        Draws the labels to show.
    uniforms : ndarray of shape (n_samples, sampler.n_uniforms)
        Random numbers in [0, 1).
    indptr, labels : ndarrays of shape (n_samples + 1,) and (n_relevant,)
        Relevant labels of each sample, as in a CSR matrix with sorted indices.
    min_propensity, max_propensity : float
        Bounds to which propensities are clipped.
    """

    def __init__(
        self, TopKSampler sampler not None, const double[:, ::1] uniforms not None,
        const Py_ssize_t[::1] indptr not None, const Py_ssize_t[::1] labels not None,
        double min_propensity, double max_propensity, bint discounted=False,
    ):
        cdef Py_ssize_t n = indptr.shape[0] - 1, k = sampler.k
        sampler.require_ready()
        check_lists(indptr, labels, n, sampler.n_labels)
        if (uniforms.shape[0], uniforms.shape[1]) != (n, sampler.n_uniforms):
            raise ValueError("uniforms do not match the samples")
        self.shown_actions = np.zeros((1, k), dtype=np.intp)
        self.shown_propensities = np.ones((1, k, k))
        self.shown_rewards = np.zeros((1, k), dtype=np.int8)
        super().__init__(
            self.shown_actions, self.shown_propensities, self.shown_rewards, sampler.n_labels,
            min_propensity, max_propensity, discounted,
        )
        self.n_samples = n
        self.sampler, self.uniforms = sampler, uniforms
        self.indptr, self.labels = indptr, labels

    cdef bint reveal(
        self, Py_ssize_t t, const double* scores, double weight, LabelPairs* pairs
    ) noexcept nogil:
        cdef Py_ssize_t i
        self.sampler.draw_labels(
            scores, &self.uniforms[t, 0], &self.shown_actions[0, 0],
            &self.shown_propensities[0, 0, 0],
        )
        for i in range(self.k):
            self.shown_rewards[0, i] = contains(
                self.labels, self.indptr[t], self.indptr[t + 1], self.shown_actions[0, i]
            )
        return TopKFeedback.reveal(self, 0, scores, weight, pairs)


cdef bint contains(
    const Py_ssize_t[::1] labels, Py_ssize_t first, Py_ssize_t last, Py_ssize_t label
) noexcept nogil:
    # Return True if labels[first:last], which must be sorted, contains the label.
    cdef Py_ssize_t middle
    while first < last:
        middle = (first + last) // 2
        if labels[middle] == label:
            return True
        if labels[middle] < label:
            first = middle + 1
        else:
            last = middle
    return False

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Base class of the compiled online learners, and their loops over samples.

A learner processes one sample at a time. `predict` writes a distribution over the classes. `learn`
receives a `LabelFeedback`, which contains the relevant labels of the sample with their importance
weights, the irrelevant labels, and, in a booster, the cost of a vote for each label. Learners that
learn from single labels use the importance weights. Cost-sensitive learners use the costs (Jung &
Tewari 2018, Section 2.1). Other learners use only the relevance. The relevance of labels that are
neither in the relevant nor in the irrelevant labels is unknown.
"""

from libc.math cimport exp

import numpy as np

from sklrank._compiled import exclusive_call, shared_call


cdef class OnlineLearner:
    """Base class of the compiled learners.

    A subclass defines `predict`, `learn`, and `exchange` of `Persistent`.
    """

    cdef list locked_parts(self):
        return None

    # The parts may be used, or saved, without this object. Each call of it is a call of its parts.

    cdef int begin_shared(self) except -1:
        cdef list begun = []
        Persistent.begin_shared(self)
        try:
            for part in self.locked_parts() or ():
                (<Persistent>part).begin_shared()
                begun.append(part)
        except BaseException:
            for part in begun:
                (<Persistent>part).end_shared()
            Persistent.end_shared(self)
            raise
        return 0

    cdef int begin_exclusive(self) except -1:
        cdef list begun = []
        Persistent.begin_exclusive(self)
        try:
            for part in self.locked_parts() or ():
                (<Persistent>part).begin_exclusive()
                begun.append(part)
        except BaseException:
            for part in begun:
                (<Persistent>part).end_exclusive()
            Persistent.end_exclusive(self)
            raise
        return 0

    cdef void end_shared(self) noexcept:
        for part in self.locked_parts() or ():
            (<Persistent>part).end_shared()
        Persistent.end_shared(self)

    cdef void end_exclusive(self) noexcept:
        for part in self.locked_parts() or ():
            (<Persistent>part).end_exclusive()
        Persistent.end_exclusive(self)

    cdef int predict(self, const Row* x, double* votes) except -1 nogil:
        with gil:
            raise TypeError(f"{type(self).__name__} does not define predict")

    cdef int learn(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        with gil:
            raise TypeError(f"{type(self).__name__} does not define learn")

    cdef int predict_cached(self, const Row* x, double* votes) except -1 nogil:
        return self.predict(x, votes)

    cdef int learn_cached(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        return self.learn(x, feedback)

    cdef int predict_relevance(self, const Row* x, double* chances) except -1 nogil:
        with gil:
            raise TypeError(f"{type(self).__name__} does not define predict_relevance")

    cdef Rows rows_of(self, X):
        self.require_ready()
        cdef Rows rows = Rows(X, 0.0, not self.reads_sparse)
        if rows.n_features != self.n_features:
            raise ValueError(
                f"X has {rows.n_features} features, but the learner has {self.n_features}"
            )
        return rows

    @shared_call
    def predict_rows(self, X not None):
        """Return the votes `(n_samples, n_classes)` for the samples of an array or CSR matrix."""
        cdef Rows rows = self.rows_of(X)
        cdef Row x
        votes = np.empty((rows.n_rows, self.n_classes))
        cdef double[:, ::1] out = votes
        cdef Py_ssize_t i
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &x)
                self.predict(&x, &out[i, 0])
        return votes

    @exclusive_call
    def play_rows(
        self, X not None, const Py_ssize_t[::1] indptr not None,
        const Py_ssize_t[::1] labels not None, const double[::1] weights not None,
        double[:, ::1] votes=None,
    ):
        """Learn from the samples of an array or CSR matrix, one after the other.

        Sample i has the labels `labels[indptr[i]:indptr[i + 1]]`, each with the importance weight
        `weights[i]`. A sample of weight zero is skipped. If `votes` `(n_samples, n_classes)` is
        given, the votes for each sample are written to this array before the sample is learned.
        """
        cdef Rows rows = self.rows_of(X)
        cdef Row x
        cdef Py_ssize_t i, j, n_samples = rows.n_rows
        cdef bint progressive = votes is not None
        cdef double[::1] repeated = np.empty(self.n_classes)
        cdef LabelFeedback feedback
        check_lists(indptr, labels, n_samples, self.n_classes)
        if weights.shape[0] != n_samples:
            raise ValueError(f"weights has {weights.shape[0]} entries for {n_samples} samples")
        if progressive and (votes.shape[0], votes.shape[1]) != (n_samples, self.n_classes):
            raise ValueError("votes do not match the samples and classes")
        feedback.costs = feedback.relevance = NULL
        feedback.weights = &repeated[0]
        feedback.irrelevant = NULL
        with nogil:
            for i in range(n_samples):
                rows.read(i, &x)
                if progressive:
                    self.predict_cached(&x, &votes[i, 0])
                if weights[i] == 0.0:
                    continue
                feedback.n_relevant = indptr[i + 1] - indptr[i]
                feedback.n_irrelevant = self.n_classes - feedback.n_relevant
                feedback.relevant = &labels[0] + indptr[i] if feedback.n_relevant else NULL
                for j in range(feedback.n_relevant):
                    repeated[j] = weights[i]
                feedback.sample_weight = weights[i]
                if progressive:
                    self.learn_cached(&x, &feedback)
                else:
                    self.learn(&x, &feedback)


def check_lists(
    const Py_ssize_t[::1] indptr not None,
    const Py_ssize_t[::1] labels not None,
    Py_ssize_t n_samples,
    Py_ssize_t n_classes,
):
    """Raise if a compiled loop would read these relevance lists out of bounds."""
    cdef Py_ssize_t i
    if n_samples < 0 or indptr.shape[0] != n_samples + 1 or (
        indptr[0] != 0 or indptr[n_samples] != labels.shape[0]
    ):
        raise ValueError("indptr does not describe a list of labels for each sample")
    for i in range(n_samples):
        if not 0 <= indptr[i + 1] - indptr[i] <= n_classes:
            raise ValueError(f"indptr gives sample {i} an impossible number of labels")
    for i in range(labels.shape[0]):
        if not 0 <= labels[i] < n_classes:
            raise ValueError(f"label {labels[i]} is outside the {n_classes} classes")


cdef void softmax(const double* logarithms, Py_ssize_t n, double* out) noexcept nogil:
    cdef double greatest = logarithms[0], total = 0.0
    cdef Py_ssize_t i
    for i in range(1, n):
        greatest = max(greatest, logarithms[i])
    for i in range(n):
        out[i] = exp(logarithms[i] - greatest)
        total += out[i]
    for i in range(n):
        out[i] /= total


cdef double known_rank_loss(
    const double* scores, Py_ssize_t n_classes, const LabelFeedback* feedback
) noexcept nogil:
    cdef double n_wrong = 0.0, n_pairs = 0.0, p = 1.0, q, score
    cdef Py_ssize_t i, j
    for i in range(feedback.n_relevant if feedback.n_irrelevant or feedback.relevance else 0):
        score = scores[feedback.relevant[i]]
        if feedback.relevance != NULL:
            p = feedback.relevance[i]
            for j in range(feedback.n_relevant):
                q = p * (1.0 - feedback.relevance[j]) if i != j else 0.0
                n_pairs += q
                n_wrong += q * n_not_below(scores, feedback.relevant + j, 1, score)
        n_pairs += p * feedback.n_irrelevant
        if feedback.irrelevant != NULL:
            n_wrong += p * n_not_below(scores, feedback.irrelevant, feedback.n_irrelevant, score)
        else:
            # The irrelevant labels are all labels except the relevant ones.
            n_wrong += n_not_below(scores, NULL, n_classes, score)
            n_wrong -= n_not_below(scores, feedback.relevant, feedback.n_relevant, score)
    return n_wrong / n_pairs if n_pairs > 0.0 else 0.0


cdef inline double n_not_below(
    const double* scores, const Py_ssize_t* labels, Py_ssize_t n, double score
) noexcept nogil:
    # Return the number of labels (of labels 0, ..., n - 1 if NULL) above the score, plus half the
    # number of labels whose score is equal.
    cdef Py_ssize_t i, total = 0
    for i in range(n):
        if labels == NULL:
            total += (scores[i] > score) + (scores[i] >= score)
        else:
            total += (scores[labels[i]] > score) + (scores[labels[i]] >= score)
    return 0.5 * total

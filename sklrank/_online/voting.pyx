# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Exponentially weighted votes of several learners (Hedge, Freund & Schapire 1997).

Each part is a learner, which votes for the labels and learns from each sample. The votes of the
mixture are the weighted mean of the votes of the parts. The weight of part i is proportional to

    exp(-learning_rate (sum over the samples of w L_i)),

where w is the weight of a sample and L_i is the rank loss of the votes of part i before it learned
the sample. The rank loss is the proportion of pairs of a relevant and an irrelevant label, among
the known labels, that the votes put in the wrong order. A pair of equal votes counts one half.

With top-k feedback, the known labels are the labels shown. Most of them are irrelevant, so that a
log loss, summed over single labels, would prefer a part that predicts irrelevance everywhere. Pairs
compare labels of the same sample, which is what a ranking needs. The pairs are not weighted by
propensities: all parts are compared on the same pairs, and importance weights would let the pairs
of a few samples decide.
"""

from libc.stdlib cimport free, malloc

import numpy as np

from sklrank._compiled.rows cimport Row
from sklrank._compiled.state cimport Archive
from sklrank._online.learner cimport LabelFeedback, OnlineLearner, known_rank_loss, softmax

from sklrank._compiled import shared_call


cdef class VotingLearner(OnlineLearner):
    """Compiled learner of SemiBanditRanker."""

    cdef readonly double learning_rate
    cdef readonly list parts
    cdef Py_ssize_t n_parts
    cdef Py_ssize_t[::1] addresses      # addresses of the parts, used without the GIL
    cdef double[::1] log_weights        # (n_parts,) logarithms of the weights, up to a constant
    cdef double[::1] weights            # (n_parts,) the weights, which sum to one
    cdef double[:, ::1] votes           # (n_parts, n_classes) votes of the parts

    def __init__(self, list parts not None, double learning_rate=1.0):
        self.parts, self.learning_rate = parts, learning_rate
        self.log_weights = np.zeros(len(parts))
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef VotingLearner saved = archive.source
        cdef Py_ssize_t i
        cdef OnlineLearner part
        self.learning_rate = archive.number("learning_rate", saved.learning_rate, 0.0)
        self.parts = archive.parts("parts", saved.parts, OnlineLearner)
        self.n_parts = len(self.parts)
        archive.require(self.n_parts > 0, "there are no parts")
        self.log_weights = archive.floats("log_weights", saved.log_weights, (self.n_parts,))
        if not archive.loads:
            return 0
        part = self.parts[0]
        self.n_features, self.n_classes = part.n_features, part.n_classes
        addresses = np.empty(self.n_parts, dtype=np.intp)
        self.reads_sparse = True
        for i in range(self.n_parts):
            part = self.parts[i]
            self.reads_sparse = self.reads_sparse and part.reads_sparse
            archive.require(
                part.n_features == self.n_features and part.n_classes == self.n_classes,
                "its parts differ in size",
            )
            addresses[i] = <Py_ssize_t><void*>part
        self.addresses = addresses
        self.weights, self.votes = np.empty(self.n_parts), np.empty((self.n_parts, self.n_classes))
        self.update_weights()
        return 0

    _merge_rules = {"log_weights": "total"}

    cdef list locked_parts(self):
        return self.parts  # An estimator has them as `estimators_`, too.

    @shared_call
    def copy_weights(self):
        """Return a copy of the weights `(n_parts,)` of the parts, which sum to one."""
        self.require_ready()
        return np.array(self.weights)

    cdef int predict(self, const Row* x, double* votes) except -1 nogil:
        # Each call allocates memory of its own, so that threads can share a fitted model.
        cdef double* memory = <double*>malloc(self.n_classes * sizeof(double))
        cdef Py_ssize_t i, l
        if memory == NULL:
            with gil:
                raise MemoryError
        for l in range(self.n_classes):
            votes[l] = 0.0
        try:
            for i in range(self.n_parts):
                (<OnlineLearner><void*>self.addresses[i]).predict(x, memory)
                for l in range(self.n_classes):
                    votes[l] += self.weights[i] * memory[l]
        finally:
            free(memory)
        return 0

    cdef int predict_cached(self, const Row* x, double* votes) except -1 nogil:
        cdef Py_ssize_t i, l
        for i in range(self.n_parts):
            (<OnlineLearner><void*>self.addresses[i]).predict_cached(x, &self.votes[i, 0])
        for l in range(self.n_classes):
            votes[l] = 0.0
        for i in range(self.n_parts):
            for l in range(self.n_classes):
                votes[l] += self.weights[i] * self.votes[i, l]
        return 0

    cdef int learn(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            (<OnlineLearner><void*>self.addresses[i]).predict_cached(x, &self.votes[i, 0])
        return self.learn_cached(x, feedback)

    cdef int learn_cached(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        cdef double rate = self.learning_rate * feedback.sample_weight
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            self.log_weights[i] -= rate * known_rank_loss(
                &self.votes[i, 0], self.n_classes, feedback
            )
        self.update_weights()
        for i in range(self.n_parts):
            (<OnlineLearner><void*>self.addresses[i]).learn_cached(x, feedback)
        return 0

    cdef void update_weights(self) noexcept nogil:
        softmax(&self.log_weights[0], self.n_parts, &self.weights[0])

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

from sklrank._online_learner cimport LabelFeedback, OnlineLearner, known_rank_loss, softmax
from sklrank._state cimport State


cdef class VotingLearner(OnlineLearner):
    """Compiled learner of OnlineVotingClassifier, which documents the parameters."""

    cdef readonly double learning_rate
    cdef readonly list parts
    cdef Py_ssize_t n_parts
    cdef Py_ssize_t[::1] addresses      # addresses of the parts, used without the GIL
    cdef double[::1] log_weights        # (n_parts,) logarithms of the weights, up to a constant
    cdef double[::1] weights            # (n_parts,) the weights, which sum to one
    cdef double[:, ::1] votes           # (n_parts, n_classes) votes of the parts

    def __init__(self, list parts not None, double learning_rate=1.0):
        self.start(
            {
                "parts": parts,
                "log_weights": np.zeros(len(parts)),
                "learning_rate": learning_rate,
            }
        )

    cdef dict get_state(self):
        return {
            "parts": list(self.parts),
            "log_weights": np.array(self.log_weights),
            "learning_rate": self.learning_rate,
        }

    cdef int set_state(self, State state) except -1:
        cdef Py_ssize_t i
        cdef double learning_rate = state.number("learning_rate", 0.0)
        cdef list parts = state.parts("parts", OnlineLearner)
        log_weights = state.floats("log_weights", (len(parts),))
        state.require(len(parts) > 0, "there are no parts")
        cdef Py_ssize_t n_features = (<OnlineLearner>parts[0]).n_features
        cdef Py_ssize_t n_classes = (<OnlineLearner>parts[0]).n_classes
        for part in parts:
            state.require(
                (part.n_features, part.n_classes) == (n_features, n_classes),
                "its parts differ in size",
            )
        state.require(
            not self.is_ready
            or (n_features, n_classes, len(parts))
            == (self.n_features, self.n_classes, self.n_parts),
            "its sizes are not those of the object",
        )
        addresses = np.empty(len(parts), dtype=np.intp)
        cdef Py_ssize_t[::1] written = addresses
        for i in range(len(parts)):
            written[i] = <Py_ssize_t><void*>parts[i]
        weights, votes = np.empty(len(parts)), np.empty((len(parts), n_classes))
        self.n_features, self.n_classes, self.n_parts = n_features, n_classes, len(parts)
        self.parts, self.addresses, self.learning_rate = parts, addresses, learning_rate
        self.log_weights, self.weights, self.votes = log_weights, weights, votes
        self.update_weights()
        return 0

    # The parts may be used without this object: an estimator has them as `estimators_`. Each call
    # of this object is also a call of its parts, so that the guard covers them.

    cdef int begin_shared(self) except -1:
        cdef Py_ssize_t n_begun = 0, i
        OnlineLearner.begin_shared(self)
        try:
            for i in range(len(self.parts)):
                (<OnlineLearner>self.parts[i]).begin_shared()
                n_begun += 1
        except BaseException:
            for i in range(n_begun):
                (<OnlineLearner>self.parts[i]).end_shared()
            OnlineLearner.end_shared(self)
            raise
        return 0

    cdef void end_shared(self) noexcept:
        cdef Py_ssize_t i
        for i in range(len(self.parts)):
            (<OnlineLearner>self.parts[i]).end_shared()
        OnlineLearner.end_shared(self)

    cdef int begin_exclusive(self) except -1:
        cdef Py_ssize_t n_begun = 0, i
        OnlineLearner.begin_exclusive(self)
        try:
            for i in range(len(self.parts)):
                (<OnlineLearner>self.parts[i]).begin_exclusive()
                n_begun += 1
        except BaseException:
            for i in range(n_begun):
                (<OnlineLearner>self.parts[i]).end_exclusive()
            OnlineLearner.end_exclusive(self)
            raise
        return 0

    cdef void end_exclusive(self) noexcept:
        cdef Py_ssize_t i
        for i in range(len(self.parts)):
            (<OnlineLearner>self.parts[i]).end_exclusive()
        OnlineLearner.end_exclusive(self)

    @property
    def part_weights(self):
        """Weights `(n_parts,)` of the parts, which sum to one, as a copy."""
        self.require_ready()
        self.begin_shared()
        try:
            return np.array(self.weights)
        finally:
            self.end_shared()

    cdef int predict(self, const double* x, double* votes) except -1 nogil:
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

    cdef int predict_cached(self, const double* x, double* votes) except -1 nogil:
        cdef Py_ssize_t i, l
        for i in range(self.n_parts):
            (<OnlineLearner><void*>self.addresses[i]).predict_cached(x, &self.votes[i, 0])
        for l in range(self.n_classes):
            votes[l] = 0.0
        for i in range(self.n_parts):
            for l in range(self.n_classes):
                votes[l] += self.weights[i] * self.votes[i, l]
        return 0

    cdef int learn(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            (<OnlineLearner><void*>self.addresses[i]).predict_cached(x, &self.votes[i, 0])
        return self.learn_cached(x, feedback)

    cdef int learn_cached(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
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

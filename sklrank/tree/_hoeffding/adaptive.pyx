# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A Hoeffding tree that a second tree replaces when the concept drifts.

A `DriftTest` records the loss of each sample before it is learned: the share of the weight of its
labels that the tree does not predict, which is 0 or 1 for a single label. Its statistic was last 0
at the most likely time of a drift. A second tree, the candidate, learns the samples since then, and
forgets them when the statistic is 0 again. A drift is detected when the statistic exceeds the
threshold and the candidate has had the smaller sum of losses. Then the candidate replaces the tree.

So a false alarm has no effect, unless a young tree predicts better. Without drift, most candidates
learn a few samples. All of them together take from no time to more than that of the tree itself.
"""

from libc.string cimport memcpy

import numpy as np

from sklrank._compiled.rows cimport Row
from sklrank._compiled.state cimport Archive
from sklrank._online.drift cimport DriftTest
from sklrank._online.learner cimport LabelFeedback, OnlineLearner
from sklrank.tree._hoeffding.tree cimport HoeffdingTree

# Losses of 0 or 1 have large deviations, of which many drifts are less than a half. Chosen on seven
# streams of benchmarks/class_streams.py. On nine streams without drift, 1/4 replaced two trees, and
# 1/2 one tree.
cdef double SLACK = 0.25


cdef class AdaptiveTree(OnlineLearner):
    """The compiled learner of HoeffdingTreeClassifier with a `drift_threshold`."""

    cdef readonly HoeffdingTree tree        # which predicts
    cdef readonly HoeffdingTree candidate
    cdef readonly DriftTest drift_test
    cdef readonly Py_ssize_t n_learned      # number of samples
    cdef readonly double advantage          # sum of the losses of the tree minus the candidate's
    cdef double[::1] votes                  # (n_classes,) scratch memory of `learn`

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_classes, **params):
        self.tree = HoeffdingTree(n_features, n_classes, **params)
        self.candidate = HoeffdingTree(n_features, n_classes, **params)
        self.drift_test = DriftTest(params["drift_threshold"])
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef AdaptiveTree saved = archive.source
        self.tree = archive.part("tree", saved.tree, HoeffdingTree)
        self.candidate = archive.part("candidate", saved.candidate, HoeffdingTree)
        archive.require(
            self.tree is not self.candidate and self.tree.sizes() == self.candidate.sizes(),
            "its trees differ in size, or are one tree",
        )
        self.drift_test = archive.part("drift_test", saved.drift_test, DriftTest)
        self.n_learned = archive.count("n_learned", saved.n_learned)
        self.advantage = archive.any_number("advantage", saved.advantage)
        if archive.loads:
            self.n_features, self.n_classes = self.tree.sizes()
            self.votes = np.empty(self.n_classes)
        return 0

    cdef list locked_parts(self):
        return [self.tree, self.candidate, self.drift_test] if self.is_ready else None

    @property
    def node_table(self):
        """Copy of the nodes of the tree that predicts, see `HoeffdingTree`."""
        self.require_ready()
        self.begin_shared()
        try:
            return self.tree.node_table
        finally:
            self.end_shared()

    cdef int predict(self, const Row* x, double* votes) except -1 nogil:
        return self.tree.predict(x, votes)

    cdef int predict_cached(self, const Row* x, double* votes) except -1 nogil:
        self.tree.predict(x, votes)
        memcpy(&self.votes[0], votes, self.n_classes * sizeof(double))
        return 0

    cdef int learn(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        self.tree.predict(x, &self.votes[0])
        return self.learn_cached(x, feedback)

    cdef int learn_cached(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        cdef double weight = 0.0
        cdef Py_ssize_t i
        for i in range(feedback.n_relevant):
            weight += feedback.weights[i]
        if not weight > 0.0:
            return 0
        self.n_learned += 1
        # The costs of a booster, and so the weights, depend on its other learners, so that the loss
        # may increase without a drift.
        if feedback.costs == NULL:
            self.test_drift(x, feedback, weight)
        return self.tree.learn(x, feedback)

    cdef int test_drift(
        self, const Row* x, const LabelFeedback* feedback, double weight
    ) except -1 nogil:
        # `votes` must contain the votes of the tree, and `weight` is that of all labels.
        cdef double loss = 1.0 - self.tree.correct_weight(&self.votes[0], feedback) / weight
        if self.candidate.n_learned > 0:
            self.candidate.predict(x, &self.votes[0])
            self.advantage -= 1.0 - self.tree.correct_weight(&self.votes[0], feedback) / weight
            self.advantage += loss
        if self.drift_test.record(loss, SLACK, self.advantage <= 0.0):
            with gil:
                self.tree, self.candidate = self.candidate, self.tree
        if self.drift_test.excess > 0.0:
            self.candidate.learn(x, feedback)
        elif self.candidate.n_learned > 0:
            self.candidate.forget()
            self.advantage = 0.0
        return 0

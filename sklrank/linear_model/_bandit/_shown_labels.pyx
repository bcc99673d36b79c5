# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rounds of semi-bandit feedback: show some labels, then learn the relevance of each of them."""

import numpy as np

from sklrank._compiled.rows cimport Row, Rows
from sklrank._online.learner cimport LabelFeedback, OnlineLearner
from sklrank._online.shown cimport ShownLabels


def learn_rounds(
    OnlineLearner learner not None, X not None, ShownLabels shown not None,
    const double[::1] weights not None, double[:, ::1] scores not None, learn_sets,
):
    """Show labels of each sample, and learn from their rewards.

    A sample of weight zero is not learned. The votes for each sample before it is learned are
    written to `scores` `(n_samples, n_labels)`. After the first n samples were learned, also if the
    next one raises, ``learn_sets(n_samples=n)`` is called. No interrupt can separate it from
    learning.
    """
    cdef Rows rows = learner.rows_of(X)
    cdef Py_ssize_t n = rows.n_rows, t, n_played = 0
    cdef Row x
    if not n == shown.n_samples == weights.shape[0] == scores.shape[0] or (
        not learner.n_classes == shown.n_labels == scores.shape[1]
    ):
        raise ValueError("weights, scores or labels shown do not match the samples and labels")
    cdef Round memory = Round(shown.k)
    try:
        with nogil:
            for t in range(n):
                rows.read(t, &x)
                learner.predict_cached(&x, &scores[t, 0])
                shown.show(t, &scores[t, 0])
                if weights[t] != 0.0:
                    memory.learn(
                        learner, &x, &shown.actions[t, 0], &shown.rewards[t, 0], weights[t]
                    )
                n_played = t + 1
    finally:
        learn_sets(n_samples=n_played)


cdef class Round:
    """Working memory of a round, and its last step."""

    cdef double[::1] label_weights, relevance       # (k,)
    cdef Py_ssize_t[::1] relevant, irrelevant       # (k,)
    cdef Py_ssize_t k

    def __init__(self, Py_ssize_t k):
        self.k = k
        self.label_weights, self.relevance = np.empty((2, k))
        self.relevant, self.irrelevant = np.empty((2, k), dtype=np.intp)

    cdef int learn(
        self, OnlineLearner learner, const Row* x, const Py_ssize_t* actions,
        const double* rewards, double weight,
    ) except -1 nogil:
        cdef LabelFeedback feedback
        cdef Py_ssize_t i
        feedback.n_relevant = feedback.n_irrelevant = 0
        feedback.costs = feedback.relevance = NULL
        for i in range(self.k):
            self.label_weights[i] = weight
            if rewards[i] > 0.0:
                self.relevant[feedback.n_relevant] = actions[i]
                self.relevance[feedback.n_relevant] = rewards[i]
                feedback.n_relevant += 1
                if rewards[i] < 1.0:
                    feedback.relevance = &self.relevance[0]
            elif rewards[i] == 0.0:
                self.irrelevant[feedback.n_irrelevant] = actions[i]
                feedback.n_irrelevant += 1
        feedback.relevant, feedback.irrelevant = &self.relevant[0], &self.irrelevant[0]
        feedback.weights, feedback.sample_weight = &self.label_weights[0], weight
        return learner.learn_cached(x, &feedback)

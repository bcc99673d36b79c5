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
    cdef Py_ssize_t n = rows.n_rows, t, i, n_played = 0
    cdef Row x
    cdef LabelFeedback feedback
    # Of a round: the relevant and the irrelevant labels shown, with their weights and relevance.
    cdef Py_ssize_t[:, ::1] labels = np.empty((2, shown.k), dtype=np.intp)
    cdef double[::1] label_weights = np.empty(shown.k), relevance = np.empty(shown.k)
    if not n == shown.n_samples == weights.shape[0] == scores.shape[0] or (
        not learner.n_classes == shown.n_labels == scores.shape[1]
    ):
        raise ValueError("weights, scores or labels shown do not match the samples and labels")
    feedback.relevant, feedback.irrelevant = &labels[0, 0], &labels[1, 0]
    feedback.weights, feedback.costs = &label_weights[0], NULL
    try:
        with nogil:
            for t in range(n):
                rows.read(t, &x)
                learner.predict_cached(&x, &scores[t, 0])
                shown.show(t, &scores[t, 0])
                feedback.n_relevant = feedback.n_irrelevant = 0
                feedback.relevance, feedback.sample_weight = NULL, weights[t]
                for i in range(shown.k):
                    label_weights[i] = weights[t]
                    if shown.rewards[t, i] > 0.0:
                        labels[0, feedback.n_relevant] = shown.actions[t, i]
                        relevance[feedback.n_relevant] = shown.rewards[t, i]
                        feedback.n_relevant += 1
                        if shown.rewards[t, i] < 1.0:
                            feedback.relevance = &relevance[0]
                    elif shown.rewards[t, i] == 0.0:
                        labels[1, feedback.n_irrelevant] = shown.actions[t, i]
                        feedback.n_irrelevant += 1
                if weights[t] != 0.0:
                    learner.learn_cached(&x, &feedback)
                n_played = t + 1
    finally:
        learn_sets(n_samples=n_played)

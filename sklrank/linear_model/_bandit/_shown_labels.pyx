# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rounds of semi-bandit feedback: show some labels, then learn the relevance of each of them."""

import numpy as np

from sklrank._compiled.rows cimport Row, Rows
from sklrank._online.learner cimport LabelFeedback, OnlineLearner
from sklrank.feedback cimport TopKSampler, check_mask, mask_of

from sklrank._online import check_lists


def learn_rounds(
    OnlineLearner learner not None, X not None,
    const Py_ssize_t[:, ::1] actions not None, const double[:, ::1] rewards not None,
    const double[::1] weights not None, double[:, ::1] scores=None, learn_sets=None,
):
    """Learn from the labels shown for each sample, and from their rewards.

    Parameters
    ----------
    learner : OnlineLearner
        Learner of the relevance of labels.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    actions, rewards : ndarrays of shape (n_samples, k)
        Labels shown and their relevance from 0 to 1, NaN if it is not known.
    weights : ndarray of shape (n_samples,)
        A sample of weight zero is skipped.
    scores : ndarray of shape (n_samples, n_labels), optional
        Output array for the votes for each sample before it is learned.
    learn_sets : callable, optional
        Called as ``learn_sets(n_samples=n)`` after the first n samples were learned, also if the
        next one raises. No interrupt can separate it from learning.
    """
    cdef Rows rows = checked_rows(learner, X, weights, scores)
    cdef Py_ssize_t n = rows.n_rows, k = actions.shape[1], t, n_played = 0
    cdef Row x
    if actions.shape[0] != n or (rewards.shape[0], rewards.shape[1]) != (n, k):
        raise ValueError("actions and rewards do not match the samples")
    if n * k > 0 and not (0 <= np.min(actions) and np.max(actions) < learner.n_classes):
        raise ValueError(f"actions are outside the {learner.n_classes} labels")
    cdef Round memory = Round(k, learner.n_classes)
    try:
        with nogil:
            for t in range(n):
                rows.read(t, &x)
                learner.predict_cached(&x, &memory.votes[0])
                memory.learn(
                    learner, &x, &actions[t, 0], &rewards[t, 0], weights[t],
                    NULL if scores is None else &scores[t, 0],
                )
                n_played = t + 1
    finally:
        if learn_sets is not None:
            learn_sets(n_samples=n_played)


def play_rounds(
    OnlineLearner learner not None, X not None,
    TopKSampler sampler not None, const double[:, ::1] uniforms not None,
    const double[::1] rates not None, const Py_ssize_t[::1] indptr not None,
    const Py_ssize_t[::1] labels not None, const double[::1] weights not None,
    double[:, ::1] scores=None, learn_sets=None, const char[:, :] available=None,
):
    """Show labels of each sample, and learn from their rewards.

    `learn_sets` is called with the argument `shown`, too: the labels shown, their rewards and the
    probabilities with which they were shown, arrays of shape (n_samples, k).

    The sampler draws the labels by the random numbers `uniforms` `(n_samples, n_uniforms)` and the
    amounts of exploration `rates` `(n_samples,)`. The relevant labels of each sample are given by
    relevance lists (see `_base_online`). Labels outside of the mask `available` `(n_samples,
    n_labels)` are not shown. The other parameters are as above.
    """
    cdef Rows rows = checked_rows(learner, X, weights, scores)
    cdef Py_ssize_t n = rows.n_rows, k = sampler.k, i, t, n_played = 0
    cdef Row x
    sampler.require_ready()
    check_lists(indptr, labels, n, learner.n_classes)
    check_mask(available, n, learner.n_classes)
    if sampler.n_labels != learner.n_classes or rates.shape[0] != n or (
        uniforms.shape[0], uniforms.shape[1]
    ) != (n, sampler.n_uniforms):
        raise ValueError("the sampler, uniforms or rates do not match the samples and labels")
    cdef Round memory = Round(k, learner.n_classes)
    record = np.empty((n, k), np.intp), np.empty((n, k)), np.empty((n, k))
    cdef Py_ssize_t[:, ::1] actions = record[0]
    cdef double[:, ::1] rewards = record[1]
    cdef double[:, ::1] chances = record[2]
    cdef signed char[::1] is_relevant = np.zeros(learner.n_classes, dtype=np.int8)
    cdef double[::1] propensities = np.empty(k * k)
    try:
        with nogil:
            for t in range(n):
                rows.read(t, &x)
                learner.predict_cached(&x, &memory.votes[0])
                sampler.set_exploration(rates[t])
                sampler.draw_labels(
                    &memory.votes[0], NULL, mask_of(available, t),
                    &uniforms[t, 0], &actions[t, 0], &propensities[0],
                )
                for i in range(indptr[t], indptr[t + 1]):
                    is_relevant[labels[i]] = True
                for i in range(k):
                    rewards[t, i] = is_relevant[actions[t, i]]
                    chances[t, i] = propensities[i * k + i]
                for i in range(indptr[t], indptr[t + 1]):
                    is_relevant[labels[i]] = False
                memory.learn(
                    learner, &x, &actions[t, 0], &rewards[t, 0], weights[t],
                    NULL if scores is None else &scores[t, 0],
                )
                n_played = t + 1
    finally:
        if learn_sets is not None:
            learn_sets(shown=record, n_samples=n_played)


cdef class Round:
    """Working memory of a round, and its last step."""

    cdef double[::1] votes                          # (n_labels,)
    cdef double[::1] label_weights, relevance       # (k,)
    cdef Py_ssize_t[::1] relevant, irrelevant       # (k,)
    cdef Py_ssize_t k

    def __init__(self, Py_ssize_t k, Py_ssize_t n_labels):
        self.k, self.votes = k, np.empty(n_labels)
        self.label_weights, self.relevance = np.empty((2, k))
        self.relevant, self.irrelevant = np.empty((2, k), dtype=np.intp)

    cdef int learn(
        self, OnlineLearner learner, const Row* x, const Py_ssize_t* actions,
        const double* rewards, double weight, double* scores,
    ) except -1 nogil:
        cdef LabelFeedback feedback
        cdef Py_ssize_t i
        if scores != NULL:
            for i in range(self.votes.shape[0]):
                scores[i] = self.votes[i]
        if weight == 0.0:
            return 0
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


cdef Rows checked_rows(
    OnlineLearner learner, X, const double[::1] weights, double[:, ::1] scores,
):
    # Return the samples. Raise if the loops would read or write the arrays out of bounds.
    cdef Rows rows = learner.rows_of(X)
    if weights.shape[0] != rows.n_rows or (
        scores is not None
        and (scores.shape[0], scores.shape[1]) != (rows.n_rows, learner.n_classes)
    ):
        raise ValueError("weights or scores do not match the samples and labels")
    return rows

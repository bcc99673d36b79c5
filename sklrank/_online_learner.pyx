# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Base class of the compiled online learners, and their loops over rows.

A learner sees one row at a time: :meth:`predict` writes a distribution over the classes,
:meth:`learn` takes a `LabelFeedback`: the relevant labels of the row with an importance weight for each,
the irrelevant ones, and when a booster gives the feedback the cost of every label. Learners of single
labels read the weights, cost-sensitive ones the costs (Jung & Tewari 2018, Section 2.1), others the
relevance. A label that is neither relevant nor irrelevant is not known.
"""

import numpy as np


cdef class OnlineLearner:
    """A classifier that learns row by row; the subclasses fill in `predict` and `learn`."""

    cdef int predict(self, const double* x, double* votes) except -1 nogil:
        with gil:
            raise TypeError(f"{type(self).__name__} does not define predict")

    cdef int learn(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
        with gil:
            raise TypeError(f"{type(self).__name__} does not define learn")

    cdef int predict_cached(self, const double* x, double* votes) except -1 nogil:
        return self.predict(x, votes)

    cdef int learn_cached(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
        return self.learn(x, feedback)

    def predict_rows(self, const double[:, ::1] X):
        """Votes `(n_samples, n_classes)` for the rows of `X`."""
        votes = np.empty((X.shape[0], self.n_classes))
        cdef double[:, ::1] out = votes
        cdef Py_ssize_t i
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} columns, the learner takes {self.n_features}")
        with nogil:
            for i in range(X.shape[0]):
                self.predict(&X[i, 0], &out[i, 0])
        return votes

    def play_rows(
        self,
        const double[:, ::1] X,
        const Py_ssize_t[::1] indptr,
        const Py_ssize_t[::1] labels,
        const double[::1] weights,
        double[:, ::1] votes=None,
    ):
        """Learn from each row of `X` in turn.

        Row `i` has the labels `labels[indptr[i]:indptr[i + 1]]`, each with the importance weight
        `weights[i]`; a row of weight zero is not learnt. Where `votes` `(n_samples, n_classes)` are
        given, those for each row are written there before it is learnt.
        """
        cdef Py_ssize_t i, j, n_samples = X.shape[0]
        cdef bint progressive = votes is not None
        cdef double[::1] repeated = np.empty(self.n_classes)
        cdef LabelFeedback feedback
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} columns, the learner takes {self.n_features}")
        check_lists(indptr, labels, n_samples, self.n_classes)
        if weights.shape[0] != n_samples:
            raise ValueError(f"weights has {weights.shape[0]} entries for {n_samples} rows")
        if progressive and (votes.shape[0], votes.shape[1]) != (n_samples, self.n_classes):
            raise ValueError("votes do not fit the rows and classes")
        feedback.costs = NULL
        feedback.weights = &repeated[0]
        feedback.irrelevant = NULL
        with nogil:
            for i in range(n_samples):
                if progressive:
                    self.predict_cached(&X[i, 0], &votes[i, 0])
                if weights[i] == 0.0:
                    continue
                feedback.n_labels = indptr[i + 1] - indptr[i]
                feedback.n_irrelevant = self.n_classes - feedback.n_labels
                feedback.labels = &labels[0] + indptr[i] if feedback.n_labels else NULL
                for j in range(feedback.n_labels):
                    repeated[j] = weights[i]
                feedback.row_weight = weights[i]
                if progressive:
                    self.learn_cached(&X[i, 0], &feedback)
                else:
                    self.learn(&X[i, 0], &feedback)


def check_lists(
    const Py_ssize_t[::1] indptr,
    const Py_ssize_t[::1] labels,
    Py_ssize_t n_samples,
    Py_ssize_t n_classes,
):
    """Refuse row pointers or labels that a compiled loop would follow out of bounds."""
    cdef Py_ssize_t i
    if indptr.shape[0] != n_samples + 1 or indptr[0] != 0 or indptr[n_samples] != labels.shape[0]:
        raise ValueError("indptr does not describe one list of labels for each row")
    for i in range(n_samples):
        if not 0 <= indptr[i + 1] - indptr[i] <= n_classes:
            raise ValueError(f"indptr gives row {i} an impossible number of labels")
    for i in range(labels.shape[0]):
        if not 0 <= labels[i] < n_classes:
            raise ValueError(f"label {labels[i]} is outside the {n_classes} classes")

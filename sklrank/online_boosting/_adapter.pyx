# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Any scikit-learn classifier with `partial_fit` as a weak learner."""

import numpy as np

from sklrank._online_learner cimport LabelFeedback, OnlineLearner


cdef class EstimatorLearner(OnlineLearner):
    """Gives rows to a scikit-learn classifier, one at a time.

    Until its first feedback the classifier votes for all labels alike. After it the votes are its
    `predict_proba`, or the label that it predicts. A feedback is one call of `partial_fit`, with the
    row repeated once for each relevant label.

    Parameters
    ----------
    estimator : object
        The classifier; it sees the labels as 0, 1, ..., n_classes - 1.
    n_features, n_classes : int
        What it is made for.
    """

    cdef readonly object estimator
    cdef readonly bint is_taught
    cdef object all_labels

    def __init__(
        self, estimator, Py_ssize_t n_features, Py_ssize_t n_classes, bint is_taught=False
    ):
        self.estimator = estimator
        self.n_features = n_features
        self.n_classes = n_classes
        self.is_taught = is_taught
        self.all_labels = np.arange(n_classes)

    def __reduce__(self):
        return EstimatorLearner, (self.estimator, self.n_features, self.n_classes, self.is_taught)

    cdef int predict(self, const double* x, double* votes) except -1 nogil:
        with gil:
            self.predict_row(x, votes)
        return 0

    cdef int learn(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
        if feedback.n_labels > 0:
            with gil:
                self.learn_row(x, feedback)
        return 0

    cdef predict_row(self, const double* x, double* votes):
        cdef double[::1] answer = self.answer(as_rows(x, self.n_features, 1))
        cdef Py_ssize_t i
        for i in range(self.n_classes):
            votes[i] = answer[i]

    def answer(self, row):
        """The votes `(n_classes,)` of the classifier, a distribution whatever it returns."""
        if not self.is_taught:
            return np.full(self.n_classes, 1.0 / self.n_classes)
        # Classes not met yet make some classifiers divide by zero.
        with np.errstate(all="ignore"):
            if not hasattr(self.estimator, "predict_proba"):
                return np.equal(self.all_labels, self.estimator.predict(row)[0]).astype(float)
            votes = np.array(self.estimator.predict_proba(row), dtype=float)
        if votes.shape != (1, self.n_classes):
            raise ValueError(
                f"predict_proba of {self.estimator!r} has the shape {votes.shape} for one row, not "
                f"(1, {self.n_classes}): a column for each class that its partial_fit was given"
            )
        votes = votes[0]
        votes[~(votes > 0.0)] = 0.0
        total = votes.sum()
        return votes / total if 0.0 < total < np.inf else np.full(len(votes), 1.0 / len(votes))

    cdef learn_row(self, const double* x, const LabelFeedback* feedback):
        cdef Py_ssize_t[::1] labels = np.empty(feedback.n_labels, dtype=np.intp)
        cdef double[::1] weights = np.empty(feedback.n_labels)
        cdef Py_ssize_t i
        for i in range(feedback.n_labels):
            labels[i] = feedback.labels[i]
            weights[i] = feedback.weights[i]
        if np.max(weights) > 0.0:
            with np.errstate(all="ignore"):
                self.estimator.partial_fit(
                    as_rows(x, self.n_features, feedback.n_labels),
                    np.asarray(labels),
                    classes=self.all_labels,
                    sample_weight=np.asarray(weights),
                )
            self.is_taught = True


cdef as_rows(const double* x, Py_ssize_t n_features, Py_ssize_t n_rows):
    # An array of `n_rows` copies of the row.
    cdef double[:, ::1] rows = np.empty((n_rows, n_features))
    cdef Py_ssize_t i, j
    for i in range(n_rows):
        for j in range(n_features):
            rows[i, j] = x[j]
    return np.asarray(rows)

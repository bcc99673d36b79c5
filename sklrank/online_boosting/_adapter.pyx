# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Adapter that makes a weak learner of a scikit-learn classifier with `partial_fit`."""

import numpy as np
from scipy import sparse

from sklrank._state cimport State
from sklrank._online_learner cimport LabelFeedback, OnlineLearner


cdef Py_ssize_t MAX_LABEL = np.iinfo(np.intp).max


cdef class EstimatorLearner(OnlineLearner):
    """A weak learner around a scikit-learn classifier.

    The votes are the probabilities by `predict_proba`. If the classifier does not have this method,
    the vote is divided equally among the labels that it predicts ([1]_, Section 2.1): `predict`
    returns either one label or a row of an indicator matrix, which represents a set of labels. The
    votes for the empty set are uniform, since it does not prefer any label. Before the first call
    of `partial_fit`, the votes are uniform too. Learning a sample is one call of `partial_fit` with
    one copy of the sample for each relevant label.

    Parameters
    ----------
    estimator : object
        The classifier. Its classes are 0, 1, ..., n_classes - 1.
    n_features, n_classes : int
        Number of features and of classes.
    is_fitted : bool, default=False
        Whether the classifier has already learned a sample.

    References
    ----------
    .. [1] Y. H. Jung and A. Tewari, "Online boosting algorithms for multi-label ranking",
       AISTATS 2018.
    """

    cdef readonly object estimator
    cdef readonly bint is_fitted
    cdef object all_labels

    def __init__(
        self, estimator, Py_ssize_t n_features, Py_ssize_t n_classes, bint is_fitted=False
    ):
        self.start(
            {
                "estimator": estimator,
                "n_features": n_features,
                "all_labels": np.arange(n_classes),
                "is_fitted": is_fitted,
            }
        )

    cdef dict get_state(self):
        return {
            "estimator": self.estimator,
            "n_features": self.n_features,
            "all_labels": self.all_labels,
            "is_fitted": self.is_fitted,
        }

    cdef int set_state(self, State state) except -1:
        cdef Py_ssize_t n_features = state.count("n_features", 1)
        estimator, is_fitted = state.get("estimator"), state.flag("is_fitted")
        all_labels = state.integers("all_labels", (-1,), 0, MAX_LABEL)
        cdef Py_ssize_t n_classes = len(all_labels)
        state.require(n_classes > 0, "there are no classes")
        if not np.array_equal(all_labels, np.arange(n_classes)):
            state.require(False, "all_labels are not 0, 1, ...")
        state.require(
            not self.is_ready or (n_features, n_classes) == (self.n_features, self.n_classes),
            "its sizes are not those of the object",
        )
        self.n_features, self.n_classes = n_features, n_classes
        self.estimator, self.is_fitted, self.all_labels = estimator, is_fitted, all_labels
        return 0

    cdef int predict(self, const double* x, double* votes) except -1 nogil:
        with gil:
            self.predict_sample(x, votes)
        return 0

    cdef int learn(self, const double* x, const LabelFeedback* feedback) except -1 nogil:
        if feedback.n_relevant > 0:
            with gil:
                self.learn_sample(x, feedback)
        return 0

    cdef predict_sample(self, const double* x, double* votes):
        cdef double[::1] probabilities = self.predict_votes(as_rows(x, self.n_features, 1))
        cdef Py_ssize_t i
        for i in range(self.n_classes):
            votes[i] = probabilities[i]

    def predict_votes(self, row):
        """Return the votes `(n_classes,)` of the classifier, normalized to a distribution."""
        self.require_ready()
        if not self.is_fitted:
            return np.full(self.n_classes, 1.0 / self.n_classes)
        # Some classifiers divide by zero if they have not learned samples of all classes.
        with np.errstate(all="ignore"):
            if hasattr(self.estimator, "predict_proba"):
                votes = np.array(self.estimator.predict_proba(row), dtype=float)
            else:
                votes = self.indicate(self.estimator.predict(row))
        if votes.shape != (1, self.n_classes):
            raise ValueError(
                f"predict_proba of {self.estimator!r} has the shape {votes.shape} for one "
                f"sample, not (1, {self.n_classes}): it needs a column for each entry of `classes`"
            )
        votes = votes[0]
        votes[~(votes > 0.0)] = 0.0
        total = votes.sum()
        return votes / total if 0.0 < total < np.inf else np.full(len(votes), 1.0 / len(votes))

    def indicate(self, predicted):
        """Return the labels that `predict` returned for one sample as indicators `(1, n_classes)`.

        Raise if they are neither one label nor a row of an indicator matrix.
        """
        # Comparisons of Python objects are defined for labels of all types, unlike those of arrays.
        labels = np.array(
            predicted.toarray() if sparse.issparse(predicted) else predicted, dtype=object
        )
        indicator = np.zeros((1, self.n_classes))
        if labels.shape == (1,) and labels[0] in range(self.n_classes):
            indicator[0, int(labels[0])] = 1.0
        elif labels.shape == (1, self.n_classes) and all(entry in (0, 1) for entry in labels[0]):
            indicator[:] = labels
        else:
            raise ValueError(
                f"predict of {self.estimator!r} returned {labels.tolist()} for one sample, which "
                f"is neither an array of one label from 0 to {self.n_classes - 1} nor a row of "
                f"{self.n_classes} zeros and ones, one for each label"
            )
        return indicator

    cdef learn_sample(self, const double* x, const LabelFeedback* feedback):
        cdef Py_ssize_t[::1] labels = np.empty(feedback.n_relevant, dtype=np.intp)
        cdef double[::1] weights = np.empty(feedback.n_relevant)
        cdef Py_ssize_t i
        for i in range(feedback.n_relevant):
            labels[i] = feedback.relevant[i]
            weights[i] = feedback.weights[i]
        if np.max(weights) > 0.0:
            with np.errstate(all="ignore"):
                self.estimator.partial_fit(
                    as_rows(x, self.n_features, feedback.n_relevant),
                    np.asarray(labels),
                    classes=self.all_labels,
                    sample_weight=np.asarray(weights),
                )
            self.is_fitted = True


cdef as_rows(const double* x, Py_ssize_t n_features, Py_ssize_t n_rows):
    # Return an array of `n_rows` copies of the sample.
    cdef double[:, ::1] rows = np.empty((n_rows, n_features))
    cdef Py_ssize_t i, j
    for i in range(n_rows):
        for j in range(n_features):
            rows[i, j] = x[j]
    return np.asarray(rows)

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Adapter that makes a weak learner of an estimator in the style of scikit-learn."""

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from sklrank._compiled.rows cimport Row
from sklrank._compiled.state cimport Archive
from sklrank._online.learner cimport LabelFeedback, OnlineLearner

from sklrank._compiled import LABELS
from sklrank.online_boosting._learner_kinds import accepts_parameter, copies_of, kind_of


INTP, FLOAT = np.dtype(np.intp), np.dtype(np.float64)
MAX_LABEL, MAX_TOTAL = np.iinfo(np.intp).max, np.finfo(np.float64).max


cdef class EstimatorLearner(OnlineLearner):
    """A weak learner around an estimator in the style of scikit-learn.

    What it learns from depends on its kind, see `_learner_kinds`. The docstring of the package
    `online_boosting` states its votes. The labels that `predict` returns, one label or a row of an
    indicator matrix, share the vote equally (Jung & Tewari 2018, Section 2.1). Votes are uniform
    for the empty set, which prefers no label, and before the first call of `partial_fit`.
    """

    cdef readonly object estimator      # its classes are 0, 1, ..., n_classes - 1
    cdef readonly bint is_fitted        # whether it has learned a sample
    cdef object all_labels
    cdef str kind               # see `_learner_kinds`
    cdef bint weighted          # whether `partial_fit` accepts weights
    cdef bint takes_classes     # whether `partial_fit` accepts classes
    cdef object remainders      # (n_classes,) see `copies_of`; None if `weighted`
    cdef object total           # (2,)

    def __init__(
        self, estimator, Py_ssize_t n_features, Py_ssize_t n_classes, bint is_fitted=False
    ):
        self.estimator, self.is_fitted, self.n_features = estimator, is_fitted, n_features
        self.all_labels = np.arange(n_classes)
        self.remainders, self.total = np.zeros(n_classes), np.zeros(2)
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef EstimatorLearner saved = archive.source
        self.estimator = archive.anything("estimator", saved.estimator)
        self.is_fitted = archive.flag("is_fitted", saved.is_fitted)
        self.n_features = archive.count("n_features", saved.n_features, 1)
        self.all_labels = archive.array(
            "all_labels", saved.all_labels, (LABELS,), INTP, 0, MAX_LABEL
        )
        if archive.labels is not None:
            if self.is_fitted:
                raise ValueError(
                    f"the weak learner {self.estimator!r} has learned {len(self.all_labels)} "
                    "labels, and its partial_fit cannot change them: use compiled weak learners, "
                    "such as those of estimator=None, or call fit to start anew"
                )
            archive.entries["all_labels"] = np.arange(len(archive.labels))
        self.n_classes = len(self.all_labels)
        archive.require(self.n_classes > 0, "there are no classes")
        if not np.array_equal(self.all_labels, np.arange(self.n_classes)):
            archive.require(False, "all_labels are not 0, 1, ...")
        self.kind = kind_of(self.estimator)
        archive.require(self.kind is not None, f"{self.estimator!r} cannot be boosted")
        self.weighted = self.kind == "costs" or accepts_parameter(self.estimator, "sample_weight")
        self.takes_classes = accepts_parameter(self.estimator, "classes")
        if self.weighted:
            return 0
        self.remainders = archive.array(
            "remainders", saved.remainders, (LABELS,), FLOAT, 0.0, 1.0
        )
        self.total = archive.array("total", saved.total, (2,), FLOAT, 0.0, MAX_TOTAL)
        return 0

    cdef int predict(self, const Row* x, double* votes) except -1 with gil:
        cdef double[::1] probabilities = self.predict_votes(as_rows(x, 1))
        cdef Py_ssize_t i
        for i in range(self.n_classes):
            votes[i] = probabilities[i]
        return 0

    cdef int learn(self, const Row* x, const LabelFeedback* feedback) except -1 with gil:
        if self.kind == "costs":
            self.learn_costs(x, feedback)
        elif self.kind == "rows":
            self.learn_row(x, feedback)
        elif feedback.n_relevant > 0:
            self.learn_labels(x, feedback)
        return 0

    def predict_votes(self, row):
        """Return the votes `(n_classes,)` of the estimator, normalized to a distribution."""
        self.require_ready()
        if not self.is_fitted:
            return np.full(self.n_classes, 1.0 / self.n_classes)
        # Some classifiers divide by zero if they have not learned samples of all classes.
        with np.errstate(all="ignore"):
            if hasattr(self.estimator, "predict_proba"):
                votes = self.estimator.predict_proba(row)
                votes = (
                    self.relevances(votes)
                    if isinstance(votes, list) and np.ndim(votes[0]) == 2
                    else np.array(votes, dtype=float)
                )
            elif self.kind == "rows" and not is_classifier(self.estimator):
                votes = self.n_classes - np.array(self.estimator.predict_ranks(row), dtype=float)
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

    def relevances(self, probabilities):
        """Return the probabilities `(1, n_classes)` of the value 1, given `(1, n_values)` of each.

        If only one value has occurred in training, `classes_` of the estimator tells which one.
        """
        relevances = np.zeros((1, len(probabilities)))
        values = getattr(self.estimator, "classes_", None)
        for label, columns in enumerate(probabilities):
            known = [0, 1] if values is None else list(values[label])
            if np.shape(columns) != (1, len(known)):
                raise ValueError(
                    f"predict_proba of {self.estimator!r} returned an array of shape "
                    f"{np.shape(columns)} for label {label}, not (1, {len(known)}): it needs a "
                    "column for each value, 0 and 1, that occurred in training"
                )
            if 1 in known:
                relevances[0, label] = columns[0][known.index(1)]
        return relevances

    def indicate(self, predicted):
        """Return the labels that `predict` returned for one sample as a row of indicators."""
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

    cdef learn_labels(self, const Row* x, const LabelFeedback* feedback):
        labels = np.array(<Py_ssize_t[:feedback.n_relevant]><Py_ssize_t*>feedback.relevant)
        weights = np.array(<double[:feedback.n_relevant]><double*>feedback.weights)
        if weights.max() > 0.0:
            rows = as_rows(x, len(labels))
            self.partial_fit(rows, labels, weights, labels, self.all_labels)

    cdef learn_row(self, const Row* x, const LabelFeedback* feedback):
        cdef Py_ssize_t i
        costs = costs_of(feedback, self.n_classes)
        weight = np.abs(costs - costs.mean()).sum() / 2
        if weight == 0.0:
            return
        row = as_rows(x, 1)
        target = np.zeros((1, self.n_classes), dtype=np.intp)
        cdef Py_ssize_t[:, ::1] entries = target
        if feedback.irrelevant != NULL and (
            feedback.n_relevant + feedback.n_irrelevant < self.n_classes
        ):
            target[0] = self.predict_votes(row) > 1.0 / self.n_classes
            for i in range(feedback.n_irrelevant):
                entries[0, feedback.irrelevant[i]] = 0
        for i in range(feedback.n_relevant):
            entries[0, feedback.relevant[i]] = 1
        classes = [np.arange(2)] * self.n_classes
        self.partial_fit(
            row,
            target,
            np.array([weight]),
            np.zeros(1, dtype=np.intp),
            classes if is_classifier(self.estimator) else self.all_labels,
        )

    cdef learn_costs(self, const Row* x, const LabelFeedback* feedback):
        with np.errstate(all="ignore"):
            costs = costs_of(feedback, self.n_classes)[np.newaxis]
            self.estimator.partial_fit_costs(as_rows(x, 1), costs)
        self.is_fitted = True

    def partial_fit(self, rows, target, weights, indices, classes):
        """Call `partial_fit`, with copies of rows if it accepts no weights (see `copies_of`)."""
        arguments = {"classes": classes} if self.takes_classes else {}
        if self.weighted:
            arguments["sample_weight"] = weights
        else:
            remainders = self.remainders[indices]
            copies = copies_of(weights, remainders, self.total)
            self.remainders[indices] = remainders
            if not copies.any():
                return
            rows, target = np.repeat(rows, copies, axis=0), np.repeat(target, copies, axis=0)
        with np.errstate(all="ignore"):
            self.estimator.partial_fit(rows, target, **arguments)
        self.is_fitted = True


cdef costs_of(const LabelFeedback* feedback, Py_ssize_t n_classes):
    # Return a copy (n_classes,) of the costs of votes.
    return np.array(<double[:n_classes]><double*>feedback.costs)


cdef as_rows(const Row* x, Py_ssize_t n_rows):
    # Return an array of `n_rows` copies of the sample.
    return np.tile(np.asarray(<double[:x.n]><double*>x.values), (n_rows, 1))

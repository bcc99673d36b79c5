# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rounds with bandit feedback: show one label, learn whether it was right.

Random numbers come as arrays, one for each row. So a row's draw does not depend on how rows are cut
into calls, and to show and learn in one call, or in two, makes the same model.
"""

import numpy as np

from sklrank.feedback._schedules cimport Schedule
from sklrank.linear_model._bandit._model cimport BanditModel, BanditFeedback
from sklrank.linear_model._rows cimport Row, Rows


cdef class BanditRounds:
    """A model that plays, how much it explores, and how it has done."""

    cdef readonly BanditModel model
    cdef readonly Schedule schedule
    cdef readonly Py_ssize_t n_rounds
    cdef readonly Py_ssize_t n_mistakes     # rounds in which what was shown was wrong

    def __init__(self, BanditModel model, Schedule schedule):
        self.model = model
        self.schedule = schedule

    def play(
        self, Rows rows, const Py_ssize_t[::1] labels, const double[::1] draws,
        double[:, ::1] scores=None,
    ):
        """Show a label for each row, and learn whether it is the one of `labels`.

        Where `scores` `(n_samples, n_classes)` are given, those of each row are written there
        before it is learnt.
        """
        cdef BanditFeedback feedback
        cdef Row row
        cdef Py_ssize_t i
        self.check_rows(rows, labels.shape[0], draws.shape[0])
        if scores is not None:
            self.check_scores(rows, scores)
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                if scores is not None:
                    self.model.score(&row, &scores[i, 0])
                self.show(&row, draws[i], &feedback)
                feedback.reward = feedback.action == labels[i]
                self.learn(&row, &feedback)

    def explore(self, Rows rows, const double[::1] draws):
        """Labels shown `(n_samples,)` and their propensities `(n_samples,)`; nothing is learnt.

        The lock of the interpreter is kept: threads that show rows by one model share its scratch.
        """
        cdef Py_ssize_t[::1] actions = np.empty(rows.n_rows, dtype=np.intp)
        cdef double[::1] propensities = np.empty(rows.n_rows)
        cdef BanditFeedback feedback
        cdef Row row
        cdef Py_ssize_t i
        self.check_rows(rows, rows.n_rows, draws.shape[0])
        for i in range(rows.n_rows):
            rows.read(i, &row)
            self.show(&row, draws[i], &feedback)
            actions[i] = feedback.action
            propensities[i] = feedback.propensity
        return np.asarray(actions), np.asarray(propensities)

    def learn_shown(
        self, Rows rows, const Py_ssize_t[::1] actions, const double[::1] propensities,
        const signed char[::1] rewards,
    ):
        """Learn from what was shown, whoever did, and whether it was right.

        The label believed best is that of the model as it is now.
        """
        cdef BanditFeedback feedback
        cdef Row row
        cdef Py_ssize_t i
        self.check_rows(rows, actions.shape[0], propensities.shape[0])
        if rewards.shape[0] != rows.n_rows or not in_range(actions, self.model.n_classes):
            raise ValueError("actions or rewards do not fit the rows and classes")
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                feedback.best = self.model.choose(&row)
                feedback.action = actions[i]
                feedback.propensity = propensities[i]
                feedback.reward = rewards[i]
                feedback.rate = self.schedule.rate
                self.learn(&row, &feedback)

    def score(self, Rows rows):
        """Linear scores `(n_samples, n_classes)`."""
        cdef double[:, ::1] scores = np.empty((rows.n_rows, self.model.n_classes))
        cdef Row row
        cdef Py_ssize_t i
        self.check_scores(rows, scores)
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                self.model.score(&row, &scores[i, 0])
        return np.asarray(scores)

    cdef void show(self, const Row* row, double draw, BanditFeedback* feedback) noexcept nogil:
        # A draw below the rate explores: then, of all labels, the one in whose share it falls.
        cdef Py_ssize_t k = self.model.n_classes
        cdef double rate = self.schedule.rate
        feedback.best = self.model.choose(row)
        feedback.action = feedback.best
        if draw < rate:
            feedback.action = min(<Py_ssize_t>(draw / rate * k), k - 1)
        feedback.propensity = rate / k
        if feedback.action == feedback.best:
            feedback.propensity += 1.0 - rate
        feedback.rate = rate

    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil:
        self.model.learn(row, feedback)
        self.schedule.record(
            feedback.reward and feedback.action == feedback.best, feedback.propensity
        )
        self.n_rounds += 1
        self.n_mistakes += not feedback.reward

    def check_rows(self, Rows rows, n_labels, n_draws):
        """Refuse what the loops would read out of bounds."""
        if rows.n_features != self.model.n_features:
            raise ValueError(
                f"X has {rows.n_features} columns, the model takes {self.model.n_features}"
            )
        if n_labels != rows.n_rows or n_draws != rows.n_rows:
            raise ValueError("labels or draws do not fit the rows")

    def check_scores(self, Rows rows, const double[:, ::1] scores):
        """As `check_rows`."""
        self.check_rows(rows, rows.n_rows, rows.n_rows)
        if scores.shape[0] != rows.n_rows or scores.shape[1] != self.model.n_classes:
            raise ValueError("scores do not fit the rows and classes")

    def __reduce__(self):
        return BanditRounds, (self.model, self.schedule), (self.n_rounds, self.n_mistakes)

    def __setstate__(self, state):
        self.n_rounds, self.n_mistakes = state


cdef bint in_range(const Py_ssize_t[::1] labels, Py_ssize_t n_classes) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(labels.shape[0]):
        if not 0 <= labels[i] < n_classes:
            return False
    return True

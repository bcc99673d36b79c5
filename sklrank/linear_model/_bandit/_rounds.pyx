# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rounds of bandit feedback: show one class for each sample, then learn if it was right.

The random numbers are arrays with one entry for each sample, so that the draw for a sample does not
depend on how the samples are divided into calls, and showing and learning in one call or in two
yields the same model.
"""

import numpy as np

from sklrank.feedback._schedules cimport Schedule
from sklrank.linear_model._bandit._model cimport BanditModel, BanditFeedback
from sklrank.linear_model._rows cimport Row, Rows


cdef class BanditRounds:
    """A model, the schedule of its exploration, and the numbers of its rounds and mistakes."""

    cdef readonly BanditModel model
    cdef readonly Schedule schedule
    cdef readonly Py_ssize_t n_rounds
    cdef readonly Py_ssize_t n_mistakes     # rounds in which the class shown was wrong

    def __init__(self, BanditModel model, Schedule schedule):
        self.model = model
        self.schedule = schedule

    def play(
        self, Rows rows, const Py_ssize_t[::1] labels, const double[::1] draws,
        double[:, ::1] scores=None,
    ):
        """Show a class for each sample; its reward is 1 if it is that of `labels`.

        The scores `(n_samples, n_classes)`, if given, are filled with those of each sample before
        it is learned.
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
        self.model.raise_error()

    def explore(self, Rows rows, const double[::1] draws):
        """Return the classes to show `(n_samples,)` and their propensities `(n_samples,)`.

        The GIL is held because threads that share a model share its scratch memory.
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

    def learn_feedback(
        self, Rows rows, const Py_ssize_t[::1] actions, const double[::1] propensities,
        const signed char[::1] rewards,
    ):
        """Learn from the classes that this model or another policy showed, and from their rewards.

        The greedy class is that of the model at the time of learning.
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
                feedback.greedy = self.model.choose(&row)
                feedback.action = actions[i]
                feedback.propensity = propensities[i]
                feedback.reward = rewards[i]
                feedback.rate = self.schedule.rate
                self.learn(&row, &feedback)
        self.model.raise_error()

    def score(self, Rows rows):
        """Return the linear scores `(n_samples, n_classes)`."""
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
        feedback.greedy = self.model.choose(row)
        feedback.rate = self.schedule.rate
        # The distribution over the classes is decided here only: another one, such as a softmax of
        # `model.values`, replaces this call.
        draw_epsilon_greedy(self.model.n_classes, draw, feedback)

    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil:
        self.model.learn(row, feedback)
        self.schedule.record(
            feedback.reward and feedback.action == feedback.greedy, feedback.propensity
        )
        self.n_rounds += 1
        self.n_mistakes += not feedback.reward

    def check_rows(self, Rows rows, n_labels, n_draws):
        """Refuse arrays that the loops would read out of bounds."""
        if rows.n_features != self.model.n_features:
            raise ValueError(
                f"X has {rows.n_features} features, the model has {self.model.n_features}"
            )
        if n_labels != rows.n_rows or n_draws != rows.n_rows:
            raise ValueError("labels or draws do not fit the rows")

    def check_scores(self, Rows rows, const double[:, ::1] scores):
        """Refuse rows or scores that the loops would access out of bounds."""
        self.check_rows(rows, rows.n_rows, rows.n_rows)
        if scores.shape[0] != rows.n_rows or scores.shape[1] != self.model.n_classes:
            raise ValueError("scores do not fit the rows and classes")

    def __reduce__(self):
        return BanditRounds, (self.model, self.schedule), (self.n_rounds, self.n_mistakes)

    def __setstate__(self, state):
        self.n_rounds, self.n_mistakes = state


cdef inline void draw_epsilon_greedy(
    Py_ssize_t n_classes, double draw, BanditFeedback* feedback
) noexcept nogil:
    # Set the action, which is uniform over all classes with the probability `rate` and greedy
    # otherwise, and its propensity. A draw below the rate explores; divided by the rate it is
    # uniform again, and selects the class.
    cdef double rate = feedback.rate
    feedback.action = feedback.greedy
    if draw < rate:
        feedback.action = min(<Py_ssize_t>(draw / rate * n_classes), n_classes - 1)
    feedback.propensity = rate / n_classes
    if feedback.action == feedback.greedy:
        feedback.propensity += 1.0 - rate


cdef bint in_range(const Py_ssize_t[::1] labels, Py_ssize_t n_classes) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(labels.shape[0]):
        if not 0 <= labels[i] < n_classes:
            return False
    return True

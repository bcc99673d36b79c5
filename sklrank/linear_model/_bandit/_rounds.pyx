# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rounds of bandit feedback: show one class for each sample, then learn whether it is correct.

The random numbers (`draws`) are passed as arrays with one entry for each sample. Therefore the draw
for a sample does not depend on the division of the samples into calls. Calls of `explore` and
`learn_feedback` for one sample at a time yield the same model as a call of `play`.
"""

cimport cython

import numpy as np

from sklrank._state cimport Persistent, State
from sklrank.feedback._schedules cimport Schedule
from sklrank.linear_model._bandit._model cimport BanditModel, BanditFeedback
from sklrank.linear_model._rows cimport Row, Rows


cdef class BanditRounds(Persistent):
    """A model, its exploration schedule, and its numbers of rounds and mistakes."""

    cdef readonly BanditModel model
    cdef readonly Schedule schedule
    cdef readonly Py_ssize_t n_rounds
    cdef readonly Py_ssize_t n_mistakes     # rounds in which the class shown was wrong
    cdef cython.pymutex lock                # held by `explore`

    def __init__(self, BanditModel model, Schedule schedule):
        self.start({"model": model, "schedule": schedule, "n_rounds": 0, "n_mistakes": 0})

    cdef dict get_state(self):
        return {
            "model": self.model,
            "schedule": self.schedule,
            "n_rounds": self.n_rounds,
            "n_mistakes": self.n_mistakes,
        }

    cdef int set_state(self, State state) except -1:
        cdef BanditModel model = state.part("model", BanditModel)
        cdef Schedule schedule = state.part("schedule", Schedule)
        cdef Py_ssize_t n_rounds = state.count("n_rounds")
        cdef Py_ssize_t n_mistakes = state.count("n_mistakes", 0, n_rounds)
        self.model, self.schedule = model, schedule
        self.n_rounds, self.n_mistakes = n_rounds, n_mistakes
        return 0

    def play(
        self, Rows rows not None, const Py_ssize_t[::1] labels not None,
        const double[::1] draws not None, double[:, ::1] scores=None,
    ):
        """Play one round for each sample: show a class and learn from its reward.

        The reward is 1 if the class shown is equal to the entry of `labels`, and 0 otherwise. If
        the array `scores` `(n_samples, n_classes)` is given, the scores of each sample are written
        into it before the model learns from the sample.
        """
        cdef BanditFeedback feedback
        cdef Row row
        cdef Py_ssize_t i
        self.check_rows(rows, labels.shape[0], draws.shape[0])
        cdef double[::1] scratch = np.empty(self.model.n_scratch + 1)
        if scores is not None:
            self.check_scores(rows, scores)
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                if scores is not None:
                    self.model.score(&row, &scores[i, 0], &scratch[0])
                self.show(&row, draws[i], &feedback)
                feedback.reward = feedback.action == labels[i]
                self.learn(&row, &feedback)
        self.model.raise_error()

    def explore(self, Rows rows not None, const double[::1] draws not None):
        """Return the classes to show `(n_samples,)` and their propensities `(n_samples,)`.

        One thread at a time explores, since `choose` uses scratch memory of the model.
        """
        cdef Py_ssize_t[::1] actions = np.empty(rows.n_rows, dtype=np.intp)
        cdef double[::1] propensities = np.empty(rows.n_rows)
        cdef BanditFeedback feedback
        cdef Row row
        cdef Py_ssize_t i
        self.check_rows(rows, rows.n_rows, draws.shape[0])
        self.model.prepare()
        with nogil, self.lock:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                self.show(&row, draws[i], &feedback)
                actions[i] = feedback.action
                propensities[i] = feedback.propensity
        return np.asarray(actions), np.asarray(propensities)

    def learn_feedback(
        self, Rows rows not None, const Py_ssize_t[::1] actions not None,
        const double[::1] propensities not None, const signed char[::1] rewards not None,
    ):
        """Learn from the classes that this model or another policy showed, and from their rewards.

        If the model or the schedule depends on the greedy class, it is determined by the model at
        the time of learning.
        """
        cdef BanditFeedback feedback
        cdef Row row
        cdef Py_ssize_t i
        cdef bint chooses
        self.check_rows(rows, actions.shape[0], propensities.shape[0])
        chooses = self.model.needs_greedy or self.schedule.needs_hits
        if rewards.shape[0] != rows.n_rows or not in_range(actions, self.model.n_classes):
            raise ValueError("actions or rewards do not fit the rows and classes")
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                if chooses:
                    feedback.greedy = self.model.choose(&row)
                else:
                    feedback.greedy = -1
                    self.model.prepare_to_learn(&row)
                feedback.action = actions[i]
                feedback.propensity = propensities[i]
                feedback.reward = rewards[i]
                feedback.rate = self.schedule.rate
                self.learn(&row, &feedback)
        self.model.raise_error()

    def score(self, Rows rows not None):
        """Return the scores `(n_samples, n_classes)`."""
        self.require_ready()
        cdef double[:, ::1] scores = np.empty((rows.n_rows, self.model.n_classes))
        cdef double[::1] scratch = np.empty(self.model.n_scratch + 1)
        cdef Row row
        cdef Py_ssize_t i
        self.check_scores(rows, scores)
        self.model.prepare()
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                self.model.score(&row, &scores[i, 0], &scratch[0])
        return np.asarray(scores)

    cdef void show(self, const Row* row, double draw, BanditFeedback* feedback) noexcept nogil:
        feedback.greedy = self.model.choose(row)
        feedback.rate = self.schedule.rate
        # Only this call determines the distribution over the classes. To add another distribution,
        # such as a softmax, replace the call by a function that sets `action` and `propensity` of
        # the feedback. `model.values` holds the scores of the classes (for LinUCB, their upper
        # confidence bounds), and `feedback.rate` is the exploration probability of the schedule.
        draw_epsilon_greedy(self.model.n_classes, draw, feedback)

    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil:
        self.model.learn(row, feedback)
        self.schedule.record(
            feedback.reward and feedback.action == feedback.greedy, feedback.propensity
        )
        self.n_rounds += 1
        self.n_mistakes += not feedback.reward

    def check_rows(self, Rows rows not None, n_labels, n_draws):
        """Raise ValueError for arrays that the compiled loops would read out of bounds."""
        self.require_ready()
        if rows.n_features != self.model.n_features:
            raise ValueError(
                f"X has {rows.n_features} features, the model has {self.model.n_features}"
            )
        if rows.n_features + self.model.n_components + (rows.constant != 0.0) != self.model.width:
            raise ValueError("the constant of the rows does not fit the weights")
        if rows.is_sparse and self.model.needs_dense:
            raise ValueError("the model needs dense rows")
        if n_labels != rows.n_rows or n_draws != rows.n_rows:
            raise ValueError("labels or draws do not fit the rows")

    def check_scores(self, Rows rows not None, const double[:, ::1] scores not None):
        """Raise ValueError for arrays that the compiled loops would access out of bounds."""
        self.check_rows(rows, rows.n_rows, rows.n_rows)
        if scores.shape[0] != rows.n_rows or scores.shape[1] != self.model.n_classes:
            raise ValueError("scores do not fit the rows and classes")


cdef inline void draw_epsilon_greedy(
    Py_ssize_t n_classes, double draw, BanditFeedback* feedback
) noexcept nogil:
    # Set the action and its propensity, given the greedy class, the exploration rate and a random
    # number `draw` from [0, 1). With probability `rate`, the action is drawn uniformly from all
    # classes; otherwise it is the greedy class. The model explores if the draw is below the rate.
    # The draw divided by the rate is then uniform on [0, 1) and determines the class.
    cdef double rate = feedback.rate
    feedback.action = feedback.greedy
    if draw < rate:
        feedback.action = min(<Py_ssize_t>(draw / rate * n_classes), n_classes - 1)
    feedback.propensity = rate / n_classes
    if feedback.action == feedback.greedy:
        feedback.propensity += 1.0 - rate


cdef bint in_range(const Py_ssize_t[::1] labels, Py_ssize_t n_classes) noexcept nogil:
    # Return whether all labels are from 0 to n_classes - 1.
    cdef Py_ssize_t i
    for i in range(labels.shape[0]):
        if not 0 <= labels[i] < n_classes:
            return False
    return True

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Rounds of bandit feedback: show one class for each sample, then learn whether it is correct.

The random numbers (`draws`) are passed as arrays with one row for each sample. Therefore the draw
for a sample does not depend on the division of the samples into calls. Calls of `explore` and
`learn_feedback` for one sample at a time yield the same model as a call of `play`.
"""

import numpy as np

from sklrank._compiled.rows cimport Row, Rows
from sklrank._compiled.state cimport Archive, Persistent
from sklrank.feedback cimport Schedule, TopKSampler, check_mask, mask_of
from sklrank.linear_model._bandit._model cimport BanditModel, BanditFeedback

from sklrank._compiled import exclusive_call


cdef class BanditRounds(Persistent):
    """A model, its exploration schedule, and its numbers of rounds and mistakes."""

    cdef readonly BanditModel model
    cdef readonly Schedule schedule
    cdef readonly Py_ssize_t n_rounds
    cdef readonly double n_mistakes         # sum of one minus the reward

    def __init__(self, BanditModel model, Schedule schedule):
        self.model, self.schedule = model, schedule
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef BanditRounds saved = archive.source
        self.model = archive.part("model", saved.model, BanditModel)
        self.schedule = archive.part("schedule", saved.schedule, Schedule)
        self.n_rounds = archive.count("n_rounds", saved.n_rounds)
        self.n_mistakes = archive.number("n_mistakes", saved.n_mistakes, 0.0, self.n_rounds)
        return 0

    _merge_rules = {"n_rounds": "total", "n_mistakes": "total"}

    def play(
        self, Rows rows not None, const Py_ssize_t[::1] labels not None,
        TopKSampler sampler not None, const double[:, ::1] draws not None,
        double[:, ::1] scores=None, const char[:, :] available=None,
    ):
        """Play one round for each sample: show a class and learn from its reward.

        The sampler draws the class, given the values of the classes: their scores or, for LinUCB,
        their upper confidence bounds. The reward is 1 if the class shown is equal to the entry of
        `labels`, and 0 otherwise. If the array `scores` `(n_samples, n_classes)` is given, the
        scores of each sample are written into it before the model learns from the sample. Classes
        outside of the mask `available` `(n_samples, n_classes)` are not shown.
        """
        cdef BanditFeedback feedback
        cdef Row row
        cdef Py_ssize_t i
        self.check_rows(rows, labels.shape[0])
        self.check_sampler(sampler, draws, rows.n_rows, available)
        cdef double[::1] scratch = np.empty(self.model.n_scratch + 1)
        if scores is not None and (
            (scores.shape[0], scores.shape[1]) != (rows.n_rows, self.model.n_classes)
        ):
            raise ValueError("scores do not fit the rows and classes")
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                if scores is not None:
                    self.model.score(&row, &scores[i, 0], &scratch[0])
                self.show(&row, sampler, mask_of(available, i), &draws[i, 0], &feedback)
                feedback.reward = feedback.action == labels[i]
                self.learn(&row, &feedback)
        self.model.raise_error()

    @exclusive_call
    def explore(
        self, Rows rows not None, TopKSampler sampler not None,
        const double[:, ::1] draws not None, const char[:, :] available=None,
    ):
        """Return the classes to show `(n_samples,)` and their propensities `(n_samples,)`.

        One thread at a time explores, since `choose` uses scratch memory of the model.
        """
        cdef Py_ssize_t[::1] actions = np.empty(rows.n_rows, dtype=np.intp)
        cdef double[::1] propensities = np.empty(rows.n_rows)
        cdef BanditFeedback feedback
        cdef Row row
        cdef Py_ssize_t i
        self.check_rows(rows, rows.n_rows)
        self.check_sampler(sampler, draws, rows.n_rows, available)
        self.model.prepare()
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                self.show(&row, sampler, mask_of(available, i), &draws[i, 0], &feedback)
                actions[i] = feedback.action
                propensities[i] = feedback.propensity
        return np.asarray(actions), np.asarray(propensities)

    @exclusive_call
    def values(self, Rows rows not None, bint means, const char[:, :] available=None):
        """Return what `explore` draws the classes by, two arrays `(n_samples, n_classes)`.

        If `means`, they are the scores and their standard errors, which are 1 for models that have
        none; otherwise the values of showing each class, and errors of no meaning.
        """
        values = np.ones((2, rows.n_rows, self.model.n_classes))
        cdef double[:, :, ::1] out = values
        cdef Row row
        cdef Py_ssize_t i
        self.check_rows(rows, rows.n_rows)
        check_mask(available, rows.n_rows, self.model.n_classes)
        self.model.prepare()
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                self.model.choose(&row, mask_of(available, i))
                out[0, i] = self.model.estimates if means else self.model.values
                if self.model.has_errors:
                    out[1, i] = self.model.errors
        return values

    def learn_feedback(
        self, Rows rows not None, const Py_ssize_t[::1] actions not None,
        const double[::1] propensities not None, const double[::1] rewards not None,
        const char[:, :] available=None,
    ):
        """Learn from the classes that this model or another policy showed, and from their rewards.

        If the model or the schedule depends on the greedy class, it is determined by the model at
        the time of learning.
        """
        cdef BanditFeedback feedback
        cdef Row row
        cdef Py_ssize_t i
        cdef bint chooses
        self.check_rows(rows, actions.shape[0])
        check_mask(available, rows.n_rows, self.model.n_classes)
        chooses = self.model.needs_greedy or self.schedule.needs_hits
        if not propensities.shape[0] == rewards.shape[0] == rows.n_rows:
            raise ValueError("propensities or rewards do not fit the rows")
        for i in range(rows.n_rows):
            if not 0 <= actions[i] < self.model.n_classes:
                raise ValueError(f"actions are outside the {self.model.n_classes} classes")
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                if chooses:
                    feedback.greedy = self.model.choose(&row, mask_of(available, i))
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
        self.check_rows(rows, rows.n_rows)
        self.model.prepare()
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &row)
                self.model.score(&row, &scores[i, 0], &scratch[0])
        return np.asarray(scores)

    cdef void show(
        self, const Row* row, TopKSampler sampler, const char* available, const double* draws,
        BanditFeedback* feedback,
    ) noexcept nogil:
        cdef const double* values
        feedback.greedy = self.model.choose(row, available)
        feedback.rate = self.schedule.rate
        sampler.set_exploration(feedback.rate)
        values = &self.model.estimates[0] if sampler.needs_means else &self.model.values[0]
        sampler.draw_labels(
            values, &self.model.errors[0] if self.model.has_errors else NULL, available, draws,
            &feedback.action, &feedback.propensity,
        )

    cdef void learn(self, const Row* row, const BanditFeedback* feedback) noexcept nogil:
        self.model.learn(row, feedback)
        self.schedule.record(feedback.reward > 0.5 and feedback.action == feedback.greedy)
        self.n_rounds += 1
        self.n_mistakes += 1.0 - feedback.reward

    def check_rows(self, Rows rows not None, n_labels):
        """Raise ValueError for arrays that the compiled loops would read out of bounds."""
        self.require_ready()
        if rows.n_features != self.model.n_features:
            raise ValueError(
                f"X has {rows.n_features} features, the model has {self.model.n_features}"
            )
        if self.model.width not in (
            0, rows.n_features + self.model.n_components + (rows.constant != 0.0)
        ):
            raise ValueError("the constant of the rows does not fit the weights")
        if rows.is_sparse and self.model.needs_dense:
            raise ValueError("the model needs dense rows")
        if n_labels != rows.n_rows:
            raise ValueError("labels do not fit the rows")

    def check_sampler(
        self, TopKSampler sampler not None, const double[:, ::1] draws not None, n_rows,
        const char[:, :] available=None,
    ):
        """Raise ValueError for a sampler that the compiled loops would use out of bounds."""
        sampler.require_ready()
        check_mask(available, n_rows, self.model.n_classes)
        if (sampler.n_labels, sampler.k) != (self.model.n_classes, 1):
            raise ValueError("the sampler does not draw one of the classes")
        if (draws.shape[0], draws.shape[1]) != (n_rows, sampler.n_uniforms):
            raise ValueError("draws do not fit the rows and the sampler")

# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Labels shown for samples: those of a record, or drawn for samples whose labels are known."""

import numpy as np

from sklrank._compiled.rows cimport find_column
from sklrank.feedback cimport TopKSampler, check_mask, mask_of

from sklrank._online.learner import check_lists


cdef class ShownLabels:
    """The labels of a record. Those outside of the mask `available` could not be shown."""

    def __init__(
        self, actions, propensities, rewards, Py_ssize_t n_labels, const char[:, :] available=None
    ):
        cdef Py_ssize_t n = actions.shape[0], k = actions.shape[1], i, j
        if rewards.shape != (n, k) or propensities.shape != (n, k, k):
            raise ValueError("actions, propensities and rewards differ in shape")
        check_mask(available, n, n_labels)
        self.n_samples, self.k, self.n_labels, self.available = n, k, n_labels, available
        self.actions, self.propensities, self.rewards = actions, propensities, rewards
        for i in range(n):
            for j in range(k):
                if not 0 <= self.actions[i, j] < n_labels:
                    raise ValueError(f"actions are outside the {n_labels} labels")
        self.record = actions, rewards, propensities.diagonal(axis1=1, axis2=2)

    cdef void show(self, Py_ssize_t t, const double* scores) noexcept nogil:
        pass


cdef class SimulatedLabels(ShownLabels):
    """Labels that a sampler draws in the rounds. Their rewards are those of relevance lists."""

    cdef TopKSampler sampler
    cdef const double[:, ::1] uniforms          # (n_samples, sampler.n_uniforms) in [0, 1)
    cdef const double[::1] rates                # (n_samples,) amounts of exploration
    cdef const Py_ssize_t[::1] indptr
    cdef const Py_ssize_t[::1] labels           # in increasing order
    # The same arrays as those of the base class, which `show` fills.
    cdef Py_ssize_t[:, ::1] drawn_actions
    cdef double[:, :, ::1] drawn_propensities
    cdef double[:, ::1] drawn_rewards

    def __init__(
        self, TopKSampler sampler not None, const double[:, ::1] uniforms not None,
        const double[::1] rates not None, const Py_ssize_t[::1] indptr not None,
        const Py_ssize_t[::1] labels not None, const char[:, :] available=None,
    ):
        cdef Py_ssize_t n = indptr.shape[0] - 1, k = sampler.k
        sampler.require_ready()
        check_lists(indptr, labels, n, sampler.n_labels)
        if rates.shape[0] != n or (uniforms.shape[0], uniforms.shape[1]) != (n, sampler.n_uniforms):
            raise ValueError("uniforms or rates do not match the samples")
        self.drawn_actions = actions = np.zeros((n, k), dtype=np.intp)
        self.drawn_propensities = propensities = np.ones((n, k, k))
        self.drawn_rewards = rewards = np.zeros((n, k))
        super().__init__(actions, propensities, rewards, sampler.n_labels, available)
        self.sampler, self.uniforms, self.rates = sampler, uniforms, rates
        self.indptr, self.labels = indptr, labels

    cdef void show(self, Py_ssize_t t, const double* scores) noexcept nogil:
        cdef Py_ssize_t i, first = self.indptr[t], n_relevant = self.indptr[t + 1] - first
        self.sampler.set_exploration(self.rates[t])
        self.sampler.draw_labels(
            scores, NULL, mask_of(self.available, t), &self.uniforms[t, 0],
            &self.drawn_actions[t, 0], &self.drawn_propensities[t, 0, 0],
        )
        for i in range(self.k):
            self.drawn_rewards[t, i] = n_relevant > 0 and (
                find_column(&self.labels[first], n_relevant, self.drawn_actions[t, i]) >= 0
            )

"""Declarations of the cost rules; `_costs.pyx` states what they must do.

A subclass of `CostRule` is declared here only if another module cimports it.
"""

from sklrank._compiled.state cimport Persistent


cdef enum:
    COST_SCRATCH = 4    # number of vectors (n_labels,) that a rule may use as working memory


cdef struct LabelPairs:
    Py_ssize_t n_relevant, n_irrelevant, n_known_relevant, n_known_irrelevant, baseline_size
    const Py_ssize_t* relevant
    const Py_ssize_t* irrelevant
    const Py_ssize_t* known_relevant
    const Py_ssize_t* known_irrelevant
    const double* weights
    double weight


cdef class CostRule(Persistent):
    cdef readonly Py_ssize_t n_labels, n_learners
    cdef readonly double initial_weight, tie_loss
    cdef readonly bint learns_weights, single_label

    cdef int prepare(self, Py_ssize_t baseline_size) except -1
    cdef int start_round(self, const LabelPairs* pairs) except -1 nogil
    cdef void costs(
        self, Py_ssize_t i, const double* scores, const LabelPairs* pairs, double* costs,
        double* scratch,
    ) noexcept nogil
    cdef double next_weight(
        self, double weight, double gradient, Py_ssize_t n_rounds
    ) noexcept nogil
    cdef double expert_loss(
        self, const double* scores, const LabelPairs* pairs, double* scratch
    ) noexcept nogil


# Set the known labels to those of the pairs.
cdef void know_labels_of_pairs(LabelPairs* pairs) noexcept nogil

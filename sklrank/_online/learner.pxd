"""Interface of the compiled learners, which learn one sample at a time."""

from sklrank._compiled.rows cimport Row, Rows
from sklrank._compiled.state cimport Persistent


cdef struct LabelFeedback:
    # The known labels of a sample, and their weights and costs.
    Py_ssize_t n_relevant           # number of labels that are known to be relevant
    const Py_ssize_t* relevant      # (n_relevant,) these labels
    const double* weights           # (n_relevant,) their importance weights
    double sample_weight
    Py_ssize_t n_irrelevant         # number of labels that are known to be irrelevant
    const Py_ssize_t* irrelevant    # (n_irrelevant,) these labels, or NULL if they are all others
    const double* costs             # (n_classes,) cost of a vote for each label, or NULL
    const double* relevance         # (n_relevant,) in (0, 1], or NULL if it is 1; only if not costs


cdef class OnlineLearner(Persistent):
    cdef readonly Py_ssize_t n_features, n_classes
    cdef bint reads_sparse          # whether the methods below accept sparse rows

    # Write the votes for the sample `x`, a distribution over the classes. The learner does not
    # change.
    cdef int predict(self, const Row* x, double* votes) except -1 nogil

    # Learn from the sample `x`.
    cdef int learn(self, const Row* x, const LabelFeedback* feedback) except -1 nogil

    # Variants of `predict` and `learn` that are called in this order, for the same sample and on
    # the same thread, without another call in between. Thus `predict_cached` may store intermediate
    # results that `learn_cached` reuses.
    cdef int predict_cached(self, const Row* x, double* votes) except -1 nogil
    cdef int learn_cached(self, const Row* x, const LabelFeedback* feedback) except -1 nogil

    # Write the probability that each label is relevant (n_classes,). Not every learner defines this
    # method. It may be called instead of `predict_cached`, before `learn_cached`.
    cdef int predict_relevance(self, const Row* x, double* chances) except -1 nogil

    # Return the samples of an array or CSR matrix as this learner reads them. Raise unless they
    # have `n_features` columns.
    cdef Rows rows_of(self, X)

    # Return the objects inside of the learner, or None. They are locked together with it.
    cdef list locked_parts(self)


# Write exp(logarithms) / sum of exp(logarithms), without overflow, into `out` (n,). This may be the
# array of the logarithms (n,).
cdef void softmax(const double* logarithms, Py_ssize_t n, double* out) noexcept nogil

# Return the proportion of pairs of a known relevant and a known irrelevant label that the scores
# (n_classes,) put in the wrong order, where a pair of equal scores counts one half. Return 0 if
# there is no pair. Labels of relevance p and q form a pair of weight p (1 - q).
cdef double known_rank_loss(
    const double* scores, Py_ssize_t n_classes, const LabelFeedback* feedback
) noexcept nogil
